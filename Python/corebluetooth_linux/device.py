"""Devices, their attributes and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .callbacks import run
from .errors import BluetoothError
from .queue import EventQueue

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
# A subscribed characteristic, by its service, its UUID and its number among several; unlike a handle, it stays the same
# over connections.
Subscription = tuple[str, str, int]


def _target(attribute: Target) -> dict[str, Any]:
    """Returns the keys of a command that name a characteristic or a descriptor."""
    match attribute:
        case int():
            return {"handle": attribute}
        case str():
            return {"characteristic": attribute}
        case _:
            return {"handle": attribute.handle}


def _subscription(line: dict[str, Any]) -> Subscription:
    """Returns the characteristic that a line is about."""
    return line.get("service", ""), line.get("characteristic", ""), int(line.get("instance", 1))


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
        self._is_connected = False
        self._connections = 0
        self._calls: dict[Subscription, list[Callable[[Value], None]]] = {}
        # The subscriptions by the handles that subscribe() returned, and their handles in this connection.
        self._subscriptions: dict[int, Subscription] = {}
        self._handles: dict[Subscription, int] = {}
        # The values that come while subscribe() waits for its answer.
        self._early: list[list[tuple[Subscription, Value]]] = []
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
        # Values may come before the answer, which names the characteristic.
        early: list[tuple[Subscription, Value]] = []
        self._early.append(early)
        try:
            line = await self._request("subscribe", **_target(attribute))
        finally:
            self._early = [one for one in self._early if one is not early]
        subscription, handle = _subscription(line), int(line["handle"])
        self._subscriptions[handle] = subscription
        self._handles[subscription] = handle
        self._calls.setdefault(subscription, []).append(call)
        for known, value in early:
            if known == subscription:
                run(call, value)
        return handle

    async def unsubscribe(self, handle: int, call: Callable[[Value], None] | None = None) -> None:
        """Ends a subscription of one function, or of all.

        Args:
            handle: The result of subscribe(). It is valid over reconnections.
        """
        subscription = self._subscriptions.get(handle)
        if subscription is None:
            return
        calls = self._calls.get(subscription, [])
        if call in calls:
            calls.remove(call)
        elif call is None:
            calls.clear()
        if not calls and self._calls.pop(subscription, None) is not None and self._is_connected:
            await self._request("unsubscribe", handle=self._handles[subscription])

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
        """Disconnects; succeeds also without a connection."""
        try:
            await self._request("disconnect")
        except BluetoothError as error:
            if error.code != "not_connected":
                raise

    async def __aenter__(self) -> Device:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._is_connected and self._session.is_running:
            await self.disconnect()

    async def _request(self, command: str, **keys: Any) -> dict[str, Any]:
        return await self._session.request(command, device=self.identifier, **keys)

    def _connected(self, line: dict[str, Any]) -> None:
        self.name = line.get("name", self.name)
        self.address = line.get("address", self.address)
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
                subscription, value = _subscription(line), Value.from_line(line, self._connections)
                for call in list(self._calls.get(subscription, ())):
                    run(call, value)
                for early in self._early:
                    early.append((subscription, value))
            case "resubscribed":
                subscription = _subscription(line)
                self._handles[subscription] = int(line["handle"])
                if subscription not in self._calls:
                    # The program ended the subscription while the device was gone.
                    self._session._send_and_forget("unsubscribe", device=self.identifier, handle=line["handle"])
            case "unsubscribed":
                subscription = _subscription(line)
                self._calls.pop(subscription, None)
                for stream in list(self._streams):
                    if self._subscriptions.get(stream._handle) == subscription:
                        stream._end(BluetoothError("no_attribute", line.get("reason") or "The subscription has ended."))

    def _ended(self, reason: str | None, will_return: bool = False) -> None:
        if not self._is_connected:
            return
        self._is_connected = False
        if not will_return:
            self._calls.clear()
            for stream in list(self._streams):
                stream._end(BluetoothError("disconnected", reason or "The device is disconnected."))
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
        self._handle = 0

    async def __aenter__(self) -> Values:
        queue = self._queue = self._device._session._queue()
        self._device._streams.add(self)
        try:
            self._handle = await self._device.subscribe(self._attribute, queue.put)
        except BaseException:
            self._forget(queue)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._queue is None:
            return
        queue, self._queue = self._queue, None
        self._forget(queue)
        if self._device._session.is_running:
            await self._device.unsubscribe(self._handle, queue.put)

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
