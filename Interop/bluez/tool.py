"""Runs of `ble`: service descriptions for it, and the facts that it prints."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from typing import Any

from interop.processes import end, running
from interop.profile import Mismatch
from interop.tool import BLE

from .inside import Inside
from .offer import CONFIGURATION, PRESENTATION_FORMAT, USER_DESCRIPTION, Service, Tree, full

Fact = dict[str, Any]


SECONDS = 20
SECONDS_INSIDE = 60
"""The time limits of a step outside a box, and in a box, whose processor is emulated."""

WITH_A_PEER = ("inspect", "read", "write", "notify")
"""The commands that scan for a peripheral and connect to it."""


class Tool:
    """A running `ble`, with a time limit for each step."""

    def __init__(self, command: str, process: asyncio.subprocess.Process, seconds: float = SECONDS) -> None:
        self.facts: list[Fact] = []
        self._seconds = seconds
        self._command = command
        self._process = process
        self._has_ended = False
        self._news = asyncio.Event()
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        assert self._process.stdout
        try:
            while line := await self._process.stdout.readline():
                try:
                    self.facts.append(json.loads(line))
                except json.JSONDecodeError:
                    raise Mismatch(f"{self._command}: the output is not JSON: {line!r}") from None
                self._news.set()
        finally:
            self._has_ended = True
            self._news.set()

    async def until(
        self, what: str, condition: Callable[[list[Fact]], Any], seconds: float | None = None
    ) -> Any:
        """Waits for a condition on the facts and returns its value; raises `Mismatch` after a timeout."""
        try:
            async with asyncio.timeout(seconds or self._seconds):
                while not (result := condition(self.facts)):
                    if self._has_ended:
                        await self._reading
                        raise Mismatch(f"{self._command} ended before {what}")
                    self._news.clear()
                    await self._news.wait()
                return result
        except TimeoutError:
            limit = seconds or self._seconds
            raise Mismatch(f"{self._command}: timed out after {limit} s waiting for: {what}") from None

    async def heard(self, event: str, **fields: Any) -> Fact:
        """Waits for a fact with these fields."""
        wanted = {"event": event} | fields

        def find(facts: list[Fact]) -> Fact | None:
            return next((fact for fact in facts if wanted.items() <= fact.items()), None)

        return await self.until(f"a fact {wanted}", find)

    def say(self, line: str) -> None:
        """Writes a line to the standard input."""
        assert self._process.stdin
        self._process.stdin.write(line.encode() + b"\n")

    async def finish(self, seconds: float | None = None) -> list[Fact]:
        """Waits until it ends and returns the facts; raises `Mismatch` unless it succeeded."""
        if (status := await self.status(seconds)) != 0:
            raise Mismatch(f"{self._command}: status {status}")
        return self.facts

    async def status(self, seconds: float | None = None) -> int:
        """Waits until it ends, and returns its exit status."""
        try:
            await asyncio.wait_for(self._reading, seconds or self._seconds)
            return await asyncio.wait_for(self._process.wait(), 3)
        except TimeoutError:
            said = f"still running after {seconds or self._seconds} s; last facts: {self.facts[-3:]}"
            raise Mismatch(f"{self._command}: {said}") from None

    async def interrupt(self) -> list[Fact]:
        """Interrupts it, and returns the facts after it has succeeded."""
        self.signal()
        return await self.finish()

    def signal(self) -> None:
        """Sends SIGINT."""
        self._process.send_signal(signal.SIGINT)

    async def stop(self) -> None:
        """Ends the process, if necessary by force."""
        await end(self._process)
        self._reading.cancel()


@contextlib.asynccontextmanager
async def ble(
    place: int | Inside, log: pathlib.Path, *arguments: str, is_private: bool = False
) -> AsyncIterator[Tool]:
    """Runs `ble` on the controller at a port, or on an adapter in a box, until the context ends.

    At a port, `is_private` makes it use private addresses.
    """
    command = " ".join(("ble", *arguments))
    environment = {"BLUETOOTH_LOG": "notice", "PYTHONPATH": str(pathlib.Path(__file__).parent.parent)}
    if is_private:
        environment["BLUETOOTH_PRIVACY"] = "on"
    program = [BLE]
    if isinstance(place, Inside):
        program = [sys.executable, "-m", "bluez.inside", str(place.shell_port), place.adapter]
        if arguments[0] in WITH_A_PEER:
            arguments = (*arguments, "--timeout", "40")
    else:
        environment["BLUETOOTH_HOST"] = f"tcp:127.0.0.1:{place}"
    pipe = asyncio.subprocess.PIPE
    words = [*program, *arguments, "--json"]
    async with running(log, *words, stdin=pipe, stdout=pipe, environment=environment) as process:
        tool = Tool(command, process, SECONDS_INSIDE if isinstance(place, Inside) else SECONDS)
        try:
            yield tool
        finally:
            await asyncio.shield(tool.stop())


async def run(
    place: int | Inside, log: pathlib.Path, *arguments: str, is_private: bool = False
) -> list[Fact]:
    """Runs `ble` to its end and returns the facts that it prints."""
    async with ble(place, log, *arguments, is_private=is_private) as tool:
        return await tool.finish()


def tree_from(facts: list[Fact]) -> Tree:
    """Returns the last tree that `ble inspect` printed."""
    found: Tree = {}
    characteristic: dict[str, Any] = {}
    for fact in facts:
        match fact["event"]:
            case "peripheral":
                found = {}
            case "service":
                service = {"primary": fact["primary"], "includes": sorted(map(full, fact["includes"]))}
                found[full(fact["uuid"])] = service | {"characteristics": {}}
            case "characteristic":
                value = bytes.fromhex(fact["value"]) if "value" in fact else None
                characteristic = {"properties": sorted(fact["properties"]), "value": value, "descriptors": {}}
                found[full(fact["service"])]["characteristics"][full(fact["uuid"])] = characteristic
            case "descriptor":
                characteristic["descriptors"][full(fact["uuid"])] = _descriptor(fact)
    return found


def _descriptor(fact: Fact) -> bytes | None:
    if fact["uuid"] == CONFIGURATION:
        return None
    text = str(fact.get("value", ""))
    return text.encode() if fact["uuid"] == USER_DESCRIPTION else bytes.fromhex(text)


@contextlib.contextmanager
def description(content: dict[str, Any]) -> Any:
    """Provides a file with `content` as JSON until the context ends."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(content, file)
        file.flush()
        yield file.name


def described(service: Service) -> dict[str, Any]:
    """Returns a service in the form that `ble serve` reads."""
    characteristics = []
    for each in service.characteristics:
        entry: dict[str, Any] = {"uuid": each.uuid, "properties": each.properties, "value": each.value.hex()}
        if each.locked:
            entry["permissions"] = ["readEncryptionRequired"]
        entry["descriptors"] = descriptors = []
        if each.description is not None:
            descriptors.append({"uuid": USER_DESCRIPTION, "text": each.description})
        if each.format is not None:
            descriptors.append({"uuid": PRESENTATION_FORMAT, "value": each.format.hex()})
        characteristics.append(entry)
    return {
        "uuid": service.uuid,
        "primary": service.primary,
        "includes": service.includes,
        "characteristics": characteristics,
    }
