"""Fuzzes `bled` with a hostile app; after each batch, a well-behaved app must be served."""

import pathlib
import select
import socket
import struct
import tempfile
import time

from victim import PATIENCE, Finding, Victim

HELLO, REQUEST, CLOSE = 1, 2, 3
WELCOME, EVENT, STATE_CHANGED, POWERED_ON = 1, 3, 2, 5
CENTRAL, PERIPHERAL, AGENT = 1, 2, 3
PEER, UUID = bytes(range(16)), bytes([2, 0x0D, 0x18])
NOTHING, RANGE = bytes(1), bytes.fromhex("0100ffff")


def some(value):
    return b"\x01" + value


def text(value):
    return struct.pack("<I", len(value)) + value.encode()


def framed(message):
    return struct.pack("<I", len(message)) + message


def hello(role, identifier=None):
    restored = NOTHING if identifier is None else some(text(identifier))
    return struct.pack("<BHHB", HELLO, 1, 1, role) + restored + NOTHING + text("")


SCAN = some(UUID) + bytes(5)
CONNECT = PEER + bytes(12)
SERVICE = struct.pack("<I", 1) + UUID + b"\x01" + NOTHING + some(
    struct.pack("<I", 2) + bytes([2, 0x37, 0x2A]) + struct.pack("<HB", 0x12, 1) + some(struct.pack("<I", 0)) + NOTHING
) + NOTHING
REQUESTS = [
    # Requests of a central.
    b"\x01" + SCAN, b"\x01" + bytes(6), b"\x02", b"\x03" + CONNECT, b"\x04" + PEER,
    b"\x09\x01", b"\x09\x02", b"\x09\x03",
    # Requests to a peer: RSSI, data length, discoveries, read, write, command, subscription, channel.
    *(b"\x05" + PEER + each for each in (
        b"\x01", b"\x02\x03\xfb\x00", b"\x03" + some(UUID) + NOTHING, b"\x04" + RANGE + NOTHING,
        b"\x05" + RANGE + NOTHING, b"\x06\x03\x00" + some(RANGE), b"\x07\x03\x00", b"\x08\x03\x00" + text("value"),
        b"\x09\x03\x00" + text("value"), b"\x0a\x01\x00\x03\x00" + NOTHING, b"\x0b", b"\x0c\x80\x00",
    )),
    # Requests to its own server.
    *(b"\x06" + each for each in (
        b"\x01" + SERVICE, b"\x02" + struct.pack("<I", 1), b"\x03", b"\x04" + bytes(12), b"\x05",
        b"\x06" + bytes(8) + b"\x01" + text("value"), b"\x07" + struct.pack("<I", 2) + text("value") + NOTHING,
        b"\x08" + PEER + b"\x01", b"\x09" + PEER, b"\x0a\x00", b"\x0b\x80\x00",
    )),
    # Requests of a channel, and of pairing.
    *(b"\x07" + bytes(8) + each for each in (b"\x01" + text("unit"), b"\x02" + bytes(4), b"\x03" + bytes(8), b"\x04")),
    *(b"\x08" + each for each in (
        b"\x01" + some(b"\x03"), b"\x02" + PEER + b"\x01\x01", b"\x03" + PEER, b"\x05", b"\x07" + bytes(2), b"\x08",
        b"\x09" + PEER,
    )),
]


def message(dice, number):
    """Returns a message of a hostile app: mostly a request with the right number, mutated or not."""
    chosen = dice.random()
    if chosen < 0.0008:
        return dice.octets(dice.length(600))
    if chosen < 0.0016:
        return dice.mutated(hello(dice.one((CENTRAL, PERIPHERAL, AGENT)), dice.one((None, "kept"))))
    if chosen < 0.0020:
        return dice.mutated(b"\x04" + dice.one((b"\x01", b"\x02" + dice.octets(4), b"\x03" + dice.octets(5))))
    if chosen < 0.0024:
        return bytes([CLOSE])
    request = dice.one(REQUESTS)
    if chosen > 0.5:
        request = dice.mutated(request)
    if chosen > 0.9992:
        number = dice.getrandbits(32)
    return struct.pack("<BI", REQUEST, number & 0xFFFFFFFF) + request


class App:
    """A connection to the daemon."""

    def __init__(self, path):
        self.heard = b""
        due = time.monotonic() + PATIENCE
        while True:
            try:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.settimeout(PATIENCE)
                self.socket.connect(path)
                return
            except OSError:
                self.socket.close()
                if time.monotonic() > due:
                    raise Finding(f"nothing listens on {path}") from None
                time.sleep(0.02)

    def say(self, octets):
        """Sends octets, and returns whether the connection is still open."""
        try:
            self.socket.sendall(octets)
            return True
        except TimeoutError:
            raise Finding(f"read nothing for {PATIENCE:g} s") from None
        except OSError:
            return False

    def listen(self, patience):
        """Reads and discards input for so many seconds."""
        due = time.monotonic() + patience
        while select.select([self.socket], [], [], max(0, due - time.monotonic()))[0]:
            try:
                if not self.socket.recv(1 << 16):
                    return
            except OSError:
                return

    def finish(self):
        """Stops sending, and waits until the daemon has closed the connection."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
            while self.socket.recv(1 << 16):
                pass
        except TimeoutError:
            raise Finding(f"the end of a connection was not noticed within {PATIENCE:g} s") from None
        except OSError:
            pass

    def hear(self, wanted):
        """Waits for a message that begins with `wanted`."""
        due = time.monotonic() + PATIENCE
        while time.monotonic() < due:
            while len(self.heard) >= 4:
                end = 4 + struct.unpack_from("<I", self.heard)[0]
                if len(self.heard) < end:
                    break
                message, self.heard = self.heard[4:end], self.heard[end:]
                if message.startswith(wanted):
                    return
            try:
                octets = self.socket.recv(1 << 16)
            except OSError:
                break
            if not octets:
                break
            self.heard += octets
        raise Finding(f"no message that begins with {wanted.hex()} within {PATIENCE:g} s")

    def close(self):
        self.socket.close()


class HostileApp:
    """Messages for the daemon, whose radio is in a simulated world."""

    batch = 200
    restarts = 0

    def __init__(self, programs):
        self.command, self.victim = [programs["bled"]], None
        self.folder = tempfile.TemporaryDirectory(prefix="fuzz-")
        self.path = str(pathlib.Path(self.folder.name, "socket"))

    def start(self):
        sessions = str(pathlib.Path(self.folder.name, "sessions"))
        self.victim = Victim([*self.command, "--socket", self.path, "--sessions", sessions, "demo"])
        self.ask()

    def stop(self):
        if self.victim:
            self.victim.end()
        self.folder.cleanup()

    @property
    def memory(self):
        return self.victim.memory

    def inputs(self, dice, count):
        """Returns a greeting, sometimes mutated or replaced, and the messages after it."""
        greeting = hello(dice.one((CENTRAL, PERIPHERAL, AGENT)), dice.one((None, None, "kept")))
        if dice.chance(0.1):
            greeting = dice.mutated(greeting)
        if dice.chance(0.1):
            greeting = dice.one((b"\x04\x01", b"\x04\x02" + dice.octets(4), b"\x04\x03" + dice.octets(4) + b"\x02"))
        return [framed(greeting)] + [framed(message(dice, number)) for number in range(1, count)]

    def offer(self, inputs):
        app = App(self.path)
        # In pieces that ignore message boundaries, and no larger than the window allows.
        said = b"".join(inputs)
        for place in range(0, len(said), 997):
            if not app.say(said[place:place + 997]):
                break
        app.listen(0.01)
        app.finish()
        app.close()
        self.ask()

    def ask(self):
        """Expects that a well-behaved central receives the state of the radio."""
        app = App(self.path)
        app.say(framed(hello(CENTRAL)))
        app.hear(bytes([WELCOME]))
        app.hear(bytes([EVENT, STATE_CHANGED, POWERED_ON]))
        app.close()


MARK = b"bled sessions \x01"


def kept(role, identifier, state):
    """Returns a session as the daemon stores it."""
    key = struct.pack("<I", 1000) + text("/usr/bin/sensor") + bytes([role]) + text(identifier) + text("")
    return framed(key + state)


KEPT = MARK + kept(CENTRAL, "sensors", b"\x01" + some(SCAN) + some(
    PEER + CONNECT[16:] + some(text("Lamp")) + some(struct.pack("<I", 185)) + NOTHING
) + NOTHING) + kept(PERIPHERAL, "lamp", b"\x02" + some(SERVICE) + bytes(3))
POLICY = {"rules": [
    {"user": "root", "group": 0, "program": "/usr/bin/", "roles": ["central", "peripheral"], "radios": ["hci:0"]},
    {"user": 1000, "services": ["180D", "ABDD3056-28FA-441D-A470-55A75A52553A"], "pairing": False, "addresses": True},
]}
MANIFEST = {
    "UIBackgroundModes": ["bluetooth-central", "bluetooth-peripheral"], "LaunchCommand": ["/usr/bin/sensor", "--woken"],
    "SystemdUnit": "sensor.service",
}
