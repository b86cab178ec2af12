"""A program that is fuzzed: started, watched and ended, and no other process ever."""

import collections
import os
import select
import subprocess
import threading
import time

# In seconds; more where the machine has much else to do.
PATIENCE = float(os.environ.get("FUZZ_PATIENCE", "20"))
PAGE = os.sysconf("SC_PAGE_SIZE")


class Finding(Exception):
    """What a program did that it must not: it crashed, did not answer, or grew."""


class Victim:
    """A process, with all that it prints read, so that it never waits for us."""

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
        """Hands it a line on its standard input; one that has ended hears nothing."""
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
        """How many octets of it are resident."""
        try:
            with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * PAGE
        except (FileNotFoundError, ProcessLookupError, IndexError):
            return 0

    def examine(self):
        """Complains if the process has crashed."""
        status = self.process.poll()
        # 66, 69, 75 and 1 are what programs say of files, radios and peers that are of no use.
        if status not in (None, 0, 1, 2, 64, 66, 69, 75):
            raise Finding(f"crashed with status {status}: {self.complaints.end.decode(errors='replace')[-600:]}")

    def look(self):
        """The same for one that may just be about to end."""
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
            raise Finding(f"still running after {patience} s") from None
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
    """What a process prints: the end of it, and who waits for something in it."""

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
        """Waits until `text` is among the last that was printed; whether it came."""
        with self.changed:
            self.changed.wait_for(lambda: text in self.end or self.is_over, patience)
            return text in self.end

    def line(self, patience=PATIENCE):
        """The next line, for those who read all of them; `None` if there is none in time."""
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
