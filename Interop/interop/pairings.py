"""The pairings: which controllers, which host is the central, which is the peripheral."""

from __future__ import annotations

import contextlib
import pathlib
from typing import NamedTuple

from . import (
    bearers,
    bumble_host,
    channels,
    cuts,
    door,
    methods,
    own,
    pairing,
    polling,
    privacy,
    serial_talk,
    tool,
    trust,
)
from .controllers import MAKES, Endpoints
from .processes import LOGS


class Pairing(NamedTuple):
    """Two hosts on two controllers of one make."""

    controllers: str
    """Whose controllers: `rootcanal`, `bumble` or `ours`."""
    central: str
    """Whose host is the central: `ours` or `bumble`."""
    peripheral: str
    """Whose host is the peripheral: `ours` or `bumble`."""
    swapped: bool = False
    """Whether the central is on the second controller instead of the first."""
    topic: str = "attributes"
    """What they use: `attributes`, `channels`, `bearers`, which are attributes over several channels, `pairing`,
    `privacy`, `serial`, which are attributes over a serial line to our host's controller, or `door`, for which our host
    is driven as test suites drive hosts."""

    @property
    def name(self) -> str:
        topic = "" if self.topic == "attributes" else f"/{self.topic}"
        swapped = "/swapped" if self.swapped else ""
        return f"{self.controllers}/{self.central}-{self.peripheral}{topic}{swapped}"

    @property
    def seconds(self) -> float:
        """How long a round may take."""
        longest = {"channels": channels.SECONDS, "serial": serial_talk.SECONDS, "pairing": trust.SECONDS}
        longest |= {"cuts": cuts.SECONDS, "cuts-all": cuts.SECONDS}
        return longest.get(self.topic, 30)

    @property
    def rounds(self) -> int:
        """How many rounds are usual; one of channels carries a great deal, and one of privacy takes its time."""
        if self.topic == "pairing" and self.central != self.peripheral:
            return methods.USUAL_ROUNDS
        if self.topic == "pairing" and self.central == "ours":
            return len(own.CASES)
        if self.topic.startswith("cuts"):
            return cuts.ROUNDS
        if self.topic == "serial":
            return serial_talk.ROUNDS
        return 5 if self.topic in ("channels", "privacy", "door") else 20

    @property
    def logs(self) -> tuple[pathlib.Path, pathlib.Path]:
        """The files for what the controllers and our host say."""
        stem = self.name.replace("/", "-")
        return LOGS / f"{stem}.controllers.log", LOGS / f"{stem}.ble.log"

    def controllers_running(self) -> contextlib.AbstractAsyncContextManager[Endpoints]:
        """Both controllers, for as long as the context lasts."""
        return MAKES[self.controllers](self.logs[0])

    async def converse(self, endpoints: Endpoints, round_number: int) -> None:
        """One round: the peripheral advertises, the central uses all that it offers, and both leave."""
        first, second = reversed(endpoints) if self.swapped else endpoints
        name = f"peer-{round_number}"
        log = self.logs[1]
        if self.topic == "channels":
            return await channels.converse(self.central, first, second, name, log)
        if self.topic == "bearers" and self.central == "ours":
            return await polling.converse(first, second, name, round_number, log)
        if self.topic == "bearers":
            return await bearers.converse(first, second, name, log)
        if self.topic == "pairing" and self.central == "ours" == self.peripheral:
            return await own.converse(self.controllers, first, second, name, round_number, log)
        if self.topic == "pairing" and self.central != self.peripheral:
            return await trust.converse(self.controllers, self.central, first, second, name, round_number, log)
        if self.topic.startswith("cuts"):
            is_all = self.topic == "cuts-all"
            return await cuts.converse(
                self.controllers, self.central, first, second, name, round_number, log, is_all
            )
        if self.topic == "pairing":
            return await pairing.converse(first, second, name, round_number)
        if self.topic == "serial":
            return await serial_talk.converse(self.central, first, second, name, round_number, log)
        if self.topic == "door":
            return await door.converse(first, second, name, log)
        if self.topic == "privacy":
            return await privacy.converse(first, second, name)
        central = bumble_host.BumbleCentral(first) if self.central == "bumble" else tool.ToolCentral(first, log)
        present = bumble_host.peripheral if self.peripheral == "bumble" else tool.peripheral
        async with present(second, name, log) as peripheral:
            await central.converse(peripheral)


PEERS_ONLY = [Pairing("rootcanal", "bumble", "bumble"), Pairing("bumble", "bumble", "bumble")]
"""Nothing of ours takes part: where these fail, it is the machine, or these scripts."""

BY_NAME = [
    Pairing(controllers, central, peripheral, topic="cuts-all")
    for controllers in ("rootcanal", "ours")
    for central, peripheral in (("ours", "bumble"), ("bumble", "ours"))
]
"""Those that take minutes, and are run when they are asked for."""

PAIRINGS = [
    Pairing("rootcanal", "ours", "bumble"),
    Pairing("rootcanal", "bumble", "ours"),
    Pairing("bumble", "ours", "bumble"),
    Pairing("bumble", "bumble", "ours"),
    Pairing("ours", "bumble", "bumble"),
    Pairing("ours", "bumble", "bumble", swapped=True),
    Pairing("ours", "ours", "bumble"),
    Pairing("ours", "bumble", "ours"),
    *(
        Pairing(controllers, central, peripheral, topic="channels")
        for controllers in ("rootcanal", "ours")
        for central, peripheral in (("ours", "bumble"), ("bumble", "ours"))
    ),
    Pairing("rootcanal", "bumble", "ours", topic="bearers"),
    Pairing("rootcanal", "ours", "bumble", topic="bearers"),
    Pairing("ours", "bumble", "bumble", topic="pairing"),
    *(
        Pairing(controllers, central, peripheral, topic="pairing")
        for controllers in ("rootcanal", "ours")
        for central, peripheral in (("ours", "bumble"), ("bumble", "ours"))
    ),
    *(Pairing(controllers, "ours", "ours", topic="pairing") for controllers in ("rootcanal", "ours")),
    Pairing("rootcanal", "ours", "bumble", topic="cuts"),
    Pairing("rootcanal", "bumble", "ours", topic="cuts"),
    Pairing("ours", "bumble", "bumble", topic="privacy"),
    *(Pairing(controllers, "ours", "bumble", topic="door") for controllers in ("rootcanal", "ours")),
    Pairing("rootcanal", "ours", "bumble", topic="serial"),
    Pairing("rootcanal", "bumble", "ours", topic="serial"),
]
