"""Runs of `ble`, this project's host."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pathlib
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from .processes import running
from .profile import GREETING, NOTE, SERVICE, STORY, STORY_VALUE, TICKS, Mismatch, expect, greeting

BLE = os.environ.get("INTEROP_BLE", "ble")

Fact = dict[str, Any]


def environment(port: int, state: str | None = None) -> dict[str, str]:
    """Returns variables for `ble` with the controller at `port`; with `state`, private and with its state there."""
    variables = {"BLUETOOTH_HOST": f"tcp:127.0.0.1:{port}"}
    return variables | {"XDG_STATE_HOME": state, "BLUETOOTH_PRIVACY": "on"} if state else variables


class ToolCentral:
    """`ble` as the central: a sequence of processes that each reset the controller."""

    def __init__(self, port: int, log: pathlib.Path) -> None:
        self._environment = environment(port)
        self._log = log

    async def converse(self, peripheral: Any) -> None:
        """Uses all services of `peripheral`, which is Bumble."""
        name = peripheral.name
        found = await self._run("scan", "--name", name, "--duration", "1")
        expect("names found by scan", {fact.get("name") for fact in found}, {name})

        tree = json.dumps(await self._run("inspect", name)).lower()
        missing = [uuid for uuid in (SERVICE, GREETING, STORY, NOTE, TICKS) if uuid not in tree]
        expect("missing from ble inspect", missing, [])

        expect("greeting", await self._read(name, GREETING), greeting(name))
        expect("story", await self._read(name, STORY), STORY_VALUE)

        note = f"a note for {name}".encode()
        await self._run("write", name, NOTE, note.hex())
        expect("note as the peripheral has it", peripheral.note, note)
        expect("note read back", await self._read(name, NOTE), note)

        notified = await self._run("notify", name, TICKS, "--count", "3")
        ticks = [bytes.fromhex(fact["value"]) for fact in notified if "value" in fact]
        expect("ticks", ticks, [b"tick 1", b"tick 2", b"tick 3"])

    async def _read(self, name: str, characteristic: str) -> bytes:
        facts = await self._run("read", name, characteristic)
        if not facts or "value" not in facts[-1]:
            raise Mismatch(f"ble read {characteristic} printed no value: {facts}")
        return bytes.fromhex(facts[-1]["value"])

    async def _run(self, *arguments: str) -> list[Fact]:
        status, facts = await run(self._environment, self._log, *arguments)
        if status != 0:
            raise Mismatch(f"{' '.join(('ble', *arguments))}: status {status}, {facts}")
        return facts


async def run(variables: dict[str, str], log: pathlib.Path, *arguments: str) -> tuple[int | None, list[Fact]]:
    """Runs `ble`, and returns its status and its facts."""
    command = " ".join(("ble", *arguments))
    async with running(
        log, BLE, *arguments, "--json", stdout=asyncio.subprocess.PIPE, environment=variables
    ) as process:
        try:
            output, _ = await asyncio.wait_for(process.communicate(), 10)
        except TimeoutError:
            raise Mismatch(f"{command}: still running after 10 s") from None
    return process.returncode, list(_facts(command, output))


def _facts(command: str, output: bytes) -> Iterator[Fact]:
    for line in output.decode().splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            raise Mismatch(f"{command}: the output is not JSON: {line!r}") from None


class ToolPeripheral:
    """`ble serve` as the peripheral."""

    def __init__(self, name: str) -> None:
        self.name = name


@contextlib.asynccontextmanager
async def peripheral(
    port: int, name: str, log: pathlib.Path, state: str | None = None, notes: Iterable[str] = ()
) -> AsyncIterator[ToolPeripheral]:
    """Runs `ble serve` with the common service on the controller at `port`, with additional `notes`."""
    values = {
        GREETING: (["read"], greeting(name)),
        STORY: (["read"], STORY_VALUE),
    } | {uuid: (["read", "write", "notify"], b"") for uuid in (NOTE, *notes)}
    characteristics = [
        {"uuid": uuid, "properties": properties, "value": "0x" + value.hex()}
        for uuid, (properties, value) in values.items()
    ]
    description = {"name": name, "services": [{"uuid": SERVICE, "characteristics": characteristics}]}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(description, file)
        file.flush()
        async with running(log, BLE, "serve", file.name, "--json", environment=environment(port, state)) as process:
            try:
                yield ToolPeripheral(name)
            finally:
                if process.returncode is not None:
                    raise Mismatch(f"ble serve ended unexpectedly, with status {process.returncode}")
