"""L2CAP channels between the kernel, by BlueZ's `l2test`, and `ble channel`."""

from __future__ import annotations

import contextlib
import pathlib
import re
from collections.abc import AsyncIterator

from interop.profile import Mismatch

from . import offer, tool
from .box import Box
from .bus import ADAPTER, DEVICE, BlueZ
from .central import Central
from .peripheral import advertised

FRAMES = 200
FRAME_SIZE = 672
"""Also the size of `l2test`'s read buffer: its MTU, since it would lose the rest of a longer frame."""
PSM = 0x85
LINES = [f"line {number} of what we send, and more to fill it: {'.' * (number % 300)}" for number in range(300)]
DUMP, REPORT, PROCESS = "/tmp/l2test.dump", "/tmp/l2test.report", "/tmp/l2test.process"


async def accept(box: Box, bluez: BlueZ, adapter: str, port: int, name: str, log: pathlib.Path) -> None:
    """`l2test` opens a channel to `ble channel serve`, sends frames, and prints the octets that it receives."""
    central = Central(box, bluez, adapter, name)
    async with tool.ble(port, log, "channel", "serve", "--name", name, "--stay") as server:
        psm = (await server.heard("published"))["psm"]
        await server.heard("advertising")
        device = await central.find()
        address = bluez.property(device, DEVICE, "Address")
        kind = bluez.property(device, DEVICE, "AddressType")
        async with _l2test(box, adapter, f"-y -V le_{kind} -P {psm}", address):
            await _converse(box, server)


async def open(box: Box, bluez: BlueZ, adapter: str, port: int, name: str, log: pathlib.Path) -> None:
    """`ble channel open` opens a channel to a listening `l2test`, receives octets, and sends some."""
    kind = bluez.property(adapter, ADAPTER, "AddressType")
    listening = _l2test(box, adapter, f"-x -V le_{kind} -P {PSM}")
    async with advertised(bluez, adapter, name, offer.AT_FIRST), listening:
        async with tool.ble(port, log, "channel", "open", name, "--psm", str(PSM), "--stay") as client:
            await _converse(box, client)


@contextlib.asynccontextmanager
async def _l2test(box: Box, adapter: str, options: str, address: str = "") -> AsyncIterator[None]:
    device = adapter.rpartition("/")[2]
    command = f"l2test {options} -i {device} -b {FRAME_SIZE} -N {FRAMES} {address}"
    await box.shell(f"{command} < /dev/null > {DUMP} 2> {REPORT} & echo $! > {PROCESS}")
    yield
    await box.shell(f"kill $(cat {PROCESS}) 2> /dev/null || :")


async def _converse(box: Box, end: tool.Tool) -> None:
    """Expects all frames of `l2test`, sends all lines, closes the channel, and expects that `l2test` received them."""
    def received(facts: list[tool.Fact]) -> bytes:
        return b"".join(bytes.fromhex(fact["value"]) for fact in facts if fact["event"] == "received")

    frames = b"".join(_frame(number) for number in range(FRAMES))
    await end.until("all that l2test sent has arrived", lambda facts: len(received(facts)) >= len(frames))
    _expect_same("from l2test", received(end.facts), frames)
    for line in LINES:
        end.say(line)
    sent = "".join(line + "\n" for line in LINES).encode()
    await _reported(box, len(sent))
    await end.interrupt()
    _expect_same("that l2test printed", await _dump(box), sent)


def _expect_same(what: str, octets: bytes, wanted: bytes) -> None:
    same = next((index for index, (one, other) in enumerate(zip(octets, wanted)) if one != other), None)
    if octets != wanted:
        raise Mismatch(f"octets {what}: {len(octets)} instead of {len(wanted)}, first difference at octet {same}")


def _frame(number: int) -> bytes:
    """Returns a frame as `l2test` sends it: a sequence number, the size, and padding."""
    return (number.to_bytes(4, "little") + FRAME_SIZE.to_bytes(2, "little")).ljust(FRAME_SIZE, b"\x7f")


async def _reported(box: Box, count: int) -> None:
    """Waits until `l2test` has reported `count` octets; it prints them after the channel has closed."""
    had = 0
    for _ in range(100):
        report = await box.shell(f"cat {REPORT}; usleep 100000")
        had = sum(map(int, re.findall(r"Received (\d+) bytes", report)))
        if had >= count:
            return
    raise Mismatch(f"l2test has received {had} octets of {count} within 10 s")


async def _dump(box: Box) -> bytes:
    """Returns the octets that `l2test` has printed, after it has ended."""
    printed = await box.shell(f"until grep -qE 'Exit|Disconnect' {REPORT}; do usleep 50000; done; cat {DUMP}")
    lines = re.findall(r"^[0-9a-f]{8}: ((?:[0-9a-f]{2} ){1,16})", printed, re.MULTILINE)
    return bytes.fromhex("".join(lines))
