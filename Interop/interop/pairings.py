"""The pairings: their controllers, their central and their peripheral."""

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
    faults,
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
    """The make of the controllers: `rootcanal`, `bumble` or `ours`."""
    central: str
    """The host that is the central: `ours` or `bumble`."""
    peripheral: str
    """The host that is the peripheral: `ours` or `bumble`."""
    swapped: bool = False
    """The central is on the second controller instead of the first."""
    topic: str = "attributes"
    """The subject of the test.

    `attributes`; `channels`; `bearers`, which are attributes over several channels; `pairing`; `cuts` and `cuts-all`,
    which are pairings whose link is lost; `privacy`; `serial`, which are attributes over a serial line to our host's
    controller; `door`, with our host driven as test suites drive hosts; or `faults`, which our host makes on purpose.
    """

    @property
    def name(self) -> str:
        topic = "" if self.topic == "attributes" else f"/{self.topic}"
        swapped = "/swapped" if self.swapped else ""
        return f"{self.controllers}/{self.central}-{self.peripheral}{topic}{swapped}"

    @property
    def seconds(self) -> float:
        """The time limit of a round."""
        longest = {"channels": channels.SECONDS, "serial": serial_talk.SECONDS, "pairing": trust.SECONDS}
        longest |= {"faults": faults.SECONDS, "cuts": cuts.SECONDS, "cuts-all": cuts.SECONDS}
        return longest.get(self.topic, 30)

    @property
    def rounds(self) -> int:
        """The usual number of rounds: fewer for channels, which carry much data, and for privacy, which is slow."""
        if self.topic == "pairing" and self.central != self.peripheral:
            return methods.USUAL_ROUNDS
        if self.topic == "pairing" and self.central == "ours":
            return len(own.CASES)
        if self.topic.startswith("cuts"):
            return cuts.ROUNDS
        if self.topic == "serial":
            return serial_talk.ROUNDS
        if self.topic == "faults":
            return faults.ROUNDS
        return 5 if self.topic in ("channels", "privacy", "door") else 20

    @property
    def logs(self) -> tuple[pathlib.Path, pathlib.Path]:
        """The log files of the controllers and of our host."""
        stem = self.name.replace("/", "-")
        return LOGS / f"{stem}.controllers.log", LOGS / f"{stem}.ble.log"

    def controllers_running(self) -> contextlib.AbstractAsyncContextManager[Endpoints]:
        """Runs both controllers until the context ends."""
        return MAKES[self.controllers](self.logs[0])

    async def converse(self, endpoints: Endpoints, round_number: int) -> None:
        """Runs one round: the peripheral advertises, the central uses its services, and both disconnect."""
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
        if self.topic == "faults":
            return await faults.converse(first, second, name, log)
        if self.topic == "door":
            return await door.converse(first, second, name, log)
        if self.topic == "privacy":
            return await privacy.converse(first, second, name)
        central = bumble_host.BumbleCentral(first) if self.central == "bumble" else tool.ToolCentral(first, log)
        present = bumble_host.peripheral if self.peripheral == "bumble" else tool.peripheral
        async with present(second, name, log) as peripheral:
            await central.converse(peripheral)


PEERS_ONLY = [Pairing("rootcanal", "bumble", "bumble"), Pairing("bumble", "bumble", "bumble")]
"""Pairings without our host and controllers: if these fail, the machine or these scripts are at fault."""

BY_NAME = [
    Pairing(controllers, central, peripheral, topic="cuts-all")
    for controllers in ("rootcanal", "ours")
    for central, peripheral in (("ours", "bumble"), ("bumble", "ours"))
]
"""Pairings that take minutes, and run only by name."""

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
    Pairing("ours", "bumble", "ours", topic="faults"),
    Pairing("rootcanal", "ours", "bumble", topic="serial"),
    Pairing("rootcanal", "bumble", "ours", topic="serial"),
]
