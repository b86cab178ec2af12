"""The user of our host and Bumble's, who answers their questions."""

from __future__ import annotations

import asyncio

from bumble.device import Device
from bumble.keys import MemoryKeyStore
from bumble.pairing import OobSharedData, PairingConfig, PairingDelegate
from bumble.smp import OobContext, OobLegacyContext

from .methods import (
    BUMBLE_NO,
    BUMBLE_SILENT,
    BUMBLE_WRONG,
    LEAVES,
    OURS_NO,
    OURS_SILENT,
    OURS_WRONG,
    TEMPORARY_KEY,
    Method,
)

# The time limits of a step, and of one in which one side does not answer.
PATIENCE = 10
SILENCE = 45


class User(PairingDelegate):
    """The user of both devices."""

    def __init__(self, method: Method, keeps: bool) -> None:
        super().__init__(method.bumbles)
        self._method = method
        self._keeps = keeps
        self._context = OobContext()
        self.begin(method.refusal)

    def begin(self, refusal: str = "") -> None:
        """Clears all numbers, and makes this mistake from now on."""
        loop = asyncio.get_running_loop()
        self.refusal = refusal
        # The numbers that Bumble and our host show, and our host's out-of-band data.
        self.shown: asyncio.Future[int] = loop.create_future()
        self.ours: asyncio.Future[int] = loop.create_future()
        self.told: asyncio.Future[OobSharedData] = loop.create_future()
        self.asked = asyncio.Event()
        """Set as soon as one of the hosts has asked or shown something."""

    @property
    def structures(self) -> str:
        """Bumble's out-of-band data, as `ble --told` takes it."""
        told = self._context.share()
        return f"1122{told.c.hex()}1123{told.r.hex()}"

    def use(self, device: Device) -> None:
        device.pairing_config_factory = lambda _: self._configuration()
        device.keystore = MemoryKeyStore()

    def _configuration(self) -> PairingConfig:
        out_of_band = None
        if self._method.tells:
            out_of_band = PairingConfig.OobConfig(self._context, self.told.result(), None)
        elif self._method.name == "outOfBand":
            out_of_band = PairingConfig.OobConfig(None, None, OobLegacyContext(TEMPORARY_KEY))
        return PairingConfig(
            sc=self._method.secure,
            mitm=self._method.authenticated,
            bonding=self._keeps,
            delegate=self,
            oob=out_of_band,
        )

    async def display_number(self, number: int, digits: int) -> None:
        self.asked.set()
        self.shown.set_result(number)

    async def get_number(self) -> int:
        self.asked.set()
        return self._typed(await asyncio.wait_for(self.ours, PATIENCE), BUMBLE_WRONG)

    async def compare_numbers(self, number: int, digits: int) -> bool:
        self.asked.set()
        if self.refusal in (BUMBLE_SILENT, *LEAVES):
            await asyncio.sleep(SILENCE)
        ours = await asyncio.wait_for(self.ours, PATIENCE)
        return ours == number and self.refusal != BUMBLE_NO

    def _typed(self, number: int, mistake: str) -> int:
        return (number + 1) % 1_000_000 if self.refusal == mistake else number

    async def answer(self, question: str, digits: str | None) -> str | None:
        """Returns the text to type in at our host for this question."""
        self.asked.set()
        if digits is not None and not self.ours.done():
            self.ours.set_result(int(digits))
        if question == "show" or self.refusal in (OURS_SILENT, *LEAVES):
            return None
        if self.refusal == OURS_NO:
            return "no"
        if question == "enter":
            return f"{self._typed(await asyncio.wait_for(self.shown, PATIENCE), OURS_WRONG):06}"
        return "yes"

    @property
    def patience(self) -> float:
        """The time limit of a pairing, in seconds."""
        return SILENCE if self.refusal in (OURS_SILENT, BUMBLE_SILENT) else 2 * PATIENCE
