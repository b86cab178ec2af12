"""Packets of hostile controllers and peers: of each kind, right, nearly right, and wrong."""

import struct

import hci

LINKS = [0x0040, 0x0040, 0x0040, 0x0040, 0x0041, 0x0000, 0x0EFF, 0x0F00, 0x0FFF]
SETUP = [
    0x0C03, 0x1001, 0x1002, 0x1003, 0x1009, 0x2003, 0x2002, 0x0C01, 0x0C63, 0x2001, 0x200F, 0x2010, 0x2029, 0x201C,
    0x202F, 0x2024, 0x2031, 0x203D, 0x200B, 0x200C, 0x2041, 0x2042, 0x2006, 0x2008, 0x2009, 0x200A, 0x2036, 0x2037,
    0x2039, 0x2043, 0x200D, 0x2016,
]
# A plausible example of each known LE event, its subevent code first.
LOW_ENERGY_EVENTS = [bytes.fromhex(digits) for digits in (
    "03 00 4000 1800 0000 d007", "04 00 4000 ff59000000000000", "05 4000 0102030405060708 0000",
    "06 4000 1800 1800 0000 d007", "07 4000 fb00 4808 fb00 4808", "08 00" + "11" * 64, "09 00" + "22" * 32,
    "0c 00 4000 02 02", "11", "12 00 00 4000 00", "13 00 01 0605040302c1", "14 4000 01",
    "21 00 4000 00 01 00 00 00", "0e 00 0000 00 01 0605040302c1 01 0c00 00", "1a 00 0000",
    "0a 00 4000 00 01 0605040302c1 000000000000 000000000000 1800 0000 d007 00",
)]
# Examples of other events.
EVENTS = [(code, bytes.fromhex(digits)) for code, digits in (
    (0x08, "00 4000 01"), (0x08, "00 4000 00"), (0x08, "06 4000 00"), (0x0C, "00 4000 0d 0200 0200"), (0x1A, "01"),
    (0x30, "00 4000"), (0x57, "4000"), (0x03, "00 4000 010203040506 01 00"), (0xFF, "0102"),
)]
REQUESTS = [bytes.fromhex(digits) for digits in (
    "02 1700", "02 0502", "02 ffff", "04 0100 ffff", "06 0100 ffff 0028 0d18", "08 0100 ffff 0328",
    "08 0100 ffff 2a2b",
    "08 0100 ffff 0228", "0a 0300", "0a 0100", "0c 0300 0000", "0c 0300 0200", "0e 0300 0500", "10 0100 ffff 0028",
    "10 0100 ffff 0128", "12 0400 0100", "12 0600 00", "16 0600 0000 6162", "16 0600 0200 63", "18 00", "18 01",
    "20 0300 0500", "52 0600 31", "d2 0600 31 000000000000000000000000", "1e", "12 0b00 0200", "12 0f00 01",
    "0a 1400", "0a 1800", "0a 1d00", "0c 1200 0100", "12 1500 0100", "12 1900 0200", "12 1e00 0300", "12 1e00 0000",
    "12 1800 41", "16 1800 0000 6162", "16 1d00 0000 6162", "18 01", "52 1800 42", "20 1200 1400",
)]
ABOUT_A_HANDLE = {b"\x0a", b"\x0c", b"\x12", b"\x16", b"\x52", b"\xd2", b"\x1b", b"\x1d"}
ANSWERS = [bytes.fromhex(digits) for digits in (
    "01 0a 0300 01", "01 02 0000 06", "01 10 0100 0a", "03 1700", "03 0502", "05 01 0200 0328",
    "05 02 0300" + "33" * 16,
    "07 0100 0900", "09 07 0200 02 0300 382a", "09 15 0200 12 0300" + "44" * 16, "09 04 0300 0102", "0b 0102", "0b",
    "0d 0102", "0f 0102", "11 06 0100 0900 0d18", "11 14 0a00 ffff" + "55" * 16, "11 06 0100 ffff 0118", "13",
    "17 0600 0000 6162", "19", "1b 0500 0048", "1d 0500 0049", "1d 0300 0100 ffff", "21 0200 0102 0100 03",
    "23 0500 0200 0048 0700 0100 ff",
)]
SIGNALS = [bytes.fromhex(digits) for digits in (
    "12 21 0800 0600 0c00 0000 c800", "12 21 0800 0c00 0600 0000 c800", "13 01 0200 0000", "13 01 0200 0100",
    "14 21 0a00 8000 5000 4000 4000 0500", "14 22 0a00 8100 5100 1700 1700 0000",
    "14 23 0a00 8000 5200 ffff fdff ffff", "15 01 0a00 6000 4000 4000 0500 0000",
    "15 01 0a00 6000 4000 4000 ffff 0000", "15 01 0a00 0000 0000 0000 0000 0200",
    "16 21 0400 5000 0500", "16 21 0400 5000 ffff", "16 21 0400 4000 0100",
    "17 21 0c00 8000 4000 4000 0500 5400 5500", "17 22 0a00 2700 4000 4000 0500 5600",
    "18 01 0c00 4000 4000 0500 0000 6000 6100", "19 21 0600 8000 8000 5000", "19 21 0600 4000 4000 5400",
    "1a 01 0200 0000", "06 21 0400 4000 5000", "06 21 0400 4100 5400", "07 01 0400 5000 4000", "01 01 0200 0000",
    "01 21 0600 0200 4000 5000", "08 21 0200 aabb", "0a 21 0200 0200", "02 21 0400 0100 4000",
)]
PAIRING = [bytes.fromhex(digits) for digits in (
    "01 03 00 01 10 07 07", "02 03 00 01 10 07 07", "03" + "66" * 16, "04" + "77" * 16, "05 08", "06" + "88" * 16,
    "07 0000 0000000000000000", "0b 01", "0c" + "99" * 64, "0d" + "aa" * 16, "0e 00", "01 03 00 0d 10 03 03",
    "01 04 00 05 10 03 03", "01 00 01 09 07 00 00", "05 04", "08" + "bb" * 16, "09 01 0605040302c1", "0a" + "cc" * 16,
)]
# The base point of the curve, which is a valid public key.
POINT = b"\x0c" + bytes.fromhex(
    "96c298d84539a1f4a033eb2d817d0377f240a463e5e6bcf847422ce1f2d1176b"
    "f551bf376840b6cbce5e316b5733ce2b169e0f7c4aebe78e9b7f1afee242e34f"
)
FIELD_TYPES = [
    0x01, 0x02, 0x03, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x12, 0x14, 0x15, 0x16, 0x19, 0x1F, 0x20, 0x21, 0xFF,
]


def a_link(dice):
    return dice.one(LINKS) if dice.chance(0.9) else dice.below(64)


def nearly(dice, packets):
    """Returns one of the packets, often after a mutation."""
    packet = dice.one(packets)
    return dice.mutated(packet) if dice.chance(0.6) else packet


def advertising_fields(dice):
    """Returns structures of advertising data, whose lengths may be wrong."""
    fields = b""
    while dice.chance(0.6) and len(fields) < 200:
        value = dice.octets(dice.length(40))
        length = len(value) + 1 if dice.chance(0.85) else dice.below(256)
        fields += bytes([length, dice.one(FIELD_TYPES)]) + value
    return fields[:229]


def address(dice):
    """Returns the peer's address, one of 256 others, or any."""
    chosen = dice.random()
    if chosen < 0.3:
        return hci.PEER
    return dice.octets(1) + hci.PEER[1:] if chosen < 0.6 else dice.octets(6)


def report(dice):
    """Returns an advertising report, legacy, directed or extended, whose counts and lengths may be wrong."""
    kind = dice.one((0x02, 0x02, 0x0D, 0x0D, 0x0D, 0x0B))
    reports = []
    for _ in range(1 if dice.chance(0.8) else dice.below(4)):
        fields = advertising_fields(dice)
        length = len(fields) if dice.chance(0.9) else dice.below(256)
        who = bytes([dice.below(4)]) + address(dice)
        if kind == 0x02:
            reports.append(bytes([dice.below(6)]) + who + bytes([length]) + fields[:31] + dice.octets(1))
        elif kind == 0x0D:
            flags = dice.one((0x0013, 0x0001, 0x0021, 0x0041, 0x001B, dice.getrandbits(16)))
            reports.append(
                struct.pack("<H", flags) + who + bytes([1, dice.below(4), dice.below(16)]) + dice.octets(2)
                + bytes(2) + bytes([dice.below(4)]) + dice.octets(6) + bytes([length]) + fields
            )
        else:
            reports.append(b"\x01" + who + b"\x01" + dice.octets(6) + dice.octets(1))
    count = len(reports) if dice.chance(0.9) else dice.below(256)
    return hci.low_energy_event(kind, (bytes([count]) + b"".join(reports))[:254])


def connection(dice):
    status, handle = dice.one((0, 0, 0, 0x02, 0x3E, 0x0C, dice.below(256))), a_link(dice)
    role, peer = dice.below(3), address(dice)
    if dice.chance(0.5):
        packet = hci.connected(handle, role, peer, status)
    else:
        body = struct.pack("<BHBB6s12sHHHB", status, handle, role, dice.below(5), peer, bytes(12), 24, 0, 2000, 0)
        packet = hci.low_energy_event(0x0A, body)
    return spoiled_event(dice, packet) if dice.chance(0.2) else packet


def completed_packets(dice):
    """Returns Number Of Completed Packets for packets that were never sent."""
    entries = b"".join(struct.pack("<H", a_link(dice)) + dice.number(2) for _ in range(1 + dice.length(8)))
    count = len(entries) // 4 if dice.chance(0.8) else dice.below(256)
    return hci.event(hci.COMPLETED_PACKETS, bytes([count]) + entries)


def answer(dice, opcode=None):
    """Returns an answer to a command that may not have been sent."""
    if opcode is None:
        opcode = dice.one(SETUP) if dice.chance(0.7) else dice.getrandbits(16)
    status = 0 if dice.chance(0.6) else dice.below(256)
    if dice.chance(0.25):
        return hci.event(hci.STATUS, struct.pack("<BBH", status, dice.below(3), opcode))
    value = hci.RETURNS.get(opcode, b"")
    value = dice.mutated(value) if dice.chance(0.6) else dice.octets(dice.length(64))
    return hci.event(hci.COMPLETE, (struct.pack("<BHB", dice.below(3), opcode, status) + value)[:255])


def spoiled_event(dice, packet):
    return hci.event(packet[1] if dice.chance(0.9) else dice.below(256), dice.mutated(packet[3:])[:255])


def other_event(dice):
    if dice.chance(0.6):
        parameters = nearly(dice, LOW_ENERGY_EVENTS)
        return hci.event(hci.META, parameters[:255])
    code, parameters = dice.one(EVENTS)
    if dice.chance(0.15):
        code = dice.below(256)
    # These reset everything, which would hide other failures if it were frequent.
    if code in (hci.HARDWARE_ERROR, hci.COMPLETE, hci.STATUS) and not dice.chance(0.05):
        code = 0x57
    return hci.event(code, (dice.mutated(parameters) if dice.chance(0.6) else parameters)[:255])


def attribute_packet(dice, likely=REQUESTS):
    if dice.chance(0.1):
        return dice.octets(dice.length(600))
    packet = nearly(dice, likely if dice.chance(0.8) else REQUESTS + ANSWERS)
    if packet[:1] in ABOUT_A_HANDLE and dice.chance(0.4):
        packet = packet[:1] + bytes([dice.below(34), 0]) + packet[3:]
    return packet


def signal(dice):
    """Returns a signal, or several in one packet, which the specification forbids on LE links."""
    whole = nearly(dice, SIGNALS)
    while dice.chance(0.05):
        whole += nearly(dice, SIGNALS)
    return whole


def channel_frame(dice):
    """Returns a packet for an open channel: the first or a later segment of an SDU whose length may be wrong."""
    payload = dice.octets(dice.length(300))
    return dice.number(2) + payload if dice.chance(0.3) else struct.pack("<H", len(payload)) + payload


def peer_frame(dice, likely):
    """Returns the channel and payload of an L2CAP frame.

    `likely` are the ATT packets to choose from, or `PAIRING`.
    """
    if likely is PAIRING and dice.chance(0.9):
        return hci.PAIRING, POINT if dice.chance(0.15) else nearly(dice, PAIRING)
    chosen = dice.random()
    if chosen < 0.55:
        return hci.ATTRIBUTES, attribute_packet(dice, likely)
    if chosen < 0.8:
        return hci.SIGNALS, signal(dice)
    if chosen < 0.85:
        return hci.PAIRING, nearly(dice, PAIRING)
    return dice.one((0x40, 0x40, 0x41, 0x42, 0x43, 0x3F, 0x7F, 0x01, 0x00, 0xFFFF)), channel_frame(dice)


def peer_data(dice, likely, handle=hci.Controller.HANDLE):
    """Returns a frame as the host's controller delivers it, sometimes with wrong fragments."""
    channel, payload = peer_frame(dice, likely)
    chosen = dice.random()
    if chosen < 0.85:
        return hci.sent(handle, channel, payload, dice.one((251, 251, 27, 64)))
    whole = hci.frame(channel, payload)
    if chosen < 0.9:
        whole = dice.number(2) + whole[2:]
    cut = dice.below(len(whole) + 1)
    packets = [
        hci.data(handle, whole[:cut], dice.one((2, 2, 0, 1, 3))), hci.data(handle, whole[cut:], dice.one((1, 1, 2))),
    ]
    if chosen > 0.97:
        packets.reverse()
    return b"".join(packets[:1 + dice.below(2)])
