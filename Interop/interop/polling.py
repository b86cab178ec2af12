"""Our host accesses attributes of Bumble over several bearers, on an encrypted link."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import tempfile
from collections import Counter
from collections.abc import AsyncIterator

from bumble import att
from bumble.core import UUID
from bumble.device import Device
from bumble.gatt import Characteristic, Service

from . import tool
from .bonds import answer_in_bumble, remember
from .bumble_host import advertise, powered_on
from .profile import SERVICE, STORY, STORY_VALUE, expect, numbered

PERIPHERAL = "F0:F1:F2:F3:F4:F5"
BEARERS = 3
"""The number of bearers that our host opens besides the one that every link has."""
COUNTS = [numbered(index) for index in range(6)]
"""Characteristics whose value is the number of their reads."""
TIMES = 4
"""The number of times that our host reads them all."""
PAUSE = 0.5
"""Seconds between the reads: our host opens bearers after the link has been idle for a while."""


class Counting:
    """Bumble's peripheral, which counts the requests on each bearer, and delays its responses."""

    def __init__(self, device: Device, ends: str, patience: int) -> None:
        self.reads = Counter[att.Bearer]()
        self.overlaps = 0
        self.lost: str | None = None
        """The characteristic that was being read on the bearer that was closed."""
        self.unheard = 0
        """The number of its reads by then; the response to the last one was lost."""
        self._ends = ends
        self._patience = patience
        self._busy: set[att.Bearer] = set()
        self._tasks: list[asyncio.Task[None]] = []
        characteristics = [self._count(uuid) for uuid in COUNTS]
        story = Characteristic(STORY, Characteristic.READ, Characteristic.READABLE, STORY_VALUE)
        device.add_services([Service(UUID(SERVICE), [*characteristics, story])])

    @property
    def enhanced(self) -> list[int]:
        """The number of requests on each of the enhanced bearers that were used."""
        return [count for bearer, count in self.reads.items() if att.is_enhanced_bearer(bearer)]

    def _count(self, uuid: str) -> Characteristic:
        answers = 0

        async def read(bearer: att.Bearer) -> bytes:
            nonlocal answers
            answers += 1
            number = answers
            self.reads[bearer] += 1
            self.overlaps += bearer in self._busy
            self._busy.add(bearer)
            self._end(bearer, uuid, number)
            await asyncio.sleep(0.01)
            self._busy.discard(bearer)
            return f"{number}".encode()

        return Characteristic(uuid, Characteristic.READ, Characteristic.READABLE, att.AttributeValueV2(read))

    def _end(self, bearer: att.Bearer, uuid: str, number: int) -> None:
        """Closes this bearer, or the link, while it is in use, if this is due."""
        if self.lost or len(self.enhanced) < BEARERS or not att.is_enhanced_bearer(bearer):
            return
        if self._ends == "nothing" or self._patience > 0:
            self._patience -= 1
            return
        self.lost, self.unheard = uuid, number
        what = bearer if self._ends == "bearer" else bearer.connection
        self._tasks.append(asyncio.ensure_future(what.disconnect()))


@contextlib.asynccontextmanager
async def _counting(port: int, name: str, ends: str, patience: int) -> AsyncIterator[Counting]:
    async with powered_on(port, name, PERIPHERAL, eatt_enabled=True) as device:
        answer_in_bumble(device)
        counting = Counting(device, ends, patience)
        await advertise(device)
        yield counting


async def converse(first: int, second: int, name: str, round_number: int, log: pathlib.Path) -> None:
    """Runs one round: our host encrypts the link to Bumble, opens bearers, and reads over all of them.

    In one round of three, Bumble closes a bearer with a pending request, which is then repeated on another; in one, the
    link.
    """
    ends = ("nothing", "bearer", "link")[round_number % 3]
    characteristics = [*COUNTS, STORY]
    options = ("--every", str(PAUSE), "--count", str(TIMES))
    with tempfile.TemporaryDirectory() as directory:
        remember(directory, PERIPHERAL)
        async with _counting(second, name, ends, patience=round_number % 5) as bumble:
            status, facts = await tool.run(
                tool.environment(first, directory), log, "read", name, *characteristics, *options
            )
    expect("the status of ble read", status, 1 if ends == "link" else 0)
    expect("bearers that our host used", len(bumble.enhanced), BEARERS)
    expect("requests that came before the response to another on their bearer", bumble.overlaps, 0)
    failed = _check(facts, characteristics, bumble if ends == "bearer" else None)
    if ends == "link":
        expect("responses beyond whole times", len(facts) % len(characteristics), 0)
        expect("whether it ended early", len(facts) < TIMES * len(characteristics), True)
        expect("whether the read under way failed", bumble.lost in failed, True)
        last = [fact["event"] for fact in facts[-len(characteristics) :]]
        expect("reads that failed before the last time", len(failed) - last.count("failed"), 0)
    else:
        expect("responses", len(facts), TIMES * len(characteristics))
        expect("reads that failed", failed, [])


def _check(facts: list[tool.Fact], characteristics: list[str], repeating: Counting | None) -> list[str]:
    """Expects every response once, in order, and correct; returns the characteristics whose read failed.

    The request that was pending on the bearer that `repeating` closed has been made twice for one response.
    """
    failed: list[str] = []
    for number, fact in enumerate(facts):
        time, index = divmod(number, len(characteristics))
        uuid = characteristics[index]
        expect("characteristic of the response", fact["characteristic"].lower(), uuid)
        if fact["event"] == "failed":
            failed.append(uuid)
            continue
        was_repeated = repeating is not None and uuid == repeating.lost and time + 1 >= repeating.unheard
        value = STORY_VALUE if uuid == STORY else f"{time + 2 if was_repeated else time + 1}".encode()
        expect(f"value {time + 1} of {uuid}", bytes.fromhex(fact["value"]), value)
    return failed
