"""A session with Bluetooth: the process `ble session`, its commands and its events."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from .device import Device
from .errors import BluetoothError, sentences
from .lines import CHUNK, Lines, encoded
from .peripheral import Peripheral, options
from .process import end, start, terminate
from .queue import EventQueue
from .scanning import Advertisement, Scan

# The number of octets of a process's messages that are kept, because they may say why it ended.
MESSAGES_LIMIT = 4096


class Session:
    """Bluetooth for one program: scans, and any number of devices.

    An asynchronous context manager. All methods are for one event loop. A method that is cancelled leaves the session
    usable. What the device does meanwhile is not undone, with two exceptions: a cancelled connect disconnects, unless
    the device was connected before, and a cancelled scan, subscription or served device ends.
    """

    def __init__(self, host: str | None = None, program: str | None = None) -> None:
        """Describes a session; entering it starts the process.

        Args:
            host: The radio, as in the environment variable BLUETOOTH_HOST: "demo", "world:FILE.json",
                "bled:PATH" of a daemon, "hci:0"; by default that variable, the daemon, or the first free adapter.
            program: The path of `ble`; by default the one in PATH, or the value of the variable BLE.
        """
        self._environment = os.environ | ({"BLUETOOTH_HOST": host} if host else {})
        self._program = program or os.environ.get("BLE") or shutil.which("ble") or "ble"
        self._process: asyncio.subprocess.Process | None = None
        self._last_messages = b""
        self._reader: asyncio.Task[None] | None = None
        self._messages: asyncio.Task[None] | None = None
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        # The functions that process an answer immediately, even if the call that sent the command was cancelled.
        self._on_answer: dict[int, Callable[[dict[str, Any]], None]] = {}
        self._next = 0
        self._may_read = asyncio.Event()
        self._queues: set[EventQueue[Any]] = set()
        self._scan: Scan | None = None
        self._peripheral: Peripheral | None = None
        # The devices that the program still refers to, by identifier, and the devices that can have events.
        self._devices: weakref.WeakValueDictionary[str, Device] = weakref.WeakValueDictionary()
        self._connected: set[Device] = set()
        # The reason why the session has ended.
        self._ending: str | None = None

    async def __aenter__(self) -> Session:
        if self._process is not None:
            raise BluetoothError("invalid", "This session has been started before. Create another one.")
        self._process = await start(
            self._program, "BLE", "session", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, env=self._environment, limit=CHUNK,
            # Ctrl-C interrupts the program, which then ends the session.
            start_new_session=True)
        assert self._process.stdout and self._process.stderr
        lines = Lines(self._process.stdout)
        try:
            if not (first := await lines.next()):
                reason = sentences((await self._process.stderr.read()).decode(errors="replace"))
                raise BluetoothError("radio_off", reason or f"“{self._program} session” ended before it was ready.")
            if not _is_ready(first):
                raise BluetoothError("not_found", f"“{self._program}” is not the program “ble”, or its version does "
                                     "not fit this package. Set the variable BLE to its path.")
        except BaseException:
            await self._stop()
            raise
        self._reader = asyncio.create_task(self._read(lines))
        self._messages = asyncio.create_task(self._keep(self._process.stderr))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop()

    @property
    def is_running(self) -> bool:
        """True until the session ends, or its process does."""
        return self._ending is None and self._process is not None and self._process.returncode is None

    async def request(self, command: str, **keys: Any) -> dict[str, Any]:
        """Sends a command of docs/SESSION.md, and returns the line of its answer.

        Keys whose value is None are left out.

        Raises:
            BluetoothError: if the command failed or cannot be sent, or if the process ended.
        """
        return await self._answer(self._send(command, keys))

    def _send(self, command: str, keys: dict[str, Any],
              on_answer: Callable[[dict[str, Any]], None] | None = None) -> int:
        """Sends a command, and returns its number, for _answer().

        Args:
            on_answer: Called with the answer before the lines after it are processed, even if the call is cancelled.
        """
        if self._ending is not None or self._process is None or self._process.stdin is None:
            raise BluetoothError("cancelled", self._ending or "The session has not been started. Use it inside "
                                 "“async with”.")
        number = self._next + 1
        given = {key: value for key, value in keys.items() if value is not None}
        line = encoded({"id": number, "command": command} | given)
        self._next = number
        self._answers[number] = asyncio.get_running_loop().create_future()
        if on_answer:
            self._on_answer[number] = on_answer
        self._may_read.set()
        with contextlib.suppress(ConnectionError):
            self._process.stdin.write(line)
        return number

    async def _answer(self, number: int) -> dict[str, Any]:
        """Waits for the answer to a command."""
        assert self._process and self._process.stdin
        try:
            with contextlib.suppress(ConnectionError):
                await self._process.stdin.drain()
            return await self._answers[number]
        finally:
            self._answers.pop(number, None)

    def scan(self, *, services: Iterable[str] | None = None, name: str | None = None, min_rssi: int | None = None,
             duplicates: bool = False) -> Scan:
        """Returns a scan, which starts when it is entered with “async with”.

        Args:
            services: Finds only devices that advertise one of these services (UUIDs or names).
            name: Finds only devices whose name begins with this text, in any case.
            min_rssi: Finds only devices with at least this signal strength in dBm.
            duplicates: Reports every advertisement, not only one of each device.
        """
        return Scan(self, {"services": list(services) if services is not None else None, "name": name,
                           "min_rssi": min_rssi, "duplicates": duplicates or None})

    async def find(self, *, name: str | None = None, services: Iterable[str] | None = None,
                   timeout: float = 10) -> Advertisement:
        """Returns the first advertisement of a device with this name or service.

        Raises:
            BluetoothError: with the code "not_found" after `timeout` seconds.
        """
        found: Advertisement | None = None
        try:
            async with asyncio.timeout(timeout):
                async with self.scan(name=name, services=services) as scan:
                    found = await anext(scan)
        except TimeoutError:
            # A device that was found in time counts, although the scan has not ended.
            if found is None:
                raise BluetoothError("not_found", f"No matching device was found within {timeout:g} s.") from None
        return found

    async def connect(self, device: str | Advertisement, *, timeout: float | None = None,
                      reconnect: bool = False) -> Device:
        """Connects to a device, and returns it.

        Args:
            device: An identifier, an address, a name or the beginning of a name; or an advertisement.
            timeout: The number of seconds to find the device, and again to connect to it; 10 by default.
            reconnect: Connects again whenever the connection is lost, and subscribes again to the same values.
        """
        wanted = device.identifier if isinstance(device, Advertisement) else device
        if not wanted:
            raise BluetoothError("invalid", f"Cannot connect to {wanted!r}: name a device. Was it found?")
        # Another task may use a device that is connected already.
        is_connected = any(one.is_connected and one._is_called(wanted) for one in self._connected)
        try:
            line = await self.request("connect", device=wanted, timeout=timeout, reconnect=reconnect or None)
        except asyncio.CancelledError:
            if not is_connected:
                self._send_and_forget("disconnect", device=wanted)
            raise
        known = self._device(line)
        known._called.add(wanted)
        return known

    def serve(self, description: dict[str, Any] | str | os.PathLike[str], *, machine: str | None = None,
              ask: Iterable[str] = (), advertise: bool = True, faults: Iterable[str] = ()) -> Peripheral:
        """Returns a device that this program is itself; it is advertised when it is entered with “async with”.

        Args:
            description: The device, as in docs/SESSION.md; or the path of a file that describes it.
            machine: The name of a device in a file with several.
            ask: The characteristics whose requests the program answers itself, in the order of the events.
            advertise: False to publish without advertising.
            faults: Faults that the device makes on purpose, as in docs/FAULTS.md.
        """
        return Peripheral(self, options(description, machine=machine, ask=ask, advertise=advertise, faults=faults))

    def _send_and_forget(self, command: str, **keys: Any) -> None:
        if self.is_running and self._process and self._process.stdin:
            with contextlib.suppress(ConnectionError):
                self._process.stdin.write(encoded({"command": command} | keys))

    def _device(self, line: dict[str, Any]) -> Device:
        """Returns the object of the device that a line names."""
        identifier = line["identifier"]
        device = self._devices.get(identifier)
        if device is None:
            device = self._devices[identifier] = Device(self, identifier)
        return device

    def _queue(self) -> EventQueue[Any]:
        queue: EventQueue[Any] = EventQueue(self._may_read.set)
        self._queues.add(queue)
        return queue

    def _forget(self, queue: EventQueue[Any]) -> None:
        self._queues.discard(queue)
        self._may_read.set()

    async def _read(self, lines: Lines) -> None:
        """Passes on the lines of the process until it ends."""
        sentence = ""
        try:
            while True:
                # A program that waits for an answer may take its events only after it.
                while not self._answers and any(queue.is_full for queue in self._queues):
                    self._may_read.clear()
                    await self._may_read.wait()
                if not (line := await lines.next()):
                    break
                self._receive(json.loads(line))
            sentence = await self._reason()
        except Exception as error:
            sentence = f"“{self._program} session” wrote an invalid line: {error!r}."
            # Without a reader, the process would wait, and keep the radio.
            if self._process:
                terminate(self._process)
        finally:
            self._end(sentence or f"“{self._program} session” ended unexpectedly.")

    def _receive(self, line: dict[str, Any]) -> None:
        match line.get("event"):
            case "done" | "failed" as event:
                if event == "done":
                    self._complete(line)
                if on_answer := self._on_answer.pop(line.get("id", 0), None):
                    on_answer(line)
                answer = self._answers.get(line.get("id", 0))
                if answer is None or answer.done():
                    return
                if event == "done":
                    answer.set_result(line)
                else:
                    answer.set_exception(BluetoothError.from_line(line))
            case "discovered":
                if self._scan is not None:
                    self._scan._receive(line)
            case _:
                if self._peripheral is not None and self._peripheral._receive(line):
                    return
                if "identifier" in line:
                    self._device(line)._receive(line)

    def _complete(self, line: dict[str, Any]) -> None:
        """Records the effect of a command before the lines after its answer are processed."""
        match line.get("command"):
            case "connect":
                self._device(line)._connected(line)
            case "disconnect":
                self._device(line)._ended(None)

    async def _keep(self, messages: asyncio.StreamReader) -> None:
        """Reads the messages of the process, which would wait otherwise, and keeps the last ones."""
        while chunk := await messages.read(CHUNK):
            self._last_messages = (self._last_messages + chunk)[-MESSAGES_LIMIT:]

    async def _reason(self) -> str:
        """Returns the reason why the process has ended."""
        assert self._process and self._messages
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await asyncio.gather(asyncio.shield(self._messages), self._process.wait())
        sentence, status = f"“{self._program} session” ended unexpectedly", self._process.returncode
        if status is not None and status < 0:
            return f"{sentence} by signal {-status}."
        lines = self._last_messages.decode(errors="replace").splitlines()
        reason = sentences(lines[-1]) if lines else ""
        return f"{sentence}: {reason}" if reason else f"{sentence}."

    def _end(self, reason: str) -> None:
        """Ends everything that waits."""
        if self._ending is not None:
            return
        self._ending = reason
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(BluetoothError("cancelled", reason))
        for queue in list(self._queues):
            queue.end(BluetoothError("cancelled", reason))
        for device in list(self._connected):
            device._receive({"event": "disconnected", "reason": reason})

    async def _stop(self) -> None:
        """Ends the process: it disconnects all devices first."""
        process = self._process
        if process is None:
            return
        try:
            self._end("The session has ended.")
        finally:
            self._may_read.set()
            if process.stdin:
                process.stdin.close()
            await end(process)
        tasks = [task for task in (self._reader, self._messages) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_ready(line: bytes) -> bool:
    """Returns whether the first line of a process is that of a session with a known protocol."""
    try:
        ready = json.loads(line)
    except ValueError:
        return False
    return isinstance(ready, dict) and ready.get("event") == "ready" and ready.get("protocol") == 1
