"""Takes the radio from each command of ble, and checks that it ends or continues as its help says.

run.py PATH-OF-BLE [--only TEXT] [--seeds N] [--at-once N]

Each case has a radio of its own on free ports of 127.0.0.1, and ends only its own processes. With one seed it takes
about a minute; more seeds cut the wire at more places.
"""

import argparse
import concurrent.futures
import sys
import time

import cases
from rig import Failure, Rig


def attempt(ble, case):
    """Returns the case, the reason why it failed, if it did, and the seconds that it took."""
    begun, reason = time.monotonic(), None
    try:
        with Rig(ble, case.seed) as rig:
            case.run(rig)
    except Failure as failure:
        reason = str(failure)
    return case, reason, time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description="Takes the radio from each command of ble.")
    parser.add_argument("ble", help="the path of ble")
    parser.add_argument("--only", metavar="TEXT", default="", help="only cases whose name contains this text")
    parser.add_argument("--seeds", metavar="N", type=int, default=1, help="places to cut wires at (default: 1)")
    parser.add_argument("--at-once", metavar="N", type=int, default=6, help="concurrent cases (default: 6)")
    parser.add_argument("--verbose", action="store_true", help="also print the cases that passed")
    arguments = parser.parse_args()
    chosen = [case for case in cases.all_cases(arguments.seeds) if arguments.only.lower() in case.name.lower()]
    passed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
        attempts = [pool.submit(attempt, arguments.ble, case) for case in chosen]
        for future in concurrent.futures.as_completed(attempts):
            case, reason, seconds = future.result()
            passed += reason is None
            if reason is not None:
                print(f"{case.name} failed after {seconds:.0f} s: {reason}", flush=True)
            elif arguments.verbose:
                print(f"{case.name} passed in {seconds:.1f} s", flush=True)
    print(f"{passed} of {len(chosen)} passed")
    sys.exit(0 if chosen and passed == len(chosen) else 1)


if __name__ == "__main__":
    main()
