"""The daemon `bled`, for the time of a test or a program."""

from __future__ import annotations

import asyncio
import os
import pathlib
import shutil
import tempfile

from .errors import BluetoothError, sentences
from .process import end, start


class Daemon:
    """Runs `bled` with a radio of its own; several sessions can share it.

    An asynchronous context manager, whose value is the `host` for a session:

        async with Daemon("world:world.json") as host, Session(host) as session:
            …
    """

    def __init__(self, radio: str, program: str | None = None) -> None:
        """Describes a daemon; entering it starts the process.

        Args:
            radio: The radio, as the argument of `bled`: "demo", "world:FILE.json", "tcp:HOST:PORT", "hci:0".
            program: The path of `bled`; by default the one in PATH, or the value of the variable BLED.
        """
        self._radio = radio
        self._program = program or os.environ.get("BLED") or shutil.which("bled") or "bled"
        self._process: asyncio.subprocess.Process | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    async def __aenter__(self) -> str:
        # The path of a socket has at most 107 octets, so the folder is not in TMPDIR.
        self._folder = tempfile.TemporaryDirectory(prefix="bled-", dir="/tmp")
        folder = pathlib.Path(self._folder.name)
        place = folder / "run" / "socket"
        try:
            with open(folder / "log", "w") as log:
                self._process = await start(
                    self._program, "BLED", "--socket", str(place), "--sessions", str(folder / "sessions"), self._radio,
                    stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)
            async with asyncio.timeout(60):
                while not place.exists():
                    if self._process.returncode is not None:
                        reason = sentences((folder / "log").read_text(errors="replace"))
                        raise BluetoothError("radio_off", reason or f"{self._program} exited with status "
                                             f"{self._process.returncode} before it opened its socket.")
                    await asyncio.sleep(0.02)
        except TimeoutError:
            await self._stop()
            raise BluetoothError("radio_off", f"{self._program} did not open its socket within 60 s.") from None
        except BaseException:
            await self._stop()
            raise
        return f"bled:{place}"

    async def __aexit__(self, *_: object) -> None:
        await self._stop()

    async def _stop(self) -> None:
        try:
            if self._process:
                await end(self._process)
        finally:
            if self._folder:
                self._folder.cleanup()
