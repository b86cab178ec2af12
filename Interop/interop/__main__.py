"""Runs pairings, each several times in a row: `python -m interop --help`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Iterable
from typing import Protocol, TypeVar

from .pairings import BY_NAME, PAIRINGS, PEERS_ONLY, Pairing
from .processes import who

JOBS = 3
"""The number of concurrent pairings: mostly they wait for each other's packets."""


async def run(pairing: Pairing, rounds: int) -> int:
    """Runs `pairing` and returns the number of failed rounds. After a failure, new controllers are started."""
    who.set(pairing.name.replace("/", "-"))
    for log in pairing.logs:
        log.unlink(missing_ok=True)
    failed = 0
    endpoints = None
    async with contextlib.AsyncExitStack() as controllers:
        for number in range(1, rounds + 1):
            start = time.monotonic()
            try:
                endpoints = endpoints or await controllers.enter_async_context(pairing.controllers_running())
                await asyncio.wait_for(pairing.converse(endpoints, number), pairing.seconds)
                say(f"{pairing.name} {number}/{rounds}: passed, {time.monotonic() - start:.2f} s")
            except Exception as error:  # Any error fails this round; continue with the next.
                failed += 1
                reason = str(error) or type(error).__name__
                say(f"{pairing.name} {number}/{rounds}: FAILED, {reason}", *last_words(pairing))
                logging.getLogger(__name__).debug("the failure", exc_info=error)
                await controllers.aclose()
                endpoints = None
    say(f"{pairing.name}: {rounds - failed} passed, {failed} failed")
    return failed


def say(*lines: str) -> None:
    """Prints immediately, also into a pipe."""
    print(*lines, sep="\n    ", flush=True)


def last_words(pairing: Pairing) -> list[str]:
    """Returns the ends of the logs of `pairing`, and their paths."""
    lines: list[str] = []
    for log in pairing.logs:
        if log.exists():
            lines += [f"{log}:", *log.read_text(errors="replace").splitlines()[-4:]]
    return lines


async def run_all(pairings: list[Pairing], rounds: int | None, jobs: int) -> int:
    """Runs all pairings, `jobs` at a time, and returns the number of failed rounds. SIGTERM stops all processes."""
    task = asyncio.current_task()
    assert task
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    places = asyncio.Semaphore(jobs)

    async def run_one(pairing: Pairing) -> int:
        async with places:
            return await run(pairing, rounds or pairing.rounds)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run_one(pairing)) for pairing in pairings]
    return sum(task.result() for task in tasks)


class Named(Protocol):
    """Something that can be chosen by its name."""

    @property
    def name(self) -> str: ...


Choice = TypeVar("Choice", bound=Named)


def choose(names: list[str], known: Iterable[Choice], parser: argparse.ArgumentParser) -> list[Choice]:
    """Returns the elements of `known` with these names, in their order; exits if there is none of a name."""
    by_name = {each.name: each for each in known}
    if unknown := [name for name in names if name not in by_name]:
        parser.error(f"unknown name {', '.join(unknown)}: see --list")
    return [by_name[name] for name in names]


def main() -> int:
    parser = argparse.ArgumentParser(prog="Interop/run", description=__doc__)
    parser.add_argument("pairing", nargs="*", help="CONTROLLERS/CENTRAL-PERIPHERAL as --list shows it (default: all)")
    parser.add_argument("--list", action="store_true", help="list the pairings and exit")
    parser.add_argument("--peers-only", action="store_true", help="only pairings without this project's code")
    rounds = int(os.environ["INTEROP_ROUNDS"]) if "INTEROP_ROUNDS" in os.environ else None
    parser.add_argument("--rounds", type=int, default=rounds, help="rounds per pairing (default: 3 to 20)")
    parser.add_argument("--jobs", type=int, default=JOBS, metavar="N", help=f"concurrent pairings (default: {JOBS})")
    parser.add_argument("--trace", action="store_true", help="have Bumble log every packet, on stderr")
    arguments = parser.parse_args()

    logging.basicConfig(level=logging.DEBUG if arguments.trace else logging.CRITICAL)
    chosen = PEERS_ONLY if arguments.peers_only else PAIRINGS
    if arguments.pairing:
        chosen = choose(arguments.pairing, PEERS_ONLY + PAIRINGS + BY_NAME, parser)
    if arguments.list:
        print(*(pairing.name for pairing in chosen), sep="\n")
        return 0
    try:
        return 1 if asyncio.run(run_all(chosen, arguments.rounds, arguments.jobs)) else 0
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130


if __name__ == "__main__":
    sys.exit(main())
