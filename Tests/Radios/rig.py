"""The parts of the cases: programs that are started and ended, a radio, and a wire to it that can be cut."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Interop"))

from interop.ports import free_ports  # noqa: E402

# The time limit of anything undisturbed, on a busy machine.
PATIENCE = 30


class Failure(Exception):
    """A command did not behave as its help says."""


class Program:
    """A program whose output is recorded."""

    def __init__(self, rig, arguments, port=None, stdin=subprocess.DEVNULL, state=None):
        environment = dict(os.environ, XDG_STATE_HOME=state or rig.folder())
        environment.pop("BLUETOOTH_HOST", None)
        if port is not None:
            environment["BLUETOOTH_HOST"] = f"tcp:127.0.0.1:{port}"
        self.name = " ".join(arguments[:2])
        self.changed = threading.Condition()
        self.octets = {"out": b"", "err": b""}
        self.process = subprocess.Popen(
            [rig.ble, *arguments], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        for stream, source in (("out", self.process.stdout), ("err", self.process.stderr)):
            threading.Thread(target=self._write_down, args=(stream, source), daemon=True).start()

    def _write_down(self, stream, source):
        while data := os.read(source.fileno(), 65536):
            with self.changed:
                self.octets[stream] += data
                self.changed.notify_all()

    def text(self, stream):
        return self.octets[stream].decode(errors="replace")

    def prints(self, words, within=PATIENCE, stream="out", times=1):
        """Waits until the program has printed `words` that often."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.text(stream).count(words) >= times, within):
                raise Failure(f"{self.name} has not printed “{words}” {times} times within {within} s: {self}")

    def says(self, words, within=PATIENCE, times=1):
        """Waits for the same on standard error."""
        self.prints(words, within, "err", times)

    def ends(self, within, status=None):
        """Waits for the end, which must have one of the given statuses, and returns the status."""
        try:
            code = self.process.wait(within)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} has not ended within {within} s: {self}") from None
        if status is not None and code not in status:
            raise Failure(f"{self.name} ended with {code} instead of {status}: {self}")
        return code

    def stays(self):
        """Checks that the program has not ended."""
        if self.process.poll() is not None:
            raise Failure(f"{self.name} ended with {self.process.returncode}: {self}")

    def obeys(self, status=(0,), number=signal.SIGTERM):
        """Asks the program to end, which it must do immediately."""
        self.stays()
        self.process.send_signal(number)
        return self.ends(4, status)

    def check(self):
        """Checks that the output has no crash, assertion or API misuse."""
        for words in ("API MISUSE", "Fatal error", "Program crashed", "precondition"):
            if words in self.text("err"):
                raise Failure(f"{self.name} prints “{words}”: {self}")
        if self.process.returncode is not None and self.process.returncode < 0:
            if -self.process.returncode not in (signal.SIGTERM, signal.SIGKILL):
                raise Failure(f"{self.name} ended with signal {-self.process.returncode}: {self}")

    def dispose(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()

    def __str__(self):
        return "".join(f"\n    {line}" for line in (self.text("out")[-1500:] + self.text("err")[-1500:]).splitlines())


class Wire:
    """A port in front of a controller, whose traffic can be cut, stalled and counted."""

    def __init__(self, target):
        self.target = target
        self.lock = threading.Condition()
        self.pairs = []
        self.flows = True
        self.takes = True
        self.passed = 0
        self.limit = None
        self.at_limit = None
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                host, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                takes = self.takes
            try:
                controller = socket.create_connection(("127.0.0.1", self.target)) if takes else None
            except OSError:
                controller = None
            if controller is None:
                host.close()
                continue
            with self.lock:
                self.pairs.append((host, controller))
            for each in (host, controller):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._carry, args=(host, controller), daemon=True).start()
            threading.Thread(target=self._carry, args=(controller, host), daemon=True).start()

    def _carry(self, source, sink):
        try:
            while data := source.recv(4096):
                with self.lock:
                    self.lock.wait_for(lambda: self.flows)
                    room = len(data) if self.limit is None else max(0, self.limit - self.passed)
                    self.passed += len(data)
                sink.sendall(data[:room])
                if room < len(data):
                    self.at_limit()
                    with self.lock:
                        self.lock.wait_for(lambda: self.flows)
                    sink.sendall(data[room:])
        except OSError:
            pass
        finally:
            self._end(source)
            self._end(sink)

    @staticmethod
    def _end(end):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        end.close()

    def after(self, octets, action):
        """Performs an action when so many octets have passed, counting both directions."""
        with self.lock:
            self.limit, self.at_limit = octets, action

    def forget_limit(self):
        with self.lock:
            self.limit = None

    def cut(self, returns=False):
        """Ends the connection; refuses others unless it returns."""
        with self.lock:
            self.takes = returns
            self.limit = None
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for end in pair:
                self._end(end)

    def mend(self):
        with self.lock:
            self.takes = True

    def stall(self):
        """Lets nothing through, and keeps the connection."""
        with self.lock:
            self.flows, self.limit = False, None

    def flow(self):
        with self.lock:
            self.flows = True
            self.lock.notify_all()

    def dispose(self):
        self.listener.close()
        self.flow()
        self.cut()


class Rig:
    """A radio with controllers for the command under test and for its peer, and all processes of a case."""

    def __init__(self, ble, seed=1):
        self.ble = ble
        self.seed = seed
        self.temporary = tempfile.TemporaryDirectory(prefix="radios-")
        self.directory = pathlib.Path(self.temporary.name)
        self.started = []
        self.ports = free_ports(2)
        self.radio = self.start_radio()
        self.wire = Wire(self.ports[0])
        self.peer_port = self.ports[1]

    def start_radio(self):
        ports = [word for port in self.ports for word in ("--port", str(port))]
        radio = self.run("radio", *ports, "--seed", str(self.seed), port=None)
        radio.prints("Listening")
        return radio

    def folder(self):
        """Creates a folder, and returns its path."""
        return tempfile.mkdtemp(dir=self.directory)

    def run(self, *arguments, port, stdin=subprocess.DEVNULL, state=None):
        program = Program(self, arguments, port, stdin, state)
        self.started.append(program)
        return program

    def tried(self, *arguments, stdin=subprocess.DEVNULL, state=None):
        """Starts the command under test, whose radio is behind the wire; its state is stored in `state`."""
        return self.run(*arguments, port=self.wire.port, stdin=stdin, state=state)

    def peer(self, *arguments, stdin=subprocess.DEVNULL, state=None):
        """Starts another command, whose radio does not fail."""
        return self.run(*arguments, port=self.peer_port, stdin=stdin, state=state)

    def file(self, name, content):
        """Writes a file atomically, since a program may already be reading it, and returns its path."""
        path, draft = self.directory / name, self.directory / f"{name}.draft"
        draft.write_bytes(content)
        draft.replace(path)
        return path

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                for program in self.started:
                    program.check()
        finally:
            for program in self.started:
                program.dispose()
            self.wire.dispose()
            self.temporary.cleanup()
