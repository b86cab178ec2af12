"""Our host, driven by `BLEConformance host` as test suites drive hosts, and Bumble's."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from bumble.core import AdvertisingData
from bumble.device import Advertisement, AdvertisingEventProperties, AdvertisingParameters, Device
from bumble.hci import Address

from . import tool
from .bumble_host import powered_on
from .methods import COMPARISON
from .processes import running
from .profile import Mismatch, expect
from .sides import CENTRAL
from .user import PATIENCE, User

Line = dict[str, Any]


class Suite:
    """A client of `BLEConformance host`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin and process.stdout
        self._input, self._output = process.stdin, process.stdout
        self._seen: list[Line] = []
        self._count = 0

    async def call(self, op: str, **arguments: Any) -> Line:
        """Sends a request that must succeed, and returns its result."""
        return await self.answer(self.ask(op, **arguments))

    def ask(self, op: str, **arguments: Any) -> int:
        """Sends a request, and returns its number."""
        self._count += 1
        self._input.write(json.dumps({"id": self._count, "op": op, **arguments}).encode() + b"\n")
        return self._count

    async def answer(self, number: int) -> Line:
        """Returns the result of a request, which must succeed."""
        line = await self._wait(lambda line: line.get("id") == number)
        if "result" not in line:
            raise Mismatch(f"request {number}: {line}")
        return line["result"]

    async def event(self, name: str, **values: Any) -> Line:
        """Returns the next event with this name and these values."""
        values["event"] = name
        return await self._wait(lambda line: all(line.get(key) == value for key, value in values.items()))

    async def _wait(self, matches: Callable[[Line], bool]) -> Line:
        async with asyncio.timeout(PATIENCE):
            while True:
                for index, line in enumerate(self._seen):
                    if matches(line):
                        return self._seen.pop(index)
                octets = await self._output.readline()
                if not octets:
                    raise Mismatch(f"BLEConformance host has ended; its last lines: {self._seen[-3:]}")
                self._seen.append(json.loads(octets))


@contextlib.asynccontextmanager
async def suite(port: int, log: pathlib.Path) -> AsyncIterator[Suite]:
    """Runs the host with the controller at a port."""
    program = str(pathlib.Path(tool.BLE).with_name("BLEConformance"))
    command = (program, "host", "--controller", f"tcp:127.0.0.1:{port}")
    pipe = asyncio.subprocess.PIPE
    async with running(log, *command, stdin=pipe, stdout=pipe) as process:
        yield Suite(process)


def octets(address: Address) -> str:
    return bytes(address).hex()


async def converse(first: int, second: int, name: str, log: pathlib.Path) -> None:
    """Runs one round: each host finds the other's advertisement and connects to it, and they pair once."""
    async with suite(first, log) as ours, powered_on(second, name, CENTRAL) as bumble:
        user = User(COMPARISON, True)
        user.use(bumble)
        await ours.call("factory_reset")
        own = await ours.call("read_local_address")
        await _heard_by_bumble(ours, bumble, own, name)
        await _paired_by_bumble(ours, bumble, user, own)
        await _found_by_ours(ours, bumble, name)


async def _heard_by_bumble(ours: Suite, bumble: Device, own: Line, name: str) -> None:
    """Expects that Bumble receives two of our sets, one legacy and one extended, as requested."""
    short = bytes([2, 1, 6, len(name) + 1, 9]) + name.encode()
    long = bytes([201, 0xFF]) + bytes(range(200))
    heard: dict[bytes, Advertisement] = {}
    complete = asyncio.Event()

    def take(advertisement: Advertisement) -> None:
        heard[bytes(advertisement.data_bytes)] = advertisement
        if {short, long} <= heard.keys():
            complete.set()

    bumble.on(Device.EVENT_ADVERTISEMENT, take)
    await ours.call(
        "advertise", legacy=True, connectable=True, own_address_type=0, interval_ms=30, data=short.hex()
    )
    beacon = await ours.call(
        "advertise", legacy=False, connectable=False, scannable=False, own_address_type=1, interval_ms=30,
        data=long.hex(),
    )
    await bumble.start_scanning(active=False, filter_duplicates=False)
    try:
        await asyncio.wait_for(complete.wait(), PATIENCE)
    except TimeoutError:
        raise Mismatch(f"Bumble received only {[data.hex() for data in heard]}") from None
    finally:
        await bumble.stop_scanning()
        bumble.remove_listener(Device.EVENT_ADVERTISEMENT, take)
    expect("address", octets(heard[short].address), own["address"])
    expect("kinds", (heard[short].is_legacy, heard[long].is_legacy), (True, False))
    expect("whether connectable", (heard[short].is_connectable, heard[long].is_connectable), (True, False))
    expect("whether random and static", heard[long].address.is_static, True)
    await ours.call("stop_advertising", set=beacon["set"])


async def _paired_by_bumble(ours: Suite, bumble: Device, user: User, own: Line) -> None:
    """Has Bumble connect, and pair by numeric comparison."""
    await ours.call("on_pairing", io_capability="display_yes_no")
    connection = await asyncio.wait_for(bumble.connect(Address(bytes.fromhex(own["address"]), 0)), PATIENCE)
    link = await ours.event("connected", role="peripheral")
    expect("address of Bumble", link["address"], octets(Address(CENTRAL)))
    pairing = asyncio.ensure_future(connection.pair())
    question = await ours.event("pairing", method="numeric_comparison")
    user.ours.set_result(question["value"])
    await ours.call("pairing_reply", connection=link["connection"], confirm=True)
    await asyncio.wait_for(pairing, PATIENCE)
    security = await ours.event("security", connection=link["connection"])
    expect("level and bond", (security["level"], security["bonded"]), (4, True))
    await asyncio.wait_for(connection.disconnect(), PATIENCE)
    await ours.event("disconnected", connection=link["connection"])


async def _found_by_ours(ours: Suite, bumble: Device, name: str) -> None:
    """Expects that our host receives Bumble's extended advertisement, connects, and encrypts with the bond."""
    data = bytes(AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, name.encode() * 8)]))
    properties = AdvertisingEventProperties(is_connectable=True)
    parameters = AdvertisingParameters(
        advertising_event_properties=properties,
        primary_advertising_interval_min=30,
        primary_advertising_interval_max=30,
    )
    advertised = await bumble.create_advertising_set(
        advertising_parameters=parameters, random_address=Address(CENTRAL), advertising_data=data
    )
    await ours.call("scan", passive=True, interval_ms=50, window_ms=50, phys=["1M"])
    report = await ours.event("report", address=octets(Address(CENTRAL)))
    expect("report", (report["legacy"], report["connectable"], report["data"]), (False, True, data.hex()))
    await ours.call("stop_scan")
    connection = (await ours.call("connect", address=report["address"], address_type=1))["connection"]
    # A central with a bond encrypts the link by itself, and may already have done so.
    secured = await ours.call("secure", connection=connection, level=4)
    expect("level", secured["level"], 4)
    await ours.call("disconnect", connection=connection)
    await advertised.stop()
