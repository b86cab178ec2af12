"""Counts the instructions that the host executes for one operation of each micro workload, with callgrind.

instructions.py PATH-OF-BLEBenchmarks [H1 …] [--write] [--tolerance PERCENT] [--json]
instructions.py PATH-OF-BLEBenchmarks HF1 … | HF1-daemon … | facade | daemon [--write] [--tolerance PERCENT] [--json]
instructions.py PATH-OF-BLEBenchmarks --sweep [H1 …] [--json]

The cost of an operation is the difference between two runs, divided by the difference in their number of operations, so
setup and teardown do not count. `total` counts all instructions, `own` those outside the benchmark itself,
`allocations` the calls of malloc. The counts are compared with baseline.json, which --write replaces; the exit status
is 1 if one is worse.

HF1 to HF9 are the same workloads through the classes of Core Bluetooth, on two threads; their counts repeat within 3 %.
With the suffix -daemon, the host is a daemon's, and the instructions of daemon and app are added up; `daemon` stands
for all of these.

--sweep repeats the counts with increasing amounts of unrelated state: links, pending connections, characteristics,
advertisers, apps that scan, values that wait for a buffer. Each advertiser is measured at least once.

Counts repeat within 0.2 % on one machine with one version of the compiler; times would not.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BASELINE = pathlib.Path(__file__).with_name("baseline.json")
WORKLOADS = [f"H{number}" for number in range(1, 10)]
FACADE = ["HF1", "HF1-seen", *(f"HF{number}" for number in range(2, 7)), "HF6-alone", "HF7", "HF8", "HF9"]
DAEMON = [f"{name}-daemon" for name in FACADE]
FEW, MANY = 2_000, 7_000
# A workload with threads may fail on a busy machine, where its link can be lost while it is prepared.
ATTEMPTS = 3
# With threads and clocks, the setup varies between runs; more operations reduce its share.
MANY_OF_FACADE = 22_000
NAME = re.compile(r"^(c?fn)=\((\d+)\)(?: (.*))?$")


# The option that is varied, its values, and the workloads that run with it.
SWEEPS = [
    ("links", [1, 31, 250], ["H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9"]),
    ("pending", [0, 255], ["H6", "H7", "H8", "H9"]),
    ("characteristics", [3, 500], ["H2", "H4", "H5"]),
    ("advertisers", [16, 256, 10_000, 100_000], ["H1"]),
    ("clients", [1, 4, 16, 64], ["H1"]),
    ("waiting", [10, 100], ["H5", "H9"]),
]


class Failed(Exception):
    """A workload failed in every attempt."""


def profile(program, workload, operations, folder, options=()):
    """Returns the instructions that each function itself executed, and the number of calls of each."""
    file = pathlib.Path(folder, f"{workload}-{operations}")
    kind, name = "facade" if workload in FACADE + DAEMON else "micro", workload.removesuffix("-daemon")
    options = [*options, "--daemon"] if workload in DAEMON else options
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", program, kind, name, str(operations),
               *options]
    for attempt in range(ATTEMPTS):
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode == 0:
            break
    else:
        lines = (run.stdout + run.stderr).strip().splitlines()
        raise Failed(f"{workload} with {operations} operations failed {ATTEMPTS} times (status {run.returncode}): "
                     f"{lines[-1] if lines else 'no output'}")
    names, costs, calls = {}, {}, {}
    function, callee, isCall = "", "", False
    for line in file.read_text().splitlines():
        if found := NAME.match(line):
            kind, number, name = found.groups()
            name = names.setdefault(number, name or "")
            if kind == "fn":
                function = name
            else:
                callee = name
        elif line.startswith("calls="):
            calls[callee] = calls.get(callee, 0) + int(line[6:].split()[0])
            isCall = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            # The line after calls= holds the cost of the callee, which is counted there.
            if not isCall:
                fields = line.split()
                costs[function] = costs.get(function, 0) + (int(fields[1]) if len(fields) > 1 else 0)
            isCall = False
    return costs, calls


def is_harness(function):
    return function.startswith("$s13BLEBenchmarks")


def measure(program, workload, options=(), visits=0):
    """Returns the counts for one operation; at least `visits` operations are measured."""
    most = max(MANY_OF_FACADE if workload in FACADE + DAEMON else MANY, FEW + visits)
    with tempfile.TemporaryDirectory() as folder:
        few, many = (profile(program, workload, count, folder, options) for count in (FEW, most))

    def each(amount):
        return (amount(many) - amount(few)) / (most - FEW)

    return {
        "total": round(each(lambda run: sum(run[0].values()))),
        "own": round(each(lambda run: sum(cost for name, cost in run[0].items() if not is_harness(name)))),
        "allocations": round(each(lambda run: run[1].get("malloc", 0)), 1),
    }


def verdict(now, before, tolerance):
    """Returns the change in percent, and whether it is for the worse."""
    if not before:
        return None, False
    change = (now["own"] / before["own"] - 1) * 100
    return round(change, 1), change > tolerance or now["allocations"] > before["allocations"] + 0.2


def sweep(program, chosen, as_json):
    """Repeats the counts with increasing amounts of unrelated state."""
    for name, values, workloads in SWEEPS:
        for workload in workloads:
            if workload not in chosen:
                continue
            # Each operation is a report of the next advertiser; all of them must be visited.
            counts = [measure(program, workload, [f"--{name}", str(value)],
                              value if name == "advertisers" else 0)["own"] for value in values]
            growth = round((max(counts) / min(counts) - 1) * 100, 1)
            if as_json:
                print(json.dumps({"workload": workload, "of": name, "values": values, "own": counts,
                                  "growth": growth}), flush=True)
            else:
                each = "  ".join(f"{value:>6}: {count:>6}" for value, count in zip(values, counts))
                print(f"{workload}  {name:<15}  {each}  {growth:+.1f} %", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Counts the host's instructions for one operation, with callgrind.")
    parser.add_argument("program", help="the path of BLEBenchmarks, built for release")
    parser.add_argument("workloads", nargs="*", metavar="H1", help="the workloads to run (default: all)")
    parser.add_argument("--write", action="store_true", help="replace the figures in baseline.json")
    parser.add_argument("--tolerance", type=float, default=3, metavar="PERCENT", help="allowed increase (default: 3)")
    parser.add_argument("--sweep", action="store_true", help="count with increasing amounts of unrelated state")
    parser.add_argument("--json", action="store_true", help="print one object for each workload")
    arguments = parser.parse_intermixed_args()
    groups = {"facade": FACADE, "daemon": DAEMON}
    arguments.workloads = [name for word in arguments.workloads for name in groups.get(word, [word])]
    if unknown := [name for name in arguments.workloads if name not in WORKLOADS + FACADE + DAEMON]:
        parser.error(f"unknown workload {unknown[0]}; choose from {', '.join(WORKLOADS + FACADE)}")
    for tool in ("valgrind", "strip"):
        if not shutil.which(tool):
            sys.exit(f"instructions.py: {tool} is not installed; on Debian: apt-get install valgrind binutils")
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    isWorse = hasFailed = False
    with tempfile.TemporaryDirectory() as folder:
        # Valgrind fails on some debug information.
        program = pathlib.Path(folder, "program")
        subprocess.run(["strip", "-g", "-o", program, arguments.program], check=True)
        if arguments.sweep:
            try:
                return sweep(program, arguments.workloads or WORKLOADS, arguments.json)
            except Failed as failure:
                sys.exit(f"instructions.py: {failure}")
        for workload in arguments.workloads or WORKLOADS:
            try:
                now = measure(program, workload)
            except Failed as failure:
                print(f"instructions.py: {failure}", file=sys.stderr, flush=True)
                hasFailed = True
                continue
            change, worse = verdict(now, baseline.get(workload), arguments.tolerance)
            isWorse = isWorse or worse
            baseline[workload] = now if arguments.write else baseline.get(workload, now)
            if arguments.json:
                print(json.dumps({"workload": workload, **now, "change": change, "worse": worse}), flush=True)
            else:
                note = "" if change is None else f"  {change:+.1f} %{'  WORSE' if worse else ''}"
                print(f"{workload:<16}  total {now['total']:>6}  own {now['own']:>6}  "
                      f"allocations {now['allocations']:>4}{note}", flush=True)
    if arguments.write:
        BASELINE.write_text(json.dumps(baseline, indent=1) + "\n")
    sys.exit(1 if hasFailed or isWorse and not arguments.write else 0)


if __name__ == "__main__":
    main()
