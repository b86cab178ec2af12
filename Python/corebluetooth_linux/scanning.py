"""Advertisements, and scans for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .errors import BluetoothError
from .queue import EventStream


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


class Scan(EventStream[Advertisement]):
    """A scan: an asynchronous context manager and iterator of Advertisement.

    A session has one scan at a time.
    """

    BEGIN = "scan"
    END = "stop"

    def _attach(self) -> None:
        if self._session._scan is not None:
            raise BluetoothError("busy", "This session is already scanning; end that scan first, or start another "
                                 "session.")
        self._session._scan = self

    def _detach(self) -> None:
        self._session._scan = None

    def _receive(self, line: dict[str, Any]) -> None:
        """Takes an advertisement of the session."""
        if self._queue is not None:
            self._queue.put(Advertisement.from_line(line))
