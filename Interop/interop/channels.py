"""L2CAP channels: the peripheral echoes what the central sends, in both directions concurrently."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pathlib
import random
import tempfile
from collections.abc import AsyncIterator

from bumble.l2cap import LeCreditBasedChannel, LeCreditBasedChannelSpec

from .bumble_host import advertise, find, powered_on
from .processes import running
from .profile import Mismatch, expect
from .tool import BLE, environment

OCTETS = int(os.environ.get("INTEROP_OCTETS", 1 << 17))
"""The octets sent each way in a round."""
PSM = 0x80
"""The PSM of Bumble's server; our host prints its own."""
SECONDS = 30 + OCTETS / 5_000
"""The time limit of a round; the slowest controllers are several times faster."""


async def converse(central: str, first: int, second: int, name: str, log: pathlib.Path) -> None:
    """Runs one round: the central opens channels to the peripheral, whose echo must equal the data sent."""
    data = random.Random(name).randbytes(OCTETS)
    if central == "ours":
        async with _bumble_echoes(second, name) as echoed:
            await _send_with_ble(first, name, data, log)
            expect("octets that Bumble sent back", echoed, [len(data)])
    else:
        async with _ble_echoes(second, name, log) as psm:
            await _send_with_bumble(first, name, psm, data)


@contextlib.asynccontextmanager
async def _bumble_echoes(port: int, name: str) -> AsyncIterator[list[int]]:
    """Has Bumble echo on each channel that is opened; the list has the number of octets of each."""
    echoed: list[int] = []

    def opened(channel: LeCreditBasedChannel) -> None:
        number = len(echoed)
        echoed.append(0)

        def received(octets: bytes) -> None:
            echoed[number] += len(octets)
            channel.write(octets)

        channel.sink = received

    async with powered_on(port, name, "F0:F1:F2:F3:F4:F5") as device:
        device.create_l2cap_server(LeCreditBasedChannelSpec(psm=PSM), opened)
        await advertise(device)
        yield echoed


async def _send_with_ble(port: int, name: str, data: bytes, log: pathlib.Path) -> None:
    options = ("--psm", str(PSM), "--count", str(len(data)))
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        async with running(
            log,
            *(BLE, "channel", "open", name, *options),
            stdin=file.fileno(),
            stdout=asyncio.subprocess.PIPE,
            environment=environment(port),
        ) as process:
            received, _ = await process.communicate()
    expect("the status of ble channel open", process.returncode, 0)
    _compare(received, data)


@contextlib.asynccontextmanager
async def _ble_echoes(port: int, name: str, log: pathlib.Path) -> AsyncIterator[int]:
    """Has our host echo on each channel that is opened, and yields its PSM."""
    async with running(
        log,
        *(BLE, "channel", "serve", "--name", name, "--echo", "--json"),
        stdout=asyncio.subprocess.PIPE,
        environment=environment(port),
    ) as process:
        assert process.stdout
        psm = 0
        async for line in process.stdout:
            fact = json.loads(line)
            psm = fact.get("psm", psm)
            if fact["event"] == "advertising":
                break
        yield psm
        if process.returncode is not None:
            raise Mismatch(f"ble channel serve ended unexpectedly, with status {process.returncode}")


async def _send_with_bumble(port: int, name: str, psm: int, data: bytes) -> None:
    """Uses one channel that is opened alone, and then three that are opened with one request."""
    async with powered_on(port, "central", "F0:F1:F2:F3:F4:F6") as device:
        connection = await asyncio.wait_for(device.connect(await find(device, name)), 5)
        channel = await connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=psm))
        await _send(channel, data)
        await channel.disconnect()

        enhanced = await device.l2cap_channel_manager.create_enhanced_credit_based_channels(
            connection, LeCreditBasedChannelSpec(psm=psm), 3
        )
        third = len(data) // 3
        await asyncio.gather(*(_send(each, data[at * third :][:third]) for at, each in enumerate(enhanced)))
        await asyncio.gather(*(each.disconnect() for each in enhanced))
        await asyncio.wait_for(connection.disconnect(), 5)


async def _send(channel: LeCreditBasedChannel, data: bytes) -> None:
    received = bytearray()
    is_whole = asyncio.Event()

    def receive(octets: bytes) -> None:
        received.extend(octets)
        if len(received) >= len(data):
            is_whole.set()

    channel.sink = receive
    for start in range(0, len(data), 1 << 14):
        channel.write(data[start : start + (1 << 14)])
        await channel.drain()
    await is_whole.wait()
    _compare(bytes(received), data)


def _compare(received: bytes, sent: bytes) -> None:
    expect("octets that came back", len(received), len(sent))
    if received != sent:
        first = next(at for at, (one, other) in enumerate(zip(received, sent)) if one != other)
        raise Mismatch(f"the echo differs from the data at octet {first}")
