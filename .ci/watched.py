"""Runs the tests and sees that they get on: watched.py MINUTES LOG COMMAND…

All that the command prints is printed, and kept in LOG. If it prints nothing for so long, it is ended, with an error
that tells which tests had begun and not ended, and where their threads stood if there is a gdb to ask.
"""

from __future__ import annotations

import collections
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys

BEGUN = re.compile(r"^◇ (?P<test>(?:Test(?! case | run )|Suite) .+) started\.$")
ENDED = re.compile(r"^[✔✘] (?P<test>(?:Test|Suite) .+?)(?: with \d+ test cases?)? (?:passed|failed) after ")
STACKS = ["gdb", "-batch", "-iex", "set auto-load off", "-ex", "thread apply all backtrace 40"]


def unfinished(lines) -> list[str]:
    """The tests and suites that have begun and not ended."""
    running: collections.Counter[str] = collections.Counter()
    for line in lines:
        if begun := BEGUN.match(line):
            running[begun["test"]] += 1
        elif ended := ENDED.match(line):
            running[ended["test"]] -= 1
    return sorted(running.elements())


def members(group: int) -> list[int]:
    """The processes of a group that test, which are not tools of Swift."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(folder.name)) == group and b"xctest" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue
    return found


def tell(log: pathlib.Path, minutes: float, group: int) -> None:
    """Says what the tests were at when they stopped."""
    print(f"\n{sys.argv[0]}: nothing was printed for {minutes:g} minutes. What has begun and not ended:")
    for test in unfinished(log.read_text(errors="replace").splitlines()):
        print(f"  {test}")
    sys.stdout.flush()
    for process in members(group) if shutil.which("gdb") else []:
        subprocess.run([*STACKS, "-p", str(process)], stderr=subprocess.DEVNULL, timeout=300, check=False)


def main() -> int:
    minutes, log, command = float(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    # Of what a program writes to a pipe, the C library would keep the last lines to itself.
    if shutil.which("stdbuf"):
        command = ["stdbuf", "-oL", *command]
    with log.open("wb") as kept, subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as tests:
        try:
            while select.select([tests.stdout], [], [], 60 * minutes)[0]:
                octets = os.read(tests.stdout.fileno(), 65_536)
                if not octets:
                    return tests.wait()
                for place in (kept, sys.stdout.buffer):
                    place.write(octets)
                    place.flush()
            tell(log, minutes, tests.pid)
            return 1
        finally:
            # Whoever interrupts this one does not reach the others, which have a session of their own.
            if tests.poll() is None:
                os.killpg(tests.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
