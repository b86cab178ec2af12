"""Pairs `BLEConformance smp` with Bumble's security manager and with itself, in both roles and by every method.

security.py PATH-OF-BLEConformance

Run it with the Python of the environment that Interop/setup makes. No controller is involved: packets are passed from
one to the other, and the link counts as encrypted if both have the same key.
"""

import asyncio
import contextlib
import json
import os
import socket
import sys
import tempfile

import results
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

    def __init__(self, capability, key_size, refusal=""):
        keys = PairingDelegate.DEFAULT_KEY_DISTRIBUTION
        super().__init__(PairingDelegate.IoCapability(capability), keys, keys, key_size)
        self.number = None
        self.refusal = refusal

    async def get_number(self):
        return PASSKEY + (self.refusal == "wrong digits at Bumble")

    async def generate_passkey(self):
        return PASSKEY

    async def compare_numbers(self, number, digits):
        self.number = number
        return self.refusal != "no at Bumble"

    async def display_number(self, number, digits):
        pass


class Device:
    """The parts of Bumble's device that its security manager uses."""

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
    """The parts of Bumble's connection that its security manager uses; packets go to the driver."""

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


def describe(role, ours, secure, key_size, out_of_band, bonding=True, refusal=""):
    local, peer = (CENTRAL, PERIPHERAL) if role == "initiator" else (PERIPHERAL, CENTRAL)
    return {
        "role": role, "io_capability": ours, "secure_connections": secure, "mitm": False, "max_key_size": key_size,
        "local": {"address": bytes(local).hex(), "address_type": local.address_type & 1},
        "peer": {"address": bytes(peer).hex(), "address_type": peer.address_type & 1},
        "identity": {"address": bytes(IDENTITY).hex(), "address_type": 1}, "irk": "11" * 16,
        "initiator_keys": 3, "responder_keys": 3, "oob": out_of_band, "bonding": bonding,
        "passkey": str(PASSKEY + (refusal == "wrong digits at ours")), "confirm_numeric": refusal != "no at ours",
    }


async def pair(program, role, ours, theirs, secure, key_size, has_data=False, bonding=True, refusal=""):
    """Pairs with Bumble once, and returns the driver's result."""
    packets, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    packets.setblocking(False)
    config, out_of_band = None, None
    if has_data:
        context, legacy = OobContext(), OobLegacyContext()
        told = context.share()
        out_of_band = (told.c + told.r).hex() if secure else legacy.tk.hex()
        config = PairingConfig.OobConfig(our_context=context, peer_data=None, legacy_context=legacy)
    delegate, device = Delegate(theirs, key_size, refusal), Device()
    connection = Connection(Role.PERIPHERAL if role == "initiator" else Role.CENTRAL, packets)
    manager = smp.Manager(
        device, lambda _: PairingConfig(sc=secure, mitm=True, bonding=True, delegate=delegate, oob=config)
    )
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(describe(role, ours, secure, key_size, out_of_band, bonding, refusal), file)
        file.flush()
        process = await drive(program, file.name, other)
        tasks = [asyncio.ensure_future(receive(packets, manager, connection))]
        try:
            if role == "responder":
                tasks.append(asyncio.ensure_future(manager.pair(connection)))
            if refusal:
                return await asyncio.wait_for(be_refused(process, device), 20)
            return await asyncio.wait_for(converse(process, role, manager, connection, device, delegate, bonding), 20)
        finally:
            for task in tasks:
                task.cancel()
            packets.close()
            process.kill()
            await process.wait()
            await asyncio.gather(*tasks, return_exceptions=True)


async def drive(program, case, packets):
    """Runs the driver with a case; its packets are sent and received by a socket."""
    process = await asyncio.create_subprocess_exec(
        program, "smp", case, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        preexec_fn=lambda: os.dup2(packets.fileno(), 3), pass_fds=[3],
    )
    packets.close()
    return process


async def be_refused(process, device):
    """Expects that they do not pair, and that both report it."""
    line = {}
    while "failed" not in line:
        line = json.loads(await process.stdout.readline())
        if "paired" in line or "ltk" in line:
            raise RuntimeError(f"the driver reports {line} despite the fault")
    try:
        await device.keys
    except RuntimeError:
        return line
    raise RuntimeError("Bumble has paired despite the fault")


async def receive(packets, manager, connection):
    while packet := await asyncio.get_running_loop().sock_recv(packets, 65536):
        manager.on_smp_pdu(connection, packet)


async def converse(process, role, manager, connection, device, delegate, bonding):
    number = None
    while True:
        line = json.loads(await process.stdout.readline() or "{}")
        if "numeric" in line:
            number = int(line["numeric"])
            continue
        key = line.get("ltk") or line.get("stk")
        if not key:
            raise RuntimeError(f"the driver reports {line}")
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
    if bonding and (address != IDENTITY or keys.irk.value != bytes([0x11]) * 16):
        raise RuntimeError(f"Bumble has received {address}, {keys}")
    if not bonding and keys.irk is not None:
        raise RuntimeError(f"Bumble has received {keys} without a bond")
    stored = keys.ltk or keys.ltk_central
    if stored.authenticated != outcome["authenticated"]:
        raise RuntimeError(f"Bumble's key is authenticated: {stored.authenticated}")
    return outcome


async def pair_ours(program, initiator, responder, secure, has_data, bonding, protected):
    """Pairs two drivers once, and returns their result."""
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    told = os.urandom(16).hex() if has_data else None
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        try:
            # The responder first: the initiator begins immediately.
            for role, capability, packets in (("responder", responder, second), ("initiator", initiator, first)):
                path = os.path.join(folder, role)
                with open(path, "w") as file:
                    case = describe(role, capability, secure, 16, told, bonding)
                    # The two devices need different identities.
                    other = {"identity": case["local"], "irk": os.urandom(16).hex()} if role == "initiator" else {}
                    json.dump(case | other | {"mitm": protected}, file)
                processes.append(await drive(program, path, packets))
            return await asyncio.wait_for(converse_ours(processes), 20)
        finally:
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()


async def converse_ours(processes):
    said = [{}, {}]
    for step in ("key", "paired"):
        for process, facts in zip(processes, said):
            while step not in facts:
                line = json.loads(await process.stdout.readline() or '{"failed": "it has ended"}')
                if "failed" in line:
                    raise RuntimeError(f"a driver reports {line}")
                facts |= {"key": value for name, value in line.items() if name in ("ltk", "stk")} | line
        if step == "key":
            for process in processes:
                process.stdin.write(b'{"encrypted": true}\n')
    for name in ("key", "numeric", "paired"):
        if said[0].get(name) != said[1].get(name):
            raise RuntimeError(f"the two differ: {said}")
    return said[0]["paired"]


def method(initiator, responder, secure, has_data):
    """Returns the method of devices with these capabilities. Core 6.0, Vol 3, Part H, 2.3.5.1."""
    if has_data:
        return "outOfBand", ""
    shows, types = (0, 1, 4), (2, 4)
    if 3 in (initiator, responder):
        return "justWorks", ""
    if secure and initiator in (1, 4) and responder in (1, 4):
        return "numericComparison", ""
    if initiator in types and responder in types and 2 in (initiator, responder):
        by = "nobody" if initiator == responder else "the central" if initiator == 4 else "the peripheral"
        return "passkeyEntry", by
    if initiator in shows and responder in types:
        return "passkeyEntry", "the central"
    if initiator in types and responder in shows:
        return "passkeyEntry", "the peripheral"
    return "justWorks", ""


def facts(role, ours, theirs, peer, secure, has_data, bonding, refusal=""):
    """Returns a pairing as it is recorded."""
    initiator, responder = (ours, theirs) if role == "initiator" else (theirs, ours)
    name, by = method(initiator, responder, secure, has_data)
    central, peripheral = ("ours", peer) if role == "initiator" else (peer, "ours")
    if peer != "ours":
        by = {"the central": central, "the peripheral": peripheral}.get(by, by).replace(peer, "the peer")
    return {
        "central": central, "peripheral": peripheral, "controllers": "none", "method": name, "by": by,
        "generation": "secure" if secure else "legacy", "bonding": bonding, "refusal": refusal,
    }


# One case of each method: Just Works, numeric comparison, passkeys shown by ours and by Bumble.
METHODS = [(3, 3), (1, 1), (2, 0), (0, 2)]
REFUSALS = [
    ((1, 1), "no at ours"),
    ((1, 1), "no at Bumble"),
    ((2, 0), "wrong digits at ours"),
    ((0, 2), "wrong digits at Bumble"),
]


async def main(program):
    count = 0
    for role in ("initiator", "responder"):
        for secure in (True, False):
            every = [(ours, theirs, False, True, "") for ours in CAPABILITIES for theirs in CAPABILITIES]
            every += [(3, 3, True, True, ""), (3, 3, True, False, "")]
            every += [(*pair, False, False, "") for pair in METHODS]
            every += [(*pair, False, True, refusal) for pair, refusal in REFUSALS if secure or pair != (1, 1)]
            for ours, theirs, has_data, bonding, refusal in every:
                with results.recorded(
                    "security", **facts(role, ours, theirs, "Bumble", secure, has_data, bonding, refusal)
                ):
                    outcome = await pair(program, role, ours, theirs, secure, 16, has_data, bonding, refusal)
                    name, _ = method(*((ours, theirs) if role == "initiator" else (theirs, ours)), secure, has_data)
                    expected = {"authenticated": name != "justWorks", "key_size": 16}
                    if not refusal and outcome != expected:
                        raise RuntimeError(f"{name} has the outcome {outcome}")
                count += 1
    print(f"{count} pairings with Bumble, including refusals", flush=True)
    count = 0
    for secure in (True, False):
        for bonding in (True, False):
            every = [(first, second, False) for first in CAPABILITIES for second in CAPABILITIES]
            # The out-of-band data of LE Secure Connections depends on keys that the driver generates.
            for initiator, responder, has_data in every + ([] if secure else [(3, 3, True)]):
                with results.recorded(
                    "security", **facts("initiator", initiator, responder, "ours", secure, has_data, bonding)
                ):
                    name, _ = method(initiator, responder, secure, has_data)
                    protected = name != "justWorks"
                    outcome = await pair_ours(program, initiator, responder, secure, has_data, bonding, protected)
                    if outcome["authenticated"] != protected:
                        raise RuntimeError(f"{name} has the outcome {outcome}")
                count += 1
    print(f"{count} pairings of ours with ours", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
