"""The service that every peripheral of a pairing offers, and that every central uses."""

from __future__ import annotations


def _uuid(number: int) -> str:
    return f"5c0b{number:04x}-1111-2222-3333-444455556666"


SERVICE = _uuid(0)
GREETING = _uuid(1)
"""Can be read: a short value."""
STORY = _uuid(2)
"""Can be read: a value longer than any ATT_MTU in use, so that it takes several requests."""
NOTE = _uuid(3)
"""Can be read, written and subscribed to: a value that is written is notified to the subscribers."""
TICKS = _uuid(4)
"""Can be subscribed to: counts while somebody listens. Only Bumble's peripheral has it."""

STORY_VALUE = bytes(index % 251 for index in range(400))


def greeting(name: str) -> bytes:
    """What the peripheral called `name` has to say: different for each, so that no stale value passes."""
    return f"hello from {name}".encode()


def numbered(index: int) -> str:
    """The UUID of one of many characteristics that are alike."""
    return _uuid(0x10 + index)


class Mismatch(Exception):
    """A peer did not do what it must."""


def expect(what: str, found: object, wanted: object) -> None:
    """Raises `Mismatch` unless `found` is `wanted`."""
    if found != wanted:
        raise Mismatch(f"{what}: expected {wanted!r}, found {found!r}")
