"""Sends hostile inputs to the programs from outside, and checks that they run, answer, and do not grow.

run.py PATH-OF-ble PATH-OF-BLEConformance [--only TEXT] [--inputs N] [--seed S] [--repeat FILE]

`bled` must be beside `ble`.

Prints one JSON object for each target. An input is a packet, a PDU or a file. Inputs come in batches that are derived
from the seed; after each batch the program must answer a good request. If it does not, the batch is reduced to the
necessary inputs, and stored in a file with one input a line, as hexadecimal digits, for --repeat.
FUZZ_PATIENCE is the time limit of an answer, in seconds (20).
"""

import argparse
import json
import pathlib
import signal
import sys
import tempfile
import time

import targets
from dice import Dice
from victim import Finding

MOST_MEMORY, MOST_GROWTH = 256 << 20, 24 << 20
ATTEMPTS = 60


class Watch:
    """The memory of a program, and whether it keeps growing."""

    def __init__(self):
        self.settled, self.last, self.peak = None, 0, 0

    def look(self, target, share):
        """Records the memory after that share of the inputs has been sent, and checks its limits."""
        self.last = target.memory
        self.peak = max(self.peak, self.last)
        if self.settled is None and share >= 1 / 3:
            self.settled = self.last
        if self.peak > MOST_MEMORY:
            raise Finding(f"{self.peak >> 20} MiB are resident; the limit is {MOST_MEMORY >> 20} MiB")
        if share >= 1 and self.last > self.settled + MOST_GROWTH:
            raise Finding(f"{self.last >> 20} MiB are resident, up from {self.settled >> 20} after a third of inputs")


def fuzz(make, name, seed, count, folder):
    """Runs one target, and returns its result."""
    target, watch, sent, batches, begun = make(), Watch(), 0, 0, time.monotonic()
    count = max(1, count // getattr(target, "share", 1))
    finding, file, inputs = None, None, []
    try:
        target.start()
        while sent < count:
            inputs = target.inputs(Dice(f"{seed}/{name}/{batches}"), min(target.batch, count - sent))
            taken = target.offer(inputs)
            sent, batches = sent + (len(inputs) if taken is None else taken), batches + 1
            watch.look(target, sent / count)
    except Finding as caught:
        finding = reason(target, caught)
    finally:
        target.stop()
    if finding:
        inputs, is_repeatable = reduce(make, inputs)
        file = pathlib.Path(folder, name.replace("/", "-") + ".hex")
        file.write_text("".join(each.hex() + "\n" for each in inputs))
        finding += "" if is_repeatable else " (not reproduced by the last batch alone)"
    return {
        "target": name, "passed": finding is None, "inputs": sent, "batches": batches, "seed": seed,
        "seconds": round(time.monotonic() - begun, 1), "restarts": target.restarts,
        "mib": {"settled": (watch.settled or 0) >> 20, "last": watch.last >> 20, "peak": watch.peak >> 20},
        **({"finding": finding, "batch": batches, "repeat": str(file)} if finding else {}),
    }


def reason(target, finding):
    """Returns the finding, or the crash of the program if that explains it."""
    try:
        if target.victim:
            target.victim.look()
    except Finding as crash:
        return str(crash)
    return str(finding)


def fails(make, inputs):
    target = make()
    try:
        target.start()
        target.offer(inputs)
    except Finding:
        return True
    finally:
        target.stop()
    return False


def reduce(make, inputs):
    """Returns the smallest set of inputs found that still fails, and whether the whole batch failed when repeated."""
    if not fails(make, inputs):
        return inputs, False
    parts, attempts = 2, 0
    while parts <= len(inputs) and attempts < ATTEMPTS:
        size = -(-len(inputs) // parts)
        for place in range(0, len(inputs), size):
            rest, attempts = inputs[:place] + inputs[place + size:], attempts + 1
            if attempts <= ATTEMPTS and fails(make, rest):
                inputs, parts = rest, max(2, parts - 1)
                break
        else:
            if size == 1:
                break
            parts = min(len(inputs), parts * 2)
    return inputs, True


def repeat(make, name, file):
    inputs = [bytes.fromhex(line) for line in pathlib.Path(file).read_text().splitlines()]
    target = make()
    try:
        target.start()
        target.offer(inputs)
    except Finding as finding:
        return {"target": name, "passed": False, "inputs": len(inputs), "finding": reason(target, finding)}
    finally:
        target.stop()
    return {"target": name, "passed": True, "inputs": len(inputs)}


def main():
    parser = argparse.ArgumentParser(description="Sends hostile inputs to the programs from outside.")
    parser.add_argument("ble", help="the path of ble")
    parser.add_argument("driver", help="the path of BLEConformance")
    parser.add_argument("--only", metavar="TEXT", default="", help="only targets whose name contains this text")
    parser.add_argument("--inputs", type=int, default=2000, help="inputs for each target (default: 2000)")
    parser.add_argument("--seed", type=int, default=1, help="random seed of the inputs (default: 1)")
    parser.add_argument("--repeat", metavar="FILE", help="send the inputs in this file to the target of --only")
    parser.add_argument("--failures", metavar="FOLDER", help="folder for inputs that fail (default: a new one)")
    parser.add_argument("--list", action="store_true", help="print the names of the targets")
    arguments = parser.parse_args()
    # SIGTERM must also end the processes that this one has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    daemon = pathlib.Path(arguments.ble).with_name("bled")
    programs = {"ble": arguments.ble, "bled": daemon, "driver": arguments.driver}
    chosen = {name: make for name, make in targets.every(programs).items() if arguments.only in name}
    if arguments.list:
        print("\n".join(chosen))
        return
    if arguments.repeat and len(chosen) != 1:
        parser.error(f"--repeat needs exactly one target; --only selects: {', '.join(chosen) or 'none'}")
    folder = arguments.failures or tempfile.mkdtemp(prefix="fuzz-failures-")
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    passed = bool(chosen)
    for name, make in chosen.items():
        if arguments.repeat:
            result = repeat(make, name, arguments.repeat)
        else:
            result = fuzz(make, name, arguments.seed, arguments.inputs, folder)
        print(json.dumps(result), flush=True)
        passed = passed and result["passed"]
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
