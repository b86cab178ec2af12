"""The asyncio client in a world: scanning, values, errors, cancellation, several sessions, and flow control."""

import asyncio
import os
import pathlib
import sys

import checks
from checks import check, failing
from corebluetooth_linux import Daemon, Session
from corebluetooth_linux.lines import CHUNK, Lines

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from programs import air  # noqa: E402


async def values(host):
    async with Session(host) as session, await session.connect("Lamp", timeout=30) as lamp:
        services = await lamp.services()
        check("the services", [service.uuid for service in services] == ["FFE0", "180F"])
        switch = services[0].characteristics[0]
        check("the properties", switch.properties == {"read", "write", "notify"})
        check("the value", (await lamp.read(switch)).octets in (b"\x01", b"\x02", b"\x03"))
        battery = await lamp.read("Battery Level")
        check("a decoded value", (battery.number, battery.unit, battery.reading) == (81, "%", "81 %"))
        await lamp.write(switch, b"\x2a")
        check("the written value", (await lamp.read(switch.handle)).octets == b"\x2a")
        check("the configuration", (await lamp.read(switch.descriptors[0])).octets == b"\x00\x00")
        received = []
        async with lamp.values("FFE1") as stream:
            async for value in stream:
                received.append(value.octets)
                if len(received) == 100:
                    break
        check("100 values in order", received == [b"\x02", b"\x03"] * 50 or received == [b"\x03", b"\x02"] * 50)
        check("the MTU", await lamp.mtu() > 23)
        check("the signal strength", -127 < await lamp.rssi() < 20)
        async with failing("refused"):
            await lamp.write("FFE2", b"\x00")
        async with failing("no_attribute"):
            await lamp.read("FFE9")
        await lamp.pair()
        check("a value for bonded devices", (await lamp.read("FFE2")).octets == b"\x64")

        ended = asyncio.Event()
        lamp.on_disconnect(lambda reason: ended.set())
        async with failing("disconnected"):
            async with lamp.values("FFE1") as stream:
                await lamp.disconnect()
                async for _ in stream:
                    pass
        check("the program is told about the end of the connection", ended.is_set() and not lamp.is_connected)
        async with failing("not_connected"):
            await lamp.read("FFE1")
        await lamp.disconnect()


async def scanning(host):
    async with Session(host) as session:
        found = await session.find(services=["FFE0"], timeout=60)
        check("the name", found.name == "Lamp" and found.connectable)
        check("the address", found.address is not None and len(found.address) == 17)
        check("the packet", found.advertisement.startswith(b"\x02\x01\x06"))
        names = set()
        async with session.scan() as scan:
            async with failing("busy"):
                async with session.scan():
                    pass
            async for one in scan:
                names.add(one.name)
                if one.name == "Ruuvi 1":
                    check("the address of the world",
                          (one.address, one.address_type) == ("CB:B8:33:4C:88:4F", "static"))
                if len(names) == 4:
                    break
        check("all devices", names == {"Lamp", "Ruuvi 1", "Ruuvi 2", "Ruuvi 3"})
        async with failing("not_found"):
            await session.find(name="Nothing", timeout=0.2)
        async with failing("not_found"):
            await session.connect("Nothing", timeout=0.2)
        async with failing("invalid"):
            await session.connect(None)
        async with failing("invalid"):
            await session.request("read", device="Lamp", characteristic="2A19", colour="red")


async def cancelling(host):
    async with Session(host) as session:
        attempt = asyncio.create_task(session.connect("Nothing", timeout=3600))
        async with session.scan() as scan:
            async for _ in scan:
                break
        attempt.cancel()
        check("the task is cancelled", isinstance((await asyncio.gather(attempt, return_exceptions=True))[0],
                                                  asyncio.CancelledError))
        async with await session.connect("Lamp", timeout=60) as lamp:
            check("the session goes on", (await lamp.read("2A19")).octets == b"\x51")


async def serving(ble):
    """One session is a device; another one uses it, on the other of two controllers."""
    lamp = {"name": "Own lamp", "services": [{"uuid": "FFE0", "characteristics": [
        {"uuid": "FFE1", "properties": ["read", "write", "notify"], "value": "01"},
        {"uuid": "FFE2", "properties": ["read", "write"]}]}]}
    with air(ble) as (one, other):
        async with Session(f"tcp:127.0.0.1:{one}") as device, Session(f"tcp:127.0.0.1:{other}") as user:
            async with device.serve(lamp, ask=["FFE2"]) as served:
                async with failing("busy"):
                    async with device.serve(lamp):
                        pass
                async with await user.connect("Own lamp", timeout=60) as found:
                    check("the central", (await anext(served)).kind == "connected")
                    check("the served value", (await found.read("FFE1")).octets == b"\x01")
                    read = await anext(served)
                    check("the read value", (read.kind, read.characteristic) == ("read", "FFE1"))
                    async with failing("invalid"):
                        await read.respond()
                    async with found.values("FFE1") as values:
                        check("the subscription", (await anext(served)).kind == "subscribed")
                        for octet in range(100):
                            await served.update("FFE1", bytes([octet]))
                        check("the updates", [(await anext(values)).octets[0] for _ in range(100)] == list(range(100)))
                    check("the end of the subscription", (await anext(served)).kind == "unsubscribed")
                    asking = asyncio.create_task(found.read("FFE2"))
                    request = await anext(served)
                    await request.respond(b"\x2a")
                    check("the answered value", request.kind == "read_requested" and (await asking).octets == b"\x2a")
                    check("what was read", (await anext(served)).kind == "read")
                    asking = asyncio.create_task(found.write("FFE2", b"\x07"))
                    request = await anext(served)
                    check(f"what is written: {request}", [one.octets for one in request.writes] == [b"\x07"])
                    await request.refuse(0x80)
                    async with failing("refused"):
                        await asking
                    async with failing("no_request"):
                        await request.respond()
                check("the end of the connection", (await anext(served)).kind == "disconnected")
            async with failing("not_found"):
                await user.connect("Own lamp", timeout=0.5)


async def flow(host):
    """A program that takes its values late gets all of them."""
    async with Session(host) as session, await session.connect("Lamp", timeout=60) as lamp:
        async with lamp.values("FFE1") as stream:
            while not any(queue.is_full for queue in session._queues):
                await asyncio.sleep(0.05)
            taken = [(await anext(stream)).octets for _ in range(600)]
        check("values neither missing nor twice", all(one != next for one, next in zip(taken, taken[1:])))


async def lines():
    """Lines of any length are read whole."""
    stream = asyncio.StreamReader(limit=CHUNK)
    lines = Lines(stream)
    stream.feed_data(b"a\n\n" + b"x" * (3 * CHUNK) + b"\nb")
    check("lines of any length", [await lines.next() for _ in range(3)] == [b"a", b"", b"x" * (3 * CHUNK)])
    waiting = asyncio.create_task(lines.next())
    stream.feed_data(b"c\nd")
    check("a line in two parts", await waiting == b"bc")
    stream.feed_eof()
    check("the end", await lines.next() == b"")


async def main(world):
    await lines()
    async with failing("not_found"):
        async with Session(program="/nonexistent/ble"):
            pass
    async with failing("radio_off"):
        async with Session("tcp:127.0.0.1:1"):
            pass
    await serving(os.environ["BLE"])
    async with Daemon(f"world:{world}") as host:
        await scanning(host)
        await values(host)
        await cancelling(host)
        await flow(host)
        async with Session(host) as one, Session(host) as other:
            both = await asyncio.gather(*[session.find(name="Ruuvi 1", timeout=60) for session in (one, other)])
            check("two sessions at once", both[0].identifier == both[1].identifier)
        process = Session(host)
        await process.__aenter__()
        lamp = await process.connect("Lamp", timeout=60)
        reading = asyncio.create_task(anext(aiter(await lamp.values("FFE1").__aenter__())))
        await reading
        process._process.kill()
        async with failing("cancelled"):
            while True:
                await lamp.read("FFE1")
        await process.__aexit__()
    print(f"asyncio client: {checks.passed} checks passed")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
