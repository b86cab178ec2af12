"""A device whose firmware can be updated by the Simple Management Protocol (SMP): smp_server.py PORT

It is a Bumble peripheral called "Updatable" on the controller at a port. It echoes text, says how large its buffer is,
takes a firmware image in parts, and lists the images that it has, with the SHA-256 of what it has received.
"""

import asyncio
import hashlib
import struct
import sys

import cbor2
from bumble.core import UUID, AdvertisingData
from bumble.device import Device
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.hci import Address
from bumble.transport import open_transport

SERVICE = "8D53DC1D-1DB7-4CD3-868B-8A527460AA84"
CHARACTERISTIC = "DA2E7828-FBCE-4E01-AE9E-261174997C48"
BUFFER = 2048
# The codes of the operations, and of the error “not supported”.
READ, WRITE, NOT_SUPPORTED = 0, 2, 8


class Server:
    """Takes octets of requests, and returns responses."""

    def __init__(self):
        self.received = bytearray()
        self.image = bytearray()
        self.length, self.digest = 0, b""

    def take(self, octets):
        """Adds octets; yields the response of each complete request."""
        self.received += octets
        while len(self.received) >= 8:
            operation, _, length, group, sequence, command = struct.unpack(">BBHHBB", self.received[:8])
            if len(self.received) < 8 + length:
                return
            request = cbor2.loads(bytes(self.received[8:8 + length])) if length else {}
            del self.received[:8 + length]
            response = cbor2.dumps(self.answer(operation & 7, group, command, request))
            # The version in the first octet is that of the request.
            yield struct.pack(">BBHHBB", operation + 1, 0, len(response), group, sequence, command) + response

    def answer(self, operation, group, command, request):
        match operation, group, command:
            case (0 | 2), 0, 0:
                return {"r": request["d"]}
            case 0, 0, 6:
                return {"buf_size": BUFFER, "buf_count": 4}
            case 2, 1, 1:
                return self.upload(request)
            case 0, 1, 0:
                images = [{"slot": 0, "version": "1.0.0", "hash": bytes(32), "active": True, "confirmed": True}]
                if self.length and len(self.image) == self.length:
                    digest = hashlib.sha256(self.image).digest()
                    images.append({"slot": 1, "version": "2.0.0", "hash": digest})
                return {"images": images}
        return {"rc": NOT_SUPPORTED}

    def upload(self, request):
        if request["off"] == 0:
            self.image, self.length, self.digest = bytearray(), request["len"], request.get("sha", b"")
        # A part at another offset is not taken; the response says where the image continues.
        if request["off"] == len(self.image):
            self.image += request["data"]
        response = {"off": len(self.image)}
        if len(self.image) == self.length:
            response["match"] = hashlib.sha256(self.image).digest() == self.digest
        return response


async def main(port):
    async with await open_transport(f"tcp-client:127.0.0.1:{port}") as transport:
        device = Device.with_hci("Updatable", Address("C0:FF:EE:00:00:5A"), transport.source, transport.sink)
        server, responses = Server(), asyncio.Queue()

        def written(connection, value):
            for response in server.take(bytes(value)):
                responses.put_nowait((connection, response))

        properties = Characteristic.Properties.WRITE_WITHOUT_RESPONSE | Characteristic.Properties.NOTIFY
        characteristic = Characteristic(CHARACTERISTIC, properties, Characteristic.WRITEABLE,
                                        CharacteristicValue(write=written))
        device.add_service(Service(SERVICE, [characteristic]))
        device.advertising_data = bytes(AdvertisingData([
            (AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
                                               bytes(UUID(SERVICE)))]))
        device.scan_response_data = bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, b"Updatable")]))
        await device.power_on()
        await device.start_advertising(auto_restart=True, advertising_interval_min=100, advertising_interval_max=100)
        while True:
            connection, response = await responses.get()
            # No value is longer than 512 octets, also if the MTU has room for one.
            size = min(connection.att_mtu - 3, 512)
            for offset in range(0, len(response), size):
                await device.notify_subscriber(connection, characteristic, response[offset:offset + size])


asyncio.run(main(sys.argv[1]))
