"""The error of all operations."""

import re
from typing import Any

# What precedes the sentence in a line of the log, or in a message of `ble` or `bled`.
PREFIX = re.compile(r"^(\d{4}-\d\d-\d\dT\S+ \w+ corebluetooth: (\[\w+\] )?|bled?: )", re.MULTILINE)


def sentences(output: str) -> str:
    """Returns what a program printed to standard error, as sentences on one line."""
    return " ".join(line.strip() for line in PREFIX.sub("", output).splitlines() if line.strip())


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
