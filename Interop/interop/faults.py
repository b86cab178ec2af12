"""Bumble's central meets the faults that `ble serve --fault` makes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import NamedTuple
from unittest import mock

from bumble import gatt_client
from bumble.att import ATT_Error
from bumble.core import UUID, ProtocolError
from bumble.device import Connection, Device, Peer
from bumble.gatt_client import CharacteristicProxy
from bumble.hci import HCI_PIN_OR_KEY_MISSING_ERROR
from bumble.keys import MemoryKeyStore

from . import tool
from .bumble_host import find, powered_on
from .processes import running
from .profile import SERVICE, Mismatch, expect, numbered

SECONDS = 240
"""The time limit of a round."""
ROUNDS = 2
VALUE = b"\x01\x02\x03\x04\x05"
OTHER = "5c6b0000-0000-4f6c-8d2a-000000000001"
"""The last service of the device, which some faults remove."""
SILENCE = 3
"""Seconds for which Bumble waits for a response in these tests."""


class Request(NamedTuple):
    """A fault of a request, and what Bumble gets of it."""

    fault: str
    write: bool
    found: bytes | int | type[Exception] | None
    """The value, the error code, the kind of exception, or None for a write that succeeds."""


REQUESTS = [
    Request("answer after 1000 ms at step didReceiveRead 1", False, VALUE),
    Request("answer after 1000 ms at step didReceiveWrite 1", True, None),
    Request("error 14 at step didReceiveRead 1", False, 14),
    Request("error 3 at step didReceiveWrite 1", True, 3),
    Request("error 128 at step didReceiveRead 1", False, 128),
    Request("error 200 at every didReceiveRead", False, 200),
    Request("length 1 at step didReceiveRead 1", False, VALUE[:1]),
    Request("length 0 at step didReceiveRead 1", False, b""),
    Request("length 512 at step didReceiveRead 1", False, VALUE + bytes(507)),
    Request("value ffff at step didReceiveRead 1", False, b"\xff\xff"),
]
"""Each is made for a characteristic of its own, on one connection."""

UPDATES = [
    "drop at step updateValue 1",
    "repeat at step updateValue 2",
    "value ff at step updateValue 3",
    "length 1 at step updateValue 4",
    "value aa after 1000 ms at step updateValue 5",
]
UPDATED = [b"\x02\x00", b"\x02\x00", b"\xff", b"\x04", b"\x06\x00", b"\xaa"]
"""The notifications when the values 0100, 0200 and so on up to 0600 are set."""


@contextlib.asynccontextmanager
async def _served(port: int, name: str, log: pathlib.Path, *faults: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Runs `ble serve` with these faults until the context ends."""
    names = [numbered(index) for index in range(len(REQUESTS))]
    first = [{"uuid": uuid, "properties": ["read", "write", "notify"], "value": VALUE.hex()} for uuid in names]
    secret = {"uuid": numbered(20), "properties": ["read"], "value": "07", "permissions": ["readEncryptionRequired"]}
    services = [{"uuid": SERVICE, "characteristics": first}, {"uuid": OTHER, "characteristics": [secret]}]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"name": name, "services": services}, file)
        file.flush()
        options = [word for fault in faults for word in ("--fault", fault)]
        async with running(
            log,
            tool.BLE,
            "serve",
            file.name,
            *options,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            environment=tool.environment(port),
        ) as process:
            yield process
            if process.returncode is not None:
                raise Mismatch(f"ble serve with {faults} ended with status {process.returncode}")


async def _connect(device: Device, name: str) -> Connection:
    return await asyncio.wait_for(device.connect(await find(device, name)), 5)


async def _discover(connection: Connection) -> dict[UUID, CharacteristicProxy]:
    peer = Peer(connection)
    await peer.request_mtu(247)
    found: dict[UUID, CharacteristicProxy] = {}
    for service in await peer.discover_services():
        found |= {each.uuid: each for each in await service.discover_characteristics()}
    return found


async def _requests(device: Device, port: int, name: str, log: pathlib.Path) -> None:
    faults = [f"{request.fault} of {numbered(index)}" for index, request in enumerate(REQUESTS)]
    async with _served(port, name, log, *faults):
        connection = await _connect(device, name)
        found = await _discover(connection)
        for index, request in enumerate(REQUESTS):
            characteristic = found[UUID(numbered(index))]
            got: object
            try:
                if request.write:
                    got = await characteristic.write_value(b"\x07", with_response=True)
                else:
                    got = await characteristic.read_value()
            except (ATT_Error, ProtocolError) as error:
                got = error.error_code
            expect(request.fault, got, request.found)
        await asyncio.wait_for(connection.disconnect(), 5)


async def _silence(device: Device, port: int, name: str, log: pathlib.Path) -> None:
    for write in (False, True):
        step = "didReceiveWrite" if write else "didReceiveRead"
        async with _served(port, name, log, f"silence at step {step} 1"):
            connection = await _connect(device, name)
            characteristic = (await _discover(connection))[UUID(numbered(0))]
            work = characteristic.write_value(b"\x07", with_response=True) if write else characteristic.read_value()
            await _failing(f"silence at step {step} 1", work)
            await asyncio.wait_for(connection.disconnect(), 5)


async def _failing(what: str, work: Awaitable[object]) -> None:
    """Expects `work` to end with an error."""
    try:
        got = await asyncio.wait_for(work, 40)
    except (Exception, asyncio.CancelledError):
        return
    raise Mismatch(f"{what}: Bumble got {got!r} instead of an error")


async def _ended(connection: Connection, work: Awaitable[object], fault: str) -> None:
    """Expects the connection to end during or after `work`, which may fail."""
    ended = asyncio.Event()
    connection.on(Connection.EVENT_DISCONNECTION, lambda _: ended.set())
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait_for(ended.wait(), 10)
    except TimeoutError:
        raise Mismatch(f"{fault}: the connection did not end within 10 s") from None
    await asyncio.wait([task], timeout=10)
    task.cancel()
    with contextlib.suppress(Exception, asyncio.CancelledError):
        await task


async def _updates(device: Device, port: int, name: str, log: pathlib.Path) -> None:
    async with _served(port, name, log, *UPDATES) as process:
        connection = await _connect(device, name)
        characteristic = (await _discover(connection))[UUID(numbered(0))]
        notified: asyncio.Queue[bytes] = asyncio.Queue()
        await characteristic.subscribe(notified.put_nowait)
        assert process.stdin
        for number in range(1, 7):
            process.stdin.write(f"{numbered(0)} 0x{number:02x}00\n".encode())
        await process.stdin.drain()
        got = [await asyncio.wait_for(notified.get(), 10) for _ in UPDATED]
        expect("notifications", got, UPDATED)
        await asyncio.wait_for(connection.disconnect(), 5)


async def _disconnections(device: Device, port: int, name: str, log: pathlib.Path) -> None:
    async def read(connection: Connection) -> None:
        await (await _discover(connection))[UUID(numbered(0))].read_value()

    async def write(connection: Connection) -> None:
        await (await _discover(connection))[UUID(numbered(0))].write_value(b"\x07", with_response=True)

    async def subscribe(connection: Connection) -> None:
        await (await _discover(connection))[UUID(numbered(0))].subscribe()

    async def discover(connection: Connection) -> None:
        await _discover(connection)

    cases: list[tuple[str, Callable[[Connection], Awaitable[None]]]] = [
        ("disconnect at step didReceiveRead 1", read),
        ("disconnect at step didReceiveWrite 1", write),
        ("disconnect after 50 ms at step didSubscribe 1", subscribe),
        ("disconnect after 50 ms at step didConnect 1", discover),
        ("disconnect at step didConnect 1", discover),
        ("disconnect at time 3000 ms", discover),
    ]
    for fault, use in cases:
        async with _served(port, name, log, fault):
            connection = await _connect(device, name)
            await _ended(connection, use(connection), fault)
            # The device can be used again.
            connection = await _connect(device, name)
            await _discover(connection)
            await asyncio.wait_for(connection.disconnect(), 5)


async def _services(device: Device, port: int, name: str, log: pathlib.Path) -> None:
    faults = [
        "servicesChange after 50 ms at step didConnect 1",
        f"servicesChange at step didReceiveRead 1 of {numbered(0)}",
    ]
    async with _served(port, name, log, *faults):
        connection = await _connect(device, name)
        await asyncio.sleep(0.5)
        peer = Peer(connection)
        for present in (False, True):
            for _ in range(50):
                services = await peer.discover_services()
                if (UUID(OTHER) in {service.uuid for service in services}) == present:
                    break
                await asyncio.sleep(0.1)
            else:
                raise Mismatch(f"servicesChange: the service is {'missing' if present else 'still there'}")
            if not present:
                await (await _discover(connection))[UUID(numbered(0))].read_value()
        await asyncio.wait_for(connection.disconnect(), 5)


async def _pairing(device: Device, port: int, name: str, log: pathlib.Path) -> None:
    async with _served(port, name, log, "refusePairing at time 0 ms"):
        connection = await _connect(device, name)
        await _failing("refusePairing", connection.pair())
        await asyncio.wait_for(connection.disconnect(), 5)


async def _lost_keys(device: Device, port: int, name: str, log: pathlib.Path) -> None:
    fault, again = (f"forgetBonds at step didReceiveRead {number} of {numbered(0)}" for number in (2, 3))

    async def read(connection: Connection) -> bytes:
        return await (await _discover(connection))[UUID(numbered(0))].read_value()

    device.keystore = keys = MemoryKeyStore()
    async with _served(port, name, log, fault, again):
        connection = await _connect(device, name)
        await asyncio.wait_for(connection.pair(), 10)
        expect("read with a new bond", await read(connection), VALUE)
        await asyncio.wait_for(connection.disconnect(), 5)

        connection = await _connect(device, name)
        await asyncio.wait_for(connection.encrypt(), 10)
        await _ended(connection, read(connection), fault)

        connection = await _connect(device, name)
        try:
            await asyncio.wait_for(connection.encrypt(), 10)
        except ProtocolError as error:
            expect(fault, error.error_code, HCI_PIN_OR_KEY_MISSING_ERROR)
        else:
            raise Mismatch(f"{fault}: Bumble encrypted the connection with the lost key")

        # Without a bond on either side, they pair again. The next round needs a device without bonds, too.
        await keys.delete_all()
        await asyncio.wait_for(connection.pair(), 10)
        await _ended(connection, read(connection), again)


async def _advertising(device: Device, port: int, name: str, log: pathlib.Path) -> None:
    async with _served(port, name, log, "stopAdvertising at time 0 ms", "startAdvertising at time 8000 ms"):
        await asyncio.sleep(1)
        try:
            await find(device, name)
        except Mismatch:
            pass
        else:
            raise Mismatch("stopAdvertising: Bumble found the device")
        connection = await _connect(device, name)
        await asyncio.wait_for(connection.disconnect(), 5)


async def converse(first: int, second: int, name: str, log: pathlib.Path) -> None:
    """Runs one round: Bumble is the central on `first`, and `ble serve` the device on `second`."""
    with mock.patch.object(gatt_client, "GATT_REQUEST_TIMEOUT", SILENCE):
        async with powered_on(first, "central", "F0:F1:F2:F3:F4:F6") as device:
            for part in (_requests, _silence, _updates, _disconnections, _services, _pairing, _lost_keys, _advertising):
                await part(device, second, name, log)
