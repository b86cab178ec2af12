"""Measures reads and notifications through `ble session` and Python: sessions.py BLE BLED BLED-BLUEZ [ROUNDS]

Run it with a Python that has bleak and this project's package (`Interop/python/setup` makes one). A device of
`ble serve` on a controller of `ble radio --unpaced` is used through one daemon, in each round in all ways in turn:

    read      `ble read`, a process for each read
    session   the lines of `ble session`, written and read by a loop
    client    the Python client
    bleak     bleak with the backend of the package
    d-bus     bleak with its own backend for BlueZ, on `bled-bluez`, if there is a dbus-daemon

It prints the medians over the rounds: the time of a read, and the processor time of a notification in each process.
`Interop/bluez/run sessions` measures the same ways, and bleak on BlueZ, with all but Python in a virtual machine.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

NAME = "Measured"
# The port of a shell in the virtual machine in which the other processes are; empty if they are here.
BOX = os.environ.get("BOX", "")
READS, PROCESSES, WINDOW = (100, 3, 10.0) if BOX else (300, 10, 4.0)
# The time limit of a step, in seconds.
STEP = 60
DEVICE = {"name": NAME, "services": [{"uuid": "FFE0", "characteristics": [
    {"uuid": "FFE1", "properties": ["read"], "value": "00" * 20},
    {"uuid": "FFE2", "properties": ["notify"], "notify": {"every": 1, "values": ["01" * 20, "02" * 20]}}]}]}
WAYS = ["read", "session", "client", "bleak", "d-bus"]


def processor_time(pid):
    """The processor time of a process in µs; that of all processes with a name, in the virtual machine."""
    if isinstance(pid, str):
        with socket.create_connection(("127.0.0.1", int(BOX)), timeout=30) as shell:
            shell.sendall(f"for id in $(pidof {pid}); do cat /proc/$id/task/*/schedstat; done; exit\n".encode())
            lines = b"".join(iter(lambda: shell.recv(4096), b"")).splitlines()
        return sum(int(line.split()[0]) for line in lines) / 1e3
    ticks = sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK") * 1e6


def children():
    """The processes that this one has started."""
    return list(map(int, pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))


class Meter:
    """Counts notifications and the processor time of processes, named by NAME=PID."""

    def __init__(self, names):
        self.pids = dict(names)
        self.on_bus = "dbus-daemon" in self.pids
        self.count = 0

    async def measure(self):
        await asyncio.sleep(1)
        begun = {name: processor_time(pid) for name, pid in self.pids.items()}
        first = self.count
        await asyncio.sleep(WINDOW)
        count = self.count - first
        assert count > WINDOW * 20, f"only {count} notifications"
        costs = {name: (processor_time(pid) - begun[name]) / count for name, pid in self.pids.items()}
        return {"rate": count / WINDOW, "notification": costs}


async def timed(read):
    """The median time of a read in µs."""
    times = []
    for number in range(READS + 20):
        begun = time.perf_counter()
        await asyncio.wait_for(read(), STEP)
        if number >= 20:
            times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1e6


async def way_read(meter, ble):
    times = []
    for _ in range(PROCESSES):
        begun = time.perf_counter()
        subprocess.run([ble, "read", NAME, "FFE1"], check=True, capture_output=True)
        times.append(time.perf_counter() - begun)
    process = await asyncio.create_subprocess_exec(ble, "notify", NAME, "FFE2", "--json", stdout=subprocess.PIPE,
                                                   stderr=subprocess.DEVNULL)
    meter.pids["ble notify"] = "ble" if BOX else process.pid

    async def count():
        while await process.stdout.readline():
            meter.count += 1

    counting = asyncio.create_task(count())
    while meter.count < 10:
        await asyncio.sleep(0.1)
    result = await meter.measure()
    process.terminate()
    await counting
    return {"read": statistics.median(times) * 1e6} | result


async def way_session(meter, ble):
    process = await asyncio.create_subprocess_exec(ble, "session", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    meter.pids["ble session"] = "ble" if BOX else process.pid

    async def request(**keys):
        process.stdin.write(json.dumps(keys | {"device": NAME}).encode() + b"\n")
        while b'"event":"done"' not in await process.stdout.readline():
            pass

    await request(command="connect")
    read = await timed(lambda: request(command="read", characteristic="FFE1"))
    await request(command="subscribe", characteristic="FFE2")

    async def count():
        while await process.stdout.readline():
            meter.count += 1

    counting = asyncio.create_task(count())
    result = await meter.measure()
    process.stdin.close()
    await counting
    return {"read": read} | result


async def way_client(meter, ble):
    from corebluetooth_linux import Session

    async with Session(program=ble) as session, await session.connect(NAME) as device:
        meter.pids |= {"Python": os.getpid(), "ble session": "ble" if BOX else children()[0]}
        read = await timed(lambda: device.read("FFE1"))

        def received(_):
            meter.count += 1

        handle = await device.subscribe("FFE2", received)
        result = await meter.measure()
        await device.unsubscribe(handle)
        return {"read": read} | result


async def use_one_connection():
    """Has bleak use one connection to the bus for all that it does.

    In a virtual machine, each connection comes from a process of its own, and values go to the one that subscribes.
    """
    from bleak.backends.bluezdbus import client, manager

    bus = (await manager.get_global_bluez_manager())._bus

    class Connection:
        def __init__(self, **_):
            pass

        def __getattr__(self, name):
            return getattr(bus, name)

        async def connect(self):
            return self

        def disconnect(self):
            pass

        async def wait_for_disconnect(self):
            pass

    client.MessageBus = Connection


async def way_bleak(meter, _):
    from bleak import BleakClient, BleakScanner

    device = await BleakScanner.find_device_by_name(NAME, timeout=30)
    if meter.on_bus and BOX:
        await use_one_connection()
    async with BleakClient(device, timeout=STEP) as client:
        meter.pids["Python"] = os.getpid()
        meter.pids |= {"ble session": "ble" if BOX else pid for pid in children()}
        read = await timed(lambda: client.read_gatt_char("FFE1"))

        def received(*_):
            meter.count += 1

        # A connection to a machine passes no file descriptors, so that AcquireNotify would wait for ever.
        options = {"bluez": {"use_start_notify": True}} if BOX else {}
        await asyncio.wait_for(client.start_notify("FFE2", received, **options), STEP)
        return {"read": read} | await meter.measure()


async def measure(way, ble, *names):
    """Measures one way in this process, and prints the result."""
    if way == "bleak":
        from corebluetooth_linux.bleak import install
        install()
    meter = Meter((name, pid if BOX else int(pid)) for name, pid in (one.split("=") for one in names))
    run = {"read": way_read, "session": way_session, "client": way_client}.get(way, way_bleak)
    print(json.dumps(await run(meter, ble)))


@contextlib.contextmanager
def started(*command, until, **variables):
    """Runs a program, at first until a condition holds, and ends it."""
    process = subprocess.Popen(list(map(str, command)), env=os.environ | variables, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while not until():
            assert process.poll() is None and time.monotonic() < end, f"{command[0]} does not start"
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait()


def listens(port):
    """Says whether a program listens at a port."""
    return any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"
               for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:])


def summary(rounds):
    """The medians over the results of these rounds."""
    read, rate = (statistics.median(one[key] for one in rounds) for key in ("read", "rate"))
    costs = {name: statistics.median(one["notification"][name] for one in rounds) for name in rounds[0]["notification"]}
    return (f"a read {read:.0f} µs; a notification "
            f"{', '.join(f'{name} {cost:.0f} µs' for name, cost in costs.items())} at {rate:.0f} per second")


def main(ble, bled, bridge, rounds="3"):
    with tempfile.TemporaryDirectory(prefix="speed-", dir="/tmp") as place, contextlib.ExitStack() as stack:
        folder = pathlib.Path(place)
        (folder / "device.json").write_text(json.dumps(DEVICE))
        with contextlib.ExitStack() as sockets:
            free = [sockets.enter_context(socket.socket()) for _ in range(2)]
            for one in free:
                one.bind(("127.0.0.1", 0))
            ports = [one.getsockname()[1] for one in free]
        stack.enter_context(started(ble, "radio", "--unpaced", "--port", ports[0], "--port", ports[1],
                                    until=lambda: all(map(listens, ports))))
        stack.enter_context(started(ble, "serve", folder / "device.json", until=lambda: True,
                                    BLUETOOTH_HOST=f"tcp:127.0.0.1:{ports[1]}"))
        door = folder / "bled/socket"
        daemon = stack.enter_context(started(bled, "--socket", door, "--sessions", folder / "sessions",
                                             f"tcp:127.0.0.1:{ports[0]}", until=door.exists))
        names = {"bled": daemon.pid}
        ways = list(WAYS)
        if shutil.which("dbus-daemon"):
            bus = folder / "bus"
            broker = stack.enter_context(started("dbus-daemon", "--session", "--nofork", f"--address=unix:path={bus}",
                                                 until=bus.exists))
            bridged = stack.enter_context(started(bridge, "--bus", f"unix:path={bus}", "--socket", door,
                                                  until=lambda: True))
            buses = {"bled-bluez": bridged.pid, "dbus-daemon": broker.pid}
        else:
            ways.remove("d-bus")
            print("left out: d-bus, because there is no dbus-daemon (apt-get install dbus)")
        results = {way: [] for way in ways}
        for _ in range(int(rounds)):
            for way in ways:
                pids = names | (buses if way == "d-bus" else {})
                variables = os.environ | {"BLUETOOTH_HOST": f"bled:{door}", "BLE": ble,
                                          "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={folder / 'bus'}"}
                output = subprocess.run([sys.executable, __file__, "measure", way, ble,
                                         *(f"{name}={pid}" for name, pid in pids.items())],
                                        check=True, stdout=subprocess.PIPE, text=True, env=variables, timeout=180)
                results[way].append(json.loads(output.stdout.splitlines()[-1]))
        for way in ways:
            print(f"{way}: {summary(results[way])}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        asyncio.run(measure(*sys.argv[2:]))
    else:
        main(*map(os.path.abspath, sys.argv[1:4]), *sys.argv[4:])
