"""Files that programs read: JSON files, mutated as JSON and as text, and captures and sessions, mutated as octets."""

import json
import os
import pathlib
import re
import tempfile
import time

from attributes import DATABASE
from daemon import KEPT
from hosts import PERIPHERAL, Serving
from socketry import Closed
from victim import PATIENCE, Finding, Victim

NUMBERS = [
    "0", "-1", "1", "0.5", "-0.0", "1e-320", "255", "256", "512", "65535", "65536", "2147483648", "-2147483649",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551615",
    "18446744073709551616", "340282366920938463463374607431768211456", "1e18", "1e19", "1e20", "-1e20", "1e38", "1e308",
    "-1e308", "1e309",
]
TEXTS = [json.dumps(text, ensure_ascii=False) for text in (
    "", "0x", "0xff", "0xf", "x", "180D", "0x180D", "2902", "2800", "\u00e9\U0001f600", "A" * 600, "ff" * 600,
    "00" * 512, "\u00e9" * 300, "0000", "ffff-0001", "-", "00:00:00:00:00:00", "ffffffffffffffffffffffffffffffff",
)] + ['"\\u0000"', '"\\ud800"']
OTHERS = [
    "null", "true", "false", "[]", "{}", "[[]]", "[" * 200 + "]" * 200, '{"a":' * 200 + "1" + "}" * 200, "[" * 2000,
    "nan", "Infinity", "-", "01", "1.", "'x'", *NUMBERS[:6], *TEXTS[:6],
]
WORLD = {"seed": 7, "loss": 0.1, "machines": [
    {"name": "Heart Rate", "position": {"x": 2, "y": 0.5, "z": -1}, "services": [
        {"uuid": "180D", "advertised": True, "characteristics": [
            {"uuid": "2A37", "properties": ["notify"], "notify": {"every": 1000, "values": ["0048", "004b"]}},
            {"uuid": "2A38", "properties": ["read", "write"], "value": "01"}]},
        {"uuid": "180A", "advertised": False, "characteristics": [
            {"uuid": "2A29", "properties": ["read"], "text": "Example"}]}]},
    {"name": "Lamp", "services": [], "manufacturerData": "ffff01", "serviceData": [{"uuid": "180F", "value": "64"}],
     "transmitPower": -4, "connectable": False, "latency": "low", "mtu": 185}]}
SERVICE = {"uuid": "180A", "primary": True, "advertised": False, "includes": ["180D"], "characteristics": [
    {"uuid": "2A29", "properties": ["read"], "permissions": ["readable"], "text": "Example",
     "descriptors": [{"uuid": "2901", "text": "Who made it"}]},
    {"uuid": "ABDD3056-28FA-441D-A470-55A75A52553A", "properties": ["read", "write", "notify"], "value": "0x0102",
     "descriptors": [{"uuid": "2904", "value": "04000000000000"}],
     "notify": {"every": 1500, "values": ["0x01", "74776f"]}, "protected": False}]}
STATE = {"secret": "5e1f", "peers": [
    {"identifier": "1234567890abcdef", "address": "C1:02:03:04:05:06", "isRandom": True, "name": "Lamp"},
    {"identifier": "ff", "address": "00:11:22:33:44:55", "isRandom": False, "bond": {
        "address": "00:11:22:33:44:55", "isRandom": False, "security": 1, "keySize": 16,
        "longTermKey": {"key": "abcdef", "random": 1, "diversifier": 2},
        "remoteSigning": {"key": "abcdef", "nextCounter": 3},
        "configurations": [{"handle": 6, "characteristic": "2A37", "bits": 1}], "features": 7, "databaseHash": "beef",
        "isAware": True, "pendingChange": {"start": 1, "end": 65535},
        "database": {
            "hash": "beef", "services": ["0001-0009 180D"], "includes": [], "characteristics": ["0002 02 0003 2A38"],
            "types": ["0004 2902"], "known": {
                "services": ["0001-FFFF"], "includes": [], "characteristics": ["0001-FFFF"], "types": ["0001-FFFF"],
            }}}}]}


CASE = {"mtu": 512, "context": "server", "database": DATABASE, "operation": {"op": "read", "handle": 3}}


class Entry:
    """The positions of a value in a text: in a list, or in an object, where a key precedes it."""

    def __init__(self, text, start, value):
        self.start, self.value = start, value
        self.end = json.JSONDecoder().raw_decode(text, value)[1]
        self.likes = TEXTS if text[value] == '"' else NUMBERS if text[value] in "-0123456789" else OTHERS


def entries(text):
    """Returns every entry of every list and object in a JSON text, which has no spaces between its tokens."""
    found = []

    def walk(place):
        closes = {"[": "]", "{": "}"}.get(text[place])
        if closes is None:
            return json.JSONDecoder().raw_decode(text, place)[1]
        place += 1
        while text[place] != closes:
            value = place if closes == "]" else json.JSONDecoder().raw_decode(text, place)[1] + 1
            found.append(Entry(text, place, value))
            place = walk(value)
            place += text[place] == ","
        return place + 1

    walk(0)
    return found


def edit(dice, text, found):
    """Returns a replacement and its range: another value, no entry, or repeated entries."""
    entry, chosen = dice.one(found), dice.random()
    if chosen < 0.6:
        return entry.value, entry.end, dice.one(entry.likes)
    if chosen < 0.7:
        return entry.value, entry.end, dice.one(OTHERS)
    if chosen < 0.8:
        return entry.start, entry.end + (text[entry.end] == ","), ""
    if chosen < 0.9:
        return entry.start, entry.start, (text[entry.start:entry.end] + ",") * dice.one((1, 3, 40))
    other = dice.one(found)
    return entry.value, entry.end, text[other.value:other.end]


def spoiled(dice, text, found):
    """Returns the text after one or two edits."""
    first = len(text)
    for start, end, what in sorted((edit(dice, text, found) for _ in range(dice.one((1, 1, 2)))), reverse=True):
        if end <= first:
            text, first = text[:start] + what + text[end:], start
    return text


def file(dice, seed, found):
    """Returns a file, mutated as JSON, as text, or truncated."""
    chosen = dice.random()
    if chosen < 0.75:
        return spoiled(dice, seed, found).encode()
    if chosen < 0.85:
        return seed.encode()[:dice.below(len(seed) + 1)]
    return dice.mutated(seed.encode())


class Files:
    """A program that reads one file after the other."""

    batch = 250
    restarts = 0
    victim = None

    def __init__(self, seed):
        self.seed = json.dumps(seed, separators=(",", ":"))
        self.entries = entries(self.seed)
        self.good = self.seed.encode()

    def inputs(self, dice, count):
        return [file(dice, self.seed, self.entries) for _ in range(count)]


class Readings(Files):
    """`BLEConformance file`, which prints for each file whether it is valid."""

    def __init__(self, programs, kind, seed):
        super().__init__(seed)
        self.command, self.victim = [programs["driver"], "file", kind], None

    def start(self):
        # A folder in memory, if possible: a disk would take most of the time.
        memory = pathlib.Path("/dev/shm")
        self.victim = Victim(self.command, {"TMPDIR": str(memory)} if memory.is_dir() else None)
        self.offer([])

    def stop(self):
        if self.victim:
            self.victim.end()

    @property
    def memory(self):
        return self.victim.memory

    def offer(self, inputs):
        # The good file at the end must be valid, whatever came before.
        for octets in [*inputs, self.good]:
            self.victim.say(octets.hex().encode())
        for _ in inputs:
            self.answer()
        if b"true" not in self.answer():
            raise Finding("a good file was refused")

    def answer(self):
        line = self.victim.output.line()
        if line is None:
            raise Finding(f"a file was neither accepted nor refused within {PATIENCE:g} s")
        return line


def block(kind, body):
    """Returns a block of pcapng."""
    length = (len(body) + 12).to_bytes(4, "little")
    return kind.to_bytes(4, "little") + length + body + length


def pcapng(found):
    """Returns a pcapng capture of packets, each with a direction before it."""
    words = [bytes(4) + bytes(8) + 2 * len(packet).to_bytes(4, "little") for packet in found]
    options = b"\x01\x00\x04\x00asks\x00\x00\x00\x00"
    return block(0x0A0D0D0A, b"M<+\x1a\x01\x00\x00\x00" + b"\xff" * 8) + block(
        1, b"\xc9\x00" + bytes(6) + b"\x02\x00\x04\x00hci0\x09\x00\x01\x00\x09\x00\x00\x00" + bytes(4)
    ) + b"".join(
        block(6, word + packet + bytes(-len(packet) % 4) + options) for word, packet in zip(words, found)
    ) + block(5, bytes(12) + options[:8] + b"\x05\x00\x08\x00\x07" + bytes(11))


def btsnoop(link, found):
    """Returns a btsnoop capture of packets, each with its flags."""
    records = [2 * len(packet).to_bytes(4, "big") + flags + bytes(12) + packet for flags, packet in found]
    return b"btsnoop\x00\x00\x00\x00\x01" + link.to_bytes(4, "big") + b"".join(records)


def packetlogger(found):
    """Returns a capture of PacketLogger with packets, each with a direction before it."""
    types = {(1, 0): 0, (4, 1): 1, (2, 0): 2, (2, 1): 3}
    return b"".join(
        (len(packet) + 4).to_bytes(4, "big") + bytes(8) + bytes([types[packet[4], packet[3]]]) + packet[5:]
        for packet in found
    )


PACKETS = [
    "00000000 01030c00", "00000001 040e0401030c00", "00000001 043e1301004000000006050403020118000000480000",
    "00000000 0240001200 0e000500 14010a00 80004000400040000500",
    "00000001 0240201200 0e000500 15010a00 51004000400005000000", "00000000 0240000900 05005100 03000a0900",
    "00000000 0240000700 03000400 0a0900", "00000001 0240200500 07000400 0b", "00000001 0240100600 010203040506",
    "00000001 04050400400013",
]
"""Packets of a host and a controller: a connection with a channel, and a value in two fragments."""


class Captures(Readings):
    """Captures of packets, with mutations anywhere."""

    def __init__(self, programs):
        super().__init__(programs, "capture", {})
        found = [bytes.fromhex(packet) for packet in PACKETS]
        self.goods = [
            pcapng(found), btsnoop(1002, [(packet[:4], packet[4:]) for packet in found]),
            packetlogger(found),
            btsnoop(2001, [(b"\x00\x00\x00\x02", found[0][5:]), (b"\xff\xff\x00\x0d", b"\x06\x02a\x00said\x00")]),
        ]
        self.good = self.goods[0]

    def inputs(self, dice, count):
        return [dice.mutated(dice.one(self.goods)) for _ in range(count)]


class Sessions(Readings):
    """The daemon's file of sessions, with mutations anywhere."""

    def __init__(self, programs):
        super().__init__(programs, "sessions", {})
        self.good = KEPT

    def inputs(self, dice, count):
        return [dice.mutated(self.good) for _ in range(count)]


class Services(Files):
    """`ble serve` with commands to add one service after the other, and to remove each that was added."""

    def __init__(self, programs):
        super().__init__(SERVICE)
        self.host = Serving(programs, ["serve", PERIPHERAL])
        self.start, self.stop = self.host.start, self.host.stop

    @property
    def victim(self):
        return self.host.victim

    @property
    def memory(self):
        return self.host.memory

    def offer(self, inputs):
        path = pathlib.Path(self.host.folder.name, "service.json")
        try:
            for octets in inputs:
                path.write_bytes(octets)
                self.add(path)
            path.write_text(self.seed)
            if not self.add(path):
                raise Finding("a good service was refused")
            self.host.ask()
        except Closed:
            raise Finding("disconnected from a good controller") from None

    def add(self, path):
        """Adds a service, removes it if its type is unique, and returns whether it was added."""
        victim = self.host.victim
        victim.output.end = victim.complaints.end = b""
        victim.say(b"add " + os.fsencode(path))
        # An unknown command is answered, after the commands before it.
        victim.say(b"?")
        if not victim.complaints.find("“?”".encode()):
            raise Finding(f"a file was neither accepted nor refused within {PATIENCE:g} s")
        if b"cannot be used" in victim.complaints.end:
            return False
        if not victim.output.find(b"ervice "):
            raise Finding(f"a valid service was neither added nor refused within {PATIENCE:g} s")
        if b" failed" in victim.output.end:
            return False
        uuid = re.search(rb'"uuid"\s*:\s*"([^"]*)"', path.read_bytes())
        victim.say(b"remove " + (uuid[1] if uuid else b"180A"))
        if not victim.output.find(b" was removed.", 1) and b" to remove" not in victim.complaints.end:
            raise Finding(f"a service was neither removed nor kept within {PATIENCE:g} s")
        return True


class Runs(Files):
    """A process for each file, which reads it at its start; because that is slow, fewer files are tried."""

    batch, share = 10, 500

    def __init__(self, programs, seed, name, words, **environment):
        """`FILE` in words and values of the environment is the path of the file, and `FOLDER` that of its folder."""
        super().__init__(seed)
        self.program, self.words, self.environment, self.peak = programs["ble"], words, environment, 0
        self.folder = tempfile.TemporaryDirectory(prefix="fuzz-")
        self.path = pathlib.Path(self.folder.name, name)
        self.path.parent.mkdir(exist_ok=True)

    def start(self):
        pass

    def stop(self):
        self.folder.cleanup()

    @property
    def memory(self):
        return self.peak

    def offer(self, inputs):
        for octets in inputs:
            self.path.write_bytes(octets)
            environment = {"XDG_STATE_HOME": self.folder.name, **self.environment}
            victim = Victim(
                [self.program, *map(self.placed, self.words)],
                {key: self.placed(value) for key, value in environment.items()},
            )
            try:
                self.peak = max(self.peak, self.watch(victim))
            finally:
                victim.end()

    def watch(self, victim):
        """Waits for the end of a process, and returns its largest memory."""
        memory, due = 0, time.monotonic() + PATIENCE
        while victim.is_running:
            memory = max(memory, victim.memory)
            if time.monotonic() > due:
                raise Finding(f"still running after {PATIENCE:g} s")
            time.sleep(0.01)
        victim.examine()
        return memory

    def placed(self, text):
        return str(text).replace("FILE", str(self.path)).replace("FOLDER", self.folder.name)
