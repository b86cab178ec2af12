"""Pairings between our host and Bumble's: by method and generation, bonding or not, and with which fault."""

from __future__ import annotations

from typing import NamedTuple

from bumble.pairing import PairingDelegate


class Method(NamedTuple):
    """The pairing of one round."""

    name: str
    ours: str
    """The argument of `ble --pairing`."""
    bumbles: PairingDelegate.IoCapability
    secure: bool = True
    """Uses LE Secure Connections; legacy pairing otherwise."""
    bonding: bool = True
    """Both store keys; otherwise ours does not as the central, and Bumble does not as the peripheral."""
    refusal: str = ""
    """The fault of the first attempt: one of those below."""

    @property
    def authenticated(self) -> bool:
        return self.name != "justWorks"

    @property
    def tells(self) -> bool:
        """The out-of-band data is generated for this pairing."""
        return self.name == "outOfBand" and self.secure

    @property
    def key(self) -> list[str]:
        """The arguments of `ble` for an out-of-band key that both know."""
        is_known = self.name == "outOfBand" and not self.secure
        return ["--temporary-key", TEMPORARY_KEY.hex()] if is_known else []

    @property
    def facts(self) -> dict[str, object]:
        """The method as it is recorded."""
        by = {"keyboard": "the peer", "display": "ours"}.get(self.ours, "") if self.name == "passkeyEntry" else ""
        return {
            "method": self.name,
            "by": by,
            "generation": "secure" if self.secure else "legacy",
            "bonding": self.bonding,
            "refusal": self.refusal,
        }


OURS_NO, BUMBLE_NO = "no at ours", "no at Bumble"
OURS_WRONG, BUMBLE_WRONG = "wrong digits at ours", "wrong digits at Bumble"
OURS_SILENT, BUMBLE_SILENT = "no answer at ours", "no answer at Bumble"
OURS_LEAVES, BUMBLE_LEAVES = "ours leaves", "Bumble leaves"
LEAVES = (OURS_LEAVES, BUMBLE_LEAVES)

NOTHING, YES_NO = PairingDelegate.NO_OUTPUT_NO_INPUT, PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT
SHOWS, TYPES = PairingDelegate.DISPLAY_OUTPUT_ONLY, PairingDelegate.KEYBOARD_INPUT_ONLY

JUST_WORKS, COMPARISON = Method("justWorks", "none", NOTHING), Method("numericComparison", "yes-no", YES_NO)
BUMBLE_SHOWS, OURS_SHOWS = Method("passkeyEntry", "keyboard", SHOWS), Method("passkeyEntry", "display", TYPES)
OUT_OF_BAND = Method("outOfBand", "none", NOTHING)
TEMPORARY_KEY = bytes(range(1, 17))
"""The key for legacy out-of-band pairing, which both know."""
SECURE = [JUST_WORKS, COMPARISON, BUMBLE_SHOWS, OURS_SHOWS, OUT_OF_BAND]
KEPT = SECURE + [each._replace(secure=False) for each in (JUST_WORKS, BUMBLE_SHOWS, OURS_SHOWS, OUT_OF_BAND)]
REFUSED = [
    COMPARISON._replace(refusal=OURS_NO),
    COMPARISON._replace(refusal=BUMBLE_NO),
    BUMBLE_SHOWS._replace(refusal=OURS_WRONG),
    OURS_SHOWS._replace(refusal=BUMBLE_WRONG),
    BUMBLE_SHOWS._replace(secure=False, refusal=OURS_WRONG),
    OURS_SHOWS._replace(secure=False, refusal=BUMBLE_WRONG),
    COMPARISON._replace(refusal=OURS_LEAVES),
    COMPARISON._replace(refusal=BUMBLE_LEAVES),
]
ALL = [*KEPT, *(each._replace(bonding=False) for each in KEPT), *REFUSED]
SILENT = [COMPARISON._replace(refusal=OURS_SILENT), COMPARISON._replace(refusal=BUMBLE_SILENT)]
"""Methods that take half a minute, and run only with that many rounds."""
USUAL_ROUNDS = len(ALL) // 2


def methods(controllers: str) -> list[Method]:
    """Returns one method a round: first the usual ones, half of them for each make of controllers, then the others."""
    halves = [ALL[::2], ALL[1::2]]
    if controllers == "ours":
        halves.reverse()
    return [*halves[0], *halves[1], *SILENT]
