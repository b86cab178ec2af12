"""Ways to lose a radio, and what the commands that lose it have in common."""

import json
import subprocess
import time

# How long a command may take to notice that it cannot go on.
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
    """A lamp that can be found."""
    path = rig.file("lamp.json", json.dumps(LAMP).encode())
    program = (run or rig.peer)("serve", str(path))
    program.prints("Advertising as Lamp")
    return program


def begun(words, rig):
    """A command that is tried, whose standard input does not end."""
    path = rig.file("lamp.json", json.dumps(LAMP).encode())
    return rig.tried(*(str(path) if word == "lamp.json" else word for word in words), stdin=subprocess.PIPE)


def blink(rig):
    """The radio is lost, and there again when it is next tried."""
    rig.wire.cut(returns=True)


def gap(rig):
    """The radio is away for so long that it counts as absent."""
    rig.wire.cut()
    time.sleep(3)
    rig.wire.mend()


def death(rig):
    """The radio is killed, and another one started."""
    rig.radio.process.kill()
    rig.radio.process.wait()
    time.sleep(2)
    rig.radio = rig.start_radio()


def silence(rig):
    """The radio is stopped for a while, and goes on."""
    rig.wire.stall()
    time.sleep(5)
    rig.wire.flow()


def loss(rig):
    rig.wire.cut()


def stop(rig):
    rig.wire.stall()
