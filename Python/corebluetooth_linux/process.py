"""The programs that the package runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import Any

from .errors import BluetoothError

# The time in seconds in which a program must end after SIGTERM.
GRACE = 10


async def start(program: str, variable: str, *arguments: str, **options: Any) -> asyncio.subprocess.Process:
    """Starts a program.

    Args:
        variable: The environment variable with which a user names the program.
        options: Those of asyncio.create_subprocess_exec.

    Raises:
        BluetoothError: with the code "not_found" if the program cannot be run.
    """
    advice = ("Install the Debian package bled, add the program's folder to PATH, or set the variable "
              f"{variable} to its path.")
    try:
        return await asyncio.create_subprocess_exec(program, *arguments, **options)
    except FileNotFoundError:
        raise BluetoothError("not_found", f"Cannot find the program “{program}”. {advice}") from None
    except OSError as error:
        raise BluetoothError("not_found", f"Cannot run “{program}”: {error.strerror}. {advice}") from None


def terminate(process: asyncio.subprocess.Process) -> None:
    """Sends SIGTERM to a program, unless it has ended."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            # The method terminate() may collect the exit status, and asyncio would then wait for it without end.
            os.kill(process.pid, signal.SIGTERM)


async def end(process: asyncio.subprocess.Process) -> None:
    """Ends a program, if necessary with SIGKILL, and waits until it has ended."""
    terminate(process)
    try:
        async with asyncio.timeout(GRACE):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
