"""Kills the daemon at random moments, and checks that nothing is lost: kills.py BLED BLE [COUNT] [SEED] [--full]

With --full, the file system of TMPDIR is filled up first, which must be a small one of its own, such as a tmpfs.

The controllers are rootcanal's, which `Interop/setup` installs: peers of our own virtual controllers are not stored.
The daemon has one of them, and bonds with a device on another. After each kill, the daemon's files must be intact, a
new daemon must know the device, the bond and the session that continues, and an app that scans all the time must find
devices again.
"""

import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from app import AGENT, CENTRAL, PAIR, PAIRED, PEER, PEER_EVENT, POWERED_ON, READ_RSSI, RESTORED, RSSI_READ
from app import SECURITY, SECURITY_EVENT, STATE_CHANGED, App, Lost, free_ports

is_full = "--full" in sys.argv
bled, ble, *numbers = [word for word in sys.argv[1:] if word != "--full"]
count, seed = [int(word) for word in numbers] + [200, 1][len(numbers):]
dice = random.Random(seed)
HOME = pathlib.Path(os.environ.get("INTEROP_HOME", pathlib.Path(__file__).resolve().parents[2] / ".interop"))
MARK = b"bled sessions \x01"
PERIPHERAL = {"services": [{"uuid": "180F", "characteristics": [
    {"uuid": "2A19", "properties": ["read"], "value": "0x64", "protected": True}]}]}


class Lab:
    """A radio with two devices, a folder for the daemon's files, and an app that scans all the time."""

    def __init__(self, place, stack):
        self.place, self.stack = pathlib.Path(place), stack
        self.socket, self.sessions = str(self.place / "socket"), self.place / "sessions"
        self.state = self.place / "state" / "corebluetooth" / "host.json"
        self.port = self.radio()
        for name in ("Lamp", "Beacon"):
            file = self.place / f"{name}.json"
            file.write_text(json.dumps({"name": name, **PERIPHERAL}))
            self.start([ble, "serve", str(file)], BLUETOOTH_HOST=f"tcp:127.0.0.1:{self.port}",
                       XDG_STATE_HOME=str(self.place / name))
        self.heard = 0

    def listen(self):
        """Starts the app that scans all the time."""
        listener = self.start([ble, "scan", "--duplicates", "--json"], stdout=subprocess.PIPE,
                              BLUETOOTH_HOST=f"bled:{self.socket}")
        threading.Thread(target=self.count, args=(listener.stdout,), daemon=True).start()

    def radio(self):
        """Starts rootcanal, and returns its port; every connection to it is a controller."""
        port, control, *links = free_ports(4)
        self.start([
            HOME / "rootcanal", "-enable_log_color=false", f"-hci_port={port}", f"-test_port={control}",
            f"-link_port={links[0]}", f"-link_ble_port={links[1]}",
        ], LD_PRELOAD=str(HOME / "rootcanal-loopback.so"))
        due = time.monotonic() + 20
        while True:
            try:
                # rootcanal ends when the connection to its test port is closed.
                self.stack.enter_context(socket.create_connection(("127.0.0.1", control)))
                socket.create_connection(("127.0.0.1", port)).close()
                return port
            except OSError:
                assert time.monotonic() < due, "rootcanal does not listen"
                time.sleep(0.05)

    def start(self, words, stdout=subprocess.DEVNULL, **environment):
        process = subprocess.Popen(words, env=os.environ | environment, stdout=stdout, stderr=subprocess.DEVNULL)
        self.stack.callback(lambda: (process.kill(), process.wait()))
        return process

    def count(self, stream):
        for line in stream:
            if b"Beacon" in line:
                self.heard += 1

    def daemon(self):
        environment = os.environ | {"XDG_STATE_HOME": str(self.place / "state")}
        return subprocess.Popen(
            [bled, "--socket", self.socket, "--sessions", str(self.sessions), f"tcp:127.0.0.1:{self.port}"],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def whole(self, bonds):
        """Expects that the files are intact, and hold the bonds."""
        state = json.loads(self.state.read_bytes())
        found = [peer for peer in state["peers"] if peer.get("adapterBonds")]
        assert len(found) == bonds, f"{len(found)} bonds are there instead of {bonds}"
        octets = self.sessions.read_bytes()
        assert octets.startswith(MARK), "the file of sessions has another format"
        octets, records = octets[len(MARK):], 0
        while octets:
            length = struct.unpack_from("<I", octets)[0]
            assert len(octets) >= 4 + length, "the file of sessions is truncated"
            octets, records = octets[4 + length:], records + 1
        assert records == 1, f"{records} sessions are kept instead of 1"

    def fill(self):
        """Leaves no space for the daemon's files."""
        status = os.statvfs(self.place)
        assert status.f_blocks * status.f_frsize < 64 << 20, "TMPDIR is not a small file system"
        with open(self.place / "filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1024))

    def hears(self):
        """Expects that the scanning app finds a device again."""
        before, due = self.heard, time.monotonic() + 30
        while self.heard == before:
            assert time.monotonic() < due, "the scanning app finds no device any more"
            time.sleep(0.01)


def begin(lab):
    """Bonds with the device, and returns its identifier."""
    app = App(lab.socket)
    app.greet(CENTRAL, "kills")
    app.event(STATE_CHANGED, POWERED_ON)
    peer = app.find("Lamp")
    app.connect(peer)
    agent = App(lab.socket)
    agent.greet(AGENT)
    agent.event(STATE_CHANGED, POWERED_ON)
    agent.ask(bytes([SECURITY, PAIR]) + peer)
    agent.event(SECURITY_EVENT, PAIRED, *peer)
    agent.close()
    app.close()
    return peer


def go_on(lab, peer):
    """Launches the app again, and expects its session and its device."""
    app = App(lab.socket)
    app.greet(CENTRAL, "kills")
    assert peer in app.event(RESTORED), "the session is not the previous one"
    app.event(STATE_CHANGED, POWERED_ON)
    app.connect(peer)
    app.ask(bytes([PEER]) + peer + bytes([READ_RSSI]))
    app.event(PEER_EVENT, *peer, RSSI_READ, 0)
    return app


def main():
    worked = 0
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        lab, peer = Lab(place, stack), None
        for number in range(count + 1):
            daemon = lab.daemon()
            try:
                if peer is None:
                    peer = begin(lab)
                    lab.listen()
                    lab.hears()
                    time.sleep(1)
                    if is_full:
                        lab.fill()
                elif dice.random() < 0.5:
                    # In half of the rounds, the app is at work during the kill; otherwise it is starting its session.
                    app = go_on(lab, peer)
                    lab.hears()
                    worked += 1
                    stack.callback(app.close)
                else:
                    with contextlib.suppress(Lost):
                        app = App(lab.socket, patience=0.05 + 0.5 * dice.random())
                        app.greet(CENTRAL, "kills")
                        app.event(STATE_CHANGED, POWERED_ON)
                time.sleep(0.3 * dice.random())
            finally:
                daemon.send_signal(signal.SIGKILL)
                daemon.wait()
            lab.whole(bonds=1)
            if number and number % 20 == 0:
                print(f"{number} kills", file=sys.stderr)
    print(f"{count} kills; in {worked} rounds the app found its session, its bonded device and the scan again")


if __name__ == "__main__":
    main()
