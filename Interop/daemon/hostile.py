"""Measures how long a well-behaved app waits while others attack the daemon: hostile.py BLED [ROUNDS]

Two daemons run side by side, and only one is attacked. An app of each asks for the RSSI of its device repeatedly, in
turns, so that other load on the machine counts for both; the medians are compared. Attackers are in a process of their
own. Each must be refused with a reason, and the daemon must not grow. A round takes ten to twenty seconds, and needs
two processors that are otherwise idle.
"""

import contextlib
import json
import os
import random
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from app import PEER, PEER_EVENT, POWERED_ON, READ_RSSI, REFUSED, RSSI_READ, SCAN, STATE_CHANGED, App, Lost

SAMPLES = 400
EXPECTED = {"noise": 1, "halves": 1, "flood": 6, "crowd": 5, "silence": 5}
"""The reason for which each attacker is refused; docs/DAEMON.md lists the reasons."""
MOST_RATIO, MOST_GROWTH = 1.2, 1 << 20


def reason(app):
    """Returns the reason for which an app is refused; `None` if it gets none."""
    with contextlib.suppress(Lost):
        while True:
            message = app.message()
            if message[0] == REFUSED:
                return message[1]
    return None


def noise(path, dice):
    """Sends random messages."""
    app = App(path)
    with contextlib.suppress(Lost):
        for _ in range(200):
            app.say(dice.randbytes(dice.randrange(1, 300)))
    return reason(app)


def halves(path, dice):
    """Announces a message and never completes it."""
    app = App(path)
    with contextlib.suppress(OSError):
        app.socket.sendall(struct.pack("<I", 0xFFFFF) + dice.randbytes(0xFFFF0))
    return reason(app)


def flood(path, _):
    """Sends a million requests without reading."""
    app = App(path)
    app.greet()
    request = b"".join(
        struct.pack("<I", 6) + struct.pack("<BIB", 2, number, 2) for number in range(1, 1_001))
    app.socket.settimeout(5)
    with contextlib.suppress(OSError):
        for _ in range(1_000):
            app.socket.sendall(request)
    return reason(app)


def crowd(path, _, greets=True):
    """Opens a thousand connections."""
    apps, found = [], None
    for _ in range(1_000):
        with contextlib.suppress(Lost):
            apps.append(App(path, patience=1))
            if greets:
                apps[-1].greet()
    for app in reversed(apps):
        found = found or reason_at_once(app)
    for app in apps:
        app.close()
    return found


def silence(path, dice):
    """Opens a thousand connections that send nothing."""
    return crowd(path, dice, greets=False)


def reason_at_once(app):
    app.patience = 0.5
    return reason(app)


ATTACKS = {"noise": noise, "halves": halves, "flood": flood, "crowd": crowd, "silence": silence}


def attack(name, path):
    """Attacks until it is killed, and prints the reason of each refusal."""
    dice = random.Random(1)
    while True:
        print(json.dumps(ATTACKS[name](path, dice)), flush=True)


class Daemon:
    """A daemon with a simulated world of its own, and an app that is connected to a device there."""

    def __init__(self, bled, place):
        self.path = place + "/socket"
        self.process = subprocess.Popen([bled, "--socket", self.path, "--sessions", place + "/sessions", "demo"],
                                        stdout=subprocess.DEVNULL)
        self.app = App(self.path)
        self.app.greet()
        self.app.event(STATE_CHANGED, POWERED_ON)
        self.peer = self.app.find("Lamp")
        self.app.ask(bytes([SCAN + 1]))
        self.app.connect(self.peer)

    def wait(self):
        """Returns the seconds until the RSSI arrives."""
        begun = time.perf_counter()
        self.app.ask(bytes([PEER]) + self.peer + bytes([READ_RSSI]))
        self.app.event(PEER_EVENT, *self.peer, RSSI_READ, 0)
        return time.perf_counter() - begun

    def memory(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def end(self):
        self.process.kill()
        self.process.wait()


def by_turns(one, other):
    """Returns the median waits of two daemons, asked in turns."""
    waits = [(one.wait(), other.wait()) for _ in range(SAMPLES)]
    return [statistics.median(column) for column in zip(*waits)]


def besides(name, attacked, spared):
    """Returns the waits of the apps during an attack, and the reasons for which the attackers were refused."""
    attacker = subprocess.Popen([sys.executable, __file__, "--attack", name, attacked.path],
                                stdout=subprocess.PIPE, text=True)
    try:
        reasons = {json.loads(attacker.stdout.readline())}
        return by_turns(attacked, spared), reasons
    finally:
        attacker.kill()
        attacker.wait()


def awake():
    """Keeps each processor awake, so that waking up does not count, with idle priority."""
    idle = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True: pass"
    return [subprocess.Popen([sys.executable, "-c", idle]) for _ in range(os.cpu_count())]


def measure(name, rounds, attacked, spared):
    ratios, seen = [], []
    settled = attacked.memory()
    for _ in range(rounds):
        before = by_turns(attacked, spared)
        (slowed, alone), reasons = besides(name, attacked, spared)
        assert reasons == {EXPECTED[name]}, f"{name} was refused for {reasons}"
        ratios.append(slowed / alone / (before[0] / before[1]))
        seen.append((slowed, alone))
    grown = attacked.memory() - settled
    slowed, alone = [statistics.median(column) * 1_000 for column in zip(*seen)]
    ratio = statistics.median(ratios)
    print(json.dumps({
        "attack": name, "attacked_ms": round(slowed, 3), "spared_ms": round(alone, 3), "ratio": round(ratio, 2),
        "resident_kib": attacked.memory() >> 10, "grown_kib": grown >> 10}), flush=True)
    return ratio <= MOST_RATIO and grown < MOST_GROWTH


def main(bled, rounds):
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as other:
        daemons, burners = [], awake()
        try:
            for each in (place, other):
                daemons.append(Daemon(bled, each))
            by_turns(*daemons)
            results = [measure(name, rounds, *daemons) for name in ATTACKS]
        finally:
            for daemon in daemons:
                daemon.end()
            for burner in burners:
                burner.kill()
                burner.wait()
    sys.exit(0 if all(results) else "other apps were slowed down by more than 20 %, or the daemon has grown by 1 MiB")


if __name__ == "__main__":
    if sys.argv[1] == "--attack":
        attack(*sys.argv[2:4])
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
