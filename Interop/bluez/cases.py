"""Pairings between BlueZ and our host: by method and generation, bonding or not, and with which fault.

Only our host provides out-of-band data: both versions' kernels answer `btmgmt le-oob` with Not Supported.
"""

from __future__ import annotations

from typing import NamedTuple


class Refusal:
    """Faults of a pairing; the values are the names in docs/INTEROP.md."""

    OURS_NO = "no at ours"
    BLUEZ_NO = "no at BlueZ"
    OURS_WRONG = "wrong digits at ours"
    BLUEZ_WRONG = "wrong digits at BlueZ"
    OURS_SILENT = "no answer at ours"
    BLUEZ_SILENT = "no answer at BlueZ"
    OURS_LEAVES = "ours leaves"
    BLUEZ_LEAVES = "BlueZ leaves"


class Case(NamedTuple):
    """One pairing of the two hosts."""

    method: str
    ours: str
    """The argument of `ble --pairing`."""
    bluezs: str
    """BlueZ's name for its IO capability."""
    is_secure: bool = True
    """Uses LE Secure Connections; legacy pairing otherwise."""
    is_bonding: bool = True
    refusal: str = ""
    """The fault of the first attempt: one of `Refusal`."""
    tells: bool = False
    """Our host provides out-of-band data to BlueZ."""
    is_private: bool = False
    """Both hosts use private addresses; BlueZ's controller generates and resolves its own."""

    @property
    def facts(self) -> dict[str, object]:
        """The case as it is recorded."""
        shown_by = {"keyboard": "the peer", "display": "ours"}.get(self.ours) if self.method == "passkeyEntry" else None
        return {
            "method": self.method,
            "by": "ours" if self.tells else shown_by or "",
            "generation": "secure" if self.is_secure else "legacy",
            "bonding": self.is_bonding,
            "private": self.is_private,
            "refusal": self.refusal,
        }

    @property
    def title(self) -> str:
        words = [self.method, *filter(None, [str(self.facts["by"])]), "" if self.is_secure else "legacy"]
        words += ["" if self.is_bonding else "not bonding", "private" if self.is_private else "", self.refusal]
        return ", ".join(filter(None, words))


JUST_WORKS = Case("justWorks", "none", "NoInputNoOutput")
COMPARISON = Case("numericComparison", "yes-no", "DisplayYesNo")
BLUEZ_SHOWS = Case("passkeyEntry", "keyboard", "DisplayOnly")
OURS_SHOWS = Case("passkeyEntry", "display", "KeyboardOnly")
CONSENT = JUST_WORKS._replace(ours="display")
"""Our host asks its user, if it is the peripheral."""
AUTHORIZATION = JUST_WORKS._replace(bluezs="DisplayOnly")
"""BlueZ asks its user, if it is the peripheral."""

OUT_OF_BAND = Case("outOfBand", "none", "NoInputNoOutput", tells=True)

METHODS = (JUST_WORKS, COMPARISON, BLUEZ_SHOWS, OURS_SHOWS)
LEGACY = tuple(each._replace(is_secure=False) for each in (JUST_WORKS, BLUEZ_SHOWS, OURS_SHOWS))
USUAL = (
    *METHODS,
    *LEGACY,
    JUST_WORKS._replace(is_bonding=False),
    COMPARISON._replace(refusal=Refusal.OURS_NO),
    BLUEZ_SHOWS._replace(refusal=Refusal.OURS_WRONG),
    OURS_SHOWS._replace(is_secure=False, refusal=Refusal.BLUEZ_WRONG),
    JUST_WORKS._replace(is_secure=False, is_bonding=False),
)
"""The cases that are divided among the usual runs."""


PRIVATE = tuple(each._replace(is_private=True) for each in (JUST_WORKS, COMPARISON))


def every(is_ours_central: bool) -> list[Case]:
    """Returns every method of each generation, bonding and not, and every fault, for this role of our host."""
    kept = [*METHODS, *LEGACY]
    asked = AUTHORIZATION._replace(refusal=Refusal.BLUEZ_NO)
    if not is_ours_central:
        asked = CONSENT._replace(refusal=Refusal.OURS_NO)
    anyhow = [
        COMPARISON._replace(refusal=Refusal.OURS_NO),
        COMPARISON._replace(refusal=Refusal.BLUEZ_NO),
        BLUEZ_SHOWS._replace(refusal=Refusal.OURS_NO),
        COMPARISON._replace(refusal=Refusal.OURS_LEAVES),
        COMPARISON._replace(refusal=Refusal.BLUEZ_LEAVES),
        COMPARISON._replace(refusal=Refusal.OURS_SILENT),
        COMPARISON._replace(refusal=Refusal.BLUEZ_SILENT),
    ]
    generations = [
        each._replace(is_secure=is_secure)
        for is_secure in (True, False)
        for each in (
            BLUEZ_SHOWS._replace(refusal=Refusal.OURS_WRONG),
            OURS_SHOWS._replace(refusal=Refusal.BLUEZ_WRONG),
            asked,
            BLUEZ_SHOWS._replace(refusal=Refusal.OURS_LEAVES),
        )
    ]
    # With the last of these the kernel of BlueZ 5.66 faults.
    last = generations.pop()
    # The kernel keeps out-of-band data until the end, and requests its use in every later pairing.
    told = [OUT_OF_BAND, OUT_OF_BAND._replace(is_bonding=False)]
    return [*kept, *(each._replace(is_bonding=False) for each in kept), *anyhow, *generations, *told, last]


def usual(place: int, places: int) -> list[Case]:
    """Returns the share of the usual cases for one of `places` runs."""
    return list(USUAL[place::places])
