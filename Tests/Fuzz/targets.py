"""The fuzzing targets, by name."""

import json

import attributes
import daemon
import errands
import files
import hci
import hostile
import hosts
import packets
import radio


class Target:
    """A source of inputs and the program that gets them."""

    def __init__(self, source, host):
        self.source, self.host = source, host
        self.batch, self.start, self.stop = host.batch, host.start, host.stop
        self.inputs, self.offer = source.inputs, source.offer

    @property
    def victim(self):
        return self.host.victim

    @property
    def memory(self):
        return self.host.memory

    @property
    def restarts(self):
        return self.host.restarts


def scan(dice):
    chosen = dice.random()
    if chosen < 0.7:
        packet = packets.report(dice)
        return packets.spoiled_event(dice, packet) if dice.chance(0.2) else packet
    if chosen < 0.8:
        return packets.other_event(dice)
    if chosen < 0.85:
        return packets.connection(dice)
    if chosen < 0.9:
        return packets.completed_packets(dice)
    return hci.data(packets.a_link(dice), dice.octets(dice.length(300)), dice.below(4))


def link(dice):
    chosen = dice.random()
    if chosen < 0.1:
        return packets.connection(dice)
    if chosen < 0.13:
        return hci.disconnected(packets.a_link(dice), dice.below(256))
    if chosen < 0.2:
        return packets.completed_packets(dice)
    if chosen < 0.3:
        return packets.other_event(dice)
    if chosen < 0.34:
        return packets.report(dice)
    if chosen < 0.36:
        return packets.answer(dice, dice.getrandbits(16))
    if chosen < 0.361:
        return hci.event(hci.HARDWARE_ERROR, dice.octets(1))
    if chosen < 0.362:
        return hci.data(packets.a_link(dice), dice.octets(dice.below(20_000)), dice.below(4))
    if chosen < 0.4:
        return bytes([3]) + dice.number(2) + bytes([4]) + dice.octets(4)
    return packets.peer_data(dice, packets.REQUESTS + packets.ANSWERS, packets.a_link(dice))


def answers(dice):
    return packets.peer_data(dice, packets.ANSWERS)


def every(programs):
    """Returns the functions that make each target, by its name."""

    def controller(make, words, kinds, **more):
        def made():
            host = make(programs, words, **more)
            return Target(hostile.HostileController(host, kinds), host)
        return made

    def peer(make, words, likely):
        def made():
            host = make(programs, words)
            return Target(hostile.HostilePeer(host, likely), host)
        return made

    def errand(words, kinds, **more):
        return lambda: errands.Errand(programs, words, kinds, **more)

    def readings(kind, seed):
        return lambda: files.Readings(programs, kind, seed)

    def runs(seed, name, *words, **environment):
        return lambda: files.Runs(programs, seed, name, words, **environment)

    peripheral = json.loads(hosts.PERIPHERAL.read_text())
    peripheral["services"].append(files.SERVICE)
    serve = ["serve", hosts.PERIPHERAL, "--json"]
    return {
        "controller/scan": controller(hosts.Scanning, ["scan", "--duplicates", "--json"], scan),
        "controller/serve": controller(hosts.Serving, serve, link, features=hci.LEGACY),
        "controller/inspect": errand(["inspect", "Fuzz", "--timeout", "2"], link),
        "controlled/radio": lambda: radio.HostileHost([programs["ble"], "radio"]),
        "peer/attribute-server": lambda: attributes.Server(programs),
        "peer/attribute-client": lambda: attributes.Client(programs),
        "peer/serve": peer(hosts.Serving, serve, packets.REQUESTS),
        "peer/pairing": peer(hosts.Serving, serve, packets.PAIRING),
        "peer/channel": peer(hosts.Echoing, ["channel", "serve", "--echo", "--json"], packets.REQUESTS),
        "peer/inspect": errand(["inspect", "Fuzz", "--timeout", "2"], answers, features=hci.LEGACY),
        "peer/open": errand(["channel", "open", "Fuzz", "--count", "8", "--timeout", "2"], answers),
        "app/daemon": lambda: daemon.HostileApp(programs),
        "file/sessions": lambda: files.Sessions(programs),
        "file/policy": readings("policy", daemon.POLICY),
        "file/manifest": readings("manifest", daemon.MANIFEST),
        "file/world": readings("world", files.WORLD),
        "file/state": readings("state", files.STATE),
        "file/attributes": readings("attributes", files.CASE),
        "file/capture": lambda: files.Captures(programs),
        "file/service": lambda: files.Services(programs),
        "run/world": runs(files.WORLD, "world.json", "scan", "--duration", "0.1", BLUETOOTH_HOST="world:FILE"),
        "run/serve": runs(peripheral, "serve.json", "serve", "FILE", "--duration", "0.1", BLUETOOTH_HOST="demo"),
        "run/state": runs(
            files.STATE, "corebluetooth/host.json", "scan", "--duration", "0.1", BLUETOOTH_HOST="tcp:127.0.0.1:1"
        ),
    }
