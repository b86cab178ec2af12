"""Commands of `ble` that run until they are ended, each with a controller that checks that they still work."""

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
    """A command of `ble` that runs until it is ended, and its controller."""

    batch = 1000

    def __init__(self, programs, words, features=hci.EXTENDED):
        self.command, self.features = [programs["ble"], *words], features
        self.folder = tempfile.TemporaryDirectory(prefix="fuzz-")
        self.listener = Listener()
        self.victim = self.connection = self.controller = None
        self.questions = self.restarts = 0

    def start(self):
        """Starts the program, and checks that it works."""
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
        """Answers the host's packets, and returns whether there were any."""
        has_come = self.connection.collect(patience)
        answers = [each for packet in self.connection.take() for each in self.controller.receive(packet)]
        if answers:
            self.connection.send(b"".join(answers))
        return has_come

    def settle(self, patience=PATIENCE):
        """Waits until the host performs its command."""
        due = time.monotonic() + patience
        while not self.is_ready:
            if time.monotonic() > due:
                raise Finding(f"not working {patience:g} s after its controller was ready")
            self.pump(0.1)

    def renew(self):
        """Makes the host reset its controller, and set it up as a good one."""
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
        """Waits for an L2CAP frame of the host for which `wanted` returns a value, and returns the value."""
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
        """Sends a payload of a good peer, and returns the response, which must begin with `wanted`."""
        self.connection.send(hci.sent(ASKERS_LINK, channel, payload))
        return self.await_frame(
            lambda link, where, what:
            what if link == ASKERS_LINK and where == (answers or channel) and what.startswith(wanted) else None
        )


class Scanning(Host):
    """`ble scan`, which prints each advertisement."""

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
    """`ble serve`, which answers reads."""

    @property
    def is_ready(self):
        return self.controller.is_advertising

    def ask(self):
        self.connection.send(self.controller.link_up(ASKERS_LINK, 1, ASKER))
        self.exchange(hci.ATTRIBUTES, bytes.fromhex("08 0100 ffff 382a"), b"\x09\x06")
        self.connection.send(self.controller.link_down())
        self.settle()


class Echoing(Serving):
    """`ble channel serve --echo`, which returns the octets of a channel."""

    def ask(self):
        self.questions += 1
        self.connection.send(self.controller.link_up(ASKERS_LINK, 1, ASKER))
        psm = self.exchange(hci.ATTRIBUTES, b"\x08\x01\x00\xff\xff" + PSM_TYPE, b"\x09\x04")[4:6]
        request = b"\x14\x31\x0a\x00" + psm + bytes.fromhex("7000 4000 4000 0500")
        opened = self.exchange(hci.SIGNALS, request, b"\x15\x31\x0a\x00")
        channel, result = struct.unpack_from("<H6xH", opened, 4)
        if result:
            raise Finding(f"a good peer's channel was refused with the result {result}")
        echo = b"\x08\x00" + struct.pack("<Q", self.questions)
        self.exchange(channel, echo, echo, answers=0x70)
        self.exchange(hci.SIGNALS, b"\x06\x32\x04\x00" + opened[4:6] + b"\x70\x00", b"\x07\x32")
        self.connection.send(self.controller.link_down())
        self.settle()
