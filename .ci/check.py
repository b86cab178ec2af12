"""Judges what the programs printed as JSON, one object a line, for the steps of .ci/run."""

import json
import sys

DEMO_EVENTS = {"discovered", "connected", "subscribed", "wrote", "received", "left"}


def objects(text):
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def demo():
    """Every step of the chat happened; the exit status says the same, but could not be trusted alone."""
    missing = DEMO_EVENTS - {each.get("event") for each in objects(sys.stdin.read())}
    return f"ble demo never said {', '.join(sorted(missing))}" if missing else None


def determinism(first, again, other):
    """`first` and `again` are runs with one seed, `other` is one with another."""
    hashes = [objects(open(path).read())[-1]["hash"] for path in (first, again, other)]
    if hashes[0] != hashes[1]:
        return f"the same seed made {hashes[0]} in one process and {hashes[1]} in another"
    if hashes[0] == hashes[2]:
        return f"another seed made the same {hashes[0]}: the hash sees nothing"
    return None


def scale(path):
    """More time passed in the world than on the clock."""
    result = objects(open(path).read())[-1]
    simulated, wall = result["simulated_seconds"], result["wall_seconds"]
    return None if simulated > wall else f"{simulated} simulated seconds took {wall} s"


complaint = {"demo": demo, "determinism": determinism, "scale": scale}[sys.argv[1]](*sys.argv[2:])
if complaint:
    sys.exit(complaint)
