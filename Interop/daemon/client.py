"""An app in another language: finds a device through the daemon, and prints its services.

    client.py SOCKET NAME

docs/DAEMON.md describes the protocol.
"""

import socket
import struct
import sys

CENTRAL, HELLO, REQUEST = 1, 1, 2
WELCOME, REFUSED, EVENT = 1, 2, 3
SCAN, CONNECT, PEER, DISCOVER_SERVICES = 1, 3, 5, 3
STATE_CHANGED, DISCOVERED, CONNECTED, PEER_EVENT, SERVICES_DISCOVERED, POWERED_ON = 2, 6, 7, 10, 6, 5

daemon = socket.socket(socket.AF_UNIX)
daemon.settimeout(30)
daemon.connect(sys.argv[1])
stream, number = daemon.makefile("rb"), 0


def say(message):
    daemon.sendall(struct.pack("<I", len(message)) + message)


def ask(request):
    global number
    number += 1
    say(struct.pack("<BI", REQUEST, number) + request)


def hear():
    """Returns the next event's code and fields."""
    while True:
        message = stream.read(struct.unpack("<I", stream.read(4))[0])
        if message[0] == REFUSED:
            sys.exit("refused: " + message[6:].decode())
        if message[0] == EVENT:
            return message[1], message[2:]


say(struct.pack("<BHHBBBI", HELLO, 1, 1, CENTRAL, 0, 0, 0))
while True:
    code, fields = hear()
    if code == STATE_CHANGED and fields[0] == POWERED_ON:
        ask(struct.pack("<BBBBBB", SCAN, 0, 0, 0, 0, 0))
    elif code == DISCOVERED:
        # A peer of 16 octets, an address of 7, connectable, RSSI, the data after its length, and an optional name.
        size = struct.unpack_from("<I", fields, 25)[0]
        rest = fields[29 + size:]
        name = rest[5:5 + struct.unpack_from("<I", rest, 1)[0]].decode() if rest[0] else ""
        if name == sys.argv[2]:
            ask(bytes([CONNECT]) + fields[:16] + struct.pack("<QBBBB", 0, 0, 0, 0, 0))
    elif code == CONNECTED:
        ask(bytes([PEER]) + fields[:16] + bytes([DISCOVER_SERVICES, 0]))
    elif code == PEER_EVENT and fields[16:18] == bytes([SERVICES_DISCOVERED, 0]):
        rest = fields[18:]
        while rest[0]:
            size = rest[1]
            print(rest[2:2 + size][::-1].hex().upper())
            rest = rest[2 + size + 5:]
        break
