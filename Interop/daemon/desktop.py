"""Tests that `ble agent --desktop` asks by notifications: desktop.py BLED BLE

Run it with the Python of `Interop/setup`, which has dbus-fast. It needs dbus-daemon, and starts a bus of its own.
An app without any pairing code reads a value that requires pairing. A simulated desktop user sees the question, and
presses a button, closes it, or does nothing while the device leaves.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from app import PEER, PEER_EVENT, POWERED_ON, STATE_CHANGED, App, free_ports

bled, ble = sys.argv[1:]
PATIENCE = 30
DISCOVER_CHARACTERISTICS, READ, CHARACTERISTICS, VALUE = 5, 7, 8, 10
LAMP = {"name": "Lamp <b>", "services": [{"uuid": "180F", "characteristics": [
    {"uuid": "2A19", "properties": ["read"], "value": "0x64", "protected": True}]}]}
NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={}</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
"""

if not shutil.which("dbus-daemon"):
    print("skipped: dbus-daemon is not installed (apt-get install dbus)")
    sys.exit()

from dbus_fast import Message, MessageType, NameFlag  # noqa: E402
from dbus_fast.aio import MessageBus  # noqa: E402


class Desktop:
    """A notification server on a bus, on a thread of its own; queues hold what it is asked to show and close."""

    def __init__(self, address):
        self.shown, self.closed, self.count = queue.Queue(), queue.Queue(), 0
        self.address, self.loop, ready = address, asyncio.new_event_loop(), threading.Event()
        threading.Thread(target=self.loop.run_until_complete, args=(self.serve(ready),), daemon=True).start()
        assert ready.wait(PATIENCE), "the notification server does not start"

    async def serve(self, ready):
        self.bus = await MessageBus(bus_address=self.address).connect()
        self.bus.add_message_handler(self.take)
        await self.bus.request_name(NAME, NameFlag.DO_NOT_QUEUE)
        ready.set()
        with contextlib.suppress(EOFError):
            await self.bus.wait_for_disconnect()

    def take(self, message):
        if message.message_type is not MessageType.METHOD_CALL or message.interface != NAME:
            return None
        match message.member:
            case "GetCapabilities":
                return Message.new_method_return(message, "as", [["actions", "body", "body-markup"]])
            case "Notify":
                self.count += 1
                _, _, _, summary, body, actions, hints, lifetime = message.body
                urgency = hints["urgency"].value
                self.shown.put((self.count, summary, body, actions, urgency, lifetime))
                return Message.new_method_return(message, "u", [self.count])
            case "CloseNotification":
                self.closed.put(message.body[0])
                return Message.new_method_return(message)
        return None

    def signal(self, member, signature, *body):
        message = Message.new_signal(PATH, NAME, member, signature, list(body))
        self.loop.call_soon_threadsafe(lambda: self.bus.send(message))

    def press(self, number, key):
        self.signal("ActionInvoked", "us", number, key)

    def dismiss(self, number):
        self.signal("NotificationClosed", "uu", number, 2)


def fact(process, *events):
    """Returns the next fact of a command with one of these events."""
    for line in process.stdout:
        fields = json.loads(line)
        if fields["event"] in events:
            return fields
    raise AssertionError(f"{process.args[1]} ended without {events}")


class Lab:
    """A radio, a daemon with an agent at the desktop, and a lamp that an app is about to read."""

    def __init__(self, place, stack, bus):
        self.stack = stack
        pathlib.Path(place, "lamp.json").write_text(json.dumps(LAMP))
        path, (first, second) = place + "/socket", free_ports(2)
        self.path = path
        self.start(ble, "radio", f"--port={first}", f"--port={second}").stdout.readline()
        self.lamp = self.start(ble, "serve", place + "/lamp.json", "--pairing", "yes-no", "--json",
                               BLUETOOTH_HOST=f"tcp:127.0.0.1:{second}", XDG_STATE_HOME=place + "/lamp")
        self.start(bled, "--socket", path, "--sessions", place + "/sessions", f"tcp:127.0.0.1:{first}",
                   XDG_STATE_HOME=place + "/daemon").stdout.readline()
        # Without --json, the agent prints a line when it is ready.
        self.agent = self.start(ble, "agent", "--desktop", stderr=subprocess.PIPE, BLUETOOTH_HOST=f"bled:{path}",
                                DBUS_SESSION_BUS_ADDRESS=bus)
        assert "on the desktop" in self.agent.stderr.readline(), "the agent does not start"
        fact(self.lamp, "advertising")
        self.app = App(path)

    def start(self, *words, stderr=subprocess.DEVNULL, **environment):
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                                   env=os.environ | environment, text=True)
        # Ends processes that print nothing, so that no wait is unbounded.
        timer = threading.Timer(3 * PATIENCE, process.kill)
        timer.start()
        self.stack.callback(lambda: (timer.cancel(), process.kill(), process.wait()))
        return process

    def ask(self, desktop):
        """Has the app read; returns the number of the notification that asks."""
        app = self.app
        app.greet()
        app.event(STATE_CHANGED, POWERED_ON)
        self.peer = app.find("Lamp")
        app.connect(self.peer)
        app.ask(bytes([PEER]) + self.peer + bytes([DISCOVER_CHARACTERISTICS]) + bytes.fromhex("0100ffff") + bytes(1))
        found = app.event(PEER_EVENT, *self.peer, CHARACTERISTICS)
        # The handle of the value follows a UUID of 2 octets, the properties and the declaration.
        value = found.index(bytes.fromhex("02192a")) + 6
        app.ask(bytes([PEER]) + self.peer + bytes([READ]) + found[value:value + 2])
        digits = fact(self.lamp, "pairing_asked")["digits"]
        number, summary, body, actions, urgency, lifetime = desktop.shown.get(timeout=PATIENCE)
        assert summary == "Pair with Lamp <b>?", summary
        assert body == f"Does Lamp &lt;b&gt; also show {digits}?" and re.fullmatch("[0-9]{6}", digits), body
        assert actions == ["pair", "Pair", "cancel", "Cancel"], actions
        assert urgency == 2 and lifetime == 30_000, (urgency, lifetime)
        return number

    def answer(self, text):
        self.lamp.stdin.write(f"pair {text}\n")
        self.lamp.stdin.flush()

    def is_read(self):
        fields = self.app.event(PEER_EVENT, *self.peer, VALUE)
        return fields.endswith(b"\x64")

    def told(self, desktop, title):
        """Waits for a notification without buttons, and returns its body."""
        _, summary, body, actions, _, _ = desktop.shown.get(timeout=PATIENCE)
        assert summary == title and not actions, (summary, actions)
        return body


def pairs(lab, desktop):
    number = lab.ask(desktop)
    lab.answer("yes")
    desktop.press(number, "pair")
    assert desktop.closed.get(timeout=PATIENCE) == number, "the question stays after the answer"
    assert "numeric comparison" in lab.told(desktop, "Paired with Lamp <b>")
    assert lab.is_read(), "the value is not read"


def refuses(lab, desktop):
    number = lab.ask(desktop)
    desktop.press(number, "cancel")
    assert desktop.closed.get(timeout=PATIENCE) == number, "the question stays after the answer"
    assert fact(lab.lamp, "paired", "pairing_failed")["event"] == "pairing_failed", "a refusal pairs"
    assert not lab.is_read(), "a refusal lets the value be read"


def dismisses(lab, desktop):
    number = lab.ask(desktop)
    desktop.dismiss(number)
    assert fact(lab.lamp, "paired", "pairing_failed")["event"] == "pairing_failed", "closing the question pairs"


def loses_the_device(lab, desktop):
    number = lab.ask(desktop)
    lab.lamp.kill()
    assert desktop.closed.get(timeout=PATIENCE) == number, "the question stays after the device has left"
    lab.told(desktop, "Not paired with Lamp <b>")


def tells_of_a_loss(lab, desktop):
    sleeper = lab.start(sys.executable, pathlib.Path(__file__).with_name("sleeper.py"), lab.path, "Lamp")
    assert sleeper.stdout.readline() == "connected\n", "the app to be stopped does not connect"
    sleeper.send_signal(signal.SIGSTOP)
    lab.lamp.kill()
    _, summary, body, actions, _, _ = desktop.shown.get(timeout=PATIENCE)
    assert summary.startswith("python") and not actions, (summary, actions)
    assert body.startswith("The connection to ") and body.endswith(" was lost."), body


def ends(lab, desktop):
    number = lab.ask(desktop)
    lab.agent.terminate()
    assert desktop.closed.get(timeout=PATIENCE) == number, "the question stays after the agent has ended"
    assert lab.agent.wait(PATIENCE) == 0, "the agent does not end with status 0"


def refuse_to_start(address, reason):
    """Expects that an agent exits immediately, with one line that says why and what to do."""
    environment = os.environ | {"DBUS_SESSION_BUS_ADDRESS": address, "BLUETOOTH_HOST": "demo"}
    done = subprocess.run([ble, "agent", "--desktop"], env=environment, capture_output=True, text=True,
                          timeout=PATIENCE, stdin=subprocess.DEVNULL)
    said = done.stderr.strip()
    assert done.returncode == 69 and reason in said and said.endswith("Leave out --desktop to use the terminal."), said
    assert "\n" not in said, said


with tempfile.TemporaryDirectory() as home:
    pathlib.Path(home, "bus.conf").write_text(BUS.format(home + "/bus"))
    daemon = subprocess.Popen(["dbus-daemon", f"--config-file={home}/bus.conf", "--nofork", "--print-address"],
                              stdout=subprocess.PIPE, text=True)
    try:
        bus = daemon.stdout.readline().strip()
        refuse_to_start(f"unix:path={home}/nobody", "cannot connect to the session bus")
        refuse_to_start(bus, "no notification service runs in this session")
        desktop = Desktop(bus)
        for scene in (pairs, refuses, dismisses, loses_the_device, tells_of_a_loss,
                      ends):
            with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
                scene(Lab(place, stack, bus), desktop)
            print(f"an agent at the desktop {scene.__name__.replace('_', ' ')}")
        assert desktop.shown.empty() and desktop.closed.empty(), "something else was shown or closed"
        with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
            lab = Lab(place, stack, bus)
            daemon.kill()
            assert lab.agent.wait(PATIENCE) == 69, "the agent does not end with the session"
            assert "was lost" in lab.agent.stderr.read(), "the agent does not say why it ends"
    finally:
        daemon.kill()
        daemon.wait()
print("an agent ends with the session of the desktop, and says why")
