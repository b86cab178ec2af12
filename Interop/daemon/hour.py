"""Runs ten apps that share the daemon, and kills them at random: hour.py BLED BLE BLEDAY [MINUTES] [SEED]

The apps are those of `BLEDay app`, each a process: seven centrals and three peripheral managers behind one daemon, and
three servers and two centrals on machines of their own, on the air of `ble radio`. Each acts at random, and checks
everything that it receives against Apple's documentation. Every other central has a restore identifier: it is launched
again and continues where it was. Meanwhile the host must have no link without a session, the daemon no session of an
app that has ended, and in the end no more descriptors and memory than when it had settled.
"""

import contextlib
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time
import uuid

from app import EVENT, STATE_CHANGED, App, Lost, free_ports

CENTRALS, SERVERS = 7, 3
LINKS = 5
CALM, PARTING = 14, 5
"""Seconds to complete what was begun, and then to close all connections."""


class Place:
    """The files of a run, and its processes."""

    def __init__(self, folder, stack, dice):
        self.folder, self.stack, self.dice = pathlib.Path(folder), stack, dice
        self.bulletin = self.folder / "bulletin"
        self.bulletin.touch()

    def post(self, *words):
        """Adds a line of three words to the bulletin that all apps read."""
        with self.bulletin.open("ab", buffering=0) as file:
            file.write((" ".join(map(str, words)) + "\n").encode())

    def start(self, words, output=subprocess.DEVNULL, **environment):
        process = subprocess.Popen(words, env=os.environ | environment, stdout=output)
        self.stack.callback(end, process)
        return process


def end(process):
    if process.poll() is None:
        process.kill()
    process.wait()


class Member:
    """An app, with its previous launches."""

    def __init__(self, place, program, host, role, name, machine, *options):
        self.place, self.role, self.name, self.machine, self.launches = place, role, name, machine, 0
        self.output = place.folder / f"{name}.jsonl"
        self.environment = {"BLUETOOTH_HOST": host, "XDG_STATE_HOME": str(place.folder / machine)}
        self.program, self.options = program, options
        self.launch()

    @property
    def is_restorable(self):
        return "--restore" in self.options

    def launch(self):
        # Names have one length, since numbers that must differ are derived from them.
        words = [self.program, "app", self.role, f"{self.name}.{self.launches:04}", self.machine, self.place.bulletin,
                 "--seed", str(self.place.dice.randrange(1 << 32)), *self.options]
        with self.output.open("ab") as file:
            self.process = self.place.start(words, file, **self.environment)
        self.launches += 1

    def kill(self):
        self.process.kill()
        self.process.wait()
        if self.role == "server":
            self.place.post("died", self.machine, time.clock_gettime_ns(time.CLOCK_MONOTONIC))

    def lines(self):
        text = self.output.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    def violations(self):
        return [f"{self.name}: {line['violation']}" for line in self.lines() if "violation" in line]


class Daemon:
    """The daemon, and queries of its state."""

    def __init__(self, place, bled, ble, radio):
        self.ble, self.path, self.servers = ble, str(place.folder / "socket"), set()
        self.process = place.start([bled, "--socket", self.path, "--sessions", place.folder / "sessions", radio],
                                   XDG_STATE_HOME=str(place.folder / "phone"))
        App(self.path).close()

    @property
    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    @property
    def memory(self):
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="ascii") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("Private_Dirty"))

    def sessions(self):
        output = subprocess.run([self.ble, "apps", "--json"], env=os.environ | {"BLUETOOTH_HOST": f"bled:{self.path}"},
                                check=True, capture_output=True, text=True).stdout
        sessions = [json.loads(line) for line in output.splitlines()]
        self.servers.update(peer for each in sessions for peer in each["links"])
        return sessions

    def links(self):
        """Returns the host's links to servers, as the daemon reports them to every new app."""
        app, found = App(self.path), set()
        with contextlib.closing(app):
            app.greet()
            app.event(STATE_CHANGED)
            for message in app.heard:
                if message[:2] == bytes([EVENT, LINKS]):
                    found = set(peers(message[2:]))
        return found & self.servers


def peers(octets):
    """Yields the peers of a list of links: for each, an identifier, an optional name, and services."""
    while octets and octets[0]:
        yield str(uuid.UUID(bytes=octets[16:0:-1])).upper()
        octets = octets[17:]
        octets = octets[5 + int.from_bytes(octets[1:5], "little"):] if octets[0] else octets[1:]
        while octets[0]:
            octets = octets[2 + octets[1]:]
        octets = octets[1:]


def within(seconds, problem):
    """Waits until a function finds no problem; exits with the problem after a timeout."""
    due = time.monotonic() + seconds
    while found := problem():
        if time.monotonic() > due:
            sys.exit(found)
        time.sleep(0.1)


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def strangers(daemon, crowd):
    """Returns a description of sessions and links in the daemon that belong to no app."""
    sessions = daemon.sessions()
    there = {member.process.pid for member in crowd}
    dead = [each for each in sessions if each.get("process") not in there | {None}]
    kept = [each for each in sessions if "process" not in each]
    known = {member.options[member.options.index("--restore") + 1] for member in crowd if member.is_restorable}
    lost = daemon.links() - {peer for each in sessions for peer in each["links"]}
    if dead or any(each["restore_identifier"] not in known for each in kept):
        return f"sessions of apps that have ended: {dead + kept}"
    return f"links that no app has: {lost}" if lost else None


def kill(daemon, crowd, dice):
    """Kills an app, checks its session, and launches it again."""
    victim = dice.choice(crowd)
    victim.kill()
    if victim.is_restorable:
        name = victim.options[victim.options.index("--restore") + 1]

        def problem():
            kept = [each for each in daemon.sessions() if each.get("restore_identifier") == name]
            if not kept or "process" in kept[0]:
                return f"the session of {victim.name} is not kept: {kept}"
            missing = set(kept[0]["links"]) - daemon.links()
            return f"the links of {victim.name} are gone: {missing}" if missing else None
    else:
        def problem():
            left = [each for each in daemon.sessions() if each.get("process") == victim.process.pid]
            return f"the session of {victim.name} remains: {left}" if left else None
    within(5, problem)
    within(5, lambda: strangers(daemon, crowd))
    victim.launch()


def examine(everybody):
    for member in everybody:
        if member.process.poll() is not None:
            sys.exit(f"{member.name} ended with {member.process.returncode}")


def conclude(place, everybody, daemon):
    """Lets all apps finish and check their results."""
    for stage, seconds in (("calm", CALM), ("parting", PARTING), ("over", 0)):
        place.post("stage", stage)
        time.sleep(seconds)
        examine(everybody if seconds else [])
        if stage == "parting":
            within(5, lambda: (left := daemon.links()) and f"links are left: {left}")
    for member in everybody:
        try:
            member.process.wait(20)
        except subprocess.TimeoutExpired:
            sys.exit(f"{member.name} does not end")


def main(bled, ble, day, minutes=60.0, seed=1.0):
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        place, port = Place(folder, stack, dice), free_ports(1)[0]
        radio = f"tcp:127.0.0.1:{port}"
        place.start([ble, "radio", "--shared-port", str(port), "--seed", str(int(seed))])
        within(10, lambda: not listens(port) and "the radio does not listen")
        daemon = Daemon(place, bled, ble, radio)
        # Dispatch opens an epoll set, an eventfd and a timerfd when the daemon first launches an app.
        before = daemon.descriptors + 3
        others = [Member(place, day, radio, "server", name, name) for name in ("lamp", "lock", "scale")]
        others += [Member(place, day, radio, "central", name, name) for name in ("tablet", "watch")]
        crowd = []
        for number in range(CENTRALS):
            options = ["--restore", f"app-{number}"] if number % 2 else []
            options += [["--main"], ["--legacy"], []][number % 3]
            crowd.append(Member(place, day, f"bled:{daemon.path}", "central", f"c{number}", "phone", *options))
        for number in range(SERVERS):
            crowd.append(Member(place, day, f"bled:{daemon.path}", "server", f"s{number}", "phone"))
        begun, kills, settled = time.monotonic(), 0, None
        length = 60 * minutes - CALM - PARTING
        while time.monotonic() - begun < length:
            time.sleep(0.2 + 2 * dice.random())
            examine(others + crowd)
            kill(daemon, crowd, dice)
            kills += 1
            if settled is None and time.monotonic() - begun > length / (10 if minutes > 5 else 2):
                settled = daemon.memory
        conclude(place, others + crowd, daemon)
        within(5, lambda: daemon.descriptors > before and f"{daemon.descriptors} descriptors instead of {before}")
        grown = daemon.memory - settled
        lines = [line for member in others + crowd for line in member.lines()]
        violations = [each for member in others + crowd for each in member.violations()]
        print(json.dumps({
            "minutes": minutes, "seed": int(seed), "kills": kills, "violations": len(violations),
            "operations": sum(line.get("operations", 0) for line in lines),
            "callbacks": sum(line.get("callbacks", 0) for line in lines),
            "grown_kib": grown >> 10, "descriptors": daemon.descriptors}))
        if violations:
            sys.exit("\n".join(violations))
        assert grown < 1 << 20, "the daemon has grown"


if __name__ == "__main__":
    try:
        main(*sys.argv[1:4], *map(float, sys.argv[4:]))
    except Lost as loss:
        sys.exit(f"the daemon: {loss}")
