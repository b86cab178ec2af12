"""Stream sockets on loopback, written and read at the same time, so that the two ends never block each other."""

import pathlib
import select
import socket
import sys
import time

import hci
from victim import PATIENCE, Finding

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Interop"))

from interop.ports import free_ports  # noqa: E402, F401


class Closed(Finding):
    """The other end has closed the connection, as some inputs require."""

    def __str__(self):
        return "closed the connection"


class Connection:
    """HCI to or from a program."""

    def __init__(self, stream):
        self.stream, self.framer, self.packets = stream, hci.Framer(), []
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.setblocking(False)

    def send(self, octets):
        """Sends all octets, and receives input meanwhile."""
        rest, due = memoryview(octets), time.monotonic() + PATIENCE
        while rest:
            try:
                rest = rest[self.stream.send(rest):]
                due = time.monotonic() + PATIENCE
            except BlockingIOError:
                if time.monotonic() > due:
                    raise Finding(f"read nothing for {PATIENCE:g} s") from None
                self.collect(0.05)
            except (BrokenPipeError, ConnectionResetError):
                raise Closed from None

    def collect(self, patience=0.0):
        """Receives available input, waits up to `patience` for it, and returns whether there was any."""
        if not select.select([self.stream], [], [], patience)[0]:
            return False
        try:
            octets = self.stream.recv(1 << 16)
        except (ConnectionResetError, BlockingIOError):
            raise Closed from None
        if not octets:
            raise Closed
        self.packets += self.framer.receive(octets)
        return True

    def take(self):
        """Returns the packets received since the last call."""
        packets, self.packets = self.packets, []
        return packets

    def finish(self):
        """Stops sending, and waits until the other end has read all and closed; discards its packets."""
        try:
            self.stream.shutdown(socket.SHUT_WR)
        except OSError:
            return
        due = time.monotonic() + PATIENCE
        try:
            while time.monotonic() < due:
                self.collect(0.5)
                self.take()
        except Closed:
            return
        raise Finding(f"the end of the connection was not noticed within {PATIENCE:g} s")

    def close(self):
        self.stream.close()


class Listener:
    """A port chosen by the system, which programs connect to."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def accept(self, patience=PATIENCE):
        self.socket.settimeout(patience)
        try:
            return Connection(self.socket.accept()[0])
        except TimeoutError:
            return None

    def close(self):
        self.socket.close()


def connect(port, patience=PATIENCE):
    """Connects to a port of a program that has just been started."""
    due = time.monotonic() + patience
    while True:
        try:
            return Connection(socket.create_connection(("127.0.0.1", port), timeout=patience))
        except OSError:
            if time.monotonic() > due:
                raise Finding(f"nothing listens on port {port}") from None
            time.sleep(0.02)
