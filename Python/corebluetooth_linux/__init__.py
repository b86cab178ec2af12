"""Bluetooth Low Energy for Python, on Core Bluetooth for Linux.

A Session runs `ble session` (docs/SESSION.md). It uses many devices at a time, and can be a device itself, with asyncio
and the standard library alone. Daemon runs `bled` for a test. The module `bleak` contains a backend for programs that
are written with bleak.
"""

from .daemon import Daemon
from .device import Attribute, Characteristic, Device, Service, Value, Values
from .errors import BluetoothError
from .peripheral import Peripheral, PeripheralEvent, Written
from .scanning import Advertisement, Scan
from .session import Session

__all__ = [
    "Advertisement", "Attribute", "BluetoothError", "Characteristic", "Daemon", "Device", "Peripheral",
    "PeripheralEvent", "Scan", "Service", "Session", "Value", "Values", "Written",
]
