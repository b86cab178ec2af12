#!/usr/bin/env python3
"""A substitute for `ble` that writes events in an order that a radio does not cause on demand.

The variable ANSWERS contains an object: the lines that a command writes immediately, by the name of the command. A line
without an event is the answer "done". Other commands are done immediately. The command `release` writes the lines of
the commands in the variable HELD, and the answer to `received` has the names of all earlier commands.
"""

import json
import os
import sys

ABOUT = {"identifier": "1", "name": "Lamp", "service": "FFE0", "characteristic": "FFE1", "handle": 3, "value": "00"}
answers, held = json.loads(os.environ.get("ANSWERS", "{}")), os.environ.get("HELD", "").split()
received, waiting = [], []


def write(lines):
    sys.stdout.write("".join(json.dumps(line) + "\n" for line in lines))
    sys.stdout.flush()


write([{"event": "ready", "protocol": 1}])
for line in sys.stdin:
    command = json.loads(line)
    name, number = command["command"], command.get("id")
    lines = [ABOUT | ({"command": name, "id": number} if one.get("event", "failed") == "failed" else {})
             | {"event": "done"} | one for one in answers.get(name, [{}])]
    if name == "received":
        lines[0]["commands"] = received
    elif name == "release":
        lines, waiting = waiting + lines, []
    received.append(name)
    if name in held:
        waiting += lines
    else:
        write(lines)
