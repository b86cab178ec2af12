"""Commands with a connection, which end with it; those with a single task complete it or fail."""

import random
import signal
import subprocess
import threading

from faults import AT_ONCE, lamp, loss, stop
from rig import Failure, PATIENCE

BOUND = {
    "notify": (["notify", "Lamp", "FFA2"], "24"),
    "notify of nothing": (["notify", "Lamp", "FFA2", "--duration", "60"], "Subscribed"),
    "inspect --follow": (["inspect", "Lamp", "--follow"], "FFA2"),
    "read --every": (["read", "Lamp", "FFA1", "FFA2", "--every", "0.2"], "FFA2"),
    "read --every 60": (["read", "Lamp", "FFA1", "--every", "60"], "11"),
}


def bound_ends(words, sign, fault, rig):
    lamp(rig)
    program = rig.tried(*words)
    program.prints(sign)
    fault(rig)
    program.ends(AT_ONCE, [69])
    program.says("The radio was lost", 1)


def bound_obeys(words, sign, fault, rig):
    lamp(rig)
    program = rig.tried(*words)
    program.prints(sign)
    if fault:
        fault(rig)
    program.obeys([0, 69, 75] if fault else [0])


def bound_loses_peer(words, sign, rig):
    peer = lamp(rig)
    program = rig.tried(*words)
    program.prints(sign)
    peer.process.kill()
    program.ends(AT_ONCE, [75])
    program.says("disconnected", 1)


# Commands with a single task complete it or fail.

ONE_SHOT = {
    "read": ["read", "Lamp", "FFA1", "FFA2"],
    "inspect": ["inspect", "Lamp"],
    "write": ["write", "Lamp", "FFA1", "0a0b"],
    "write --without-response": ["write", "Lamp", "FFA1", "0a0b", "--without-response"],
    "notify --count 1": ["notify", "Lamp", "FFA2", "--count", "1"],
}


def one_shot(words, fault, seed, rig):
    """Loses the radio after a random share of the octets of a whole run."""
    lamp(rig)
    words = [*words, "--timeout", "6"]
    rig.tried(*words).ends(PATIENCE, [0])
    whole, rig.wire.passed = rig.wire.passed, 0
    taken = threading.Event()

    def take():
        fault(rig)
        taken.set()

    rig.wire.after(random.Random(f"{words}{fault.__name__}{seed}").randrange(whole), take)
    program = rig.tried(*words)
    taken.wait(PATIENCE)
    # After its task, a command only disconnects.
    program.ends(AT_ONCE + 5, [0, 69] if fault is loss else [0, 69, 75])


FILE = bytes(random.Random(1).randbytes(300_000))


def store(rig):
    program = rig.peer("channel", "serve", "--name", "Store", "--stay")
    program.says("Advertising as Store")
    return program


def channel_open(fault, status, rig):
    served = store(rig)
    opened = rig.tried("channel", "open", "Store", stdin=rig.file("sent", FILE).open())
    with served.changed:
        if not served.changed.wait_for(lambda: len(served.octets["out"]) > 20_000, PATIENCE):
            raise Failure(f"nothing arrives through the channel: {opened}{served}")
    fault(opened, served, rig)
    opened.ends(AT_ONCE + 8, status)
    if status == [0]:
        served.ends(AT_ONCE, [0])
        if served.octets["out"] != FILE:
            raise Failure(f"{len(served.octets['out'])} octets of {len(FILE)} arrived")
    else:
        opened.says("the channel ended after", 1)


def channel_serve(fault, rig):
    served = rig.tried("channel", "serve", "--name", "Store", stdin=subprocess.PIPE)
    served.says("Advertising as Store")
    opened = rig.peer("channel", "open", "Store", "--stay", stdin=rig.file("sent", b"octets").open())
    served.prints("octets")
    opened.says("Opened a channel", 1)
    fault(rig)
    if fault is stop:
        return served.obeys()
    served.ends(AT_ONCE, [69])
    opened.ends(AT_ONCE, [1, 75])


CHANNEL_FAULTS = {
    "is not disturbed": (lambda opened, served, rig: None, [0]),
    "is terminated": (lambda opened, served, rig: opened.process.terminate(), [1]),
    "is interrupted": (lambda opened, served, rig: opened.process.send_signal(signal.SIGINT), [1]),
    "has its peer terminated": (lambda opened, served, rig: served.obeys(), [1]),
    "has its peer killed": (lambda opened, served, rig: served.process.kill(), [1]),
    "loses the radio": (lambda opened, served, rig: rig.wire.cut(), [1]),
    "has the radio stopped": (lambda opened, served, rig: rig.wire.stall(), [1]),
}


def room_is_lost(fault, rig):
    rig.peer("chat", "host", "--name", "Lobby", "--stay").prints("the room is open")
    guest = rig.tried("chat", "join", "Lobby", stdin=subprocess.PIPE)
    guest.prints("subscribed to Lobby")
    fault(rig)
    if fault is stop:
        guest.obeys()
    else:
        guest.ends(AT_ONCE, [69])


def too_long(rig):
    lamp(rig)
    program = rig.tried("write", "Lamp", "FFA1", "00" * 600, "--without-response")
    program.ends(PATIENCE, [1])
    program.says("FFA1 was not written", 1)
    program = rig.tried("write", "Lamp", "FFA2", "00", "--without-response")
    program.ends(PATIENCE, [1])
