"""Runs the examples that `ble --help` gives: help.py PATH-OF-ble

Each is run by a shell, in a folder with the files that it names, against the demo. Those for two programs find the
other one on a radio of their own; those that name an adapter, a serial port or an address are left out, as are those of
`ble toolset`, which change a toolchain: toolset.py runs them with a copy of one. An example that has no end is
interrupted after a while, and must end well then.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Interop"))

from interop.ports import free_ports  # noqa: E402

COMMANDS = (
    "scan", "inspect", "read", "write", "notify", "clone", "serve", "channel serve", "channel open", "chat", "doctor",
    "adapters", "monitor", "bonds", "demo", "agent", "apps", "app", "links", "power",
    "policy", "logs",
)
PATIENCE, GRACE = 5, 10

PARTNERS = {"Store": "channel serve --name Store --stay", "Echo": "channel serve --name Echo --echo",
            "Feed": "channel serve --name Feed", "Lobby": "chat host --name Lobby --stay"}
"""What another program does for examples that look for somebody of this name."""

LAMP = """{"name": "Lamp", "services": [{"uuid": "180F", "characteristics": [
  {"uuid": "2A19", "properties": ["read", "notify"], "value": "64"}]}]}"""
WORLD = '{"machines": [{"name": "Lamp", "services": [{"uuid": "180F"}]}, {"name": "Door"}]}'

STATUSES = {"bonds remove": {1}, "agent": {0, 69}, "doctor": {0, 69}, "adapters": {0, 69},
            "apps": {0, 69}, "app": {1, 69}, "links": {0, 1, 69},
            "power": {0, 1, 69}, "policy": {0, 1, 69}, "logs": {0, 69}}
"""How examples may end that tell of what there is not."""


def examples(ble: str, command: str) -> Iterator[str]:
    """The examples in the help of a command, without what is said of them."""
    wide = dict(os.environ, COLUMNS="200")
    words = [ble, *command.split(), "--help"]
    text = subprocess.run(words, env=wide, capture_output=True, text=True, check=True).stdout
    _, _, rest = text.partition("Examples:\n")
    for line in rest.split("\n\n")[0].splitlines():
        # A line that is indented further says something of the example before it.
        if not line.startswith(" " * 8):
            yield re.split(r"\s{3,}", line.strip())[0]


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process, and waits for it."""
    process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


class Place:
    """A folder and a host for one example, and the program that it talks to, if there has to be one."""

    def __init__(self, ble: str, example: str, stack: contextlib.ExitStack) -> None:
        self.ble, self.stack = ble, stack
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="help-")))
        (self.folder / "ble").symlink_to(ble)
        (self.folder / "lamp.json").write_text(LAMP)
        (self.folder / "house.json").write_text(WORLD)
        (self.folder / "file").write_bytes(bytes(1000))
        for name in re.findall(r"(?:monitor|clone) (\S+\.(?:pcapng|log))", example):
            variables = {"BLUETOOTH_CAPTURE": str(self.folder / (name if name.endswith(".pcapng") else "x.btsnoop"))}
            command = [ble, "inspect", "Heart"] if "clone" in example else [ble, "scan", "--duration", "1"]
            subprocess.run(command, env=self.environment(variables), check=True, capture_output=True)
            with contextlib.suppress(FileNotFoundError):
                (self.folder / "x.btsnoop").rename(self.folder / name)
        self.host = "demo"
        partner = re.search(r"(?:open|join) (\w+)", example)
        if partner:
            self.host = self.meet(PARTNERS[partner[1]])

    def environment(self, variables: dict[str, str] | None = None) -> dict[str, str]:
        path = f"{self.folder}:{os.environ['PATH']}"
        own = {"BLUETOOTH_HOST": "demo", "XDG_STATE_HOME": str(self.folder), "PATH": path}
        return dict(os.environ) | own | (variables or {})

    def meet(self, command: str) -> str:
        """Starts a program on a radio, and returns the address of the place beside it."""
        ports = free_ports(2)
        radio = self.start(f"radio --port {ports[0]} --port {ports[1]}", "demo")
        radio.stdout.readline()
        other = self.start(f"{command} --json", f"tcp:127.0.0.1:{ports[0]}")
        while line := other.stdout.readline():
            if b"advertising" in line or b"opened" in line or b"hosting" in line:
                break
        return f"tcp:127.0.0.1:{ports[1]}"

    def start(self, command: str, host: str) -> subprocess.Popen[bytes]:
        variables = {"BLUETOOTH_HOST": host, "XDG_STATE_HOME": str(self.folder / "partner")}
        process = subprocess.Popen(
            [self.ble, *command.split()], env=self.environment(variables), cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        self.stack.callback(end, process)
        return process


def attempt(ble: str, example: str) -> str | None:
    """Why an example does not work; `None` if it does."""
    with contextlib.ExitStack() as stack:
        place = Place(ble, example, stack)
        process = subprocess.Popen(
            ["bash", "-c", f"set -o pipefail; {example}"], env=place.environment({"BLUETOOTH_HOST": place.host}),
            cwd=place.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            output, trouble = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
            try:
                output, trouble = process.communicate(timeout=GRACE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return f"it does not end within {GRACE} s of an interruption"
    allowed = next((statuses for words, statuses in STATUSES.items() if f"ble {words}" in example), {0})
    if process.returncode not in allowed:
        return f"status {process.returncode}: {trouble.decode().strip()}"
    is_quiet = any(part in example for part in (" write ", ">", "ble bonds", "ble agent"))
    return None if output.strip() or trouble.strip() or is_quiet else "it prints nothing"


def main() -> int:
    ble = str(pathlib.Path(sys.argv[1]).resolve())
    found = [example for command in COMMANDS for example in examples(ble, command)]
    found = [example for example in found if not re.search(r"BLUETOOTH_HOST=(hci|serial|tcp)", example)]
    with ThreadPoolExecutor(10) as pool:
        reasons = pool.map(lambda example: attempt(ble, example), found)
    failures = [(example, reason) for example, reason in zip(found, reasons) if reason is not None]
    for example, reason in failures:
        print(f"{example}: {reason}")
    print(f"{len(found) - len(failures)} of {len(found)} examples work")
    return 1 if failures or len(found) < 2 * len(COMMANDS) else 0


if __name__ == "__main__":
    sys.exit(main())
