"""This project's host, as the tool `ble` shows it: descriptions for it, and the facts that it prints."""

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
"""How long anything may take, and how long in a box, whose processor is emulated."""

WITH_A_PEER = ("inspect", "read", "write", "notify")
"""The commands that look for a peripheral and connect to it."""


class Tool:
    """A `ble` that runs, where everything may take so many seconds."""

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
                    raise Mismatch(f"{self._command} printed what is not JSON: {line!r}") from None
                self._news.set()
        finally:
            self._has_ended = True
            self._news.set()

    async def until(
        self, what: str, condition: Callable[[list[Fact]], Any], seconds: float | None = None
    ) -> Any:
        """Waits for a condition on the facts and returns what it gave; raises `Mismatch` if it does not come."""
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
            raise Mismatch(f"{self._command}: not so after {seconds or self._seconds} s: {what}") from None

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
        """Waits until it ends, and returns with which status."""
        try:
            await asyncio.wait_for(self._reading, seconds or self._seconds)
            return await asyncio.wait_for(self._process.wait(), 3)
        except TimeoutError:
            said = f"not done after {seconds or self._seconds} s, having printed {self.facts[-3:]}"
            raise Mismatch(f"{self._command}: {said}") from None

    async def interrupt(self) -> list[Fact]:
        """Asks it to end and returns the facts."""
        self.signal()
        return await self.finish()

    def signal(self) -> None:
        """Asks it to end."""
        self._process.send_signal(signal.SIGINT)

    async def stop(self) -> None:
        """Ends it, whatever it does."""
        await end(self._process)
        self._reading.cancel()


@contextlib.asynccontextmanager
async def ble(
    place: int | Inside, log: pathlib.Path, *arguments: str, is_private: bool = False
) -> AsyncIterator[Tool]:
    """Runs `ble` on the controller at a port, or in a box on an adapter, for as long as the context lasts.

    At a port it can be told to be private.
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
    """What the last of the trees that `ble inspect` printed shows."""
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
    """A file with `content` as JSON, for as long as the context lasts."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(content, file)
        file.flush()
        yield file.name


def described(service: Service) -> dict[str, Any]:
    """A service as `ble serve` takes it."""
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
