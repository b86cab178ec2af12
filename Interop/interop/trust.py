"""Pairs this project's host with Bumble's by every method, also with faults."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import tempfile

from bumble.core import ProtocolError
from bumble.device import Device
from bumble.smp import AddressResolver

from . import results, tool
from .bumble_host import find, powered_on
from .methods import OURS_LEAVES, Method, methods
from .pairing import read
from .profile import GREETING, Mismatch, expect, greeting
from .sides import (
    CENTRAL,
    PERIPHERAL,
    answering,
    come_back,
    count,
    expect_paired,
    keeps_bonds,
    keys_of,
    leave,
    offer,
    reading,
    serving,
    until,
    values,
)
from .user import PATIENCE, User

# Longer than our host refuses to pair with a device after a failure.
PAUSE = 1.5
# Bumble uses a random static address, and sends its public one as its identity address, with this key.
RESOLVING_KEY = bytes(range(1, 17))
# The time limit of a round.
SECONDS = 90


async def converse(
    controllers: str, central: str, first: int, second: int, name: str, round_number: int, log: pathlib.Path
) -> None:
    """Runs one round: they pair, use a protected value, and do so again without a question after reconnecting."""
    known = methods(controllers)
    method = known[(round_number - 1) % len(known)]
    who = {"central": "ours", "peripheral": "Bumble"}
    if central != "ours":
        who = {"central": "Bumble", "peripheral": "ours"}
    with tempfile.TemporaryDirectory() as state, results.recorded(
        "bumble", **who, controllers=controllers, **method.facts
    ):
        if central == "ours":
            await _ours_as_central(method, first, second, name, log, state)
        else:
            await _ours_as_peripheral(method, first, second, name, log, state)


async def _ours_as_central(
    method: Method, first: int, second: int, name: str, log: pathlib.Path, state: str
) -> None:
    user = User(method, keeps=True)
    variables = tool.environment(first, state)
    async with powered_on(second, name, PERIPHERAL, irk=RESOLVING_KEY) as peripheral:
        user.use(peripheral)
        await offer(peripheral, method)
        command = reading(name, method, user)
        if method.refusal:
            status, facts = await asyncio.wait_for(answering(variables, log, user, peripheral, command), user.patience)
            if method.refusal != OURS_LEAVES:
                expect("the status of ble read", status, 1)
                expect("pairings that failed", count(facts, "pairing_failed"), 1)
            expect("pairings and reads", count(facts, "paired") + count(facts, "read"), 0)
            expect("keys that Bumble stores", await keys_of(peripheral), 0)
            user.begin()
        status, facts = await asyncio.wait_for(answering(variables, log, user, peripheral, command), user.patience)
        expect("the status of ble read", status, 0)
        expect_paired(facts, method)
        expect("greeting", values(facts), [greeting(name)])
        if not method.bonding:
            return expect("whether a bond is stored", await keeps_bonds(variables, log), False)
        if not method.secure or not await keeps_bonds(variables, log):
            return
        status, facts = await tool.run(variables, log, "read", name, GREETING, "--pairing", "none")
        expect("the status of ble read of a bonded peripheral", status, 0)
        expect("pairings of a bonded peripheral", count(facts, "paired"), 0)
        expect("greeting", values(facts), [greeting(name)])


async def _ours_as_peripheral(
    method: Method, first: int, second: int, name: str, log: pathlib.Path, state: str
) -> None:
    user = User(method, keeps=method.bonding)
    async with powered_on(first, "central", CENTRAL, irk=RESOLVING_KEY) as central:
        user.use(central)
        if method.refusal:
            await _refused_by_ours(method, user, central, second, name, log, state)
            user.begin()
        async with serving(method, user, second, name, log, state) as facts:
            heard = await find(central, name)
            expect("whether our host uses a private address", heard.is_resolvable, True)
            connection = await asyncio.wait_for(central.connect(heard), PATIENCE)
            if method.tells:
                await asyncio.wait_for(asyncio.shield(user.told), PATIENCE)
            await asyncio.wait_for(connection.pair(), PATIENCE)
            await read(connection, name)
            expect_paired(facts, method)
            await asyncio.wait_for(connection.disconnect(), PATIENCE)
            if not method.secure or not method.bonding:
                return
            await come_back(central, name)
            expect("pairings of a bonded central", count(facts, "paired"), 1)
        if not await keeps_bonds(tool.environment(second, state), log):
            return
        async with serving(method, user, second, name, log, state) as facts:
            changed = await come_back(central, name)
            expect("pairings with a host that was restarted", count(facts, "paired"), 0)
        expect("whether our host has another address afterwards", changed != heard, True)
        resolver = await _resolver(central)
        owners = {str(resolver.resolve(address)) for address in (heard, changed)}
        expect("whether Bumble's keys resolve both", len(owners) == 1 and "None" not in owners, True)


async def _refused_by_ours(
    method: Method, user: User, central: Device, port: int, name: str, log: pathlib.Path, state: str
) -> None:
    """Expects that Bumble and `ble serve` both report a failed pairing."""
    async with serving(method, user, port, name, log, state) as facts:
        connection = await asyncio.wait_for(central.connect(await find(central, name)), PATIENCE)
        pairing = asyncio.ensure_future(connection.pair())
        leaving = asyncio.ensure_future(leave(user, central))
        try:
            await asyncio.wait_for(pairing, user.patience)
            raise Mismatch("Bumble has paired despite the fault")
        except (ProtocolError, asyncio.CancelledError):
            # A pairing whose link ends is cancelled by Bumble.
            if asyncio.current_task().cancelling():  # type: ignore[union-attr]
                raise
        finally:
            leaving.cancel()
        if method.refusal != OURS_LEAVES:
            await until("our host reports the failure", lambda: count(facts, "pairing_failed") == 1)
        expect("pairings", count(facts, "paired"), 0)
        expect("keys that Bumble stores", await keys_of(central), 0)
        if connection in central.connections.values():
            with contextlib.suppress(Exception):  # The link may just have ended.
                await asyncio.wait_for(connection.disconnect(), PATIENCE)
    await asyncio.sleep(PAUSE)


async def _resolver(device: Device) -> AddressResolver:
    """Returns a resolver with the keys of Bumble's bonds."""
    assert device.keystore
    return AddressResolver(await device.keystore.get_resolving_keys())
