"""Bumble accesses attributes of our host over several bearers concurrently, on an encrypted link."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import tempfile
from collections.abc import AsyncIterator
from typing import Any

from bumble import att
from bumble.core import UUID
from bumble.device import Connection, Device
from bumble.gatt_client import CharacteristicProxy, Client
from bumble.hci import Address
from bumble.l2cap import (
    L2CAP_LE_SIGNALING_CID,
    L2CAP_Credit_Based_Reconfigure_Request,
    L2CAP_Credit_Based_Reconfigure_Response,
    LeCreditBasedChannel,
    LeCreditBasedChannelSpec,
)

from . import tool
from .bonds import remember, remember_in_bumble
from .bumble_host import find, powered_on
from .profile import GREETING, NOTE, SERVICE, STORY, STORY_VALUE, Mismatch, expect, greeting, numbered

COUNT = 3
"""The number of bearers besides the one that every link has."""
CENTRAL = "F0:F1:F2:F3:F4:F6"
LEAST = 64
"""The smallest MTU of a bearer, in octets."""
MORE = 517
"""The MTU of a bearer after it was reconfigured."""
NOTES = 10
"""The number of notified values of a characteristic."""
DIARY = numbered(0)
"""Another characteristic like the note."""

WANTED = (GREETING, STORY, NOTE, DIARY)

Found = dict[str, CharacteristicProxy]
Result = L2CAP_Credit_Based_Reconfigure_Response.Result


async def converse(first: int, second: int, name: str, log: pathlib.Path) -> None:
    """Runs one round: Bumble encrypts the link to our host, opens bearers, and uses all of them concurrently."""
    with tempfile.TemporaryDirectory() as directory:
        remember(directory, CENTRAL)
        async with (
            tool.peripheral(second, name, log, state=directory, notes=[DIARY]),
            powered_on(first, "central", CENTRAL) as device,
        ):
            async with _encrypted(device, await find(device, name)) as connection:
                spec = LeCreditBasedChannelSpec(psm=att.EATT_PSM, mtu=LEAST, mps=LEAST)
                clients = await asyncio.wait_for(Client.connect_eatt(connection, spec, count=COUNT), 5)
                expect("bearers", len(clients), COUNT)
                for client in clients:
                    client.mtu = LEAST  # Bumble assumes the default ATT_MTU for them.
                found = await asyncio.gather(*(_discover(client) for client in clients))
                await _resize(clients, found)
                await _use(clients, found, name)
                await _write_long(clients, found)
                await _be_notified(connection.gatt_client, clients, found)


@contextlib.asynccontextmanager
async def _encrypted(device: Device, address: Address) -> AsyncIterator[Connection]:
    """Connects, expects that bearers are refused, and encrypts the link."""
    connection = await asyncio.wait_for(device.connect(address), 5)
    try:
        await asyncio.wait_for(Client.connect_eatt(connection), 5)
    except Exception as error:
        expect("whether bearers are refused for lack of encryption", "ENCRYPTION" in str(error), True)
    else:
        raise Mismatch("our host opened a bearer on a link that is not encrypted")
    await remember_in_bumble(device, connection)
    await asyncio.wait_for(connection.encrypt(), 5)
    yield connection
    await asyncio.wait_for(connection.disconnect(), 5)


async def _discover(client: Client) -> Found:
    services = await client.discover_service(UUID(SERVICE))
    if not services:
        raise Mismatch(f"Bumble discovered no service {SERVICE} on an enhanced bearer")
    found = {each.uuid: each for each in await client.discover_characteristics([], services[0])}
    missing = [uuid for uuid in WANTED if UUID(uuid) not in found]
    expect("characteristics that Bumble did not discover", missing, [])
    return {uuid: found[UUID(uuid)] for uuid in WANTED}


async def _resize(clients: list[Client], found: list[Found]) -> None:
    """Enlarges the MTU of the bearers, and expects that it is used, and that reducing it is refused."""
    channels = [client.bearer for client in clients]
    stories = [each[STORY] for each in found]
    for client, story in zip(clients, stories):
        part = await client.read_value(story, no_long_read=True)
        expect("value on a small bearer", part, STORY_VALUE[: LEAST - 1])
    for channel in channels:
        channel.mtu, channel.mps = MORE, MORE
    expect("the answer to a longer MTU", await _reconfigure(channels, MORE), Result.RECONFIGURATION_SUCCESSFUL)
    for client, story in zip(clients, stories):
        client.mtu = MORE
        expect("value after the reconfiguration", await client.read_value(story, no_long_read=True), STORY_VALUE)
    refusal = Result.RECONFIGURATION_FAILED_REDUCTION_IN_SIZE_OF_MTU_NOT_ALLOWED
    expect("the answer to a shorter MTU", await _reconfigure(channels, LEAST), refusal)


async def _reconfigure(channels: list[LeCreditBasedChannel], size: int) -> int:
    """Announces another MTU and MPS of this end. Bumble has the packets for that, but does not use them."""
    manager, connection = channels[0].manager, channels[0].connection
    answered: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    identifier = manager.next_identifier(connection)

    def answer(_: Connection, __: int, response: L2CAP_Credit_Based_Reconfigure_Response) -> None:
        if response.identifier == identifier and not answered.done():
            answered.set_result(response.result)

    manager.on_l2cap_credit_based_reconfigure_response = answer
    request = L2CAP_Credit_Based_Reconfigure_Request(
        identifier=identifier, mtu=size, mps=size, destination_cid=[channel.source_cid for channel in channels]
    )
    manager.send_control_frame(connection, L2CAP_LE_SIGNALING_CID, request)
    return await asyncio.wait_for(answered, 5)


async def _use(clients: list[Client], found: list[Found], name: str) -> None:
    """Reads and writes on every bearer concurrently."""
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


async def _write_long(clients: list[Client], found: list[Found]) -> None:
    """Writes a value in parts on one bearer, while the others read: they see the old one or the new one."""
    before = await clients[0].read_value(found[0][NOTE])
    after = bytes(reversed(STORY_VALUE))
    clients[0].mtu = LEAST
    writing = asyncio.ensure_future(clients[0].write_value(found[0][NOTE], after, with_response=True))
    seen = [0] * len(clients)

    async def read(index: int) -> None:
        while not writing.done():
            value = await clients[index].read_value(found[index][NOTE])
            expect("the note while it is written", value in (before, after), True)
            seen[index] += 1

    await asyncio.gather(*(read(index) for index in range(1, len(clients))), writing)
    clients[0].mtu = MORE
    expect("bearers that read meanwhile", sum(count > 0 for count in seen), len(clients) - 1)
    for client, each in zip(clients, found):
        expect("the note after it was written in parts", await client.read_value(each[NOTE]), after)


async def _be_notified(base: Client, clients: list[Client], found: list[Found]) -> None:
    """Subscribes on one bearer, writes on two others, and reads on the last: expects each value once, in order."""
    heard: dict[int, list[tuple[int, bytes]]] = {found[0][uuid].handle: [] for uuid in (NOTE, DIARY)}
    bearers = [base, *clients]
    for number, bearer in enumerate(bearers):
        bearer.on_att_handle_value_notification = _listener(number, heard)
    for uuid in (NOTE, DIARY):
        await base.subscribe(found[0][uuid], lambda _: None)
    notes = [f"note {number}".encode() for number in range(NOTES)]

    async def write(index: int, uuid: str) -> None:
        for note in notes:
            await clients[index].write_value(found[index][uuid], note, with_response=True)

    writing = asyncio.gather(write(0, NOTE), write(1, DIARY))
    while not writing.done():
        expect("story", await clients[2].read_value(found[2][STORY]), STORY_VALUE)
    await writing
    for _ in range(100):
        if all(len(values) >= NOTES for values in heard.values()):
            break
        await asyncio.sleep(0.02)
    for bearer in bearers:
        await bearer.read_value(found[0][GREETING].handle)  # Further values would have arrived earlier.
    for values in heard.values():
        expect("notes as notified", [note for _, note in values], notes)
        expect("bearers that the values of one characteristic came on", len({number for number, _ in values}), 1)
    expect("bearers that values came on", len({number for values in heard.values() for number, _ in values}), 2)


def _listener(number: int, heard: dict[int, list[tuple[int, bytes]]]) -> Any:
    """Returns a handler that records the bearer of each value."""
    return lambda event: heard[event.attribute_handle].append((number, event.attribute_value))
