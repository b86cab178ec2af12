"""The drivers of `BLEConformance att`: a server with a hostile client, and a client with a hostile server."""

import fcntl
import itertools
import json
import os
import select
import socket
import struct
import tempfile
import termios
import time

import packets
from errands import attribute_server
from victim import PATIENCE, Finding, Victim

UUIDS = ("2a00", "2a37", "abdd3056-28fa-441d-a470-55a75a52553a")
LONG = bytes(range(200))
DATABASE = {"services": [{"type": "primary", "uuid": "180d", "start": 1, "end": 40, "items": [
    {"kind": "characteristic", "handle": 2, "uuid": "2a29", "properties": 2, "value_handle": 3, "permissions": 1,
     "value": LONG.hex()},
    {"kind": "characteristic", "handle": 4, "uuid": "2a37", "properties": 62, "value_handle": 5, "permissions": 3,
     "value": "0048"},
    {"kind": "descriptor", "handle": 6, "uuid": "2902", "permissions": 3, "value": "0000"},
    {"kind": "characteristic", "handle": 7, "uuid": "2a39", "properties": 10, "value_handle": 8, "permissions": 3,
     "value": "6162"},
    {"kind": "characteristic", "handle": 11, "uuid": UUIDS[2], "properties": 10, "value_handle": 12, "permissions": 12,
     "value": "00"},
]}, {"type": "secondary", "uuid": "180f", "start": 60, "end": 0xFFFF, "items": []}]}
OPERATIONS = [
    {"op": "discover_all"}, {"op": "discover_primary", "start": 1, "end": 65535}, {"op": "read", "handle": 3},
    {"op": "discover_primary", "start": 1, "end": 65535, "uuid": "180d"},
    {"op": "discover_included", "start": 1, "end": 65535}, {"op": "discover_characteristics", "start": 1, "end": 65535},
    {"op": "discover_descriptors", "start": 1, "end": 65535}, {"op": "read_long", "handle": 3},
    {"op": "read_by_type", "uuid": "2a37", "start": 1, "end": 65535}, {"op": "read_multiple", "handles": [3, 5]},
    {"op": "write", "handle": 5, "value": "0001"}, {"op": "write_long", "handle": 8, "value": "41" * 60},
    {"op": "write_reliable", "handle": 8, "value": "42" * 60}, {"op": "write_cmd", "handle": 5, "value": "00"},
]


class Driver:
    """A driver, and the socket on which it exchanges ATT packets."""

    restarts = 0

    def __init__(self, program, role, description):
        self.command, self.description, self.questions = [program, "att", role], description, 0
        self.victim = self.packets = None

    def start(self):
        self.packets, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.packets.setblocking(False)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(self.description, file)
            file.flush()
            self.victim = Victim([*self.command, file.name], packets=theirs.fileno())
            theirs.close()
            self.settle()

    def stop(self):
        if self.packets:
            self.packets.close()
        if self.victim:
            self.victim.end()

    @property
    def memory(self):
        return self.victim.memory

    def receive(self, patience=0.0):
        """Returns the next packet, or `None` if none arrives within `patience`."""
        if not select.select([self.packets], [], [], patience)[0]:
            return None
        try:
            packet = self.packets.recv(1 << 16)
        except ConnectionResetError:
            packet = b""
        if not packet:
            self.victim.process.wait(PATIENCE)
            raise Finding("ended unexpectedly")
        return packet

    def has_unread(self):
        """Returns whether the program has unread packets."""
        octets = fcntl.ioctl(self.packets, termios.TIOCOUTQ, struct.pack("i", 0))
        return struct.unpack("i", octets)[0] > 0

    def send(self, packet, taken=lambda _: None):
        due = time.monotonic() + PATIENCE
        while True:
            try:
                # An empty packet would mean the end of the socket.
                self.packets.send(packet or b"\x00")
                return
            except BlockingIOError:
                if time.monotonic() > due:
                    raise Finding(f"read nothing for {PATIENCE:g} s") from None
                if (came := self.receive(0.1)) is not None:
                    taken(came)
            except (BrokenPipeError, ConnectionResetError):
                self.receive(1)


class Server(Driver):
    """A server of the database, for a hostile client."""

    batch = 2000

    def __init__(self, programs):
        super().__init__(programs["driver"], "server", {"mtu": 512, "context": "server", "database": DATABASE})

    def settle(self):
        self.victim.output.find(b'"ready"')

    def inputs(self, dice, count):
        return [packets.attribute_packet(dice) for _ in range(count)]

    def offer(self, inputs):
        for packet in inputs:
            self.send(packet)
            while self.receive() is not None:
                pass
        # A part of a long value that inputs rarely read.
        self.questions += 1
        place = 1 + self.questions * 7 % 150
        self.send(bytes([0x0C, 3, 0, place, 0]))
        due = time.monotonic() + PATIENCE
        while not (self.receive(0.1) or b"").startswith(b"\x0d" + LONG[place:place + 22]):
            if time.monotonic() > due:
                raise Finding(f"a good request was not answered within {PATIENCE:g} s")


class Client(Driver):
    """A client that performs one operation after the other; the server sends hostile packets before its responses."""

    batch = 1000

    def __init__(self, programs):
        super().__init__(programs["driver"], "client", {"mtu": 512, "context": "client"})
        self.server = attribute_server.Server(DATABASE, 23)
        self.operations = itertools.cycle(OPERATIONS)

    def settle(self):
        self.converse([], b'"ready"')

    def inputs(self, dice, count):
        return [packets.attribute_packet(dice, packets.ANSWERS) for _ in range(count)]

    def offer(self, inputs):
        waiting = list(reversed(inputs))
        while waiting:
            self.operate(next(self.operations), waiting)
        # Packets that it reads later would count as responses to the good request.
        due = time.monotonic() + PATIENCE
        while (request := self.receive(0.05)) is not None or self.has_unread():
            if request is not None:
                self.answer(request)
            if time.monotonic() > due:
                raise Finding(f"read nothing for {PATIENCE:g} s")
        said = self.operate({"op": "read", "handle": 3}, [])
        if json.loads(said).get("result", {}).get("value") != LONG[:22].hex():
            raise Finding(f"a good server's value was read as {said.decode()}")

    def operate(self, operation, waiting):
        self.victim.say(json.dumps({"do": operation}).encode())
        return self.converse(waiting, b'"result"')

    def converse(self, waiting, wanted):
        """Sends waiting packets, last first, and responses, until a line with `wanted` is printed; returns the line."""
        due = time.monotonic() + PATIENCE
        while time.monotonic() < due:
            if (request := self.receive(0.002)) is not None:
                for _ in range(min(8, len(waiting))):
                    self.send(waiting.pop(), taken=self.answer)
                self.answer(request)
            while (line := self.victim.output.line(0)) is not None:
                if wanted in line:
                    return line
        raise Finding(f"an operation had no result within {PATIENCE:g} s")

    def answer(self, request):
        if request[0] & 1 == 0 and request[0] != 0x1E:
            self.send(self.server.answer(request))
