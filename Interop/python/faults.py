"""The Python package in programs with errors: faults.py WORLD

Callbacks raise exceptions. The variables BLED and BLE name the programs.
"""

import asyncio
import contextlib
import os
import sys

import checks
from bleak import BleakScanner
from checks import check
from corebluetooth_linux import Daemon, Session
from corebluetooth_linux.bleak import Scanner


@contextlib.contextmanager
def reported():
    """Yields the exceptions that the handler of the event loop receives."""
    exceptions = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: exceptions.append(context.get("exception")))
    try:
        yield exceptions
    finally:
        loop.set_exception_handler(None)


def raising(*_):
    raise LookupError("an error of the program")


async def callbacks(host):
    """A callback that raises an exception does not disturb the others."""
    with reported() as exceptions:
        async with Session(host) as session:
            lamp = await session.connect("Lamp", timeout=30)
            await lamp.subscribe("FFE1", raising)
            async with lamp.values("FFE1") as values:
                check("values after exceptions", [len((await anext(values)).octets) for _ in range(3)] == [1, 1, 1])
            reasons = []
            lamp.on_disconnect(raising)
            lamp.on_disconnect(reasons.append)
            before = len(exceptions)
        check("the other function receives the disconnection", len(reasons) == 1)
        check("the process ends", session._process.returncode == 0)
        check("the exceptions are reported", len(exceptions) == before + 1 > 3
              and all(isinstance(one, LookupError) for one in exceptions))


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


async def main(world):
    async with Daemon(f"world:{world}") as host:
        os.environ["BLUETOOTH_HOST"] = host
        await callbacks(host)
        await scanners()
    print(f"programs with errors: {checks.passed} checks passed")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
