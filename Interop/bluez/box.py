"""A virtual machine with Linux and BlueZ, whose Bluetooth adapters are controllers on ports of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence

from interop.cutter import Cutter
from interop.ports import free_ports
from interop.processes import running
from interop.profile import Mismatch

from . import cargo

BOXES = pathlib.Path(os.environ["INTEROP_BOXES"])
QEMU = "qemu-system-x86_64"

KERNEL_WORDS = (
    "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check mitigations=off random.trust_cpu=on nokaslr audit=0"
)
NOTHING: Mapping[str, pathlib.Path] = {}

MEMORY = "768"
"""In megabytes: a program with its libraries takes up to 200 of them twice while the box boots."""

BOOT_SECONDS = 120
"""The time limit for booting, which takes 4 s on an idle machine."""

BOOTING = asyncio.Semaphore(2)
"""The boxes that may boot at the same time: with more, the kernel's first commands to an adapter may time out."""


class Box:
    """A virtual machine that has booted."""

    def __init__(self, version: str, shell_port: int, bus_port: int) -> None:
        self.version = version
        self.lines: dict[str, Cutter] = {}
        """Lines between adapters and their controllers that can be cut, by BlueZ's paths of the adapters."""
        self.bus_address = f"tcp:host=127.0.0.1,port={bus_port}"
        self.shell_port = shell_port

    async def shell(self, commands: str, seconds: float = 30) -> str:
        """Runs `commands` in the box and returns their output; raises `Mismatch` unless they succeed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.shell_port, limit=1 << 26)
        try:
            writer.write(f"(\n{commands}\n)\necho status=$?\nexit\n".encode())
            # Background processes may keep the connection open.
            printed = (await asyncio.wait_for(reader.readuntil(b"status="), seconds)).decode(errors="replace")
            status = (await asyncio.wait_for(reader.readline(), seconds)).decode().strip()
        except (TimeoutError, asyncio.IncompleteReadError):
            raise Mismatch(f"in the box, timed out after {seconds} s: {commands}") from None
        finally:
            writer.close()
        printed = printed.removesuffix("status=")
        if status != "0":
            raise Mismatch(f"in the box, status {status}: {commands}: {printed.strip()}")
        return printed


@contextlib.asynccontextmanager
async def box(
    version: str, controllers: Sequence[int], log: pathlib.Path, programs: Mapping[str, pathlib.Path] = NOTHING
) -> AsyncIterator[Box]:
    """Boots the box of a version of BlueZ with an adapter for each controller; the end of the context stops it.

    The controllers must already be listening. Nothing is kept between boots. `programs` can be run in the box.
    """
    shell_port, bus_port = free_ports(2)
    with tempfile.TemporaryDirectory() as folder:
        ready = pathlib.Path(folder, "ready")
        disk = BOXES / version / "initrd.cpio"
        if programs:
            original, disk = disk, pathlib.Path(folder, "initrd.cpio")
            await asyncio.to_thread(cargo.load, programs, original, disk)
        command = _command(version, disk, controllers, shell_port, bus_port, ready, log)
        async with contextlib.AsyncExitStack() as stack:
            async with BOOTING:
                process = await stack.enter_async_context(running(log, *command))
                for _ in range(BOOT_SECONDS * 10):
                    if ready.exists() and ready.read_text():
                        break
                    if process.returncode is not None:
                        raise Mismatch(f"the box ended with status {process.returncode} while booting")
                    await asyncio.sleep(0.1)
                else:
                    raise Mismatch(f"the box has not booted after {BOOT_SECONDS} s")
            yield Box(version, shell_port, bus_port)


def _command(
    version: str,
    disk: pathlib.Path,
    controllers: Sequence[int],
    shell_port: int,
    bus_port: int,
    ready: pathlib.Path,
    log: pathlib.Path,
) -> list[str]:
    # Any accelerator will do; emulation works everywhere, nested virtualization does not.
    accelerator = os.environ.get("INTEROP_QEMU", "-accel tcg,thread=multi -cpu max").split()
    forwarded = f"hostfwd=tcp:127.0.0.1:{shell_port}-:23,hostfwd=tcp:127.0.0.1:{bus_port}-:24"
    command = [
        QEMU,
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-M", "q35", "-m", MEMORY, *accelerator),
        *("-kernel", str(BOXES / version / "vmlinux"), "-initrd", str(disk)),
        *("-append", KERNEL_WORDS, "-serial", f"file:{log.with_suffix('.console.log')}"),
        *("-device", "virtio-serial-pci"),
        *("-chardev", f"file,id=ready,path={ready}", "-device", "virtserialport,chardev=ready,name=ready"),
        *("-netdev", f"user,id=net,restrict=on,{forwarded}", "-device", "virtio-net-pci,netdev=net,romfile="),
    ]
    for number, port in enumerate(controllers):
        name = f"hci{number}"
        command += ["-chardev", f"socket,id={name},host=127.0.0.1,port={port},nodelay=on"]
        command += ["-device", f"virtserialport,chardev={name},name={name}"]
    return command


def obstacle(version: str) -> str | None:
    """Returns the reason why the box of `version` cannot run here; `None` if it can."""
    if shutil.which(QEMU) is None:
        return f"{QEMU} is not installed"
    if not (BOXES / version / "initrd.cpio").exists():
        return f"no box in {BOXES / version}; run Interop/bluez/setup"
    return None
