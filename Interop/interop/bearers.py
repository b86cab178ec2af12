"""Attributes over several bearers at once, on a link that is encrypted with a key that both ends were given."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import tempfile
from collections.abc import AsyncIterator

from bumble.core import UUID
from bumble.crypto import aes_cmac
from bumble.device import Connection, Device
from bumble.gatt_client import CharacteristicProxy, Client
from bumble.hci import Address
from bumble.keys import MemoryKeyStore, PairingKeys

from . import tool
from .bumble_host import find, powered_on
from .profile import GREETING, NOTE, SERVICE, STORY, STORY_VALUE, Mismatch, expect, greeting

COUNT = 3
"""How many bearers there are beside the one that every link has."""
CENTRAL = "F0:F1:F2:F3:F4:F6"
SECRET = bytes(range(1, 17))
KEY = bytes(range(0x20, 0x30))
"""The key as it goes over the wire, its least significant octet first."""


def state(directory: str, peer: str) -> None:
    """Writes what our host remembers of earlier runs: that it is bonded with `peer`."""
    octets = bytes.fromhex(peer.replace(":", ""))
    number = int.from_bytes(aes_cmac(b"\x01" + octets, SECRET), "big")
    identifier = number & ~(0xF << 76 | 0x3 << 62) | 0x8 << 76 | 0x2 << 62
    key = {"key": f"{int.from_bytes(KEY, 'little'):x}", "random": 0, "diversifier": 0}
    place = {"address": peer, "isRandom": True}
    bond = place | {
        "security": 1,
        "keySize": 16,
        "longTermKey": key,
        "configurations": [],
        "features": 0,
        "isAware": True,
    }
    record = place | {"identifier": f"{identifier:x}", "name": "bonded", "bond": bond}
    file = pathlib.Path(directory) / "corebluetooth" / "host.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"secret": SECRET.hex(), "peers": [record]}))


async def converse(central: str, first: int, second: int, name: str, log: pathlib.Path) -> None:
    """One round: Bumble encrypts the link to our host, opens bearers, and asks on all of them at once."""
    expect("the central", central, "bumble")
    with tempfile.TemporaryDirectory() as directory:
        state(directory, CENTRAL)
        async with tool.peripheral(second, name, log, state=directory), powered_on(first, "central", CENTRAL) as device:
            async with _encrypted(device, await find(device, name)) as connection:
                clients = await asyncio.wait_for(Client.connect_eatt(connection, count=COUNT), 5)
                expect("bearers", len(clients), COUNT)
                await _use(clients, name)


@contextlib.asynccontextmanager
async def _encrypted(device: Device, address: Address) -> AsyncIterator[Connection]:
    """A connection that is refused bearers at first, and encrypted then."""
    connection = await asyncio.wait_for(device.connect(address), 5)
    try:
        await asyncio.wait_for(Client.connect_eatt(connection), 5)
    except Exception as error:
        expect("why there are no bearers without encryption", "ENCRYPTION" in str(error), True)
    else:
        raise Mismatch("our host opened a bearer on a link that is not encrypted")
    device.keystore = MemoryKeyStore()
    keys = PairingKeys(ltk=PairingKeys.Key(KEY))
    await device.keystore.update(str(connection.peer_address), keys)
    await asyncio.wait_for(connection.encrypt(), 5)
    yield connection
    await asyncio.wait_for(connection.disconnect(), 5)


async def _use(clients: list[Client], name: str) -> None:
    """Discovers, reads and writes on every bearer at once."""
    found = await asyncio.gather(*(_discover(client) for client in clients))
    reads = (client.read_value(each[STORY]) for client, each in zip(clients, found))
    for story in await asyncio.gather(*reads):
        expect("story", story, STORY_VALUE)
    note = f"a note for {name}".encode()
    _, value = await asyncio.gather(
        clients[0].write_value(found[0][NOTE], note, with_response=True), clients[1].read_value(found[1][GREETING])
    )
    expect("greeting", value, greeting(name))
    for client, each in zip(clients, found):
        expect("note read back", await client.read_value(each[NOTE]), note)


async def _discover(client: Client) -> dict[str, CharacteristicProxy]:
    services = await client.discover_service(UUID(SERVICE))
    if not services:
        raise Mismatch(f"Bumble discovered no service {SERVICE} on an enhanced bearer")
    found = {each.uuid: each for each in await client.discover_characteristics([], services[0])}
    missing = [uuid for uuid in (GREETING, STORY, NOTE) if UUID(uuid) not in found]
    expect("characteristics that Bumble did not discover", missing, [])
    return {uuid: found[UUID(uuid)] for uuid in (GREETING, STORY, NOTE)}
