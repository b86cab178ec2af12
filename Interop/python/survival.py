"""Lets sessions live through everything that can happen: survival.py EVENTS [SEED]

The environment's BLE and BLED name the programs. Four devices (`counter.py`) on controllers of `ble radio` send
numbered values all the time. Two programs take them through one daemon: one reads the lines of
`ble session`, the other uses the Python client. Meanwhile the readers stop now and then, devices go and come back, the
radio is switched off and on, and the daemon is killed and started again. In each connection, no value may be missing,
invented or sent twice, every command gets one answer, and the memory of the processes does not grow.
"""

import asyncio
import contextlib
import itertools
import json
import os
import pathlib
import random
import re
import socket
import sys
import tempfile
import time

from corebluetooth_linux import BluetoothError, Session

here = pathlib.Path(__file__).resolve().parent
NAMES = ["Alpha", "Beta", "Gamma", "Delta"]
# A process may grow by this many octets after the first third of the events.
GROWTH = 8 << 20


class Lab:
    """The radio, the daemon and the devices."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.place = self.folder / "bled/socket"
        self.host = f"bled:{self.place}"
        self.running = {}
        with contextlib.ExitStack() as stack:
            sockets = [stack.enter_context(socket.socket()) for _ in range(1 + len(NAMES))]
            for one in sockets:
                one.bind(("127.0.0.1", 0))
            self.ports = [one.getsockname()[1] for one in sockets]
        self.generations = dict.fromkeys(NAMES, 0)

    async def start(self, name, *command, host=None):
        """Starts a process that is called `name` here."""
        environment = os.environ | {"XDG_STATE_HOME": str(self.folder / name)}
        if host:
            environment["BLUETOOTH_HOST"] = host
        with open(self.folder / f"{name}.log", "a") as log:
            self.running[name] = await asyncio.create_subprocess_exec(
                *map(str, command), stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    async def kill(self, name):
        process = self.running.pop(name)
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    async def start_daemon(self):
        with contextlib.suppress(FileNotFoundError):
            self.place.unlink()
        await self.start("bled", os.environ["BLED"], "--socket", self.place, "--sessions", self.folder / "sessions",
                         f"tcp:127.0.0.1:{self.ports[0]}")
        await until("the daemon starts", self.place.exists)

    async def start_device(self, name):
        index = NAMES.index(name)
        self.generations[name] += 1
        await self.start(name, sys.executable, here / "counter.py", self.ports[1 + index], name, index,
                         self.generations[name])

    async def power(self, state):
        await self.start("power", os.environ["BLE"], "power", state, host=self.host)
        assert await self.running.pop("power").wait() == 0, (self.folder / "power.log").read_text()

    async def __aenter__(self):
        ports = [argument for port in self.ports for argument in ("--port", port)]
        await self.start("radio", os.environ["BLE"], "radio", "--unpaced", *ports)
        await until("the radio starts", lambda: "Listening" in (self.folder / "radio.log").read_text())
        await self.start_daemon()
        for name in NAMES:
            await self.start_device(name)
        return self

    async def __aexit__(self, *_):
        for name in list(self.running):
            await self.kill(name)


async def until(what, condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"survival.py: not within {seconds} s: {what}"
        await asyncio.sleep(0.02)


class Numbers:
    """The values that one program has received, by device."""

    def __init__(self):
        self.count = 0
        self.counts = dict.fromkeys(NAMES, 0)
        self.last = {}

    def received(self, name, octets, connection):
        """Checks a value, which came in the connection of the device with this number."""
        index, generation, number = octets[0], octets[1], int.from_bytes(octets[2:], "big")
        assert len(octets) == 6 and index == NAMES.index(name), f"survival.py: {name} sent {octets.hex()}"
        new, last = (connection, generation, number), self.last.get(name, (0, 0, 0))
        follows = new == (*last[:2], last[2] + 1) if connection == last[0] else new > last and new[1:] > last[1:]
        assert follows, f"survival.py: {name}: (connection, generation, number) {new} comes after {last}"
        self.last[name] = new
        self.count += 1
        self.counts[name] += 1


class Lines:
    """The program that reads the lines of `ble session`."""

    def __init__(self, host):
        self.host = host
        self.numbers = Numbers()
        self.answers = {}
        self.events = {}
        self.connections = dict.fromkeys(NAMES, 0)
        self.paused_until = 0.0
        self.sent = itertools.count(1)
        self.last_sent = 0

    async def run(self):
        self.process = await asyncio.create_subprocess_exec(
            os.environ["BLE"], "session", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, env=os.environ | {"BLUETOOTH_HOST": self.host})
        for name in NAMES:
            self.send(command="connect", device=name, timeout=60, reconnect=True)
            self.send(command="subscribe", device=name, characteristic="FFE1")
        while line := await self.process.stdout.readline():
            self.take(json.loads(line))
            while time.monotonic() < self.paused_until:
                await asyncio.sleep(0.05)

    def send(self, **command):
        self.last_sent = next(self.sent)
        self.process.stdin.write(json.dumps({"id": self.last_sent} | command).encode() + b"\n")

    def take(self, line):
        event, name = line["event"], line.get("name")
        self.events[event] = self.events.get(event, 0) + 1
        match event:
            case "received":
                self.numbers.received(name, bytes.fromhex(line["value"]), self.connections[name])
                # A question now and then, among the values.
                if self.numbers.count % 5000 == 0 and self.last_sent - len(self.answers) < 8:
                    self.send(command="read", device=name, characteristic="FFE1")
            case "connected":
                self.connections[name] += 1
            case "done" | "failed":
                assert line["id"] not in self.answers and line["id"] <= self.last_sent, f"an answer too many: {line}"
                self.answers[line["id"]] = line
                assert event == "done" or line["command"] == "read", f"survival.py: {line}"
            case "unsubscribed":
                raise AssertionError(f"survival.py: {line}")

    async def end(self):
        await until("every command is answered", lambda: len(self.answers) == self.last_sent)
        self.process.stdin.close()
        assert await self.process.wait() == 0, "survival.py: the session failed"


class Client:
    """The program that uses the Python client."""

    def __init__(self, host):
        self.host = host
        self.numbers = Numbers()
        self.paused_until = 0.0

    async def run(self):
        async with Session(self.host) as self.session, asyncio.TaskGroup() as group:
            for name in NAMES:
                group.create_task(self.follow(name))

    async def follow(self, name):
        device = await self.session.connect(name, timeout=60, reconnect=True)
        async with device.values("FFE1") as values:
            async for one in values:
                self.numbers.received(name, one.octets, one.connection)
                while time.monotonic() < self.paused_until:
                    await asyncio.sleep(0.05)


def memory(pid):
    """The resident memory of a process in octets."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) << 10


async def main(events, seed):
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="live-", dir="/tmp") as folder:
        async with Lab(folder) as lab:
            lines, client = Lines(lab.host), Client(lab.host)
            programs = (lines, client)
            tasks = [asyncio.create_task(program.run()) for program in programs]

            async def going(what):
                """Waits until both programs receive values of all devices."""
                before = [dict(program.numbers.counts) for program in programs]

                def all_go_on():
                    for task in tasks:
                        if task.done():
                            task.result()
                    return all(program.numbers.counts[name] > counts[name] + 10
                               for program, counts in zip(programs, before) for name in NAMES)

                await until(f"values of all devices after: {what}", all_go_on)

            async def pause():
                for program in dice.choice([programs, programs[:1], programs[1:]]):
                    program.paused_until = time.monotonic() + dice.uniform(0.5, 3)

            async def restart_device():
                name = dice.choice(NAMES)
                await lab.kill(name)
                await asyncio.sleep(dice.uniform(0, 2))
                await lab.start_device(name)

            async def radio_off_and_on():
                await lab.power("off")
                await asyncio.sleep(dice.uniform(0, 1))
                await lab.power("on")

            async def restart_daemon():
                await lab.kill("bled")
                await asyncio.sleep(dice.uniform(0, 1))
                await lab.start_daemon()

            await going("the start")
            faults = [pause, restart_device, radio_off_and_on, restart_daemon]
            happened, sizes, begun = dict.fromkeys(faults, 0), {}, time.monotonic()
            for fault in itertools.cycle(faults):
                total = sum(program.numbers.count for program in programs)
                now = {name: memory(pid) for name, pid in (
                    ("session", lines.process.pid), ("session of the client", client.session._process.pid),
                    ("client", os.getpid()))}
                if total * 3 < events or not sizes:
                    sizes = now
                if total >= events and min(happened.values()) > 0:
                    break
                await fault()
                happened[fault] += 1
                await going(fault.__name__)
                target = total + max(events // 40, 1000)
                await until("more values", lambda: sum(one.numbers.count for one in programs) >= target, 600)
            grown = {name: size - sizes[name] for name, size in now.items()}
            assert max(grown.values()) < GROWTH, f"survival.py: the memory grew, in octets: {grown}"
            await lines.end()
            await tasks[0]
            tasks[1].cancel()
            await asyncio.gather(tasks[1], return_exceptions=True)
            faults = ", ".join(f"{fault.__name__} {count}" for fault, count in happened.items())
            memories = ", ".join(f"{name} {size >> 10} KiB" for name, size in grown.items())
            took = time.monotonic() - begun
            print(f"{total} values in {took:.0f} s and {lines.events['connected']} connections, none missing, none "
                  f"invented; faults: {faults}; memory grown since the first third: {memories}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
