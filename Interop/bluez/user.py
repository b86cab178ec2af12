"""The user of both devices that pair."""

# No postponed annotations: dbus-fast reads D-Bus signatures from them.

import asyncio
import contextlib
from collections.abc import AsyncIterator

from dbus_fast import DBusError
from dbus_fast.service import ServiceInterface, dbus_method

from . import tool
from .bus import BlueZ
from .cases import Case, Refusal

AGENT_MANAGER = "org.bluez.AgentManager1"
AGENT = "/agent"
PATIENCE = 20
OVER = 600
"""Longer than any run takes, in seconds."""


class User(ServiceInterface):
    """The agent of BlueZ, which also answers the questions of our host."""

    def __init__(self, refusal: str) -> None:
        super().__init__("org.bluez.Agent1")
        self.begin(refusal)

    def begin(self, refusal: str = "") -> None:
        """Clears all numbers, and makes this mistake from now on."""
        self.refusal = refusal
        # The number that BlueZ shows, and the one that our host shows.
        self.shown: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.ours: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.numbers: list[tuple[int, int]] = []
        self.asked = asyncio.Event()
        """Set as soon as one of the hosts has asked or shown something."""

    @dbus_method()
    def Release(self) -> None:
        """BlueZ no longer uses this agent."""

    @dbus_method()
    def Cancel(self) -> None:
        """A request needs no answer any more."""

    @dbus_method()
    async def RequestAuthorization(self, device: "o") -> None:  # type: ignore[name-defined]
        await self._agree()

    @dbus_method()
    async def RequestConfirmation(self, device: "o", passkey: "u") -> None:  # type: ignore[name-defined]
        await self._agree()
        self.numbers.append((passkey, await asyncio.wait_for(self.ours, PATIENCE)))

    @dbus_method()
    async def RequestPasskey(self, device: "o") -> "u":  # type: ignore[name-defined]
        await self._agree()
        return self._typed(await asyncio.wait_for(self.ours, PATIENCE), Refusal.BLUEZ_WRONG)

    @dbus_method()
    def DisplayPasskey(self, device: "o", passkey: "u", entered: "q") -> None:  # type: ignore[name-defined]
        self.asked.set()
        if not self.shown.done():
            self.shown.set_result(passkey)

    async def _agree(self) -> None:
        """Returns if the request of BlueZ is to be accepted; fails or never returns otherwise."""
        self.asked.set()
        if self.refusal == Refusal.BLUEZ_NO:
            raise DBusError("org.bluez.Error.Rejected", "the user says no")
        if self.refusal in (Refusal.BLUEZ_SILENT, Refusal.BLUEZ_LEAVES, Refusal.OURS_LEAVES):
            await asyncio.sleep(OVER)

    def _typed(self, number: int, mistake: str) -> int:
        return (number + 1) % 1_000_000 if self.refusal == mistake else number

    async def attend(self, ours: tool.Tool, prefix: str) -> None:
        """Answers the questions of our host until cancelled."""
        answered = 0

        def asked(facts: list[tool.Fact]) -> list[tool.Fact]:
            return [fact for fact in facts if fact["event"] == "pairing_asked"][answered:]

        while True:
            (fact, *_) = await ours.until("our host asks something", asked, OVER)
            answered += 1
            if "digits" in fact and not self.ours.done():
                self.ours.set_result(int(fact["digits"]))
            self.asked.set()
            if self.refusal in (Refusal.OURS_SILENT, Refusal.OURS_LEAVES, Refusal.BLUEZ_LEAVES):
                continue
            match fact["question"]:
                case "enter" | "compare" | "consent" if self.refusal == Refusal.OURS_NO:
                    ours.say(f"{prefix}no")
                case "enter":
                    number = self._typed(await asyncio.wait_for(self.shown, PATIENCE), Refusal.OURS_WRONG)
                    ours.say(f"{prefix}{number:06}")
                case "compare" | "consent":
                    ours.say(f"{prefix}yes")


@contextlib.asynccontextmanager
async def asked(bluez: BlueZ, case: Case) -> AsyncIterator[User]:
    """Registers a user as BlueZ's agent until the context ends."""
    user = User(case.refusal)
    bluez.bus.export(AGENT, user)
    await bluez.call("/org/bluez", AGENT_MANAGER, "RegisterAgent", "os", AGENT, case.bluezs)
    await bluez.call("/org/bluez", AGENT_MANAGER, "RequestDefaultAgent", "o", AGENT)
    try:
        yield user
    finally:
        await bluez.call("/org/bluez", AGENT_MANAGER, "UnregisterAgent", "o", AGENT)
        bluez.bus.unexport(AGENT, user)


@contextlib.asynccontextmanager
async def attended(user: User, ours: tool.Tool, prefix: str) -> AsyncIterator[None]:
    """Has the user answer the questions of our host until the context ends."""
    attending = asyncio.create_task(user.attend(ours, prefix))
    try:
        yield
    finally:
        attending.cancel()
