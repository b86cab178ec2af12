"""The backend for bleak in programs with errors: bleak_faults.py WORLD

Callbacks raise exceptions, tasks are cancelled, clients share a device, and the session's process ends. The variables
BLED and BLE name the programs.
"""

import asyncio
import os
import sys

import checks
from bleak import BleakClient, BleakScanner
from checks import check, raising, reported
from corebluetooth_linux import Daemon
from corebluetooth_linux.bleak import Client, Scanner, SharedSession


async def scanners():
    """A scanner whose callback raises an exception does not disturb the other scanners."""
    with reported() as exceptions:
        found = asyncio.Queue()
        async with BleakScanner(raising_for_bleak, backend=Scanner), \
                BleakScanner(lambda device, data: found.put_nowait(device), backend=Scanner):
            for _ in range(20):
                await asyncio.wait_for(found.get(), 30)
        check("the exceptions of a scanner are reported", len(exceptions) >= 19)


def raising_for_bleak(device, data):
    raising()


async def cancelled_scanners():
    """A scanner whose stop() is cancelled does not keep the session running."""
    shared = SharedSession.current()
    scanner = BleakScanner(backend=Scanner)
    for turns in range(4):
        await scanner.start()
        stopping = asyncio.create_task(scanner.stop())
        for _ in range(turns):
            await asyncio.sleep(0)
        stopping.cancel()
        await asyncio.wait([stopping])
        if turns:  # Without a turn, stop() has not begun.
            check("a cancelled stop() ends the session", not shared._users and shared._session is None)
        else:
            await scanner.stop()


async def ended_scan():
    """The end of the process is reported while scanners run, and the next scanner starts a scan for all."""
    with reported() as exceptions:
        found = asyncio.Queue()
        async with BleakScanner(lambda device, _: found.put_nowait(device), backend=Scanner):
            await asyncio.wait_for(found.get(), 30)
            SharedSession.current()._session._process.kill()
            while not exceptions:
                await asyncio.sleep(0.01)
            while not found.empty():
                found.get_nowait()
            async with BleakScanner(backend=Scanner):
                await asyncio.wait_for(found.get(), 30)
    check(f"the reason: {exceptions}", [getattr(one, "code", None) for one in exceptions] == ["cancelled"])


async def clients():
    """A bleak client that has lost its connection stays disconnected, whatever other clients do."""
    shared = SharedSession.current()
    device = await BleakScanner.find_device_by_name("Lamp", backend=Scanner, timeout=30)
    lost = asyncio.Event()
    first = BleakClient(device, backend=Client, disconnected_callback=lambda _: lost.set())
    await first.connect()
    async with BleakClient(device, backend=Client):
        pass
    await asyncio.wait_for(lost.wait(), 30)
    async with BleakClient(device, backend=Client) as second:
        check("a client without its connection", second.is_connected and not first.is_connected)
        check("the session forgets a client without a connection", shared._users == {second._backend})
        await first.disconnect()
        check("a client disconnects only its own connection", second.is_connected)
    check("the session ends after the last client", shared._session is None)
    async with BleakClient(device, backend=Client) as client:
        earlier, later = [], asyncio.Queue()
        await client.start_notify("FFE1", lambda *_: earlier.append(None))
        await client.start_notify("FFE1", lambda *_: later.put_nowait(None))
        earlier.clear()
        for _ in range(3):
            await asyncio.wait_for(later.get(), 30)
        check("the second callback takes the place of the first", not earlier)


async def main(world):
    async with Daemon(f"world:{world}") as host:
        os.environ["BLUETOOTH_HOST"] = host
        await scanners()
        await cancelled_scanners()
        await ended_scan()
        await clients()
    print(f"bleak programs with errors: {checks.passed} checks passed")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
