"""Ways to lose a radio, and the common parts of commands that lose it."""

import json
import subprocess
import time

# The time limit for a command to notice that it cannot continue.
AT_ONCE = 10

LAMP = {
    "name": "Lamp",
    "services": [
        {
            "uuid": "FFA0",
            "characteristics": [
                {"uuid": "FFA1", "properties": ["read", "write", "writeWithoutResponse"], "value": "11"},
                {
                    "uuid": "FFA2",
                    "properties": ["read", "notify"],
                    "value": "22",
                    "notify": {"every": 200, "values": ["23", "24"]},
                },
            ],
        }
    ],
}


def lamp(rig, run=None):
    """Starts a lamp that can be found."""
    path = rig.file("lamp.json", json.dumps(LAMP).encode())
    program = (run or rig.peer)("serve", str(path))
    program.prints("Advertising as Lamp")
    return program


def begun(words, rig):
    """Starts a command under test, whose standard input does not end."""
    path = rig.file("lamp.json", json.dumps(LAMP).encode())
    return rig.tried(*(str(path) if word == "lamp.json" else word for word in words), stdin=subprocess.PIPE)


def blink(rig):
    """Loses the radio, which is there again at the next attempt."""
    rig.wire.cut(returns=True)


def gap(rig):
    """Removes the radio for so long that it counts as absent."""
    rig.wire.cut()
    time.sleep(3)
    rig.wire.mend()


def death(rig):
    """Kills the radio, and starts another one."""
    rig.radio.process.kill()
    rig.radio.process.wait()
    time.sleep(2)
    rig.radio = rig.start_radio()


def silence(rig):
    """Stops the radio for a while."""
    rig.wire.stall()
    time.sleep(5)
    rig.wire.flow()


def loss(rig):
    rig.wire.cut()


def stop(rig):
    rig.wire.stall()
