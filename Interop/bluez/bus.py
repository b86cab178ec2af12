"""A client of BlueZ's D-Bus interface."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.auth import AuthExternal

from interop.profile import Mismatch

BLUEZ = "org.bluez"
ADAPTER = "org.bluez.Adapter1"
DEVICE = "org.bluez.Device1"
SERVICE = "org.bluez.GattService1"
CHARACTERISTIC = "org.bluez.GattCharacteristic1"
DESCRIPTOR = "org.bluez.GattDescriptor1"
OBJECTS = "org.freedesktop.DBus.ObjectManager"
PROPERTIES = "org.freedesktop.DBus.Properties"

Interfaces = dict[str, dict[str, Any]]
"""The interfaces of an object, and their properties."""


class BlueZ:
    """A mirror of all of BlueZ's objects, with calls of their methods."""

    def __init__(self, bus: MessageBus) -> None:
        self.bus = bus
        self.objects: dict[str, Interfaces] = {}
        self._heard: list[tuple[str, str, str, Any]] = []
        self._change = asyncio.Event()

    async def start(self) -> None:
        """Reads all objects, and follows their changes."""
        self.bus.add_message_handler(self._signal)
        rule = f"type='signal',sender='{BLUEZ}'"
        await self._call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", "s", rule)
        (objects,) = await self.call("/", OBJECTS, "GetManagedObjects")
        for path, interfaces in objects.items():
            self._add(path, interfaces)

    async def call(
        self, path: str, interface: str, member: str, signature: str = "", *body: Any, seconds: float = 30
    ) -> list[Any]:
        """Calls a method; raises `Mismatch` if that fails."""
        return await self._call(BLUEZ, path, interface, member, signature, *body, seconds=seconds)

    async def _call(
        self, to: str, path: str, interface: str, member: str, signature: str, *body: Any, seconds: float = 30
    ) -> list[Any]:
        message = Message(to, path, interface, member, signature=signature, body=list(body))
        try:
            reply = await asyncio.wait_for(self.bus.call(message), seconds)
        except TimeoutError:
            raise Mismatch(f"BlueZ does not answer {member} of {path}") from None
        if reply is None or reply.message_type is MessageType.ERROR:
            raise Mismatch(f"BlueZ refuses {member} of {path}: {reply and (reply.error_name, *reply.body)}")
        return reply.body

    async def set(self, path: str, interface: str, name: str, value: Variant) -> None:
        await self.call(path, PROPERTIES, "Set", "ssv", interface, name, value)

    def under(self, path: str, interface: str) -> dict[str, dict[str, Any]]:
        """Returns the objects under `path` that have `interface`, in order, with the properties of that interface."""
        return {
            each: interfaces[interface]
            for each, interfaces in sorted(self.objects.items())
            if each.startswith(path + "/") and interface in interfaces
        }

    def property(self, path: str, interface: str, name: str) -> Any:
        """Returns the last known value of a property; `None` if there is none."""
        return self.objects.get(path, {}).get(interface, {}).get(name)

    def changes(self, path: str, interface: str, name: str) -> list[Any]:
        """Returns the values that BlueZ has reported for a property, in order."""
        return [value for *key, value in self._heard if key == [path, interface, name]]

    async def until(self, what: str, condition: Callable[[], Any], seconds: float = 20) -> Any:
        """Waits for a condition on the objects and returns its value; raises `Mismatch` after a timeout."""
        try:
            async with asyncio.timeout(seconds):
                while not (result := condition()):
                    self._change.clear()
                    await self._change.wait()
                return result
        except TimeoutError:
            raise Mismatch(f"timed out after {seconds} s waiting for: {what}") from None

    def _signal(self, message: Message) -> None:
        if message.message_type is not MessageType.SIGNAL:
            return
        match message.interface, message.member, message.body:
            case "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", (path, interfaces):
                self._add(path, interfaces)
            case "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", (path, interfaces):
                kept = self.objects.get(path, {})
                for interface in interfaces:
                    kept.pop(interface, None)
                if not kept:
                    self.objects.pop(path, None)
            case "org.freedesktop.DBus.Properties", "PropertiesChanged", (interface, changed, invalidated):
                known = self.objects.setdefault(message.path, {}).setdefault(interface, {})
                for name, value in changed.items():
                    known[name] = value.value
                    self._heard.append((message.path, interface, name, value.value))
                for name in invalidated:
                    known.pop(name, None)
        self._change.set()

    def _add(self, path: str, interfaces: dict[str, dict[str, Variant]]) -> None:
        known = self.objects.setdefault(path, {})
        for interface, properties in interfaces.items():
            known[interface] = {name: value.value for name, value in properties.items()}


@contextlib.asynccontextmanager
async def bluez(address: str) -> AsyncIterator[BlueZ]:
    """Connects to the BlueZ whose system bus is at `address`, and follows its objects until the context ends."""
    # The bus treats the connection as the box's superuser, whichever user runs this.
    bus = await MessageBus(bus_address=address, auth=AuthExternal(uid=0)).connect()
    try:
        found = BlueZ(bus)
        await found.start()
        yield found
    finally:
        bus.disconnect()
