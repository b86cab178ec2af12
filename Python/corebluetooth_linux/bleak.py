"""A backend for programs written with bleak, without D-Bus.

    from bleak import BleakClient, BleakScanner
    from corebluetooth_linux.bleak import Client, Scanner

    async with BleakScanner(backend=Scanner) as scanner, BleakClient(address, backend=Client) as client: …

Programs that do not name a backend use it with `python -m corebluetooth_linux PROGRAM ARGUMENT…`, or after install().
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import re
import weakref
from typing import Any

try:
    VERSION = importlib.metadata.version("bleak")
except importlib.metadata.PackageNotFoundError:
    raise ImportError("corebluetooth_linux.bleak needs bleak 3.1 or later: pip install bleak") from None
if [int(number) for number in re.findall(r"\d+", VERSION)[:2]] < [3, 1]:
    raise ImportError(f"corebluetooth_linux.bleak needs bleak 3.1 or later, not {VERSION}: pip install --upgrade bleak")

import bleak
import bleak.backends.client
import bleak.backends.scanner
from bleak.backends.characteristic import BleakGATTCharacteristic
from bleak.backends.client import BaseBleakClient
from bleak.backends.descriptor import BleakGATTDescriptor
from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementData, BaseBleakScanner
from bleak.backends.service import BleakGATTService, BleakGATTServiceCollection
from bleak.exc import BleakDeviceNotFoundError, BleakError, BleakGATTProtocolError
from bleak.uuids import normalize_uuid_str

from .callbacks import run
from .device import Device, Value
from .errors import BluetoothError
from .scanning import Advertisement, Scan
from .session import Session

# Core Bluetooth's names of properties, with those of bleak.
PROPERTIES = {
    "broadcast": "broadcast", "read": "read", "writeWithoutResponse": "write-without-response", "write": "write",
    "notify": "notify", "indicate": "indicate", "authenticatedSignedWrites": "authenticated-signed-writes",
    "extendedProperties": "extended-properties",
}


class SharedSession:
    """The session of all scanners and clients of one event loop, while there are any."""

    _all: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, SharedSession] = weakref.WeakKeyDictionary()

    def __init__(self) -> None:
        self._users: set[object] = set()
        self._lock = asyncio.Lock()
        self._session: Session | None = None
        self._scanners: set[Scanner] = set()
        self._scan: asyncio.Task[None] | None = None
        self._scan_lock = asyncio.Lock()

    @classmethod
    def current(cls) -> SharedSession:
        return cls._all.setdefault(asyncio.get_running_loop(), cls())

    async def join(self, user: object) -> Session:
        """Returns the session, and starts it if this is the first user."""
        async with self._lock:
            if self._session is None or not self._session.is_running:
                if self._session is not None:
                    # The radio may be in use until the process has ended.
                    await self._session.__aexit__()
                session = Session()
                await session.__aenter__()
                self._session = session
            self._users.add(user)
            return self._session

    def forget(self, user: object) -> None:
        """Removes a user that may never leave; does not end the session, because a program often connects again."""
        self._users.discard(user)

    async def leave(self, user: object) -> None:
        """Ends the session if this was the last user."""
        self._users.discard(user)
        async with self._lock:
            if self._users or self._session is None:
                return
            session, self._session = self._session, None
            await session.__aexit__()

    async def add(self, scanner: Scanner) -> None:
        """Starts to report advertisements to a scanner; all scanners share one scan."""
        session = await self.join(scanner)
        try:
            async with self._scan_lock:
                self._scanners.add(scanner)
                if self._scan is None or self._scan.done():
                    scan = session.scan(duplicates=True)
                    await scan.__aenter__()
                    self._scan = asyncio.create_task(self._report(scan))
        except BaseException:
            self._scanners.discard(scanner)
            await self.leave(scanner)
            raise

    async def remove(self, scanner: Scanner) -> None:
        self._scanners.discard(scanner)
        try:
            async with self._scan_lock:
                if not self._scanners and self._scan is not None:
                    task, self._scan = self._scan, None
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
        finally:
            await self.leave(scanner)

    async def _report(self, scan: Scan) -> None:
        try:
            async for advertisement in scan:
                for scanner in list(self._scanners):
                    run(scanner.found, advertisement)
        except BluetoothError as error:
            # bleak has no means to report this to a scanner.
            asyncio.get_running_loop().call_exception_handler(
                {"message": "The scan of all scanners has ended; start one again to continue", "exception": error})
        finally:
            await scan.__aexit__()


class Scanner(BaseBleakScanner):
    """The scanner of the backend."""

    def __init__(self, detection_callback: Any = None, service_uuids: Any = None, scanning_mode: str = "active",
                 **_: Any) -> None:
        super().__init__(detection_callback, service_uuids)

    async def start(self) -> None:
        self.seen_devices = {}
        try:
            await SharedSession.current().add(self)
        except BluetoothError as error:
            raise BleakError(str(error)) from error

    async def stop(self) -> None:
        try:
            await SharedSession.current().remove(self)
        except BluetoothError as error:
            raise BleakError(str(error)) from error

    def found(self, advertisement: Advertisement) -> None:
        """Reports an advertisement to the program, if it passes the scanner's filter."""
        manufacturer = advertisement.manufacturer_data or b""
        data = AdvertisementData(
            local_name=advertisement.name,
            manufacturer_data={int.from_bytes(manufacturer[:2], "little"): manufacturer[2:]} if manufacturer else {},
            service_data={normalize_uuid_str(uuid): octets for uuid, octets in advertisement.service_data.items()},
            service_uuids=[normalize_uuid_str(uuid) for uuid in advertisement.services],
            tx_power=advertisement.tx_power,
            rssi=advertisement.rssi if advertisement.rssi is not None else -127,
            platform_data=(advertisement,))
        if not self.is_allowed_uuid(data.service_uuids):
            return
        device = self.create_or_update_device(
            advertisement.identifier, advertisement.address or advertisement.identifier, advertisement.name,
            advertisement, data)
        self.call_detection_callbacks(device, data)


class Client(BaseBleakClient):
    """The client of the backend."""

    def __init__(self, address_or_ble_device: BLEDevice | str, services: Any = None, **options: Any) -> None:
        super().__init__(address_or_ble_device, disconnected_callback=options.get("disconnected_callback"),
                         timeout=float(options.get("timeout", 10)))
        found = address_or_ble_device
        is_ours = isinstance(found, BLEDevice) and isinstance(found.details, Advertisement)
        self._wanted = found.details.identifier if is_ours else self.address  # type: ignore[union-attr]
        self._device: Device | None = None
        # Whether the client uses the session, from connect() to disconnect().
        self._has_joined = False
        # True after the connection has ended; another client may connect the same device then.
        self._has_ended = False
        self._mtu = 23
        self._wanted_services = {normalize_uuid_str(uuid) for uuid in services} if services else None
        self._subscriptions: dict[int, Any] = {}
        self._read_values: dict[int, bytes] = {}
        self._is_asked = False

    @property
    def name(self) -> str:
        return (self._device.name if self._device else None) or self.address

    @property
    def mtu_size(self) -> int:
        return self._mtu

    @property
    def is_connected(self) -> bool:
        return self._device is not None and self._device.is_connected and not self._has_ended

    async def connect(self, pair: bool, **options: Any) -> None:
        session = await self._session()
        try:
            self._is_asked = False
            self._has_ended = False
            self._read_values.clear()
            self._device = None
            self._device = await session.connect(self._wanted, timeout=float(options.get("timeout", self._timeout)))
            self._ignore = self._device.on_disconnect(self._disconnected)
            if pair:
                await self._device.pair()
            self.services = await self._discover()
            # Programs write without response as many octets as the MTU minus 3 says, and no value is longer than 512.
            self._mtu = min(await self._device.mtu(), 515)
        except BluetoothError as error:
            await self._give_up(session)
            if error.code == "not_found":
                raise BleakDeviceNotFoundError(self.address, str(error)) from error
            if error.code == "timed_out":
                raise TimeoutError(str(error)) from error
            raise BleakError(str(error)) from error
        except BaseException:
            await self._give_up(session)
            raise

    async def disconnect(self) -> None:
        if self._device is None or not self._has_joined:
            return
        was_connected = self.is_connected
        try:
            if was_connected:
                await self._asking(self._device.disconnect())
            if was_connected and self._disconnected_callback and not self._is_asked:
                self._is_asked = True
                run(self._disconnected_callback)
        finally:
            await self._end()

    async def pair(self, *_: Any, **__: Any) -> None:
        await self._asking(self._connected().pair())

    async def unpair(self) -> None:
        await self._asking(self._connected().unpair())

    async def read_gatt_char(self, characteristic: BleakGATTCharacteristic, *, use_cached: bool = False,
                             **_: Any) -> bytearray:
        return await self._read(characteristic.handle, use_cached)

    async def read_gatt_descriptor(self, descriptor: BleakGATTDescriptor, *, use_cached: bool = False,
                                   **_: Any) -> bytearray:
        return await self._read(descriptor.handle, use_cached)

    async def _read(self, handle: int, use_cached: bool) -> bytearray:
        if not use_cached or handle not in self._read_values:
            self._read_values[handle] = (await self._asking(self._connected().read(handle))).octets
        return bytearray(self._read_values[handle])

    async def write_gatt_char(self, characteristic: BleakGATTCharacteristic, data: Any, response: bool) -> None:
        await self._asking(self._connected().write(characteristic.handle, bytes(data), response=response))

    async def write_gatt_descriptor(self, descriptor: BleakGATTDescriptor, data: Any) -> None:
        await self._asking(self._connected().write(descriptor.handle, bytes(data)))

    async def start_notify(self, characteristic: BleakGATTCharacteristic, callback: Any, **_: Any) -> None:
        def received(value: Value) -> None:
            callback(bytearray(value.octets))

        device = self._connected()
        handle = await self._asking(device.subscribe(characteristic.handle, received))
        earlier = self._subscriptions.pop(handle, None)
        self._subscriptions[handle] = received
        if earlier is not None:
            # As with bleak's own backend for Linux, the new callback takes the place of the earlier one.
            await self._asking(device.unsubscribe(handle, earlier))

    async def stop_notify(self, characteristic: BleakGATTCharacteristic) -> None:
        received = self._subscriptions.pop(characteristic.handle, None)
        if received is not None and self.is_connected:
            await self._asking(self._connected().unsubscribe(characteristic.handle, received))

    async def _session(self) -> Session:
        try:
            session = await SharedSession.current().join(self)
        except BluetoothError as error:
            raise BleakError(str(error)) from error
        self._has_joined = True
        return session

    def _connected(self) -> Device:
        if self._device is None or not self.is_connected:
            raise BleakError("Not connected")
        return self._device

    async def _asking(self, request: Any) -> Any:
        """Waits for a request; translates its error into one of bleak."""
        try:
            return await request
        except BluetoothError as error:
            if error.domain == "CBATTErrorDomain" and error.number is not None:
                raise BleakGATTProtocolError(error.number) from error
            raise BleakError(str(error)) from error

    async def _discover(self) -> BleakGATTServiceCollection:
        assert self._device is not None
        everything = BleakGATTServiceCollection()
        for service in await self._device.services():
            uuid = normalize_uuid_str(service.uuid)
            if self._wanted_services is not None and uuid not in self._wanted_services:
                continue
            parent = BleakGATTService(service, service.handle, uuid)
            everything.add_service(parent)
            for one in service.characteristics:
                characteristic = BleakGATTCharacteristic(
                    one, one.handle, normalize_uuid_str(one.uuid),
                    [PROPERTIES[name] for name in sorted(one.properties) if name in PROPERTIES],  # type: ignore[misc]
                    lambda: max(self._mtu - 3, 20), parent)
                everything.add_characteristic(characteristic)
                for descriptor in one.descriptors:
                    everything.add_descriptor(BleakGATTDescriptor(
                        descriptor, descriptor.handle, normalize_uuid_str(descriptor.uuid), characteristic))
        return everything

    def _disconnected(self, _: str | None) -> None:
        self._subscriptions.clear()
        self._has_ended = True
        self._ignore()
        SharedSession.current().forget(self)
        if self._disconnected_callback and not self._is_asked:
            self._is_asked = True
            self._disconnected_callback()

    async def _give_up(self, session: Session) -> None:
        """Ends a connection whose services, pairing or MTU are not known, because connect() fails."""
        if self._device is not None and self.is_connected:
            session._send_and_forget("disconnect", device=self._device.identifier)
        await self._end()

    async def _end(self) -> None:
        if self._device is not None:
            self._ignore()
        self._has_joined = False
        await SharedSession.current().leave(self)


def install() -> None:
    """Makes this backend the one that bleak uses when a program does not name any."""
    scanner = lambda: (Scanner, "corebluetooth_linux")  # noqa: E731
    client = lambda: (Client, "corebluetooth_linux")  # noqa: E731
    bleak.get_platform_scanner_backend_type = scanner  # type: ignore[attr-defined,assignment]
    bleak.get_platform_client_backend_type = client  # type: ignore[attr-defined,assignment]
    bleak.backends.scanner.get_platform_scanner_backend_type = scanner  # type: ignore[assignment]
    bleak.backends.client.get_platform_client_backend_type = client  # type: ignore[assignment]


__all__ = ["Client", "Scanner", "install"]
