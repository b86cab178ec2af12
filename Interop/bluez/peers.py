"""Pairs BlueZ with BlueZ, on two adapters of one box, over virtual controllers."""

# No postponed annotations: dbus-fast reads D-Bus signatures from them.

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from dbus_fast import Variant
from dbus_fast.service import ServiceInterface, dbus_method

from interop import results
from interop.profile import Mismatch, expect

from . import management
from .box import Box
from .bus import ADAPTER, DEVICE, BlueZ, bluez
from .central import Central
from .inside import Inside
from .offer import LOCKED, SAFE
from .peripheral import advertised
from .unplugging import OURS as SECOND
from .user import AGENT, AGENT_MANAGER, PATIENCE

CASE_SECONDS = 120


class Case(NamedTuple):
    """One pairing: the IO capability of each side as BlueZ names it, the generation, and whether keys are stored."""

    method: str
    central: str
    peripheral: str
    is_secure: bool = True
    is_bonding: bool = True

    @property
    def facts(self) -> dict[str, object]:
        """The case as it is recorded."""
        by = {"DisplayOnly": "the central", "KeyboardOnly": "the peripheral"}.get(self.central, "")
        generation = "secure" if self.is_secure else "legacy"
        return {"method": self.method, "by": by, "generation": generation, "bonding": self.is_bonding, "refusal": ""}


JUST_WORKS = Case("justWorks", "NoInputNoOutput", "NoInputNoOutput")
COMPARISON = Case("numericComparison", "DisplayYesNo", "DisplayYesNo")
CENTRAL_SHOWS = Case("passkeyEntry", "DisplayOnly", "KeyboardOnly")
PERIPHERAL_SHOWS = Case("passkeyEntry", "KeyboardOnly", "DisplayOnly")
LEGACY = [each._replace(is_secure=False) for each in (JUST_WORKS, CENTRAL_SHOWS, PERIPHERAL_SHOWS)]
KEPT = [JUST_WORKS, COMPARISON, CENTRAL_SHOWS, PERIPHERAL_SHOWS, *LEGACY]
EVERY = [*KEPT, *(each._replace(is_bonding=False) for each in KEPT)]
USUAL = [COMPARISON, LEGACY[1]]


class Person(ServiceInterface):
    """The agent of one side, which plays its user."""

    def __init__(self, shown: asyncio.Future[int]) -> None:
        super().__init__("org.bluez.Agent1")
        self.numbers: list[int] = []
        self.questions = 0
        self._shown = shown

    @dbus_method()
    def Release(self) -> None:
        """BlueZ no longer uses this agent."""

    @dbus_method()
    def Cancel(self) -> None:
        """A request needs no answer any more."""

    @dbus_method()
    def RequestAuthorization(self, device: "o") -> None:  # type: ignore[name-defined]
        self.questions += 1

    @dbus_method()
    def RequestConfirmation(self, device: "o", passkey: "u") -> None:  # type: ignore[name-defined]
        self.questions += 1
        self.numbers.append(passkey)

    @dbus_method()
    async def RequestPasskey(self, device: "o") -> "u":  # type: ignore[name-defined]
        self.questions += 1
        return await asyncio.wait_for(asyncio.shield(self._shown), PATIENCE)

    @dbus_method()
    def DisplayPasskey(self, device: "o", passkey: "u", entered: "q") -> None:  # type: ignore[name-defined]
        if not self._shown.done():
            self._shown.set_result(passkey)


async def pair(
    box: Box,
    bus: BlueZ,
    adapter: str,
    place: int | Inside,
    name: str,
    log: pathlib.Path,
    cases: Sequence[Case] = USUAL,
    radio: str = "ours",
) -> None:
    """For each case, pairs the first adapter with the second and reads a protected value, also after reconnecting."""
    await bus.until("the second adapter is on", lambda: bus.property(SECOND, ADAPTER, "Powered"), 40)
    kernel = (await box.shell("uname -r")).strip()
    host = f"BlueZ {box.version}"
    who = {"kernel": kernel, "central": host, "peripheral": host, "controllers": radio}
    failures = []
    async with bluez(box.bus_address) as other:
        for number, case in enumerate(cases):
            try:
                with results.recorded("bluez", **who, **case.facts):
                    async with asyncio.timeout(CASE_SECONDS):
                        await _converse(box, bus, other, adapter, f"{name[-8:]}{number}", case)
            except Exception as error:  # Any error fails this case; continue with the next.
                failures.append(f"{case.method}: {error or type(error).__name__}")
    if failures:
        raise Mismatch("; ".join(failures))


async def _converse(box: Box, bus: BlueZ, other: BlueZ, adapter: str, name: str, case: Case) -> None:
    for each in (adapter, SECOND):
        for device in bus.under(each, DEVICE):
            await bus.call(each, ADAPTER, "RemoveDevice", "o", device)
    shown: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    central = Central(box, bus, adapter, name)
    async with (
        management.secure(box, adapter, case.is_secure),
        management.secure(box, SECOND, case.is_secure),
        advertised(bus, SECOND, name, (SAFE,)),
        _attended(bus, case.central, shown, is_default=False) as calling,
        # The peripheral uses the default agent.
        _attended(other, case.peripheral, shown, is_default=True) as called,
    ):
        if not case.is_bonding:
            await bus.set(adapter, ADAPTER, "Pairable", Variant("b", False))
        device = await central.find()
        await bus.call(device, DEVICE, "Pair")
        expect("the numbers that both have shown", calling.numbers, called.numbers)
        compared = int(case.method == "numericComparison")
        expect("number of comparisons", len(calling.numbers), compared)
        expect("whether a passkey was carried", shown.done(), case.method == "passkeyEntry")
        keys = await management.diversifiers(box)
        if not case.is_bonding:
            expect("stored keys", keys, [])
            async with central.connected():
                expect("value that is read", await central.read(central.path(LOCKED.uuid)), LOCKED.value)
            return
        for each in (adapter, SECOND):
            await bus.until("both are paired", lambda each=each: _are_paired(bus, each))
        expect("whether the keys have the expected generation", any(keys) != case.is_secure and keys != [], True)
        questions = calling.questions + called.questions
        for _ in range(2):
            async with central.connected():
                expect("value that is read", await central.read(central.path(LOCKED.uuid)), LOCKED.value)
        expect("questions after reconnecting", calling.questions + called.questions - questions, 0)


def _are_paired(bus: BlueZ, adapter: str) -> bool:
    return any(found.get("Paired") for found in bus.under(adapter, DEVICE).values())


@contextlib.asynccontextmanager
async def _attended(
    bus: BlueZ, capability: str, shown: asyncio.Future[int], is_default: bool
) -> AsyncIterator[Person]:
    """Registers an agent for the pairings of this connection, and as the default for the peripheral."""
    person = Person(shown)
    bus.bus.export(AGENT, person)
    await bus.call("/org/bluez", AGENT_MANAGER, "RegisterAgent", "os", AGENT, capability)
    if is_default:
        await bus.call("/org/bluez", AGENT_MANAGER, "RequestDefaultAgent", "o", AGENT)
    try:
        yield person
    finally:
        await bus.call("/org/bluez", AGENT_MANAGER, "UnregisterAgent", "o", AGENT)
        bus.bus.unexport(AGENT, person)
