"""Compares BlueZ's D-Bus API of bluetoothd in a box with that of bled-bluez, call by call.

`Interop/bluez/run calls BLED BLED-BLUEZ [VERSION…]` makes the same calls to both, each on controllers of its own with
the same peripheral, and prints a table in Markdown for each version of BlueZ: docs/BLUEZ-CALLS.md has those of 5.82 and
5.66. The status is 1 if a difference is not explained in `EXPLAINED`.
"""

import asyncio
import contextlib
import pathlib
import re
import sys
import tempfile
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from dbus_fast import Message, MessageType, PropertyAccess, Variant
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property

from interop.controllers import ours
from interop.processes import LOGS, running, who
from programs import BRIDGE_READY, BUS

from . import offer, tool
from .__main__ import _switch_on
from .box import box, obstacle
from .bus import ADAPTER, BLUEZ, CHARACTERISTIC, DESCRIPTOR, DEVICE, OBJECTS, PROPERTIES, SERVICE, BlueZ, bluez
from .central import Central

ADVERTISING = "org.bluez.LEAdvertisingManager1"
AGENTS = "org.bluez.AgentManager1"
GATT = "org.bluez.GattManager1"
HCI = "/org/bluez/hci0"
NAME = "callee"
EXPLAINED: dict[str, str] = {
    "properties: Adapter1": "The daemon does not tell programs the make of the controller. `Connectable` is about "
    "BR/EDR. BlueZ 5.66 has no `PowerState` yet.",
    "properties: LEAdvertisingManager1": "BlueZ 5.66 has these with `--experimental`.",
    "properties: Device1, .*": "BlueZ has `WakeAllowed` for devices that can wake the computer, `AdvertisingData` and, "
    "in 5.66, `AdvertisingFlags` with `--experimental`.",
    "properties: Gatt.*": "BlueZ 5.66 has no `Handle` yet.",
    "Adapter1.SetDiscoveryFilter, Transport bredr": "There is no BR/EDR, so that such a discovery would find nothing.",
    "Adapter1.ConnectDevice.*": "BlueZ has this method with `--experimental`.",
    "GattService1 after the link": "BlueZ keeps the attributes of a device that it may connect to again. Here they are "
    "removed, since the device may have changed them.",
}
"""The reasons for differences, by pattern of the call."""


class Advertisement(ServiceInterface):
    """An advertisement with some of the properties of `LEAdvertisement1`."""

    def __init__(self, kind: str, uuids: list[str]) -> None:
        super().__init__("org.bluez.LEAdvertisement1")
        self._kind, self._uuids = kind, uuids

    @dbus_method()
    def Release(self) -> None:
        pass

    @dbus_property(access=PropertyAccess.READ)
    def Type(self) -> "s":  # type: ignore[name-defined]
        return self._kind

    @dbus_property(access=PropertyAccess.READ)
    def ServiceUUIDs(self) -> "as":  # type: ignore[valid-type]
        return self._uuids


class ExportedService(ServiceInterface):
    """A service of an application."""

    def __init__(self) -> None:
        super().__init__("org.bluez.GattService1")

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> "s":  # type: ignore[name-defined]
        return "180f"

    @dbus_property(access=PropertyAccess.READ)
    def Primary(self) -> "b":  # type: ignore[name-defined]
        return True


class ExportedCharacteristic(ServiceInterface):
    """A characteristic of an application, with flags."""

    def __init__(self, service: str, flags: list[str]) -> None:
        super().__init__("org.bluez.GattCharacteristic1")
        self._service, self._flags = service, flags

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> "s":  # type: ignore[name-defined]
        return "2a19"

    @dbus_property(access=PropertyAccess.READ)
    def Service(self) -> "o":  # type: ignore[name-defined]
        return self._service

    @dbus_property(access=PropertyAccess.READ)
    def Flags(self) -> "as":  # type: ignore[valid-type]
        return self._flags


class ExportedDescriptor(ServiceInterface):
    """A descriptor of an application, with flags."""

    def __init__(self, characteristic: str, flags: list[str]) -> None:
        super().__init__("org.bluez.GattDescriptor1")
        self._characteristic, self._flags = characteristic, flags

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> "s":  # type: ignore[name-defined]
        return "b002"

    @dbus_property(access=PropertyAccess.READ)
    def Characteristic(self) -> "o":  # type: ignore[name-defined]
        return self._characteristic

    @dbus_property(access=PropertyAccess.READ)
    def Flags(self) -> "as":  # type: ignore[valid-type]
        return self._flags


class Call(NamedTuple):
    """A call of a method, and the title of its row."""

    title: str
    path: str
    interface: str
    member: str
    signature: str = ""
    body: tuple[Any, ...] = ()


async def outcome(bus: BlueZ, call: Call) -> str:
    """Makes a call and returns its outcome without what differs between machines."""
    message = Message(BLUEZ, call.path, call.interface, call.member, signature=call.signature, body=list(call.body))
    try:
        reply = await asyncio.wait_for(bus.bus.call(message), 60)
    except TimeoutError:
        return "no answer"
    assert reply
    if reply.message_type is MessageType.ERROR:
        name = reply.error_name.removeprefix("org.bluez.Error.").removeprefix("org.freedesktop.DBus.Error.")
        return f"{name}: {str(reply.body[0]).strip() if reply.body else ''}"
    if reply.signature == "ay":
        return f"`{bytes(reply.body[0])!r}`" if len(reply.body[0]) < 20 else f"{len(reply.body[0])} octets"
    return f"`{reply.signature}`" if reply.signature else "done"


def properties(bus: BlueZ, path: str, interface: str) -> str:
    """The names of an interface's properties, without `RSSI`: BlueZ removes it some time after a discovery."""
    return ", ".join(sorted(set(bus.objects.get(path, {}).get(interface, {})) - {"RSSI"})) or "absent"


Rows = dict[str, str]
EMPTY: dict[str, Variant] = {}


async def compare(bus: BlueZ, adapter: str, port: int, log: pathlib.Path, central: Central) -> Rows:
    """Makes all calls, and returns the outcome of each by its title."""
    rows: Rows = {}

    async def make(title: str, path: str, interface: str, member: str, signature: str = "", *body: Any) -> None:
        rows[title] = await outcome(bus, Call(title, path, interface, member, signature, body))

    def show(title: str, path: str, interface: str) -> None:
        rows[f"properties: {title}"] = properties(bus, path, interface)

    for interface in (ADAPTER, ADVERTISING, GATT):
        show(interface.rpartition(".")[2], adapter, interface)
    await make("AgentManager1.RegisterAgent, capability Telepathy", "/org/bluez", AGENTS, "RegisterAgent", "os",
               "/agent", "Telepathy")
    await make("AgentManager1.RequestDefaultAgent without an agent", "/org/bluez", AGENTS, "RequestDefaultAgent", "o",
               "/agent")
    await make("AgentManager1.RegisterAgent", "/org/bluez", AGENTS, "RegisterAgent", "os", "/agent", "NoInputNoOutput")
    await make("AgentManager1.RegisterAgent again", "/org/bluez", AGENTS, "RegisterAgent", "os", "/agent", "")
    await make("AgentManager1.RequestDefaultAgent", "/org/bluez", AGENTS, "RequestDefaultAgent", "o", "/agent")
    await make("AgentManager1.UnregisterAgent", "/org/bluez", AGENTS, "UnregisterAgent", "o", "/agent")
    await make("AgentManager1.UnregisterAgent again", "/org/bluez", AGENTS, "UnregisterAgent", "o", "/agent")
    await make("Adapter1.StopDiscovery without discovery", adapter, ADAPTER, "StopDiscovery")
    await make("Adapter1.SetDiscoveryFilter, unknown key", adapter, ADAPTER, "SetDiscoveryFilter", "a{sv}",
               {"Wings": Variant("b", True)})
    await make("Adapter1.SetDiscoveryFilter, RSSI and Pathloss", adapter, ADAPTER, "SetDiscoveryFilter", "a{sv}",
               {"RSSI": Variant("n", -90), "Pathloss": Variant("q", 20)})
    await make("Adapter1.SetDiscoveryFilter, Transport bredr", adapter, ADAPTER, "SetDiscoveryFilter", "a{sv}",
               {"Transport": Variant("s", "bredr")})
    await make("Adapter1.SetDiscoveryFilter, RSSI of another type", adapter, ADAPTER, "SetDiscoveryFilter", "a{sv}",
               {"RSSI": Variant("s", "near")})
    await make("Adapter1.SetDiscoveryFilter", adapter, ADAPTER, "SetDiscoveryFilter", "a{sv}",
               {"Transport": Variant("s", "le"), "DuplicateData": Variant("b", False)})
    await make("Adapter1.GetDiscoveryFilters", adapter, ADAPTER, "GetDiscoveryFilters")
    await make("Adapter1.StartDiscovery", adapter, ADAPTER, "StartDiscovery")
    await make("Adapter1.StartDiscovery again", adapter, ADAPTER, "StartDiscovery")
    await make("Adapter1.StopDiscovery", adapter, ADAPTER, "StopDiscovery")
    await make("Adapter1.RemoveDevice, unknown", adapter, ADAPTER, "RemoveDevice", "o", adapter + "/dev_00")
    await make("Adapter1.ConnectDevice without an address", adapter, ADAPTER, "ConnectDevice", "a{sv}", EMPTY)
    await make("Properties.Get, unknown interface", adapter, PROPERTIES, "Get", "ss", "org.bluez.Wings1", "Name")
    await make("Properties.Get, unknown property", adapter, PROPERTIES, "Get", "ss", ADAPTER, "Wings")
    await make("Properties.Set, read only", adapter, PROPERTIES, "Set", "ssv", ADAPTER, "Name", Variant("s", "x"))
    await make("Properties.Set, another type", adapter, PROPERTIES, "Set", "ssv", ADAPTER, "Alias", Variant("u", 1))
    await make("Properties.GetAll", adapter, PROPERTIES, "GetAll", "s", ADAPTER)
    await make("an unknown method", adapter, ADAPTER, "Fly")
    await make("an unknown interface", adapter, "org.bluez.Wings1", "Fly")
    await make("an unknown object", "/org/bluez/hci9", ADAPTER, "StartDiscovery")
    await make("ObjectManager.GetManagedObjects", "/", OBJECTS, "GetManagedObjects")
    await advertise(bus, adapter, make)
    device = await central.find()
    show("Device1, found", device, DEVICE)
    await make("Device1.Disconnect without a connection", device, DEVICE, "Disconnect")
    await make("Device1.CancelPairing without pairing", device, DEVICE, "CancelPairing")
    await central.connect()
    show("Device1, connected", device, DEVICE)
    await make("Device1.Connect while connected", device, DEVICE, "Connect")
    await attributes(bus, device, central, show, make)
    await make("Device1.Disconnect", device, DEVICE, "Disconnect")
    await bus.until("the link has ended", lambda: not bus.property(device, DEVICE, "Connected"))
    rows["GattService1 after the link"] = "kept" if bus.under(device, SERVICE) else "removed"
    await make("Adapter1.RemoveDevice", adapter, ADAPTER, "RemoveDevice", "o", device)
    return rows


async def attributes(bus: BlueZ, device: str, central: Central, show: Any, make: Any) -> None:
    """Uses the characteristics of the peripheral."""
    diary, note, ticks = (central.path(each.uuid) for each in (offer.DIARY, offer.NOTE, offer.TICKS))
    show("GattService1", next(iter(bus.under(device, SERVICE))), SERVICE)
    for title, path in (("read and write", diary), ("write without response", note), ("notify", ticks)):
        show(f"GattCharacteristic1, {title}", path, CHARACTERISTIC)
    descriptor = next(iter(bus.under(ticks, DESCRIPTOR)))
    show("GattDescriptor1", descriptor, DESCRIPTOR)
    await make("GattDescriptor1.ReadValue", descriptor, DESCRIPTOR, "ReadValue", "a{sv}", EMPTY)
    await make("GattCharacteristic1.ReadValue", diary, CHARACTERISTIC, "ReadValue", "a{sv}", EMPTY)
    await make("GattCharacteristic1.ReadValue, offset 5", diary, CHARACTERISTIC, "ReadValue", "a{sv}",
               {"offset": Variant("q", 5)})
    await make("GattCharacteristic1.ReadValue, offset after the end", diary, CHARACTERISTIC, "ReadValue", "a{sv}",
               {"offset": Variant("q", 400)})
    long = central.path(offer.STORY.uuid)
    await make("GattCharacteristic1.ReadValue, 400 octets", long, CHARACTERISTIC, "ReadValue", "a{sv}", EMPTY)
    await make("GattCharacteristic1.WriteValue", diary, CHARACTERISTIC, "WriteValue", "aya{sv}", b"new", EMPTY)
    await make("GattCharacteristic1.WriteValue, type command, not supported", diary, CHARACTERISTIC, "WriteValue",
               "aya{sv}", b"new", {"type": Variant("s", "command")})
    await make("GattCharacteristic1.WriteValue, unknown type", diary, CHARACTERISTIC, "WriteValue", "aya{sv}", b"new",
               {"type": Variant("s", "shout")})
    await make("GattCharacteristic1.WriteValue, 513 octets", diary, CHARACTERISTIC, "WriteValue", "aya{sv}",
               bytes(513), EMPTY)
    await make("GattCharacteristic1.WriteValue, offset 1", diary, CHARACTERISTIC, "WriteValue", "aya{sv}", b"new",
               {"offset": Variant("q", 1)})
    await make("GattCharacteristic1.ReadValue after a write with an offset", diary, CHARACTERISTIC, "ReadValue",
               "a{sv}", EMPTY)
    await make("GattCharacteristic1.WriteValue, offset 1, type command", diary, CHARACTERISTIC, "WriteValue",
               "aya{sv}", b"new", {"offset": Variant("q", 1), "type": Variant("s", "command")})
    await make("GattDescriptor1.WriteValue, client configuration", descriptor, DESCRIPTOR, "WriteValue", "aya{sv}",
               b"\1\0", EMPTY)
    await make("GattCharacteristic1.WriteValue, not writable", ticks, CHARACTERISTIC, "WriteValue", "aya{sv}", b"n",
               EMPTY)
    await make("GattCharacteristic1.WriteValue, without response", note, CHARACTERISTIC, "WriteValue", "aya{sv}",
               b"note", EMPTY)
    await make("GattCharacteristic1.StartNotify, not supported", diary, CHARACTERISTIC, "StartNotify")
    await make("GattCharacteristic1.StopNotify without StartNotify", ticks, CHARACTERISTIC, "StopNotify")
    await make("GattCharacteristic1.StartNotify", ticks, CHARACTERISTIC, "StartNotify")
    await make("GattCharacteristic1.StartNotify again", ticks, CHARACTERISTIC, "StartNotify")
    await make("GattCharacteristic1.StopNotify", ticks, CHARACTERISTIC, "StopNotify")
    await make("GattCharacteristic1.AcquireNotify, not supported", diary, CHARACTERISTIC, "AcquireNotify", "a{sv}",
               EMPTY)
    await make("GattCharacteristic1.AcquireWrite, not supported", diary, CHARACTERISTIC, "AcquireWrite", "a{sv}",
               EMPTY)


async def advertise(bus: BlueZ, adapter: str, make: Any) -> None:
    """Registers advertisements."""
    def register(title: str, path: str) -> Any:
        return make(f"LEAdvertisingManager1.RegisterAdvertisement{title}", adapter, ADVERTISING,
                    "RegisterAdvertisement", "oa{sv}", path, EMPTY)

    bus.bus.export("/ad", Advertisement("peripheral", ["180f"]))
    bus.bus.export("/wrong/type", Advertisement("wings", ["180f"]))
    bus.bus.export("/wrong/uuid", Advertisement("broadcast", ["wings"]))
    await register("", "/ad")
    await register(" again", "/ad")
    await register(", unknown type", "/wrong/type")
    await register(", invalid UUID", "/wrong/uuid")
    for title in ("", " again"):
        await make(f"LEAdvertisingManager1.UnregisterAdvertisement{title}", adapter, ADVERTISING,
                   "UnregisterAdvertisement", "o", "/ad")
    await make("GattManager1.UnregisterApplication, unknown", adapter, GATT, "UnregisterApplication", "o", "/app")
    flags = ["secure-read", "secure-write", "secure-notify", "secure-indicate", "wings"]
    applications = [(f"characteristic with {flag}", [flag], ["read"]) for flag in flags]
    applications += [(f"descriptor with {flag}", ["read"], [flag])
                     for flag in ("secure-read", "encrypt-write", "notify", "wings")]
    applications += [("characteristic without flags", [], ["read"]), ("descriptor without flags", ["read"], [])]
    for number, (title, characteristic, descriptor) in enumerate(applications):
        root = f"/application{number}"
        bus.bus.export(f"{root}/s", ExportedService())
        bus.bus.export(f"{root}/s/c", ExportedCharacteristic(f"{root}/s", characteristic))
        bus.bus.export(f"{root}/s/c/d", ExportedDescriptor(f"{root}/s/c", descriptor))
        await make(f"GattManager1.RegisterApplication, {title}", adapter, GATT, "RegisterApplication", "oa{sv}",
                   root, EMPTY)
        await outcome(bus, Call("", adapter, GATT, "UnregisterApplication", "o", (root,)))


async def measure(bus: BlueZ, machine: Any, port: int, log: pathlib.Path) -> Rows:
    """Makes all calls while a peripheral runs on the controller at a port."""
    content = {"name": NAME, "services": [tool.described(service) for service in offer.AT_FIRST]}
    with tool.description(content) as file:
        async with tool.ble(port, log, "serve", file) as server:
            await server.heard("advertising")
            return await compare(bus, HCI, port, log, Central(machine, bus, HCI, NAME))


async def bluetoothd(version: str, log: pathlib.Path) -> Rows:
    """The outcomes of bluetoothd in a box."""
    who.set(f"calls-{version}")
    async with ours(log) as radio, box(version, [radio.first], log) as machine, bluez(machine.bus_address) as bus:
        await _switch_on(bus, HCI)
        return await measure(bus, machine, radio.second, log)


@contextlib.asynccontextmanager
async def bridge(bled: str, program: str, port: int, log: pathlib.Path) -> AsyncIterator[str]:
    """A bus with bled-bluez on the controller at a port; yields its address."""
    with tempfile.TemporaryDirectory(prefix="calls-", dir="/tmp") as name:
        folder = pathlib.Path(name)
        (folder / "bus.conf").write_text(BUS.format(folder / "bus"))
        async with contextlib.AsyncExitStack() as stack:
            for wanted, *command in (
                (folder / "bus", "dbus-daemon", f"--config-file={folder / 'bus.conf'}", "--nofork"),
                (folder / "bled", bled, "--socket", str(folder / "bled"), "--sessions", str(folder / "sessions"),
                 f"tcp:127.0.0.1:{port}"),
            ):
                await stack.enter_async_context(running(log, *command))
                while not wanted.exists():
                    await asyncio.sleep(0.05)
            address = f"unix:path={folder / 'bus'}"
            own = await stack.enter_async_context(
                running(log, program, "--bus", address, "--socket", str(folder / "bled"),
                        stdout=asyncio.subprocess.PIPE))
            assert own.stdout
            assert BRIDGE_READY in (await asyncio.wait_for(own.stdout.readline(), 60)).decode()
            yield address


async def own(bled: str, program: str, log: pathlib.Path) -> Rows:
    """The outcomes of bled-bluez."""
    who.set("calls")
    async with ours(log) as radio, bridge(bled, program, radio.first, log) as address, bluez(address) as bus:
        await _switch_on(bus, HCI)
        return await measure(bus, None, radio.second, log)


def reason(title: str) -> str:
    """Returns the reason for a difference; empty if there is none."""
    return next((text for pattern, text in EXPLAINED.items() if re.fullmatch(pattern, title)), "")


def table(version: str, theirs: Rows, mine: Rows) -> int:
    """Prints the outcomes side by side, and returns the number of differences without an explanation."""
    print(f"\n| call | BlueZ {version} | bled-bluez | |\n| --- | --- | --- | --- |")
    unexplained = same = 0
    for title, text in theirs.items():
        other = mine.get(title, "not made")
        if text == other:
            same += 1
            print(f"| {title} | {text} | same | |")
            continue
        if title.startswith("properties: "):
            left, right = set(text.split(", ")), set(other.split(", "))
            text = "also " + ", ".join(sorted(left - right)) if left - right else "none more"
            other = "also " + ", ".join(sorted(right - left)) if right - left else "none more"
        why = reason(title)
        unexplained += not why
        print(f"| {title} | {text} | {other} | {why or 'unexplained'} |")
    print(f"{version}: {len(theirs)} calls, {same} with the same outcome, {unexplained} unexplained", file=sys.stderr)
    return unexplained


async def main() -> int:
    bled, program, *versions = sys.argv[1:]
    LOGS.mkdir(parents=True, exist_ok=True)
    found = [version for version in versions or ["5.82", "5.66"] if not obstacle(version)]
    for version in set(versions or ["5.82", "5.66"]).difference(found):
        print(f"{version}: skipped: {obstacle(version)}", file=sys.stderr)
    mine, *theirs = await asyncio.gather(
        own(bled, program, LOGS / "calls.log"),
        *(bluetoothd(version, LOGS / f"calls-{version}.log") for version in found))
    unexplained = sum(table(version, rows, mine) for version, rows in zip(found, theirs, strict=True))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
