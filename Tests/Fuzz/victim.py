"""A program that is fuzzed: started, watched and ended, without affecting other processes."""

import collections
import os
import select
import subprocess
import threading
import time

# In seconds; set FUZZ_PATIENCE to more on a busy machine.
PATIENCE = float(os.environ.get("FUZZ_PATIENCE", "20"))
PAGE = os.sysconf("SC_PAGE_SIZE")


class Finding(Exception):
    """A program's failure: it crashed, did not answer, or grew."""


class Victim:
    """A process whose output is always read, so that it never blocks."""

    def __init__(self, command, environment=None, packets=None):
        """Starts it; `packets` is the descriptor of a socket that it gets as descriptor 3."""
        variables = {**os.environ, "SWIFT_BACKTRACE": "enable=no", **(environment or {})}
        handed = {} if packets is None else {"preexec_fn": lambda: os.dup2(packets, 3), "pass_fds": [3]}
        self.process = subprocess.Popen(
            [str(word) for word in command], env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **handed,
        )
        os.set_blocking(self.process.stdin.fileno(), False)
        self.output, self.complaints = Printed(self.process.stdout), Printed(self.process.stderr)

    def say(self, line):
        """Writes a line to its standard input, unless it has ended."""
        rest, due = line + b"\n", time.monotonic() + PATIENCE
        while rest:
            try:
                rest = rest[os.write(self.process.stdin.fileno(), rest):]
            except BlockingIOError:
                if time.monotonic() > due:
                    raise Finding(f"read nothing for {PATIENCE:g} s") from None
                select.select([], [self.process.stdin], [], 0.1)
            except BrokenPipeError:
                return

    @property
    def is_running(self):
        return self.process.poll() is None

    @property
    def memory(self):
        """The resident octets of its memory."""
        try:
            with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * PAGE
        except (FileNotFoundError, ProcessLookupError, IndexError):
            return 0

    def examine(self):
        """Raises `Finding` if the process has crashed."""
        status = self.process.poll()
        # 66, 69, 75 and 1 are the statuses for unusable files, radios and peers.
        if status not in (None, 0, 1, 2, 64, 66, 69, 75):
            raise Finding(f"crashed with status {status}: {self.complaints.end.decode(errors='replace')[-600:]}")

    def look(self):
        """Does the same as `examine`, for a process that may be about to end."""
        try:
            self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            return
        self.examine()

    def await_end(self, patience=PATIENCE):
        """Waits until the process has ended by itself."""
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            raise Finding(f"still running after {patience:g} s") from None
        self.examine()

    def end(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.output, self.complaints):
            stream.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass


class Printed:
    """The last output of a process, and threads that wait for a text in it."""

    def __init__(self, stream):
        self.stream, self.end, self.pieces = stream, b"", collections.deque(maxlen=64)
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while True:
            piece = os.read(self.stream.fileno(), 1 << 16)
            with self.changed:
                self.is_over = not piece
                self.end = (self.end + piece)[-(1 << 17):]
                self.changed.notify_all()
            if not piece:
                return

    is_over = False

    def find(self, text, patience=PATIENCE):
        """Waits until `text` is in the last output; returns whether it is."""
        with self.changed:
            self.changed.wait_for(lambda: text in self.end or self.is_over, patience)
            return text in self.end

    def line(self, patience=PATIENCE):
        """Removes and returns the next line; `None` if there is none in time."""
        due = time.monotonic() + patience
        with self.changed:
            self.changed.wait_for(lambda: b"\n" in self.end or self.is_over, max(0, due - time.monotonic()))
            line, newline, rest = self.end.partition(b"\n")
            if not newline:
                return None
            self.end = rest
            return line

    def close(self):
        self.reader.join(PATIENCE)
        self.stream.close()
