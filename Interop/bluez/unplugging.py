"""The adapter of a `ble` in a box is pulled out in the middle of traffic, and put back."""

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
"""The adapter that `ble` takes, as BlueZ calls it."""
RADIO_LOST = 69
"""The status of a command that ends because its radio is gone."""
ENOUGH = 20
"""How many values of a stream show that it flows."""


async def pull(box: Box) -> None:
    """Pulls the adapter out of the kernel."""
    await _signal(box, "USR1")


async def put(box: Box) -> None:
    """Puts it back."""
    await _signal(box, "USR2")


async def _signal(box: Box, name: str) -> None:
    await box.shell(f"kill -{name} $(ps | awk '/vhci-bridge .*hci1/ && !/awk/ {{print $1}}')")


async def _let_go(bluez: BlueZ, adapter: str) -> None:
    """Has BlueZ disconnect from who has gone: that takes rootcanal's controllers for ever, and others some seconds."""
    for device, properties in bluez.under(adapter, DEVICE).items():
        if properties.get("Connected"):
            await bluez.call(device, DEVICE, "Disconnect")


def _sealed(number: int) -> bytes:
    """A number that cannot be taken for another, nor come about by chance."""
    octets = number.to_bytes(4, "little")
    return octets + zlib.crc32(octets).to_bytes(4, "little")


def expect_consecutive(what: str, values: list[bytes]) -> int:
    """Raises `Mismatch` unless these are numbers of `_sealed` that follow one another; returns the last of them."""
    first = int.from_bytes(values[0][:4], "little")
    expect(what, values, [_sealed(number) for number in range(first, first + len(values))])
    return first + len(values) - 1


@contextlib.asynccontextmanager
async def _streaming(tell: Callable[[bytes], None]) -> AsyncIterator[None]:
    """Tells one value after the other for as long as the context lasts."""
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
    """`ble notify` ends in the middle of a stream and says why; no value was wrong, nor is one when it is back."""
    async with advertised(bluez, adapter, name, AT_FIRST) as application:
        async with tool.ble(place, log, "notify", name, TICKS.uuid) as notify:
            await notify.heard("subscribed")
            async with _streaming(lambda value: application.tell(TICKS.uuid, value)):
                await notify.until("the stream flows", lambda facts: len(_received(facts)) >= ENOUGH)
                await pull(box)
                expect("status of ble notify", await notify.status(), RADIO_LOST)
            await _let_go(bluez, adapter)
        expect_consecutive("values up to then", _received(notify.facts))
        _expect_said(log, "radio")
        await put(box)
        await bluez.until("BlueZ has it again", lambda: bluez.property(OURS, ADAPTER, "Powered"), 60)
        async with tool.ble(place, log, "notify", name, TICKS.uuid, "--count", str(ENOUGH)) as notify:
            await notify.heard("subscribed")
            async with _streaming(lambda value: application.tell(TICKS.uuid, value)):
                await notify.finish()
            expect_consecutive("values then", _received(notify.facts))


async def writer(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """`ble write` ends while a long value is under way and says why; the peripheral has all of it, or nothing."""
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
        await bluez.until("BlueZ has it again", lambda: bluez.property(OURS, ADAPTER, "Powered"), 60)
        await tool.run(place, log, "write", name, DIARY.uuid, then.hex())
        expect("what the peripheral has then", application.value(DIARY.uuid), then)


async def server(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """`ble serve` goes on: it says that the radio is lost and back, is found again, and tells on what it did."""
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
            await serve.until("it advertises anew", _advertises_anew)
            await central.find()
            await central.connect()
            if await _hear(central) <= last:
                raise Mismatch("what the server tells after the loss is old")
            await central.disconnect()
            await serve.interrupt()
    await bluez.until("BlueZ has it again", lambda: bluez.property(OURS, ADAPTER, "Powered"), 60)


async def _hear(central: Central) -> int:
    """Subscribes and hears values that follow one another; the last of them."""
    path = central.path(TICKS.uuid)
    before = len(central.bluez.changes(path, CHARACTERISTIC, "Value"))

    def told() -> list[bytes]:
        return [bytes(value) for value in central.bluez.changes(path, CHARACTERISTIC, "Value")[before:]]

    await central.bluez.call(path, CHARACTERISTIC, "StartNotify")
    await central.bluez.until("BlueZ is told values", lambda: len(told()) >= ENOUGH, 60)
    return expect_consecutive("values that BlueZ is told", told())


def _advertises_anew(facts: list[tool.Fact]) -> bool:
    events = [fact["event"] for fact in facts]
    return "advertising" in events[events.index("radio_returned") :]


def _received(facts: list[tool.Fact]) -> list[bytes]:
    return [bytes.fromhex(fact["value"]) for fact in facts if fact["event"] == "received"]


def _expect_said(log: pathlib.Path, word: str) -> None:
    if word not in log.read_text(errors="replace").lower():
        raise Mismatch(f"it does not speak of the {word}: {log}")
