"""Compares the pages of captures with tshark.

    python3 .ci/agree.py PATH-OF-ble [CAPTURE...]

Of each capture, the packets, their times, the ATT opcodes with their handles, and the values on the page have to be
those that tshark finds. A CAPTURE can be a folder with captures. Without one, it makes captures: hosts in a world
discover, read, write, pair and subscribe, and the same packets are compared as pcapng, btsnoop and pklg.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import Counter
from typing import Any

SECONDS = 260
"""The time for everything, on two processors that have other work."""
TIME, TRACK, SOURCE, TITLE, DETAIL, LEVEL, GROUP, PACKET, OCTETS, LAYERS = range(10)
ATTRIBUTE, HCI = 1, 5
OPCODES = {
    "Error Response": 0x01, "Exchange MTU Request": 0x02, "Exchange MTU Response": 0x03,
    "Find Information Request": 0x04, "Find Information Response": 0x05, "Find By Type Value Request": 0x06,
    "Find By Type Value Response": 0x07, "Read By Type Request": 0x08, "Read By Type Response": 0x09,
    "Read Request": 0x0A, "Read Response": 0x0B, "Read Blob Request": 0x0C, "Read Blob Response": 0x0D,
    "Read Multiple Request": 0x0E, "Read Multiple Response": 0x0F, "Read By Group Type Request": 0x10,
    "Read By Group Type Response": 0x11, "Write Request": 0x12, "Write Response": 0x13,
    "Prepare Write Request": 0x16, "Prepare Write Response": 0x17, "Execute Write Request": 0x18,
    "Execute Write Response": 0x19, "Handle Value Notification": 0x1B, "Handle Value Indication": 0x1D,
    "Handle Value Confirmation": 0x1E, "Write Command": 0x52, "Signed Write Command": 0xD2,
}
WITH_HANDLE = {0x0A, 0x0C, 0x12, 0x16, 0x1B, 0x1D, 0x52}
VALUES = {0x0B: 1, 0x12: 3, 0x1B: 3, 0x1D: 3, 0x52: 3}
"""The opcodes with a value, and where it begins."""
MOST_VALUE = 100
"""The octets of a value that are compared; the page has the first ones of a field only."""


class Wrong(Exception):
    """The page is not as it has to be."""


def expect(condition: bool, what: str, *found: Any) -> None:
    if not condition:
        raise Wrong(f"{what}: {' '.join(str(part)[:600] for part in found)}")


def run(command: list[str], statuses: tuple[int, ...] = (0,), **environment: str) -> str:
    result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env={**os.environ, **environment})
    if result.returncode not in statuses:
        raise Wrong(f"{' '.join(command)} ended with status {result.returncode}: {result.stderr[-2000:]}")
    return result.stdout


def data_of(page: pathlib.Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8")
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    if not match:
        raise Wrong(f"{page} has no data")
    return json.loads(match[1])


def tshark(capture: pathlib.Path) -> list[dict[str, Any]]:
    """Returns the layers of each packet; a layer's octets are in the one with “_raw”."""
    output = run(["tshark", "-r", str(capture), "-T", "json", "-x", "--no-duplicate-keys"])
    return [packet["_source"]["layers"] for packet in json.loads(output)]


def compare(ble: str, capture: pathlib.Path, folder: pathlib.Path) -> dict[str, int]:
    """Compares the packets of a capture's page with those that tshark finds: times, opcodes, handles and values."""
    page = folder / (capture.stem + ".html")
    page.write_text(run([ble, "explain", str(capture)]), encoding="utf-8")
    data, name = data_of(page), capture.name
    packets, theirs = [event for event in data["events"] if event[TRACK] == HCI], tshark(capture)
    expect(len(theirs) == len(packets), f"{name}: tshark has {len(theirs)} packets, the page {len(packets)}")

    epochs = [float(layers["frame"]["frame.time_relative"]) for layers in theirs]
    times = [(event[TIME] - packets[0][TIME]) / 1e9 for event in packets]
    wrong = [pair for pair in zip(sorted(epochs), times) if abs(pair[0] - min(epochs) - pair[1]) > 1e-5]
    expect(not wrong, f"{name}: times differ", wrong[:3])

    found: Counter[tuple[int, str | None, str | None]] = Counter()
    for layers in theirs:
        raw = layers.get("btatt_raw", [])
        for part in [raw] if raw and isinstance(raw[0], str) else raw:
            found[described(bytes.fromhex(part[0]))] += 1
    shown: Counter[tuple[int, str | None, str | None]] = Counter()
    for event in data["events"]:
        if event[TRACK] == ATTRIBUTE and event[PACKET] >= 0:
            shown[row_of(data, event)] += 1
    expect(found == shown, f"{name}: ATT differs", "tshark only:", found - shown, "page only:", shown - found)
    values = sum(count for key, count in shown.items() if key[2])
    return {"packets": len(packets), "att": sum(shown.values()), "values": values}


def described(pdu: bytes) -> tuple[int, str | None, str | None]:
    """Returns the opcode, handle and value of an ATT packet."""
    opcode = pdu[0]
    handle = f"0x{pdu[2]:02X}{pdu[1]:02X}" if opcode in WITH_HANDLE and len(pdu) >= 3 else None
    start = VALUES.get(opcode)
    return opcode, handle, pdu[start : start + MOST_VALUE].hex() if start else None


def row_of(data: dict[str, Any], event: list[Any]) -> tuple[int, str | None, str | None]:
    """Returns the opcode, handle and value that the page shows for an event."""
    fields: dict[str, str] = {}
    for number, *texts in data["events"][event[PACKET]][LAYERS:]:
        for (field, _, _), text in zip(data["shapes"][number][2], texts):
            fields[data["strings"][field]] = data["strings"][text]
    opcode = OPCODES.get(data["strings"][event[TITLE]], -1)
    handle = fields.get("Attribute Handle") if opcode in WITH_HANDLE else None
    value = fields.get("Attribute Value", "").replace(" ", "").lower() if opcode in VALUES else None
    return opcode, handle, value if value is None else value[: 2 * MOST_VALUE]


NAME = "Sample"
STORY = bytes(index % 251 for index in range(400)).hex()
WORLD = {"name": NAME, "services": [{"uuid": "FFA0", "characteristics": [
    {"uuid": "FFA1", "properties": ["read"], "text": "secret", "protected": True},
    {"uuid": "FFA2", "properties": ["read", "write", "writeWithoutResponse"], "value": STORY},
    {"uuid": "FFA3", "properties": ["notify"], "notify": {"every": 100, "values": ["6f6e65", "74776f"]}},
    {"uuid": "FFA4", "properties": ["indicate"], "notify": {"every": 100, "values": ["01", "02"]}},
]}]}
EXCHANGES = {
    "inspect.pcapng": ["inspect", NAME], "write.btsnoop": ["write", NAME, "FFA2", bytes(300).hex()],
    "command.pcapng": ["write", NAME, "FFA2", "0102", "--without-response"],
    "notify.btsnoop": ["notify", NAME, "FFA3", "--count", "3"],
    "indicate.pcapng": ["notify", NAME, "FFA4", "--count", "3"],
}
"""The captures, and the command of `ble` whose packets each contains."""


def make(ble: str, folder: pathlib.Path) -> list[pathlib.Path]:
    """Makes captures in all formats, and returns them."""
    world = folder / "world.json"
    world.write_text(json.dumps(WORLD), encoding="utf-8")
    for name, words in EXCHANGES.items():
        run([ble, *words], BLUETOOTH_HOST=f"world:{world}", BLUETOOTH_CAPTURE=str(folder / name))
    # A copy has the same packets without the keys of the pairing.
    run([ble, "monitor", str(folder / "inspect.pcapng"), "--brief", "--write", str(folder / "copy.btsnoop")])
    (folder / "copy.pklg").write_bytes(packet_logger((folder / "copy.btsnoop").read_bytes()))
    return sorted(path for path in folder.iterdir() if path != world)


def packet_logger(snoop: bytes) -> bytes:
    """Returns the packets of a btsnoop capture in the format of Apple's PacketLogger."""
    types = {(1, 0): 0, (4, 1): 1, (2, 0): 2, (2, 1): 3}
    records, place = b"", 16
    while place + 24 <= len(snoop):
        length, flags = int.from_bytes(snoop[place + 4 : place + 8], "big"), snoop[place + 11]
        time = int.from_bytes(snoop[place + 16 : place + 24], "big") - 0x00DCDDB30F2F8000
        packet = snoop[place + 24 : place + 24 + length]
        seconds, rest = divmod(time, 1_000_000)
        numbers = b"".join(number.to_bytes(4, "big") for number in (length + 8, seconds, rest))
        records += numbers + bytes([types[packet[0], flags & 1]]) + packet[1:]
        place += 24 + length
    return records


def expand(paths: list[pathlib.Path]) -> list[pathlib.Path]:
    """Replaces folders by the files in them."""
    return [file for path in paths for file in (sorted(path.rglob("*.*")) if path.is_dir() else [path])]


def main(ble: str, captures: list[pathlib.Path]) -> int:
    with tempfile.TemporaryDirectory(prefix="agree-") as name:
        folder, differing = pathlib.Path(name), 0
        for path in expand(captures) or make(ble, folder):
            try:
                print(f"{path.name}: {json.dumps(compare(ble, path, folder))}")
            except Wrong as reason:
                differing += 1
                print(reason)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), list(map(pathlib.Path, sys.argv[2:]))))
