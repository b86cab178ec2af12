"""Sends 10 000 values a second to ten apps through the daemon: stream.py BLED BLE [SECONDS]

A simulated device notifies a thousand values a second, and each of ten apps, processes that share its link, receives
all of them. One app is stopped for some seconds (SIGSTOP), and one is frozen by its cgroup if that can be written. No
app may lose a value or receive one out of order, including those that were stopped.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

APPS, CYCLE = 10, 10_000
SLEEP = 3
CGROUPS = pathlib.Path("/sys/fs/cgroup")


def world(path):
    values = [f"{number:04X}" for number in range(CYCLE)]
    characteristic = {"uuid": "2A37", "properties": ["notify"], "notify": {"every": 1, "values": values}}
    device = {"name": "Counter", "services": [{"uuid": "180D", "characteristics": [characteristic]}]}
    path.write_text(json.dumps(device), encoding="utf-8")
    return str(path)


class Freezer:
    """A cgroup of one process: of version 2, else the freezer of version 1."""

    def __init__(self, process):
        is_second = (CGROUPS / "cgroup.controllers").exists()
        self.place = (CGROUPS if is_second else CGROUPS / "freezer") / f"stream-{os.getpid()}"
        self.file, self.words = ("cgroup.freeze", "10") if is_second else ("freezer.state", ("FROZEN", "THAWED"))
        self.place.mkdir()
        (self.place / "cgroup.procs").write_text(str(process.pid), encoding="ascii")

    def freeze(self, frozen=True):
        (self.place / self.file).write_text(self.words[0 if frozen else 1], encoding="ascii")

    def remove(self):
        with contextlib.suppress(OSError):
            self.freeze(False)
            for _ in range(100):
                with contextlib.suppress(OSError):
                    self.place.rmdir()
                    return
                time.sleep(0.05)


class Listener:
    """An app that writes the notified values to a file, as JSON."""

    def __init__(self, ble, path, place, number, count):
        self.place = place / f"app-{number}"
        environment = os.environ | {"BLUETOOTH_HOST": f"bled:{path}"}
        with self.place.open("wb") as file:
            self.process = subprocess.Popen(
                [ble, "notify", "Counter", "2A37", "--count", str(count), "--json", "--timeout", "60"],
                env=environment, stdout=file)

    def heard(self):
        lines = [json.loads(line) for line in self.place.read_text(encoding="utf-8").splitlines()]
        return [int(line["value"], 16) for line in lines if "value" in line]

    def wait_for_first(self, patience=90):
        due = time.monotonic() + patience
        while self.place.stat().st_size < 1_000:
            assert time.monotonic() < due and self.process.poll() is None, "an app receives nothing"
            time.sleep(0.02)


def disturb(listeners):
    """Stops one app and freezes one while values arrive; returns whether freezing was possible."""
    stopped, frozen = listeners[:2]
    freezer = None
    try:
        with contextlib.suppress(OSError):
            freezer = Freezer(frozen.process)
            freezer.freeze()
        stopped.process.send_signal(signal.SIGSTOP)
        before = [each.place.stat().st_size for each in (stopped, frozen)]
        time.sleep(SLEEP)
        after = [each.place.stat().st_size for each in (stopped, frozen)]
        assert before[0] == after[0], "the stopped app has received something"
        assert freezer is None or before[1] == after[1], "the frozen app has received something"
        stopped.process.send_signal(signal.SIGCONT)
    finally:
        if freezer:
            freezer.remove()
    return freezer is not None


def main(bled, ble, seconds):
    count = seconds * 1_000
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        path = folder + "/socket"
        daemon = subprocess.Popen([bled, "--socket", path, "--sessions", folder + "/sessions",
                                   "world:" + world(place / "world.json")], stdout=subprocess.PIPE, text=True)
        listeners = []
        try:
            assert "Serving" in daemon.stdout.readline(), "the daemon does not listen"
            listeners = [Listener(ble, path, place, number, count) for number in range(APPS)]
            for listener in listeners:
                listener.wait_for_first()
            begun, early = time.monotonic(), sum(len(each.heard()[:-1]) for each in listeners[2:])
            has_frozen = disturb(listeners)
            late = sum(len(each.heard()[:-1]) for each in listeners[2:])
            rate = (late - early) / (time.monotonic() - begun) / (APPS - 2) * APPS
            for listener in listeners:
                assert listener.process.wait(60 + 10 * seconds) == 0, "an app did not receive all values"
            for listener in listeners:
                values = listener.heard()
                assert len(values) == count, f"{len(values)} values of {count}"
                wrong = [index for index in range(1, count) if values[index] != (values[index - 1] + 1) % CYCLE]
                assert not wrong, f"after {values[wrong[0] - 1]} comes {values[wrong[0]]}"
            print(json.dumps({"apps": APPS, "values": APPS * count, "values_a_second": round(rate),
                              "asleep_s": SLEEP, "frozen": has_frozen}))
        finally:
            for listener in listeners:
                listener.process.kill()
                listener.process.wait()
            daemon.kill()
            daemon.wait()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 10)
