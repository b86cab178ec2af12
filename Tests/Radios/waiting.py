"""Commands that need no connection, which wait for a lost radio and continue."""

import functools
import random
import subprocess
import time

from faults import AT_ONCE, begun, blink, lamp, silence, stop
from rig import Failure, PATIENCE

WAITING = {
    "scan": (["scan"], "Scanning", "err"),
    "serve": (["serve", "lamp.json"], "Advertising as Lamp", "out"),
    "channel serve": (["channel", "serve"], "Advertising as Channel", "err"),
    "chat host": (["chat", "host"], "the room is open", "out"),
    "chat join": (["chat", "join", "Lobby"], "Looking for Lobby", "err"),
}


def returned(program, fault):
    """Waits until a command has reported the loss and the return of its radio, if it can notice them."""
    if fault is not silence:
        program.says("The radio was lost", AT_ONCE)
        program.says("The radio is back")


def scan_goes_on(fault, rig):
    lamp(rig)
    scan = rig.tried("scan", "--duplicates")
    scan.prints("Lamp")
    fault(rig)
    returned(scan, fault)
    scan.prints("Lamp", times=scan.text("out").count("Lamp") + 3)
    scan.obeys()


def serve_goes_on(fault, rig):
    served = lamp(rig, rig.tried)
    rig.peer("write", "Lamp", "FFA1", "55").ends(PATIENCE, [0])
    fault(rig)
    returned(served, fault)
    if fault is not silence:
        served.prints("Advertising", times=2)
    read = rig.peer("read", "Lamp", "FFA1", "--timeout", "20")
    read.ends(PATIENCE, [0])
    if read.text("out") != "55 “U”\n":
        raise Failure(f"the written value was lost: {read}")
    rig.peer("notify", "Lamp", "FFA2", "--count", "2", "--timeout", "20").ends(PATIENCE, [0])
    served.obeys()


def channel_serve_goes_on(fault, rig):
    served = rig.tried("channel", "serve", "--name", "Echo", "--echo")
    served.says("Advertising as Echo")
    fault(rig)
    returned(served, fault)
    if fault is not silence:
        served.says("Advertising as Echo", times=2)
    six = rig.file("six", b"octets").open()
    opened = rig.peer("channel", "open", "Echo", "--count", "6", "--timeout", "20", stdin=six)
    opened.ends(PATIENCE, [0])
    if opened.text("out") != "octets":
        raise Failure(f"the echo is not what was sent: {opened}")
    served.obeys()


def chat_host_goes_on(fault, rig):
    host = rig.tried("chat", "host", "--name", "Lobby", "--stay")
    host.prints("the room is open")
    fault(rig)
    returned(host, fault)
    if fault is not silence:
        host.prints("the room is open", times=2)
    said = rig.file("said", b"hello\n").open()
    rig.peer("chat", "join", "Lobby", "--name", "Alice", "--timeout", "20", stdin=said).ends(PATIENCE, [0])
    host.prints("[Alice] hello")
    host.obeys()


def chat_join_looks_on(fault, rig):
    guest = rig.tried("chat", "join", "Lobby", stdin=subprocess.PIPE)
    guest.says("Looking for Lobby")
    fault(rig)
    returned(guest, fault)
    rig.peer("chat", "host", "--name", "Lobby", "--stay").prints("the room is open")
    guest.prints("subscribed to Lobby")
    guest.process.stdin.close()
    guest.ends(AT_ONCE, [0])


GOING_ON = [scan_goes_on, serve_goes_on, channel_serve_goes_on, chat_host_goes_on, chat_join_looks_on]


def obeys_without_radio(words, sign, stream, fault, rig):
    """Expects that a command that waits for its radio ends when asked to."""
    program = begun(words, rig)
    program.prints(sign, stream=stream)
    fault(rig)
    if fault is not stop:
        program.says("The radio was lost", AT_ONCE)
    time.sleep(1)
    program.obeys()


def starts(words, sign, stream, seed, rig):
    """Takes the radio for a moment while a command starts."""
    program = begun(words, rig)
    program.prints(sign, stream=stream)
    whole = rig.wire.passed
    program.obeys()
    time.sleep(0.2)
    rig.wire.passed = 0
    rig.wire.after(random.Random(f"{words}{seed}").randrange(whole), functools.partial(blink, rig))
    program = begun(words, rig)
    program.prints(sign, stream=stream)
    program.obeys()


def no_radio(words, rig):
    """Expects that a command waits ten seconds for a missing radio."""
    rig.wire.cut()
    program = begun(words, rig)
    time.sleep(3)
    program.stays()
    program.ends(AT_ONCE + 5, [69])
    program.says("BLUETOOTH_HOST=demo", 1)


def late_radio(words, sign, stream, rig):
    """Expects that a command finds a radio that appears some seconds after its start."""
    rig.wire.cut()
    program = begun(words, rig)
    time.sleep(3)
    rig.wire.mend()
    program.prints(sign, stream=stream)
    program.obeys()


def mute_radio(rig):
    """Expects that commands give up on a radio that accepts connections and never answers, after ten seconds."""
    rig.wire.stall()
    commands = [["read", "Lamp", "FFA1"], *(words for words, *_ in WAITING.values())]
    for program in [begun(words, rig) for words in commands]:
        program.ends(AT_ONCE + 5, [69])


def input_ends_without_room(rig):
    guest = rig.tried("chat", "join", "Nowhere", "--timeout", "2", stdin=rig.file("said", b"hello\n").open())
    guest.ends(AT_ONCE, [75])
    guest.says("No room “Nowhere”", 1)
    rig.tried("chat", "join", "--timeout", "1").ends(AT_ONCE, [0])
