"""Measures the processor time of BlueZ and of bled-bluez for each new device and each notification, in one box.

`Interop/bluez/run load BLED BLED-BLUEZ [VERSION]` boots a box with one adapter. A client outside of it counts the
signals of bluetoothd, and then those of bled-bluez, while new devices advertise and while `ble serve` notifies. The
time of a process is that of its threads, as the kernel counts it in nanoseconds. The time of the whole computer
includes the bus and the kernel, which has BlueZ's L2CAP and its own part of HCI; it is counted in hundredths of a
second.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import pathlib
import sys
from collections.abc import AsyncIterator, Callable

from bumble.core import AdvertisingData
from bumble.device import Device
from bumble.hci import Address
from bumble.transport import open_transport
from dbus_fast import Variant

from interop.controllers import ours
from interop.processes import LOGS, who
from programs import BRIDGE_READY

from . import tool
from .__main__ import _switch_on
from .box import Box, box
from .bus import ADAPTER, CHARACTERISTIC, DEVICE, BlueZ, bluez
from .central import Central
from .inside import ENVIRONMENT

HCI = "/org/bluez/hci0"
NAME = "load"
SECONDS = 20
"""The time that each load is measured."""
UUID = "2A37"
LOAD = {"name": NAME, "services": [{"uuid": "180D", "characteristics": [
    {"uuid": UUID, "properties": ["notify"], "notify": {"every": 5, "values": ["0648", "0649"]}}]}]}
END = "kill $(pidof bluetoothd); while pidof bluetoothd > /dev/null; do usleep 100000; done\n"
OWNER = "dbus-send --system --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner"
QUIET = f"""{END}
(bluetoothd -n > /run/log/bluetoothd 2>&1 < /dev/null &)
until {OWNER} string:org.bluez > /dev/null 2>&1; do usleep 100000; done
"""
"""A box starts bluetoothd with its log of everything, which takes time."""
BRIDGE = f"""{END}
{ENVIRONMENT} BLUETOOTH_LOG=error
(bled --socket /run/bled hci:0 > /run/log/bled 2>&1 < /dev/null &)
until [ -S /run/bled ]; do usleep 100000; done
(bled-bluez --socket /run/bled > /run/log/bled-bluez 2>&1 < /dev/null &)
until grep -q "{BRIDGE_READY}" /run/log/bled-bluez; do usleep 100000; done
"""


async def spent(machine: Box, programs: tuple[str, ...]) -> list[float]:
    """Returns the processor time until now, in seconds, of each program's threads, and of the whole computer."""
    each = "; ".join(f"cat /proc/$(pidof {name})/task/*/schedstat; echo" for name in programs)
    total, *threads = (await machine.shell(f"head -n 1 /proc/stat; {each}")).splitlines()
    user, nice, system, _, _, interrupts, soft, *_ = (int(word) for word in total.split()[1:])
    times = [0.0]
    for line in threads:
        if line:
            times[-1] += int(line.split()[0]) / 1e9
        else:
            times.append(0.0)
    return [*times[: len(programs)], (user + nice + system + interrupts + soft) / 100]


async def cost(machine: Box, programs: tuple[str, ...], count: Callable[[], int]) -> str:
    """Returns the number of events during the time of measurement, and the microseconds for each."""
    first, begun = count(), await spent(machine, programs)
    await asyncio.sleep(SECONDS)
    used, events = await spent(machine, programs), max(count() - first, 1)
    *own, whole = (f"{(end - start) * 1e6 / events:,.0f} µs" for start, end in zip(begun, used, strict=True))
    return f"{events:,} | {' + '.join(own)} | {whole}"


@contextlib.asynccontextmanager
async def strangers(port: int) -> AsyncIterator[None]:
    """Advertises on the controller at a port until the context ends, as a new device ten times a second."""
    data = AdvertisingData([(AdvertisingData.MANUFACTURER_SPECIFIC_DATA, b"\xff\xff\1\2")])
    async with await open_transport(f"tcp-client:127.0.0.1:{port}") as hci:
        device = Device.with_hci(NAME, Address("F0:00:00:00:00:00"), hci.source, hci.sink)
        await device.power_on()

        async def change() -> None:
            for number in itertools.count(1):
                device.random_address = Address(f"F0:00:00:00:{number >> 8:02X}:{number & 0xFF:02X}")
                await device.start_advertising(
                    advertising_data=bytes(data), advertising_interval_min=20, advertising_interval_max=20)
                await asyncio.sleep(0.1)
                await device.stop_advertising()

        changing = asyncio.create_task(change())
        try:
            yield
        finally:
            changing.cancel()


async def measure(machine: Box, bus: BlueZ, programs: tuple[str, ...], port: int, log: pathlib.Path) -> str:
    """Returns the row of the table for these programs."""
    await _switch_on(bus, HCI)
    async with strangers(port):
        await bus.call(HCI, ADAPTER, "SetDiscoveryFilter", "a{sv}", {"Transport": Variant("s", "le")})
        await bus.call(HCI, ADAPTER, "StartDiscovery")
        await bus.until("a device", lambda: bus.under(HCI, DEVICE))
        found = await cost(machine, programs, lambda: len(bus.under(HCI, DEVICE)))
        await bus.call(HCI, ADAPTER, "StopDiscovery")
    with tool.description(LOAD) as file:
        async with tool.ble(port, log, "serve", file) as server:
            await server.heard("advertising")
            central = Central(machine, bus, HCI, NAME)
            device = await central.find()
            await central.connect()
            path = central.path(f"0000{UUID.lower()}-0000-1000-8000-00805f9b34fb")
            await bus.call(path, CHARACTERISTIC, "StartNotify")
            notified = await cost(machine, programs, lambda: len(bus.changes(path, CHARACTERISTIC, "Value")))
            await bus.call(device, DEVICE, "Disconnect")
    return f"| {' + '.join(programs)} | {found} | {notified} |"


async def main() -> int:
    bled, bridge, *rest = sys.argv[1:]
    version = rest[0] if rest else "5.82"
    who.set("load")
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / "load.log"
    carried = {"bled": pathlib.Path(bled), "bled-bluez": pathlib.Path(bridge)}
    print("| programs | new devices | each | whole computer | notifications | each | whole computer |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    async with ours(log) as radio, box(version, [radio.first], log, carried) as machine:
        await machine.shell(QUIET)
        async with bluez(machine.bus_address) as bus:
            print(await measure(machine, bus, ("bluetoothd",), radio.second, log), flush=True)
        await machine.shell(BRIDGE, 120)
        async with bluez(machine.bus_address) as bus:
            print(await measure(machine, bus, ("bled", "bled-bluez"), radio.second, log))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
