"""Pairs with devices of a simulated world, with bluetoothctl as the agent: agents.py COMMAND…

The world is agents.json. COMMAND starts bluetoothctl, on the bus that the environment names.
"""

import asyncio
import sys

from control import PROMPTS, Control

SUCCESS, FAILURE = "Pairing successful", "Failed to pair: org.bluez.Error.Authentication"
# The name of each device, the question, the line that the user enters, and what comes of the pairing. The users of the
# devices do what the world says. A device without input and output causes no question if bluetoothctl begins to pair.
DEVICES = [
    ("Keyboard", "display", None, SUCCESS), ("Screen", "enter", "123456", SUCCESS),
    ("Watch", "compare", "yes", SUCCESS), ("Button", None, None, SUCCESS), ("Doubtful", "compare", "no", FAILURE),
    ("Locked", None, None, FAILURE), ("Other screen", "enter", "123456", FAILURE),
]


async def main():
    control = Control(sys.argv[1:])
    await control.start("KeyboardDisplay")
    addresses, command = {}, "scan on"
    for name, *_ in DEVICES:
        addresses[name] = (await control.expect(command, rf"Device ([0-9A-F:]{{17}}) {name}\b"))[1]
        command = None
    for name, question, line, result in DEVICES:
        address = addresses[name]
        await control.expect(f"pair {address}", "Attempting to pair")
        if question:
            await control.expect(None, PROMPTS[question], refuse="Failed to pair|Pairing successful")
        if line:
            await control.expect(line, "")
        await control.expect(None, result, refuse=FAILURE if result == SUCCESS else SUCCESS)
        await control.expect(f"info {address}", f"Paired: {'yes' if result == SUCCESS else 'no'}")
    await control.end()
    print(f"pairing with {len(DEVICES)} devices of a world")


asyncio.run(main())
