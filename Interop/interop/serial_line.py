"""A board with a controller behind a serial line: a pseudo-terminal, a rate, and what goes wrong on such lines."""

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
"""A Hardware Error event: octets of the host's were lost, and a reset is waited for (Core 6.0, Vol 4, Part A, 4)."""

TICK = 0.002
"""How often octets are moved, in seconds."""
PAUSE = 0.01
"""How long nothing comes, in seconds, for a pause."""
HEADERS = {1: (4, 1), 2: (5, 2), 3: (4, 1), 4: (3, 1), 5: (5, 2)}
"""By the indicator of an H4 packet: the octets up to its payload, and how many at their end are its length."""


class Trouble(NamedTuple):
    """What goes wrong on a line, again and again; nothing if never."""

    kind: str = "none"
    """`noise` between packets, `loss` of octets within a packet from the board, `stall` within a packet and between
    two, or `overrun`: loss of octets within a packet to the board, which notices."""
    seed: int = 0
    packets: int = 150
    """How many packets go by in between, on average."""


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
        """Takes packets from the controller."""
        while True:
            await self._to_host.put(await _packet(reader))

    async def speak(self, terminal: int) -> None:
        """Sends what the controller says, no faster than the line can and with the troubles that it has."""
        while True:
            packet = await self._to_host.get()
            for octets, silence in self._damaged(packet):
                await self._emit(terminal, octets)
                await asyncio.sleep(silence)

    def _damaged(self, packet: bytes) -> list[tuple[bytes, float]]:
        """What comes instead of a packet, and how long nothing comes then."""
        lost, self._lost = self._lost, 0
        if not self._is_due("noise", "loss", "stall"):
            # After a pause, what takes the place of octets that were lost comes by itself.
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
        """Takes what the host says, no faster than the line can, and gives the controller whole packets."""
        held = b""
        while True:
            await asyncio.sleep(TICK)
            try:
                held += os.read(terminal, max(1, int(self._octets * TICK)))
            except OSError as error:
                # Nothing to read, or nobody has the port open.
                if error.errno not in (errno.EAGAIN, errno.EIO):
                    raise
                continue
            held = self._obey(held, writer)

    def _obey(self, held: bytes, writer: asyncio.StreamWriter) -> bytes:
        """Passes on the packets at the beginning of `held`; what is left."""
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
    """How long the packet is that begins here; `None` if that cannot be told yet."""
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
    """A board with a controller of the rootcanal at `port`, for one host, for as long as the context lasts."""
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
