"""How long a well-behaved app waits while others attack the daemon: hostile.py BLED [ROUNDS]

The app asks for the RSSI of its device, again and again, alone and beside each attack in turn; medians are compared.
Attackers are in a process of their own. Each must be turned away with a reason, and the daemon must not grow.
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
EXPECTED = {"noise": 1, "halves": 1, "flood": 6, "crowd": 5}
"""Why each attacker is turned away: docs/DAEMON.md has the reasons."""


def reason(app):
    """Why an app is turned away; `None` if it is not told."""
    with contextlib.suppress(Lost):
        while True:
            message = app.message()
            if message[0] == REFUSED:
                return message[1]
    return None


def noise(path, dice):
    """Random messages."""
    app = App(path)
    with contextlib.suppress(Lost):
        for _ in range(200):
            app.say(dice.randbytes(dice.randrange(1, 300)))
    return reason(app)


def halves(path, dice):
    """A message that is announced and never comes to its end."""
    app = App(path)
    app.socket.sendall(struct.pack("<I", 0xFFFFFFF) + dice.randbytes(100))
    return reason(app)


def flood(path, _):
    """A million requests without reading."""
    app = App(path)
    app.greet()
    request = b"".join(
        struct.pack("<I", 6) + struct.pack("<BIB", 2, number, 2) for number in range(1, 1_001))
    app.socket.settimeout(5)
    with contextlib.suppress(OSError):
        for _ in range(1_000):
            app.socket.sendall(request)
    return reason(app)


def crowd(path, _):
    """A thousand connections."""
    apps = []
    with contextlib.suppress(Lost, OSError):
        for _ in range(1_000):
            apps.append(App(path, patience=1))
            apps[-1].greet()
    found = next((answer for answer in map(reason_at_once, reversed(apps)) if answer), None)
    for app in apps:
        app.close()
    return found


def reason_at_once(app):
    app.patience = 0.5
    return reason(app)


ATTACKS = {"noise": noise, "halves": halves, "flood": flood, "crowd": crowd}


def attack(name, path):
    """Attacks until it is ended, and says each time why it was turned away."""
    dice = random.Random(1)
    while True:
        print(json.dumps(ATTACKS[name](path, dice)), flush=True)


def wait(app, peer):
    """Seconds until the RSSI is told, many times."""
    samples = []
    for _ in range(SAMPLES):
        begun = time.perf_counter()
        app.ask(bytes([PEER]) + peer + bytes([READ_RSSI]))
        app.event(PEER_EVENT, *peer, RSSI_READ, 0)
        samples.append(time.perf_counter() - begun)
    return samples


def memory(process):
    with open(f"/proc/{process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def besides(name, path, app, peer):
    """What the app waits while an attack goes on, and why the attackers were turned away."""
    attacker = subprocess.Popen([sys.executable, __file__, "--attack", name, path], stdout=subprocess.PIPE, text=True)
    try:
        reasons = {json.loads(attacker.stdout.readline())}
        return wait(app, peer), reasons
    finally:
        attacker.kill()
        attacker.wait()


def main(bled, rounds):
    with tempfile.TemporaryDirectory() as place:
        path = place + "/socket"
        daemon = subprocess.Popen([bled, "--socket", path, "--sessions", place + "/sessions", "demo"],
                                  stdout=subprocess.DEVNULL)
        try:
            app = App(path)
            app.greet()
            app.event(STATE_CHANGED, POWERED_ON)
            peer = app.find("Lamp")
            app.ask(bytes([SCAN + 1]))
            app.connect(peer)
            wait(app, peer)
            settled = memory(daemon)
            for name in ATTACKS:
                ratios = []
                for _ in range(rounds):
                    alone = statistics.median(wait(app, peer))
                    samples, reasons = besides(name, path, app, peer)
                    assert reasons == {EXPECTED[name]}, f"{name} was turned away for {reasons}"
                    ratios.append(statistics.median(samples) / alone)
                grown = memory(daemon) - settled
                print(json.dumps({
                    "attack": name, "alone_ms": round(alone * 1_000, 3), "ratio": round(statistics.median(ratios), 2),
                    "grown_mib": grown >> 20}), flush=True)
                assert grown < 64 << 20, "the daemon has grown"
        finally:
            daemon.kill()
            daemon.wait()


if __name__ == "__main__":
    if sys.argv[1] == "--attack":
        attack(*sys.argv[2:4])
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
