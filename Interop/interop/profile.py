"""The service that all peripherals offer and all centrals use."""

from __future__ import annotations


def _uuid(number: int) -> str:
    return f"5c0b{number:04x}-1111-2222-3333-444455556666"


SERVICE = _uuid(0)
GREETING = _uuid(1)
"""Readable: a short value."""
STORY = _uuid(2)
"""Readable: a value longer than any ATT_MTU in use, so that it takes several requests."""
NOTE = _uuid(3)
"""Readable, writable and notifying: a written value is notified to the subscribers."""
TICKS = _uuid(4)
"""Notifying: counts while a central is subscribed. Only Bumble's peripheral has it."""

STORY_VALUE = bytes(index % 251 for index in range(400))


def greeting(name: str) -> bytes:
    """Returns the greeting of the peripheral called `name`: different for each, so that no stale value passes."""
    return f"hello from {name}".encode()


def numbered(index: int) -> str:
    """Returns the UUID of one of many similar characteristics."""
    return _uuid(0x10 + index)


class Mismatch(Exception):
    """A peer did not behave as required."""


def expect(what: str, found: object, wanted: object) -> None:
    """Raises `Mismatch` unless `found` is `wanted`."""
    if found != wanted:
        raise Mismatch(f"{what}: expected {wanted!r}, found {found!r}")
