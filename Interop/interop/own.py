"""Pairs two processes of our host with each other, by each method that they can have, also with faults."""

from __future__ import annotations

import asyncio
import pathlib
import tempfile
from typing import NamedTuple

from bumble.pairing import OobSharedData

from . import results, tool
from .controllers import VACANCY
from .methods import Method
from .profile import GREETING, expect, greeting
from .sides import answering, count, expect_paired, serving, until, values
from .user import PATIENCE

CENTRAL, PERIPHERAL = "the central", "the peripheral"
# Longer than our host refuses to pair with a device after a failure.
PAUSE = 1.1


class Case(NamedTuple):
    """The pairing of one round."""

    method: str
    central: str
    """The argument of `ble --pairing`."""
    peripheral: str
    by: str = ""
    """The side that shows a passkey or provides out-of-band data."""
    bonding: bool = True
    refusal: str = ""
    """The fault of the first attempt, and its side."""
    secure: bool = True
    """Uses LE Secure Connections. Both support it, so legacy pairing needs an out-of-band key."""

    @property
    def facts(self) -> dict[str, object]:
        """The case as it is recorded."""
        generation = {"generation": "secure" if self.secure else "legacy"}
        return generation | {name: getattr(self, name) for name in ("method", "by", "bonding", "refusal")}

    def at(self, capability: str) -> Method:
        """Returns the case for one of the two."""
        return Method(self.method, capability, 0, secure=self.secure, bonding=self.bonding)


COMPARISON = Case("numericComparison", "yes-no", "yes-no")
CENTRAL_SHOWS = Case("passkeyEntry", "display", "keyboard", CENTRAL)
PERIPHERAL_SHOWS = Case("passkeyEntry", "keyboard", "display", PERIPHERAL)
KEPT = [
    Case("justWorks", "none", "none"),
    COMPARISON,
    CENTRAL_SHOWS,
    PERIPHERAL_SHOWS,
    Case("outOfBand", "none", "none", PERIPHERAL),
    Case("outOfBand", "none", "none", secure=False),
]
CASES = [
    *KEPT,
    *(each._replace(bonding=False) for each in KEPT),
    COMPARISON._replace(refusal="no at the central"),
    COMPARISON._replace(refusal="no at the peripheral"),
    CENTRAL_SHOWS._replace(refusal="wrong digits at the peripheral"),
    PERIPHERAL_SHOWS._replace(refusal="wrong digits at the central"),
]
"""One round for each."""


class Person:
    """The user of one side, to whom the other side's display is visible, too."""

    def __init__(self, place: str, shown: dict[str, asyncio.Future[int]], refusal: str) -> None:
        self.asked = asyncio.Event()
        self.refusal = ""
        self.told: asyncio.Future[OobSharedData] = asyncio.get_running_loop().create_future()
        self._place, self._shown = place, shown
        self._mistake = refusal.removesuffix(f" at {place}") if refusal.endswith(f" at {place}") else ""

    async def answer(self, question: str, digits: str | None) -> str | None:
        """Returns the text to type in for this question."""
        other = PERIPHERAL if self._place == CENTRAL else CENTRAL
        if digits is not None and not self._shown[self._place].done():
            self._shown[self._place].set_result(int(digits))
        if question == "show":
            return None
        if question == "consent":
            return "yes"
        number = await asyncio.wait_for(asyncio.shield(self._shown[other]), PATIENCE)
        if question == "enter":
            return f"{(number + (self._mistake == 'wrong digits')) % 1_000_000:06}"
        is_same = digits is not None and number == int(digits)
        return "yes" if is_same and self._mistake != "no" else "no"


async def converse(controllers: str, first: int, second: int, name: str, number: int, log: pathlib.Path) -> None:
    """Runs one round: they pair, and where the radio's peers are stored, reconnect without pairing after a restart."""
    case = CASES[(number - 1) % len(CASES)]
    who = {"central": "ours", "peripheral": "ours", "controllers": controllers}
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as other,
        results.recorded("own", **who, **case.facts),
    ):
        if case.refusal:
            await _meet(case, first, second, name, log, one, other)
            await asyncio.sleep(VACANCY)
        await _meet(case._replace(refusal=""), first, second, name, log, one, other)
        await asyncio.sleep(VACANCY)
        central, peripheral = tool.environment(first, one), tool.environment(second, other)
        bonds = []
        for each in (central, peripheral):
            bonds.append(len((await tool.run(each, log, "bonds"))[1]))
            await asyncio.sleep(VACANCY)
        if not case.bonding:
            return expect("bonds of the central and the peripheral", bonds, [0, 0])
        if controllers != "rootcanal":
            return
        expect("bonds of the central and the peripheral", bonds, [1, 1])
        people = _people("")
        async with serving(case.at(case.peripheral), people[1], second, name, log, other) as facts:
            await until("it advertises", lambda: count(facts, "advertising") == 1)
            status, again = await tool.run(central, log, "read", name, GREETING, "--pairing", "none")
            expect("the status of ble read of a bonded peripheral", status, 0)
            expect("greeting", values(again), [greeting(name)])
            expect("pairings and questions", [fact for fact in [*facts, *again] if "pair" in fact["event"]], [])


def _people(refusal: str) -> list[Person]:
    shown = {place: asyncio.get_running_loop().create_future() for place in (CENTRAL, PERIPHERAL)}
    return [Person(place, shown, refusal) for place in shown]


async def _meet(case: Case, first: int, second: int, name: str, log: pathlib.Path, one: str, other: str) -> None:
    """Pairs them, or expects for a fault that both report a failure and neither stores a bond."""
    caller, called = _people(case.refusal)
    async with serving(case.at(case.peripheral), called, second, name, log, other) as facts:
        await until("it advertises", lambda: count(facts, "advertising") == 1)
        command = ["read", name, GREETING, "--json", "--pairing", case.central]
        command += case.at(case.central).key + ([] if case.bonding else ["--no-bond"])
        if case.at(case.central).tells:
            told = await asyncio.wait_for(called.told, PATIENCE)
            command += ["--told", f"1122{told.c.hex()}1123{told.r.hex()}"]
        variables = tool.environment(first, one)
        status, said = await asyncio.wait_for(answering(variables, log, caller, None, command), 2 * PATIENCE)
        if case.refusal:
            expect("the status of ble read", status, 1)
            await until("both report the failure", lambda: count(facts, "pairing_failed") == 1)
            expect("failures of the central", count(said, "pairing_failed"), 1)
            expect("pairings and reads", count([*facts, *said], "paired") + count(said, "read"), 0)
            return await asyncio.sleep(PAUSE)
        expect("the status of ble read", status, 0)
        expect("greeting", values(said), [greeting(name)])
        for each in (said, facts):
            expect_paired(each, case.at(case.central))
