"""Judges what the programs printed as JSON, one object a line, for the steps of .ci/run."""

import json
import sys

PEAK_MEGABYTES = 256
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


def day(first, second):
    """16 seeds, each a day of its own that holds something; two of them the same in either process."""
    runs = [each for path in (first, second) for each in objects(open(path).read()) if "hash" in each]
    days = {each["seed"]: each for each in runs}
    if len(days) != 16 or len({each["hash"] for each in days.values()}) != 16:
        return f"{len(days)} days, of which 16 should be different"
    torn = {each["seed"] for each in runs if each["hash"] != days[each["seed"]]["hash"]}
    if torn or len(runs) != 18:
        return f"of {len(runs)} days, where 18 should be, those of the seeds {torn} were others in another process"
    poor = [seed for seed, each in days.items() if each["violations"] or each["callbacks"] < 1_000]
    return f"the days of the seeds {poor} are not good" if poor else None


def figures(expected, measured):
    """Each workload has the figures of the file `expected`; other fields of a result may vary."""
    results = {each["workload"]: each for each in objects(open(measured).read())}
    known = objects(open(expected).read())
    if unheld := set(results) - {each["workload"] for each in known}:
        return f"{expected} has no figures for {', '.join(sorted(unheld))}; add them"
    changes = [
        f"{each['workload']}: {name} was {value} and is {results.get(each['workload'], {}).get(name, 'missing')}"
        for each in known for name, value in each.items()
        if results.get(each["workload"], {}).get(name) != value
    ]
    if changes:
        return "\n".join([*changes, f"If intended, update {expected} from {measured}, and docs/PERFORMANCE.md."])
    return None


def scale(path):
    """More time passed in the world than on the clock."""
    result = objects(open(path).read())[-1]
    simulated, wall = result["simulated_seconds"], result["wall_seconds"]
    return None if simulated > wall else f"{simulated} simulated seconds took {wall} s"


def adversary(path):
    """Every sequence was tried, none hurt, and memory stayed bounded; short means that packets were left out."""
    *reports, last = objects(open(path).read())
    tries = [each for each in reports if not each["victim"].startswith("flood")]
    if len(tries) != 11 or len(reports) != 15:
        return f"an adversary has 11 victims and 4 to flood, not {[each['victim'] for each in reports]}"
    for each in tries:
        if each["sequences"] < 60 + 60**2 + 60**3 or each["complaints"]:
            return f"{each['victim']}: {each['sequences']} sequences, {each['complaints'][:3]}"
    peak = last["peak_megabytes"]
    return None if peak <= PEAK_MEGABYTES else f"{peak} MiB were resident; {PEAK_MEGABYTES} are allowed"


def channel(path):
    """All arrived both ways as it was sent, and little of it was anywhere in between."""
    result = objects(open(path).read())[-1]
    octets = result["octets"]
    for end in ("store", "visitor"):
        if result[f"received_by_{end}"] != octets:
            return f"{result[f'received_by_{end}']} of {octets} octets came to the {end}"
    if not result["intact"]:
        return "what came is not what was sent"
    if result["sent_unread"] > 1 << 19:
        return f"{result['sent_unread']} octets were taken from a writer whose reader does not read"
    growth = result["memory_growth_mib"]
    return f"the memory grew by {growth} MiB; 48 are enough for any number of octets" if growth > 48 else None


judges = {each.__name__: each for each in (adversary, channel, day, demo, determinism, figures, scale)}
complaint = judges[sys.argv[1]](*sys.argv[2:])
if complaint:
    sys.exit(complaint)
