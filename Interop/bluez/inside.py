"""Runs `ble` in a box, on an adapter of the box's kernel, as if it ran here.

`python -m bluez.inside SHELL_PORT ADAPTER ARGUMENT…`: what it prints comes out here, and its exit status is the one
here. SIGINT and SIGTERM reach it.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
from typing import NamedTuple

from .cargo import FOLDER

ENVIRONMENT = f"export PATH=/bin:/{FOLDER} LD_LIBRARY_PATH=/{FOLDER} XDG_STATE_HOME=/tmp BLUETOOTH_LOG=notice"


class Inside(NamedTuple):
    """An adapter of a box that `ble` has for itself."""

    shell_port: int
    adapter: str


async def _connect(shell_port: int, commands: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", shell_port, limit=1 << 26)
    writer.write(commands.encode())
    await writer.drain()
    return reader, writer


async def _signal(shell_port: int, name: str) -> None:
    reader, writer = await _connect(shell_port, f"kill -{name} $(cat /tmp/{os.getpid()}.process)\nexit\n")
    await reader.read()
    writer.close()


async def run(shell_port: int, adapter: str, arguments: list[str]) -> int:
    log = f"/tmp/{os.getpid()}.log"
    command = shlex.join(["exec", "ble", *arguments])
    reader, writer = await _connect(
        shell_port,
        f"{ENVIRONMENT} BLUETOOTH_HOST={adapter}\n"
        f"sh -c {shlex.quote(f'echo $$ > /tmp/{os.getpid()}.process; {command}')} < /dev/null 2> {log}\n"
        f"status=$?\necho ::log\ncat {log}\necho ::status=$status\nexit\n",
    )
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()
    for number, name in ((signal.SIGINT, "INT"), (signal.SIGTERM, "TERM")):
        loop.add_signal_handler(number, lambda name=name: tasks.add(loop.create_task(_signal(shell_port, name))))
    output = sys.stdout
    while line := (await reader.readline()).decode(errors="replace"):
        if line == "::log\n":
            output = sys.stderr
        elif line.startswith("::status="):
            writer.close()
            return int(line.removeprefix("::status="))
        else:
            print(line, end="", file=output, flush=True)
    return 70


if __name__ == "__main__":
    sys.exit(asyncio.run(run(int(sys.argv[1]), sys.argv[2], sys.argv[3:])))
