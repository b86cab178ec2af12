"""Processes that the scripts of this folder start, and end again."""

import contextlib
import pathlib
import socket
import subprocess
import tempfile
import time


@contextlib.contextmanager
def process(*command, until=None, **options):
    """Runs a program, at first until a condition holds, and ends it."""
    running = subprocess.Popen(command, text=True, **options)
    try:
        if until:
            end = time.monotonic() + 60
            while not until():
                assert running.poll() is None and time.monotonic() < end, f"{command[0]} does not start"
                time.sleep(0.05)
        yield running
    finally:
        running.terminate()
        try:
            running.wait(10)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


@contextlib.contextmanager
def air(ble):
    """Two virtual controllers that can receive each other; yields their ports."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        ports = [str(one.getsockname()[1]) for one in sockets]
    with tempfile.TemporaryDirectory(prefix="bluez-", dir="/tmp") as folder:
        log = pathlib.Path(folder) / "log"
        with open(log, "w") as output, process(ble, "radio", "--unpaced", "--port", ports[0], "--port", ports[1],
                                               until=lambda: "listen" in log.read_text(), stdout=output):
            yield ports
