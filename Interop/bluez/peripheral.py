"""BlueZ as the peripheral, `ble` as the central."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator, Callable

from interop.profile import Mismatch, expect

from . import offer, tool
from .application import Application
from .box import Box
from .bus import BlueZ
from .inside import Inside
from .offer import AT_FIRST, BELL, DIARY, GUEST, HOUSE, LONG, NOTE, STORY, TICKS, Service, is_ours

GATT_MANAGER = "org.bluez.GattManager1"
ADVERTISING_MANAGER = "org.bluez.LEAdvertisingManager1"


@contextlib.asynccontextmanager
async def _registered(
    bluez: BlueZ, adapter: str, root: str, services: tuple[Service, ...]
) -> AsyncIterator[Application]:
    application = Application(bluez.bus, root, services)
    await bluez.call(adapter, GATT_MANAGER, "RegisterApplication", "oa{sv}", root, {})
    try:
        yield application
    finally:
        await bluez.call(adapter, GATT_MANAGER, "UnregisterApplication", "o", root)


@contextlib.asynccontextmanager
async def advertised(
    bluez: BlueZ, adapter: str, name: str, services: tuple[Service, ...]
) -> AsyncIterator[Application]:
    """Has BlueZ serve and advertise `services` under `name` until the context ends."""
    root = "/" + "".join(each if each.isalnum() else "_" for each in name)
    async with _registered(bluez, adapter, root, services) as application:
        advertisement = application.advertise(name, HOUSE.uuid)
        await bluez.call(adapter, ADVERTISING_MANAGER, "RegisterAdvertisement", "oa{sv}", advertisement, {})
        try:
            yield application
        finally:
            await bluez.call(adapter, ADVERTISING_MANAGER, "UnregisterAdvertisement", "o", advertisement)


async def converse(_: Box, bluez: BlueZ, adapter: str, place: int | Inside, name: str, log: pathlib.Path) -> None:
    """`ble` finds and uses the services of BlueZ, and sees a service added and removed."""
    async with advertised(bluez, adapter, name, AT_FIRST) as application:
        async with tool.ble(place, log, "scan", "--name", name) as scan:
            await scan.heard("discovered", name=name)
            await scan.interrupt()
        _expect_tree(await tool.run(place, log, "inspect", name), AT_FIRST)
        await _read_and_write(application, place, name, log)
        await _listen(application, place, name, log)
        await _meet(bluez, adapter, application, place, name, log)


def _expect_tree(facts: list[tool.Fact], services: tuple[Service, ...]) -> None:
    """Expects these services, including secondary ones, and ignores BlueZ's own services."""
    offer.expect_tree("services that ble inspect shows", _ours(facts), offer.tree(services))


def _ours(facts: list[tool.Fact]) -> offer.Tree:
    """Returns the services that `ble inspect` showed last, except BlueZ's own."""
    return {uuid: service for uuid, service in tool.tree_from(facts).items() if is_ours(uuid)}


async def _read_and_write(application: Application, place: int | Inside, name: str, log: pathlib.Path) -> None:
    async def read(uuid: str) -> bytes:
        facts = await tool.run(place, log, "read", name, uuid)
        return bytes.fromhex(facts[-1]["value"])

    expect("story", await read(STORY.uuid), LONG)
    for value in (b"short", LONG):
        await tool.run(place, log, "write", name, DIARY.uuid, value.hex())
        expect("diary as BlueZ has it", application.value(DIARY.uuid), value)
        expect("diary read back", await read(DIARY.uuid), value)
    await tool.run(place, log, "write", name, NOTE.uuid, b"a note".hex(), "--without-response")
    for _ in range(100):
        if application.value(NOTE.uuid) == b"a note":
            return
        await asyncio.sleep(0.05)
    raise Mismatch("BlueZ received no write of the note within 5 s")


async def _listen(application: Application, place: int | Inside, name: str, log: pathlib.Path) -> None:
    for characteristic in (TICKS, BELL):
        values = [f"{number} of {characteristic.uuid}".encode() for number in range(5)]
        before = application.confirmations
        async with tool.ble(place, log, "notify", name, characteristic.uuid, "--count", "5") as listener:
            await listener.heard("subscribed")
            for value in values:
                application.tell(characteristic.uuid, value)
            facts = await listener.finish()
        told = [bytes.fromhex(fact["value"]) for fact in facts if fact["event"] == "received"]
        expect(f"values of {characteristic.uuid}", told, values)
        if characteristic is BELL:
            expect("indications that were confirmed", application.confirmations - before, len(values))


async def _meet(
    bluez: BlueZ, adapter: str, application: Application, place: int | Inside, name: str, log: pathlib.Path
) -> None:
    """Adds a service while `ble inspect --follow` is connected, and removes it."""
    def shows(*services: Service) -> Callable[[list[tool.Fact]], bool]:
        values = {each.uuid: application.value(each.uuid) for service in AT_FIRST for each in service.characteristics}
        return lambda facts: _ours(facts) == offer.tree(services, values)

    async with tool.ble(place, log, "inspect", name, "--follow") as watcher:
        await watcher.until("it shows the services", shows(*AT_FIRST))
        async with _registered(bluez, adapter, f"{application.root}_guest", (GUEST,)):
            await watcher.until("it shows the service that was added", shows(*AT_FIRST, GUEST))
        await watcher.until("it shows that the service was removed", shows(*AT_FIRST))
        await watcher.interrupt()
