"""Runs the examples that `ble --help` gives against the demo: help.py PATH-OF-ble

An example that has no end is interrupted after a while, and must end well then.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

COMMANDS = ("scan", "inspect", "read", "write", "notify")
PATIENCE, GRACE = 5, 10


def examples(ble, command):
    """The examples in the help of a command."""
    wide = dict(os.environ, COLUMNS="200")
    text = subprocess.run([ble, command, "--help"], env=wide, capture_output=True, text=True, check=True).stdout
    _, _, rest = text.partition("Examples:\n")
    for line in rest.split("\n\n")[0].splitlines():
        yield re.split(r"\s{3,}", line.strip())[0]


def attempt(ble, example):
    """Why an example does not work with the demo; `None` if it does."""
    words = shlex.split(example)
    if words[0] != "ble":
        return "it does not begin with “ble”"
    environment = dict(os.environ, BLUETOOTH_HOST="demo")
    process = subprocess.Popen(
        [ble, *words[1:]], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        output, trouble = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            output, trouble = process.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            return f"it does not end within {GRACE} s of an interruption"
    if process.returncode != 0:
        return f"status {process.returncode}: {trouble.decode().strip()}"
    return None if output.strip() or " write " in example else "it prints nothing"


def main():
    ble = sys.argv[1]
    found = [example for command in COMMANDS for example in examples(ble, command)]
    with ThreadPoolExecutor(4) as pool:
        reasons = pool.map(lambda example: attempt(ble, example), found)
    failures = [(example, reason) for example, reason in zip(found, reasons) if reason is not None]
    for example, reason in failures:
        print(f"{example}: {reason}")
    print(f"{len(found) - len(failures)} of {len(found)} examples work")
    sys.exit(1 if failures or len(found) < 2 * len(COMMANDS) else 0)


if __name__ == "__main__":
    main()
