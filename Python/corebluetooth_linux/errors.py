"""The error of all operations."""

import re
from collections.abc import Awaitable
from typing import Any

LOG_LINE = re.compile(r"\d{4}-\d\d-\d\dT\S+ \w+ corebluetooth: (?:\[\w+\] )?(.*)")
# The codes of errors that mean that what should end has already ended.
ENDED = frozenset({"cancelled", "disconnected", "not_connected", "not_served", "radio_off"})
MESSAGE = re.compile(r"(?:bled?: )?(.*)")


def sentences(output: str) -> str:
    """Returns the reason that a program gave in its standard error: its log, or without one its other messages."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    found = [match[1] for line in lines if (match := LOG_LINE.fullmatch(line))]
    return " ".join(found or [match[1] for line in lines if (match := MESSAGE.fullmatch(line))])


class BluetoothError(Exception):
    """An operation that failed.

    The text is a sentence for people.

    Attributes:
        code: The reason, one of those in docs/SESSION.md: "not_found", "disconnected", "refused" and so on.
        domain: The domain of Core Bluetooth's error, such as "CBATTErrorDomain", if the device or the host refused.
        number: The number of that error in its domain; 5 in "CBATTErrorDomain" is Insufficient Authentication.
    """

    def __init__(self, code: str, sentence: str, domain: str | None = None, number: int | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.domain = domain
        self.number = number

    @classmethod
    def from_line(cls, line: dict[str, Any]) -> "BluetoothError":
        """Returns the error that a line with the event "failed" describes."""
        return cls(line.get("code", "refused"), line.get("error", "The command failed."), line.get("domain"),
                   line.get("error_code"))


async def ending(request: Awaitable[object]) -> bool:
    """Waits for a request that ends something; returns False if that had already ended, as with the connection."""
    try:
        await request
    except BluetoothError as error:
        if error.code not in ENDED:
            raise
        return False
    return True
