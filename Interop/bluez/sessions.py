"""Measures reads and notifications in one box: with bleak on BlueZ, and on bled in the ways of Benchmarks/sessions.py.

`Interop/bluez/run sessions BLE BLED BLED-BLUEZ [ROUNDS [VERSION]]` boots a box with one adapter, which bluetoothd and
then bled use. Their programs and `ble` run in the box, whose processor is emulated; Python runs outside of it, and
reaches the bus, or the input and output of `ble`, over one TCP connection each. `Interop/python/setup` must have run.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pathlib
import sys
import tempfile
from collections.abc import AsyncIterator
from typing import Any

from interop.controllers import Endpoints
from interop.ports import free_ports
from interop.processes import HOME, LOGS, connected, running, who
from interop.profile import Mismatch
from interop.tool import BLE

from . import tool
from .__main__ import _switch_on
from .box import Box, box
from .bus import bluez
from .load import BRIDGE, HCI, QUIET

PACKAGE = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(PACKAGE / "Benchmarks"))
import sessions as benchmark  # noqa: E402

PYTHON = HOME / "python/venv/bin/python"
WAY_SECONDS = 300
"""The time limit for one way in one round."""
PERIOD = 20
"""The time between notifications, in ms. An emulated processor cannot keep up with many more."""
INSIDE = """#!/bin/sh
cd {interop} && exec {python} -m bluez.inside {port} bled:/run/bled "$@"
"""


@contextlib.asynccontextmanager
async def unpaced(log: pathlib.Path) -> AsyncIterator[Endpoints]:
    """Runs our controllers on a radio whose time does not pass while both hosts are idle."""
    first, second = free_ports(2)
    async with running(log, BLE, "radio", "--unpaced", "--port", str(first), "--port", str(second)) as process:
        for port in (first, second):
            async with connected(port, process):
                pass
        yield Endpoints(first, second)


async def measure(way: str, programs: tuple[str, ...], machine: Box, ble: pathlib.Path) -> Any:
    """Measures one way once, in a process of its own."""
    bus = machine.bus_address.replace("tcp:", "tcp:family=ipv4,")
    environment = os.environ | {"BOX": str(machine.shell_port), "DBUS_SYSTEM_BUS_ADDRESS": bus, "BLE": str(ble)}
    command = (PYTHON, benchmark.__file__, "measure", way, ble, *(f"{name}={name}" for name in programs))
    process = await asyncio.create_subprocess_exec(
        *map(str, command), env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    try:
        output, errors = await asyncio.wait_for(process.communicate(), WAY_SECONDS)
    except TimeoutError:
        raise Mismatch(f"{way} with {', '.join(programs)} has not ended after {WAY_SECONDS} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise Mismatch(f"{way} with {', '.join(programs)}: {errors.decode()[-2000:]}")
    return json.loads(output.splitlines()[-1])


async def compare(machine: Box, daemon: str, ways: dict[str, tuple[str, ...]], rounds: int, ble: pathlib.Path) -> None:
    """Prints the medians for each way on this daemon."""
    results: dict[str, list[Any]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, programs in ways.items():
            results[way].append(await measure(way, programs, machine, ble))
    for way in ways:
        print(f"{daemon}, {way}: {benchmark.summary(results[way])}", flush=True)


async def main() -> int:
    own, bled, bridge, *rest = sys.argv[1:]
    rounds, version = int(rest[0]) if rest else 3, rest[1] if len(rest) > 1 else "5.82"
    who.set("sessions")
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / "sessions.log"
    carried = {"ble": pathlib.Path(own), "bled": pathlib.Path(bled), "bled-bluez": pathlib.Path(bridge)}
    device = benchmark.DEVICE
    device["services"][0]["characteristics"][1]["notify"]["every"] = PERIOD
    async with contextlib.AsyncExitStack() as stack:
        radio = await stack.enter_async_context(unpaced(log))
        machine = await stack.enter_async_context(box(version, [radio.first], log, carried))
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ble = folder / "ble"
        ble.write_text(INSIDE.format(interop=PACKAGE / "Interop", python=sys.executable, port=machine.shell_port))
        ble.chmod(0o755)
        file = stack.enter_context(tool.description(device))
        server = await stack.enter_async_context(tool.ble(radio.second, log, "serve", file))
        await server.heard("advertising")
        await machine.shell(QUIET, 120)
        async with bluez(machine.bus_address) as bus:
            await _switch_on(bus, HCI)
        await compare(machine, "bluetoothd", {"d-bus": ("bluetoothd", "dbus-daemon")}, rounds, ble)
        await machine.shell(BRIDGE, 120)
        ways = {way: ("bled",) for way in benchmark.WAYS} | {"d-bus": ("bled", "bled-bluez", "dbus-daemon")}
        await compare(machine, "bled", ways, rounds, ble)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
