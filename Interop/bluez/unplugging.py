"""Removes the adapter of a `ble` in a box in the middle of traffic, and returns it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import pathlib
import zlib
from collections.abc import AsyncIterator, Callable

from interop.profile import Mismatch, expect

from . import tool
from .box import Box
from .bus import ADAPTER, CHARACTERISTIC, DEVICE, BlueZ
from .central import Central
from .inside import Inside
from .offer import AT_FIRST, DIARY, LONG, TICKS
from .peripheral import advertised

OURS = "/org/bluez/hci1"
"""BlueZ's path of the adapter that `ble` takes."""
RADIO_LOST = 69
"""The status of a command that ends because its radio is gone."""
ENOUGH = 20
"""The number of values that shows that a stream flows."""


async def pull(box: Box) -> None:
    """Removes the adapter from the kernel."""
    await _signal(box, "USR1")


async def put(box: Box) -> None:
    """Returns the adapter to the kernel."""
    await _signal(box, "USR2")


async def _signal(box: Box, name: str) -> None:
    await box.shell(f"kill -{name} $(ps | awk '/vhci-bridge .*hci1/ && !/awk/ {{print $1}}')")


async def _let_go(bluez: BlueZ, adapter: str) -> None:
    """Has BlueZ disconnect: rootcanal's controllers never report the lost link, and others take seconds."""
    for device, properties in bluez.under(adapter, DEVICE).items():
        if properties.get("Connected"):
            await bluez.call(device, DEVICE, "Disconnect")


def _sealed(number: int) -> bytes:
    """Returns a number with its checksum."""
    octets = number.to_bytes(4, "little")
    return octets + zlib.crc32(octets).to_bytes(4, "little")


def expect_consecutive(what: str, values: list[bytes]) -> int:
    """Raises `Mismatch` unless these are consecutive numbers of `_sealed`; returns the last of them."""
    first = int.from_bytes(values[0][:4], "little")
    expect(what, values, [_sealed(number) for number in range(first, first + len(values))])
    return first + len(values) - 1


@contextlib.asynccontextmanager
async def _streaming(tell: Callable[[bytes], None]) -> AsyncIterator[None]:
    """Sends one value after the other until the context ends."""
    async def stream() -> None:
        for number in itertools.count(1):
            tell(_sealed(number))
            await asyncio.sleep(0.03)

    task = asyncio.create_task(stream())
    try:
        yield
    finally:
        task.cancel()


async def listener(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Expects that `ble notify` ends in a stream and says why; no value is wrong, before or after."""
    async with advertised(bluez, adapter, name, AT_FIRST) as application:
        async with tool.ble(place, log, "notify", name, TICKS.uuid) as notify:
            await notify.heard("subscribed")
            async with _streaming(lambda value: application.tell(TICKS.uuid, value)):
                await notify.until("the stream has started", lambda facts: len(_received(facts)) >= ENOUGH)
                await pull(box)
                expect("status of ble notify", await notify.status(), RADIO_LOST)
            await _let_go(bluez, adapter)
        expect_consecutive("values before the loss", _received(notify.facts))
        _expect_said(log, "radio")
        await put(box)
        await bluez.until("BlueZ has the adapter again", lambda: bluez.property(OURS, ADAPTER, "Powered"), 60)
        async with tool.ble(place, log, "notify", name, TICKS.uuid, "--count", str(ENOUGH)) as notify:
            await notify.heard("subscribed")
            async with _streaming(lambda value: application.tell(TICKS.uuid, value)):
                await notify.finish()
            expect_consecutive("values after the return", _received(notify.facts))


async def writer(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Expects that `ble write` of a long value ends and says why; the peripheral has all of it, or nothing."""
    async with advertised(bluez, adapter, name, AT_FIRST) as application:
        before, then = application.value(DIARY.uuid), LONG[::-1]
        async with tool.ble(place, log, "write", name, DIARY.uuid, LONG.hex()) as write:
            with application.silent() as asked:
                await asyncio.wait_for(asked.wait(), 60)
                await pull(box)
            expect("status of ble write", await write.status(), RADIO_LOST)
            await _let_go(bluez, adapter)
        _expect_said(log, "radio")
        expect("facts of a write that failed", write.facts, [])
        if application.value(DIARY.uuid) not in (before, LONG):
            raise Mismatch(f"the peripheral has a part of a value: {application.value(DIARY.uuid)!r}")
        await put(box)
        await bluez.until("BlueZ has the adapter again", lambda: bluez.property(OURS, ADAPTER, "Powered"), 60)
        await tool.run(place, log, "write", name, DIARY.uuid, then.hex())
        expect("value of the peripheral afterwards", application.value(DIARY.uuid), then)


async def server(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Expects that `ble serve` reports its radio lost and back, is found again, and continues its values."""
    central = Central(box, bluez, adapter, name)
    content = {"name": name, "services": [tool.described(service) for service in AT_FIRST]}
    with tool.description(content) as file:
        async with (
            tool.ble(place, log, "serve", file) as serve,
            _streaming(lambda value: serve.say(f"{TICKS.uuid} 0x{value.hex()}")),
        ):
            await serve.heard("advertising")
            await central.find()
            await central.connect()
            last = await _hear(central)
            await pull(box)
            await serve.heard("radio_lost")
            await central.disconnect()
            await put(box)
            await serve.heard("radio_returned")
            await serve.until("it advertises again", _advertises_again)
            await central.find()
            await central.connect()
            if await _hear(central) <= last:
                raise Mismatch("the values of the server after the loss are old")
            await central.disconnect()
            await serve.interrupt()
    await bluez.until("BlueZ has the adapter again", lambda: bluez.property(OURS, ADAPTER, "Powered"), 60)


async def _hear(central: Central) -> int:
    """Subscribes, expects consecutive values, and returns the last of them."""
    path = central.path(TICKS.uuid)
    before = len(central.bluez.changes(path, CHARACTERISTIC, "Value"))

    def told() -> list[bytes]:
        return [bytes(value) for value in central.bluez.changes(path, CHARACTERISTIC, "Value")[before:]]

    await central.bluez.call(path, CHARACTERISTIC, "StartNotify")
    await central.bluez.until("BlueZ receives values", lambda: len(told()) >= ENOUGH, 60)
    return expect_consecutive("values that BlueZ receives", told())


def _advertises_again(facts: list[tool.Fact]) -> bool:
    events = [fact["event"] for fact in facts]
    return "advertising" in events[events.index("radio_returned") :]


def _received(facts: list[tool.Fact]) -> list[bytes]:
    return [bytes.fromhex(fact["value"]) for fact in facts if fact["event"] == "received"]


def _expect_said(log: pathlib.Path, word: str) -> None:
    if word not in log.read_text(errors="replace").lower():
        raise Mismatch(f"the log does not mention the {word}: {log}")
