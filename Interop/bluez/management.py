"""Settings that only the kernel's management socket offers, and queries of a box's pairings."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator
from typing import Any

from interop.profile import Mismatch

from .box import Box

LOG = "/run/log/bluetoothd"
QUIET = "/run/quiet"
"""A pipe that stays open and empty as input: `btmgmt` exits when its input ends."""


async def manage(box: Box, adapter: str, *words: str) -> str:
    """Runs a command of `btmgmt` for an adapter, and returns its output."""
    index = re.sub(r"\D", "", adapter.rpartition("/")[2])
    command = f"[ -p {QUIET} ] || mkfifo {QUIET}; timeout 10 btmgmt --index {index} {' '.join(words)} <> {QUIET} 2>&1"
    said = await box.shell(command, 15)
    if "failed" in said:
        raise Mismatch(f"btmgmt {' '.join(words)}: {said.strip()}")
    return said


@contextlib.asynccontextmanager
async def secure(box: Box, adapter: str, is_on: bool) -> AsyncIterator[None]:
    """Switches the kernel's support for LE Secure Connections on or off until the context ends."""
    if not is_on:
        await manage(box, adapter, "sc", "off")
    try:
        yield
    finally:
        if not is_on:
            await manage(box, adapter, "sc", "on")


@contextlib.asynccontextmanager
async def private(box: Box, adapter: str, is_on: bool) -> AsyncIterator[None]:
    """Has the kernel use private addresses, which its controller generates and resolves, until the context ends."""
    if not is_on:
        yield
        return
    await _switch_privacy(box, adapter, "on")
    try:
        yield
    finally:
        await _switch_privacy(box, adapter, "off")


async def _switch_privacy(box: Box, adapter: str, word: str) -> None:
    for words in (("power", "off"), ("exp-privacy", word), ("privacy", word), ("power", "on")):
        await manage(box, adapter, *words)


async def resolving_list(box: Box, adapter: str) -> list[str]:
    """Returns the entries of the controller's resolving list."""
    name = adapter.rpartition("/")[2]
    return (await box.shell(f"cat /sys/kernel/debug/bluetooth/{name}/resolv_list")).splitlines()


async def take(box: Box, adapter: str, device: dict[str, Any], structures: str) -> None:
    """Passes a device's out-of-band data to the kernel, in the form in which `ble --tell` prints it."""
    kind = {"public": "1", "random": "2"}[device["AddressType"]]
    confirm, random = structures[4:36], structures[40:72]
    await manage(box, adapter, "remote-oob", "-t", kind, "-R", random, "-H", confirm, device["Address"])


async def diversifiers(box: Box) -> list[int]:
    """Returns the diversifiers of all keys that BlueZ stores for LE: 0 for a key of LE Secure Connections."""
    said = await box.shell("cat /var/lib/bluetooth/*/*/info 2> /dev/null || :")
    return [int(number) for number in re.findall(r"^EDiv=(\d+)", said, re.MULTILINE)]


async def daemon(box: Box) -> str:
    """Returns the process of `bluetoothd`; empty if it has ended."""
    return (await box.shell("ps | awk '/bluetoothd -n/ && !/awk/ {print $1}'")).strip()


async def fault(box: Box) -> str:
    """Returns the kernel's messages about a fault of its own; empty if there was none."""
    said = await box.shell("dmesg | grep -E -m 3 'general protection fault|BUG: |hci_chan_del' || :")
    return "; ".join(line.partition("] ")[2].strip() for line in said.splitlines())


class Fatal(Mismatch):
    """`bluetoothd` has ended, and nothing more can be tried in this box."""


@contextlib.asynccontextmanager
async def watched(box: Box, process: str) -> AsyncIterator[None]:
    """Raises `Fatal`, with the kernel's messages, if `bluetoothd` is no longer this process when the context ends."""
    failure: Exception | None = None
    try:
        yield
    except Mismatch as mismatch:
        failure = mismatch
    if await daemon(box) != process:
        raise Fatal(f"bluetoothd has ended: {await fault(box)}") from failure
    if failure:
        raise failure


async def failures(box: Box) -> int:
    """Returns the number of failed pairings in BlueZ's log."""
    said = await box.shell(f"grep -cE 'attempt_complete.* status 0x0*[1-9a-f]|device_bonding_failed' {LOG} || :")
    return int(said)


async def races(box: Box) -> int:
    """Returns how often `bluetoothd` has abandoned a link that our host had just encrypted.

    It reads the link's security, and requests more if it has a key. If the link has been encrypted in between, the
    kernel refuses that as invalid; `bluetoothd` then answers nothing on that link, which the kernel ends after a while.
    """
    return int(await box.shell(f"grep -c 'device_attach_att.*BT_SECURITY.*Invalid argument' {LOG} || :"))


async def keys(box: Box) -> list[str]:
    """Returns all long-term keys that BlueZ stores."""
    return re.findall(r"^Key=(\w+)", await box.shell("cat /var/lib/bluetooth/*/*/info 2> /dev/null || :"), re.MULTILINE)


async def parted(box: Box, adapter: str) -> None:
    """Waits until an adapter has no link."""
    links = f"/sys/class/bluetooth/{adapter.rpartition('/')[2]}:*"
    await box.shell(f"while ls -d {links} > /dev/null 2>&1; do usleep 20000; done", 30)
