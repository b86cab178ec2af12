"""BlueZ as the central, `ble serve` as the peripheral."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator
from typing import Any

from dbus_fast import Variant

from interop.profile import Mismatch, expect

from . import management, offer, tool
from .box import Box
from .bus import ADAPTER, CHARACTERISTIC, DESCRIPTOR, DEVICE, SERVICE, BlueZ
from .inside import Inside
from .offer import (
    AT_FIRST,
    BELL,
    CONFIGURATION,
    DIARY,
    FLAGS,
    GUEST,
    LONG,
    NOTE,
    OTHER_GUEST,
    TICKS,
    Tree,
    expect_tree,
    full,
    is_ours,
)


class Central:
    """BlueZ as a central, and the peripheral that it uses."""

    def __init__(self, box: Box, bluez: BlueZ, adapter: str, name: str) -> None:
        self.bluez = bluez
        self._box = box
        self._adapter = adapter
        self._name = name
        self._device = ""

    async def find(self) -> str:
        """Scans until BlueZ reports the peripheral's name, and returns the path of its object."""
        def named() -> str | None:
            devices = self.bluez.under(self._adapter, DEVICE).items()
            return next((path for path, found in devices if found.get("Name") == self._name), None)

        await self.bluez.call(self._adapter, ADAPTER, "SetDiscoveryFilter", "a{sv}", {"Transport": Variant("s", "le")})
        await self.bluez.call(self._adapter, ADAPTER, "StartDiscovery")
        try:
            self._device = await self.bluez.until(f"BlueZ sees {self._name}", named)
        finally:
            await self.bluez.call(self._adapter, ADAPTER, "StopDiscovery")
        return self._device

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Connects, and waits until BlueZ has discovered the services; disconnects when the context ends."""
        await self.connect()
        yield
        await self.disconnect()

    async def connect(self) -> None:
        """Connects, and waits until BlueZ has discovered the services."""
        await self.bluez.call(self._device, DEVICE, "Connect")
        await self.bluez.until("BlueZ has discovered all services", lambda: self._property("ServicesResolved"), 60)

    async def disconnect(self) -> None:
        """Disconnects, also from a peripheral that is gone, and waits until the link is over.

        The kernel of BlueZ 5.66 reports the disconnection before the peripheral has acknowledged it. Until then BlueZ
        can neither connect nor pair; if the peripheral leaves meanwhile, this lasts until the supervision timeout.
        """
        await self.bluez.call(self._device, DEVICE, "Disconnect")
        await self.bluez.until("BlueZ has disconnected", lambda: not self._property("Connected"))
        await self.parted()

    async def parted(self) -> None:
        """Waits until the kernel has no link."""
        await management.parted(self._box, self._adapter)

    def _property(self, name: str) -> Any:
        return self.bluez.property(self._device, DEVICE, name)

    def path(self, uuid: str) -> str:
        """Returns the path of a characteristic's object."""
        found = self.bluez.under(self._device, CHARACTERISTIC)
        return next(path for path, properties in found.items() if properties["UUID"] == uuid)

    def has(self, service: offer.Service) -> bool:
        """Returns whether BlueZ shows a service with all of its characteristics."""
        shown = {found["UUID"] for found in self.bluez.under(self._device, CHARACTERISTIC).values()}
        services = {found["UUID"] for found in self.bluez.under(self._device, SERVICE).values()}
        return service.uuid in services and {each.uuid for each in service.characteristics} <= shown

    def lacks(self, service: offer.Service) -> bool:
        """Returns whether BlueZ no longer shows a service."""
        return all(found["UUID"] != service.uuid for found in self.bluez.under(self._device, SERVICE).values())

    async def tree(self) -> Tree:
        """Returns the services that BlueZ has discovered, except standard ones, with the values that it reads."""
        names = {flag: name for name, flag in FLAGS.items()}
        services = self.bluez.under(self._device, SERVICE)
        found: Tree = {}
        for path, service in services.items():
            if not is_ours(service["UUID"]):
                continue
            characteristics = {}
            for inner, each in self.bluez.under(path, CHARACTERISTIC).items():
                characteristics[each["UUID"]] = {
                    "properties": sorted(names.get(flag, flag) for flag in each["Flags"]),
                    "value": await self.read(inner) if "read" in each["Flags"] else None,
                    "descriptors": await self._descriptors(inner),
                }
            included = sorted(services[each]["UUID"] for each in service.get("Includes", []))
            found[service["UUID"]] = {
                "primary": service["Primary"],
                "includes": included,
                "characteristics": characteristics,
            }
        return found

    async def _descriptors(self, characteristic: str) -> dict[str, bytes | None]:
        return {
            each["UUID"]: None if each["UUID"] == full(CONFIGURATION) else await self.read(path, DESCRIPTOR)
            for path, each in self.bluez.under(characteristic, DESCRIPTOR).items()
        }

    async def read(self, path: str, interface: str = CHARACTERISTIC) -> bytes:
        """Reads a value from the peripheral."""
        (value,) = await self.bluez.call(path, interface, "ReadValue", "a{sv}", {})
        return bytes(value)

    async def write(self, uuid: str, value: bytes, **options: Variant) -> None:
        """Writes a characteristic of the peripheral."""
        await self.bluez.call(self.path(uuid), CHARACTERISTIC, "WriteValue", "aya{sv}", value, options)

    async def subscribed_to(self, uuid: str, values: list[bytes], server: tool.Tool) -> None:
        """Subscribes, makes the peripheral send the values, and expects all of them in order."""
        path = self.path(uuid)
        before = len(self.bluez.changes(path, CHARACTERISTIC, "Value"))
        await self.bluez.call(path, CHARACTERISTIC, "StartNotify")
        await server.heard("subscribed", characteristic=uuid.upper())
        for value in values:
            server.say(f"{uuid} 0x{value.hex()}")

        def told() -> list[bytes]:
            return [bytes(value) for value in self.bluez.changes(path, CHARACTERISTIC, "Value")[before:]]

        await self.bluez.until(f"BlueZ receives {len(values)} values of {uuid}", lambda: len(told()) >= len(values))
        expect(f"values of {uuid}", told(), values)

    async def unsubscribe(self, uuid: str, server: tool.Tool) -> None:
        """Unsubscribes from a characteristic."""
        await self.bluez.call(self.path(uuid), CHARACTERISTIC, "StopNotify")
        await server.heard("unsubscribed", characteristic=uuid.upper())


async def converse(box: Box, bluez: BlueZ, adapter: str, port: int | Inside, name: str, log: pathlib.Path) -> None:
    """BlueZ discovers and uses the services of `ble serve`, receives changes, and reconnects twice."""
    central = Central(box, bluez, adapter, name)
    content = {"name": name, "services": [tool.described(service) for service in AT_FIRST]}
    with tool.description(content) as file, _guests() as (guest, other_guest):
        async with tool.ble(port, log, "serve", file) as server:
            await server.heard("advertising")
            await central.find()
            async with central.connected():
                expect_tree("services that BlueZ discovers", await central.tree(), offer.tree(AT_FIRST))
                written = await _write(central, server)
                await _listen(central, server)
                await _meet(central, server, guest)
            written |= {TICKS.uuid: bytes([4])}
            await _come_back(box, central, server, written, other_guest)


@contextlib.contextmanager
def _guests() -> Any:
    with tool.description(tool.described(GUEST)) as guest, tool.description(tool.described(OTHER_GUEST)) as other:
        yield guest, other


async def _write(central: Central, server: tool.Tool) -> dict[str, bytes]:
    async def written(uuid: str, value: bytes) -> None:
        await server.heard("written", characteristic=uuid.upper(), value=value.hex())
        expect("value that BlueZ reads back", await central.read(central.path(uuid)), value)

    await central.write(DIARY.uuid, b"short")
    await written(DIARY.uuid, b"short")
    await central.write(DIARY.uuid, LONG)
    await written(DIARY.uuid, LONG)
    await central.write(DIARY.uuid, b"another end", offset=Variant("q", 390))
    await written(DIARY.uuid, LONG[:390] + b"another end")
    await central.write(NOTE.uuid, b"a note", type=Variant("s", "command"))
    await written(NOTE.uuid, b"a note")
    return {DIARY.uuid: LONG[:390] + b"another end", NOTE.uuid: b"a note"}


async def _listen(central: Central, server: tool.Tool) -> None:
    await central.subscribed_to(TICKS.uuid, [bytes([number]) for number in range(5)], server)
    await central.subscribed_to(BELL.uuid, [f"ring {number}".encode() for number in range(5)], server)
    await central.unsubscribe(BELL.uuid, server)


async def _meet(central: Central, server: tool.Tool, guest: str) -> None:
    """Adds a service while BlueZ is connected, and removes it."""
    server.say(f"add {guest}")
    await central.bluez.until("BlueZ has discovered the service that was added", lambda: central.has(GUEST))
    found = await central.tree()
    expect_tree("the service that was added", {GUEST.uuid: found[GUEST.uuid]}, offer.tree((GUEST,)))
    server.say(f"remove {GUEST.uuid}")
    await central.bluez.until("BlueZ no longer shows the service that was removed", lambda: central.lacks(GUEST))
    expect("services that are left", sorted(await central.tree()), sorted(each.uuid for each in AT_FIRST))


async def _come_back(
    box: Box, central: Central, server: tool.Tool, values: dict[str, bytes], other_guest: str
) -> None:
    """Expects that BlueZ discovers nothing again if nothing has changed, and new services otherwise."""
    await box.shell("btmon -w /tmp/second < /dev/null > /dev/null 2>&1 & echo $! > /tmp/btmon")
    async with central.connected():
        expect_tree("services that BlueZ has cached", await central.tree(), offer.tree(AT_FIRST, values))
    asked = await box.shell("kill $(cat /tmp/btmon); btmon -r /tmp/second | grep -c 'ATT: Read By Group Type Req' || :")
    expect("repeated requests to discover services", asked.strip(), "0")

    server.say(f"add {other_guest}")
    await server.heard("service_added", uuid=OTHER_GUEST.uuid.upper())
    async with central.connected():
        await central.bluez.until("BlueZ has found the new service", lambda: central.has(OTHER_GUEST))
        expect_tree("services that BlueZ discovers", await central.tree(), offer.tree((*AT_FIRST, OTHER_GUEST), values))
        await central.subscribed_to(OTHER_GUEST.characteristics[0].uuid, [b"one", b"two"], server)
