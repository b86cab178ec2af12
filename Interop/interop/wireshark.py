"""Compares the output of Wireshark's tshark with that of `ble monitor` for the same packets.

wireshark.py PATH-OF-ble [CAPTURE...]

Without captures it makes some: hosts of ours scan, connect, discover, read, write, pair, and use channels and Enhanced
ATT bearers over `ble radio`. For each packet, both must report the same type, direction, opcode, event code, connection
handles, and codes of ATT, SMP and L2CAP signals, and neither may report it as malformed. Needs tshark.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ports import free_ports

Packet = dict[str, Any]

CODES = {
    "hci_h4.type": lambda packet: [packet["type"]],
    "hci_h4.direction": lambda packet: [1 if packet["to"] == "host" else 0],
    "bthci_cmd.opcode": lambda packet: numbers(packet, "opcode") if packet["type"] == 1 else [],
    "bthci_evt.opcode": lambda packet: numbers(packet, "opcode") if packet["type"] == 4 else [],
    "bthci_evt.code": lambda packet: numbers(packet, "event_code"),
    "bthci_evt.le_meta_subevent": lambda packet: numbers(packet, "subevent_code"),
    "bthci_cmd.connection_handle": lambda packet: handles(packet, 1),
    "bthci_evt.connection_handle": lambda packet: handles(packet, 4),
    "bthci_acl.chandle": lambda packet: handles(packet, 2),
    "btl2cap.cmd_code": lambda packet: numbers(packet, "signal_code"),
    "btsmp.opcode": lambda packet: numbers(packet, "smp_code"),
    "btatt.opcode": lambda packet: numbers(packet, "att_opcode"),
}
"""Each number: its field in tshark, and its value in `ble monitor`."""

NAME, SERVICE = "Wireshark", "5C0B0000-1111-2222-3333-444455556666"
SECRET, STORY, NOTE, TICKS = "FF01", "FF02", "FF03", "FF04"
"""The peripheral's values: a protected one, a long one, a writable one, and one that changes."""
PERIPHERAL = {"name": NAME, "services": [{"uuid": SERVICE, "characteristics": [
    {"uuid": SECRET, "properties": ["read"], "permissions": ["readEncryptionRequired"], "text": "secret"},
    {"uuid": STORY, "properties": ["read"], "value": "0x" + bytes(index % 251 for index in range(400)).hex()},
    {"uuid": NOTE, "properties": ["read", "write", "writeWithoutResponse"], "value": ""},
    {"uuid": TICKS, "properties": ["notify", "indicate"], "notify": {"every": 100, "values": ["6f6e65", "74776f"]}},
]}]}
PATIENCE = 30


class Mismatch(Exception):
    """The two differ, or an expected event did not occur."""


def numbers(packet: Packet, key: str) -> list[int]:
    return [packet[key]] if key in packet else []


def handles(packet: Packet, kind: int) -> list[int]:
    return packet.get("handles", numbers(packet, "handle")) if packet["type"] == kind else []


def theirs(capture: pathlib.Path) -> list[dict[str, list[str]]]:
    """Returns tshark's fields of each packet, with their values."""
    fields = [option for field in (*CODES, "_ws.malformed", "btl2cap.cid") for option in ("-e", field)]
    command = ["tshark", "-r", str(capture), "-T", "json", "--no-duplicate-keys", *fields]
    answer = subprocess.run(command, capture_output=True, check=False)
    if answer.returncode:
        raise Mismatch(f"tshark ended with status {answer.returncode}: {answer.stderr.decode()}")
    return [packet["_source"].get("layers", {}) for packet in json.loads(answer.stdout)]


def ours(ble: str, capture: pathlib.Path) -> list[Packet]:
    """Returns the facts of `ble monitor` about each packet."""
    answer = subprocess.run([ble, "monitor", str(capture), "--json"], capture_output=True, check=False)
    if answer.returncode:
        raise Mismatch(f"ble monitor ended with status {answer.returncode}: {answer.stderr.decode()}")
    facts = map(json.loads, answer.stdout.splitlines())
    return [fact for fact in facts if fact["event"] == "packet"]


def differences(their: dict[str, list[str]], our: Packet, unknown: Counter[str]) -> Iterator[str]:
    """Yields differences; `unknown` counts packets on enhanced bearers that this tshark does not support."""
    if our["malformed"]:
        yield f"ble monitor reports it as malformed: {our['layers'][-1]}"
    if "_ws.malformed" in their:
        yield "tshark reports it as malformed"
    for field, number in CODES.items():
        found, wanted = [int(value, 0) for value in their.get(field, [])], number(our)
        # Older versions of tshark show the packets of Enhanced ATT bearers as data of a channel.
        names = [layer["name"] for layer in our["layers"]]
        if field == "btatt.opcode" and not found and ("L2CAP SDU" in names or "SDU Segment" in names):
            unknown["packets on enhanced bearers, not decoded by this tshark"] += bool(wanted)
        elif field == "btatt.opcode" and not found and our.get("completed") and bearer(our) != 4:
            unknown["packets on enhanced bearers, not decoded by this tshark"] += bool(wanted)
        elif found != wanted:
            yield f"{field} is {found} for tshark and {wanted} for ble monitor"


def bearer(packet: Packet) -> int | None:
    """Returns the channel of an L2CAP packet that is completed by the last of several fragments."""
    fields = [field for layer in packet["completed"] for field in layer["fields"] if field["name"] == "Channel ID"]
    if not fields:
        return None
    return 4 if fields[0]["text"] == "Attribute Protocol" else 0


def compare(ble: str, capture: pathlib.Path, seen: Counter[str]) -> int:
    """Compares all packets of a capture, and returns the number that differ."""
    their, our = theirs(capture), ours(ble, capture)
    if len(their) != len(our):
        raise Mismatch(f"{capture.name}: tshark sees {len(their)} packets, ble monitor {len(our)}")
    differing = 0
    for index, pair in enumerate(zip(their, our)):
        reasons = list(differences(*pair, seen))
        differing += bool(reasons)
        for reason in reasons:
            print(f"{capture.name}, packet {index + 1} ({pair[1]['octets'][:60]}): {reason}", flush=True)
        for key in ("opcode", "event_code", "att_opcode", "smp_code", "signal_code"):
            seen[key] += key in pair[1]
    seen["packets"] += len(our)
    return differing


class Stage:
    """Two hosts on `ble radio`, whose packets are captured."""

    def __init__(self, ble: str, folder: pathlib.Path) -> None:
        self.ble, self.folder, self.running = ble, folder, contextlib.ExitStack()
        self.ports = free_ports(2)
        radio = self.start("radio", *(option for port in self.ports for option in ("--port", str(port))))
        radio.stdout.readline()

    def start(self, *words: str, port: int | None = None, capture: str | None = None) -> subprocess.Popen[bytes]:
        """Starts a command, which is ended with the stage."""
        variables = {"XDG_STATE_HOME": str(self.folder / f"state-{port}")}
        if port is not None:
            variables["BLUETOOTH_HOST"] = f"tcp:127.0.0.1:{port}"
        if capture:
            variables["BLUETOOTH_CAPTURE"] = str(self.folder / capture)
        process = subprocess.Popen(
            [self.ble, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | variables
        )
        self.running.callback(end, process)
        return process

    def serve(self, capture: str, *words: str) -> subprocess.Popen[bytes]:
        """Starts the peripheral, and waits until it advertises."""
        process = self.start(*words, "--json", port=self.ports[0], capture=capture)
        while line := process.stdout.readline():
            if json.loads(line)["event"] == "advertising":
                return process
        raise Mismatch(f"{words} ended with status {process.wait()}")

    def run(self, capture: str, *words: str, entry: bytes = b"") -> None:
        """Runs a command of the central to its end."""
        process = self.start(*words, port=self.ports[1], capture=capture)
        try:
            output, _ = process.communicate(entry, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise Mismatch(f"ble {' '.join(words)} is still running after {PATIENCE} s") from None
        if process.returncode:
            raise Mismatch(f"ble {' '.join(words)} ended with status {process.returncode}: {output.decode()}")


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends `process`, and waits for it."""
    process.terminate()
    try:
        process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def capture_all(ble: str, folder: pathlib.Path) -> list[pathlib.Path]:
    """Makes captures of both ends, of every kind of exchange between two hosts."""
    stage = Stage(ble, folder)
    with stage.running:
        description = folder / "peripheral.json"
        description.write_text(json.dumps(PERIPHERAL))
        # The secret requires pairing; the reads half a second later use enhanced bearers.
        trusting = stage.serve("trusting.pcapng", "serve", str(description))
        stage.run("bearers.pcapng", "read", NAME, SECRET, STORY, NOTE, "--every", "0.5", "--count", "6")
        end(trusting)
        # The next commands do not have that bond, and the peripheral would not pair with them while it has it.
        peripheral = stage.serve("serve.pcapng", "serve", str(description))
        stage.run("scan.btsnoop", "scan", "--duration", "1")
        stage.run("inspect.pcapng", "inspect", NAME)
        stage.run("write.pcapng", "write", NAME, NOTE, bytes(300).hex())
        stage.run("command.pcapng", "write", NAME, NOTE, "0102", "--without-response")
        stage.run("notify.pcapng", "notify", NAME, TICKS, "--count", "3")
        end(peripheral)
        stage.serve("channel-serve.pcapng", "channel", "serve", "--echo", "--name", NAME)
        octets = bytes(index % 251 for index in range(20_000))
        count = ("--count", str(len(octets)))
        stage.run("channel-open.pcapng", "channel", "open", NAME, *count, entry=octets)
    copy = folder / "bearers.btsnoop"
    convert = [ble, "monitor", folder / "bearers.pcapng", "--brief", "--write", copy]
    subprocess.run(convert, check=True, capture_output=True)
    return sorted(folder.glob("*.pcapng")) + sorted(folder.glob("*.btsnoop"))


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 64
    if not shutil.which("tshark"):
        print("tshark is not installed: DEBIAN_FRONTEND=noninteractive apt-get install tshark", file=sys.stderr)
        return 69
    ble, begun, seen, differing = sys.argv[1], time.monotonic(), Counter[str](), 0
    with tempfile.TemporaryDirectory(prefix="wireshark-") as folder:
        try:
            captures = [pathlib.Path(name) for name in sys.argv[2:]] or capture_all(ble, pathlib.Path(folder))
            for capture in captures:
                differing += compare(ble, capture, seen)
            if len(sys.argv) == 2 and not all(seen[key] for key in ("att_opcode", "smp_code", "signal_code")):
                raise Mismatch(f"the captures lack ATT, SMP or L2CAP signals: {dict(seen)}")
        except Mismatch as reason:
            print(f"wireshark: {reason}", flush=True)
            return 1
    print(", ".join(f"{number} {what}" for what, number in seen.items()))
    count, seconds = seen["packets"], time.monotonic() - begun
    print(f"wireshark: {count - differing} of {count} packets of {len(captures)} captures agree, {seconds:.0f} s")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
