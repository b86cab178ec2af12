"""A device that sends numbered values as fast as they are taken: counter.py PORT NAME INDEX GENERATION

It is a Bumble peripheral on the controller at a port. A value is the index of the device (one octet), its generation
(one octet) and the number of the value (four octets). Numbers go on over connections; none is sent twice.
"""

import asyncio
import sys

from bumble.core import UUID, AdvertisingData
from bumble.device import Device
from bumble.gatt import Characteristic, Service
from bumble.hci import Address
from bumble.transport import open_transport

# The time in seconds between two groups of values, and the number of values in a group.
PAUSE, GROUP = 0.02, 8


async def main(port, name, index, generation):
    async with await open_transport(f"tcp-client:127.0.0.1:{port}") as transport:
        device = Device.with_hci(name, Address(f"C0:FF:EE:00:00:{index:02X}"), transport.source, transport.sink)
        values = Characteristic("FFE1", Characteristic.Properties.READ | Characteristic.Properties.NOTIFY,
                                Characteristic.READABLE, bytes([index, generation, 0, 0, 0, 0]))
        if generation % 2 == 0:
            # Another version of the device, in which the handles are others.
            device.add_service(Service("FFD0", [Characteristic("FFD1", Characteristic.Properties.READ,
                                                               Characteristic.READABLE, b"2")]))
        device.add_service(Service("FFE0", [values]))
        device.advertising_data = bytes(AdvertisingData([
            (AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LOCAL_NAME, name.encode()),
            (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes(UUID("FFE0")))]))
        subscribed = asyncio.Event()
        values.on("subscription", lambda _, notifies, __: subscribed.set() if notifies else subscribed.clear())
        device.on("connection", lambda connection: connection.on("disconnection", lambda _: subscribed.clear()))
        await device.power_on()
        await device.start_advertising(auto_restart=True)
        number = 0
        while True:
            await subscribed.wait()
            for connection in list(device.connections.values()):
                for _ in range(GROUP):
                    number += 1
                    octets = bytes([index, generation]) + number.to_bytes(4, "big")
                    await device.notify_subscriber(connection, values, octets)
                # Without waiting here, values of a slow central would pile up in Bumble.
                while (queue := device.host.get_data_packet_queue(connection.handle)) and queue.pending:
                    await asyncio.sleep(PAUSE / 4)
            await asyncio.sleep(PAUSE)


asyncio.run(main(*[sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])]))
