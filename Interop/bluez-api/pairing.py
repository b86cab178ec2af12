"""Pairs with each method, with bluetoothctl as the agent and Bumble as the peer: pairing.py PORT CASES BLUETOOTHCTL…

Bumble uses the virtual controller at PORT, as the peripheral and then as the central. CASES is “all”, or “few” for one
pair of capabilities for each method. The remaining arguments are the command that starts bluetoothctl, on the bus that
the environment names.
"""

import asyncio
import sys

from bumble.core import AdvertisingData, ProtocolError
from bumble.device import Device
from bumble.gatt import Characteristic, Service
from bumble.hci import Address
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport import open_transport

from control import PROMPTS, Control

port, cases, *command = sys.argv[1:]
IO = PairingDelegate.IoCapability
NONE, DISPLAY, KEYBOARD = IO.NO_OUTPUT_NO_INPUT, IO.DISPLAY_OUTPUT_ONLY, IO.KEYBOARD_INPUT_ONLY
COMPARE, ALL = IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT, IO.DISPLAY_OUTPUT_AND_KEYBOARD_INPUT
# Core 6.0, Vol 3, Part H, 2.3.5.1, Table 2.8: the method that each agent and peer have in common. The agent shows
# (“display”) or enters (“enter”) a passkey, compares numbers, or has nothing to do but to agree.
METHODS = {
    ("KeyboardDisplay", NONE): "agree", ("KeyboardDisplay", DISPLAY): "enter", ("KeyboardDisplay", COMPARE): "compare",
    ("KeyboardDisplay", KEYBOARD): "display", ("DisplayOnly", KEYBOARD): "display", ("DisplayOnly", DISPLAY): "agree",
    ("DisplayYesNo", COMPARE): "compare", ("DisplayYesNo", KEYBOARD): "display", ("KeyboardOnly", DISPLAY): "enter",
    ("KeyboardOnly", NONE): "agree", ("NoInputNoOutput", COMPARE): "agree", ("NoInputNoOutput", KEYBOARD): "agree",
}
if cases == "few":
    METHODS = {pair: method for method, pair in {method: pair for pair, method in METHODS.items()}.items()}


class Peer(PairingDelegate):
    """Answers as a user who looks at both devices."""

    def __init__(self, io):
        super().__init__(io)
        loop = asyncio.get_running_loop()
        self.shown, self.typed, self.agrees = loop.create_future(), loop.create_future(), True

    async def accept(self):
        return True

    async def confirm(self, auto=False):
        return True

    async def compare_numbers(self, number, digits):
        self.shown.set_result(number)
        return self.agrees

    async def get_number(self):
        return await self.typed

    async def display_number(self, number, digits):
        self.shown.set_result(number)


async def answer(control, peer, method, asks=True):
    """Has the user answer the question of this method."""
    if method == "agree" and not asks:
        return
    found = await control.expect(None, PROMPTS[method], refuse="Failed to pair|not available")
    if method == "display":
        peer.typed.set_result(int(found[1]))
    elif method == "enter":
        await control.expect(f"{await peer.shown:06}", "")
    elif method == "compare":
        assert int(found[1]) == await peer.shown, f"{found[1]} is not the number of the peer"
        await control.expect("yes", "")
    else:
        await control.expect("yes", "")


def configure(device, io, agrees=True):
    peer = Peer(io)
    peer.agrees = agrees
    device.pairing_config_factory = lambda connection: PairingConfig(
        sc=True, mitm=io != NONE, bonding=True, delegate=peer)
    return peer


async def unlink(device):
    """Waits until the link of the pairing before has ended."""
    while device.connections:
        await asyncio.sleep(0.1)


async def advertise(device):
    """Advertises as a peripheral until a central connects."""
    await unlink(device)
    data = AdvertisingData([(AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LOCAL_NAME, b"Peer")])
    await device.start_advertising(
        advertising_data=bytes(data), advertising_interval_min=20, advertising_interval_max=20)


async def as_central(device, capability, io, method):
    """bluetoothctl pairs with Bumble's peripheral."""
    control, peer = Control(command), configure(device, io)
    await advertise(device)
    await control.start(capability)
    address = str(device.random_address).removesuffix("/P")
    await control.expect("scan on", f"Device {address}")
    await control.expect(f"pair {address}", "Attempting to pair")
    await answer(control, peer, method, asks=False)
    await control.expect(None, "Pairing successful", refuse="Failed to pair")
    await control.expect(f"info {address}", "Paired: yes")
    await control.expect(f"remove {address}", "Device has been removed")
    await control.end()


async def as_peripheral(device, capability, io, method):
    """Bumble's central pairs with bluetoothctl's peripheral."""
    control, peer = Control(command), configure(device, io)
    await control.start(capability)
    await control.expect("advertise on", "Advertising object registered")
    found = asyncio.get_running_loop().create_future()

    def receive(advertisement):
        if advertisement.is_connectable and not found.done():
            found.set_result(advertisement.address)

    device.on("advertisement", receive)
    await device.start_scanning()
    async with asyncio.timeout(60):
        target = await found
        await device.stop_scanning()
        device.remove_listener("advertisement", receive)
        await unlink(device)
        connection = await device.connect(target)
        pairing = asyncio.create_task(connection.pair())
        await answer(control, peer, method)
        await pairing
    await control.expect(None, "Paired: yes")
    await control.expect("devices Paired", str(device.random_address).removesuffix("/P"))
    await control.expect(f"remove {device.random_address}", "Device has been removed")
    await control.end()


async def refuse(device, io, agrees, prompt, *steps):
    """A pairing that ends without a bond, after the prompt and these lines with their answers."""
    address = str(device.random_address).removesuffix("/P")
    control = Control(command)
    configure(device, io, agrees)
    await advertise(device)
    await control.start("KeyboardDisplay")
    await control.expect("scan on", f"Device {address}")
    # After a failure, the host refuses further attempts for a while: Core 6.0, Vol 3, Part H, 2.3.6.
    while (await control.expect(f"pair {address}", f"{PROMPTS[prompt]}|Failed to pair"))[0].startswith("Failed"):
        await asyncio.sleep(0.5)
    for line, answer in steps:
        await control.expect(line and line.format(address), answer)
    await control.expect(f"info {address}", "Paired: no")
    await control.expect(f"remove {address}", "Device has been removed")
    await control.end()


async def refusals(device):
    """The peer refuses while the agent still asks, the agent refuses, and bluetoothctl cancels."""
    failed = "Failed to pair: org.bluez.Error.Authentication"
    await refuse(device, COMPARE, False, "compare", (None, f"Request canceled.*{failed}Failed"))
    await refuse(device, COMPARE, True, "compare", ("no", failed))
    await refuse(device, KEYBOARD, True, "display", ("cancel-pairing {}", failed + "Canceled"))


async def main():
    async with await open_transport(f"tcp-client:127.0.0.1:{port}") as hci:
        device = Device.with_hci("Peer", Address("F0:F1:F2:F3:F4:F5"), hci.source, hci.sink)
        value = Characteristic("2A19", Characteristic.Properties.READ, Characteristic.Permissions.READABLE, b"\x64")
        device.add_service(Service("180F", [value]))
        await device.power_on()
        for (capability, io), method in METHODS.items():
            await as_central(device, capability, io, method)
        await refusals(device)
        for (capability, io), method in METHODS.items():
            try:
                await as_peripheral(device, capability, io, method)
            except ProtocolError as error:
                raise AssertionError(f"{capability} and {io.name}: {error}") from error
    print(f"pairing: {len(METHODS)} pairs of capabilities in both roles, and three that end without a bond")


asyncio.run(main())
