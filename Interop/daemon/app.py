"""An app that uses the daemon's protocol directly, for tests of the daemon; docs/DAEMON.md describes the protocol."""

import os
import pathlib
import socket
import struct
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from interop.ports import free_ports  # noqa: E402, F401

CENTRAL, PERIPHERAL, AGENT = 1, 2, 3
HELLO, REQUEST = 1, 2
WELCOME, REFUSED, EVENT, TAKEN = 1, 2, 3, 4
SCAN, CONNECT, PEER, SERVER, SECURITY = 1, 3, 5, 6, 8
READ_RSSI, DISCOVER_SERVICES, PAIR = 1, 3, 3
RESTORED, STATE_CHANGED, DISCOVERED, CONNECTED, PEER_EVENT, SERVER_EVENT, SECURITY_EVENT = 1, 2, 6, 7, 10, 11, 12
POWERED_ON, PAIRED, RSSI_READ = 5, 3, 5
EVERYTHING = bytes(5)


def text(words):
    octets = words.encode()
    return struct.pack("<I", len(octets)) + octets


def optional(words):
    return b"\0" if words is None else b"\1" + text(words)


class Lost(Exception):
    """The daemon has closed the connection, or sent nothing in time."""


class App:
    """A connection to the daemon that listens at a path."""

    def __init__(self, path, patience=20.0):
        self.patience, self.number, self.octets = patience, 0, b""
        due = time.monotonic() + patience
        while True:
            self.socket = socket.socket(socket.AF_UNIX)
            try:
                self.socket.connect(path)
                return
            except OSError as error:
                self.socket.close()
                if time.monotonic() > due:
                    raise Lost(f"cannot connect to {path}: {error}") from None
                time.sleep(0.005)

    def close(self):
        self.socket.close()

    def say(self, message):
        try:
            self.socket.sendall(struct.pack("<I", len(message)) + message)
        except OSError as error:
            raise Lost(str(error)) from None

    def greet(self, role=CENTRAL, identifier=None, unit=None):
        """Begins a session; with a unit, adds the program and unit by which the app is launched again."""
        description = b"" if unit is None else text(os.path.realpath(sys.executable)) + optional(unit)
        self.say(struct.pack("<BHHB", HELLO, 1, 1, role) + optional(identifier) + bytes(5) + description)

    def ask(self, request):
        self.number += 1
        self.say(struct.pack("<BI", REQUEST, self.number) + request)

    def message(self):
        """Returns the next message."""
        while True:
            if len(self.octets) >= 4:
                end = 4 + struct.unpack_from("<I", self.octets)[0]
                if len(self.octets) >= end:
                    message, self.octets = self.octets[4:end], self.octets[end:]
                    return message
            self.socket.settimeout(self.patience)
            try:
                octets = self.socket.recv(1 << 16)
            except OSError as error:
                raise Lost(str(error) or "timed out waiting for a message") from None
            if not octets:
                raise Lost("the daemon closed the connection")
            self.octets += octets

    def event(self, *wanted):
        """Returns the fields of the next event that begins with these octets; `heard` has the messages before it."""
        beginning, self.heard = bytes([EVENT, *wanted]), []
        due = time.monotonic() + self.patience
        while time.monotonic() < due:
            message = self.message()
            if message.startswith(beginning):
                return message[len(beginning):]
            if message[0] == REFUSED:
                raise Lost("refused: " + message[6:].decode(errors="replace"))
            self.heard.append(message)
        raise Lost(f"no event {wanted} within {self.patience:g} s")

    def find(self, name):
        """Scans until a device with this name is found, and returns its identifier."""
        self.ask(bytes([SCAN]) + EVERYTHING)
        while True:
            fields = self.event(DISCOVERED)
            if name.encode() in fields:
                return fields[:16]

    def connect(self, peer, alerts=0):
        """Connects, or returns if connected; `alerts` are the events to show to the user while the app sleeps."""
        self.ask(bytes([CONNECT]) + peer + bytes(11) + bytes([alerts]))
        self.event(CONNECTED, *peer)
