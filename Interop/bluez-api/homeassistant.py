"""Home Assistant's Bluetooth library in a world: adapters, both scanning modes, a kept connection and history.

Uses habluetooth, bluetooth-adapters and bleak-retry-connector as the integration does.
"""

import asyncio
import sys

import habluetooth
from bleak.backends.device import BLEDevice
from bleak_retry_connector import BleakClientWithServiceCache, BleakSlotManager, establish_connection
from bluetooth_adapters import get_adapters
from habluetooth import BluetoothManager, BluetoothScanningMode, HaBleakClientWrapper, HaScanner, set_manager

VALUE = "0000ffe1-0000-1000-8000-00805f9b34fb"
BEACONS = {"Beacon", "Data"}
NAMES = {"Lamp", "Thermo"} | BEACONS | {f"Node {number}" for number in range(10)}
checked = 0


def check(what, condition):
    global checked
    if not condition:
        sys.exit(f"homeassistant.py: {what}")
    checked += 1


class Manager(BluetoothManager):
    """Collects what Home Assistant passes to its integrations."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.found = {}

    def _discover_service_info(self, information):
        self.found[information.name] = information


async def until_scanned(scanner, names):
    """Waits until a scanner has received all these devices."""
    end = asyncio.get_running_loop().time() + 60
    while not names <= {device.name for device in scanner.discovered_devices}:
        if asyncio.get_running_loop().time() > end:
            sys.exit(f"homeassistant.py: the {scanner.current_mode} scan does not find {names}")
        await asyncio.sleep(0.1)


async def scan(manager, mode, address):
    scanner = HaScanner(mode, "hci0", address)
    scanner.async_setup()
    unregister = manager.async_register_scanner(scanner, connection_slots=5)
    await scanner.async_start()
    check("the scanner runs", scanner.scanning)
    return scanner, unregister


async def main():
    adapters = get_adapters()
    manager = Manager(adapters, BleakSlotManager())
    set_manager(manager)
    await manager.async_setup()
    details = (await manager.async_get_bluetooth_adapters())["hci0"]
    check("the adapter has an address", len(details["address"]) == 17)
    check("the adapter is powered", adapters.adapters["hci0"]["powered"])
    check("the adapter scans passively", details["passive_scan"])

    for mode in (BluetoothScanningMode.PASSIVE, BluetoothScanningMode.ACTIVE):
        scanner, unregister = await scan(manager, mode, details["address"])
        # A passive scan is for advertisements with Flags, which those of a beacon may lack.
        await until_scanned(scanner, NAMES if mode is BluetoothScanningMode.ACTIVE else NAMES - BEACONS)
        found = manager.found
        check("services", "0000181a-0000-1000-8000-00805f9b34fb" in found["Thermo"].service_uuids)
        check("signal strength", all(-127 < information.rssi < 20 for information in found.values()))
        check("connectable devices", found["Lamp"].connectable)
        if mode is BluetoothScanningMode.PASSIVE:
            await scanner.async_stop()
            unregister()
    check("manufacturer data", found["Beacon"].manufacturer_data == {0x4C: b"\x02\x15"})
    check("service data", b"\x40\x00\xa1" in found["Data"].service_data.values())

    lamp = manager.async_ble_device_from_address(found["Lamp"].address, True)
    check("a device that can be connected", isinstance(lamp, BLEDevice))
    for _ in range(3):  # As an integration does that polls; services are cached after the first time.
        client = await establish_connection(BleakClientWithServiceCache, lamp, "Lamp", max_attempts=2)
        await client.write_gatt_char(VALUE, b"\x2a", response=True)
        check("the written value", bytes(await client.read_gatt_char(VALUE)) == b"\x2a")
        values = asyncio.Queue()
        await client.start_notify(VALUE, lambda _, value: values.put_nowait(bytes(value)))
        received = [await asyncio.wait_for(values.get(), 60) for _ in range(3)]
        check("the notified values", set(received) == {b"\x02", b"\x03"})
        await client.disconnect()
    gone = asyncio.Event()
    client = HaBleakClientWrapper(lamp, disconnected_callback=lambda _: gone.set())
    await client.connect()
    check("the wrapped client has services", client.services.get_characteristic(VALUE) is not None)
    await client.disconnect()
    await asyncio.wait_for(gone.wait(), 60)
    check("scanning goes on beside connections", scanner.scanning)

    await adapters.refresh()
    history = {entry.device.name for entry in adapters.history.values()}
    check("the history", "Lamp" in history)
    await scanner.async_stop()
    unregister()
    manager.async_stop()
    print(f"habluetooth {habluetooth.__version__}: {checked} checks passed")


asyncio.run(main())
