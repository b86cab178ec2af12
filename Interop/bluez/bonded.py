"""Loses the link while BlueZ and our host replace a bond by a better one; both must keep the one they have."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import AsyncIterator, Sequence

from interop import results
from interop.cutter import expect_cut
from interop.profile import Mismatch, expect

from . import management, tool
from .box import Box
from .bus import DEVICE, BlueZ
from .cases import JUST_WORKS, LEGACY, METHODS, Case
from .central import Central
from .cuts import Cuts, Steps, each, few
from .offer import LOCKED, SAFE, STRICT, VAULT
from .peripheral import advertised
from .trust import Scene, undisturbed, use_bond
from .user import PATIENCE, attended

AUTHENTICATED = (METHODS[1], *LEGACY[1:], *METHODS[2:])
"""The methods that are better than Just Works, those with twenty rounds last."""
NOBODY = 0xF1
"""A PSM without a listener: the kernel raises the link's security before it finds that out."""


async def accept(
    box: Box,
    bluez: BlueZ,
    adapter: str,
    place: int,
    name: str,
    log: pathlib.Path,
    cases: Sequence[Case] = AUTHENTICATED,
    radio: str = "ours",
    steps: Steps = few,
) -> None:
    """BlueZ, bonded with `ble serve` by Just Works, requests a channel that needs a better bond."""
    who = {"central": f"BlueZ {box.version}", "peripheral": "ours", "controllers": radio}
    scene = Scene(box, bluez, adapter, place, name, log)
    await each(_replaced, _not_replaced, scene, cases, steps, who, is_bonded=True)


async def ask(
    box: Box,
    bluez: BlueZ,
    adapter: str,
    place: int,
    name: str,
    log: pathlib.Path,
    cases: Sequence[Case] = AUTHENTICATED,
    radio: str = "ours",
    steps: Steps = few,
) -> None:
    """Our host, bonded with BlueZ by Just Works, reads a value that needs a better bond."""
    who = {"central": "ours", "peripheral": f"BlueZ {box.version}", "controllers": radio}
    scene = Scene(box, bluez, adapter, place, name, log)
    await each(_improved, _not_improved, scene, cases, steps, who, is_bonded=True)


async def _kept(cuts: Cuts) -> tuple[list[tool.Fact], list[str]]:
    """Returns the bonds of our host and the keys of BlueZ."""
    return await cuts.scene.bonds(), await management.keys(cuts.scene.box)


@contextlib.asynccontextmanager
async def _offered(cuts: Cuts) -> AsyncIterator[None]:
    """Makes BlueZ advertise, with a Just Works bond with our host."""
    scene = cuts.scene
    await scene.forget()
    async with advertised(scene.bluez, scene.adapter, scene.name, (SAFE, VAULT)):
        paired = await scene.run("read", scene.name, LOCKED.uuid, "--pairing", JUST_WORKS.ours)
        expect("facts of the first read", [fact["event"] for fact in paired], ["paired", "read"])
        yield


async def _improve(cuts: Cuts) -> tuple[int, list[tool.Fact]]:
    """Runs `ble read` for a value that needs a better bond, and returns its status and output."""
    command = ["read", cuts.scene.name, STRICT.uuid, "--pairing", cuts.case.ours]

    async def read() -> tuple[int, list[tool.Fact]]:
        async with cuts.scene.ble(*command) as reader, attended(cuts.user, reader, ""):
            return await reader.status(3 * PATIENCE), reader.facts

    return await undisturbed(cuts.scene, read)


async def _improved(cuts: Cuts) -> None:
    async with _offered(cuts):
        cuts.arm()
        status, facts = await _improve(cuts)
        expect("the status of ble read", status, 0)
        paired = [fact["method"] for fact in facts if fact["event"] == "paired"]
        expect("method of the pairing", paired, [cuts.case.method])


async def _not_improved(cuts: Cuts, step: int) -> None:
    async with _offered(cuts):
        before = await _kept(cuts)
        cuts.arm(step)
        status, facts = await _improve(cuts)
        if not cuts.line.is_cut:
            # BlueZ does not always request a more secure link, so there may be one packet fewer.
            raise results.NotMade
        if not cuts.is_late or cuts.near == "ours":
            expect_cut(cuts.near, status)
            happened = [fact for fact in facts if fact["event"] in ("paired", "read")]
            expect("pairings and reads", happened, [])
        await management.parted(cuts.scene.box, cuts.scene.adapter)
        if not cuts.is_late:
            expect("bonds of ours and keys of BlueZ", await _kept(cuts), before)
            await use_bond(cuts.scene)


@contextlib.asynccontextmanager
async def _serving(cuts: Cuts, pairing: str) -> AsyncIterator[tool.Tool]:
    content = {"name": cuts.scene.name, "services": [tool.described(SAFE)]}
    with tool.description(content) as file:
        async with (
            cuts.scene.ble("serve", file, "--pairing", pairing) as server,
            attended(cuts.user, server, "pair "),
        ):
            await server.heard("advertising")
            yield server


async def _befriend(cuts: Cuts) -> Central:
    """Bonds BlueZ with our host by Just Works."""
    scene = cuts.scene
    await scene.forget()
    central = Central(scene.box, scene.bluez, scene.adapter, scene.name)
    async with _serving(cuts, JUST_WORKS.ours) as server:
        device = await central.find()
        await scene.bluez.call(device, DEVICE, "Pair")
        await server.heard("paired", method=JUST_WORKS.method, bonded=True)
        await central.disconnect()
    return central


async def _dial(cuts: Cuts, central: Central) -> None:
    """Makes the kernel request a channel with more security than the bond provides, and waits for the outcome."""
    scene = cuts.scene
    found = scene.bluez.objects[await central.find()][DEVICE]
    device = scene.adapter.rpartition("/")[2]
    where = f"-V le_{found['AddressType']} -P {NOBODY} -i {device} {found['Address']}"
    await scene.box.shell(f"timeout 40 l2test -n -S {where} < /dev/null > /run/l2test 2>&1 || :", 45)


async def _replaced(cuts: Cuts) -> None:
    central = await _befriend(cuts)
    await cuts.scene.bonds()
    async with _serving(cuts, cuts.case.ours) as server:
        cuts.arm()
        await _dial(cuts, central)
        await server.heard("paired", method=cuts.case.method)


async def _not_replaced(cuts: Cuts, step: int) -> None:
    """Loses the link while they pair again; BlueZ must reconnect with the bond that it has."""
    central = await _befriend(cuts)
    before = await _kept(cuts)
    expect("bonds and keys before", [len(kept) > 0 for kept in before], [True, True])
    async with _serving(cuts, cuts.case.ours) as server:
        cuts.arm(step)
        await _dial(cuts, central)
        await central.parted()
        expect("whether the link was cut", cuts.line.is_cut, True)
        paired = [fact for fact in server.facts if fact["event"] == "paired"]
        expect("pairings of ours", paired, [])
    if cuts.is_late:
        return
    expect("bonds of ours and keys of BlueZ", await _kept(cuts), before)
    async with _serving(cuts, cuts.case.ours) as server:
        async with central.connected():
            expect("what BlueZ reads", await central.read(central.path(LOCKED.uuid)), LOCKED.value)
        if any("pair" in fact["event"] for fact in server.facts):
            raise Mismatch(f"BlueZ started to pair instead of using its bond: {server.facts}")
