"""Ten apps share the daemon, and are killed at random: hour.py BLED BLE [MINUTES] [SEED]

Each app is a process with its own scan, link and requests, and complains if it hears something that it did not ask for,
or not what it asked for. Every other one has a restore identifier, and finds its link again. Meanwhile the daemon must
list the links of those apps alone that live or are kept, and in the end have no more descriptors and memory than when
it had settled.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from app import CONNECTED, DISCOVERED, EVENT, PEER, PEER_EVENT, POWERED_ON, READ_RSSI, RESTORED, RSSI_READ
from app import STATE_CHANGED, TAKEN, WELCOME, App, Lost

APPS = 10
DEVICES = ("Heart Rate", "Thermometer", "Lamp")
INTRODUCTIONS = {STATE_CHANGED, 3, 4, 5, RESTORED}
"""Events that nobody asks for: states, features, known peers, links of the system, restoration."""


def live(path, name, device, seed):
    """An app: finds its device, connects, and asks for its RSSI until it is killed."""
    dice, app = random.Random(seed), App(path, patience=60)
    app.greet(identifier=name or None)
    app.event(STATE_CHANGED, POWERED_ON)
    peer = app.find(device)
    if dice.random() < 0.7:
        app.ask(bytes([2]))
    app.connect(peer)
    while True:
        app.ask(bytes([PEER]) + peer + bytes([READ_RSSI]))
        app.event(PEER_EVENT, *peer, RSSI_READ, 0)
        for message in app.heard:
            judge(message, peer)
        time.sleep(dice.random() / 4)


def judge(message, peer):
    """An app hears of devices that it scans for, of its own device, and of nothing else."""
    if message[0] in (TAKEN, WELCOME):
        return
    kind, fields = message[1], message[2:]
    about = kind in (CONNECTED, PEER_EVENT)
    if message[0] != EVENT or about and fields[:16] != peer or not about and kind not in {DISCOVERED, *INTRODUCTIONS}:
        sys.exit(f"heard {message[:40].hex()}, which is not for this app")


class Daemon:
    def __init__(self, bled, place):
        self.path = place + "/socket"
        self.process = subprocess.Popen([bled, "--socket", self.path, "--sessions", place + "/sessions", "demo"],
                                        stdout=subprocess.DEVNULL)

    @property
    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    @property
    def memory(self):
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="ascii") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("Private_Dirty"))


class Crowd:
    """The apps, of which one after the other is killed and another takes its place."""

    def __init__(self, path, dice):
        self.path, self.dice, self.apps, self.kills = path, dice, {}, 0
        for place in range(APPS):
            self.start(place)

    def start(self, place):
        name = f"app {place}" if place % 2 else ""
        words = [sys.executable, __file__, "--app", self.path, name, DEVICES[place % 3], str(self.dice.random())]
        self.apps[place] = subprocess.Popen(words, stderr=subprocess.PIPE)

    def kill(self):
        place = self.dice.randrange(APPS)
        app = self.apps[place]
        app.send_signal(signal.SIGKILL)
        app.wait()
        app.stderr.close()
        self.kills += 1
        self.start(place)

    def examine(self):
        for app in self.apps.values():
            if app.poll() is not None:
                sys.exit(f"an app ended: {app.stderr.read().decode()}")

    def end(self):
        for app in self.apps.values():
            app.kill()
            app.wait()


def listed(ble, path):
    output = subprocess.run([ble, "apps", "--json"], env=os.environ | {"BLUETOOTH_HOST": f"bled:{path}"}, check=True,
                            capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def main(bled, ble, minutes, seed):
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        daemon = Daemon(bled, place)
        crowd, settled, end = None, None, time.monotonic() + 60 * minutes
        try:
            App(daemon.path).close()
            crowd = Crowd(daemon.path, dice)
            while time.monotonic() < end:
                time.sleep(0.2 + 2 * dice.random())
                crowd.examine()
                crowd.kill()
                if dice.random() < 0.1:
                    apps = listed(ble, daemon.path)
                    there = {app.pid for app in crowd.apps.values()}
                    strangers = [each for each in apps if each.get("process") not in there | {None}]
                    assert not strangers, f"sessions of apps that have ended: {strangers}"
                    assert sum("process" not in each for each in apps) <= APPS / 2, "more sessions are kept than apps"
                if settled is None and time.monotonic() > end - 54 * minutes:
                    settled = daemon.memory
            crowd.end()
            time.sleep(1)
            grown, descriptors = daemon.memory - settled, daemon.descriptors
            print(json.dumps({"minutes": minutes, "kills": crowd.kills, "grown_kib": grown >> 10,
                              "descriptors": descriptors, "kept": len(listed(ble, daemon.path))}))
            assert descriptors < 16, "descriptors are left open"
            assert grown < 1 << 20, "the daemon has grown"
        finally:
            if crowd:
                crowd.end()
            daemon.process.kill()
            daemon.process.wait()


if __name__ == "__main__":
    if sys.argv[1] == "--app":
        try:
            live(*sys.argv[2:6])
        except Lost as loss:
            sys.exit(f"{sys.argv[4]}: {loss}")
    numbers = [float(word) for word in sys.argv[3:]]
    main(*sys.argv[1:3], *(numbers + [60.0, 1.0][len(numbers):]))
