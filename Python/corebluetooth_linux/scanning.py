"""Advertisements, and scans for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import BluetoothError
from .queue import EventQueue

if TYPE_CHECKING:
    from .session import Session


@dataclass(frozen=True)
class Advertisement:
    """An advertisement of a device, with its scan response if there was one.

    Attributes:
        identifier: The device's identifier, which Session.connect takes.
        rssi: The signal strength in dBm, or None if it is not known.
        address: The address of the sender, or None if the daemon's policy hides addresses.
        address_type: "public", "static", "resolvable", "nonResolvable" or "reserved".
        services: The advertised services as UUIDs of 4, 8 or 36 characters.
        manufacturer_data: The manufacturer data, beginning with the company in two octets (little endian).
        service_data: The service data by UUID.
        tx_power: The transmit power in dBm.
        advertisement: The octets of the advertisement.
        scan_response: The octets of the scan response, or None.
    """

    identifier: str
    rssi: int | None
    name: str | None
    address: str | None
    address_type: str | None
    connectable: bool
    services: tuple[str, ...]
    manufacturer_data: bytes | None
    service_data: dict[str, bytes]
    tx_power: int | None
    advertisement: bytes
    scan_response: bytes | None

    @classmethod
    def from_line(cls, line: dict[str, Any]) -> Advertisement:
        """Returns the advertisement that a line with the event "discovered" describes."""

        def octets(key: str) -> bytes | None:
            return bytes.fromhex(line[key]) if key in line else None

        return cls(
            identifier=line["identifier"], rssi=line.get("rssi"), name=line.get("name"), address=line.get("address"),
            address_type=line.get("address_type"), connectable=bool(line.get("connectable", True)),
            services=tuple(line.get("services", ())), manufacturer_data=octets("manufacturer_data"),
            service_data={uuid: bytes.fromhex(data) for uuid, data in line.get("service_data", {}).items()},
            tx_power=line.get("tx_power"), advertisement=octets("advertisement") or b"",
            scan_response=octets("scan_response"))


class Scan:
    """A scan: an asynchronous context manager and iterator of Advertisement.

    A session has one scan at a time.
    """

    def __init__(self, session: Session, options: dict[str, Any]) -> None:
        self._session = session
        self._options = options
        self._queue: EventQueue[Advertisement] | None = None

    async def __aenter__(self) -> Scan:
        if self._session._scan is not None:
            raise BluetoothError("busy", "This session scans already; end that scan first, or start another session.")
        self._queue = self._session._queue()
        self._session._scan = self._queue
        try:
            await self._session.request("scan", **self._options)
        except BaseException:
            self._leave()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._leave():
            await self._session.request("stop")

    def _leave(self) -> bool:
        """Detaches the scan from its session; returns whether the session must still stop it."""
        if self._queue is None:
            return False
        self._session._forget(self._queue)
        is_running = self._session._scan is self._queue and self._session.is_running
        self._session._scan = None
        self._queue.end()
        self._queue = None
        return is_running

    def __aiter__(self) -> Scan:
        return self

    async def __anext__(self) -> Advertisement:
        if self._queue is None:
            raise RuntimeError("A scan is iterated inside “async with”.")
        return await self._queue.get()
