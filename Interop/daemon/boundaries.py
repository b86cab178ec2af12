"""Tests that apps that share the daemon cannot interfere with each other: boundaries.py BLED BLE

First, a policy allows an app one role, and the app makes the requests of all others in its session. Then an app has a
central and a bond, and another process tries to take them away: as the same user, as another user without rights, and
as root, who may decide for all apps. Other users are tested only if root runs this. Each time the app must still have
what it had, and the other process must not receive events about it.
"""

import contextlib
import json
import os
import pathlib
import queue
import struct
import subprocess
import sys
import tempfile
import threading

from app import AGENT, CENTRAL, CONNECT, CONNECTED, EVENT, EVERYTHING, PAIR, PAIRED, PEER, PEER_EVENT, PERIPHERAL
from app import POWERED_ON, READ_RSSI, REFUSED, RSSI_READ, SCAN, SECURITY, SECURITY_EVENT, SERVER, SERVER_EVENT
from app import STATE_CHANGED, TAKEN, App, Lost, free_ports, optional, text

REQUEST_REFUSED, NOT_ALLOWED = 5, 4
CANCEL, SHOW_ALERTS, DISCOVER_SERVICES = 4, 10, 3
ADD_SERVICE, REMOVE_SERVICE, REMOVE_ALL, START_ADVERTISING, STOP_ADVERTISING, RESPOND, UPDATE, SET_LATENCY = range(1, 9)
DISCONNECT, PUBLISH_CHANNEL, UNPUBLISH_CHANNEL = 9, 10, 11
ATTEND, ANSWER, _, INSIST, MAKE_DATA, TAKE_DATA, TAKE_KEY, LIST_BONDS, REMOVE_BOND, INSIST_EVERYWHERE = range(1, 11)
SERVICE_ADDED, ADVERTISING_STARTED, SUBSCRIBED, CENTRALS_CONNECTED, BONDS = 1, 2, 3, 9, 6
CENTRAL_EVENTS, PAIRING_EVENTS = (SUBSCRIBED, 4, 5, 6, 8, 12), (1, 2, PAIRED, 5)
HEART_RATE, MEASUREMENT = bytes.fromhex("020d18"), bytes.fromhex("02372a")
SERVICE, VALUE = struct.pack("<I", 1), struct.pack("<I", 2)
NOBODY = bytes(16)
NAMES = {CENTRAL: "central", PERIPHERAL: "peripheral", AGENT: "agent"}
STRANGER = 65534
NO_BONDS = bytes([1, 16, 0])
LAMP = {"name": "Lamp", "services": [{"uuid": "180F", "characteristics": [
    {"uuid": "2A19", "properties": ["read"], "value": "0x64"},
    {"uuid": "2A1B", "properties": ["read"], "protected": True, "value": "0x64"}]}]}


def service():
    readable_and_notified = bytes.fromhex("120001")
    return (bytes([SERVER, ADD_SERVICE]) + SERVICE + HEART_RATE + b"\1\0" + b"\1" + VALUE + MEASUREMENT
            + readable_and_notified + bytes(3))


def advertisement(name):
    return bytes([SERVER, START_ADVERTISING]) + optional(name) + b"\1" + HEART_RATE + bytes(2)


def connection(peer):
    return bytes([CONNECT]) + peer + bytes(12)


def update(value):
    return bytes([SERVER, UPDATE]) + VALUE + text(value) + b"\0"


def requests(peer=NOBODY, central=NOBODY):
    """Returns requests of each role, about a peer and a central."""
    return {
        CENTRAL: [
            bytes([SCAN]) + EVERYTHING, connection(peer), bytes([PEER]) + peer + bytes([DISCOVER_SERVICES, 0]),
            bytes([CANCEL]) + peer],
        PERIPHERAL: [
            service(), advertisement("Other"), bytes([SERVER, PUBLISH_CHANNEL, 0]), update("66"),
            bytes([SERVER, RESPOND]) + struct.pack("<QB", 1, 1) + text("66"),
            bytes([SERVER, REMOVE_SERVICE]) + SERVICE, bytes([SERVER, REMOVE_ALL]), bytes([SERVER, STOP_ADVERTISING]),
            bytes([SERVER, UNPUBLISH_CHANNEL, 0x80, 0]), bytes([SERVER, SET_LATENCY]) + central + b"\2",
            bytes([SERVER, DISCONNECT]) + central],
        AGENT: [
            bytes([SECURITY, ATTEND, 0]), bytes([SECURITY, INSIST]) + NO_BONDS, bytes([SECURITY, MAKE_DATA]),
            bytes([SECURITY, TAKE_DATA, 0]) + peer, bytes([SECURITY, TAKE_KEY, 0, 0]), bytes([SECURITY, LIST_BONDS]),
            bytes([SECURITY, ANSWER]) + peer + b"\3", bytes([SECURITY, PAIR]) + peer,
            bytes([SECURITY, REMOVE_BOND]) + peer, bytes([SHOW_ALERTS])],
    }


def outcome(app, request):
    """Returns the daemon's refusal of a request (`None` if it accepts it), and the messages before that."""
    app.ask(request)
    told = []
    while True:
        message = app.message()
        if message[0] == TAKEN and struct.unpack_from("<I", message, 1)[0] >= app.number:
            return None, told
        if message[0] == REQUEST_REFUSED and struct.unpack_from("<I", message, 1)[0] == app.number:
            return (message[5], message[10:].decode()), told
        told.append(message)


class Lab:
    """A daemon and other processes of a test, in a folder that all users may enter."""

    def __init__(self, bled, ble, stack):
        self.bled, self.ble, self.stack = bled, ble, stack
        self.place = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.place.chmod(0o755)
        self.path = str(self.place / "socket")

    def start(self, *words, **environment):
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=os.environ | environment, text=True)
        self.stack.callback(lambda: (process.kill(), process.wait()))
        return process

    def daemon(self, radio, *options):
        process = self.start(self.bled, "--socket", self.path, "--sessions", str(self.place / "sessions"), *options,
                             radio, XDG_STATE_HOME=str(self.place / "state"))
        process.stdout.readline()

    def tool(self, *words):
        return self.start(self.ble, *words, "--json", BLUETOOTH_HOST=f"bled:{self.path}")

    def app(self, role):
        app = App(self.path)
        app.greet(role)
        app.event(STATE_CHANGED, POWERED_ON)
        return app


def try_roles(bled, ble):
    for role in NAMES:
        with contextlib.ExitStack() as stack:
            lab = Lab(bled, ble, stack)
            policy = lab.place / "policy.json"
            rule = {"program": os.path.realpath(sys.executable), "roles": [NAMES[role]]}
            policy.write_text(json.dumps({"rules": [rule, {}]}))
            lab.daemon("demo", "--policy", str(policy))
            app = lab.app(role)
            for other in NAMES:
                if other == role:
                    continue
                turned_away = App(lab.path)
                turned_away.greet(other)
                message = turned_away.message()
                assert message[:2] == bytes([REFUSED, NOT_ALLOWED]), f"a {NAMES[role]} is accepted as {NAMES[other]}"
                for request in requests()[other]:
                    refusal, _ = outcome(app, request)
                    assert refusal and refusal[0] == NOT_ALLOWED and "rule 1 of" in refusal[1], \
                        f"a {NAMES[role]} may ask for {request.hex()}: {refusal}"
            for fact in map(json.loads, lab.tool("apps").communicate(timeout=30)[0].splitlines()):
                assert not fact.get("services") and not fact.get("advertising"), f"the app has published: {fact}"


def be_other(path, user):
    """Makes the requests that it reads, one a line, and prints their outcomes."""
    if user >= 0:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    apps = {}
    for role in NAMES:
        apps[role] = App(path)
        apps[role].greet(role)
        apps[role].event(STATE_CHANGED, POWERED_ON)
    print("ready", flush=True)
    for line in sys.stdin:
        fields = json.loads(line)
        refusal, told = outcome(apps[fields["role"]], bytes.fromhex(fields["request"]))
        print(json.dumps({"refusal": refusal, "told": [message.hex() for message in told]}), flush=True)


class Other:
    """Another app, in a process of a user."""

    def __init__(self, lab, user):
        self.process = lab.start(sys.executable, __file__, "--other", lab.path, str(user))
        assert self.process.stdout.readline() == "ready\n", "the daemon refuses the other app"

    def ask(self, role, request):
        self.process.stdin.write(json.dumps({"role": role, "request": request.hex()}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class Own:
    """An app with a bond, and with a central that has subscribed."""

    def __init__(self, lab):
        (lab.place / "lamp.json").write_text(json.dumps(LAMP))
        first, second, third = free_ports(3)
        lab.start(lab.ble, "radio", *[f"--port={port}" for port in (first, second, third)]).stdout.readline()
        lamp = lab.start(lab.ble, "serve", str(lab.place / "lamp.json"), "--json",
                         BLUETOOTH_HOST=f"tcp:127.0.0.1:{second}", XDG_STATE_HOME=str(lab.place / "lamp"))
        while json.loads(lamp.stdout.readline())["event"] != "advertising":
            pass
        lab.daemon(f"tcp:127.0.0.1:{first}")
        self.lab, self.phone_radio, self.rounds = lab, f"tcp:127.0.0.1:{third}", 0

    def begin(self):
        """Publishes a service, and has a central subscribe."""
        self.server, self.agent, self.client = [self.lab.app(role) for role in (PERIPHERAL, AGENT, CENTRAL)]
        self.server.ask(service())
        self.server.event(SERVER_EVENT, SERVICE_ADDED)
        self.server.ask(advertisement("Own"))
        self.server.event(SERVER_EVENT, ADVERTISING_STARTED)
        self.phone = self.lab.start(self.lab.ble, "notify", "Own", "2A37", "--json", BLUETOOTH_HOST=self.phone_radio,
                                    XDG_STATE_HOME=str(self.lab.place / "phone"))
        self.central = self.server.event(SERVER_EVENT, SUBSCRIBED)[:16]
        self.lines = queue.SimpleQueue()
        threading.Thread(target=self.listen, daemon=True).start()

    def pair(self):
        """Bonds with the lamp; returns whether the keys are stored."""
        self.peer = self.client.find("Lamp")
        self.client.ask(bytes([SCAN + 1]))
        self.client.ask(connection(self.peer))
        self.client.event(CONNECTED, *self.peer)
        self.agent.ask(bytes([SECURITY, PAIR]) + self.peer)
        return bool(self.agent.event(SECURITY_EVENT, PAIRED, *self.peer)[1])

    def is_told(self):
        """Returns whether the central receives a value.

        While the central does not know services that another app has added, it receives none.
        """
        for _ in range(20):
            self.rounds += 1
            value = f"{self.rounds:04}"
            self.server.ask(update(value))
            with contextlib.suppress(queue.Empty):
                while value not in (line := self.lines.get(timeout=1)):
                    assert line, "the command of the central has ended"
                return True
        return False

    def listen(self):
        """Reads the output of the central."""
        for line in self.phone.stdout:
            self.lines.put(line)
        self.lines.put("")

    def expect_all(self, after):
        """Expects that the central still receives values, and that the bond and the link to the lamp exist."""
        for _ in range(3):
            assert self.is_told(), f"{after}: the central receives no values any more"
        self.agent.ask(bytes([SECURITY, LIST_BONDS]))
        assert self.peer in self.agent.event(SECURITY_EVENT, BONDS), f"{after}: the bond is gone"
        self.client.ask(bytes([PEER]) + self.peer + bytes([READ_RSSI]))
        self.client.event(PEER_EVENT, *self.peer, RSSI_READ, 0)


def is_foreign(message, user):
    """Returns whether a message is about another app's central, or a pairing of another user."""
    return (message[:2] == bytes([EVENT, SERVER_EVENT]) and message[2] in CENTRAL_EVENTS
            or message[:3] == bytes([EVENT, SERVER_EVENT, CENTRALS_CONNECTED]) and message[3] != 0
            or user > 0 and message[:2] == bytes([EVENT, SECURITY_EVENT]) and message[2] in PAIRING_EVENTS)


def try_owners(bled, ble, user):
    """Has an app of a user try to take away what another has; -1 is the user of this script."""
    with contextlib.ExitStack() as stack:
        lab = Lab(bled, ble, stack)
        own = Own(lab)
        own.begin()
        other = Other(lab, user)
        # The other app's requirement is in place when this app pairs.
        other.ask(AGENT, bytes([SECURITY, INSIST]) + NO_BONDS)
        everywhere = other.ask(AGENT, bytes([SECURITY, INSIST]) + NO_BONDS + b"\1\0")
        if user > 0:
            refusal = everywhere["refusal"]
            assert refusal and refusal[0] == NOT_ALLOWED, "an app of another user decides for all apps"
        else:
            other.ask(AGENT, bytes([SECURITY, INSIST]) + NO_BONDS)
        assert own.pair(), "the bond is not stored, because another app requires that"
        for role, list_of_role in requests(own.peer, own.central).items():
            for request in list_of_role:
                # Apps of one user, and administrators, share their bonds.
                if user <= 0 and request[:2] == bytes([SECURITY, REMOVE_BOND]):
                    continue
                answer = other.ask(role, request)
                own.expect_all(f"a {NAMES[role]} of user {user} asked for {request.hex()}")
                for message in map(bytes.fromhex, answer["told"]):
                    is_list = message[:3] == bytes([EVENT, SECURITY_EVENT, BONDS])
                    assert not is_foreign(message, user), f"the other app receives {message.hex()}"
                    assert not (user > 0 and is_list and own.peer in message), "the other app sees the bond"


def main(bled, ble):
    try_roles(bled, ble)
    users = [-1] + ([STRANGER] if os.geteuid() == 0 else [])
    for user in users:
        try_owners(bled, ble, user)
    strangers = "and another user " if len(users) > 1 else ""
    print(f"apps of one role made no requests of another; other apps {strangers}took nothing away")


if __name__ == "__main__":
    try:
        if sys.argv[1] == "--other":
            be_other(sys.argv[2], int(sys.argv[3]))
        else:
            main(*sys.argv[1:3])
    except Lost as lost:
        sys.exit(f"boundaries.py: {lost}")
