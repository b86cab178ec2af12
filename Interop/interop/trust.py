"""This project's host and Bumble's pair by every method, and are refused where they should be."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import tempfile
from collections.abc import AsyncIterator
from typing import NamedTuple

from bumble.core import ProtocolError, UUID
from bumble.device import Device
from bumble.gatt import Characteristic, Service
from bumble.hci import Address
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.smp import AddressResolver

from . import tool
from .bumble_host import advertise, find, powered_on
from .pairing import read
from .processes import running
from .profile import GREETING, SERVICE, Mismatch, expect, greeting

PERIPHERAL, CENTRAL = "F0:F1:F2:F3:F4:F5", "F0:F1:F2:F3:F4:F6"

# How long one step may take.
PATIENCE = 10


class Method(NamedTuple):
    """How the two are to pair in one round."""

    name: str
    ours: str
    """What our host can show and ask, as `ble --pairing` has it."""
    bumbles: PairingDelegate.IoCapability
    secure: bool = True
    """Whether by LE Secure Connections."""
    refusal: str = ""
    """What the user does wrong: `no` is said to a number that is right, or `wrong` digits are typed in."""

    @property
    def authenticated(self) -> bool:
        return self.name != "justWorks"


NOTHING, YES_NO = PairingDelegate.NO_OUTPUT_NO_INPUT, PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT
SHOWS, TYPES = PairingDelegate.DISPLAY_OUTPUT_ONLY, PairingDelegate.KEYBOARD_INPUT_ONLY

METHODS = [
    Method("justWorks", "none", NOTHING),
    Method("numericComparison", "yes-no", YES_NO),
    Method("passkeyEntry", "keyboard", SHOWS),
    Method("passkeyEntry", "display", TYPES),
    Method("justWorks", "none", NOTHING, secure=False),
    Method("passkeyEntry", "keyboard", SHOWS, secure=False),
    Method("passkeyEntry", "display", TYPES, secure=False),
    Method("numericComparison", "yes-no", YES_NO, refusal="no"),
    Method("passkeyEntry", "keyboard", SHOWS, refusal="wrong"),
    Method("passkeyEntry", "display", TYPES, secure=False, refusal="wrong"),
]
"""One round for each."""


class User(PairingDelegate):
    """Somebody who sits before both devices."""

    def __init__(self, method: Method) -> None:
        super().__init__(method.bumbles)
        self._method = method
        # What Bumble shows, and what our host does.
        self.shown: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.ours: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def use(self, device: Device) -> None:
        configuration = PairingConfig(
            sc=self._method.secure,
            mitm=self._method.authenticated,
            delegate=self,
            identity_address_type=PairingConfig.AddressType.RANDOM,
        )
        device.pairing_config_factory = lambda _: configuration
        device.keystore = MemoryKeyStore()

    async def display_number(self, number: int, digits: int) -> None:
        self.shown.set_result(number)

    async def get_number(self) -> int:
        number = await asyncio.wait_for(self.ours, PATIENCE)
        return (number + 1) % 1_000_000 if self._method.refusal == "wrong" else number

    async def compare_numbers(self, number: int, digits: int) -> bool:
        return await asyncio.wait_for(self.ours, PATIENCE) == number

    async def answer(self, question: str, digits: str | None) -> str | None:
        """What is typed in at our host when it asks this."""
        if question == "enter":
            number = await asyncio.wait_for(self.shown, PATIENCE)
            return f"{(number + 1) % 1_000_000 if self._method.refusal == 'wrong' else number:06}"
        if digits is not None:
            self.ours.set_result(int(digits))
        if question == "show":
            return None
        return "no" if self._method.refusal == "no" else "yes"


async def converse(central: str, first: int, second: int, name: str, round_number: int, log: pathlib.Path) -> None:
    """One round: they pair, use what only paired devices may, and do so again without a question when they are back."""
    method = METHODS[round_number % len(METHODS)]
    with tempfile.TemporaryDirectory() as state:
        if central == "ours":
            await _ours_as_central(method, first, second, name, log, state)
        else:
            await _ours_as_peripheral(method, first, second, name, log, state)


async def _ours_as_central(
    method: Method, first: int, second: int, name: str, log: pathlib.Path, state: str
) -> None:
    user = User(method)
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
        command = ("read", name, GREETING, "--json", "--pairing", method.ours)
        status, facts = await asyncio.wait_for(_answering(variables, log, user, *command), 2 * PATIENCE)
        if method.refusal:
            expect("the status of ble read", status, 1)
            expect("pairings that failed", _count(facts, "pairing_failed"), 1)
            return
        expect("the status of ble read", status, 0)
        _expect_paired(facts, method)
        expect("greeting", bytes.fromhex(facts[-1]["value"]), greeting(name))
        if not method.secure or not await _keeps_bonds(variables, log):
            return
        status, facts = await tool.run(variables, log, "read", name, GREETING, "--pairing", "none")
        expect("the status of ble read of a bonded peripheral", status, 0)
        expect("pairings of a bonded peripheral", _count(facts, "paired"), 0)
        expect("greeting", bytes.fromhex(facts[-1]["value"]), greeting(name))


async def _ours_as_peripheral(
    method: Method, first: int, second: int, name: str, log: pathlib.Path, state: str
) -> None:
    user = User(method)
    async with powered_on(first, "central", CENTRAL) as central:
        user.use(central)
        async with _serving(method, user, second, name, log, state) as facts:
            heard = await find(central, name)
            expect("whether a stranger hears a private address", heard.is_resolvable, True)
            connection = await asyncio.wait_for(central.connect(heard), PATIENCE)
            if method.refusal:
                with contextlib.suppress(ProtocolError):
                    await asyncio.wait_for(connection.pair(), PATIENCE)
                    raise Mismatch("Bumble has paired in spite of a refusal")
                await asyncio.sleep(0.2)
                expect("pairings that failed", _count(facts, "pairing_failed"), 1)
                return
            await asyncio.wait_for(connection.pair(), PATIENCE)
            await read(connection, name)
            _expect_paired(facts, method)
            await asyncio.wait_for(connection.disconnect(), PATIENCE)
            if not method.secure:
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
        command = (tool.BLE, "serve", file.name, "--json", "--pairing", method.ours)
        async with _running(log, tool.environment(port, state), *command) as process:
            listening = asyncio.create_task(_listen(process, user, facts, "pair "))
            try:
                yield facts
            finally:
                listening.cancel()


async def _answering(
    variables: dict[str, str], log: pathlib.Path, user: User, *arguments: str
) -> tuple[int | None, list[tool.Fact]]:
    """Runs `ble`, has the user answer what it asks, and says with which status it ended and what it printed."""
    facts: list[tool.Fact] = []
    async with _running(log, variables, tool.BLE, *arguments) as process:
        await _listen(process, user, facts, "")
        await process.wait()
    return process.returncode, facts


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
    expect("how they paired", [fact["method"] for fact in facts if fact["event"] == "paired"], [method.name])


def _count(facts: list[tool.Fact], event: str) -> int:
    return sum(fact["event"] == event for fact in facts)
