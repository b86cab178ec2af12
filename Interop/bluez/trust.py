"""BlueZ and our host pair by every method, in either role."""

# No postponed annotations: those of D-Bus methods are their signatures.

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator
from typing import NamedTuple

from dbus_fast.service import ServiceInterface, dbus_method

from interop.profile import expect

from . import tool
from .box import Box
from .bus import ADAPTER, CHARACTERISTIC, DEVICE, BlueZ
from .central import Central
from .inside import Inside
from .offer import LOCKED, SAFE
from .peripheral import advertised

AGENT_MANAGER = "org.bluez.AgentManager1"
AGENT = "/agent"
PATIENCE = 20


class Method(NamedTuple):
    """How the two are to pair."""

    name: str
    ours: str
    """What our host can show and ask, as `ble --pairing` has it."""
    bluezs: str
    """What BlueZ can, as it names it."""


METHODS = [
    Method("justWorks", "none", "NoInputNoOutput"),
    Method("numericComparison", "yes-no", "DisplayYesNo"),
    Method("passkeyEntry", "keyboard", "DisplayOnly"),
    Method("passkeyEntry", "display", "KeyboardOnly"),
]


class User(ServiceInterface):
    """Somebody who sits before both devices: BlueZ asks here."""

    def __init__(self) -> None:
        super().__init__("org.bluez.Agent1")
        # What BlueZ shows, and what our host does.
        self.shown: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.ours: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.numbers: list[tuple[int, int]] = []

    @dbus_method()
    def Release(self) -> None:
        """BlueZ asks no more."""

    @dbus_method()
    def Cancel(self) -> None:
        """What was asked needs no answer."""

    @dbus_method()
    def RequestAuthorization(self, device: "o") -> None:  # type: ignore[name-defined]
        """Whether to pair at all: yes."""

    @dbus_method()
    async def RequestConfirmation(self, device: "o", passkey: "u") -> None:  # type: ignore[name-defined]
        self.numbers.append((passkey, await asyncio.wait_for(self.ours, PATIENCE)))

    @dbus_method()
    async def RequestPasskey(self, device: "o") -> "u":  # type: ignore[name-defined]
        return await asyncio.wait_for(self.ours, PATIENCE)

    @dbus_method()
    def DisplayPasskey(self, device: "o", passkey: "u", entered: "q") -> None:  # type: ignore[name-defined]
        if not self.shown.done():
            self.shown.set_result(passkey)

    async def attend(self, ours: tool.Tool, prefix: str) -> None:
        """Answers what our host asks, for as long as it runs."""
        answered = 0

        def asked(facts: list[tool.Fact]) -> list[tool.Fact]:
            return [fact for fact in facts if fact["event"] == "pairing_asked"][answered:]

        while True:
            (fact, *_) = await ours.until("our host asks something", asked, 600)
            answered += 1
            if "digits" in fact:
                self.ours.set_result(int(fact["digits"]))
            match fact["question"]:
                case "enter":
                    ours.say(f"{prefix}{await asyncio.wait_for(self.shown, PATIENCE):06}")
                case "compare" | "consent":
                    ours.say(f"{prefix}yes")


@contextlib.asynccontextmanager
async def _asked(bluez: BlueZ, method: Method) -> AsyncIterator[User]:
    """Has BlueZ ask a user for as long as the context lasts."""
    user = User()
    bluez.bus.export(AGENT, user)
    await bluez.call("/org/bluez", AGENT_MANAGER, "RegisterAgent", "os", AGENT, method.bluezs)
    await bluez.call("/org/bluez", AGENT_MANAGER, "RequestDefaultAgent", "o", AGENT)
    try:
        yield user
    finally:
        await bluez.call("/org/bluez", AGENT_MANAGER, "UnregisterAgent", "o", AGENT)
        bluez.bus.unexport(AGENT, user)


@contextlib.asynccontextmanager
async def _attended(user: User, ours: tool.Tool, prefix: str) -> AsyncIterator[None]:
    attending = asyncio.create_task(user.attend(ours, prefix))
    try:
        yield
    finally:
        attending.cancel()


async def accept(_: Box, bluez: BlueZ, adapter: str, place: int | Inside, name: str, log: pathlib.Path) -> None:
    """BlueZ pairs with `ble serve`, reads what only a paired device may, and does so again when it is back."""
    await _forget(bluez, adapter, place, log)
    content = {"services": [tool.described(SAFE)]}
    for number, method in enumerate(METHODS):
        central = Central(bluez, adapter, f"{name}{number}")
        with tool.description(content | {"name": f"{name}{number}"}) as file:
            async with (
                _asked(bluez, method) as user,
                tool.ble(place, log, "serve", file, "--pairing", method.ours) as server,
                _attended(user, server, "pair "),
            ):
                await server.heard("advertising")
                device = await central.find()
                await bluez.call(device, DEVICE, "Pair")
                await server.heard("paired", method=method.name, bonded=True)
                _expect_same_numbers(user, method)
                async with central.connected():
                    expect("what BlueZ reads", await central.read(central.path(LOCKED.uuid)), LOCKED.value)
                async with central.connected():
                    expect("what BlueZ reads", await central.read(central.path(LOCKED.uuid)), LOCKED.value)
                expect("pairings", sum(fact["event"] == "paired" for fact in server.facts), 1)
        await _forget(bluez, adapter, place, log)


async def ask(_: Box, bluez: BlueZ, adapter: str, place: int | Inside, name: str, log: pathlib.Path) -> None:
    """`ble read` pairs with BlueZ, which lets only paired devices read, and reads again without a question."""
    await _forget(bluez, adapter, place, log)
    for number, method in enumerate(METHODS):
        async with (
            advertised(bluez, adapter, f"{name}{number}", (SAFE,)),
            _asked(bluez, method) as user,
            tool.ble(place, log, "read", f"{name}{number}", LOCKED.uuid, "--pairing", method.ours) as reader,
            _attended(user, reader, ""),
        ):
            facts = await reader.finish(2 * PATIENCE)
            paired = [fact["method"] for fact in facts if fact["event"] == "paired"]
            expect("how they paired", paired, [method.name])
            _expect_same_numbers(user, method)
            expect("what our host reads", bytes.fromhex(facts[-1]["value"]), LOCKED.value)
            if await tool.run(place, log, "bonds"):
                again = await tool.run(place, log, "read", f"{name}{number}", LOCKED.uuid, "--pairing", "none")
                expect("facts of a read from a bonded peripheral", [fact["event"] for fact in again], ["read"])
        await _forget(bluez, adapter, place, log)


def _expect_same_numbers(user: User, method: Method) -> None:
    expect("numbers that were compared", len(user.numbers), int(method.name == "numericComparison"))
    expect("numbers that differ", [pair for pair in user.numbers if pair[0] != pair[1]], [])


async def _forget(bluez: BlueZ, adapter: str, place: int | Inside, log: pathlib.Path) -> None:
    """Has both ends forget each other."""
    for device in bluez.under(adapter, DEVICE):
        await bluez.call(adapter, ADAPTER, "RemoveDevice", "o", device)
    for bond in await tool.run(place, log, "bonds"):
        await tool.run(place, log, "bonds", "remove", bond["identifier"])
