"""Tests our host on a serial line with faults, against Bumble: it continues or says why not; no value is wrong."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import random
import signal
import tempfile
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple

from bumble.core import UUID, ProtocolError
from bumble.device import Connection, Device, Peer
from bumble.gatt import Characteristic, CharacteristicValue, Service

from .bumble_host import advertise, find, powered_on
from .processes import running
from .profile import NOTE, SERVICE, STORY, TICKS, Mismatch, expect
from .serial_line import Board, Trouble, board
from .tool import BLE, Fact

LINE_IS_BAD = (1, 69, 75)
"""The statuses of commands whose peripheral has left, whose radio is lost, or that found no peripheral."""
ATTEMPTS = 12
"""The number of times that a command may end because of the line."""
VALUES = 20
"""The number of values that a command reads or receives, and that are written to our host."""
SECONDS = 90
"""The time limit of a round, in which most commands fail before they succeed."""
LONGEST = 60
"""The octets of the longest value; some values fit one HCI packet, others need several."""


class Line(NamedTuple):
    """A rate in symbols a second, and a fault."""

    rate: int
    trouble: str


LINES = (
    Line(115_200, "none"),
    Line(115_200, "loss"),
    Line(115_200, "noise"),
    Line(1_000_000, "none"),
    Line(1_000_000, "loss"),
    Line(115_200, "stall"),
    Line(115_200, "overrun"),
)
"""The lines of the rounds, in order."""
ROUNDS = 3
"""The usual number of rounds: the others take long, and run only with `--rounds`."""


def sealed(number: int) -> bytes:
    """Returns a number with padding and a checksum."""
    octets = number.to_bytes(4, "little")
    octets += random.Random(number).randbytes(number * 7 % (LONGEST - 8))
    return octets + zlib.crc32(octets).to_bytes(4, "little")


def opened(value: bytes) -> int:
    """Returns the number that was sealed; raises `Mismatch` if this is no such value."""
    number = int.from_bytes(value[:4], "little")
    expect("a value", value.hex(), sealed(number).hex())
    return number


def expect_rising(what: str, values: list[bytes], step: int | None = None) -> None:
    """Raises `Mismatch` if a value is wrong, repeated or out of order, or, with a step, if one is missing."""
    numbers = [opened(value) for value in values]
    for one, next in zip(numbers, numbers[1:]):
        if next <= one or step and next != one + step:
            raise Mismatch(f"{what}: {next} follows {one}")


class Serial:
    """Runs of `ble` on boards with one kind of line, each on a board of its own."""

    def __init__(self, port: int, line: Line, seed: int, log: pathlib.Path) -> None:
        self.troubles = 0
        self._port = port
        self._line = line
        self._seed = seed
        self._log = log

    @contextlib.asynccontextmanager
    async def ble(self, *arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, Board]]:
        """Runs `ble` on a new board until the context ends."""
        self._seed += 1
        pipe = asyncio.subprocess.PIPE
        async with board(self._port, self._line.rate, Trouble(self._line.trouble, self._seed)) as at:
            variables = {"BLUETOOTH_HOST": at.host, "BLUETOOTH_LOG": "notice"}
            async with running(self._log, BLE, *arguments, "--json", stdout=pipe, environment=variables) as process:
                try:
                    yield process, at
                finally:
                    self.troubles += at.troubles

    async def run(
        self, *arguments: str, check: Callable[[list[Fact]], None], recover: Callable[[], Awaitable[None]]
    ) -> None:
        """Runs `ble` until it succeeds; its output, also before a failure, must pass `check`."""
        for _ in range(ATTEMPTS):
            async with self.ble(*arguments) as (process, at):
                try:
                    output, _ = await asyncio.wait_for(process.communicate(), 20)
                except TimeoutError:
                    raise Mismatch(f"ble {arguments[0]}: still running after 20 s on {self._line}") from None
            check([json.loads(line) for line in output.splitlines()])
            if process.returncode == 0:
                return
            await recover()
            if self._line.trouble == "none" or process.returncode not in LINE_IS_BAD:
                raise Mismatch(f"ble {arguments[0]}: status {process.returncode} on {self._line}")
        raise Mismatch(f"ble {arguments[0]} has failed {ATTEMPTS} times on {self._line}")


async def converse(central: str, first: int, second: int, name: str, number: int, log: pathlib.Path) -> None:
    """Runs one round on one of the lines; the controllers are rootcanal's."""
    line = LINES[(number - 1) % len(LINES)]
    talk = _be_central if central == "ours" else _be_peripheral
    serial = Serial(first if central == "ours" else second, line, number * 1000, log)
    for _ in range(ATTEMPTS):
        await talk(serial, second if central == "ours" else first, name)
        if line.trouble == "none" or serial.troubles:
            return
    raise Mismatch(f"no fault occurred on {line}: the round proves nothing")


class _Counting:
    """Bumble as a peripheral that counts its reads, and notifies a counter."""

    def __init__(self, device: Device) -> None:
        self.note = b""
        self._reads = 0
        self._told = 0
        self._device = device
        read = CharacteristicValue(read=self._read)
        wrote = CharacteristicValue(write=self._wrote)
        self._ticks = Characteristic(TICKS, Characteristic.NOTIFY, Characteristic.READABLE)
        readable = Characteristic(STORY, Characteristic.READ, Characteristic.READABLE, read)
        writable = Characteristic(NOTE, Characteristic.WRITE, Characteristic.WRITEABLE, wrote)
        device.add_services([Service(UUID(SERVICE), [readable, writable, self._ticks])])

    def _read(self, _: Connection) -> bytes:
        self._reads += 1
        return sealed(self._reads)

    def _wrote(self, _: Connection, value: bytes) -> None:
        opened(value)
        self.note = value

    async def let_go(self) -> None:
        """Disconnects from a central that has left without disconnecting."""
        for connection in list(self._device.connections.values()):
            with contextlib.suppress(ProtocolError, TimeoutError):
                await asyncio.wait_for(connection.disconnect(), 1)

    async def tell(self) -> None:
        """Notifies one value after the other."""
        while True:
            await asyncio.sleep(0.02)
            self._told += 1
            with contextlib.suppress(ProtocolError, TimeoutError):
                await self._device.notify_subscribers(self._ticks, sealed(self._told))


async def _be_central(serial: Serial, port: int, name: str) -> None:
    """Runs `ble` to scan for, read, subscribe to and write to Bumble."""
    async with powered_on(port, name, "F0:F1:F2:F3:F4:F5") as device:
        peripheral = _Counting(device)
        await advertise(device)
        telling = asyncio.create_task(peripheral.tell())
        try:
            words = ("scan", "--name", name, "--duplicates", "--duration", "1")
            await serial.run(*words, check=_expect_sightings(name), recover=peripheral.let_go)
            for command in ("read", "notify", "write"):
                await _use(serial, peripheral, name, command)
        finally:
            telling.cancel()


async def _use(serial: Serial, peripheral: _Counting, name: str, command: str) -> None:
    def check(facts: list[Fact]) -> None:
        event = {"read": "read", "notify": "received"}.get(command)
        values = [bytes.fromhex(fact["value"]) for fact in facts if fact["event"] == event]
        expect_rising(f"values of ble {command}", values, step=1 if command == "notify" else None)
    words = {
        "read": (STORY, "--count", str(VALUES), "--every", "0.02"),
        "notify": (TICKS, "--count", str(VALUES)),
        "write": (NOTE, sealed(7).hex()),
    }
    await serial.run(command, name, *words[command], check=check, recover=peripheral.let_go)
    if command == "write":
        expect("value that was written", peripheral.note, sealed(7))


def _expect_sightings(name: str) -> Callable[[list[Fact]], None]:
    def check(facts: list[Fact]) -> None:
        events = {fact["event"] for fact in facts}
        expect("other facts of ble scan", events - {"discovered", "radio_lost", "radio_returned"}, set())
        expect("names", {fact["name"] for fact in facts if fact["event"] == "discovered"}, {name})
    return check


async def _be_peripheral(serial: Serial, port: int, name: str) -> None:
    """Has Bumble write to and read from `ble serve`, and reconnect whenever the line has lost the link."""
    characteristics = [
        {"uuid": STORY, "properties": ["read"], "value": "0x" + sealed(1).hex()},
        {"uuid": NOTE, "properties": ["read", "write", "notify"], "value": "0x" + sealed(0).hex()},
    ]
    description = {"name": name, "services": [{"uuid": SERVICE, "characteristics": characteristics}]}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(description, file)
        file.flush()
        async with serial.ble("serve", file.name) as (process, _):
            facts: list[Fact] = []
            reading = asyncio.create_task(_collect(process, facts))
            async with powered_on(port, "central", "F0:F1:F2:F3:F4:F6") as device:
                await _Writer(device, name).write_all()
            process.send_signal(signal.SIGINT)
            await asyncio.wait_for(reading, 5)
            expect("status of ble serve", await process.wait(), 0)
    written = [bytes.fromhex(fact["value"]) for fact in facts if fact["event"] == "written"]
    # A value may be written once more if the link was lost before the response.
    numbers = [opened(value) for value in written]
    expect("values written to ble serve", sorted(set(numbers)), list(range(1, VALUES + 1)))
    expect("order of these values", numbers, sorted(numbers))


async def _collect(process: asyncio.subprocess.Process, facts: list[Fact]) -> None:
    assert process.stdout
    while line := await process.stdout.readline():
        facts.append(json.loads(line))


class _Writer:
    """Bumble as a central that writes numbers, one after the other."""

    def __init__(self, device: Device, name: str) -> None:
        self._device = device
        self._name = name
        self._next = 1

    async def write_all(self) -> None:
        for _ in range(ATTEMPTS):
            try:
                await self._visit()
            except asyncio.CancelledError:
                # This is how Bumble ends pending requests when the link is lost.
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
            except (ProtocolError, TimeoutError):
                pass
            if self._next > VALUES:
                return
        raise Mismatch(f"Bumble has written {self._next - 1} values of {VALUES} in {ATTEMPTS} visits")

    async def _visit(self) -> None:
        try:
            address = await find(self._device, self._name)
        except Mismatch:
            return
        connection = await asyncio.wait_for(self._device.connect(address), 5)
        try:
            peer = Peer(connection)
            await self._soon(peer.request_mtu(247))
            await self._soon(peer.discover_services())
            (service,) = [each for each in peer.services if each.uuid == UUID(SERVICE)]
            found = {each.uuid: each for each in await self._soon(service.discover_characteristics())}
            expect("story", await self._soon(found[UUID(STORY)].read_value()), sealed(1))
            while self._next <= VALUES:
                await self._soon(found[UUID(NOTE)].write_value(sealed(self._next), with_response=True))
                self._next += 1
        finally:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(connection.disconnect(), 1)

    async def _soon(self, answer: Awaitable[Any]) -> Any:
        return await asyncio.wait_for(answer, 3)
