"""Commands of `ble` that go on until they are ended, each with a controller that asks whether all is well."""

import pathlib
import struct
import tempfile
import time

import hci
from socketry import Closed, Listener
from victim import PATIENCE, Finding, Victim

PERIPHERAL = pathlib.Path(__file__).parent / "peripheral.json"
ASKER, ASKERS_LINK = bytes.fromhex("0f0e0d0c0bc2"), 0x0E00
PSM_TYPE = bytes.fromhex("abdd305628fa441da47055a75a52553a")[::-1]
CHUNK = 25


class Host:
    """A command of `ble` that goes on until it is ended, and the controller that it talks to."""

    batch = 1000

    def __init__(self, programs, words, features=hci.EXTENDED):
        self.command, self.features = [programs["ble"], *words], features
        self.folder = tempfile.TemporaryDirectory(prefix="fuzz-")
        self.listener = Listener()
        self.victim = self.connection = self.controller = None
        self.questions = self.restarts = 0

    def start(self):
        """Starts the program, and sees that all is well with it."""
        self.start_program()
        self.connect()
        self.ask()

    def start_program(self):
        environment = {"BLUETOOTH_HOST": f"tcp:127.0.0.1:{self.listener.port}", "XDG_STATE_HOME": self.folder.name}
        self.victim = Victim(self.command, environment)

    def restart(self):
        self.restarts += 1
        self.disconnect()
        self.victim.end()
        self.start()

    def stop(self):
        self.disconnect()
        self.listener.close()
        if self.victim:
            self.victim.end()
        self.folder.cleanup()

    @property
    def memory(self):
        return self.victim.memory

    def connect(self):
        """Waits for the program to connect, and lets it set up a good controller."""
        self.accept()
        self.settle()

    def accept(self):
        self.connection, due = None, time.monotonic() + PATIENCE
        while self.connection is None:
            if time.monotonic() > due or not self.victim.is_running:
                raise Finding(f"did not connect within {PATIENCE:g} s")
            self.connection = self.listener.accept(0.1)
        self.controller = hci.Controller(self.features)

    def disconnect(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def pump(self, patience=0.0):
        """Answers what the host has said; whether it said anything."""
        has_come = self.connection.collect(patience)
        answers = [each for packet in self.connection.take() for each in self.controller.receive(packet)]
        if answers:
            self.connection.send(b"".join(answers))
        return has_come

    def settle(self, patience=PATIENCE):
        """Waits until the host does what its command is for."""
        due = time.monotonic() + patience
        while not self.is_ready:
            if time.monotonic() > due:
                raise Finding(f"not at work {patience} s after its controller was ready")
            self.pump(0.1)

    def renew(self):
        """Has the host reset its controller, and set it up as a good one."""
        self.connection.send(hci.event(hci.HARDWARE_ERROR, b"\x01"))
        resets, due = self.controller.resets, time.monotonic() + PATIENCE
        while self.controller.resets == resets:
            if time.monotonic() > due:
                raise Finding(f"did not reset its controller within {PATIENCE:g} s")
            self.pump(0.1)
        self.settle()

    def send(self, inputs):
        for place in range(0, len(inputs), CHUNK):
            self.connection.send(b"".join(inputs[place:place + CHUNK]))
            self.pump()

    def await_frame(self, wanted):
        """The first L2CAP frame from the host that `wanted` takes, as what it makes of it."""
        due = time.monotonic() + PATIENCE
        while True:
            frames, self.controller.frames = self.controller.frames, []
            for place, each in enumerate(frames):
                if (found := wanted(*each)) is not None:
                    self.controller.frames = frames[place + 1:]
                    return found
            if time.monotonic() > due:
                raise Finding(f"a good peer was not answered within {PATIENCE:g} s")
            self.pump(0.1)

    def exchange(self, channel, payload, wanted, answers=None):
        """Sends what a good peer says and waits for what it must hear, which begins with `wanted`."""
        self.connection.send(hci.sent(ASKERS_LINK, channel, payload))
        return self.await_frame(
            lambda link, where, what:
            what if link == ASKERS_LINK and where == (answers or channel) and what.startswith(wanted) else None
        )


class Scanning(Host):
    """`ble scan`: prints each advertisement."""

    @property
    def is_ready(self):
        return self.controller.is_scanning

    def ask(self):
        self.questions += 1
        name = f"well-{self.questions}".encode()
        self.connection.send(hci.advertisement(name, ASKER))
        self.pump()
        if not self.victim.output.find(name + b'"'):
            raise Finding("a good advertisement was not printed")


class Serving(Host):
    """`ble serve`: answers reads."""

    @property
    def is_ready(self):
        return self.controller.is_advertising

    def ask(self):
        self.connection.send(self.controller.link_up(ASKERS_LINK, 1, ASKER))
        self.exchange(hci.ATTRIBUTES, bytes.fromhex("08 0100 ffff 382a"), b"\x09\x06")
        self.connection.send(self.controller.link_down())
        self.settle()


class Echoing(Serving):
    """`ble channel serve --echo`: sends back what comes through a channel."""

    def ask(self):
        self.questions += 1
        self.connection.send(self.controller.link_up(ASKERS_LINK, 1, ASKER))
        psm = self.exchange(hci.ATTRIBUTES, b"\x08\x01\x00\xff\xff" + PSM_TYPE, b"\x09\x04")[4:6]
        request = b"\x14\x31\x0a\x00" + psm + bytes.fromhex("7000 4000 4000 0500")
        opened = self.exchange(hci.SIGNALS, request, b"\x15\x31\x0a\x00")
        channel, result = struct.unpack_from("<H6xH", opened, 4)
        if result:
            raise Finding(f"a good peer was refused a channel with the result {result}")
        echo = b"\x08\x00" + struct.pack("<Q", self.questions)
        self.exchange(channel, echo, echo, answers=0x70)
        self.exchange(hci.SIGNALS, b"\x06\x32\x04\x00" + opened[4:6] + b"\x70\x00", b"\x07\x32")
        self.connection.send(self.controller.link_down())
        self.settle()
