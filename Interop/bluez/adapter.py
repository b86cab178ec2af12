"""`ble` in a box, on an adapter that it takes from the box's kernel and BlueZ."""

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
"""Makes a user without rights."""
RIGHTS = "grep -q 'CapEff:.*0000000000001000$' /proc/self/status || exit 1"
"""Fails where CAP_NET_ADMIN, whose number is 12, is not all that one may."""


async def _ble(box: Box, host: str, *arguments: str, user: str | None = None, seconds: float = 40) -> tuple[int, str]:
    """Runs `ble` to its end; its status, and what it printed and said."""
    host = f"BLUETOOTH_HOST={host}" if host else ""
    command = f"{ENVIRONMENT} {host}; {shlex.join(['ble', *arguments])}"
    if user:
        command = f"su {user} -c {shlex.quote(command)}"
    return await _status(box, command, seconds)


async def _status(box: Box, command: str, seconds: float = 40) -> tuple[int, str]:
    """Runs a command to its end; its status, and what it printed and said."""
    printed = await box.shell(f"({command}) 2>&1\necho ::$?", seconds)
    said, _, status = printed.rpartition("::")
    return int(status), said


def _facts(said: str) -> list[Fact]:
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


async def converse(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """All that `ble` does with BlueZ as a peripheral, on an adapter of the same kernel, which BlueZ has again then."""
    await peripheral.converse(box, bluez, adapter, place, name, log)
    await bluez.until("BlueZ has its adapter again", lambda: bluez.property(OURS, ADAPTER, "Powered"))


async def serve(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """All that BlueZ does with `ble serve`, on an adapter of the same kernel, which BlueZ has again then."""
    await central.converse(box, bluez, adapter, place, name, log)
    await bluez.until("BlueZ has its adapter again", lambda: bluez.property(OURS, ADAPTER, "Powered"))


async def listed(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """`ble adapters` shows both adapters, BlueZ as who uses them, and what the controller can do."""
    await bluez.until("both are on", lambda: all(bluez.property(each, ADAPTER, "Powered") for each in (adapter, OURS)))
    status, said = await _ble(box, "", "adapters", "--json")
    expect(f"status of {said}", status, 0)
    adapters = {fact["name"]: fact for fact in _facts(said) if fact["event"] == "adapter"}
    expect("adapters", sorted(adapters), ["hci0", "hci1"])
    for path, fact in ((adapter, adapters["hci0"]), (OURS, adapters["hci1"])):
        expect("address", fact["address"], bluez.property(path, ADAPTER, "Address"))
        shown = {key: fact.get(key) for key in ("powered", "low_energy", "bus", "privileged")}
        expect("what is shown", shown, {"powered": True, "low_energy": True, "bus": "virtual", "privileged": True})
        holders = [holder["name"] for holder in fact["holders"]]
        expect("who uses it", holders, ["bluetoothd"])
    status, said = await _ble(box, "hci:1", "adapters", "--probe", "--json")
    expect(f"status of {said}", status, 0)
    (probe,) = [fact for fact in _facts(said) if fact["event"] == "controller"]
    if probe["acl_packets"] < 1 or "LE Encryption" not in probe["features"]:
        raise Mismatch(f"the controller can do little: {probe}")
    await bluez.until("BlueZ has it again", lambda: bluez.property(OURS, ADAPTER, "Powered"))


async def unprivileged(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Who has no CAP_NET_ADMIN is told how to get it, and what adapters there are; BlueZ keeps its adapter."""
    await box.shell(GUEST)
    status, said = await _ble(box, "hci:1", "scan", "--duration", "1", user="guest")
    expect(f"status of {said}", status, 69)
    for words in (f"sudo setcap cap_net_admin+ep /{FOLDER}/ble", "AmbientCapabilities=CAP_NET_ADMIN"):
        if words not in said:
            raise Mismatch(f"it does not say “{words}”: {said}")
    status, said = await _ble(box, "", "adapters", "--json", user="guest")
    facts = _facts(said)
    expect("adapters", [(fact["name"], fact["privileged"]) for fact in facts], [("hci0", False), ("hci1", False)])
    expect("Powered", bluez.property(OURS, ADAPTER, "Powered"), True)


async def capable(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """CAP_NET_ADMIN is what it takes, and all: a user has it from setcap, as was said, or as from a service."""
    await box.shell(GUEST)
    own = "/tmp/guest-ble"
    # A program with rights of its own does not heed LD_LIBRARY_PATH.
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
                raise Mismatch(f"it does not say “sudo {cure}”: {said}")
        ambient = "capsh --keep=1 --user=guest --inh=cap_net_admin --addamb=cap_net_admin --shell=/bin/sh -- -c"
        await _expect_found(box, bluez, f"{ambient} {shlex.quote(f'{RIGHTS}; {scan}')}", name)
        await box.shell(cure)
        await _expect_found(box, bluez, f"su guest -c {shlex.quote(scan)}", name)
    await box.shell(f"rm {own}")


async def _expect_found(box: Box, bluez: BlueZ, command: str, name: str) -> None:
    status, said = await _status(box, command)
    expect(f"status of {said}", status, 0)
    if not any(fact.get("name") == name for fact in _facts(said)):
        raise Mismatch(f"it has not found {name}: {said}")
    await bluez.until("BlueZ has it again", lambda: bluez.property(OURS, ADAPTER, "Powered"))


async def busy(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """A second program is told who has the adapter, and gets it when the first has gone."""
    async with tool.ble(place, log, "scan") as first:
        await box.shell("until grep -q . /proc/net/hci; do usleep 100000; done")
        await bluez.until("BlueZ has lost the adapter", lambda: OURS not in bluez.objects)
        status, said = await _ble(box, "hci:1", "scan", "--duration", "1")
        expect(f"status of {said}", status, 69)
        if "hci1 is in use by" not in said or "ble (process" not in said:
            raise Mismatch(f"it does not say who has the adapter: {said}")
        status, said = await _ble(box, "", "adapters", "--json")
        states = {fact["name"]: fact["state"] for fact in _facts(said)}
        expect("states", states, {"hci0": "powered", "hci1": "taken"})
        await first.interrupt()
    await bluez.until("BlueZ has it again", lambda: bluez.property(OURS, ADAPTER, "Powered"))
    expect("status", (await _ble(box, "hci:1", "scan", "--duration", "1"))[0], 0)


async def unplugged(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """An adapter that is pulled out and put back is lost, and scanned with again; blocked, it is said to be off."""
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
    await bluez.until("BlueZ has it again", lambda: bluez.property(OURS, ADAPTER, "Powered"), 30)
    soft = 'for each in /sys/class/rfkill/*; do [ "$(cat $each/name)" = hci1 ] && echo %d > $each/soft; done; true'
    await box.shell(soft % 1)
    status, said = await _ble(box, "hci:1", "scan", "--duration", "1")
    expect(f"status of {said}", status, 69)
    if "rfkill unblock bluetooth" not in said:
        raise Mismatch(f"it does not say how to unblock the adapter: {said}")
    await box.shell(soft % 0)
    expect("status", (await _ble(box, "hci:1", "scan", "--duration", "1"))[0], 0)


async def chosen(box: Box, bluez: BlueZ, adapter: str, place: Inside, name: str, log: pathlib.Path) -> None:
    """Without BLUETOOTH_HOST no adapter is taken from BlueZ, which is said; one that is off is used."""
    status, said = await _ble(box, "", "scan", "--duration", "1")
    expect(f"status of {said}", status, 69)
    if "BLUETOOTH_HOST=hci:0" not in said or "bluetoothd" not in said:
        raise Mismatch(f"it does not say why no adapter is used: {said}")
    await box.shell("btmgmt --index 1 power off")
    await bluez.until("it is off", lambda: not bluez.property(OURS, ADAPTER, "Powered"))
    status, said = await _ble(box, "", "scan", "--duration", "1")
    expect(f"status of {said}", status, 0)
