"""Compares the throughput of two of our processes over a controller with that of two processes of another stack.

peers.py PATH-OF-BLEBenchmarks --controller COMMAND --other COMMAND [--rounds N] [--n N] [--only read,…] [--json FILE]
peers.py PATH-OF-BLEBenchmarks --compare COMMAND COMMAND… [--other COMMAND]

In the COMMAND of a controller, `{port}` is replaced by the port that two hosts connect to. In --other, so is `{role}`,
by `server` or `client`; the client also gets --n, --workloads and --mtus. A server prints a line of JSON when it is
ready and a client one for each result, as `BLEBenchmarks peer` does; the output of a controller is ignored.

    peers.py .build/release/BLEBenchmarks --controller 'nullctl --port {port}' \\
        --other '.interop/venv/bin/python bumble_peer.py {role} tcp-client:127.0.0.1:{port}'
    peers.py .build/release/BLEBenchmarks --compare 'nullctl --port {port}' \\
        '.build/release/ble radio --unpaced --shared-port {port}'

A ratio is the median of the rounds. Each round runs both stacks, workload by workload, so that other load on the
machine slows down both. --compare reports the processor time that each controller needs for an operation of our hosts,
or of other hosts, as the difference between two runs of different length.
"""

import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Interop"))

from interop.ports import free_ports  # noqa: E402

# Workloads of one run, their MTUs, the factor for the number of operations, and the share of it for other stacks.
GROUPS = [
    (["read"], [23], 1, 0.2),
    (["write"], [23], 1, 0.2),
    (["wcmd"], [23, 247, 517], 5, 0.3),
    (["notify"], [23, 247, 517], 5, 0.3),
    (["coc"], [247], 0.5, 0.1),
    (["disc"], [23, 247], 1, 1),
]
NAMES = {"write_req": "write", "write_cmd": "wcmd", "discovery": "disc"}
PATIENCE = 180


def processor_seconds(process):
    tasks = pathlib.Path(f"/proc/{process.pid}/task")
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9


def reachable(port):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        # A controller may treat any connection as a host's, so look for the listening socket without connecting.
        rows = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
        if any(row.split()[1].endswith(f":{port:04X}") and row.split()[3] == "0A" for row in rows):
            return
        time.sleep(0.05)
    sys.exit(f"no controller listens on port {port}")


class Bench:
    """A controller and a server, which run until the `with` statement ends."""

    def __init__(self, controller, peer):
        [self.port] = free_ports(1)
        self.peer = peer
        self.controller = subprocess.Popen(
            shlex.split(controller.format(port=self.port)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.server = None

    def command(self, role):
        return shlex.split(self.peer.format(role=role, port=self.port))

    def __enter__(self):
        reachable(self.port)
        self.server = subprocess.Popen(
            self.command("server"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for line in self.server.stdout:
            if "ready" in line:
                return self
        sys.exit("the server ended before it was ready: " + shlex.join(self.command("server")))

    def __exit__(self, *_):
        for process in (self.server, self.controller):
            process.kill()
            process.wait()
        self.server.stdout.close()

    def ask(self, workloads, mtus, operations):
        """Returns the results of a client, and the processor time that the controller used meanwhile."""
        begun = processor_seconds(self.controller)
        words = ["--n", str(operations), "--workloads", ",".join(workloads), "--mtus", ",".join(map(str, mtus))]
        done = subprocess.run(
            self.command("client") + words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            timeout=PATIENCE, check=False,
        )
        used = processor_seconds(self.controller) - begun
        results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return [result for result in results if "workload" in result], used


def figure(result):
    """Returns the workload and MTU of a result, the rate per second, and the host's processor time per operation."""
    name = NAMES.get(result["workload"], result["workload"])
    rate = result["kB_s" if name == "coc" else "ops_s"]
    return (name, result.get("mtu", 247)), rate, result["self_us"]


def compare_peers(ours, options):
    rates, costs = {}, {}
    wanted = options.only.split(",") if options.only else [name for group in GROUPS for name in group[0]]
    for number in range(options.rounds):
        for workloads, mtus, factor, share in GROUPS:
            if not set(workloads) & set(wanted):
                continue
            for who, peer in (("ours", ours), ("other", options.other)):
                count = int(options.n * factor * (share if who == "other" else 1))
                with Bench(options.controller, peer) as bench:
                    results, _ = bench.ask(workloads, mtus, count)
                if len(results) < len(mtus):
                    sys.exit(f"{who} did not finish {workloads}: {results}")
                for result in results:
                    key, rate, cost = figure(result)
                    rates.setdefault(key, {}).setdefault(who, []).append(rate)
                    costs.setdefault(key, {}).setdefault(who, []).append(cost)
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    rows = []
    for (name, mtu), found in rates.items():
        ratios = [a / b for a, b in zip(found["ours"], found["other"])]
        median = {who: statistics.median(values) for who, values in found.items()}
        cost = {who: statistics.median(values) for who, values in costs[name, mtu].items()}
        row = {"workload": name, "mtu": mtu, "ours": round(median["ours"], 1), "other": round(median["other"], 1)}
        row |= {"ratio": round(statistics.median(ratios), 1), "worst": round(min(ratios), 1)}
        row |= {"best": round(max(ratios), 1), "ours_us": round(cost["ours"], 2), "other_us": round(cost["other"], 2)}
        rows.append(row)
    return rows


def compare_controllers(peer, commands, operations):
    rows = []
    for workload, factor in (("read", 1), ("write", 1), ("wcmd", 5), ("notify", 5)):
        few, many = operations * factor // 5, operations * factor
        for command in commands:
            used = []
            for count in (few, many):
                with Bench(command, peer) as bench:
                    results, seconds = bench.ask([workload], [23], count)
                if not results or not results[0].get("good", True):
                    sys.exit(f"{workload} over {command} failed: {results}")
                used.append(seconds)
            microseconds = (used[1] - used[0]) / (many - few) * 1e6
            row = {"workload": workload, "controller": command, "us": round(microseconds, 2)}
            rows.append(row | {"ops_s": round(results[0]["ops_s"])})
    return rows


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("benchmarks")
    parser.add_argument("--controller")
    parser.add_argument("--other")
    parser.add_argument("--compare", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--only")
    parser.add_argument("--json")
    options = parser.parse_args()
    ours = f"{shlex.quote(options.benchmarks)} peer {{role}} --controller tcp:127.0.0.1:{{port}}"
    if options.compare:
        rows = compare_controllers(options.other or ours, options.compare, options.n)
    elif options.controller and options.other:
        rows = compare_peers(ours, options)
    else:
        parser.error("either --compare, or both --controller and --other are needed")
    columns = list(rows[0])
    widths = {column: max([len(column)] + [len(str(row[column])) for row in rows]) for column in columns}
    for row in [dict(zip(columns, columns))] + rows:
        print("  ".join(str(row[column]).rjust(widths[column]) for column in columns))
    if options.json:
        pathlib.Path(options.json).write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
