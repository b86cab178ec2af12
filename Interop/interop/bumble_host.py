"""Bumble's host, in both roles."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator
from typing import Any

from bumble.core import UUID, AdvertisingData
from bumble.device import Advertisement, Connection, Device, DeviceConfiguration, Peer
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.gatt_client import CharacteristicProxy
from bumble.hci import Address
from bumble.transport import open_transport

from .profile import GREETING, NOTE, SERVICE, STORY, STORY_VALUE, TICKS, Mismatch, expect, greeting


@contextlib.asynccontextmanager
async def powered_on(port: int, name: str, address: str, **settings: Any) -> AsyncIterator[Device]:
    """Runs Bumble's host on the controller at `port`, with `settings` for Bumble's `DeviceConfiguration`."""
    configuration = DeviceConfiguration(name=name, address=Address(address), **settings)
    async with await open_transport(f"tcp-client:127.0.0.1:{port}") as transport:
        device = Device.from_config_with_hci(configuration, transport.source, transport.sink)
        await device.power_on()
        yield device


async def advertise(device: Device, **settings: Any) -> None:
    """Advertises the device's name, now and after each disconnection; Bumble gets the `settings`."""
    flags = (AdvertisingData.FLAGS, b"\x06")
    name = (AdvertisingData.COMPLETE_LOCAL_NAME, device.name.encode())
    await device.start_advertising(
        auto_restart=True,
        advertising_data=bytes(AdvertisingData([flags, name])),
        advertising_interval_min=30,
        advertising_interval_max=30,
        **settings,
    )


async def find(device: Device, name: str, **settings: Any) -> Address:
    """Scans until a device called `name` is found, and returns its address; Bumble gets the `settings`."""
    found: asyncio.Future[Address] = asyncio.get_running_loop().create_future()

    def heard(advertisement: Advertisement) -> None:
        names = (AdvertisingData.COMPLETE_LOCAL_NAME, AdvertisingData.SHORTENED_LOCAL_NAME)
        if any(advertisement.data.get(kind) == name for kind in names) and not found.done():
            found.set_result(advertisement.address)

    device.on(Device.EVENT_ADVERTISEMENT, heard)
    await device.start_scanning(**settings)
    try:
        return await asyncio.wait_for(found, 5)
    except TimeoutError:
        raise Mismatch(f"Bumble did not find {name} within 5 s") from None
    finally:
        await device.stop_scanning()


class BumblePeripheral:
    """A peripheral with the common service and a counter, which notifies without requests."""

    def __init__(self, device: Device) -> None:
        self.name = device.name
        self.note = b""
        self._device = device
        self._counting: set[asyncio.Task[None]] = set()
        readable = {GREETING: greeting(self.name), STORY: STORY_VALUE}
        self._note = Characteristic(
            NOTE,
            Characteristic.READ | Characteristic.WRITE | Characteristic.NOTIFY,
            Characteristic.READABLE | Characteristic.WRITEABLE,
            CharacteristicValue(read=lambda _: self.note, write=self._written),
        )
        self._ticks = Characteristic(TICKS, Characteristic.NOTIFY, Characteristic.READABLE)
        self._ticks.on(Characteristic.EVENT_SUBSCRIPTION, self._subscribed)
        characteristics = [
            Characteristic(uuid, Characteristic.READ, Characteristic.READABLE, value)
            for uuid, value in readable.items()
        ]
        device.add_services([Service(UUID(SERVICE), [*characteristics, self._note, self._ticks])])

    def stop(self) -> None:
        """Stops counting."""
        for task in self._counting:
            task.cancel()

    def _written(self, _: Connection, value: bytes) -> None:
        self.note = value
        self._spawn(self._device.notify_subscribers(self._note, value))

    def _subscribed(self, central: Connection, notify: bool, _: bool) -> None:
        if notify:
            self._spawn(self._count(central))

    async def _count(self, central: Connection) -> None:
        for number in range(1, 100):
            await asyncio.sleep(0.03)
            await self._device.notify_subscriber(central, self._ticks, f"tick {number}".encode())

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._counting.add(task)
        task.add_done_callback(self._counting.discard)


@contextlib.asynccontextmanager
async def peripheral(port: int, name: str, _: pathlib.Path) -> AsyncIterator[BumblePeripheral]:
    """Runs Bumble as a peripheral called `name` on the controller at `port`."""
    async with powered_on(port, name, "F0:F1:F2:F3:F4:F5") as device:
        bumble = BumblePeripheral(device)
        await advertise(device)
        try:
            yield bumble
        finally:
            bumble.stop()


class BumbleCentral:
    """Bumble as the central."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def converse(self, peripheral: Any) -> None:
        """Finds `peripheral` by its name, and uses its common service."""
        async with powered_on(self._port, "central", "F0:F1:F2:F3:F4:F6") as device:
            address = await find(device, peripheral.name)
            connection = await asyncio.wait_for(device.connect(address), 5)
            await self._use_service(Peer(connection), peripheral.name)
            await asyncio.wait_for(connection.disconnect(), 5)

    async def _use_service(self, peer: Peer, name: str) -> None:
        await peer.request_mtu(247)
        services = await peer.discover_services()
        service = next((each for each in services if each.uuid == UUID(SERVICE)), None)
        if service is None:
            raise Mismatch(f"Bumble discovered no service {SERVICE}, but {[str(each.uuid) for each in services]}")
        found = {each.uuid: each for each in await service.discover_characteristics()}
        missing = [uuid for uuid in (GREETING, STORY, NOTE) if UUID(uuid) not in found]
        expect("characteristics that Bumble did not discover", missing, [])

        expect("greeting", await found[UUID(GREETING)].read_value(), greeting(name))
        expect("story", await found[UUID(STORY)].read_value(), STORY_VALUE)
        await self._write_note(found[UUID(NOTE)], f"a note for {name}".encode())

    async def _write_note(self, characteristic: CharacteristicProxy, note: bytes) -> None:
        notified: asyncio.Queue[bytes] = asyncio.Queue()
        await characteristic.subscribe(notified.put_nowait)
        await characteristic.write_value(note, with_response=True)
        try:
            expect("note as notified", await asyncio.wait_for(notified.get(), 5), note)
        except TimeoutError:
            raise Mismatch("Bumble received no notification of the note within 5 s") from None
        expect("note read back", await characteristic.read_value(), note)
