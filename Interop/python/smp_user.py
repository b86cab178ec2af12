"""Updates the firmware of a device with smpclient, as its documentation shows."""

import asyncio
import hashlib
import random

from smpclient import SMPClient
from smpclient.generics import success
from smpclient.requests.image_management import ImageStatesRead
from smpclient.requests.os_management import EchoWrite
from smpclient.transport.ble import SMPBLETransport

IMAGE = random.Random(1).randbytes(100_000)


async def main():
    found = await SMPBLETransport.scan(timeout=2)
    assert [device.name for device in found] == ["Updatable"], f"a scan found {found}"
    async with SMPClient(SMPBLETransport(), found[0].address, timeout_s=60) as client:
        for text in ("Hello", "x" * 1000):
            response = await client.request(EchoWrite(d=text))
            assert success(response) and response.r == text, f"an echo of {len(text)} characters: {response}"
        offsets = [offset async for offset in client.upload(IMAGE)]
        assert offsets[-1] == len(IMAGE) and offsets == sorted(set(offsets)), f"an upload ended at {offsets[-1]}"
        response = await client.request(ImageStatesRead())
        assert success(response), f"the list of images: {response}"
        assert response.images[1].hash == hashlib.sha256(IMAGE).digest(), "the device received another image"
    print(f"smpclient: two echoes, and an image of {len(IMAGE)} octets in {len(offsets)} parts")


asyncio.run(main())
