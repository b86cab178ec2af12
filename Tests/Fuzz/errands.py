"""Fuzzes commands of `ble` that connect to a hostile peer and end: a process for each batch of inputs."""

import json
import pathlib
import struct
import sys
import time

import hci
import packets
from hosts import Host
from socketry import Closed
from victim import PATIENCE, Finding, Victim

CONFORMANCE = pathlib.Path(__file__).parent.parent / "Conformance"
sys.path.append(str(CONFORMANCE))
import attribute_server  # noqa: E402, which is where the good half of the peer comes from

NAME, CHANNEL, CHUNK, IDLE, FAREWELL = b"Fuzz", 0x0050, 20, 0.02, 0.3
PSM = {"type": "primary", "uuid": "180d", "start": 64, "end": 80, "items": [
    {"kind": "characteristic", "handle": 65, "uuid": "abdd3056-28fa-441d-a470-55a75a52553a", "properties": 2,
     "value_handle": 66, "permissions": 1, "value": "8000"},
    {"kind": "characteristic", "handle": 67, "uuid": "2a37", "properties": 18, "value_handle": 68, "permissions": 1,
     "value": "0048"},
    {"kind": "descriptor", "handle": 69, "uuid": "2902", "permissions": 3, "value": "0000"},
]}


def good_database():
    databases = json.loads((CONFORMANCE / "databases.json").read_text())
    return {"services": [each for each in databases["house"]["services"] if each["end"] < 64] + [PSM]}


class Errand(Host):
    """A process for each batch. Its peer sends hostile inputs, and then the responses that it must send."""

    batch = 400

    def __init__(self, programs, words, kinds, features=hci.EXTENDED):
        super().__init__(programs, words, features)
        self.kinds = kinds
        self.server = attribute_server.Server(good_database(), 23)
        self.peak = 0

    def start(self):
        pass

    @property
    def memory(self):
        return self.peak

    def inputs(self, dice, count):
        return [self.kinds(dice) for _ in range(count)]

    def offer(self, inputs):
        """Sends inputs until the process ends, and returns their number."""
        waiting = list(reversed(inputs))
        self.start_program()
        self.restarts += 1
        try:
            self.converse(waiting)
        except Closed:
            pass
        finally:
            self.disconnect()
        # Without a controller, a command waits for another one, and ends with the status for a lost radio.
        try:
            self.victim.await_end()
        finally:
            self.victim.end()
        return len(inputs) - len(waiting)

    def converse(self, waiting):
        """Sends waiting inputs, last first, when the host has sent something or is idle, until the process ends.

        When there are no inputs left and the host sends nothing more, the peer disconnects.
        """
        self.accept()
        now = time.monotonic()
        due, told, heard = now + PATIENCE, 0.0, now
        while self.victim.is_running and now < due:
            has_come, now = self.connection.collect(IDLE), time.monotonic()
            said = [each for packet in self.connection.take() for each in self.controller.receive(packet)]
            frames, self.controller.frames = self.controller.frames, []
            if has_come or waiting:
                heard = now
            if self.controller.link is None:
                if self.controller.is_initiating:
                    said.append(self.controller.link_up(role=0))
                elif self.controller.is_scanning and now > told + 0.05:
                    said.append(hci.advertisement(NAME))
                    told = now
            elif now > heard + FAREWELL:
                said.append(self.controller.link_down())
            elif frames or not has_come:
                said += [waiting.pop() for _ in range(min(CHUNK, len(waiting)))]
            said += [answer for frame in frames for answer in self.answer(*frame)]
            if said:
                self.connection.send(b"".join(said))
            self.peak = max(self.peak, self.victim.memory)
        if self.victim.is_running:
            raise Finding(f"still running {PATIENCE:g} s after its start, without a peer")

    def answer(self, link, channel, payload):
        """Returns the response of a good peer to a frame."""
        if channel == hci.ATTRIBUTES and payload and payload[0] & 1 == 0 and payload[0] != 0x1E:
            return [hci.sent(link, channel, self.server.answer(payload))]
        if channel == hci.SIGNALS and len(payload) >= 4:
            return [hci.sent(link, channel, said) for said in signal_answer(payload)]
        return []


def signal_answer(payload):
    code, identifier = payload[0], payload[1:2]
    if code == 0x14:
        return [b"\x15" + identifier + struct.pack("<HHHHHH", 10, CHANNEL, 64, 64, 100, 0)]
    if code == 0x17:
        count = (len(payload) - 12) // 2
        channels = b"".join(struct.pack("<H", CHANNEL + place) for place in range(count))
        return [b"\x18" + identifier + struct.pack("<HHHHH", 8 + 2 * count, 64, 64, 100, 0) + channels]
    if code == 0x06:
        return [b"\x07" + identifier + payload[2:8]]
    if code == 0x12:
        return [b"\x13" + identifier + b"\x02\x00\x00\x00"]
    return []
