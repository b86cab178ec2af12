"""Scenes with `ble` in a box, on an adapter that it takes from the box's kernel and BlueZ."""

from __future__ import annotations

import json
import pathlib
import shlex

from interop.profile import Mismatch, expect

from . import central, peripheral, tool
from .box import Box
from .bus import ADAPTER, BlueZ
from .cargo import FOLDER
from .inside import ENVIRONMENT, Inside
from .offer import AT_FIRST
from .tool import Fact
from .unplugging import OURS, pull, put

GUEST = "grep -q guest /etc/passwd || echo 'guest:x:1000:1000::/tmp:/bin/sh' >> /etc/passwd"
"""A command that creates a user without rights."""
RIGHTS = "grep -q 'CapEff:.*0000000000001000$' /proc/self/status || exit 1"
"""A command that fails unless CAP_NET_ADMIN (number 12) is the only capability."""


async def _ble(box: Box, host: str, *arguments: str, user: str | None = None, seconds: float = 40) -> tuple[int, str]:
    """Runs `ble` to its end, and returns its status and output, including stderr."""
    host = f"BLUETOOTH_HOST={host}" if host else ""
    command = f"{ENVIRONMENT} {host}; {shlex.join(['ble', *arguments])}"
    if user:
        command = f"su {user} -c {shlex.quote(command)}"
    return await _status(box, command, seconds)


async def _status(box: Box, command: str, seconds: float = 40) -> tuple[int, str]:
    """Runs a command to its end, and returns its status and output, including stderr."""
    printed = await box.shell(f"({command}) 2>&1\necho ::$?", seconds)
    said, _, status = printed.rpartition("::")
    return int(status), said


def _facts(said: str) -> list[Fact]:
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


async def converse(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Runs all of `ours-bluez` on an adapter of the same kernel, which returns to BlueZ afterwards."""
    await peripheral.converse(box, bluez, adapter, place, name, log)
    await bluez.until("BlueZ has the adapter again", lambda: bluez.property(OURS, ADAPTER, "Powered"))


async def serve(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Runs all of `bluez-ours` on an adapter of the same kernel, which returns to BlueZ afterwards."""
    await central.converse(box, bluez, adapter, place, name, log)
    await bluez.until("BlueZ has the adapter again", lambda: bluez.property(OURS, ADAPTER, "Powered"))


async def listed(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Checks that `ble adapters` shows both adapters, BlueZ as their user, and the controller's capabilities."""
    both = (adapter, OURS)
    await bluez.until("both adapters are on", lambda: all(bluez.property(each, ADAPTER, "Powered") for each in both))
    status, said = await _ble(box, "", "adapters", "--json")
    expect(f"status of {said}", status, 0)
    adapters = {fact["name"]: fact for fact in _facts(said) if fact["event"] == "adapter"}
    expect("adapters", sorted(adapters), ["hci0", "hci1"])
    for path, fact in ((adapter, adapters["hci0"]), (OURS, adapters["hci1"])):
        expect("address", fact["address"], bluez.property(path, ADAPTER, "Address"))
        shown = {key: fact.get(key) for key in ("powered", "low_energy", "bus", "privileged")}
        expect("what is shown", shown, {"powered": True, "low_energy": True, "bus": "virtual", "privileged": True})
        holders = [holder["name"] for holder in fact["holders"]]
        expect("holders", holders, ["bluetoothd"])
    status, said = await _ble(box, "hci:1", "adapters", "--probe", "--json")
    expect(f"status of {said}", status, 0)
    (probe,) = [fact for fact in _facts(said) if fact["event"] == "controller"]
    if probe["acl_packets"] < 1 or "LE Encryption" not in probe["features"]:
        raise Mismatch(f"the controller lacks buffers or LE Encryption: {probe}")
    await bluez.until("BlueZ has the adapter again", lambda: bluez.property(OURS, ADAPTER, "Powered"))


async def unprivileged(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Checks that `ble` without CAP_NET_ADMIN says how to get it and lists the adapters; BlueZ keeps its adapter."""
    await box.shell(GUEST)
    status, said = await _ble(box, "hci:1", "scan", "--duration", "1", user="guest")
    expect(f"status of {said}", status, 69)
    for words in (f"sudo setcap cap_net_admin+ep /{FOLDER}/ble", "AmbientCapabilities=CAP_NET_ADMIN"):
        if words not in said:
            raise Mismatch(f"the output lacks “{words}”: {said}")
    status, said = await _ble(box, "", "adapters", "--json", user="guest")
    facts = _facts(said)
    expect("adapters", [(fact["name"], fact["privileged"]) for fact in facts], [("hci0", False), ("hci1", False)])
    expect("Powered", bluez.property(OURS, ADAPTER, "Powered"), True)


async def capable(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Checks that CAP_NET_ADMIN suffices: from the suggested setcap, or as a service gets it."""
    await box.shell(GUEST)
    own = "/tmp/guest-ble"
    # A program with file capabilities ignores LD_LIBRARY_PATH.
    libraries = f"for each in /{FOLDER}/*.so*; do ln -sf $each /usr/lib/x86_64-linux-gnu/; done"
    await box.shell(f"{libraries}; cp /{FOLDER}/ble {own}", 30)
    scan = f"{ENVIRONMENT} XDG_STATE_HOME=/tmp/guest BLUETOOTH_HOST=hci:1; {own} scan --name {name} --duration 3 --json"
    async with peripheral.advertised(bluez, adapter, name, AT_FIRST):
        without = f"capsh --drop=cap_net_admin --shell=/bin/sh -- -c {shlex.quote(scan)}"
        for command in (without, f"su guest -c {shlex.quote(scan)}"):
            status, said = await _status(box, command)
            expect(f"status of {said}", status, 69)
            cure = f"setcap cap_net_admin+ep {own}"
            if f"sudo {cure}" not in said:
                raise Mismatch(f"the output lacks “sudo {cure}”: {said}")
        ambient = "capsh --keep=1 --user=guest --inh=cap_net_admin --addamb=cap_net_admin --shell=/bin/sh -- -c"
        await _expect_found(box, bluez, f"{ambient} {shlex.quote(f'{RIGHTS}; {scan}')}", name)
        await box.shell(cure)
        await _expect_found(box, bluez, f"su guest -c {shlex.quote(scan)}", name)
    await box.shell(f"rm {own}")


async def _expect_found(box: Box, bluez: BlueZ, command: str, name: str) -> None:
    status, said = await _status(box, command)
    expect(f"status of {said}", status, 0)
    if not any(fact.get("name") == name for fact in _facts(said)):
        raise Mismatch(f"{name} was not found: {said}")
    await bluez.until("BlueZ has the adapter again", lambda: bluez.property(OURS, ADAPTER, "Powered"))


async def busy(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Checks that a second program is told the adapter's user, and gets the adapter after the first has ended."""
    async with tool.ble(place, log, "scan") as first:
        await box.shell("until grep -q . /proc/net/hci; do usleep 100000; done")
        await bluez.until("BlueZ has lost the adapter", lambda: OURS not in bluez.objects)
        status, said = await _ble(box, "hci:1", "scan", "--duration", "1")
        expect(f"status of {said}", status, 69)
        if "hci1 is in use by" not in said or "ble (process" not in said:
            raise Mismatch(f"the output does not name the adapter's user: {said}")
        status, said = await _ble(box, "", "adapters", "--json")
        states = {fact["name"]: fact["state"] for fact in _facts(said)}
        expect("states", states, {"hci0": "powered", "hci1": "taken"})
        await first.interrupt()
    await bluez.until("BlueZ has the adapter again", lambda: bluez.property(OURS, ADAPTER, "Powered"))
    expect("status", (await _ble(box, "hci:1", "scan", "--duration", "1"))[0], 0)


async def unplugged(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Checks that `ble` reports the loss and return of its adapter, and how to unblock one that is blocked."""
    async with (
        peripheral.advertised(bluez, adapter, name, AT_FIRST),
        tool.ble(place, log, "scan", "--name", name) as scan,
    ):
        await scan.heard("discovered", name=name)
        await pull(box)
        await scan.heard("radio_lost")
        await put(box)
        await scan.heard("radio_returned")
        await scan.interrupt()
    await bluez.until("BlueZ has the adapter again", lambda: bluez.property(OURS, ADAPTER, "Powered"), 30)
    soft = 'for each in /sys/class/rfkill/*; do [ "$(cat $each/name)" = hci1 ] && echo %d > $each/soft; done; true'
    await box.shell(soft % 1)
    status, said = await _ble(box, "hci:1", "scan", "--duration", "1")
    expect(f"status of {said}", status, 69)
    if "rfkill unblock bluetooth" not in said:
        raise Mismatch(f"the output does not say how to unblock the adapter: {said}")
    await box.shell(soft % 0)
    expect("status", (await _ble(box, "hci:1", "scan", "--duration", "1"))[0], 0)


async def chosen(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Checks that without BLUETOOTH_HOST no adapter is taken from BlueZ, with a message; one that is off is used."""
    status, said = await _ble(box, "", "scan", "--duration", "1")
    expect(f"status of {said}", status, 69)
    if "BLUETOOTH_HOST=hci:0" not in said or "bluetoothd" not in said:
        raise Mismatch(f"the output does not say why no adapter is used: {said}")
    await box.shell("btmgmt --index 1 power off")
    await bluez.until("the adapter is off", lambda: not bluez.property(OURS, ADAPTER, "Powered"))
    status, said = await _ble(box, "", "scan", "--duration", "1")
    expect(f"status of {said}", status, 0)
