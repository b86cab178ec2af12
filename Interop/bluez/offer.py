"""The services of the peripherals in these runs, and the form in which discovered services are compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from interop.profile import expect

FLAGS = {
    "read": "read",
    "write": "write",
    "writeWithoutResponse": "write-without-response",
    "notify": "notify",
    "indicate": "indicate",
}
"""The properties of a characteristic: their names in Core Bluetooth, and those in BlueZ."""

USER_DESCRIPTION = "2901"
CONFIGURATION = "2902"
PRESENTATION_FORMAT = "2904"

Tree = dict[str, dict[str, Any]]
"""Services by their UUIDs, independent of their origin; the values of configurations are left out."""


class Characteristic(NamedTuple):
    """A characteristic with its value."""

    uuid: str
    properties: tuple[str, ...]
    value: bytes = b""
    description: str | None = None
    format: bytes | None = None
    locked: bool = False
    """Only paired devices may read it."""
    strict: bool = False
    """Only devices paired by more than Just Works may read it; only BlueZ can express that."""

    @property
    def descriptors(self) -> dict[str, bytes]:
        """The descriptors that the server has to provide, with their values."""
        description = None if self.description is None else self.description.encode()
        values = {USER_DESCRIPTION: description, PRESENTATION_FORMAT: self.format}
        return {full(uuid): value for uuid, value in values.items() if value is not None}


class Service(NamedTuple):
    """A service with its characteristics and included services."""

    uuid: str
    characteristics: tuple[Characteristic, ...]
    includes: tuple[str, ...] = ()
    primary: bool = True


def _uuid(number: int) -> str:
    return f"5c0d{number:04x}-1111-2222-3333-444455556666"


def is_ours(uuid: str) -> bool:
    """Returns whether a UUID is one of this file's."""
    return uuid.startswith("5c0d")


LONG = bytes(index * 7 % 251 for index in range(400))
"""A value that takes several requests with any ATT_MTU up to 398."""

GREETING = Characteristic(_uuid(0x101), ("read",), b"hello", description="what it says first")
STORY = Characteristic(_uuid(0x102), ("read",), LONG)
DIARY = Characteristic(_uuid(0x103), ("read", "write"), b"dear diary")
NOTE = Characteristic(_uuid(0x104), ("read", "writeWithoutResponse"), b"none yet")
TICKS = Characteristic(_uuid(0x105), ("read", "notify"), b"\0", format=bytes.fromhex("04000127010000"))
BELL = Characteristic(_uuid(0x106), ("indicate",), description="rings")
CELLAR = Service(_uuid(0x200), (Characteristic(_uuid(0x201), ("read",), b"wine"),), primary=False)
HOUSE = Service(_uuid(0x100), (GREETING, STORY, DIARY, NOTE, TICKS, BELL), includes=(CELLAR.uuid,))
GUEST = Service(_uuid(0x300), (Characteristic(_uuid(0x301), ("read",), b"here I am", description="late"),))
OTHER_GUEST = Service(_uuid(0x400), (Characteristic(_uuid(0x401), ("read", "notify"), b"me too"),))

LOCKED = Characteristic(_uuid(0x501), ("read",), b"for friends", locked=True)
SAFE = Service(_uuid(0x500), (LOCKED,))
STRICT = Characteristic(_uuid(0x601), ("read",), b"for good friends", strict=True)
VAULT = Service(_uuid(0x600), (STRICT,))

AT_FIRST = (CELLAR, HOUSE)


def full(uuid: str) -> str:
    """Returns a UUID in its long form."""
    return (f"0000{uuid}-0000-1000-8000-00805f9b34fb" if len(uuid) == 4 else uuid).lower()


def tree(services: tuple[Service, ...], values: dict[str, bytes] | None = None) -> Tree:
    """Returns the services that a client must find; `values` holds the values that have changed since the start."""
    return {
        service.uuid: {
            "primary": service.primary,
            "includes": sorted(service.includes),
            "characteristics": {each.uuid: _characteristic(each, values or {}) for each in service.characteristics},
        }
        for service in services
    }


def _characteristic(characteristic: Characteristic, values: dict[str, bytes]) -> dict[str, Any]:
    value = values.get(characteristic.uuid, characteristic.value) if "read" in characteristic.properties else None
    descriptors: dict[str, bytes | None] = dict(characteristic.descriptors)
    if {"notify", "indicate"} & set(characteristic.properties):
        descriptors[full(CONFIGURATION)] = None
    return {"properties": sorted(characteristic.properties), "value": value, "descriptors": descriptors}


def expect_tree(what: str, found: Tree, wanted: Tree) -> None:
    """Raises `Mismatch` with the differences unless two trees are equal."""
    mine, yours = dict(_leaves(found)), dict(_leaves(wanted))
    differing = [place for place in sorted(mine | yours) if mine.get(place, "-") != yours.get(place, "-")]
    expect(what, {each: mine.get(each, "-") for each in differing}, {each: yours.get(each, "-") for each in differing})


def _leaves(branch: dict[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    for name, part in branch.items():
        if isinstance(part, dict):
            yield f"{place}/{name}", "..."
            yield from _leaves(part, f"{place}/{name}")
        else:
            yield f"{place}/{name}", part
