"""The lines of a session."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from .errors import BluetoothError

# The number of octets that are read at once. About twice as many are buffered before the process has to wait.
CHUNK = 64 * 1024
# A line of a session has at most one value of 512 octets or one list of services.
LINE_LIMIT = 16 * 1024 * 1024
# The maximum number of octets of a command, as in docs/SESSION.md.
COMMAND_LIMIT = 65_536
# The maximum number of nested arrays and objects in a command. The process parses 512.
LEVEL_LIMIT = 100


def encoded(command: dict[str, Any]) -> bytes:
    """Returns the line of a command.

    The answer to a line that the process cannot parse lacks the number of the command, so such commands fail here.

    Raises:
        BluetoothError: with the code "invalid" if JSON cannot express the command, or if it is too long.
    """
    name = command["command"]
    try:
        _check(command)
        line = json.dumps(command, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        raise BluetoothError("invalid", f"The command “{name}” cannot be written as JSON: {error}.") from None
    if len(line) > COMMAND_LIMIT:
        raise BluetoothError("invalid", f"The command “{name}” has {len(line)} octets; at most {COMMAND_LIMIT} are "
                             "possible.")
    return line + b"\n"


def _check(value: Any, level: int = 0) -> None:
    """Raises ValueError if a value contains something that Python can write as JSON, but the process cannot parse."""
    if level > LEVEL_LIMIT:
        raise ValueError(f"it has more than {LEVEL_LIMIT} levels of lists and dictionaries")
    if isinstance(value, int) and abs(value) >= 1 << 63:
        raise ValueError("an integer has more than 64 bits")
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return
    for one in value:
        _check(one, level + 1)


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
