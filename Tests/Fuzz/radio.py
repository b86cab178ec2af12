"""Fuzzes `ble radio`: one of its hosts is hostile, and three others must not notice.

Two of the good ones are linked, and exchange data after each batch. The third one advertises, so that the hostile host
can connect to it.
"""

import struct
import time

import hci
from socketry import Closed, connect, free_ports
from victim import PATIENCE, Finding, Victim

ALL_EVENTS = b"\xff\xff\xff\xff\xff\xff\xff\x3f"
ADVERTISER, ENDS = bytes.fromhex("0100000000c0"), (bytes.fromhex("0200000000c0"), bytes.fromhex("0300000000c0"))
TEMPLATES = {opcode: bytes.fromhex(digits) for opcode, digits in {
    0x0406: "0000 13", 0x041D: "0000", 0x0C01: "ffffffffffffff3f", 0x0C03: "", 0x0C2D: "0000 00", 0x0C31: "01",
    0x0C33: "fb00 00 0400 0000", 0x0C35: "01 0000 0100", 0x0C63: "0000000000000000", 0x0C6C: "", 0x0C6D: "01 00",
    0x0C7B: "0000", 0x0C7C: "0000 b80b", 0x1002: "", 0x1003: "", 0x1005: "", 0x1009: "", 0x1405: "0000",
    0x2001: "ff5f000000000000", 0x2002: "", 0x2003: "", 0x2005: "0a00000000c0",
    0x2006: "2000 2000 00 01 00 000000000000 07 00", 0x2007: "", 0x2008: "03 020106" + "00" * 28,
    0x2009: "05 0409616263" + "00" * 26, 0x200A: "01", 0x200B: "01 1000 1000 01 00", 0x200C: "01 00",
    0x200D: "6000 6000 00 01 0100000000c0 01 0600 0c00 0000 c800 0000 0000", 0x200E: "", 0x200F: "", 0x2010: "",
    0x2011: "01 0100000000c0", 0x2012: "01 0100000000c0", 0x2013: "0000 0600 0c00 0000 c800 0000 0000",
    0x2014: "ffffffff1f", 0x2015: "0000", 0x2016: "0000", 0x2017: "11" * 32, 0x2018: "",
    0x2019: "0000 0102030405060708 0000" + "22" * 16, 0x201A: "0000" + "22" * 16, 0x201B: "0000", 0x201C: "",
    0x2020: "0000 0600 0c00 0000 c800 0000 0000", 0x2021: "0000 3b", 0x2022: "0000 fb00 4808", 0x2023: "",
    0x2024: "fb00 4808", 0x2025: "", 0x2026: "33" * 64, 0x2027: "00 010203040506" + "44" * 32,
    0x2028: "00 010203040506", 0x2029: "", 0x202A: "", 0x202B: "00 010203040506", 0x202C: "00 010203040506",
    0x202D: "01", 0x202E: "8403", 0x202F: "", 0x2030: "0000", 0x2031: "00 07 07", 0x2032: "0000 00 02 02 0000",
    0x2035: "00 0b00000000c0", 0x2036: "00 1300 200000 200000 07 01 00 000000000000 00 7f 01 00 01 00 00",
    0x2037: "00 03 01 03 020106", 0x2038: "00 03 01 05 0409616263", 0x2039: "01 01 00 0000 00", 0x203A: "", 0x203B: "",
    0x203C: "00", 0x203D: "", 0x2041: "01 00 01 01 1000 1000", 0x2042: "01 00 0000 0000",
    0x2043: "00 01 01 0100000000c0 01 6000 6000 0600 0600 0000 0a00 0000 0000", 0x204B: "", 0x204C: "",
    0x204D: "0000 0000", 0x204E: "00 010203040506 00", 0x2060: "", 0x2074: "20 01", 0x207A: "0000 01 01",
}.items()}
OPCODES = list(TEMPLATES)
# The commands whose first parameter is the handle of a link.
ABOUT_A_LINK = {
    0x0406, 0x041D, 0x0C2D, 0x0C7B, 0x0C7C, 0x1405, 0x2013, 0x2015, 0x2016, 0x2019, 0x201A, 0x201B, 0x2020, 0x2021,
    0x2022, 0x2030, 0x2032, 0x207A,
}
LINKS = [0, 0, 1, 2, 3, 4, 0x40, 0x0EFF, 0x0F00, 0x0FFF]

# The first commands of the hostile host: all events, and a link to the advertiser.
PROLOGUE = [
    hci.command(opcode, parameters) for opcode, parameters in (
        (hci.RESET, b""), (0x0C01, ALL_EVENTS), (0x2001, ALL_EVENTS), (0x2005, TEMPLATES[0x2005]),
        (hci.CREATE_EXTENDED, TEMPLATES[hci.CREATE_EXTENDED]),
    )
]


def hostile_command(dice):
    """Returns a command of any length and any opcode, except the one that checks whether the controller works."""
    chosen = dice.random()
    opcode = dice.one(OPCODES)
    if chosen < 0.4:
        parameters = TEMPLATES[opcode]
    elif chosen < 0.8:
        parameters = dice.mutated(TEMPLATES[opcode])
    else:
        if chosen > 0.9:
            opcode = dice.one((dice.getrandbits(16), 0xFC00 | dice.below(1024), 0x2000 | dice.below(256)))
        parameters = dice.octets(dice.length(255))
    # The first one checks whether it works; the others reset its state, which would hide failures if it were frequent.
    if opcode == hci.READ_VERSION or opcode in (hci.RESET, hci.DISCONNECT) and not dice.chance(0.1):
        opcode = 0x2003
    return hci.command(opcode, parameters[:255])


def hostile_packet(dice):
    chosen = dice.random()
    if chosen < 0.8:
        return hostile_command(dice)
    if chosen < 0.98:
        payload = dice.octets(dice.length(600))
        return hci.data(dice.one(LINKS), payload if dice.chance(0.5) else hci.frame(4, payload), dice.below(16))
    return bytes([3]) + dice.number(2) + bytes([4]) + dice.octets(4)


def aimed(packet, link):
    """Returns the packet with the handle of the current link, if its handle is 0."""
    if packet[0] == hci.DATA and not packet[1] and not packet[2] & 0x0F:
        return packet[:1] + struct.pack("<H", link | packet[2] << 8) + packet[3:]
    if packet[0] == hci.COMMAND and packet[4:6] == bytes(2) and struct.unpack_from("<H", packet, 1)[0] in ABOUT_A_LINK:
        return packet[:4] + struct.pack("<H", link) + packet[6:]
    return packet


def is_connection(packet):
    return packet[:2] == bytes([hci.EVENT, hci.META]) and packet[3] in (0x01, 0x0A) and packet[4] == 0


class GoodHost:
    """A small, well-behaved host of one controller."""

    def __init__(self, port, address):
        self.connection, self.address, self.link, self.heard = connect(port), address, None, []
        self.do(hci.RESET)
        self.do(0x0C01, ALL_EVENTS)
        self.do(0x2005, address)

    def do(self, opcode, parameters=b"", patience=PATIENCE):
        """Sends a command and waits for its answer."""
        self.connection.send(hci.command(opcode, parameters))
        self.wait(lambda packet: hci.answered(packet) == opcode, f"the command 0x{opcode:04x}", patience)

    def wait(self, wanted, what, patience=PATIENCE):
        due = time.monotonic() + patience
        while time.monotonic() < due:
            packets = self.listen(0.1)
            if any(wanted(packet) for packet in packets):
                return
        raise Finding(f"no result of {what} within {patience:g} s")

    def listen(self, patience=0.0):
        """Returns the controller's packets, after updating the link."""
        self.connection.collect(patience)
        packets = self.connection.take()
        for packet in packets:
            if is_connection(packet):
                self.link, = struct.unpack_from("<H", packet, 5)
            elif packet[:2] == bytes([hci.EVENT, hci.DISCONNECTED]) and packet[3] == 0:
                self.link = None
        return packets

    def advertise(self):
        self.do(0x2006, struct.pack("<HHBBB6sBB", 32, 32, 0, 1, 0, bytes(6), 7, 0))
        self.do(0x200A, b"\x01")

    def link_to(self, peer):
        self.connection.send(
            hci.command(0x200D, struct.pack("<HHBB6sBHHHHHH", 32, 32, 0, 1, peer, 1, 6, 6, 0, 1000, 0, 0))
        )
        self.wait(lambda _: self.link is not None, "connecting")


class HostileHost:
    """Commands and data for the virtual controller."""

    batch = 1000
    restarts = 0

    def __init__(self, command):
        self.command, self.victim, self.questions = command, None, 0
        self.hostile, self.good, self.link = None, [], 0

    def start(self):
        self.port, *ports = free_ports(4)
        words = [word for port in (self.port, *ports) for word in ("--port", str(port))]
        self.victim = Victim([*self.command, *words])
        self.advertiser, self.first, self.second = self.good = [
            GoodHost(port, address) for port, address in zip(ports, (ADVERTISER, *ENDS))
        ]
        self.second.advertise()
        self.first.link_to(ENDS[1])
        self.second.wait(lambda _: self.second.link is not None, "being connected to")
        self.advertiser.advertise()

    def stop(self):
        for each in [self.hostile, *(host.connection for host in self.good)]:
            if each:
                each.close()
        if self.victim:
            self.victim.end()

    @property
    def memory(self):
        return self.victim.memory

    def inputs(self, dice, count):
        """Returns inputs; sometimes the last packet is truncated or invalid."""
        inputs = [hostile_packet(dice) for _ in range(count)]
        if dice.chance(0.1):
            inputs[-1] = dice.octets(1 + dice.length(64)) if dice.chance(0.5) else inputs[-1][:-1]
        return inputs

    def offer(self, inputs):
        is_whole = all(map(hci.is_whole, inputs))
        try:
            self.hostile = connect(self.port)
            self.send(inputs)
            if is_whole:
                self.ask()
            else:
                self.hostile.finish()
        except Closed:
            if is_whole:
                raise Finding("disconnected from a host that sent whole packets") from None
        self.hostile.close()
        try:
            self.ask_others()
        except Closed:
            raise Finding("disconnected from a good host") from None

    def send(self, inputs):
        self.hostile.send(b"".join(PROLOGUE))
        self.pass_time(self.take_link, 0.3)
        for place in range(0, len(inputs), 100):
            self.hostile.send(b"".join(aimed(each, self.link) for each in inputs[place:place + 100]))
            self.pass_time()

    def pass_time(self, is_enough=lambda _: True, patience=0.002):
        """Waits for events on the air: connection events are 7.5 ms apart, and connecting takes longer."""
        due = time.monotonic() + patience
        while time.monotonic() < due:
            self.hostile.collect(0.002)
            packets = self.hostile.take()
            self.attend()
            if is_enough(packets):
                return

    def take_link(self, packets):
        for packet in filter(is_connection, packets):
            self.link, = struct.unpack_from("<H", packet, 5)
            return True
        return False

    def attend(self):
        """Lets the good hosts process their events; the advertiser advertises again after it has lost its link."""
        was_linked = self.advertiser.link is not None
        for host in self.good:
            host.listen()
        if was_linked and self.advertiser.link is None:
            self.advertiser.connection.send(hci.command(0x200A, b"\x01"))

    def ask(self):
        """Expects an answer for the hostile host."""
        self.hostile.send(hci.command(hci.READ_VERSION))
        due = time.monotonic() + PATIENCE
        while not any(hci.answered(packet) == hci.READ_VERSION for packet in self.hostile.take()):
            if time.monotonic() > due:
                raise Finding(f"a command was not answered within {PATIENCE:g} s")
            self.hostile.collect(0.1)
            self.attend()

    def ask_others(self):
        """Expects that data arrives between the good hosts."""
        self.questions += 1
        said = hci.frame(0x0040, struct.pack("<Q", self.questions))
        self.first.connection.send(hci.data(self.first.link or 0, said, boundary=0))
        self.second.wait(lambda packet: packet[0] == hci.DATA and packet[5:] == said, "sending data to another host")
