"""Pairs `BLEConformance smp` with Bumble's security manager, both ways and by every method.

security.py PATH-OF-BLEConformance

Run it with the Python of the environment that Interop/setup makes. No controller takes part: packets go from one to
the other, and the link is encrypted if both have come to the same key.
"""

import asyncio
import json
import os
import socket
import sys
import tempfile

from bumble import core, smp
from bumble.hci import Address, Role
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.smp import OobContext, OobLegacyContext
from bumble.utils import EventEmitter

PASSKEY = 271828
CENTRAL, PERIPHERAL = Address("C0:C1:C2:C3:C4:C5"), Address("A0:A1:A2:A3:A4:A5/P")
IDENTITY, IDENTITY_OF_BUMBLE = Address("C0:00:00:00:00:01"), Address("C0:00:00:00:00:02")
# Each capability by its code: DisplayOnly, DisplayYesNo, KeyboardOnly, NoInputNoOutput, KeyboardDisplay.
CAPABILITIES = range(5)


class Delegate(PairingDelegate):
    """The user of Bumble."""

    def __init__(self, capability, key_size):
        keys = PairingDelegate.DEFAULT_KEY_DISTRIBUTION
        super().__init__(PairingDelegate.IoCapability(capability), keys, keys, key_size)
        self.number = None

    async def get_number(self):
        return PASSKEY

    async def generate_passkey(self):
        return PASSKEY

    async def compare_numbers(self, number, digits):
        self.number = number
        return True

    async def display_number(self, number, digits):
        pass


class Device:
    """As much of a device of Bumble as its security manager asks for."""

    irk = bytes(range(16))
    static_address = IDENTITY_OF_BUMBLE
    public_address = Address.ANY
    keystore = None

    def __init__(self):
        self.host = self
        self.key = asyncio.get_running_loop().create_future()
        self.keys = asyncio.get_running_loop().create_future()

    async def send_async_command(self, command):
        self.key.set_result(command.long_term_key)

    def on_pairing_start(self, connection):
        pass

    def on_pairing(self, connection, address, keys, is_secure):
        self.keys.set_result((address, keys))

    def on_pairing_failure(self, connection, reason):
        if not self.keys.done():
            self.keys.set_exception(RuntimeError(f"Bumble failed: {reason}"))


class Connection(EventEmitter):
    """As much of a connection, whose packets go to the driver."""

    EVENT_DISCONNECTION = "disconnection"
    EVENT_CONNECTION_ENCRYPTION_CHANGE = "connection_encryption_change"
    EVENT_CONNECTION_ENCRYPTION_KEY_REFRESH = "connection_encryption_key_refresh"
    EVENT_SECURITY_REQUEST = "security_request"
    handle = 1
    transport = core.PhysicalTransport.LE
    self_resolvable_address = peer_resolvable_address = None
    is_encrypted = False

    def __init__(self, role, packets):
        super().__init__()
        self.role, self.packets = role, packets
        self.self_address, self.peer_address = (
            (CENTRAL, PERIPHERAL) if role == Role.CENTRAL else (PERIPHERAL, CENTRAL)
        )

    def send_l2cap_pdu(self, channel, packet):
        self.packets.send(packet)

    def cancel_on_disconnection(self, awaitable):
        return asyncio.ensure_future(awaitable)

    async def drain(self):
        pass


def describe(role, ours, secure, key_size, out_of_band):
    local, peer = (CENTRAL, PERIPHERAL) if role == "initiator" else (PERIPHERAL, CENTRAL)
    return {
        "role": role, "io_capability": ours, "secure_connections": secure, "mitm": False, "max_key_size": key_size,
        "local": {"address": bytes(local).hex(), "address_type": local.address_type & 1},
        "peer": {"address": bytes(peer).hex(), "address_type": peer.address_type & 1},
        "identity": {"address": bytes(IDENTITY).hex(), "address_type": 1}, "irk": "11" * 16,
        "initiator_keys": 3, "responder_keys": 3, "passkey": str(PASSKEY), "oob": out_of_band,
    }


async def pair(program, role, ours, theirs, secure, key_size, has_data=False):
    """Pairs once, and returns what the driver says of it."""
    packets, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    packets.setblocking(False)
    config, out_of_band = None, None
    if has_data:
        context, legacy = OobContext(), OobLegacyContext()
        told = context.share()
        out_of_band = (told.c + told.r).hex() if secure else legacy.tk.hex()
        config = PairingConfig.OobConfig(our_context=context, peer_data=None, legacy_context=legacy)
    delegate, device = Delegate(theirs, key_size), Device()
    connection = Connection(Role.PERIPHERAL if role == "initiator" else Role.CENTRAL, packets)
    manager = smp.Manager(
        device, lambda _: PairingConfig(sc=secure, mitm=True, bonding=True, delegate=delegate, oob=config)
    )
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(describe(role, ours, secure, key_size, out_of_band), file)
        file.flush()
        process = await asyncio.create_subprocess_exec(
            program, "smp", file.name, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            preexec_fn=lambda: os.dup2(other.fileno(), 3), pass_fds=[3],
        )
        other.close()
        tasks = [asyncio.ensure_future(receive(packets, manager, connection))]
        try:
            if role == "responder":
                tasks.append(asyncio.ensure_future(manager.pair(connection)))
            return await asyncio.wait_for(converse(process, role, manager, connection, device, delegate), 20)
        finally:
            for task in tasks:
                task.cancel()
            packets.close()
            process.kill()
            await process.wait()
            await asyncio.gather(*tasks, return_exceptions=True)


async def receive(packets, manager, connection):
    while packet := await asyncio.get_running_loop().sock_recv(packets, 65536):
        manager.on_smp_pdu(connection, packet)


async def converse(process, role, manager, connection, device, delegate):
    number = None
    while True:
        line = json.loads(await process.stdout.readline() or "{}")
        if "numeric" in line:
            number = int(line["numeric"])
            continue
        key = line.get("ltk") or line.get("stk")
        if not key:
            raise RuntimeError(f"the driver says {line}")
        break
    other = await device.key if role == "responder" else manager.get_long_term_key(connection, bytes(8), 0)
    if key != other.hex():
        raise RuntimeError(f"the keys differ: {key}, {other.hex()}")

    async def encrypt_driver():
        process.stdin.write(b'{"encrypted": true}\n')
        await process.stdin.drain()

    connection.is_encrypted = True
    if role == "responder":
        await encrypt_driver()
    connection.emit(connection.EVENT_CONNECTION_ENCRYPTION_CHANGE)
    if role == "initiator":
        await encrypt_driver()
    outcome = json.loads(await process.stdout.readline())["paired"]
    address, keys = await device.keys
    if number is not None and number != delegate.number:
        raise RuntimeError(f"the numbers differ: {number}, {delegate.number}")
    if address != IDENTITY or keys.irk.value != bytes([0x11]) * 16:
        raise RuntimeError(f"Bumble has learnt {address}, {keys}")
    stored = keys.ltk or keys.ltk_central
    if stored.authenticated != outcome["authenticated"]:
        raise RuntimeError(f"Bumble says that the key is authenticated: {stored.authenticated}")
    return outcome


async def main(program):
    count = 0
    for role in ("initiator", "responder"):
        for secure in (True, False):
            cells = [(ours, theirs, 16, False) for ours in CAPABILITIES for theirs in CAPABILITIES]
            for ours, theirs, key_size, has_data in cells + [(3, 3, 16, True)]:
                outcome = await pair(program, role, ours, theirs, secure, key_size, has_data)
                if outcome["key_size"] != key_size:
                    raise RuntimeError(f"a key of {outcome}")
                count += 1
                print(f"{role}, SC {secure}, ours {ours}, theirs {theirs}, OOB {has_data}: {outcome}", flush=True)
    print(f"{count} pairings with Bumble")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
