"""Runs this project's host against BlueZ: `python -m bluez --help`."""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import functools
import logging
import os
import pathlib
import re
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from dbus_fast import Variant

from interop import cutter
from interop.__main__ import choose, say
from interop.controllers import ours, rootcanal
from interop.processes import LOGS, who
from interop.profile import Mismatch
from interop.tool import BLE

from . import adapter as inner
from . import bonded, cases, central, channels, cuts, peers, peripheral, trust, unplugging
from .box import Box, box, obstacle
from .bus import ADAPTER, DEVICE, BlueZ, bluez
from .inside import Inside

AT_ONCE = 3
"""The maximum number of boxes that run side by side."""
RUN_SECONDS = 120
INNER_RUN_SECONDS = 300
"""Longer, since programs in an emulated processor are slow."""
SWITCH_ON_SECONDS = 20
VERSIONS = ("5.66", "5.82")
RADIOS = {"ours": ours, "rootcanal": rootcanal}
BTVIRT = "btvirt"
"""BlueZ's own virtual controllers, which run in the box."""
Scene = Callable[[Box, BlueZ, str, Any, str, pathlib.Path], Awaitable[None]]
SCENES: dict[str, Scene] = {
    "bluez-ours": central.converse,
    "ours-bluez": peripheral.converse,
    "bluez-ours-channel": channels.accept,
    "ours-bluez-channel": channels.open,
    "bluez-ours-pairing": trust.accept,
    "ours-bluez-pairing": trust.ask,
    "bluez-ours-privacy": trust.accept,
    "ours-bluez-privacy": trust.ask,
    "bluez-ours-cuts": cuts.accept,
    "ours-bluez-cuts": cuts.ask,
    "bluez-ours-pairing-all": trust.accept,
    "ours-bluez-pairing-all": trust.ask,
    "bluez-ours-cuts-all": cuts.accept,
    "ours-bluez-cuts-all": cuts.ask,
    "bluez-ours-bonded-cuts-all": bonded.accept,
    "ours-bluez-bonded-cuts-all": bonded.ask,
}
ALL_SECONDS = 3600
"""The time limit of a run that tries everything."""
INNER: dict[str, Scene] = {
    "adapter-list": inner.listed,
    "adapter-talk": inner.converse,
    "adapter-serve": inner.serve,
    "adapter-ask": trust.ask,
    "adapter-accept": trust.accept,
    "adapter-rights": inner.unprivileged,
    "adapter-capable": inner.capable,
    "adapter-busy": inner.busy,
    "adapter-gone": inner.unplugged,
    "adapter-gone-notify": unplugging.listener,
    "adapter-gone-write": unplugging.writer,
    "adapter-gone-serve": unplugging.server,
    "adapter-choice": inner.chosen,
    "bluez-bluez-pairing": peers.pair,
    "bluez-bluez-pairing-all": peers.pair,
}
"""Scenes with two adapters of one radio in the box: `ble` runs there, on the second, or BlueZ has both."""

PLACES = (("ours", False), ("ours", True), ("rootcanal", True), (BTVIRT, True), ("rootcanal", False))
"""The controllers of a box, and whether `ble` runs in it; those that take longest first."""

PULLED = ("adapter-gone", "adapter-gone-notify", "adapter-gone-write", "adapter-gone-serve")
"""The scenes that remove the adapter, which needs a bridge that supports it."""

INNER_RADIOS = {"5.66": "ours", "5.82": "rootcanal"}
"""The controllers for the scenes in the box, by version of BlueZ. Other combinations run only by name."""

INNER_VERSIONS: dict[str, tuple[str, ...]] = {
    "adapter-serve": ("5.82",),
    "adapter-ask": (),
    "adapter-accept": (),
    "adapter-capable": ("5.82",),
    "bluez-bluez-pairing": ("5.66",),
    "bluez-bluez-pairing-all": (),
    "adapter-gone-notify": ("5.66",),
    "adapter-gone-write": ("5.82",),
    "adapter-gone-serve": ("5.82",),
}
"""The versions of BlueZ for scenes that take long. Other combinations run only by name."""


ONE_EACH = {
    "bluez-ours-privacy": ("5.66", "ours"),
    "ours-bluez-privacy": ("5.82", "ours"),
    "bluez-ours-cuts": ("5.82", "rootcanal"),
    "ours-bluez-cuts": ("5.66", "rootcanal"),
}
"""The version and controllers of these scenes. Other combinations run only by name."""


def is_by_name(run: Run) -> bool:
    """Returns whether a run happens only if it is named, since it takes long."""
    if run.scene in INNER:
        versions = INNER_VERSIONS.get(run.scene, VERSIONS)
        return run.version not in versions or run.radio != INNER_RADIOS[run.version]
    return is_all(run) or ONE_EACH.get(run.scene, run[:2]) != run[:2]


def is_all(run: Run) -> bool:
    """Returns whether a run tries everything, not only the usual cases."""
    return run.scene.endswith("-all")


def scene(run: Run) -> Scene:
    """Returns the function that performs a run, with its share of the usual pairings."""
    found = (SCENES | INNER)[run.scene]
    if run.scene.startswith("bluez-bluez"):
        return functools.partial(found, cases=peers.EVERY if is_all(run) else peers.USUAL, radio=run.radio)
    if run.scene.endswith("-privacy"):
        return functools.partial(found, cases=cases.PRIVATE, radio=run.radio)
    if run.scene.endswith("-cuts-all"):
        is_bonded = "-bonded-" in run.scene
        known = bonded.AUTHENTICATED if is_bonded else cuts.EVERY
        chosen = [case for case in known if not run.only or case.title in run.only]
        steps = cuts.few if is_bonded else cuts.every
        if run.version == "5.66" and (is_bonded or run.scene.startswith("bluez-")):
            steps = cuts.late(steps)
        if run.packets:
            steps = cuts.exactly(run.packets)
        return functools.partial(found, cases=chosen, radio=run.radio, steps=steps)
    if run.scene.endswith("-cuts"):
        return functools.partial(found, radio=run.radio)
    if "-pairing" not in run.scene:
        return found
    places = [(version, radio) for version in VERSIONS for radio in RADIOS]
    chosen = cases.usual(places.index((run.version, run.radio)), len(places))
    if is_all(run):
        chosen = cases.every(is_ours_central=run.scene.startswith("ours-"))
    return functools.partial(found, cases=chosen, radio=run.radio)


class Run(NamedTuple):
    """A version of BlueZ, a make of controllers, and a scene, which includes the roles of the hosts."""

    version: str
    radio: str
    scene: str
    only: tuple[str, ...] = ()
    """For a run with `-cuts-all`: the pairings to make; all if empty."""
    packets: tuple[int, ...] = ()
    """For a run with `-cuts-all`: the packets to lose the link at; all usual ones if empty."""

    @property
    def name(self) -> str:
        return f"{self.version}/{self.radio}/{self.scene}"

    @property
    def log(self) -> pathlib.Path:
        return LOGS / f"bluez-{self.name.replace('/', '-')}.log"


async def run_repeatedly(runs: list[Run], retries: int, places: asyncio.Semaphore) -> int:
    """Runs scenes in one box, what fails up to `retries` times more, and returns the number that failed to the end."""
    name = f"{runs[0].version}-{runs[0].radio}{'-inner' if runs[0].scene in INNER else ''}"
    who.set(f"bluez-{name}-{os.getpid()}")
    async with places:
        left = await run_group(name, runs)
    for _ in range(retries):
        if left:
            say(f"{name}: running again what failed: {', '.join(run.name for run in left)}")
            async with places:
                left = await run_group(name, left)
    return len(left)


async def run_group(name: str, runs: list[Run]) -> list[Run]:
    """Boots one box for runs with one version and one make of controllers, and returns the runs that failed."""
    version, radio, is_inner = runs[0].version, runs[0].radio, runs[0].scene in INNER
    log = LOGS / f"bluez-{name}.log"
    LOGS.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    failed: list[Run] = []
    try:
        async with contextlib.AsyncExitStack() as running:
            start = time.monotonic()
            ports = await running.enter_async_context(RADIOS[radio](log)) if radio != BTVIRT else None
            controllers = list(ports or ())[: None if is_inner else 1]
            lines: dict[str, cutter.Cutter] = {}
            if any(run.scene.endswith("-cuts-all") for run in runs):
                for number, port in enumerate(controllers):
                    entered = await running.enter_async_context(cutter.cutter(port))
                    lines[f"/org/bluez/hci{number}"], controllers[number] = entered
            programs = {"ble": pathlib.Path(BLE)} if is_inner else {}
            machine = await running.enter_async_context(box(version, controllers, log, programs))
            machine.lines = lines
            bus = await running.enter_async_context(bluez(machine.bus_address))
            if ports is None:
                await machine.shell("(btvirt -L -l2 > /run/log/btvirt 2>&1 < /dev/null &)")
                both = {"/org/bluez/hci0", inner.OURS}
                await bus.until("BlueZ has the adapters", lambda: both <= bus.objects.keys())
            say(f"{name}: booted in {time.monotonic() - start:.1f} s, {(await machine.shell('uname -rm')).strip()}")
            if logging.getLogger().isEnabledFor(logging.DEBUG):
                await machine.shell("(btmon -w /run/log/btsnoop > /dev/null 2>&1 < /dev/null &)")
            for run in runs:
                place = Inside(machine.shell_port, "hci:1") if is_inner or ports is None else ports.second
                if not await run_one(run, machine, bus, "/org/bluez/hci0", place):
                    failed.append(run)
            if failed:
                await _keep_logs(machine, name)
    except Exception as error:  # Without a box, all of its runs have failed.
        say(f"{name}: FAILED, {error or type(error).__name__}")
        logging.getLogger(__name__).debug("the failure", exc_info=error)
        return runs
    return failed


async def _keep_logs(machine: Box, name: str) -> None:
    """Saves BlueZ's log, and when debugging those of its kernel and of the controllers' packets."""
    (LOGS / f"bluez-{name}.daemon.log").write_text(await machine.shell("cat /run/log/bluetoothd"))
    if logging.getLogger().isEnabledFor(logging.DEBUG):
        packets = await machine.shell("test ! -f /run/log/btsnoop || base64 /run/log/btsnoop", 60)
        (LOGS / f"bluez-{name}.btsnoop").write_bytes(base64.b64decode(packets))
        (LOGS / f"bluez-{name}.kernel.log").write_text(await machine.shell("dmesg"))


def seconds(run: Run) -> float:
    """Returns the time limit of a run."""
    if is_all(run):
        return ALL_SECONDS
    return INNER_RUN_SECONDS if run.scene in INNER else RUN_SECONDS


async def run_one(run: Run, machine: Box, bus: BlueZ, adapter: str, place: int | Inside) -> bool:
    """Runs one scene in a running box, and returns whether it passed."""
    start = time.monotonic()
    run.log.unlink(missing_ok=True)
    name = re.sub(r"[^0-9a-z]", "", run.name)[-10:]
    try:
        async with asyncio.timeout(seconds(run)):
            await _switch_on(bus, adapter)
            if run.scene in INNER:
                # The adapter of `ble` is the same in each scene, but BlueZ's knowledge of it is outdated.
                for device in bus.under(adapter, DEVICE):
                    await bus.call(adapter, ADAPTER, "RemoveDevice", "o", device)
            await scene(run)(machine, bus, adapter, place, name, run.log)
    except Exception as error:  # Any error fails this run; continue with the next.
        last = run.log.read_text(errors="replace").splitlines()[-4:] if run.log.exists() else []
        say(f"{run.name}: FAILED, {error or type(error).__name__}", f"{run.log}:", *last)
        logging.getLogger(__name__).debug("the failure", exc_info=error)
        return False
    say(f"{run.name}: passed, {time.monotonic() - start:.1f} s")
    return True


async def _switch_on(bus: BlueZ, adapter: str) -> None:
    """Waits until an adapter is on, and retries: BlueZ switches it on at the start, but tries only once."""
    for _ in range(SWITCH_ON_SECONDS):
        if bus.property(adapter, ADAPTER, "Powered"):
            return
        with contextlib.suppress(Mismatch):
            await bus.set(adapter, ADAPTER, "Powered", Variant("b", True))
        await asyncio.sleep(1)
    raise Mismatch(f"{adapter} is not on after {SWITCH_ON_SECONDS} s")


async def run_all(runs: list[Run], retries: int) -> int:
    """Runs all, and returns the number that failed. Stops its processes on SIGTERM.

    The boxes run side by side as far as there are places: they mostly wait for timers.
    """
    task = asyncio.current_task()
    assert task
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    for version in VERSIONS:
        if any(run.version == version for run in runs) and (reason := obstacle(version)):
            say(f"{version}: skipped: {reason}")
            runs = [run for run in runs if run.version != version]
    groups = [
        [run for run in runs if (run.version, run.radio, run.scene in INNER) == (version, *place)]
        for place in PLACES
        for version in VERSIONS
    ]
    places = asyncio.Semaphore(AT_ONCE)
    failed = sum(await asyncio.gather(*(run_repeatedly(group, retries, places) for group in groups if group)))
    if runs:
        say(f"bluez: {len(runs) - failed} passed, {failed} failed")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="Interop/bluez/run", description=__doc__)
    run = "VERSION/CONTROLLERS/SCENE; default: all usual runs"
    parser.add_argument("run", nargs="*", help=run)
    parser.add_argument("--list", action="store_true", help="list the runs and exit")
    parser.add_argument(
        "--retries", type=int, default=0, metavar="N", help="repeat failed runs up to N times (default: 0)"
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=sorted(case.title for case in cuts.EVERY),
        help="for a run with -cuts-all: only this pairing; may be repeated",
    )
    parser.add_argument(
        "--packet",
        action="append",
        type=int,
        metavar="N",
        help="for a run with -cuts-all: only this packet; may be repeated",
    )
    parser.add_argument("--debug", action="store_true", help="show the traceback of failures, on stderr")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.DEBUG if arguments.debug else logging.CRITICAL)
    runs = [Run(version, radio, scene) for version in VERSIONS for radio in RADIOS for scene in [*SCENES, *INNER]]
    runs += [Run(version, BTVIRT, scene) for version in VERSIONS for scene in INNER if scene not in PULLED]
    if arguments.run:
        runs = choose(arguments.run, runs, parser)
        only, packets = tuple(arguments.only or ()), tuple(arguments.packet or ())
        runs = [run._replace(only=only, packets=packets) for run in runs]
    elif not arguments.list:
        runs = [run for run in runs if not is_by_name(run)]
    if arguments.list:
        print(*(run.name for run in runs), sep="\n")
        return 0
    try:
        return 1 if asyncio.run(run_all(runs, arguments.retries)) else 0
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130


if __name__ == "__main__":
    sys.exit(main())
