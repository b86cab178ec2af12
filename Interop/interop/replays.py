"""Compares devices with their replays, as Bumble's `gatt_dump` shows them.

    INTEROP_HOME/venv/bin/python Interop/interop/replays.py PATH-OF-ble [CAPTURE…]

A device is served by `ble serve`, while its packets are captured. The device that `ble clone` makes of this capture has
to have the same attributes with the same handles and values. The devices are one that is described here, and those in
the CAPTURES, which can be folders; of these, the dump also has to have what the capture contains.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from ports import free_ports

SECONDS = 120
"""The time for each dump, on a machine that has other work."""
OWN_SERVICES = {"1800", "1801"}
"""The services that each host has for itself."""
BASE = "0000{}-0000-1000-8000-00805F9B34FB"
PROPERTIES = {
    "broadcast": "BROADCAST", "read": "READ", "writeWithoutResponse": "WRITE_WITHOUT_RESPONSE", "write": "WRITE",
    "notify": "NOTIFY", "indicate": "INDICATE", "authenticatedSignedWrites": "AUTHENTICATED_SIGNED_WRITES",
    "extendedProperties": "EXTENDED_PROPERTIES",
}

STORY = bytes(index % 251 for index in range(300)).hex()
DEVICE: dict[str, Any] = {"name": "Replayed", "services": [
    {"uuid": "180F", "characteristics": [{"uuid": "2A19", "properties": ["read", "notify"], "value": "51"}]},
    {"uuid": "FFA0", "includes": ["180F"], "characteristics": [
        {"uuid": "FFA1", "properties": ["read"], "value": STORY, "descriptors": [{"uuid": "2901", "text": "A story"}]},
        {"uuid": "FFA1", "properties": ["read", "write"], "value": "02", "descriptors": [
            {"uuid": "2904", "value": "04000127010000"}, {"uuid": "2908", "value": "0101"},
            {"uuid": "6C616D70-0000-4C69-6768-740000000002", "value": "03"},
        ]},
        {"uuid": "6C616D70-0000-4C69-6768-740000000001", "properties": ["writeWithoutResponse", "indicate"]},
    ]},
]}


class Wrong(Exception):
    """A replay is not as its device."""


def run(ble: str, *words: str) -> str:
    result = subprocess.run([ble, *words], capture_output=True, text=True, timeout=SECONDS)
    if result.returncode:
        raise Wrong(f"ble {' '.join(words)} ended with status {result.returncode}: {result.stderr[-600:]}")
    return result.stdout


@contextlib.contextmanager
def process(command: list[str], **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Runs a command, and waits until it has written a line."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment}
    ) as child:
        try:
            assert child.stdout
            line = child.stdout.readline()
            if child.poll() is not None:
                raise Wrong(f"{' '.join(command)} ended with status {child.returncode}: {line}")
            # The rest of the output is not needed, but the command has to be able to write it.
            threading.Thread(target=child.stdout.read, daemon=True).start()
            yield child
        finally:
            child.terminate()
            child.wait(SECONDS)


def dump(ble: str, device: pathlib.Path, capture: pathlib.Path) -> list[str]:
    """Serves a device, and returns what `gatt_dump` prints of its attributes; `capture` receives the packets."""
    name = json.loads(device.read_text(encoding="utf-8"))["name"]
    ports = free_ports(2)
    program = os.path.join(os.path.dirname(sys.executable), "bumble-gatt-dump")
    with (
        tempfile.TemporaryDirectory() as state,
        process([ble, "radio", *(word for port in ports for word in ("--port", str(port)))]),
        process(
            [ble, "serve", str(device), "--json"],
            BLUETOOTH_HOST=f"tcp:127.0.0.1:{ports[0]}", BLUETOOTH_CAPTURE=str(capture), XDG_STATE_HOME=state,
        ),
    ):
        command = [program, f"tcp-client:127.0.0.1:{ports[1]}", name]
        result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    text = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    if result.returncode or "=== All Attributes ===" not in text:
        raise Wrong(f"{' '.join(command)} ended with status {result.returncode}: {text[-300:]} {result.stderr[-300:]}")
    return text[text.index("=== Services ===") :].splitlines()


def full(uuid: str) -> str:
    """Returns a UUID with all digits."""
    return BASE.format(uuid.upper()) if len(uuid) == 4 else uuid.upper()


def table_of(lines: list[str]) -> list[tuple[str, ...]]:
    """Returns the services, characteristics and descriptors in a dump, without those that each host has for itself."""
    rows: list[tuple[str, ...]] = []
    is_own = False
    for line in lines[: lines.index("=== All Attributes ===")]:
        found = re.match(r" *(Service|Characteristic|Descriptor)\(.*?(?:uuid|type)=(?:UUID-16:)?([0-9A-F-]+)(.*)", line)
        if not found:
            continue
        kind, uuid, rest = found.groups()
        is_own = uuid in OWN_SERVICES if kind == "Service" else is_own
        if not is_own:
            names = re.search(r", ([A-Z_|]+)\)$", rest)
            rows.append((kind, full(uuid), *sorted(names[1].split("|") if names and kind == "Characteristic" else [])))
    return rows


def expected(device: dict[str, Any]) -> list[tuple[str, ...]]:
    """Returns the same table of a device's description."""
    rows: list[tuple[str, ...]] = []
    for service in device["services"]:
        rows.append(("Service", full(service["uuid"])))
        for characteristic in service["characteristics"]:
            properties = characteristic["properties"]
            names = sorted(PROPERTIES[name] for name in properties)
            rows.append(("Characteristic", full(characteristic["uuid"]), *names))
            if {"notify", "indicate"} & set(properties):
                rows.append(("Descriptor", full("2902")))
            for descriptor in characteristic.get("descriptors", []):
                rows.append(("Descriptor", full(descriptor["uuid"])))
    return rows


def values_of(lines: list[str]) -> set[str]:
    """Returns all values in a dump."""
    return {line for line in lines if re.fullmatch("(?:[0-9a-f]{2})+", line)}


def difference(one: Sequence[object], other: Sequence[object]) -> str:
    """Returns the first lines in which two lists differ."""
    lines = difflib.ndiff(list(map(str, one)), list(map(str, other)))
    return " ".join(line for line in lines if line[0] in "-+")[:600]


def check(ble: str, device: pathlib.Path, folder: pathlib.Path, is_foreign: bool) -> dict[str, int]:
    """Compares a device with its replay."""
    first, second = folder / "first.pcapng", folder / "second.pcapng"
    replay = folder / "replay.json"
    begun = time.monotonic()
    shown = dump(ble, device, first)
    description = json.loads(device.read_text(encoding="utf-8"))
    table = table_of(shown)
    if table != expected(description):
        raise Wrong(f"the dump is not the device: {difference(expected(description), table)}")
    readable = {
        one["value"]
        for service in description["services"]
        for one in service["characteristics"]
        if is_foreign and one.get("value") and "read" in one["properties"] and not one.get("protected")
    }
    if missing := readable - values_of(shown):
        raise Wrong(f"the dump lacks values of the capture: {sorted(missing)[:3]}")
    replay.write_text(run(ble, "clone", str(first)), encoding="utf-8")
    repeated = dump(ble, replay, second)
    if shown != repeated:
        raise Wrong(f"the replay differs: {difference(shown, repeated)}")
    return {"rows": len(table), "lines": len(shown), "seconds": round(time.monotonic() - begun)}


def main(ble: str, captures: list[pathlib.Path]) -> int:
    failed = 0
    files = [file for path in captures for file in (sorted(path.rglob("*.*")) if path.is_dir() else [path])]
    for capture in [None, *files]:
        with tempfile.TemporaryDirectory(prefix="replays-") as name:
            folder = pathlib.Path(name)
            device = folder / "device.json"
            try:
                device.write_text(run(ble, "clone", str(capture)) if capture else json.dumps(DEVICE), encoding="utf-8")
                result = check(ble, device, folder, is_foreign=capture is not None)
                print(f"{capture.name if capture else 'own'}: {json.dumps(result)}", flush=True)
            except (Wrong, subprocess.TimeoutExpired) as reason:
                failed += 1
                print(f"{capture.name if capture else 'own'}: FAILED, {reason}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), list(map(pathlib.Path, sys.argv[2:]))))
