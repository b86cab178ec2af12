"""Two of Bumble's hosts with privacy by our controllers, which generate and resolve private addresses."""

from __future__ import annotations

import asyncio

from bumble import hci
from bumble.device import AdvertisingType, Connection, Device
from bumble.hci import Address
from bumble.smp import AddressResolver

from .bumble_host import advertise, find, powered_on
from .pairing import CENTRAL, JUST_WORKS, PERIPHERAL, configure, offer, read
from .profile import expect

OWN = hci.OwnAddressType.RESOLVABLE_OR_RANDOM
OFFLOADED = {"address_resolution_offload": True, "address_generation_offload": True}
"""Settings with which Bumble fills its controller's resolving list, and enables address resolution."""


async def converse(first: int, second: int, name: str) -> None:
    """Runs one round: the central sees a private address, pairs, and then sees the peripheral's identity address."""
    async with (
        powered_on(second, name, PERIPHERAL, irk=bytes(range(16)), **OFFLOADED) as peripheral,
        powered_on(first, "central", CENTRAL, irk=bytes(range(16, 32)), **OFFLOADED) as central,
    ):
        configure(JUST_WORKS, [central, peripheral])
        for device in (peripheral, central):
            await device.send_sync_command(hci.HCI_LE_Set_Resolvable_Private_Address_Timeout_Command(rpa_timeout=1))
        offer(peripheral)
        await advertise(peripheral, own_address_type=OWN)

        heard = await find(central, name, own_address_type=OWN)
        expect("whether the address is unresolved", (heard.is_resolvable, heard.is_resolved), (True, False))
        expect("owner of the address", _owner(heard, peripheral), PERIPHERAL)
        connection = await _connect(central, heard)
        await asyncio.wait_for(connection.pair(), 10)
        await read(connection, name)
        await asyncio.wait_for(connection.disconnect(), 5)

        addresses = {_address(heard)}
        for _ in range(2):
            heard = await find(central, name, own_address_type=OWN)
            expect("address that is reported", (_address(heard), heard.is_resolved), (PERIPHERAL, True))
            connected: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
            peripheral.once(Device.EVENT_CONNECTION, connected.set_result)
            connection = await _connect(central, heard)
            other = await asyncio.wait_for(connected, 5)
            _expect_private(connection, PERIPHERAL, central, peripheral)
            _expect_private(other, CENTRAL, peripheral, central)
            addresses.add(_address(connection.peer_resolvable_address))
            await asyncio.wait_for(connection.encrypt(), 5)
            await read(connection, name)
            await asyncio.wait_for(connection.disconnect(), 5)
            await asyncio.sleep(1.1)
        expect("different addresses of the peripheral", len(addresses), 3)

        # The peripheral advertises to the central, whose controller resolves the target address.
        await advertise(
            peripheral,
            own_address_type=OWN,
            advertising_type=AdvertisingType.DIRECTED_CONNECTABLE_LOW_DUTY,
            target=Address(CENTRAL),
        )
        connection = await _connect(central, Address(PERIPHERAL))
        _expect_private(connection, PERIPHERAL, central, peripheral)
        await asyncio.wait_for(connection.disconnect(), 5)


async def _connect(central: Device, address: Address) -> Connection:
    return await asyncio.wait_for(central.connect(address, own_address_type=OWN), 5)


def _expect_private(connection: Connection, peer: str, device: Device, other: Device) -> None:
    """Expects private addresses at both ends, and the peer's identity address from the controller."""
    found = connection.peer_address
    expect("identity of the peer", (_address(found), found.is_resolved), (peer, True))
    expect("owner of the peer's address", _owner(connection.peer_resolvable_address, other), peer)
    expect("owner of our address", _owner(connection.self_resolvable_address, device), str(device.static_address)[:17])


def _owner(address: Address | None, device: Device) -> str | None:
    """Returns the identity address of `device` if its key generated `address`, as Bumble resolves it."""
    resolved = AddressResolver([(device.irk, device.static_address)]).resolve(address) if address else None
    return _address(resolved)


def _address(address: Address | None) -> str | None:
    return str(address)[:17] if address else None
