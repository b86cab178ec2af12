"""Two of Bumble's hosts pair over our controllers, which agree on keys for them and encrypt the link."""

from __future__ import annotations

import asyncio

from bumble.device import Connection, Device, Peer
from bumble.gatt import Characteristic, Service
from bumble.core import UUID
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

from .bumble_host import advertise, find, powered_on
from .profile import GREETING, SERVICE, expect, greeting

PERIPHERAL, CENTRAL = "F0:F1:F2:F3:F4:F5", "F0:F1:F2:F3:F4:F6"


class User(PairingDelegate):
    """Somebody who looks at both devices, and says yes to whatever they show."""

    def __init__(self, compares: bool, secure_connections: bool) -> None:
        super().__init__(self.DISPLAY_OUTPUT_AND_YES_NO_INPUT if compares else self.NO_OUTPUT_NO_INPUT)
        self.numbers: list[int] = []
        self._configuration = PairingConfig(
            sc=secure_connections,
            mitm=compares,
            delegate=self,
            identity_address_type=PairingConfig.AddressType.RANDOM,
        )

    def use(self, device: Device) -> None:
        device.pairing_config_factory = lambda _: self._configuration
        device.keystore = MemoryKeyStore()

    async def compare_numbers(self, number: int, digits: int) -> bool:
        self.numbers.append(number)
        return True


async def converse(first: int, second: int, name: str, round_number: int) -> None:
    """One round: the central pairs, reads what only a paired device may read, and does so again when it comes back.

    Of three rounds, one is by numeric comparison, one by Just Works, and one by Just Works the legacy way.
    """
    compares, secure = round_number % 3 == 0, round_number % 3 != 2
    users = User(compares, secure), User(compares, secure)
    async with powered_on(second, name, PERIPHERAL) as peripheral, powered_on(first, "central", CENTRAL) as central:
        for device, user in zip((peripheral, central), users):
            user.use(device)
        offer(peripheral)
        await advertise(peripheral)

        connection = await _connect(central, name)
        await asyncio.wait_for(connection.pair(), 10)
        expect("numbers that were compared", [len(user.numbers) for user in users], [1, 1] if compares else [0, 0])
        expect("the number that both devices showed", users[0].numbers, users[1].numbers)
        expect("whether the key is authenticated", await _is_authenticated(central, connection), compares)
        await read(connection, name)
        await asyncio.wait_for(connection.disconnect(), 5)
        # Of the two keys of the legacy way, each of Bumble's hosts takes another one when the central comes back.
        if not secure:
            return

        connection = await _connect(central, name)
        await asyncio.wait_for(connection.encrypt(), 5)
        await read(connection, name)
        await asyncio.wait_for(connection.disconnect(), 5)


def offer(peripheral: Device) -> None:
    """Offers the greeting to those alone whose link is encrypted."""
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
    """What the central has kept of the key that it shares with whom it is connected to."""
    keys = await central.keystore.get(str(connection.peer_address))
    expect("whether a key is kept", keys is not None, True)
    key = keys.ltk or keys.ltk_central or keys.ltk_peripheral
    return key.authenticated


async def read(connection: Connection, name: str) -> None:
    """Reads what only an encrypted link may."""
    expect("whether the link is encrypted", connection.is_encrypted, True)
    peer = Peer(connection)
    await peer.discover_services()
    await peer.discover_characteristics()
    found = peer.get_characteristics_by_uuid(UUID(GREETING))
    expect("characteristics that were found", len(found), 1)
    expect("greeting", await found[0].read_value(), greeting(name))
