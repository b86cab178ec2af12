"""A bond that is given to both ends in advance."""

from __future__ import annotations

import json
import pathlib

from bumble.crypto import aes_cmac
from bumble.device import Connection, Device
from bumble.keys import MemoryKeyStore, PairingKeys

SECRET = bytes(range(1, 17))
KEY = bytes(range(0x20, 0x30))
"""The key as it is sent, its least significant octet first."""


def remember(directory: str, peer: str) -> None:
    """Writes our host's stored state: a bond with `peer`, which has a random address."""
    octets = bytes.fromhex(peer.replace(":", ""))
    number = int.from_bytes(aes_cmac(b"\x01" + octets, SECRET), "big")
    identifier = number & ~(0xF << 76 | 0x3 << 62) | 0x8 << 76 | 0x2 << 62
    key = {"key": f"{int.from_bytes(KEY, 'little'):x}", "random": 0, "diversifier": 0}
    place = {"address": peer, "isRandom": True}
    bond = place | {
        "security": 1,
        "keySize": 16,
        "longTermKey": key,
        "configurations": [],
        "features": 0,
        "isAware": True,
    }
    record = place | {"identifier": f"{identifier:x}", "name": "bonded", "bond": bond}
    file = pathlib.Path(directory) / "corebluetooth" / "host.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"secret": SECRET.hex(), "peers": [record]}))


async def remember_in_bumble(device: Device, connection: Connection) -> None:
    """Gives Bumble the key as the central of a connection."""
    device.keystore = MemoryKeyStore()
    await device.keystore.update(str(connection.peer_address), PairingKeys(ltk=PairingKeys.Key(KEY)))


def answer_in_bumble(device: Device) -> None:
    """Gives Bumble the key as a peripheral, for any central."""

    async def key(*_: object) -> bytes:
        return KEY

    device.host.long_term_key_provider = key
