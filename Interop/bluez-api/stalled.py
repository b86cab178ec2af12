"""A program that does not read its signals: stalled.py LIMIT

The program is this one, with the argument "discover": it discovers devices, and is then stopped. The bus stores LIMIT
octets for it and drops the signals beyond. bled-bluez must store nothing, another program must get all signals, and the
discovery must end when the bus has lost the program.
"""

import asyncio
import signal
import sys

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

ADAPTER = "/org/bluez/hci0"
BUS = "org.freedesktop.DBus"
# The number of signals to receive while the program is stopped; together they are longer than the limit of the queue.
ENOUGH = 1_500


async def call(bus, destination, path, interface, member, signature="", *body):
    reply = await bus.call(Message(destination=destination, path=path, interface=interface, member=member,
                                   signature=signature, body=list(body)))
    assert reply.message_type == MessageType.METHOD_RETURN, f"{member}: {reply.error_name} {reply.body}"
    return reply.body


async def connect():
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    await call(bus, BUS, "/org/freedesktop/DBus", BUS, "AddMatch", "s", "type='signal',sender='org.bluez'")
    return bus


async def discover():
    """Discovers devices with all data of all advertisements, until the program is ended."""
    bus = await connect()
    options = {"DuplicateData": Variant("b", True)}
    await call(bus, "org.bluez", ADAPTER, "org.bluez.Adapter1", "SetDiscoveryFilter", "a{sv}", options)
    await call(bus, "org.bluez", ADAPTER, "org.bluez.Adapter1", "StartDiscovery")
    print(bus.unique_name, flush=True)
    await asyncio.Event().wait()


class Receiver:
    """A program that receives the signals of devices."""

    def __init__(self, bus):
        self.bus, self.count, self.changed = bus, 0, asyncio.Event()
        bus.add_message_handler(self.received)

    def received(self, message):
        if message.message_type == MessageType.SIGNAL and message.path.startswith(ADAPTER + "/dev_"):
            self.count += 1
            self.changed.set()

    async def receive(self, count):
        """Waits for this many more signals."""
        end = self.count + count
        async with asyncio.timeout(60):
            while self.count < end:
                self.changed.clear()
                await self.changed.wait()

    async def is_discovering(self):
        body = await call(self.bus, "org.bluez", ADAPTER, BUS + ".Properties", "Get", "ss", "org.bluez.Adapter1",
                          "Discovering")
        return body[0].value


def memory(process):
    """The resident memory of a process, in octets."""
    with open(f"/proc/{process}/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


async def main(limit):
    receiver = Receiver(await connect())
    bus = receiver.bus
    bridge = (await call(bus, BUS, "/org/freedesktop/DBus", BUS, "GetConnectionUnixProcessID", "s", "org.bluez"))[0]
    stalled = await asyncio.create_subprocess_exec(sys.executable, __file__, "discover", stdout=asyncio.subprocess.PIPE)
    try:
        name = (await stalled.stdout.readline()).decode().strip()
        stalled.send_signal(signal.SIGSTOP)

        async def queued():
            body = await call(bus, BUS, "/org/freedesktop/DBus", BUS + ".Debug.Stats", "GetConnectionStats", "s", name)
            return body[0]["OutgoingBytes"].value

        async with asyncio.timeout(60):
            while await queued() <= limit:
                await receiver.receive(100)
        before = memory(bridge)
        await receiver.receive(ENOUGH)
        growth = memory(bridge) - before
        assert growth < ENOUGH * 200, f"bled-bluez grew by {growth} octets while a program did not read"
        assert await queued() < 2 * limit, "the bus stores more for the program than it should"
        assert await receiver.is_discovering(), "discovery has ended although the program is still there"
    finally:
        stalled.kill()
        await stalled.wait()
    async with asyncio.timeout(30):
        while await receiver.is_discovering():
            await asyncio.sleep(0.05)
    print(f"a program that does not read: {ENOUGH} signals for another one, and {growth // 1024} KiB more memory")


asyncio.run(discover() if sys.argv[1:] == ["discover"] else main(int(sys.argv[1])))
