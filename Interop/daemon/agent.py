"""Tests that `ble agent` answers pairing questions for apps that cannot: agent.py BLED BLE

An app without any pairing code reads a value that requires pairing. The device shows six digits, which the script types
into the agent. Another app requests an alert for a lost connection, and is stopped when that happens.
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

from app import PEER, PEER_EVENT, POWERED_ON, STATE_CHANGED, App, free_ports

bled, ble = sys.argv[1:]
DISCOVER_CHARACTERISTICS, READ, CHARACTERISTICS, VALUE = 5, 7, 8, 10
LAMP = {"name": "Lamp", "services": [{"uuid": "180F", "characteristics": [
    {"uuid": "2A19", "properties": ["read"], "value": "0x64", "protected": True}]}]}


def fact(process, event):
    """Returns the next fact of a command with this event."""
    for line in process.stdout:
        fields = json.loads(line)
        if fields["event"] == event:
            return fields
    raise AssertionError(f"{process.args[1]} ended without {event}")


with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
    def start(*words, **environment):
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=os.environ | environment, text=True)
        stack.callback(lambda: (process.kill(), process.wait()))
        return process

    pathlib.Path(place, "lamp.json").write_text(json.dumps(LAMP))
    path, (first, second) = place + "/socket", free_ports(2)
    radio = start(ble, "radio", f"--port={first}", f"--port={second}")
    radio.stdout.readline()
    lamp = start(ble, "serve", place + "/lamp.json", "--pairing", "display", "--json",
                 BLUETOOTH_HOST=f"tcp:127.0.0.1:{second}", XDG_STATE_HOME=place + "/lamp")
    start(bled, "--socket", path, "--sessions", place + "/sessions", f"tcp:127.0.0.1:{first}",
          XDG_STATE_HOME=place + "/daemon").stdout.readline()
    agent = start(ble, "agent", "--pairing", "keyboard", "--json", BLUETOOTH_HOST=f"bled:{path}")
    fact(lamp, "advertising")
    time.sleep(0.5)
    app = App(path)
    app.greet()
    app.event(STATE_CHANGED, POWERED_ON)
    peer = app.find("Lamp")
    app.connect(peer)
    app.ask(bytes([PEER]) + peer + bytes([DISCOVER_CHARACTERISTICS]) + bytes.fromhex("0100ffff") + bytes(1))
    found = app.event(PEER_EVENT, *peer, CHARACTERISTICS)
    # The handle of the value follows a UUID of 2 octets, the properties and the declaration.
    value = found.index(bytes.fromhex("02192a")) + 6
    app.ask(bytes([PEER]) + peer + bytes([READ]) + found[value:value + 2])
    assert fact(agent, "pairing_asked")["question"] == "enter", "the agent is not asked for the digits"
    agent.stdin.write(fact(lamp, "pairing_asked")["digits"] + "\n")
    agent.stdin.flush()
    assert fact(agent, "paired")["bonded"], "there is no bond"
    assert app.event(PEER_EVENT, *peer, VALUE).endswith(b"\x64"), "the value is not read"
    sleeper = start(sys.executable, pathlib.Path(__file__).with_name("sleeper.py"), path, "Lamp")
    assert sleeper.stdout.readline() == "connected\n", "there is no second app"
    sleeper.send_signal(signal.SIGSTOP)
    lamp.kill()
    alert = fact(agent, "alert")
    told = alert["occasion"] == "disconnection" and alert["app"].startswith("python") and "name" in alert
    assert told, f"not an alert of a lost connection: {alert}"
print("an agent answered for an app without pairing code, and showed an alert for a stopped one")
