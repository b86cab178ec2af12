"""Pairs two of Bumble's hosts over our controllers, which agree on keys for them and encrypt the link."""

from __future__ import annotations

import asyncio
import contextlib
from typing import NamedTuple

from bumble.core import UUID, ProtocolError
from bumble.device import Connection, Device, Peer
from bumble.gatt import Characteristic, Service
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.smp import OobContext, OobLegacyContext

from . import results
from .bumble_host import advertise, find, powered_on
from .profile import GREETING, SERVICE, Mismatch, expect, greeting

PERIPHERAL, CENTRAL = "F0:F1:F2:F3:F4:F5", "F0:F1:F2:F3:F4:F6"
PATIENCE = 10
NOTHING, YES_NO = PairingDelegate.NO_OUTPUT_NO_INPUT, PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT
SHOWS, TYPES = PairingDelegate.DISPLAY_OUTPUT_ONLY, PairingDelegate.KEYBOARD_INPUT_ONLY


class Case(NamedTuple):
    """The pairing of one round."""

    method: str
    central: PairingDelegate.IoCapability
    peripheral: PairingDelegate.IoCapability
    is_secure: bool = True
    is_bonding: bool = True
    refusal: str = ""
    """The mistake of the user at the peripheral: `no` is answered, or `wrong` digits are typed in."""

    @property
    def facts(self) -> dict[str, object]:
        """The case as it is recorded."""
        by = {(SHOWS, TYPES): "the central", (TYPES, SHOWS): "the peripheral"}
        return {
            "method": self.method,
            "by": by.get((self.central, self.peripheral), ""),
            "generation": "secure" if self.is_secure else "legacy",
            "bonding": self.is_bonding,
            "refusal": {"no": "no at the peripheral", "wrong": "wrong digits at the peripheral"}.get(self.refusal, ""),
        }


JUST_WORKS = Case("justWorks", NOTHING, NOTHING)
_SECURE = [
    JUST_WORKS,
    Case("numericComparison", YES_NO, YES_NO),
    Case("passkeyEntry", SHOWS, TYPES),
    Case("passkeyEntry", TYPES, SHOWS),
    Case("outOfBand", NOTHING, NOTHING),
]
_KEPT = _SECURE + [each._replace(is_secure=False) for each in _SECURE if each.method != "numericComparison"]
CASES = [
    *_KEPT,
    *(each._replace(is_bonding=False) for each in _KEPT),
    Case("numericComparison", YES_NO, YES_NO, refusal="no"),
    Case("passkeyEntry", SHOWS, TYPES, is_secure=False, refusal="wrong"),
]
"""One round for each."""


class User(PairingDelegate):
    """The user of one device, to whom the other device's display is visible, too."""

    def __init__(self, capability: PairingDelegate.IoCapability, shown: asyncio.Future[int], refusal: str) -> None:
        super().__init__(capability)
        self.numbers: list[int] = []
        self._shown = shown
        self._refusal = refusal

    async def display_number(self, number: int, digits: int) -> None:
        self._shown.set_result(number)

    async def get_number(self) -> int:
        number = await asyncio.wait_for(self._shown, PATIENCE)
        return (number + 1) % 1_000_000 if self._refusal == "wrong" else number

    async def compare_numbers(self, number: int, digits: int) -> bool:
        self.numbers.append(number)
        return self._refusal != "no"


def configure(case: Case, devices: list[Device]) -> list[User]:
    """Makes two devices, the central first, pair as in a case, and returns their users."""
    shown: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    contexts, legacy = [OobContext(), OobContext()], OobLegacyContext()
    users = [User(case.central, shown, ""), User(case.peripheral, shown, case.refusal)]
    for number, (device, user) in enumerate(zip(devices, users)):
        told = None
        if case.method == "outOfBand":
            told = PairingConfig.OobConfig(contexts[number], contexts[1 - number].share(), legacy)
        configuration = PairingConfig(
            sc=case.is_secure,
            mitm=case.method != "justWorks",
            bonding=case.is_bonding,
            delegate=user,
            identity_address_type=PairingConfig.AddressType.RANDOM,
            oob=told,
        )
        device.pairing_config_factory = lambda _, configuration=configuration: configuration
        device.keystore = MemoryKeyStore()
    return users


async def converse(first: int, second: int, name: str, round_number: int) -> None:
    """Runs one round: the central pairs and reads a protected value, and again after it has reconnected."""
    case = CASES[(round_number - 1) % len(CASES)]
    with results.recorded("bumble", central="Bumble", peripheral="Bumble", controllers="ours", **case.facts):
        async with powered_on(second, name, PERIPHERAL) as peripheral, powered_on(first, "central", CENTRAL) as central:
            users = configure(case, [central, peripheral])
            offer(peripheral)
            await advertise(peripheral)
            if case.refusal:
                await _refused(central, peripheral, name)
                users = configure(case._replace(refusal=""), [central, peripheral])
            await _paired(case, central, users, name)


async def _paired(case: Case, central: Device, users: list[User], name: str) -> None:
    connection = await _connect(central, name)
    await asyncio.wait_for(connection.pair(), PATIENCE)
    compared = [1, 1] if case.method == "numericComparison" else [0, 0]
    expect("number of comparisons", [len(user.numbers) for user in users], compared)
    expect("the number that both devices showed", users[0].numbers, users[1].numbers)
    authenticated = await _is_authenticated(central, connection)
    expect("whether the key is authenticated", authenticated, case.method != "justWorks")
    await read(connection, name)
    await asyncio.wait_for(connection.disconnect(), 5)
    # After legacy pairing, each of Bumble's hosts uses a different one of the two keys when the central reconnects.
    if not case.is_secure or not case.is_bonding:
        return
    connection = await _connect(central, name)
    await asyncio.wait_for(connection.encrypt(), 5)
    await read(connection, name)
    await asyncio.wait_for(connection.disconnect(), 5)


async def _refused(central: Device, peripheral: Device, name: str) -> None:
    """Expects that they do not pair, and that both report it."""
    failed = asyncio.Event()
    peripheral.on("connection", lambda connection: connection.on(connection.EVENT_PAIRING_FAILURE, failed_by(failed)))
    connection = await _connect(central, name)
    with contextlib.suppress(ProtocolError):
        await asyncio.wait_for(connection.pair(), PATIENCE)
        raise Mismatch("Bumble has paired despite the fault")
    await asyncio.wait_for(failed.wait(), PATIENCE)
    expect("whether the link is encrypted", connection.is_encrypted, False)
    await asyncio.wait_for(connection.disconnect(), 5)


def failed_by(event: asyncio.Event):
    """Returns a handler of pairing failures that sets an event."""
    return lambda _: event.set()


def offer(peripheral: Device) -> None:
    """Offers the greeting, readable only on an encrypted link."""
    protected = Characteristic(
        GREETING,
        Characteristic.READ,
        Characteristic.READABLE | Characteristic.READ_REQUIRES_ENCRYPTION,
        greeting(peripheral.name),
    )
    peripheral.add_services([Service(UUID(SERVICE), [protected])])


async def _connect(central: Device, name: str) -> Connection:
    return await asyncio.wait_for(central.connect(await find(central, name)), 5)


async def _is_authenticated(central: Device, connection: Connection) -> bool:
    """Returns whether the central's key for the peer of a connection is authenticated."""
    keys = await central.keystore.get(str(connection.peer_address))
    expect("whether a key is stored", keys is not None, True)
    key = keys.ltk or keys.ltk_central or keys.ltk_peripheral
    return key.authenticated


async def read(connection: Connection, name: str) -> None:
    """Reads a value that requires an encrypted link."""
    expect("whether the link is encrypted", connection.is_encrypted, True)
    peer = Peer(connection)
    await peer.discover_services()
    await peer.discover_characteristics()
    found = peer.get_characteristics_by_uuid(UUID(GREETING))
    expect("characteristics that were found", len(found), 1)
    expect("greeting", await found[0].read_value(), greeting(name))
