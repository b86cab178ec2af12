"""Properties and methods that bleak does not use, with dbus-fast, on the device of device.json."""

import asyncio

from dbus_fast import BusType, Message, Variant
from dbus_fast.aio import MessageBus

ADAPTER = "/org/bluez/hci0"
VALVE = ADAPTER + "/dev_C0_FF_EE_00_00_01"


async def call(bus, path, interface, member, signature="", *body):
    """Returns the results of a call, or the name of its error."""
    reply = await bus.call(Message(
        destination="org.bluez", path=path, interface=interface, member=member, signature=signature, body=list(body)))
    return reply.error_name or reply.body


async def connect_device(bus, address, kind):
    argument = {"Address": Variant("s", address), "AddressType": Variant("s", kind)}
    return await call(bus, ADAPTER, "org.bluez.Adapter1", "ConnectDevice", "a{sv}", argument)


async def value(bus, name):
    """Returns a property of the device; None if the device does not have it."""
    result = await call(bus, VALVE, "org.freedesktop.DBus.Properties", "Get", "ss", "org.bluez.Device1", name)
    return None if isinstance(result, str) else result[0].value


async def main():
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    objects = (await call(bus, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))[0]
    assert VALVE not in objects, "the device has an object before it was received"
    for _ in range(2):  # The second time, the device is connected.
        result = await connect_device(bus, "C0:FF:EE:00:00:01", "random")
        assert result == [VALVE], f"ConnectDevice: {result}"
        assert await value(bus, "Connected")
    async with asyncio.timeout(30):
        while (modalias := await value(bus, "Modalias")) is None:
            await asyncio.sleep(0.05)
    assert modalias == "usb:v1D6Bp0246d0542", f"Modalias: {modalias}"
    print("dbus-fast: ConnectDevice of a device that was not discovered, and its Modalias")


asyncio.run(main())
