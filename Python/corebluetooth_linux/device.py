"""Devices, their attributes and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .callbacks import run
from .errors import BluetoothError, ending
from .queue import EventQueue
from .subscriptions import Receiver, Subscriptions, subscription_of

if TYPE_CHECKING:
    from .session import Session


@dataclass(frozen=True)
class Attribute:
    """A descriptor."""

    uuid: str
    handle: int


@dataclass(frozen=True)
class Characteristic:
    """A characteristic of a service.

    Attributes:
        properties: The names of its properties as in Core Bluetooth: "read", "write", "notify" and so on.
        handle: The handle of its value. It is valid until the device disconnects or changes its services.
    """

    service: str
    uuid: str
    handle: int
    properties: frozenset[str]
    descriptors: tuple[Attribute, ...]


@dataclass(frozen=True)
class Service:
    """A service of a device."""

    uuid: str
    handle: int
    primary: bool
    characteristics: tuple[Characteristic, ...]


@dataclass(frozen=True)
class Value:
    """A value, decoded if its format is known.

    Attributes:
        octets: The value.
        reading: The value as text with its unit, such as "21.60 °C".
        number: The number, such as 21.6.
        unit: Its unit.
        handle: The handle of the characteristic or descriptor.
        connection: The number of the device's connection in which the value came, from 1. No value of a connection is
            missing; between two connections, the device may have sent values that were not received.
    """

    octets: bytes
    reading: str | None
    number: float | None
    unit: str | None
    handle: int | None
    connection: int

    @classmethod
    def from_line(cls, line: dict[str, Any], connection: int) -> Value:
        """Returns the value in a line."""
        return cls(bytes.fromhex(line.get("value", "")), line.get("reading"), line.get("number"), line.get("unit"),
                   line.get("handle"), connection)


Target = str | int | Characteristic | Attribute


def _target(attribute: Target) -> dict[str, Any]:
    """Returns the keys of a command that name a characteristic or a descriptor."""
    match attribute:
        case int():
            return {"handle": attribute}
        case str():
            return {"characteristic": attribute}
        case _:
            return {"handle": attribute.handle}


class Device:
    """A device that a session has connected.

    Attributes are named as on the command line ("2A19", "180F/2A19", "Battery Level"), by handle, or by an element of
    services(). All methods raise BluetoothError. An exception in a callback goes to the exception handler of the event
    loop, and the session goes on.

    Attributes:
        identifier: The identifier of the device for this host.
        name: The name of the device; None if it has none.
        address: The address of the device; None if the policy of the daemon hides it.
    """

    def __init__(self, session: Session, identifier: str) -> None:
        self._session = session
        self.identifier = identifier
        self.name: str | None = None
        self.address: str | None = None
        # The strings with which the program has connected the device.
        self._called: set[str] = set()
        self._is_connected = False
        # True while the session connects again, after the connection was lost.
        self._returns = False
        self._connections = 0
        self._subscriptions = Subscriptions(self)
        self._streams: set[Values] = set()
        self._on_disconnect: list[Callable[[str | None], None]] = []

    @property
    def is_connected(self) -> bool:
        return self._is_connected

    def on_disconnect(self, call: Callable[[str | None], None]) -> Callable[[], None]:
        """Calls a function with the reason whenever the connection ends, or None if the program asked for it.

        Returns:
            A function that ends this.
        """
        self._on_disconnect.append(call)
        return lambda: self._on_disconnect.remove(call) if call in self._on_disconnect else None

    async def services(self) -> list[Service]:
        """Discovers all services with their characteristics and descriptors."""
        line = await self._request("discover")
        return [_service(service) for service in line.get("services", ())]

    async def read(self, attribute: Target) -> Value:
        """Reads a characteristic or descriptor, up to 512 octets."""
        return Value.from_line(await self._request("read", **_target(attribute)), self._connections)

    async def write(self, attribute: Target, value: bytes, *, response: bool = True) -> None:
        """Writes a characteristic or descriptor.

        Args:
            response: If false, writes without response, and waits only for space in the queue.
        """
        await self._request("write", **_target(attribute), value=bytes(value).hex(),
                            response=None if response else False)

    def values(self, attribute: Target) -> Values:
        """Returns the values that a characteristic notifies or indicates.

        They are subscribed while the result is entered with “async with”.
        """
        return Values(self, attribute)

    async def subscribe(self, attribute: Target, call: Callable[[Value], None]) -> int:
        """Calls a function with each value that a characteristic notifies or indicates.

        Returns:
            The handle of the characteristic, for unsubscribe().
        """
        return (await self._subscriptions.add(_target(attribute), call)).handle

    async def unsubscribe(self, handle: int, call: Callable[[Value], None] | None = None) -> None:
        """Ends a subscription of one function, or of all.

        Args:
            handle: The result of subscribe(). It is valid over reconnections.
        """
        await self._subscriptions.remove_all(handle, call)

    async def rssi(self) -> int:
        """Returns the signal strength of the connection in dBm."""
        return int((await self._request("rssi"))["rssi"])

    async def mtu(self) -> int:
        """Returns the MTU of the connection in octets."""
        return int((await self._request("mtu"))["mtu"])

    async def pair(self) -> None:
        """Pairs with the device; questions of the device are refused."""
        await self._request("pair")

    async def unpair(self) -> None:
        """Removes the bond with the device."""
        await self._request("unpair")

    async def disconnect(self) -> None:
        """Disconnects; succeeds also without a connection, and after the end of the session."""
        if not await ending(self._request("disconnect")) and not self._is_connected:
            self._ended(None)

    async def __aenter__(self) -> Device:
        return self

    async def __aexit__(self, *_: object) -> None:
        if (self._is_connected or self._returns) and self._session.is_running:
            await self.disconnect()

    def _is_called(self, text: str) -> bool:
        return text in self._called or text in (self.identifier, self.name, self.address)

    async def _request(self, command: str, **keys: Any) -> dict[str, Any]:
        return await self._session.request(command, device=self.identifier, **keys)

    def _connected(self, line: dict[str, Any]) -> None:
        self.name = line.get("name", self.name)
        self.address = line.get("address", self.address)
        self._returns = False
        self._session._connected.add(self)
        if not self._is_connected:
            self._is_connected = True
            self._connections += 1

    def _receive(self, line: dict[str, Any]) -> None:
        """Processes an event of this device."""
        match line["event"]:
            case "connected":
                self._connected(line)
            case "disconnected":
                self._ended(line.get("reason"), bool(line.get("reconnecting")))
            case "received":
                self._subscriptions.receive(subscription_of(line), Value.from_line(line, self._connections))
            case "resubscribed":
                self._subscriptions.resubscribed(line)
            case "unsubscribed":
                subscription = subscription_of(line)
                self._subscriptions.unsubscribed(subscription)
                for stream in list(self._streams):
                    if stream._receiver is not None and stream._receiver.subscription == subscription:
                        stream._end(BluetoothError("no_attribute", line.get("reason") or "The subscription has ended."))

    def _ended(self, reason: str | None, will_return: bool = False) -> None:
        was_connected, self._is_connected = self._is_connected, False
        if not was_connected and not self._returns:
            return
        self._returns = will_return
        if not will_return:
            self._session._connected.discard(self)
            self._subscriptions.clear()
            for stream in list(self._streams):
                stream._end(BluetoothError("disconnected", reason or "The device is disconnected."))
        if was_connected:
            for call in list(self._on_disconnect):
                run(call, reason)


class Values:
    """The values of a characteristic: an asynchronous context manager and iterator of Value.

    The iteration fails with BluetoothError when the connection ends, unless it is made again. Then it goes on, and the
    `connection` of the values is another one.
    """

    def __init__(self, device: Device, attribute: Target) -> None:
        self._device = device
        self._attribute = attribute
        self._queue: EventQueue[Value] | None = None
        self._receiver: Receiver | None = None

    async def __aenter__(self) -> Values:
        queue = self._queue = self._device._session._queue()
        self._device._streams.add(self)
        try:
            self._receiver = await self._device._subscriptions.add(_target(self._attribute), queue.put)
        except BaseException:
            self._forget(queue)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._queue is None:
            return
        queue, self._queue = self._queue, None
        self._forget(queue)
        receiver, self._receiver = self._receiver, None
        if receiver is not None and self._device._session.is_running:
            await self._device._subscriptions.remove(receiver)

    def _end(self, error: BluetoothError) -> None:
        if self._queue is not None:
            self._queue.end(error)

    def _forget(self, queue: EventQueue[Value]) -> None:
        self._device._streams.discard(self)
        self._device._session._forget(queue)

    def __aiter__(self) -> Values:
        return self

    async def __anext__(self) -> Value:
        if self._queue is None:
            raise RuntimeError("Iterate over values inside “async with”.")
        return await self._queue.get()


def _service(line: dict[str, Any]) -> Service:
    return Service(
        uuid=line["uuid"], handle=int(line["handle"]), primary=bool(line.get("primary", True)),
        characteristics=tuple(_characteristic(line["uuid"], one) for one in line.get("characteristics", ())))


def _characteristic(service: str, line: dict[str, Any]) -> Characteristic:
    return Characteristic(
        service=service, uuid=line["uuid"], handle=int(line["handle"]),
        properties=frozenset(line.get("properties", ())),
        descriptors=tuple(Attribute(one["uuid"], int(one["handle"])) for one in line.get("descriptors", ())))
