"""A board with a controller on a serial line: a pseudo-terminal with a rate and simulated faults."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import random
import time
import tty
from collections.abc import AsyncIterator
from typing import NamedTuple

RESET = bytes.fromhex("01030c00")
OVERRUN = bytes.fromhex("04100142")
"""A Hardware Error event: octets from the host were lost, and the board waits for a reset.

Core 6.0, Vol 4, Part A, 4.
"""

TICK = 0.002
"""The interval at which octets are moved, in seconds."""
PAUSE = 0.01
"""The silence that counts as a pause, in seconds."""
HEADERS = {1: (4, 1), 2: (5, 2), 3: (4, 1), 4: (3, 1), 5: (5, 2)}
"""For each type of H4 packet: the size of the header, and of the length field at its end."""


class Trouble(NamedTuple):
    """The recurring fault of a line."""

    kind: str = "none"
    """The kind of fault.

    `none`; `noise` between packets; `loss` of octets within a packet from the board; `stall` within a packet and
    between two; or `overrun`: loss of octets within a packet to the board, which notices it.
    """
    seed: int = 0
    packets: int = 150
    """The average number of packets between faults."""


class Board:
    """A controller of rootcanal's at the other end of a pseudo-terminal."""

    def __init__(self, path: str, rate: int, trouble: Trouble) -> None:
        self.path = path
        self.host = f"serial:{path}@{rate}"
        self.troubles = 0
        self._octets = rate / 10
        self._trouble = trouble
        self._random = random.Random(trouble.seed)
        self._until_trouble = self._pause()
        self._is_overrun = False
        self._lost = 0
        self._spoke = 0.0
        self._to_host: asyncio.Queue[bytes] = asyncio.Queue()

    def _pause(self) -> int:
        return 1 + int(self._random.expovariate(1 / self._trouble.packets))

    def _is_due(self, *kinds: str) -> bool:
        if self._trouble.kind not in kinds:
            return False
        self._until_trouble -= 1
        if self._until_trouble > 0:
            return False
        self._until_trouble = self._pause()
        self.troubles += 1
        return True

    async def listen(self, reader: asyncio.StreamReader) -> None:
        """Receives packets from the controller."""
        while True:
            await self._to_host.put(await _packet(reader))

    async def speak(self, terminal: int) -> None:
        """Sends the controller's packets to the host, at the rate of the line and with its faults."""
        while True:
            packet = await self._to_host.get()
            for octets, silence in self._damaged(packet):
                await self._emit(terminal, octets)
                await asyncio.sleep(silence)

    def _damaged(self, packet: bytes) -> list[tuple[bytes, float]]:
        """Returns the octets that replace a packet, in pieces, and the silence after each."""
        lost, self._lost = self._lost, 0
        if not self._is_due("noise", "loss", "stall"):
            # After a pause, the octets that complete the damaged packet arrive in a piece of their own.
            if lost and time.monotonic() - self._spoke > PAUSE:
                return [(packet[:lost], TICK), (packet[lost:], 0)]
            return [(packet, 0)]
        place = self._random.randrange(1, len(packet))
        match self._trouble.kind:
            case "noise":
                return [(self._random.randbytes(self._random.randint(1, 8)), 0), (packet, 0)]
            case "loss":
                end = min(len(packet), place + self._random.randint(1, 3))
                self._lost = end - place
                return [(packet[:place] + packet[end:], 0)]
        if self._random.random() < 0.5:
            return [(packet[:place], 0.6), (packet[place:], 0)]
        return [(packet, 0.6)]

    async def _emit(self, terminal: int, octets: bytes) -> None:
        size = max(1, int(self._octets * TICK))
        for start in range(0, len(octets), size):
            piece = octets[start : start + size]
            await asyncio.sleep(len(piece) / self._octets)
            while piece:
                with contextlib.suppress(BlockingIOError):
                    piece = piece[os.write(terminal, piece) :]
                    self._spoke = time.monotonic()
                    continue
                await asyncio.sleep(TICK)

    async def hear(self, terminal: int, writer: asyncio.StreamWriter) -> None:
        """Receives octets from the host at the rate of the line, and sends whole packets to the controller."""
        held = b""
        while True:
            await asyncio.sleep(TICK)
            try:
                held += os.read(terminal, max(1, int(self._octets * TICK)))
            except OSError as error:
                # Nothing to read, or the port is not open.
                if error.errno not in (errno.EAGAIN, errno.EIO):
                    raise
                continue
            held = self._obey(held, writer)

    def _obey(self, held: bytes, writer: asyncio.StreamWriter) -> bytes:
        """Passes on the packets at the beginning of `held`, and returns the rest."""
        while held:
            if self._is_overrun or held[0] not in HEADERS:
                at = held.find(RESET)
                if at < 0:
                    return held[-len(RESET) + 1 :]
                self._is_overrun = False
                held = held[at:]
            length = _length(held)
            if length is None or length > len(held):
                break
            packet, held = held[:length], held[length:]
            if packet != RESET and self._is_due("overrun"):
                self._is_overrun = True
                self._to_host.put_nowait(OVERRUN)
            else:
                writer.write(packet)
        return held


def _length(octets: bytes) -> int | None:
    """Returns the length of the packet that begins here; `None` if it is not known yet."""
    header, width = HEADERS[octets[0]]
    if len(octets) < header:
        return None
    return header + int.from_bytes(octets[header - width : header], "little")


async def _packet(reader: asyncio.StreamReader) -> bytes:
    packet = await reader.readexactly(1)
    while (length := _length(packet)) is None or length > len(packet):
        packet += await reader.readexactly(1 if length is None else length - len(packet))
    return packet


@contextlib.asynccontextmanager
async def board(port: int, rate: int, trouble: Trouble) -> AsyncIterator[Board]:
    """Runs a board with a controller of the rootcanal at `port`, for one host, until the context ends."""
    terminal, end = os.openpty()
    found = Board(os.ttyname(end), rate, trouble)
    tty.setraw(end)
    os.close(end)
    os.set_blocking(terminal, False)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    work = (found.listen(reader), found.speak(terminal), found.hear(terminal, writer))
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield found
    finally:
        for task in tasks:
            task.cancel()
        failures = await asyncio.gather(*tasks, return_exceptions=True)
        writer.close()
        os.close(terminal)
    for failure in failures:
        if not isinstance(failure, asyncio.CancelledError):
            raise failure
