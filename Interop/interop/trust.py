"""This project's host and Bumble's pair by every method, and are refused where they should be."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import signal
import tempfile
from collections.abc import AsyncIterator, Callable

from bumble.core import UUID, ProtocolError
from bumble.device import Connection, Device
from bumble.gatt import Characteristic, Service
from bumble.hci import Address
from bumble.keys import MemoryKeyStore
from bumble.pairing import OobSharedData, PairingConfig, PairingDelegate
from bumble.smp import AddressResolver, OobContext

from . import results, tool
from .bumble_host import advertise, find, powered_on
from .methods import (
    BUMBLE_LEAVES,
    BUMBLE_NO,
    BUMBLE_SILENT,
    BUMBLE_WRONG,
    LEAVES,
    OURS_LEAVES,
    OURS_NO,
    OURS_SILENT,
    OURS_WRONG,
    Method,
    methods,
)
from .pairing import read
from .processes import running
from .profile import GREETING, SERVICE, Mismatch, expect, greeting

PERIPHERAL, CENTRAL = "F0:F1:F2:F3:F4:F5", "F0:F1:F2:F3:F4:F6"

# How long one step may take, and one in which nobody answers.
PATIENCE = 10
SILENCE = 45
# Longer than our host refuses to pair with one with whom it has just failed.
PAUSE = 1.5
# How long a round may take.
SECONDS = 90


class User(PairingDelegate):
    """Somebody who sits before both devices."""

    def __init__(self, method: Method, keeps: bool) -> None:
        super().__init__(method.bumbles)
        self._method = method
        self._keeps = keeps
        self._context = OobContext()
        self.begin(method.refusal)

    def begin(self, refusal: str = "") -> None:
        """Has forgotten all numbers, and does this wrong from now on."""
        loop = asyncio.get_running_loop()
        self.refusal = refusal
        # What Bumble shows, and what our host does, and what our host tells by other means.
        self.shown: asyncio.Future[int] = loop.create_future()
        self.ours: asyncio.Future[int] = loop.create_future()
        self.told: asyncio.Future[OobSharedData] = loop.create_future()
        self.asked = asyncio.Event()
        """Whether either of them has asked something or shown it."""

    @property
    def structures(self) -> str:
        """What Bumble tells by other means, as `ble --told` takes it."""
        told = self._context.share()
        return f"1122{told.c.hex()}1123{told.r.hex()}"

    def use(self, device: Device) -> None:
        device.pairing_config_factory = lambda _: self._configuration()
        device.keystore = MemoryKeyStore()

    def _configuration(self) -> PairingConfig:
        out_of_band = None
        if self._method.name == "outOfBand":
            out_of_band = PairingConfig.OobConfig(self._context, self.told.result(), None)
        return PairingConfig(
            sc=self._method.secure,
            mitm=self._method.authenticated,
            bonding=self._keeps,
            delegate=self,
            identity_address_type=PairingConfig.AddressType.RANDOM,
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
        """What is typed in at our host when it asks this."""
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
        """How long a pairing may take, in seconds."""
        return SILENCE if self.refusal in (OURS_SILENT, BUMBLE_SILENT) else 2 * PATIENCE


async def converse(
    controllers: str, central: str, first: int, second: int, name: str, round_number: int, log: pathlib.Path
) -> None:
    """One round: they pair, use what only paired devices may, and do so again without a question when they are back."""
    known = methods(controllers)
    method = known[(round_number - 1) % len(known)]
    who = {"central": "ours", "peripheral": "Bumble"}
    if central != "ours":
        who = {"central": "Bumble", "peripheral": "ours"}
    with tempfile.TemporaryDirectory() as state, results.recorded(
        "bumble", **who, controllers=controllers, **method.facts
    ):
        if central == "ours":
            await _ours_as_central(method, first, second, name, log, state)
        else:
            await _ours_as_peripheral(method, first, second, name, log, state)


async def _ours_as_central(
    method: Method, first: int, second: int, name: str, log: pathlib.Path, state: str
) -> None:
    user = User(method, keeps=True)
    variables = tool.environment(first, state)
    async with powered_on(second, name, PERIPHERAL) as peripheral:
        user.use(peripheral)
        needed = Characteristic.READ_REQUIRES_ENCRYPTION
        if method.authenticated:
            needed = Characteristic.READ_REQUIRES_AUTHENTICATION
        protected = Characteristic(
            GREETING, Characteristic.READ, Characteristic.READABLE | needed, greeting(peripheral.name)
        )
        peripheral.add_services([Service(UUID(SERVICE), [protected])])
        await advertise(peripheral)
        command = ["read", name, GREETING, "--json", "--pairing", method.ours]
        command += [] if method.bonding else ["--no-bond"]
        command += ["--tell", "--told", user.structures] if method.name == "outOfBand" else []
        if method.refusal:
            status, facts = await asyncio.wait_for(_answering(variables, log, user, peripheral, command), user.patience)
            if method.refusal != OURS_LEAVES:
                expect("the status of ble read", status, 1)
                expect("pairings that failed", _count(facts, "pairing_failed"), 1)
            expect("pairings and reads", _count(facts, "paired") + _count(facts, "read"), 0)
            expect("keys that Bumble keeps", await _keys(peripheral), 0)
            user.begin()
        status, facts = await asyncio.wait_for(_answering(variables, log, user, peripheral, command), user.patience)
        expect("the status of ble read", status, 0)
        _expect_paired(facts, method)
        expect("greeting", _values(facts), [greeting(name)])
        if not method.bonding:
            return expect("whether a bond is kept", await _keeps_bonds(variables, log), False)
        if not method.secure or not await _keeps_bonds(variables, log):
            return
        status, facts = await tool.run(variables, log, "read", name, GREETING, "--pairing", "none")
        expect("the status of ble read of a bonded peripheral", status, 0)
        expect("pairings of a bonded peripheral", _count(facts, "paired"), 0)
        expect("greeting", _values(facts), [greeting(name)])


async def _ours_as_peripheral(
    method: Method, first: int, second: int, name: str, log: pathlib.Path, state: str
) -> None:
    user = User(method, keeps=method.bonding)
    async with powered_on(first, "central", CENTRAL) as central:
        user.use(central)
        if method.refusal:
            await _refused_by_ours(method, user, central, second, name, log, state)
            user.begin()
        async with _serving(method, user, second, name, log, state) as facts:
            heard = await find(central, name)
            expect("whether a stranger hears a private address", heard.is_resolvable, True)
            connection = await asyncio.wait_for(central.connect(heard), PATIENCE)
            if method.name == "outOfBand":
                await asyncio.wait_for(asyncio.shield(user.told), PATIENCE)
            await asyncio.wait_for(connection.pair(), PATIENCE)
            await read(connection, name)
            _expect_paired(facts, method)
            await asyncio.wait_for(connection.disconnect(), PATIENCE)
            if not method.secure or not method.bonding:
                return
            await _come_back(central, name)
            expect("pairings of a bonded central", _count(facts, "paired"), 1)
        if not await _keeps_bonds(tool.environment(second, state), log):
            return
        async with _serving(method, user, second, name, log, state) as facts:
            changed = await _come_back(central, name)
            expect("pairings with a host that was started anew", _count(facts, "paired"), 0)
        expect("whether our host has another address then", changed != heard, True)
        resolver = await _resolver(central)
        owners = {str(resolver.resolve(address)) for address in (heard, changed)}
        expect("whether Bumble's keys tell whose both are", len(owners) == 1 and "None" not in owners, True)


async def _refused_by_ours(
    method: Method, user: User, central: Device, port: int, name: str, log: pathlib.Path, state: str
) -> None:
    """Bumble does not get to pair with `ble serve`, and both say so."""
    async with _serving(method, user, port, name, log, state) as facts:
        connection = await asyncio.wait_for(central.connect(await find(central, name)), PATIENCE)
        pairing = asyncio.ensure_future(connection.pair())
        leaving = asyncio.ensure_future(_leave(user, central))
        try:
            await asyncio.wait_for(pairing, user.patience)
            raise Mismatch("Bumble has paired in spite of a refusal")
        except (ProtocolError, asyncio.CancelledError):
            # A pairing whose link ends is cancelled by Bumble.
            if asyncio.current_task().cancelling():  # type: ignore[union-attr]
                raise
        finally:
            leaving.cancel()
        if method.refusal != OURS_LEAVES:
            await _until("our host says that it failed", lambda: _count(facts, "pairing_failed") == 1)
        expect("pairings", _count(facts, "paired"), 0)
        expect("keys that Bumble keeps", await _keys(central), 0)
        if connection in central.connections.values():
            with contextlib.suppress(Exception):  # It may be over just now.
                await asyncio.wait_for(connection.disconnect(), PATIENCE)
    await asyncio.sleep(PAUSE)


async def _leave(user: User, device: Device) -> None:
    """Has Bumble leave as soon as the user is asked, if it does so in this round."""
    await user.asked.wait()
    if user.refusal == BUMBLE_LEAVES:
        for connection in list(device.connections.values()):
            await connection.disconnect()


async def _until(what: str, condition: Callable[[], bool]) -> None:
    for _ in range(PATIENCE * 20):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise Mismatch(f"not so after {PATIENCE} s: {what}")


async def _keys(device: Device) -> int:
    """How many keys of peers Bumble keeps."""
    assert device.keystore
    return len(await device.keystore.get_all())


async def _resolver(device: Device) -> AddressResolver:
    """What Bumble finds out with the keys of those it is bonded with."""
    assert device.keystore
    return AddressResolver(await device.keystore.get_resolving_keys())


async def _come_back(central: Device, name: str) -> Address:
    """Connects again, encrypts the link with the key that was kept, and says which address that was."""
    heard = await find(central, name)
    connection = await asyncio.wait_for(central.connect(heard), PATIENCE)
    await asyncio.wait_for(connection.encrypt(), PATIENCE)
    await read(connection, name)
    await asyncio.wait_for(connection.disconnect(), PATIENCE)
    return heard


@contextlib.asynccontextmanager
async def _serving(
    method: Method, user: User, port: int, name: str, log: pathlib.Path, state: str
) -> AsyncIterator[list[tool.Fact]]:
    """Runs `ble serve` with a value for trusted devices; what it prints is added to the facts as it comes."""
    value = {
        "uuid": GREETING,
        "properties": ["read"],
        "permissions": ["readEncryptionRequired"],
        "value": "0x" + greeting(name).hex(),
    }
    description = {"name": name, "services": [{"uuid": SERVICE, "characteristics": [value]}]}
    facts: list[tool.Fact] = []
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(description, file)
        file.flush()
        command = [tool.BLE, "serve", file.name, "--json", "--pairing", method.ours]
        command += ["--tell"] if method.name == "outOfBand" else []
        async with _running(log, tool.environment(port, state), *command) as process:
            listening = _listen(process, user, facts, "pair ")
            tasks = [asyncio.create_task(each) for each in (listening, _part(user, process))]
            try:
                yield facts
            finally:
                for each in tasks:
                    each.cancel()


async def _answering(
    variables: dict[str, str], log: pathlib.Path, user: User, peripheral: Device, command: list[str]
) -> tuple[int | None, list[tool.Fact]]:
    """Runs `ble`, has the user answer what it asks, and says with which status it ended and what it printed."""
    facts: list[tool.Fact] = []
    async with _running(log, variables, tool.BLE, *command) as process:
        leaving = [asyncio.ensure_future(each) for each in (_part(user, process), _leave(user, peripheral))]
        try:
            await _listen(process, user, facts, "")
            await process.wait()
        finally:
            for each in leaving:
                each.cancel()
    return process.returncode, facts


async def _part(user: User, process: asyncio.subprocess.Process) -> None:
    """Has our host leave as soon as the user is asked, if it does so in this round."""
    await user.asked.wait()
    if user.refusal == OURS_LEAVES:
        process.send_signal(signal.SIGINT)


def _running(
    log: pathlib.Path, variables: dict[str, str], *command: str
) -> contextlib.AbstractAsyncContextManager[asyncio.subprocess.Process]:
    return running(
        log, *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, environment=variables
    )


async def _listen(process: asyncio.subprocess.Process, user: User, facts: list[tool.Fact], prefix: str) -> None:
    assert process.stdout and process.stdin
    while line := await process.stdout.readline():
        fact = json.loads(line)
        facts.append(fact)
        if fact["event"] == "out_of_band" and not user.told.done():
            octets = bytes.fromhex(fact["data"])
            user.told.set_result(OobSharedData(c=octets[2:18], r=octets[20:36]))
        if fact["event"] != "pairing_asked":
            continue
        answer = await user.answer(fact["question"], fact.get("digits"))
        if answer is not None:
            process.stdin.write(f"{prefix}{answer}\n".encode())


async def _keeps_bonds(variables: dict[str, str], log: pathlib.Path) -> bool:
    """Whether the radio is one whose peers are met again, so that a bond was kept."""
    status, facts = await tool.run(variables, log, "bonds")
    expect("the status of ble bonds", status, 0)
    return bool(facts)


def _expect_paired(facts: list[tool.Fact], method: Method) -> None:
    paired = [(fact["method"], fact["bonded"]) for fact in facts if fact["event"] == "paired"]
    expect("how they paired", paired, [(method.name, method.bonding)])


def _values(facts: list[tool.Fact]) -> list[bytes]:
    """What was read; that it is printed last is not said."""
    return [bytes.fromhex(fact["value"]) for fact in facts if fact["event"] == "read"]


def _count(facts: list[tool.Fact], event: str) -> int:
    return sum(fact["event"] == event for fact in facts)
