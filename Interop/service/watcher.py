"""An app that scans for heart rate sensors and is launched again for them, in the machine of Interop/service.

It prints the events that it receives, a line each. Its greeting says that the unit watcher.service launches it.
"""

import os
import sys

from app import DISCOVERED, EVENT, POWERED_ON, RESTORED, SCAN, STATE_CHANGED, App, Lost

HEART_RATE = bytes.fromhex("020d18")


def say(*words):
    print(*words, flush=True)


def main(path):
    say("launched to restore", os.environ.get("BLUETOOTH_RESTORE_CENTRALS", "nothing"))
    app = App(path, patience=100_000)
    app.greet(identifier="watcher", unit="watcher.service")
    if os.environ.get("BLUETOOTH_RESTORE_CENTRALS"):
        app.event(RESTORED)
        say("restored")
    app.event(STATE_CHANGED, POWERED_ON)
    say("powered on")
    if not os.environ.get("BLUETOOTH_RESTORE_CENTRALS"):
        app.ask(bytes([SCAN, 1]) + HEART_RATE + bytes(5))
    while True:
        try:
            message = app.message()
        except Lost as loss:
            say("lost", loss)
            return
        if message.startswith(bytes([EVENT, DISCOVERED])):
            say("discovered")
        elif message.startswith(bytes([EVENT, STATE_CHANGED])):
            say("state", message[2])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "/run/bled/socket")
