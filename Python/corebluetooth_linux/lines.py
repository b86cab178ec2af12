"""The lines that a process prints."""

from __future__ import annotations

import asyncio

# The number of octets that are read at once. About twice as many are buffered before the process has to wait.
CHUNK = 64 * 1024
# A line of a session has at most one value of 512 octets or one list of services.
LINE_LIMIT = 16 * 1024 * 1024


class Lines:
    """The lines of a stream whose limit is CHUNK.

    The readline() of a stream needs a limit for its buffer that is greater than the longest line, and would read that
    much ahead.
    """

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream
        self._rest = bytearray()

    async def next(self) -> bytes:
        """Returns the next line without its end, or b"" after the last one and for an empty line.

        Raises:
            ValueError: if the line is too long.
        """
        searched = 0
        while (end := self._rest.find(b"\n", searched)) < 0:
            searched = len(self._rest)
            if searched > LINE_LIMIT:
                raise ValueError(f"it has more than {LINE_LIMIT} octets")
            chunk = await self._stream.read(CHUNK)
            if not chunk:
                return b""
            self._rest += chunk
        line = bytes(self._rest[:end])
        del self._rest[:end + 1]
        return line
