"""A program with bleak in a world: scanning, connecting, values, notifications, pairing and several devices at once."""

import asyncio
import sys

from bleak import BleakClient, BleakScanner
from bleak.exc import BleakError

VALUE, PROTECTED = (f"0000ffe{n}-0000-1000-8000-00805f9b34fb" for n in (1, 2))
TEMPERATURE = "00002a6e-0000-1000-8000-00805f9b34fb"
checked = 0


def check(what, condition):
    global checked
    if not condition:
        sys.exit(f"central.py: {what}")
    checked += 1


async def lamp(device):
    async with BleakClient(device) as client:
        check("the services have BlueZ's handles", all(s.handle > 0 for s in client.services))
        characteristic = client.services.get_characteristic(VALUE)
        check("the properties", set(characteristic.properties) == {"read", "write", "notify"})
        await client.write_gatt_char(VALUE, b"\x2a", response=True)
        check("the written value", await client.read_gatt_char(VALUE) == b"\x2a")
        for acquires in (False, True):
            values = asyncio.Queue()
            options = {"use_start_notify": not acquires}
            await client.start_notify(VALUE, lambda _, value: values.put_nowait(bytes(value)), bluez=options)
            received = [await asyncio.wait_for(values.get(), 30) for _ in range(3)]
            check("the notified values", set(received) == {b"\x02", b"\x03"})
            if not acquires:
                descriptor = characteristic.descriptors[0]
                check("the descriptor", await client.read_gatt_descriptor(descriptor.handle) == b"\x01\x00")
            await client.stop_notify(VALUE)
        if hasattr(client._backend, "_acquire_mtu"):
            await client._backend._acquire_mtu()
        check("the MTU", client.mtu_size > 23)
        try:
            await client.write_gatt_char(PROTECTED, b"\x00", response=True)
            check("a value that cannot be written is refused", False)
        except BleakError as error:
            # BlueZ looks at the properties of the characteristic; without D-Bus, the device refuses.
            expected = "not supported" if hasattr(client._backend, "_acquire_mtu") else "not permitted"
            check(f"{error!r} says {expected}", expected in str(error).lower())


async def found(names, **options):
    """The devices with these names, with their advertisements, and the names of all others that were found."""
    devices, others, complete = {}, set(), asyncio.Event()

    def detected(device, data):
        if device.name not in names:
            return others.add(device.name)
        devices[device.name] = (device, data)
        if len(devices) == len(names):
            complete.set()

    async with BleakScanner(detected, **options):
        await asyncio.wait_for(complete.wait(), 30)
    return devices, others


async def pairing(device):
    async with BleakClient(device) as client:
        await client.pair()
        check("the protected value of a paired device", bytes(await client.read_gatt_char(PROTECTED)) == b"\x64")
        await client.unpair()


async def node(device):
    async with BleakClient(device) as client:
        return bytes(await client.read_gatt_char(TEMPERATURE))


async def failed_connection(client):
    """A connection whose services cannot be discovered ends, although a scanner keeps the session."""
    async def fail():
        raise BleakError("no services")

    async with BleakScanner():
        client._backend._discover, discover = fail, client._backend._discover
        try:
            await client.connect()
            check("a connection without services fails", False)
        except BleakError as error:
            check(f"{error} is the reason", "no services" in str(error))
        client._backend._discover = discover
        await client.connect()
        check("the next connection has services", bytes(await client.read_gatt_char(TEMPERATURE)) == b"\xd2\x04")
        await client.disconnect()


async def main():
    nodes = [f"Node {number}" for number in range(10)]
    by_name, _ = await found(["Lamp", "Thermo", "Beacon", "Data", *nodes])
    check("manufacturer data", by_name["Beacon"][1].manufacturer_data == {0x4C: b"\x02\x15"})
    check("service data", b"\x40\x00\xa1" in by_name["Data"][1].service_data.values())
    only, others = await found(["Thermo"], service_uuids=["0000181a-0000-1000-8000-00805f9b34fb"])
    check("a scan for a service finds only its devices", others == set())

    for _ in range(2):  # The second time, the device is connected again.
        await lamp(by_name["Lamp"][0])
    async with BleakClient(by_name["Lamp"][0]) as one, BleakClient(by_name["Thermo"][0]) as other:
        values = await asyncio.gather(one.read_gatt_char(VALUE), other.read_gatt_char(TEMPERATURE))
        check("two devices at once", bytes(values[1]) == b"\xd2\x04")
    values = await asyncio.gather(*[node(by_name[name][0]) for name in nodes])
    check("ten devices at once", values == [bytes([number]) for number in range(10)])
    await pairing(by_name["Lamp"][0])
    gone = asyncio.Event()
    client = BleakClient(by_name["Thermo"][0], disconnected_callback=lambda _: gone.set())
    await client.connect()
    await client.disconnect()
    await asyncio.wait_for(gone.wait(), 30)
    check("the client knows that it is disconnected", not client.is_connected)
    await client.disconnect()
    if not hasattr(client._backend, "_acquire_mtu"):  # BlueZ has one discovery for each program.
        names = ["Lamp", "Thermo"]
        devices = await asyncio.gather(*[BleakScanner.find_device_by_name(name, timeout=30) for name in names])
        check("two scanners at once", [device.name for device in devices] == names)
        await failed_connection(client)
    print(f"bleak: {checked} checks passed")


asyncio.run(main())
