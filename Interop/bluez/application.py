"""Services that BlueZ serves as a peripheral, as objects on the box's D-Bus."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from .bus import CHARACTERISTIC, DESCRIPTOR, OBJECTS, PROPERTIES, SERVICE
from .offer import FLAGS, Characteristic, Service

ADVERTISEMENT = "org.bluez.LEAdvertisement1"


class Application:
    """Services under one path, which answer BlueZ's reads, writes and subscriptions."""

    def __init__(self, bus: MessageBus, root: str, services: tuple[Service, ...]) -> None:
        self.root = root
        self.values: dict[str, bytes] = {}
        self.confirmations = 0
        self.listened_to: set[str] = set()
        self._asked: asyncio.Event | None = None
        self._held: list[Message] = []
        self._bus = bus
        self._objects: dict[str, dict[str, dict[str, Variant]]] = {}
        self._paths: dict[str, str] = {}
        for number, service in enumerate(services):
            self._add(f"{root}/service{number}", service)
        bus.add_message_handler(self._answer)

    def advertise(self, name: str, service: str) -> str:
        """Adds an advertisement and returns its path."""
        path = f"{self.root}/advertisement"
        self._objects[path] = {
            ADVERTISEMENT: {
                "Type": Variant("s", "peripheral"),
                "LocalName": Variant("s", name),
                "ServiceUUIDs": Variant("as", [service]),
                # BlueZ 5.82 does not list devices without it.
                "Discoverable": Variant("b", True),
            }
        }
        return path

    def tell(self, uuid: str, value: bytes) -> None:
        """Sets the value of a characteristic; BlueZ notifies the subscribers."""
        path = self._paths[uuid]
        self.values[path] = value
        changed = {"Value": Variant("ay", value)}
        self._bus.send(
            Message.new_signal(path, PROPERTIES, "PropertiesChanged", "sa{sv}as", [CHARACTERISTIC, changed, []])
        )

    @contextlib.contextmanager
    def silent(self) -> Iterator[asyncio.Event]:
        """Delays the answers to writes until the context ends; the event is set at the first write."""
        self._asked = asyncio.Event()
        try:
            yield self._asked
        finally:
            self._asked = None
            for message in self._held:
                self._bus.send(self._use(message))
            self._held = []

    def value(self, uuid: str) -> bytes:
        """Returns the current value of a characteristic."""
        return self.values[self._paths[uuid]]

    def is_listened_to(self, uuid: str) -> bool:
        """Returns whether a central has subscribed to a characteristic."""
        return self._paths[uuid] in self.listened_to

    def _add(self, path: str, service: Service) -> None:
        self._paths[service.uuid] = path
        included = [self._paths[each] for each in service.includes]
        self._objects[path] = {
            SERVICE: {
                "UUID": Variant("s", service.uuid),
                "Primary": Variant("b", service.primary),
                "Includes": Variant("ao", included),
            }
        }
        for number, characteristic in enumerate(service.characteristics):
            self._add_characteristic(path, f"{path}/char{number}", characteristic)

    def _add_characteristic(self, service: str, path: str, characteristic: Characteristic) -> None:
        self._paths[characteristic.uuid] = path
        self.values[path] = characteristic.value
        flags = [FLAGS[name] for name in characteristic.properties]
        if characteristic.locked:
            flags = ["encrypt-read"]
        if characteristic.strict:
            flags = ["encrypt-authenticated-read"]
        self._objects[path] = {
            CHARACTERISTIC: {
                "UUID": Variant("s", characteristic.uuid),
                "Service": Variant("o", service),
                "Flags": Variant("as", flags),
            }
        }
        for number, (uuid, value) in enumerate(characteristic.descriptors.items()):
            inner = f"{path}/desc{number}"
            self.values[inner] = value
            self._objects[inner] = {
                DESCRIPTOR: {
                    "UUID": Variant("s", uuid),
                    "Characteristic": Variant("o", path),
                    "Flags": Variant("as", ["read"]),
                }
            }

    def _answer(self, message: Message) -> Message | bool:
        if message.message_type is not MessageType.METHOD_CALL or not f"{message.path}/".startswith(self.root + "/"):
            return False
        match message.interface, message.member:
            case "org.freedesktop.DBus.ObjectManager", "GetManagedObjects":
                return Message.new_method_return(message, "a{oa{sa{sv}}}", [self._objects])
            case "org.freedesktop.DBus.Properties", "GetAll":
                (interface,) = message.body
                properties = self._objects.get(message.path, {}).get(interface, {})
                return Message.new_method_return(message, "a{sv}", [properties])
        if message.path in self._objects:
            return self._use(message)
        return False

    def _use(self, message: Message) -> Any:
        match message.member:
            case "ReadValue":
                (options,) = message.body
                return Message.new_method_return(message, "ay", [self.values[message.path][_offset(options) :]])
            case "WriteValue" if self._asked:
                self._asked.set()
                self._held.append(message)
                return True
            case "WriteValue":
                part, options = message.body
                # BlueZ asks whether a write may be prepared, and writes the value when all of it has arrived.
                if not options.get("prepare-authorize", Variant("b", False)).value:
                    self.values[message.path] = self.values[message.path][: _offset(options)] + bytes(part)
            case "StartNotify":
                self.listened_to.add(message.path)
            case "StopNotify":
                self.listened_to.discard(message.path)
            case "Confirm":
                self.confirmations += 1
            case "Release":
                pass
            case _:
                return False
        return Message.new_method_return(message)


def _offset(options: dict[str, Any]) -> int:
    return options["offset"].value if "offset" in options else 0
