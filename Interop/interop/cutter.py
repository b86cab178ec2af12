"""A line between a host and its controller on which the link is cut at a chosen packet of a pairing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from .profile import Mismatch

COMMAND, DATA, EVENT = 1, 2, 4
HEADERS = {COMMAND: 4, DATA: 5, 3: 4, EVENT: 3, 5: 5}
"""The size of the header of an H4 packet, by its type."""

SECURITY_MANAGER = 0x0006
DISCONNECTION_COMPLETE, COMMAND_STATUS = 0x05, 0x0F
DISCONNECT = 0x0406
KEYS = range(0x06, 0x0B)
"""The codes of the Security Manager's packets that distribute keys and identities."""
REMOTE_USER, TIMEOUT = 0x13, 0x08
"""The reasons for the disconnection, for the other end and for this one."""


def expect_cut(near: str, status: int) -> None:
    """Checks the exit status of `ble read` after its link was cut near a host.

    The status is 75 if the link timed out at our host, unless the pairing had failed before; otherwise it is 1.
    """
    expected = (1, 75) if near == "ours" else (1,)
    if status not in expected:
        raise Mismatch(f"the status of ble read: expected one of {expected}, found {status}")


class Cutter:
    """A proxy between a host and its controller, which counts the Security Manager's packets, both ways.

    When the link is cut, the packet that was due is lost, with all that follow. This host receives a lost link
    (Connection Timeout), and the other one a disconnection by this one.
    """

    def __init__(self, controller: int) -> None:
        self.is_cut = False
        self._senders: list[bool] = []
        """The Security Manager's packets since the line was armed: true for each that this host sent."""
        self._lost: tuple[bool, int] | None = None
        """The lost packet: true if this host sent it, and its code."""
        self._controller = controller
        self._step = 0

    def arm(self, step: int = 0) -> None:
        """Cuts the link at that packet, counting from 1; at none for 0."""
        self._senders, self._step, self.is_cut, self._lost = [], step, False, None

    @property
    def seen(self) -> int:
        """The number of the Security Manager's packets since the line was armed."""
        return len(self._senders)

    def last(self, is_own: bool) -> int:
        """Returns the number of packets that this host, or the other one, has sent since the other side's last one."""
        return next((count for count, sender in enumerate(reversed(self._senders)) if sender != is_own), self.seen)

    def has_lost_key(self, is_own: bool) -> bool:
        """Returns whether the lost packet was a key or an identity of this host, or of the other one."""
        return self._lost is not None and self._lost[0] == is_own and self._lost[1] in KEYS

    def cuts(self, is_own: bool, code: int) -> bool:
        """Counts a packet of this host, or of the other one, and returns whether it is the one to cut at."""
        self._senders.append(is_own)
        if self.seen != self._step:
            return False
        self.is_cut, self._lost = True, (is_own, code)
        return True

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forwards packets between a newly connected host and the controller, until one of them disconnects."""
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._controller)
        line = _Line(self, writer, inner_writer)
        tasks = [
            asyncio.ensure_future(_carry(reader, inner_writer, line.from_host)),
            asyncio.ensure_future(_carry(inner_reader, writer, line.from_controller)),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            for each in (writer, inner_writer):
                each.close()


class _Line:
    """One connection of a host."""

    def __init__(self, cutter: Cutter, to_host: asyncio.StreamWriter, to_controller: asyncio.StreamWriter) -> None:
        self._cutter = cutter
        self._to_host, self._to_controller = to_host, to_controller
        self._cut: int | None = None
        """The handle of the link that is being cut."""
        self._is_status_due = False

    def from_host(self, packet: bytes) -> None:
        if packet[0] != DATA or not self._is_lost(packet, is_own=True):
            self._to_controller.write(packet)

    def from_controller(self, packet: bytes) -> None:
        if packet[0] == DATA and self._is_lost(packet, is_own=False):
            return
        if packet[0] == EVENT and packet[1] == COMMAND_STATUS and self._is_status_due:
            if int.from_bytes(packet[5:7], "little") == DISCONNECT:
                self._is_status_due = False
                return
        if packet[0] == EVENT and packet[1] == DISCONNECTION_COMPLETE and self._cut is not None:
            if int.from_bytes(packet[4:6], "little") & 0xFFF == self._cut:
                self._cut = None
                packet = packet[:6] + bytes([TIMEOUT])
        self._to_host.write(packet)

    def _is_lost(self, packet: bytes, is_own: bool) -> bool:
        """Returns whether a packet is lost, since its link is being cut, or is cut at this packet."""
        field = int.from_bytes(packet[1:3], "little")
        handle, is_first = field & 0xFFF, field >> 12 & 3 != 1
        if handle == self._cut:
            return True
        if not is_first or len(packet) < 10 or int.from_bytes(packet[7:9], "little") != SECURITY_MANAGER:
            return False
        if not self._cutter.cuts(is_own, packet[9]):
            return False
        self._cut, self._is_status_due = handle, True
        command = DISCONNECT.to_bytes(2, "little") + b"\x03" + handle.to_bytes(2, "little") + bytes([REMOTE_USER])
        self._to_controller.write(bytes([COMMAND]) + command)
        return True


async def _carry(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, take: Callable[[bytes], None]
) -> None:
    """Passes each packet to `take`, until the sender disconnects."""
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        while True:
            kind = await reader.readexactly(1)
            header = kind + await reader.readexactly(HEADERS[kind[0]] - 1)
            length = header[-1]
            if kind[0] == DATA:
                length = int.from_bytes(header[3:5], "little")
            elif kind[0] == 5:
                length = int.from_bytes(header[3:5], "little") & 0x3FFF
            take(header + await reader.readexactly(length))
            await writer.drain()


@contextlib.asynccontextmanager
async def cutter(controller: int) -> AsyncIterator[tuple[Cutter, int]]:
    """Provides a line to the controller at a port, and the port of its other end."""
    found = Cutter(controller)
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    try:
        yield found, server.sockets[0].getsockname()[1]
    finally:
        server.close()
