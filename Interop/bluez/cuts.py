"""The link is lost at packets of a pairing between our host and BlueZ, and the two pair at once afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import pathlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import NamedTuple

from interop import results
from interop.cutter import Cutter, cutter
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

CUT_SECONDS = 90
EVERY = (METHODS[0], *LEGACY, *METHODS[1:])
Steps = Callable[[int], Sequence[int]]


def some(total: int) -> Sequence[int]:
    """One packet in the middle: what can be had in a few seconds."""
    return [total // 2]


def every(total: int) -> Sequence[int]:
    """All packets, but of the twenty rounds of a passkey only the first and the last."""
    return [step for step in range(1, total + 1) if total < 30 or not 10 < step < total - 10]


class Cuts(NamedTuple):
    """How a pairing is cut."""

    scene: Scene
    case: Case
    line: Cutter
    near: str
    user: User

    def arm(self, step: int = 0) -> None:
        """Has the link cut at this packet, and nothing have happened yet."""
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
    """BlueZ pairs with `ble serve`, and the link is lost at each of those steps.

    Not at the first three with BlueZ 5.66: its kernel, Linux 6.1, faults as it closes the socket of a pairing that has
    hardly begun, and `bluetoothd` ends.
    """
    chosen = steps
    if box.version == "5.66":

        def chosen(total: int) -> Sequence[int]:
            return [step for step in steps(total) if step > 3]

    who = {"central": f"BlueZ {box.version}", "peripheral": "ours", "controllers": radio}
    scene = Scene(box, bluez, adapter, place, name, log)
    await _each(_accepted, _not_accepted, scene, cases, chosen, who)


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
    """`ble read` pairs with BlueZ, and the link is lost at each of those steps."""
    who = {"central": "ours", "peripheral": f"BlueZ {box.version}", "controllers": radio}
    await _each(_read, _not_read, Scene(box, bluez, adapter, place, name, log), cases, steps, who)


async def _each(
    succeed: Callable[[Cuts], Awaitable[None]],
    fail: Callable[[Cuts, bool], Awaitable[None]],
    scene: Scene,
    cases: Sequence[Case],
    steps: Steps,
    who: dict[str, str],
) -> None:
    """Cuts each case at each step near each host that can be cut near to, and raises `Mismatch` with what failed."""
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
                    return Cuts(here, case, line, near, user)

                async with asyncio.timeout(CUT_SECONDS):
                    whole = cuts()
                    await whole.scene.forget()
                    for each in lines.values():
                        each.arm()
                    whole.arm()
                    await succeed(whole)
                total = line.seen
                finals = line.last(is_own=(near == "ours") == (who["central"] == "ours"))
                for step in steps(total):
                    facts = case.facts | {"refusal": "cut", "near": near, "step": step, "steps": total}
                    try:
                        with results.recorded("bluez", **who, kernel=kernel, **facts):
                            async with asyncio.timeout(CUT_SECONDS):
                                await _cut(cuts(), step, step > total - finals, succeed, fail)
                                expect("process of bluetoothd", await management.daemon(scene.box), daemon)
                    except Exception as error:  # Whatever went wrong, this cut failed and the next is tried.
                        failures.append(f"{case.title}, {near} {step} of {total}: {error or type(error).__name__}")
    if failures:
        more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
        raise Mismatch("; ".join(failures[:3]) + more)


async def _cut(
    cuts: Cuts,
    step: int,
    is_late: bool,
    succeed: Callable[[Cuts], Awaitable[None]],
    fail: Callable[[Cuts, bool], Awaitable[None]],
) -> None:
    """Once in vain, and then at once with success."""
    await cuts.scene.forget()
    cuts.arm(step)
    await fail(cuts, is_late)
    if is_late:
        # The central has done its part, and may keep a bond that is whole.
        await cuts.scene.forget()
    else:
        kept = len(await cuts.scene.bonds()), len(await management.diversifiers(cuts.scene.box))
        expect("what ours and BlueZ keep", kept, (0, 0))
    cuts.arm()
    await succeed(cuts)


async def _accepted(cuts: Cuts) -> None:
    """BlueZ pairs with `ble serve`."""
    async with _serving(cuts) as server:
        await paired(cuts.scene, cuts.case, cuts.user, server)


async def _not_accepted(cuts: Cuts, is_late: bool) -> None:
    """BlueZ does not get to pair with `ble serve`, and says so; `ble` has no bond, and goes on."""
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
        if "org.bluez.Error." not in said and not is_late:
            raise Mismatch(f"BlueZ does not say that pairing failed: {said or 'it says that it has paired'}")
        await central.parted()
        expect("whether the link was cut", cuts.line.is_cut, True)
        expect("pairings of ours", [fact for fact in server.facts if fact["event"] == "paired"], [])
        if not is_late:
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


async def _not_read(cuts: Cuts, is_late: bool) -> None:
    """`ble read` does not get to pair with BlueZ, and says so."""
    scene = cuts.scene
    async with advertised(scene.bluez, scene.adapter, scene.name, (SAFE,)):
        async with _reading(cuts) as reader, attended(cuts.user, reader, ""):
            status = await reader.status(2 * PATIENCE)
            if not cuts.line.is_cut:
                # BlueZ begins by asking for a safer link or does not, so that there may be a packet less.
                raise results.NotMade
            expect("the status of ble read", status, 1)
            if not is_late or cuts.near == "ours":
                happened = [fact for fact in reader.facts if fact["event"] in ("paired", "read")]
                expect("pairings and reads", happened, [])
        await management.parted(scene.box, scene.adapter)
        expect("whether BlueZ is paired", scene.are_paired(), False)
