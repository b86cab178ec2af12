"""BlueZ and our host pair by every method, in either role, and fail to pair where they should."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from dbus_fast import Variant

from interop import results
from interop.controllers import VACANCY
from interop.profile import Mismatch, expect

from . import management, tool
from .box import Box
from .bus import ADAPTER, DEVICE, BlueZ
from .cases import METHODS, Case, Refusal
from .central import Central
from .inside import Inside
from .offer import LOCKED, SAFE
from .peripheral import advertised
from .user import PATIENCE, User, asked, attended

CASE_SECONDS = 150
PAUSE = 1.5
"""A little longer than our host refuses to pair with a device after a failure, in seconds."""
TRIES = 3
GIVES_UP = 45
"""The time after which both have given up a pairing that nobody answers, in seconds."""


class Scene(NamedTuple):
    """The box, BlueZ's adapter, and the adapter or port of our host."""

    box: Box
    bluez: BlueZ
    adapter: str
    place: int | Inside
    name: str
    log: pathlib.Path
    is_private: bool = False
    is_resolved: bool = False
    """BlueZ is private, too, and its controller generates and resolves addresses."""

    def ble(self, *arguments: str) -> contextlib.AbstractAsyncContextManager[tool.Tool]:
        """Runs `ble` until the context ends."""
        return tool.ble(self.place, self.log, *arguments, is_private=self.is_private)

    async def run(self, *arguments: str) -> list[tool.Fact]:
        """Runs `ble` to its end."""
        return await tool.run(self.place, self.log, *arguments, is_private=self.is_private)

    async def bonds(self) -> list[tool.Fact]:
        """Returns the bonds of our host, after its previous process has released the controller."""
        await asyncio.sleep(VACANCY)
        return await self.run("bonds")

    async def forget(self) -> None:
        """Removes the bonds of both ends."""
        for device in self.bluez.under(self.adapter, DEVICE):
            await self.bluez.call(self.adapter, ADAPTER, "RemoveDevice", "o", device)
        for bond in await self.run("bonds"):
            await self.run("bonds", "remove", bond["identifier"])

    def are_paired(self) -> bool:
        """Returns whether BlueZ reports a paired device."""
        return any(found.get("Paired") for found in self.bluez.under(self.adapter, DEVICE).values())


async def accept(
    box: Box,
    bluez: BlueZ,
    adapter: str,
    place: int | Inside,
    name: str,
    log: pathlib.Path,
    cases: Sequence[Case] = METHODS,
    radio: str = "ours",
) -> None:
    """BlueZ pairs with `ble serve`, reads a value that requires pairing, and reads it again after reconnecting."""
    scene = Scene(box, bluez, adapter, place, name, log)
    await _each(_accept, scene, cases, radio, {"central": f"BlueZ {box.version}", "peripheral": "ours"})


async def ask(
    box: Box,
    bluez: BlueZ,
    adapter: str,
    place: int | Inside,
    name: str,
    log: pathlib.Path,
    cases: Sequence[Case] = METHODS,
    radio: str = "ours",
) -> None:
    """`ble read` pairs with BlueZ for a value that requires pairing, and reads it again without a question."""
    scene = Scene(box, bluez, adapter, place, name, log)
    await _each(_ask, scene, cases, radio, {"central": "ours", "peripheral": f"BlueZ {box.version}"})


async def _each(
    attempt: Callable[[Scene, Case], Awaitable[None]],
    scene: Scene,
    cases: Sequence[Case],
    radio: str,
    who: dict[str, str],
) -> None:
    """Tries all cases, records their results, and raises `Mismatch` with the failures."""
    failures = []
    kernel = (await scene.box.shell("uname -r")).strip()
    daemon = await management.daemon(scene.box)
    for number, case in enumerate(cases):
        # rootcanal's controllers do not report resolved addresses correctly.
        is_resolved = case.is_private and radio == "ours"
        try:
            with results.recorded("bluez", **who, kernel=kernel, controllers=radio, **case.facts) as record:
                before = await management.races(scene.box)
                async with (
                    asyncio.timeout(CASE_SECONDS),
                    management.secure(scene.box, scene.adapter, case.is_secure),
                    management.private(scene.box, scene.adapter, is_resolved),
                ):
                    own = scene._replace(name=f"{scene.name[-8:]}{number}", is_private=case.is_private)
                    own = own._replace(is_resolved=is_resolved)
                    await own.forget()
                    async with management.watched(scene.box, daemon):
                        await attempt(own, case)
                record["races"] = await management.races(scene.box) - before
        except Exception as error:  # Any error fails this case; continue with the next.
            failures.append(f"{case.title}: {error or type(error).__name__}")
    with contextlib.suppress(Mismatch):
        await scene.forget()
    if failures:
        more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
        raise Mismatch("; ".join(failures[:3]) + more)


async def _accept(scene: Scene, case: Case) -> None:
    content = {"name": scene.name, "services": [tool.described(SAFE)]}
    options = ["--pairing", case.ours, *(["--tell"] if case.tells else [])]
    with tool.description(content) as file:
        async with asked(scene.bluez, case) as user:
            if not case.is_bonding:
                await scene.bluez.set(scene.adapter, ADAPTER, "Pairable", Variant("b", False))
            if case.refusal:
                await _refused(scene, case, user, file, options)
                user.begin()
            async with scene.ble("serve", file, *options) as server, attended(user, server, "pair "):
                await paired(scene, case, user, server)
            if case.is_private and await scene.bonds():
                await asyncio.sleep(VACANCY)
                async with scene.ble("serve", file, *options) as server:
                    await _met_again(scene, server)


async def _met_again(scene: Scene, server: tool.Tool) -> None:
    """Expects that BlueZ recognizes the bonded `ble serve` after a restart, under another private address."""
    central = Central(scene.box, scene.bluez, scene.adapter, scene.name)
    await server.heard("advertising")
    await central.find()
    async with central.connected():
        expect("value that BlueZ reads", await central.read(central.path(LOCKED.uuid)), LOCKED.value)
    expect("pairings and questions", [fact for fact in server.facts if "pair" in fact["event"]], [])


async def paired(scene: Scene, case: Case, user: User, server: tool.Tool) -> None:
    """Pairs BlueZ with `ble serve`, and uses the services that require pairing."""
    central = Central(scene.box, scene.bluez, scene.adapter, scene.name)
    await server.heard("advertising")
    device = await central.find()
    if case.tells:
        told = (await server.heard("out_of_band"))["data"]
        await management.take(scene.box, scene.adapter, scene.bluez.objects[device][DEVICE], told)
    expect("whether a device without a bond sees a private address", _is_private(scene, device), case.is_private)
    await scene.bluez.call(device, DEVICE, "Pair")
    await server.heard("paired", method=case.method, bonded=case.is_bonding)
    expect_same_numbers(user, case)
    async with central.connected():
        expect("value that BlueZ reads", await central.read(central.path(LOCKED.uuid)), LOCKED.value)
    if not case.is_bonding:
        return expect("bonds", len(await management.diversifiers(scene.box)), 0)
    await expect_generation(scene, case)
    async with central.connected():
        expect("value that BlueZ reads", await central.read(central.path(LOCKED.uuid)), LOCKED.value)
        if scene.is_resolved:
            expect("whether BlueZ shows a private address", _is_private(scene, device), False)
            known = await management.resolving_list(scene.box, scene.adapter)
            expect("whether the controller has its IRK", known != [], True)
    expect("pairings", sum(fact["event"] == "paired" for fact in server.facts), 1)


async def _refused(scene: Scene, case: Case, user: User, file: str, options: list[str]) -> None:
    """Expects that BlueZ and `ble serve` both report a failed pairing."""
    central = Central(scene.box, scene.bluez, scene.adapter, scene.name)
    async with scene.ble("serve", file, *options) as server, attended(user, server, "pair "):
        await server.heard("advertising")
        device = await central.find()
        pairing = asyncio.create_task(scene.bluez.call(device, DEVICE, "Pair", seconds=GIVES_UP))
        try:
            await _leave(scene, case, user, server)
            with contextlib.suppress(Mismatch):
                await pairing
        finally:
            pairing.cancel()
        if pairing.exception() is None:
            raise Mismatch("BlueZ has paired despite the fault")
        if "org.bluez.Error." not in str(pairing.exception()):
            raise Mismatch(f"BlueZ does not report a failed pairing: {pairing.exception()}")
        if case.refusal != Refusal.OURS_LEAVES:
            await server.heard("pairing_failed")
        expect("pairings", [fact for fact in server.facts if fact["event"] == "paired"], [])
        expect("whether BlueZ is paired", scene.are_paired(), False)
        with contextlib.suppress(Mismatch):
            await central.disconnect()
        await central.parted()
        await asyncio.sleep(PAUSE)


async def _ask(scene: Scene, case: Case) -> None:
    options = ["--pairing", case.ours, *([] if case.is_bonding else ["--no-bond"])]
    command = ["read", scene.name, LOCKED.uuid, *options]
    if case.tells:
        return await _ask_told(scene, case, [*command, "--tell", "--timeout", "30"])
    async with advertised(scene.bluez, scene.adapter, scene.name, (SAFE,)), asked(scene.bluez, case) as user:
        if case.refusal:
            await _not_read(scene, case, user, command)
            user.begin()
        async with scene.ble(*command) as reader, attended(user, reader, ""):
            expect_read(case, await reader.finish(3 * PATIENCE))
            expect_same_numbers(user, case)
            await read_again(scene, case)


async def _ask_told(scene: Scene, case: Case, command: list[str]) -> None:
    """Pairs `ble read` with BlueZ, which gets our host's out-of-band data before it advertises."""
    async with advertised(scene.bluez, scene.adapter, f"{scene.name}x", (SAFE,)):
        # Reads a value without pairing: the next process of our host has the same address.
        await scene.run("read", f"{scene.name}x", "2A50")
    (device,) = scene.bluez.under(scene.adapter, DEVICE).values()
    async with asked(scene.bluez, case), scene.ble(*command) as reader:
        told = (await reader.heard("out_of_band"))["data"]
        await management.take(scene.box, scene.adapter, device, told)
        async with advertised(scene.bluez, scene.adapter, scene.name, (SAFE,)):
            expect_read(case, await reader.finish(3 * PATIENCE))
            await read_again(scene, case)


def expect_read(case: Case, facts: list[tool.Fact]) -> None:
    paired = [(fact["method"], fact["bonded"]) for fact in facts if fact["event"] == "paired"]
    expect("method of the pairing", paired, [(case.method, case.is_bonding)])
    values = [bytes.fromhex(fact["value"]) for fact in facts if fact["event"] == "read"]
    expect("value that our host reads", values, [LOCKED.value])


async def read_again(scene: Scene, case: Case) -> None:
    """Expects that our host, if it stores bonds, reconnects and reads without a question."""
    if not case.is_bonding:
        return expect("bonds", len(await management.diversifiers(scene.box)) + len(await scene.bonds()), 0)
    await expect_generation(scene, case)
    if bonds := await scene.bonds():
        kinds = [(bond["secure_connections"], bond["authenticated"]) for bond in bonds]
        expect("bonds", kinds, [(case.is_secure, case.method != "justWorks")])
        await use_bond(scene)


async def use_bond(scene: Scene) -> None:
    """Reads a protected value from a bonded peripheral, and expects no question."""
    async def read() -> tuple[int, list[tool.Fact]]:
        async with scene.ble("read", scene.name, LOCKED.uuid, "--pairing", "none") as reader:
            return await reader.status(), reader.facts

    status, facts = await undisturbed(scene, read)
    expect("the status of ble read of a bonded peripheral", status, 0)
    expect("facts of a read from a bonded peripheral", [fact["event"] for fact in facts], ["read"])


async def undisturbed(
    scene: Scene, read: Callable[[], Awaitable[tuple[int, list[tool.Fact]]]]
) -> tuple[int, list[tool.Fact]]:
    """Reads from a bonded peripheral, and repeats that if `bluetoothd` has abandoned the link."""
    for _ in range(TRIES):
        await asyncio.sleep(VACANCY)
        before = await management.races(scene.box)
        status, facts = await read()
        if status == 0 or await management.races(scene.box) == before:
            break
    return status, facts


async def _not_read(scene: Scene, case: Case, user: User, command: list[str]) -> None:
    """Expects that `ble read` and BlueZ both report a failed pairing."""
    before = await management.failures(scene.box)
    async with scene.ble(*command) as reader, attended(user, reader, ""):
        await _leave(scene, case, user, reader)
        status = await reader.status(GIVES_UP)
        if case.refusal != Refusal.OURS_LEAVES:
            expect("the status of ble read", status, 1)
            expect("pairings that failed", sum(fact["event"] == "pairing_failed" for fact in reader.facts), 1)
        expect("pairings", [fact for fact in reader.facts if fact["event"] in ("paired", "read")], [])
    await management.parted(scene.box, scene.adapter)
    expect("whether BlueZ is paired", scene.are_paired(), False)
    expect("whether BlueZ reports a failed pairing", await management.failures(scene.box) > before, True)


async def _leave(scene: Scene, case: Case, user: User, ours: tool.Tool) -> None:
    """Ends the host that this case names as soon as its user is asked."""
    if case.refusal not in (Refusal.OURS_LEAVES, Refusal.BLUEZ_LEAVES):
        return
    await asyncio.wait_for(user.asked.wait(), PATIENCE)
    if case.refusal == Refusal.OURS_LEAVES:
        ours.signal()
        return
    for device, found in scene.bluez.under(scene.adapter, DEVICE).items():
        if found.get("Connected"):
            await scene.bluez.call(device, DEVICE, "Disconnect")


def _is_private(scene: Scene, device: str) -> bool:
    """Returns whether BlueZ knows a device by a resolvable private address."""
    return int(scene.bluez.property(device, DEVICE, "Address")[:2], 16) >> 6 == 1


async def expect_generation(scene: Scene, case: Case) -> None:
    """Expects that BlueZ stores a key of this generation: only legacy keys have a diversifier."""
    found = await management.diversifiers(scene.box)
    expect("whether BlueZ stores a key of this generation", any(found) != case.is_secure and found != [], True)


def expect_same_numbers(user: User, case: Case) -> None:
    expect("number of comparisons", len(user.numbers), int(case.method == "numericComparison"))
    expect("numbers that differ", [pair for pair in user.numbers if pair[0] != pair[1]], [])
