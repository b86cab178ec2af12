"""HCI over the UART transport, and a controller that obeys its host.

Core 6.0, Vol 4, Part A and Part E.
"""

import struct

COMMAND, DATA, EVENT = 0x01, 0x02, 0x04
HEADERS = {COMMAND: 4, DATA: 5, EVENT: 3}
COMPLETE, STATUS, DISCONNECTED, COMPLETED_PACKETS, HARDWARE_ERROR, META = 0x0E, 0x0F, 0x05, 0x13, 0x10, 0x3E
SIGNALS, ATTRIBUTES, PAIRING = 0x0005, 0x0004, 0x0006

RESET, DISCONNECT, READ_VERSION = 0x0C03, 0x0406, 0x1001
CREATE, CREATE_EXTENDED, CANCEL = 0x200D, 0x2043, 0x200E
SCAN, SCAN_EXTENDED, ADVERTISE, ADVERTISE_EXTENDED = 0x200C, 0x2042, 0x200A, 0x2039
CONNECTION_UPDATE, READ_REMOTE_FEATURES, SET_PHY, SET_DATA_LENGTH = 0x2013, 0x2016, 0x2032, 0x2022

PEER = bytes.fromhex("0605040302c1")
LENGTH, BUFFERS = 251, 64

RETURNS = {
    READ_VERSION: bytes.fromhex("0d02000d02000200"),
    0x1002: b"\xff" * 64,
    0x1003: bytes.fromhex("0000000060000000"),
    0x1009: bytes.fromhex("010203040506"),
    0x2002: struct.pack("<HB", LENGTH, BUFFERS),
    0x200F: b"\x10",
    0x201C: b"\xff" * 8,
    0x202F: bytes.fromhex("fb004808fb004808"),
    0x2036: b"\x00",
}
LEGACY, EXTENDED = bytes.fromhex("ff00000000000000"), bytes.fromhex("ff59000000000000")
ANSWERED_BY_STATUS = {
    DISCONNECT, 0x041D, CREATE, CREATE_EXTENDED, CONNECTION_UPDATE, READ_REMOTE_FEATURES, SET_PHY, 0x2019,
}
ABOUT_A_LINK = {0x1405, 0x201A, 0x201B, 0x2020, 0x2021, SET_DATA_LENGTH, 0x2030, 0x0C7B, 0x0C7C, 0x2015}


def command(opcode, parameters=b""):
    return struct.pack("<BHB", COMMAND, opcode, len(parameters)) + parameters


def event(code, parameters):
    return bytes([EVENT, code, len(parameters)]) + parameters


def low_energy_event(code, parameters):
    return event(META, bytes([code]) + parameters)


def data(handle, payload, boundary=2):
    return struct.pack("<BHH", DATA, handle & 0x0FFF | boundary << 12, len(payload)) + payload


def frame(channel, payload):
    return struct.pack("<HH", len(payload), channel) + payload


def sent(handle, channel, payload, size=LENGTH, first=2):
    """Returns data as a controller passes it to its host, or with `first` 0 a host to its controller."""
    whole = frame(channel, payload)
    packets = [data(handle, whole[:size], first)]
    packets += [data(handle, whole[place:place + size], 1) for place in range(size, len(whole), size)]
    return b"".join(packets)


def connected(handle, role, peer=PEER, status=0):
    """Returns LE Connection Complete: an interval of 30 ms, a timeout of 20 s."""
    return low_energy_event(0x01, struct.pack("<BHBB6sHHHB", status, handle, role, 1, peer, 24, 0, 2000, 0))


def disconnected(handle, reason=0x13):
    return event(DISCONNECTED, struct.pack("<BHB", 0, handle, reason))


def completed(handle, count=1):
    return event(COMPLETED_PACKETS, struct.pack("<BHH", 1, handle, count))


def advertisement(name, peer=PEER):
    fields = b"\x02\x01\x06" + bytes([len(name) + 1, 0x09]) + name
    return low_energy_event(0x02, struct.pack("<BBB6sB", 1, 0, 1, peer, len(fields)) + fields + b"\xc4")


def extended_advertisement(name, peer=PEER):
    fields = b"\x02\x01\x06" + bytes([len(name) + 1, 0x09]) + name
    head = struct.pack("<BHB6sBBBbbHB6sB", 1, 0x0013, 1, peer, 1, 0, 0xFF, 127, -60, 0, 0, bytes(6), len(fields))
    return low_energy_event(0x0D, head + fields)


class Framer:
    """A parser that splits octets into packets, including their indicators."""

    def __init__(self):
        self.partial = bytearray()

    def receive(self, octets):
        self.partial += octets
        packets = []
        while True:
            length = self._length()
            if length is None or len(self.partial) < length:
                return packets
            packets.append(bytes(self.partial[:length]))
            del self.partial[:length]

    def _length(self):
        """Returns the length of the first packet; `None` if it is not known yet."""
        if not self.partial or len(self.partial) < HEADERS[self.partial[0]]:
            return None
        header = HEADERS[self.partial[0]]
        if self.partial[0] == DATA:
            return header + struct.unpack_from("<H", self.partial, 3)[0]
        return header + self.partial[header - 1]


def is_whole(octets):
    """Returns whether these are whole HCI packets, and nothing else."""
    framer = Framer()
    try:
        return bool(framer.receive(octets)) and not framer.partial
    except KeyError:
        return False


class Controller:
    """A controller that answers commands and carries data, for one host and at most one peer at a time.

    `planned` are answers that it gives, once each, before the correct ones.
    """

    HANDLE = 0x0040

    def __init__(self, features, planned=()):
        self.features = features
        self.planned = {}
        for answer in planned:
            self.planned.setdefault(answered(answer), []).append(answer)
        self.is_scanning = self.is_advertising = self.is_initiating = False
        self.link, self.role, self.collected, self.wanted = None, 0, b"", 0
        self.frames, self.resets, self.gives_room = [], 0, True

    def receive(self, packet):
        """Returns the answers to a packet of the host; whole L2CAP frames are added to `frames`."""
        if packet[0] == DATA:
            return self._carry(packet)
        if packet[0] != COMMAND:
            return []
        opcode, = struct.unpack_from("<H", packet, 1)
        return self.planned.pop(opcode, []) + self._obey(opcode, packet[4:])

    def link_up(self, handle=HANDLE, role=1, peer=PEER):
        self.link, self.role, self.collected = handle, role, b""
        self.is_advertising = self.is_advertising and role == 0
        self.is_initiating = self.is_initiating and role == 1
        return connected(handle, role, peer)

    def link_down(self, reason=0x13):
        handle, self.link, self.gives_room = self.link, None, True
        return disconnected(handle, reason)

    def _carry(self, packet):
        handle, = struct.unpack_from("<H", packet, 1)
        handle, continues, payload = handle & 0x0FFF, handle >> 12 & 3 == 1, packet[5:]
        if continues:
            self.collected += payload
        else:
            self.collected = payload
        if len(self.collected) >= 4:
            length, channel = struct.unpack_from("<HH", self.collected)
            if len(self.collected) >= 4 + length:
                self.frames.append((handle, channel, self.collected[4:4 + length]))
                self.collected = b""
        return [completed(handle)] if self.gives_room else []

    def _obey(self, opcode, parameters):
        if opcode in ANSWERED_BY_STATUS:
            return [event(STATUS, struct.pack("<BBH", 0, 1, opcode))] + self._outcome(opcode, parameters)
        value = RETURNS.get(opcode, b"")
        if opcode == 0x2003:
            value = self.features
        if opcode in ABOUT_A_LINK:
            value = parameters[:2] + (b"\xc4" if opcode == 0x1405 else b"")
        answer = [event(COMPLETE, struct.pack("<BHB", 1, opcode, 0) + value)]
        if opcode == RESET:
            self.is_scanning = self.is_advertising = self.is_initiating = False
            self.link, self.resets = None, self.resets + 1
        elif opcode in (SCAN, SCAN_EXTENDED):
            self.is_scanning = parameters[:1] == b"\x01"
        elif opcode in (ADVERTISE, ADVERTISE_EXTENDED):
            self.is_advertising = parameters[:1] == b"\x01"
        elif opcode == CANCEL and self.is_initiating:
            self.is_initiating = False
            answer.append(connected(0, 0, bytes(6), status=0x02))
        return answer

    def _outcome(self, opcode, parameters):
        """Returns the event that reports the result of a command."""
        handle = parameters[:2]
        if opcode == DISCONNECT:
            if self.link is not None and handle == struct.pack("<H", self.link):
                self.link, self.gives_room = None, True
            return [event(DISCONNECTED, b"\x00" + handle + b"\x16")]
        if opcode in (CREATE, CREATE_EXTENDED):
            self.is_initiating = True
        if opcode == READ_REMOTE_FEATURES:
            return [low_energy_event(0x04, b"\x00" + handle + self.features)]
        if opcode == CONNECTION_UPDATE:
            return [low_energy_event(0x03, b"\x00" + handle + bytes.fromhex("18000000d007"))]
        if opcode == SET_PHY:
            return [low_energy_event(0x0C, b"\x00" + handle + b"\x02\x02")]
        return []


def answered(packet):
    """Returns the opcode of the command that an event answers; `None` if it answers none."""
    if packet[:2] == bytes([EVENT, COMPLETE]) and len(packet) >= 6:
        return struct.unpack_from("<H", packet, 4)[0]
    if packet[:2] == bytes([EVENT, STATUS]) and len(packet) >= 7:
        return struct.unpack_from("<H", packet, 5)[0]
    return None
