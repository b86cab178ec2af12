"""The two sides of a pairing between our host and Bumble's: running them, answering for the user, reconnecting."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import signal
import tempfile
from collections.abc import AsyncIterator, Callable

from bumble.core import UUID
from bumble.device import Device
from bumble.gatt import Characteristic, Service
from bumble.hci import Address
from bumble.pairing import OobSharedData

from . import tool
from .bumble_host import advertise, find
from .methods import BUMBLE_LEAVES, OURS_LEAVES, Method
from .pairing import read
from .processes import running
from .profile import GREETING, SERVICE, Mismatch, expect, greeting
from .user import PATIENCE, User

PERIPHERAL, CENTRAL = "F0:F1:F2:F3:F4:F5", "F0:F1:F2:F3:F4:F6"


async def offer(peripheral: Device, method: Method) -> None:
    """Has Bumble advertise a value that requires a pairing at least as secure as this method."""
    needed = Characteristic.READ_REQUIRES_ENCRYPTION
    if method.authenticated:
        needed = Characteristic.READ_REQUIRES_AUTHENTICATION
    protected = Characteristic(
        GREETING, Characteristic.READ, Characteristic.READABLE | needed, greeting(peripheral.name)
    )
    peripheral.add_services([Service(UUID(SERVICE), [protected])])
    await advertise(peripheral)


def reading(name: str, method: Method, user: User) -> list[str]:
    """Returns the arguments with which `ble` reads that value."""
    command = ["read", name, GREETING, "--json", "--pairing", method.ours]
    command += method.key + ([] if method.bonding else ["--no-bond"])
    return command + (["--tell", "--told", user.structures] if method.tells else [])


async def leave(user: User, device: Device | None) -> None:
    """Has Bumble disconnect as soon as the user is asked, if this is the fault of the round."""
    await user.asked.wait()
    if user.refusal == BUMBLE_LEAVES and device:
        for connection in list(device.connections.values()):
            await connection.disconnect()


async def until(what: str, condition: Callable[[], bool]) -> None:
    for _ in range(PATIENCE * 20):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise Mismatch(f"timed out after {PATIENCE} s waiting for: {what}")


async def keys_of(device: Device) -> int:
    """Returns the number of peers whose keys Bumble stores."""
    assert device.keystore
    return len(await device.keystore.get_all())


async def come_back(central: Device, name: str) -> Address:
    """Connects again, encrypts the link with the stored key, and returns the address that was found."""
    heard = await find(central, name)
    connection = await asyncio.wait_for(central.connect(heard), PATIENCE)
    await asyncio.wait_for(connection.encrypt(), PATIENCE)
    await read(connection, name)
    await asyncio.wait_for(connection.disconnect(), PATIENCE)
    return heard


@contextlib.asynccontextmanager
async def serving(
    method: Method, user: User, port: int, name: str, log: pathlib.Path, state: str
) -> AsyncIterator[list[tool.Fact]]:
    """Runs `ble serve` with a protected value, and yields a list that its facts are added to."""
    value = {
        "uuid": GREETING,
        "properties": ["read"],
        "permissions": ["readEncryptionRequired"],
        "value": "0x" + greeting(name).hex(),
    }
    description = {"name": name, "services": [{"uuid": SERVICE, "characteristics": [value]}]}
    facts: list[tool.Fact] = []
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(description, file)
        file.flush()
        command = [tool.BLE, "serve", file.name, "--json", "--pairing", method.ours]
        command += method.key + (["--tell"] if method.tells else [])
        async with _running(log, tool.environment(port, state), *command) as process:
            listening = _listen(process, user, facts, "pair ")
            tasks = [asyncio.create_task(each) for each in (listening, _part(user, process))]
            try:
                yield facts
                if process.returncode is not None and user.refusal != OURS_LEAVES:
                    raise Mismatch(f"ble serve ended unexpectedly, with status {process.returncode}")
            finally:
                for each in tasks:
                    each.cancel()


async def answering(
    variables: dict[str, str], log: pathlib.Path, user: User, peripheral: Device | None, command: list[str]
) -> tuple[int | None, list[tool.Fact]]:
    """Runs `ble`, has the user answer its questions, and returns its status and its facts."""
    facts: list[tool.Fact] = []
    async with _running(log, variables, tool.BLE, *command) as process:
        leaving = [asyncio.ensure_future(each) for each in (_part(user, process), leave(user, peripheral))]
        try:
            await _listen(process, user, facts, "")
            await process.wait()
        finally:
            for each in leaving:
                each.cancel()
    return process.returncode, facts


async def _part(user: User, process: asyncio.subprocess.Process) -> None:
    """Interrupts our host as soon as the user is asked, if this is the fault of the round."""
    await user.asked.wait()
    if user.refusal == OURS_LEAVES:
        process.send_signal(signal.SIGINT)


def _running(
    log: pathlib.Path, variables: dict[str, str], *command: str
) -> contextlib.AbstractAsyncContextManager[asyncio.subprocess.Process]:
    return running(
        log, *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, environment=variables
    )


async def _listen(process: asyncio.subprocess.Process, user: User, facts: list[tool.Fact], prefix: str) -> None:
    assert process.stdout and process.stdin

    async def answer(fact: tool.Fact) -> None:
        # If the link was lost, no number is shown.
        with contextlib.suppress(TimeoutError):
            said = await user.answer(fact["question"], fact.get("digits"))
            if said is not None:
                process.stdin.write(f"{prefix}{said}\n".encode())

    answers: list[asyncio.Task[None]] = []
    try:
        while line := await process.stdout.readline():
            fact = json.loads(line)
            facts.append(fact)
            if fact["event"] == "out_of_band" and not user.told.done():
                octets = bytes.fromhex(fact["data"])
                user.told.set_result(OobSharedData(c=octets[2:18], r=octets[20:36]))
            if fact["event"] == "pairing_asked":
                answers.append(asyncio.create_task(answer(fact)))
    finally:
        for each in answers:
            each.cancel()


async def keeps_bonds(variables: dict[str, str], log: pathlib.Path) -> bool:
    """Returns whether a bond was stored, which depends on whether the radio's peers are."""
    status, facts = await tool.run(variables, log, "bonds")
    expect("the status of ble bonds", status, 0)
    return bool(facts)


def expect_paired(facts: list[tool.Fact], method: Method) -> None:
    paired = [(fact["method"], fact["bonded"]) for fact in facts if fact["event"] == "paired"]
    expect("method of the pairing", paired, [(method.name, method.bonding)])


def values(facts: list[tool.Fact]) -> list[bytes]:
    """Returns the values that were read."""
    return [bytes.fromhex(fact["value"]) for fact in facts if fact["event"] == "read"]


def count(facts: list[tool.Fact], event: str) -> int:
    return sum(fact["event"] == event for fact in facts)
