"""All cases: each loses a radio in a different way, or in a different command."""

import dataclasses
import functools
import json
import socket
import subprocess
import threading
import time
import typing

import connected
import waiting
from faults import AT_ONCE, blink, death, gap, lamp, loss, silence, stop
from rig import Failure, PATIENCE, Rig


@dataclasses.dataclass
class Case:
    name: str
    run: typing.Callable[[Rig], None]
    seed: int = 1


def one_port_for_two(rig):
    served = lamp(rig)
    second = rig.peer("scan")
    second.ends(AT_ONCE + 5, [69])
    second.says("in use by another program?", 1)
    rig.radio.says("was refused", 1)
    time.sleep(1)
    if "lost" in served.text("err").lower():
        raise Failure(f"the first program lost its port: {served}")
    rig.tried("read", "Lamp", "FFA1").ends(PATIENCE, [0])
    served.obeys()
    # The next program gets the port immediately.
    for _ in range(10):
        rig.peer("scan", "--duration", "0.05").ends(PATIENCE, [0])


def wrong_port(rig):
    """Expects that a server of another protocol is tried less and less often."""
    listener = socket.create_server(("127.0.0.1", 0))
    visits = []

    def answer():
        while True:
            try:
                visitor, _ = listener.accept()
            except OSError:
                return
            visits.append(time.monotonic())
            visitor.recv(100)
            visitor.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            visitor.close()

    threading.Thread(target=answer, daemon=True).start()
    try:
        rig.run("scan", port=listener.getsockname()[1]).ends(AT_ONCE + 5, [69])
        if len(visits) > 8:
            raise Failure(f"the wrong port was tried {len(visits)} times")
    finally:
        listener.close()


def bonds_last(rig):
    """Expects that separate processes can use protected values repeatedly, with stored bonds."""
    values = {"every": 100, "values": ["31", "32"]}
    secret = {"uuid": "FFA1", "properties": ["read", "notify"], "value": "30", "protected": True, "notify": values}
    device = {"name": "Secret", "services": [{"uuid": "FFA0", "characteristics": [secret]}]}
    path = str(rig.file("secret.json", json.dumps(device).encode()))
    keys, others = rig.folder(), rig.folder()
    served = rig.tried("serve", path, state=keys)
    served.prints("Advertising as Secret")
    for words in (["read"], ["read"], ["notify", "--count", "3"]):
        rig.peer(words[0], "Secret", "FFA1", *words[1:], state=others).ends(PATIENCE, [0])
    served.obeys()
    # The server stores its bonds as well.
    served = rig.tried("serve", path, state=keys)
    served.prints("Advertising as Secret")
    rig.peer("read", "Secret", "FFA1", state=others).ends(PATIENCE, [0])
    # Bonds do not apply to another run of the radio, although the addresses are the same.
    rig.radio.process.kill()
    rig.radio.process.wait()
    rig.radio = rig.start_radio()
    served.says("The radio is back")
    rig.peer("read", "Secret", "FFA1", "--timeout", "20", state=rig.folder()).ends(PATIENCE, [0])
    served.obeys()


def scripts(rig):
    """Expects that commands without a terminal end with their input, and accept any input."""
    stored = rig.tried("channel", "serve", "--name", "Store")
    stored.says("Advertising as Store")
    octets = rig.file("octets", bytes(range(256)) * 40)
    rig.peer("channel", "open", "Store", stdin=octets.open("rb")).ends(PATIENCE, [0])
    stored.ends(PATIENCE, [0])
    if stored.octets["out"] != octets.read_bytes():
        raise Failure(f"the octets that arrived differ: {stored}")
    rig.tried("chat", "join").ends(AT_ONCE, [0])
    host = rig.tried("chat", "host", "--name", "Lobby", stdin=subprocess.PIPE)
    host.prints("the room is open")
    host.process.stdin.write(b"/foo\n")
    host.process.stdin.close()
    host.ends(PATIENCE, [0])
    if "/foo" in host.text("out"):
        raise Failure(f"an unknown command was sent as a message: {host}")


def all_cases(seeds):
    def case(name, run, *arguments, seed=1):
        return Case(name, functools.partial(run, *arguments), seed)

    for run in waiting.GOING_ON:
        for fault in (blink, gap, death, silence):
            yield case(f"{run.__name__.replace('_', ' ')} after {fault.__name__}", run, fault)
    for name, (words, sign, stream) in waiting.WAITING.items():
        yield case(f"{name} obeys without radio", waiting.obeys_without_radio, words, sign, stream, loss)
        yield case(f"{name} obeys with a radio that stopped", waiting.obeys_without_radio, words, sign, stream, stop)
        yield case(f"{name} finds no radio", waiting.no_radio, words)
        yield case(f"{name} finds a late radio", waiting.late_radio, words, sign, stream)
    yield case("each command gives up on a radio that never answers", waiting.mute_radio)
    for name, (words, sign) in connected.BOUND.items():
        for fault in (loss, blink, stop):
            yield case(f"{name} ends after {fault.__name__}", connected.bound_ends, words, sign, fault)
        yield case(f"{name} obeys", connected.bound_obeys, words, sign, None)
        yield case(f"{name} obeys with a radio that stopped", connected.bound_obeys, words, sign, stop)
        yield case(f"{name} loses its peer", connected.bound_loses_peer, words, sign)
    for seed in range(1, seeds + 1):
        for name, words in connected.ONE_SHOT.items():
            for fault in (loss, blink, stop):
                title = f"{name} completes or fails after {fault.__name__}, seed {seed}"
                yield case(title, connected.one_shot, words, fault, seed, seed=seed)
        for name, (words, sign, stream) in waiting.WAITING.items():
            title = f"{name} starts despite blink, seed {seed}"
            yield case(title, waiting.starts, words, sign, stream, seed, seed=seed)
    for name, (fault, status) in connected.CHANNEL_FAULTS.items():
        yield case(f"channel open {name}", connected.channel_open, fault, status)
    for fault in (loss, stop):
        yield case(f"channel serve in a conversation after {fault.__name__}", connected.channel_serve, fault)
        yield case(f"chat join in a room after {fault.__name__}", connected.room_is_lost, fault)
    yield case("chat join ends after its input", waiting.input_ends_without_room)
    yield case("write --without-response refuses what would be dropped", connected.too_long)
    yield case("bonds last as long as the radio", bonds_last)
    yield case("scripts", scripts)
    yield case("one port for two programs", one_port_for_two)
    yield case("a wrong port", wrong_port)
