"""How our host and Bumble's are to pair: by which method and generation, kept or not, and what goes wrong."""

from __future__ import annotations

from typing import NamedTuple

from bumble.pairing import PairingDelegate


class Method(NamedTuple):
    """How the two are to pair in one round."""

    name: str
    ours: str
    """What our host can show and ask, as `ble --pairing` has it."""
    bumbles: PairingDelegate.IoCapability
    secure: bool = True
    """Whether by LE Secure Connections."""
    bonding: bool = True
    """Whether both keep keys: if not, the central does not if it is ours, and the peripheral not if it is Bumble's."""
    refusal: str = ""
    """What goes wrong at first: one of those below."""

    @property
    def authenticated(self) -> bool:
        return self.name != "justWorks"

    @property
    def tells(self) -> bool:
        """Whether what one tells the other by other means is made for this pairing."""
        return self.name == "outOfBand" and self.secure

    @property
    def key(self) -> list[str]:
        """The arguments with which `ble` has the key that both know by other means, if they pair so."""
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
"""What both know by other means when they pair out of band the legacy way."""
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
"""Those that take half a minute, and are made when so many rounds are asked for."""
USUAL_ROUNDS = len(ALL) // 2


def methods(controllers: str) -> list[Method]:
    """One for each round: the usual ones first, of which each make of controllers has its half, then the others."""
    halves = [ALL[::2], ALL[1::2]]
    if controllers == "ours":
        halves.reverse()
    return [*halves[0], *halves[1], *SILENT]
