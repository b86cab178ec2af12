"""Whether an app is launched again, by how it ended: restoration.py BLED BLE

Real processes, real ends, real launches. The app is this file, run by a copy of the interpreter, since the manifest
lies beside the program. It connects to a device that notifies, and ends in one of several ways; then it is seen whether
the next notification launches it, whether the launch says what to restore, and whether the link is still there.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from app import PEER, PEER_EVENT, POWERED_ON, RESTORED, STATE_CHANGED, App, Lost  # noqa: E402

DISCOVER_CHARACTERISTICS, SUBSCRIBE = 5, 10
CHARACTERISTICS, NOTIFIED = 8, 14


def live(path, log):
    """The app: the first launch connects and subscribes, later ones find where that was."""
    identifiers = os.environ.get("BLUETOOTH_RESTORE_CENTRALS")
    with open(log, "a", encoding="utf-8") as file:
        file.write(json.dumps({"process": os.getpid(), "restores": identifiers}) + "\n")
    app = App(path)
    app.greet(identifier="restoration")
    if identifiers:
        peer = app.event(RESTORED)
        app.event(STATE_CHANGED, POWERED_ON)
    else:
        app.event(STATE_CHANGED, POWERED_ON)
        peer = app.find("Counter")
        app.ask(bytes([2]))
        app.connect(peer)
        app.ask(bytes([PEER]) + peer + bytes([DISCOVER_CHARACTERISTICS]) + bytes.fromhex("0100ffff") + bytes(1))
        # A UUID of 2 octets, the properties, the declaration, the value and the end.
        found = app.event(PEER_EVENT, *peer, CHARACTERISTICS)
        value = found.index(bytes.fromhex("02372a")) + 6
        handle = found[value:value + 2]
        first = (int.from_bytes(handle, "little") + 1).to_bytes(2, "little")
        descriptors = first + found[value + 2:value + 4]
        app.ask(bytes([PEER]) + peer + bytes([SUBSCRIBE]) + b"\1\0" + handle + b"\1" + descriptors)
        app.event(PEER_EVENT, *peer, NOTIFIED)
    with open(log, "a", encoding="utf-8") as file:
        file.write(json.dumps({"process": os.getpid(), "works": True}) + "\n")
    with contextlib.suppress(Lost):
        while True:
            app.message()


class Lab:
    """The daemon, and an app beside which its manifest lies."""

    def __init__(self, place, bled, stack):
        self.place, self.bled, self.stack = pathlib.Path(place), bled, stack
        self.path, self.log, self.world = (str(self.place / name) for name in ("socket", "log", "world.json"))
        pathlib.Path(self.world).write_text(json.dumps({"machines": [{"name": "Counter", "services": [
            {"uuid": "180D", "characteristics": [
                {"uuid": "2A37", "properties": ["notify"], "notify": {"every": 700, "values": ["00", "01"]}}]}]}]}))
        self.program = str(self.place / "app")
        shutil.copy(os.path.realpath(sys.executable), self.program)
        self.words = [self.program, str(HERE / "restoration.py"), "--app", self.path, self.log]
        pathlib.Path(self.program + ".bluetooth.json").write_text(json.dumps(
            {"UIBackgroundModes": ["bluetooth-central"], "LaunchCommand": self.words}))
        self.start()

    def start(self):
        self.daemon = subprocess.Popen(
            [self.bled, "--socket", self.path, "--sessions", str(self.place / "sessions"), f"world:{self.world}"],
            stdout=subprocess.DEVNULL)

    def end(self):
        for line in self.lines():
            with contextlib.suppress(ProcessLookupError):
                os.kill(line["process"], signal.SIGKILL)
        self.daemon.kill()
        self.daemon.wait()

    def lines(self):
        try:
            return [json.loads(line) for line in pathlib.Path(self.log).read_text().splitlines()]
        except FileNotFoundError:
            return []

    def wait(self, what, enough, patience=15.0):
        due = time.monotonic() + patience
        while not enough(self.lines()):
            if time.monotonic() > due:
                return False
            time.sleep(0.02)
        return True

    def run(self):
        """Launches the app as a user does, and returns when it works."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BLUETOOTH_")}
        app = subprocess.Popen(self.words, env=environment)
        assert self.wait("works", lambda lines: any("works" in line for line in lines)), "the app does not work"
        return app


def killed(number):
    def end(_, app):
        app.send_signal(number)
        app.wait()
    return end


def quit_by_user(lab, app):
    subprocess.run([sys.argv[2], "app", str(app.pid), "quit"], check=True, stdout=subprocess.DEVNULL,
                   env=os.environ | {"BLUETOOTH_HOST": f"bled:{lab.path}"})
    app.wait(10)


def daemon_killed(lab, app):
    lab.daemon.kill()
    lab.daemon.wait()
    app.kill()
    app.wait()
    lab.start()


def machine_restarted(lab, app):
    app.kill()
    app.wait()
    time.sleep(0.1)
    lab.daemon.terminate()
    lab.daemon.wait()
    lab.start()


def frozen(_, app):
    app.send_signal(signal.SIGSTOP)
    time.sleep(2)
    app.send_signal(signal.SIGCONT)


ROWS = {
    "it crashes": (killed(signal.SIGABRT), True),
    "the system ends it for want of memory": (killed(signal.SIGKILL), True),
    "it is told to end": (killed(signal.SIGTERM), True),
    "the user quits it": (quit_by_user, False),
    "the daemon is killed, and the app with it": (daemon_killed, True),
    "the machine is started anew": (machine_restarted, True),
    "it is stopped for a while": (frozen, False),
}
"""How an app ends, and whether it is launched again."""


def main(bled):
    failures = 0
    for title, (end, is_launched) in ROWS.items():
        with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
            lab = Lab(place, bled, stack)
            try:
                app = lab.run()
                end(lab, app)
                was = lab.wait("launch", lambda lines: any(line.get("restores") for line in lines),
                               15 if is_launched else 4)
                works = not was or lab.wait("works", lambda lines: sum("works" in line for line in lines) == 2)
                lives = app.poll() is None
                app.kill()
                app.wait()
            finally:
                lab.end()
        holds = was == is_launched and works and lives == (end is frozen)
        failures += not holds
        print(json.dumps({"the app ends because": title, "launched": was, "restored": was and works, "holds": holds}))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    if sys.argv[1] == "--app":
        live(*sys.argv[2:4])
    else:
        main(sys.argv[1])
