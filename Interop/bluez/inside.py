"""Runs `ble` in a box, on an adapter of the box's kernel, as if it ran here.

`python -m bluez.inside SHELL_PORT ADAPTER ARGUMENT…` forwards standard input, output and errors, the exit status,
SIGINT and SIGTERM. Files that an argument or a word of the input names are copied to the box.
"""

from __future__ import annotations

import asyncio
import base64
import os
import pathlib
import shlex
import signal
import sys
from typing import NamedTuple

from .cargo import FOLDER

ENVIRONMENT = f"export PATH=/bin:/{FOLDER} LD_LIBRARY_PATH=/{FOLDER} XDG_STATE_HOME=/tmp BLUETOOTH_LOG=notice"


class Inside(NamedTuple):
    """An adapter of a box, for the exclusive use of `ble`."""

    shell_port: int
    adapter: str


async def _connect(shell_port: int, commands: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", shell_port, limit=1 << 26)
    writer.write(commands.encode())
    await writer.drain()
    return reader, writer


async def _do(shell_port: int, commands: str) -> None:
    reader, writer = await _connect(shell_port, f"{commands}\nexit\n")
    await reader.read()
    writer.close()


async def _carry(shell_port: int, words: list[str]) -> None:
    """Copies the files of this machine that `words` name into the box."""
    for path in map(pathlib.Path, words):
        if path.is_absolute() and path.is_file():
            content = base64.b64encode(path.read_bytes()).decode()
            await _do(shell_port, f"mkdir -p {path.parent}; echo {content} | base64 -d > {path}")


async def _feed(shell_port: int, writer: asyncio.StreamWriter) -> None:
    """Forwards the standard input, line by line."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        await _carry(shell_port, line.decode().split())
        writer.write(line)
    writer.write_eof()


async def run(shell_port: int, adapter: str, arguments: list[str]) -> int:
    await _carry(shell_port, arguments)
    log, process = f"/tmp/{os.getpid()}.log", f"/tmp/{os.getpid()}.process"
    command = f"echo $$ > {process}; echo ::ready; {shlex.join(['exec', 'ble', *arguments])}"
    script = (
        f"{ENVIRONMENT} BLUETOOTH_HOST={adapter}; sh -c {shlex.quote(command)} 2> {log}; status=$?; "
        f"echo ::log; cat {log}; echo ::status=$status; "
        # Unread input would truncate the output.
        "cat > /dev/null"
    )
    # The shell reads only this line: input after the mark is for the program.
    reader, writer = await _connect(shell_port, f"exec sh -c {shlex.quote(script)}\n")
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()
    for number, name in ((signal.SIGINT, "INT"), (signal.SIGTERM, "TERM")):
        kill = f"kill -{name} $(cat {process})"
        loop.add_signal_handler(number, lambda kill=kill: tasks.add(loop.create_task(_do(shell_port, kill))))
    output = sys.stdout
    while line := (await reader.readline()).decode(errors="replace"):
        if line == "::ready\n":
            tasks.add(loop.create_task(_feed(shell_port, writer)))
        elif line == "::log\n":
            output = sys.stderr
        elif line.startswith("::status="):
            writer.close()
            return int(line.removeprefix("::status="))
        else:
            print(line, end="", file=output, flush=True)
    return 70


if __name__ == "__main__":
    sys.exit(asyncio.run(run(int(sys.argv[1]), sys.argv[2], sys.argv[3:])))
