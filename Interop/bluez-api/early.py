"""A device that sends a value before it answers the subscription: early.py PORT

Bumble is the device, on the virtual controller at PORT, and bleak the program, on the bus that the environment names.
The value comes before the result of StartNotify, as with BlueZ.
"""

import asyncio
import sys

from bleak import BleakClient, BleakScanner
from bumble.core import UUID, AdvertisingData
from bumble.device import Device
from bumble.gatt import (
    GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR,
    Attribute,
    AttributeValue,
    Characteristic,
    Descriptor,
    Service,
)
from bumble.hci import Address
from bumble.transport import open_transport

SERVICE, VALUE = (f"0000ff0{n}-0000-1000-8000-00805f9b34fb" for n in (0, 1))


async def main():
    async with await open_transport(f"tcp-client:127.0.0.1:{sys.argv[1]}") as hci:
        device = Device.with_hci("Early", Address("F0:F1:F2:F3:F4:F6"), hci.source, hci.sink)

        async def configure(connection, bits):
            if bits == b"\x01\x00":
                await device.gatt_server.notify_subscriber(connection, value, b"early", force=True)

        configuration = Descriptor(
            GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR,
            Attribute.Permissions.WRITEABLE | Attribute.Permissions.READABLE,
            AttributeValue(lambda connection: b"\0\0", configure))
        value = Characteristic(
            UUID(VALUE), Characteristic.Properties.NOTIFY, Attribute.Permissions(0), descriptors=[configuration])
        device.add_service(Service(UUID(SERVICE), [value]))
        await device.power_on()
        data = AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, b"Early")])
        await device.start_advertising(advertising_data=bytes(data), advertising_interval_min=20,
                                       advertising_interval_max=20)
        found = await BleakScanner.find_device_by_name("Early", timeout=30)
        async with BleakClient(found) as client:
            received = []
            await client.start_notify(
                VALUE, lambda _, octets: received.append(bytes(octets)), bluez={"use_start_notify": True})
            assert received == [b"early"], f"received before the result of StartNotify: {received}"
    print("bleak: a value before the answer to its subscription")


asyncio.run(main())
