"""Child processes, which are always ended, by their process identifiers."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import pathlib
from collections.abc import AsyncIterator

from .profile import Mismatch

HOME = pathlib.Path(os.environ["INTEROP_HOME"])
LOGS = HOME / "logs"

who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="all")
"""The name of the current run, which separates its state from that of concurrent runs."""

@contextlib.asynccontextmanager
async def connected(port: int, process: asyncio.subprocess.Process, seconds: float = 10) -> AsyncIterator[None]:
    """Connects to `port` as soon as `process` listens there, until the context ends."""
    for _ in range(int(seconds / 0.02)):
        if process.returncode is not None:
            raise Mismatch(f"the process that should listen on port {port} ended with status {process.returncode}")
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.02)
            continue
        try:
            yield
        finally:
            writer.close()
        return
    raise Mismatch(f"nothing listens on port {port} after {seconds} s")


async def end(process: asyncio.subprocess.Process) -> None:
    """Ends `process`, by force after 3 s."""
    for stop in (process.terminate, process.kill):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            stop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 3)


@contextlib.asynccontextmanager
async def running(
    log: pathlib.Path,
    *command: str,
    stdin: int = asyncio.subprocess.DEVNULL,
    stdout: int | None = None,
    environment: dict[str, str] | None = None,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Runs `command` until the context ends, and appends its standard error to the file `log`."""
    LOGS.mkdir(parents=True, exist_ok=True)
    with open(log, "ab") as errors:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=stdin,
            stdout=errors if stdout is None else stdout,
            stderr=errors,
            env=os.environ | {"XDG_STATE_HOME": str(HOME / "state" / who.get())} | (environment or {}),
            cwd=LOGS,
        )
    try:
        yield process
    finally:
        # Shielded, so that a cancelled round leaves no processes behind.
        await asyncio.shield(end(process))
