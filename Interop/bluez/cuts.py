"""Loses the link at packets of a pairing between our host and BlueZ; the next pairing must succeed immediately."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import pathlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import NamedTuple

from interop import results
from interop.cutter import Cutter, cutter, expect_cut
from interop.profile import Mismatch, expect

from . import management, tool
from .box import Box
from .bus import DEVICE, BlueZ
from .cases import JUST_WORKS, LEGACY, METHODS, Case
from .central import Central
from .offer import LOCKED, SAFE
from .peripheral import advertised
from .trust import Scene, expect_read, paired, read_again
from .user import PATIENCE, User, asked, attended

CUT_SECONDS = 180
EVERY = (METHODS[0], *LEGACY, *METHODS[1:])
Steps = Callable[[int], Sequence[int]]


def some(total: int) -> Sequence[int]:
    """Selects one packet in the middle, to save time."""
    return [total // 2]


def every(total: int) -> Sequence[int]:
    """Selects all packets, but of a passkey's twenty rounds only the first, one in the middle and the last."""
    return [step for step in range(1, total + 1) if total < 30 or not 6 < step < total - 10 or step == total // 2]


def few(total: int) -> Sequence[int]:
    """Selects the same packets as `every`, but for a passkey's twenty rounds only every third of those."""
    return every(total) if total < 30 else every(total)[::3]


def late(steps: Steps) -> Steps:
    """Removes the first three packets.

    The kernel of BlueZ 5.66, Linux 6.1, faults when it closes the socket of a link that was lost so early, and
    `bluetoothd` ends.
    """
    return lambda total: [step for step in steps(total) if step > 3]


def exactly(packets: Sequence[int]) -> Steps:
    """Selects these packets, if there are as many."""
    return lambda total: [step for step in packets if step <= total]


class Cuts(NamedTuple):
    """A pairing whose link is lost, with the line that is cut and the hosts involved."""

    scene: Scene
    case: Case
    line: Cutter
    near: str
    central: str
    user: User

    @property
    def is_late(self) -> bool:
        """The lost packet was a key of the central. Those come last, so the central may have a complete bond."""
        return self.line.has_lost_key(is_own=(self.near == "ours") == (self.central == "ours"))

    def arm(self, step: int = 0) -> None:
        """Cuts the link at this packet, or never for 0, and resets the user's state."""
        self.line.arm(step)
        self.user.begin()


async def accept(
    box: Box,
    bluez: BlueZ,
    adapter: str,
    place: int,
    name: str,
    log: pathlib.Path,
    cases: Sequence[Case] = (JUST_WORKS,),
    radio: str = "ours",
    steps: Steps = some,
) -> None:
    """BlueZ pairs with `ble serve`, and the link is lost at each of the steps."""
    who = {"central": f"BlueZ {box.version}", "peripheral": "ours", "controllers": radio}
    scene = Scene(box, bluez, adapter, place, name, log)
    await each(_accepted, functools.partial(_cut, _accepted, _not_accepted), scene, cases, steps, who)


async def ask(
    box: Box,
    bluez: BlueZ,
    adapter: str,
    place: int,
    name: str,
    log: pathlib.Path,
    cases: Sequence[Case] = (LEGACY[0],),
    radio: str = "ours",
    steps: Steps = some,
) -> None:
    """`ble read` pairs with BlueZ, and the link is lost at each of the steps."""
    who = {"central": "ours", "peripheral": f"BlueZ {box.version}", "controllers": radio}
    scene = Scene(box, bluez, adapter, place, name, log)
    await each(_read, functools.partial(_cut, _read, _not_read), scene, cases, steps, who)


async def each(
    succeed: Callable[[Cuts], Awaitable[None]],
    attempt: Callable[[Cuts, int], Awaitable[None]],
    scene: Scene,
    cases: Sequence[Case],
    steps: Steps,
    who: dict[str, str],
    is_bonded: bool = False,
) -> None:
    """Cuts each case at each step near each host that has a line, and raises `Mismatch` with the failures."""
    failures: list[str] = []
    kernel = (await scene.box.shell("uname -r")).strip()
    daemon = await management.daemon(scene.box)
    numbers = itertools.count()
    for case in cases:
        async with (
            cutter(scene.place) as (own, port),
            management.secure(scene.box, scene.adapter, case.is_secure),
            asked(scene.bluez, case) as user,
        ):
            lines = {"ours": own}
            if scene.adapter in scene.box.lines:
                lines["BlueZ"] = scene.box.lines[scene.adapter]
            for near, line in lines.items():

                def cuts() -> Cuts:
                    here = scene._replace(name=f"{scene.name[-7:]}{next(numbers)}", place=port)
                    return Cuts(here, case, line, near, who["central"], user)

                for other in lines.values():
                    other.arm()
                try:
                    async with asyncio.timeout(CUT_SECONDS):
                        whole = cuts()
                        await whole.scene.forget()
                        whole.arm()
                        await succeed(whole)
                except Exception as error:  # The number of packets is unknown; continue with the next line.
                    failures.append(f"{case.title}, {near}: {error or type(error).__name__}")
                    continue
                total = line.seen
                for step in steps(total):
                    facts = case.facts | {"refusal": "cut", "near": near, "step": step, "steps": total}
                    facts["bonded"] = is_bonded
                    try:
                        with results.recorded("bluez", **who, kernel=kernel, **facts) as record:
                            before = await management.races(scene.box)
                            async with asyncio.timeout(CUT_SECONDS), management.watched(scene.box, daemon):
                                await attempt(cuts(), step)
                            record["races"] = await management.races(scene.box) - before
                    except management.Fatal:
                        raise
                    except Exception as error:  # Any error fails this cut; continue with the next.
                        failures.append(f"{case.title}, {near} {step} of {total}: {error or type(error).__name__}")
    if failures:
        more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
        raise Mismatch("; ".join(failures[:3]) + more)


async def _cut(
    succeed: Callable[[Cuts], Awaitable[None]], fail: Callable[[Cuts], Awaitable[None]], cuts: Cuts, step: int
) -> None:
    """Loses the link in one pairing, and expects the next one to succeed immediately."""
    await cuts.scene.forget()
    cuts.arm(step)
    await fail(cuts)
    if cuts.is_late:
        await cuts.scene.forget()
    else:
        kept = len(await cuts.scene.bonds()), len(await management.diversifiers(cuts.scene.box))
        expect("bonds of ours and keys of BlueZ", kept, (0, 0))
    cuts.arm()
    await succeed(cuts)


async def _accepted(cuts: Cuts) -> None:
    """BlueZ pairs with `ble serve`."""
    async with _serving(cuts) as server:
        await paired(cuts.scene, cuts.case, cuts.user, server)


async def _not_accepted(cuts: Cuts) -> None:
    """Expects that BlueZ reports a failed pairing with `ble serve`; `ble` has no bond, and continues."""
    scene = cuts.scene
    central = Central(scene.box, scene.bluez, scene.adapter, scene.name)
    async with _serving(cuts) as server:
        await server.heard("advertising")
        device = await central.find()
        said = ""
        try:
            await scene.bluez.call(device, DEVICE, "Pair", seconds=2 * PATIENCE)
        except Mismatch as mismatch:
            said = str(mismatch)
        await central.parted()
        expect("whether the link was cut", cuts.line.is_cut, True)
        expect("pairings of ours", [fact for fact in server.facts if fact["event"] == "paired"], [])
        if not cuts.is_late:
            if "org.bluez.Error." not in said:
                raise Mismatch(f"BlueZ does not report a failed pairing: {said or 'it reports success'}")
            expect("whether BlueZ is paired", scene.are_paired(), False)
        await server.interrupt()


@contextlib.asynccontextmanager
async def _serving(cuts: Cuts) -> AsyncIterator[tool.Tool]:
    content = {"name": cuts.scene.name, "services": [tool.described(SAFE)]}
    with tool.description(content) as file:
        async with (
            cuts.scene.ble("serve", file, "--pairing", cuts.case.ours) as server,
            attended(cuts.user, server, "pair "),
        ):
            yield server


def _reading(cuts: Cuts) -> contextlib.AbstractAsyncContextManager[tool.Tool]:
    return cuts.scene.ble("read", cuts.scene.name, LOCKED.uuid, "--pairing", cuts.case.ours)


async def _read(cuts: Cuts) -> None:
    """`ble read` pairs with BlueZ."""
    scene = cuts.scene
    async with advertised(scene.bluez, scene.adapter, scene.name, (SAFE,)):
        async with _reading(cuts) as reader, attended(cuts.user, reader, ""):
            expect_read(cuts.case, await reader.finish(3 * PATIENCE))
            await read_again(scene, cuts.case)


async def _not_read(cuts: Cuts) -> None:
    """Expects that `ble read` reports a failed pairing with BlueZ."""
    scene = cuts.scene
    async with advertised(scene.bluez, scene.adapter, scene.name, (SAFE,)):
        async with _reading(cuts) as reader, attended(cuts.user, reader, ""):
            status = await reader.status(2 * PATIENCE)
            if not cuts.line.is_cut:
                # BlueZ does not always start with a security request, so there may be one packet fewer.
                raise results.NotMade
            expect_cut(cuts.near, status)
            if not cuts.is_late or cuts.near == "ours":
                happened = [fact for fact in reader.facts if fact["event"] in ("paired", "read")]
                expect("pairings and reads", happened, [])
        await management.parted(scene.box, scene.adapter)
        expect("whether BlueZ is paired", scene.are_paired(), False)
