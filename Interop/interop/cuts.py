"""Loses the link at each packet of a pairing between our host and Bumble's; the next must succeed immediately."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from bumble.core import ProtocolError
from bumble.device import Connection, Device
from bumble.keys import MemoryKeyStore, PairingKeys

from . import results, tool
from .bumble_host import find, powered_on
from .cutter import Cutter, cutter, expect_cut
from .methods import JUST_WORKS, KEPT, Method
from .pairing import read
from .profile import Mismatch, expect, greeting
from .sides import (
    CENTRAL,
    PERIPHERAL,
    answering,
    come_back,
    count,
    expect_paired,
    keys_of,
    offer,
    reading,
    serving,
    until,
    values,
)
from .user import PATIENCE, User

SECONDS = 900
# Longer than our host refuses to pair with a device after a failure.
PAUSE = 1.1
ROUNDS = len(KEPT)
"""One for each method."""


class Scene(NamedTuple):
    """A pairing whose link is lost."""

    method: Method
    near: str
    """The host at whose controller the link is cut: it gets a Connection Timeout, and the other one a disconnection."""
    cutter: Cutter
    port: int
    """The port of our host's controller, or of the line to it."""
    name: str
    log: pathlib.Path
    facts: dict[str, object]
    is_all: bool
    is_bonded: bool = False
    """There is a bond already, which must not change."""

    def steps(self) -> Sequence[int]:
        """Returns the packets to cut at, after a pairing in which all were counted."""
        total = self.cutter.seen
        if not self.is_all:
            return [total // 2] if self.is_bonded else [total // 2, total]
        # Of the twenty rounds of a passkey that replaces a bond, the first and the last suffice.
        return [step for step in range(1, total + 1) if not self.is_bonded or total < 30 or not 10 < step < total - 10]


async def converse(
    controllers: str, central: str, first: int, second: int, name: str, number: int, log: pathlib.Path, is_all: bool
) -> None:
    """Runs one round: one method, with the link cut at each packet near both hosts, or at some near one."""
    method = KEPT[(number - 1) % len(KEPT)]
    sides = ("ours", "Bumble") if is_all else (("ours", "Bumble")[number % 2],)
    who = {"central": "ours", "peripheral": "Bumble"}
    if central != "ours":
        who = {"central": "Bumble", "peripheral": "ours"}
    failures = []
    for near in sides:
        is_near_first = (near == "ours") == (central == "ours")
        async with cutter(first if is_near_first else second) as (line, port):
            ports = (port, second) if is_near_first else (first, port)
            ours, other = ports if central == "ours" else ports[::-1]
            scene = Scene(method, near, line, ours, name, log, who | {"controllers": controllers}, is_all)
            bonded = scene._replace(is_bonded=True)
            if central == "ours":
                failures += await _ours_as_central(scene, other)
                if method.secure and method.authenticated and controllers == "rootcanal":
                    failures += await _ours_as_bonded_central(bonded, other)
            else:
                failures += await _ours_as_peripheral(scene, other)
                if method.authenticated and controllers == "rootcanal":
                    failures += await _ours_as_bonded_peripheral(bonded, other)
    if failures:
        more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
        raise Mismatch("; ".join(failures[:3]) + more)


async def _ours_as_central(scene: Scene, port: int) -> list[str]:
    async with powered_on(port, scene.name, PERIPHERAL) as peripheral:
        user = User(scene.method, keeps=True)
        user.use(peripheral)
        await offer(peripheral, scene.method)
        with tempfile.TemporaryDirectory() as state:
            await _read(scene, user, peripheral, state)

        async def cut(step: int, is_late: bool, state: str) -> None:
            await _begin(scene, user, peripheral, step)
            await _not_read(scene, user, peripheral, state, is_late and scene.near == "Bumble")
            await _begin(scene, user, peripheral)
            await _read(scene, user, peripheral, state)

        return await _each(scene, cut)


async def _each(scene: Scene, cut: Callable[[int, bool, str], Awaitable[None]]) -> list[str]:
    """Makes all cuts, records their results, and returns the failures."""
    failures: list[str] = []
    total = scene.cutter.seen
    # The packets that the central sends after the last one of the peripheral.
    finals = scene.cutter.last(is_own=(scene.near == "ours") == (scene.facts["central"] == "ours"))
    for step in scene.steps():
        facts = scene.method.facts | {"refusal": "cut", "near": scene.near, "step": step, "steps": total}
        facts["bonded"] = scene.is_bonded
        try:
            with tempfile.TemporaryDirectory() as state, results.recorded("bumble", **scene.facts, **facts):
                await cut(step, step > total - finals, state)
        except Exception as error:  # Any error fails this cut; continue with the next.
            failures.append(f"{scene.near} {step} of {total}: {error or type(error).__name__}")
    return failures


async def _begin(scene: Scene, user: User, device: Device, step: int = 0) -> None:
    """Disconnects Bumble, clears its keys and the user's state, and cuts the link at this packet."""
    for connection in list(device.connections.values()):
        with contextlib.suppress(Exception):  # The link may just have ended.
            await asyncio.wait_for(connection.disconnect(), PATIENCE)
    device.keystore = MemoryKeyStore()
    scene.cutter.arm(step)
    user.begin()


async def _not_read(
    scene: Scene, user: User, peripheral: Device, state: str, may_keep: bool
) -> None:
    """Expects that `ble read` fails, and that neither end stores anything.

    If the last packet was acknowledged but did not arrive, our host may store a bond, which is then removed.
    """
    variables = tool.environment(scene.port, state)
    command = _reading(scene, user)
    status, facts = await asyncio.wait_for(answering(variables, scene.log, user, peripheral, command), user.patience)
    expect("whether the link was cut", scene.cutter.is_cut, True)
    expect_cut(scene.near, status)
    expect("values that were read", values(facts), [])
    kept = await _bonds(scene, state)
    if may_keep:
        for bond in kept:
            await tool.run(variables, scene.log, "bonds", "remove", bond["identifier"])
        return
    expect("pairings", count(facts, "paired"), 0)
    expect("bonds of ours and keys of Bumble", (len(kept), await keys_of(peripheral)), (0, 0))


async def _bonds(scene: Scene, state: str) -> list[tool.Fact]:
    status, facts = await tool.run(tool.environment(scene.port, state), scene.log, "bonds")
    expect("the status of ble bonds", status, 0)
    return facts


async def _read(scene: Scene, user: User, peripheral: Device, state: str) -> None:
    """Expects that `ble read` pairs and reads."""
    variables = tool.environment(scene.port, state)
    command = _reading(scene, user)
    status, facts = await asyncio.wait_for(answering(variables, scene.log, user, peripheral, command), user.patience)
    expect("the status of ble read", status, 0)
    expect_paired(facts, scene.method)
    expect("greeting", set(values(facts)), {greeting(scene.name)})


def _reading(scene: Scene, user: User) -> list[str]:
    """Returns the arguments of `ble`, which reads repeatedly where it does not wait for the pairing."""
    # A passkey has twenty rounds.
    again = ["--count", "8" if scene.method.name == "passkeyEntry" else "3", "--every", "1"]
    return reading(scene.name, scene.method, user) + (again if scene.is_bonded else [])


async def _ours_as_peripheral(scene: Scene, port: int) -> list[str]:
    async with powered_on(port, "central", CENTRAL) as central:
        user = User(scene.method, keeps=True)
        user.use(central)
        with tempfile.TemporaryDirectory() as state:
            async with _serving(scene, user, state) as facts:
                await _pair(scene, user, central, facts)

        def is_restarted(step: int) -> bool:
            """Returns whether our host restarts in between; out-of-band data is printed only once, at the start."""
            return step % 2 == 1 or scene.method.name == "outOfBand"

        async def cut(step: int, is_late: bool, state: str) -> None:
            await _begin(scene, user, central, step)
            async with _serving(scene, user, state) as facts:
                await _not_paired(scene, user, central, facts, is_late)
                if not is_restarted(step):
                    await asyncio.sleep(PAUSE)
                    await _begin(scene, user, central)
                    await _pair(scene, user, central, facts)
            if is_restarted(step):
                expect("bonds of ours", len(await _bonds(scene, state)), 0)
                await _begin(scene, user, central)
                async with _serving(scene, user, state) as facts:
                    await _pair(scene, user, central, facts)

        return await _each(scene, cut)


async def _ours_as_bonded_central(scene: Scene, port: int) -> list[str]:
    """Starts with a bond by Just Works; Bumble requests a better one when the link is encrypted."""
    async with powered_on(port, scene.name, PERIPHERAL) as peripheral:
        await offer(peripheral, scene.method)
        with tempfile.TemporaryDirectory() as first:
            weak = User(JUST_WORKS, keeps=True)
            weak.use(peripheral)
            command = reading(scene.name, JUST_WORKS, weak)
            variables = tool.environment(scene.port, first)
            _, facts = await asyncio.wait_for(answering(variables, scene.log, weak, peripheral, command), PATIENCE)
            expect_paired(facts, JUST_WORKS)
            bonds, keys = await _bonds(scene, first), await _keys(peripheral)
            user = User(scene.method, keeps=True)
            user.use(peripheral)
            peripheral.on("connection", _ask_for_more)

            async def begin(state: str, step: int = 0) -> None:
                await _begin(scene, user, peripheral, step)
                for peer, kept in keys:
                    await peripheral.keystore.update(peer, kept)
                shutil.copytree(first, state, dirs_exist_ok=True)

            async def cut(step: int, is_late: bool, state: str) -> None:
                await begin(state, step)
                command = _reading(scene, user)
                variables = tool.environment(scene.port, state)
                status, facts = await asyncio.wait_for(
                    answering(variables, scene.log, user, peripheral, command), user.patience
                )
                expect("whether the link was cut", scene.cutter.is_cut, True)
                if status == 0:
                    # The cut was so early that `ble` has reconnected by itself, and succeeded.
                    return expect_paired(facts, scene.method)
                expect_cut(scene.near, status)
                if not is_late or scene.near == "ours":
                    expect("pairings", count(facts, "paired"), 0)
                    expect("the bond", await _bonds(scene, state), bonds)
                    expect("whether Bumble's keys are unchanged", await _keys(peripheral) == keys, True)
                await begin(state)
                await _read(scene, user, peripheral, state)

            with tempfile.TemporaryDirectory() as state:
                await begin(state)
                await _read(scene, user, peripheral, state)
            return await _each(scene, cut)


def _ask_for_more(connection: Connection) -> None:
    """Has Bumble request more security as soon as the link is encrypted."""

    def ask() -> None:
        connection.request_pairing()

    connection.on(connection.EVENT_CONNECTION_ENCRYPTION_CHANGE, ask)


async def _keys(device: Device) -> list[tuple[str, PairingKeys]]:
    """Returns the keys that Bumble stores."""
    assert device.keystore
    return [(peer, keys) for peer, keys in await device.keystore.get_all()]


async def _ours_as_bonded_peripheral(scene: Scene, port: int) -> list[str]:
    """Has a central with the address of our host's bonded peer try to pair again."""
    async with powered_on(port, "central", CENTRAL) as central:
        user = User(scene.method, keeps=True)
        user.use(central)
        with tempfile.TemporaryDirectory() as first:
            scene.cutter.arm()
            async with _serving(scene, user, first) as facts:
                await _pair(scene, user, central, facts)
            bonds, keys = await _bonds(scene, first), await _keys(central)
            expect("bonds of ours", len(bonds), 1)

            async def cut(step: int, is_late: bool, state: str) -> None:
                shutil.copytree(first, state, dirs_exist_ok=True)
                await _begin(scene, user, central, step)
                async with _serving(scene, user, state) as facts:
                    await _not_paired(scene, user, central, facts, is_late)
                expect("the bond", await _bonds(scene, state), bonds)
                await _begin(scene, user, central)
                for peer, kept in keys:
                    await central.keystore.update(peer, kept)
                async with _serving(scene, user, state) as facts:
                    if scene.method.secure:
                        await come_back(central, scene.name)
                    expect("pairings of a bonded central", count(facts, "paired"), 0)

            return await _each(scene, cut)


def _serving(scene: Scene, user: User, state: str) -> contextlib.AbstractAsyncContextManager[list[tool.Fact]]:
    return serving(scene.method, user, scene.port, scene.name, scene.log, state)


async def _not_paired(scene: Scene, user: User, central: Device, facts: list[tool.Fact], is_late: bool) -> None:
    """Expects that Bumble does not pair with `ble serve`, and that neither end stores anything.

    Bumble stores the keys as soon as it has passed all of its own to its controller.
    """
    connection = await _connect(scene, user, central)
    gone = asyncio.Event()
    connection.on(connection.EVENT_DISCONNECTION, lambda _: gone.set())
    with contextlib.suppress(ProtocolError, asyncio.CancelledError):
        # A pairing whose link ends is cancelled by Bumble.
        await asyncio.wait_for(connection.pair(), PATIENCE)
        if not is_late:
            raise Mismatch("Bumble has paired although the link was cut")
    if asyncio.current_task().cancelling():  # type: ignore[union-attr]
        raise asyncio.CancelledError
    await asyncio.wait_for(gone.wait(), PATIENCE)
    expect("whether the link was cut", scene.cutter.is_cut, True)
    expect("pairings", count(facts, "paired"), 0)
    if not is_late:
        expect("keys that Bumble stores", await keys_of(central), 0)


async def _connect(scene: Scene, user: User, central: Device) -> Connection:
    connection = await asyncio.wait_for(central.connect(await find(central, scene.name)), PATIENCE)
    if scene.method.tells:
        await asyncio.wait_for(asyncio.shield(user.told), PATIENCE)
    return connection


async def _pair(scene: Scene, user: User, central: Device, facts: list[tool.Fact]) -> None:
    """Pairs Bumble with `ble serve`, and reads."""
    connection = await _connect(scene, user, central)
    await asyncio.wait_for(connection.pair(), PATIENCE)
    await until("our host reports the pairing", lambda: count(facts, "paired") == 1)
    await read(connection, scene.name)
    expect_paired(facts, scene.method)
    await asyncio.wait_for(connection.disconnect(), PATIENCE)
