"""Two of Bumble's hosts leave privacy to our controllers, which make private addresses for them and resolve them."""

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
"""Has Bumble fill the resolving list of its controller, and have it resolve addresses."""


async def converse(first: int, second: int, name: str) -> None:
    """One round: a stranger hears private addresses, pairs, and from then on knows the peripheral by its identity."""
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
        expect("whether a stranger hears a private address", (heard.is_resolvable, heard.is_resolved), (True, False))
        expect("whose address it is", _owner(heard, peripheral), PERIPHERAL)
        connection = await _connect(central, heard)
        await asyncio.wait_for(connection.pair(), 10)
        await read(connection, name)
        await asyncio.wait_for(connection.disconnect(), 5)

        addresses = {_address(heard)}
        for _ in range(2):
            heard = await find(central, name, own_address_type=OWN)
            expect("who is heard", (_address(heard), heard.is_resolved), (PERIPHERAL, True))
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

        # It calls its friend, whose own scan and initiator find out that it is meant.
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
    """Both ends use private addresses of their own, and the controller has told who the other one is."""
    expect("who the peer is", (_address(connection.peer_address), connection.peer_address.is_resolved), (peer, True))
    expect("whose the peer's address is", _owner(connection.peer_resolvable_address, other), peer)
    expect("whose our address is", _owner(connection.self_resolvable_address, device), str(device.static_address)[:17])


def _owner(address: Address | None, device: Device) -> str | None:
    """The identity of `device`, if its key made `address`, by Bumble's own reckoning."""
    resolved = AddressResolver([(device.irk, device.static_address)]).resolve(address) if address else None
    return _address(resolved)


def _address(address: Address | None) -> str | None:
    return str(address)[:17] if address else None
