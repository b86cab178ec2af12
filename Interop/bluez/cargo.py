"""Puts programs of this machine, and the libraries that they need, into the initial RAM disk of a box."""

from __future__ import annotations

import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping

FOLDER = "opt/cargo"
"""The folder of the programs in the box."""

SYSTEM = re.compile(r"/(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libutil)\.so")
"""Libraries that every box already has."""


def load(programs: Mapping[str, pathlib.Path], disk: pathlib.Path, to: pathlib.Path) -> None:
    """Writes the RAM disk `disk` with the programs in it, under their names, to the file `to`.

    The kernel unpacks concatenated archives; later files replace earlier ones.
    """
    with tempfile.TemporaryDirectory() as folder:
        libraries = {library.name: library for program in programs.values() for library in _libraries(program)}
        with open(to, "wb") as output:
            with open(disk, "rb") as original:
                shutil.copyfileobj(original, output)
            output.write(b"\0" * (-output.tell() % 512))
            path = pathlib.PurePosixPath(FOLDER)
            for directory in (*reversed(path.parents[:-1]), path):
                output.write(_entry(str(directory), stat.S_IFDIR | 0o755, b""))
            for name, file in {**programs, **libraries}.items():
                stripped = pathlib.Path(folder, name)
                subprocess.run(["strip", "--strip-unneeded", "-o", stripped, file], check=True)
                output.write(_entry(f"{FOLDER}/{name}", stat.S_IFREG | 0o755, stripped.read_bytes()))
            output.write(_entry("TRAILER!!!", 0, b""))


def _libraries(program: pathlib.Path) -> list[pathlib.Path]:
    listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"=> (/\S+)", listed)
    return [pathlib.Path(library) for library in found if not SYSTEM.search(library)]


def _entry(name: str, mode: int, content: bytes) -> bytes:
    """Returns one file of an archive in the format that cpio calls "newc"."""
    octets = name.encode() + b"\0"
    # Inode, mode, user, group, links, time, size, device (2), device it stands for (2), name length, checksum.
    numbers = (0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(octets), 0)
    header = b"070701" + b"".join(b"%08x" % number for number in numbers) + octets
    return _padded(header) + _padded(content)


def _padded(octets: bytes) -> bytes:
    return octets + b"\0" * (-len(octets) % 4)
