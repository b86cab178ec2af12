"""Tests that an app is launched again, or not, after the events of TN3115: restoration.py BLED BLE

Covers Apple's technical note TN3115 row by row, and everything that an app may wait for, with real processes, signals
and launches. The app is this file, run by a copy of the interpreter, since the manifest lies beside the program. It
requests something, the event of the row happens to it, and then what it waits for happens. The test checks that this
launches the app, that the launch says what to restore, and that the app receives it.
"""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from app import (  # noqa: E402
    CENTRAL, CONNECT, CONNECTED, DISCOVERED, EVENT, PEER, PEER_EVENT, PERIPHERAL, POWERED_ON, RESTORED, SCAN, SERVER,
    SERVER_EVENT, STATE_CHANGED, App, Lost, free_ports,
)

STOP_SCAN, DISCOVER_CHARACTERISTICS, SUBSCRIBE = 2, 5, 10
CHARACTERISTICS, NOTIFIED = 8, 14
DISCONNECTED, SUBSCRIBED, UNSUBSCRIBED = 9, 3, 4
ADD_SERVICE, START_ADVERTISING, SERVICE_ADDED, ADVERTISING_STARTED = 1, 4, 1, 2
ROOTCANAL = pathlib.Path(os.environ.get("INTEROP_HOME", HERE.parents[1] / ".interop")) / "rootcanal"
HEART_RATE, MEASUREMENT = bytes.fromhex("020d18"), bytes.fromhex("02372a")
"""A UUID's length, and the UUID."""
AWAITED = {
    "subscribed": (bytes([EVENT, PEER_EVENT]), bytes([EVENT, CONNECTED])),
    "connecting": bytes([EVENT, CONNECTED]),
    "scanning": bytes([EVENT, DISCOVERED]),
    "connected": bytes([EVENT, DISCONNECTED]),
    "advertising": bytes([EVENT, SERVER_EVENT, UNSUBSCRIBED]),
}
"""The beginning of the message that completes each wait. A link that was lost is reported before its values."""


class Diary:
    """A file with the messages of all launches of the app, one a line."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def say(self, **fact):
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"process": os.getpid()} | fact) + "\n")

    def read(self):
        with contextlib.suppress(FileNotFoundError):
            return [json.loads(line) for line in self.path.read_text().splitlines(True) if line.endswith("\n")]
        return []


def live(waits, path, log):
    """Runs the app: the first launch requests something, later ones wait for its result."""
    diary, app = Diary(log), App(path)
    role = PERIPHERAL if waits == "advertising" else CENTRAL
    kind = "PERIPHERALS" if role == PERIPHERAL else "CENTRALS"
    identifiers = os.environ.get(f"BLUETOOTH_RESTORE_{kind}")
    diary.say(restores=identifiers)
    app.greet(role, identifier="restoration")
    if identifiers:
        app.event(RESTORED)
    app.event(STATE_CHANGED, POWERED_ON)
    if not identifiers:
        {"subscribed": subscribe, "connecting": reconnect, "scanning": scan, "connected": connect,
         "advertising": advertise, "nothing": lambda *_: None}[waits](app, diary)
    diary.say(works=True)
    beginning = AWAITED.get(waits, ())
    with contextlib.suppress(Lost):
        while True:
            if app.message().startswith(beginning):
                diary.say(heard=True)


def connect(app, _):
    peer = app.find("Counter")
    app.ask(bytes([STOP_SCAN]))
    app.connect(peer)
    return peer


def reconnect(app, diary):
    """Waits for a device that has left."""
    peer = connect(app, diary)
    diary.say(needs="no device")
    app.event(DISCONNECTED)
    app.ask(bytes([CONNECT]) + peer + bytes(12))


def scan(app, _):
    app.ask(bytes([SCAN, 1]) + HEART_RATE + bytes(5))


def subscribe(app, diary):
    peer = connect(app, diary)
    app.ask(bytes([PEER]) + peer + bytes([DISCOVER_CHARACTERISTICS]) + bytes.fromhex("0100ffff") + bytes(1))
    # The fields: a UUID of 2 octets, the properties, and the handles of declaration, value and end.
    found = app.event(PEER_EVENT, *peer, CHARACTERISTICS)
    value = found.index(MEASUREMENT) + 6
    handle = found[value:value + 2]
    first = (int.from_bytes(handle, "little") + 1).to_bytes(2, "little")
    descriptors = first + found[value + 2:value + 4]
    app.ask(bytes([PEER]) + peer + bytes([SUBSCRIBE]) + b"\1\0" + handle + b"\1" + descriptors)
    app.event(PEER_EVENT, *peer, NOTIFIED)


def advertise(app, diary):
    """Publishes a service, which the lab's central subscribes to."""
    service, measurement = (1).to_bytes(4, "little"), (2).to_bytes(4, "little")
    readable_and_notified = bytes.fromhex("120001")
    app.ask(bytes([SERVER, ADD_SERVICE]) + service + HEART_RATE + b"\1\0"
            + b"\1" + measurement + MEASUREMENT + readable_and_notified + bytes(3))
    app.event(SERVER_EVENT, SERVICE_ADDED)
    name = b"App"
    app.ask(bytes([SERVER, START_ADVERTISING]) + b"\1" + len(name).to_bytes(4, "little") + name
            + b"\1" + HEART_RATE + bytes(2))
    app.event(SERVER_EVENT, ADVERTISING_STARTED)
    diary.say(needs="a subscriber")
    app.event(SERVER_EVENT, SUBSCRIBED)


class Lab:
    """A daemon, a device and a central on one air, and an app with its manifest.

    The controllers are virtual ones of `ble radio`, whose peers have other identifiers for the next daemon, or
    rootcanal's, whose peers are stored like those of real ones; each connection to it is another controller.
    """

    def __init__(self, place, bled, ble, waits, remembers=False):
        self.place, self.bled, self.ble, self.waits = pathlib.Path(place), bled, ble, waits
        self.remembers = remembers
        self.path, self.device_file = (str(self.place / name) for name in ("socket", "device.json"))
        self.diary = Diary(self.place / "diary")
        self.ports = free_ports(3)
        self.control = self.daemon = self.radio = self.device = self.central = self.app = None
        pathlib.Path(self.device_file).write_text(json.dumps({"name": "Counter", "services": [
            {"uuid": "180D", "characteristics": [
                {"uuid": "2A37", "properties": ["notify"], "notify": {"every": 700, "values": ["00", "01"]}}]}]}))
        self.program = str(self.place / "app")
        shutil.copy(os.path.realpath(sys.executable), self.program)
        self.words = [self.program, str(HERE / "restoration.py"), "--app", waits, self.path, str(self.diary.path)]
        pathlib.Path(self.program + ".bluetooth.json").write_text(json.dumps(
            {"UIBackgroundModes": ["bluetooth-central", "bluetooth-peripheral"], "LaunchCommand": self.words}))
        self.start_radio()
        self.start()
        if waits not in ("scanning", "advertising"):
            self.start_device()

    def spawn(self, *words, host=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BLUETOOTH_")}
        environment["XDG_STATE_HOME"] = str(self.place / pathlib.Path(words[0]).name)
        if words[0] == str(ROOTCANAL):
            environment["LD_PRELOAD"] = str(ROOTCANAL.with_name("rootcanal-loopback.so"))
        if host:
            environment["BLUETOOTH_HOST"] = host
        with (self.place / "errors").open("ab") as errors:
            return subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=errors)

    def start_radio(self):
        if self.remembers:
            port, control, link, link_ble = free_ports(4)
            self.radio = self.spawn(str(ROOTCANAL), f"-hci_port={port}", f"-test_port={control}",
                                    f"-link_port={link}", f"-link_ble_port={link_ble}")
            # rootcanal ends when the connection to its test port is closed.
            self.control, self.ports = await_listener(control), [port] * 3
            return
        ports = [word for port in self.ports for word in ("--port", str(port))]
        self.radio = self.spawn(self.ble, "radio", "--seed", "5", *ports)
        for port in self.ports:
            await_listener(port).close()

    def start(self):
        self.daemon = self.spawn(self.bled, "--socket", self.path, "--sessions", str(self.place / "sessions"),
                                 f"tcp:127.0.0.1:{self.ports[0]}")

    def start_device(self):
        self.device = self.spawn(self.ble, "serve", self.device_file, host=f"tcp:127.0.0.1:{self.ports[1]}")

    def stop_device(self):
        stop(self.device)

    def start_central(self):
        self.central = self.spawn(self.ble, "notify", "App", "2A37", host=f"tcp:127.0.0.1:{self.ports[2]}")

    def ask(self, *words):
        """Runs `ble` with a command for the daemon."""
        subprocess.run([self.ble, *words], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"BLUETOOTH_HOST": f"bled:{self.path}"})

    def end(self):
        for line in self.diary.read():
            with contextlib.suppress(ProcessLookupError):
                os.kill(line["process"], signal.SIGKILL)
        for process in (self.app, self.central, self.device, self.daemon, self.radio):
            stop(process)
        if self.control:
            self.control.close()

    def wait(self, enough, patience=20.0):
        due = time.monotonic() + patience
        while not enough(self.diary.read()):
            if time.monotonic() > due:
                return False
            time.sleep(0.02)
        return True

    def run(self):
        """Launches the app as a user does, and returns when it waits for its event."""
        self.app = self.spawn(*self.words)
        met = {"no device": self.stop_device, "a subscriber": self.start_central}
        if self.waits in ("connecting", "advertising"):
            assert self.wait(lambda lines: any("needs" in line for line in lines)), "the app does not start"
            met[next(line["needs"] for line in self.diary.read() if "needs" in line)]()
        assert self.wait(lambda lines: any("works" in line for line in lines)), "the app does not make its request"
        # Its last request has no response, and the daemon writes its sessions at most once a second.
        time.sleep(1.2)

    def happen(self):
        """Triggers the event that the app waits for, unless it happens by itself."""
        match self.waits:
            case "connecting" | "scanning":
                self.start_device()
            case "connected":
                self.stop_device()
            case "advertising":
                self.central.send_signal(signal.SIGINT)


def await_listener(port, patience=10.0):
    due = time.monotonic() + patience
    while time.monotonic() < due:
        with contextlib.suppress(OSError):
            return socket.create_connection(("127.0.0.1", port))
        time.sleep(0.02)
    raise AssertionError(f"nothing listens on port {port}")


def stop(process):
    if process and process.poll() is None:
        process.kill()
    if process:
        process.wait()


def killed(number):
    def end(lab):
        lab.app.send_signal(number)
        lab.app.wait()
    return end


def quit_by_user(lab):
    lab.ask("app", str(lab.app.pid), "quit")
    lab.app.wait(10)


def daemon_killed(lab):
    stop(lab.daemon)
    stop(lab.app)
    lab.start()


def machine_restarted(lab):
    stop(lab.app)
    time.sleep(0.1)
    lab.daemon.terminate()
    lab.daemon.wait()
    lab.start()


def suspended(lab):
    lab.app.send_signal(signal.SIGSTOP)
    time.sleep(2)
    lab.app.send_signal(signal.SIGCONT)


def switched(lab):
    stop(lab.app)
    lab.ask("power", "off")
    time.sleep(0.5)
    lab.ask("power", "on")


def links_ended(lab):
    stop(lab.app)
    time.sleep(0.2)
    lab.ask("links", "end", "--all")


def radio_lost(lab):
    stop(lab.app)
    stop(lab.radio)
    time.sleep(1)
    lab.start_radio()


CRASH = killed(signal.SIGABRT)
ROWS = [
    ("App suspended in memory", "it is stopped (SIGSTOP)", "subscribed", suspended, False),
    ("App removed from memory", "it is killed", "subscribed", killed(signal.SIGKILL), True),
    ("App removed from memory", "it is terminated (SIGTERM)", "subscribed", killed(signal.SIGTERM), True),
    ("App crashed", "it crashes", "subscribed", CRASH, True),
    ("App crashed", "it crashes", "connecting", CRASH, True),
    ("App crashed", "it crashes", "scanning", CRASH, True),
    ("App crashed", "it crashes", "connected", CRASH, True),
    ("App crashed", "it crashes", "advertising", CRASH, True),
    ("App crashed", "it crashes", "nothing", CRASH, False),
    ("App crashed", "the daemon is killed, and the app with it", "subscribed", daemon_killed, True),
    ("App crashed", "the daemon is killed, and the app with it", "scanning", daemon_killed, True),
    ("App Force Quit by the user", "ble app PID quit", "subscribed", quit_by_user, False),
    ("App Force Quit by the user", "ble app PID quit", "connecting", quit_by_user, False),
    ("Bluetooth power toggled", "ble power off, ble power on", "connecting", switched, False),
    ("Bluetooth power toggled", "ble power off, ble power on", "scanning", switched, False),
    ("Control Center Bluetooth button toggled", "ble links end --all", "connected", links_ended, True),
    ("Airplane Mode toggled", "the controller goes and comes back", "connecting", radio_lost, True),
    ("Airplane Mode toggled", "the controller goes and comes back", "scanning", radio_lost, True),
    ("Device restarted", "the daemon ends and is restarted", "subscribed", machine_restarted, True),
    ("Device restarted", "the daemon ends and is restarted", "scanning", machine_restarted, True),
]
"""Apple's row, its equivalent here, what the app waits for, the action, and whether the app is launched again."""


def prove(bled, ble, row):
    title, here, waits, happen, is_launched = row
    with tempfile.TemporaryDirectory() as place:
        is_renewed = happen in (daemon_killed, machine_restarted)
        lab = Lab(place, bled, ble, waits, remembers=is_renewed and waits == "subscribed")
        try:
            lab.run()
            before = len(lab.diary.read())
            happen(lab)
            if happen is not links_ended:
                lab.happen()
            was = lab.wait(lambda lines: any(line.get("restores") for line in lines), 20 if is_launched else 5)
            hears = lab.wait(lambda lines: any("heard" in line for line in lines[before:])) \
                if is_launched or happen is suspended else True
            lives = lab.app.poll() is None
        except (AssertionError, subprocess.CalledProcessError) as problem:
            said = (lab.place / "errors").read_text(errors="replace").splitlines()[-3:]
            return {"row": title, "here": here, "waits": waits, "holds": False, "because": str(problem), "said": said}
        finally:
            lab.end()
    holds = was == is_launched and hears and lives == (happen is suspended)
    return {"row": title, "here": here, "waits": waits, "launched": was, "heard": hears, "holds": holds}


def main(bled, ble):
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for fact in pool.map(lambda row: prove(bled, ble, row), ROWS):
            failures += not fact["holds"]
            print(json.dumps(fact), flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    if sys.argv[1] == "--app":
        live(*sys.argv[2:5])
    else:
        main(*sys.argv[1:3])
