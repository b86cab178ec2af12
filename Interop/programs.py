"""Processes that the scripts of this folder start, and end again."""

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import time

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={}</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
"""
"""The configuration of a bus with system rules; the path of its socket is to be filled in."""
BRIDGE_READY = "can now use"
"""A part of the line that bled-bluez prints when programs can use it."""


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
def air(ble, *options):
    """Two virtual controllers that can receive each other, with options of `ble radio`; yields their ports."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        ports = [str(one.getsockname()[1]) for one in sockets]
    with tempfile.TemporaryDirectory(prefix="bluez-", dir="/tmp") as folder:
        log = pathlib.Path(folder) / "log"
        with open(log, "w") as output, process(ble, "radio", *options, "--port", ports[0], "--port", ports[1],
                                               until=lambda: "Listening" in log.read_text(), stdout=output):
            yield ports


def bleak_tests(python, *arguments, home, peripheral, environment, known):
    """Runs bleak's own tests, with Bumble as the peripheral at a port; those of `known` may fail."""
    folder = pathlib.Path(os.environ.get("BLEAK_TESTS") or home / "bluez-api/bleak")
    if not (folder / "tests").is_dir():
        return print("skipped: bleak's own tests are not there; set BLEAK_TESTS to a folder with them")
    command = [python, *arguments, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-o", "addopts=",
               f"--bleak-hci-transport=tcp-client:127.0.0.1:{peripheral}"]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=170)
    failed = re.findall(r"^FAILED \S+::(\w+)", result.stdout, re.MULTILINE)
    unexpected = [name for name in failed if name not in known]
    last = (result.stdout.strip().splitlines() or [""])[-1]
    assert not unexpected and " passed" in last, f"{result.stdout[-6000:]}\n{result.stderr[-2000:]}\n{unexpected}"
    print(f"bleak's own tests: {last}; expected to fail: {failed}")
