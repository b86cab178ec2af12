"""The programs of the guides, run literally in the demo."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from brokers import Broker, missing
from common import ble, environment, python, root

demo = environment | {"BLUETOOTH_HOST": "demo"}


def blocks(name, language):
    """The blocks of a guide in one language, each with the output that follows it, or None."""
    text = (root / "docs/guides" / name).read_text()
    found = re.findall(rf"^```{language}\n(.*?)^```\n(?:```output\n(.*?)^```$)?", text, re.MULTILINE | re.DOTALL)
    return [(program, output or None) for program, output in found]


def matches(output, expected):
    """Says whether an output is the expected one, in which “…” stands for some text, or alone for some lines."""
    pattern = re.escape(expected).replace("…\\\n", "…\n")
    pattern = re.sub(r"^…\n", r"(?:.*\\n)*?", pattern, flags=re.MULTILINE).replace("…", ".*")
    return re.fullmatch(pattern, output) is not None


def guide():
    """The programs of PYTHON.md, and what they print."""
    programs = blocks("PYTHON.md", "python")
    assert len(programs) == 4, f"PYTHON.md has {len(programs)} programs"
    with tempfile.TemporaryDirectory() as folder:
        for program, expected in programs:
            script = pathlib.Path(folder) / "program.py"
            script.write_text(program)
            backend = [] if "corebluetooth_linux" in program else ["-m", "corebluetooth_linux"]
            printed = subprocess.run([python, *backend, script], env=demo, check=True, timeout=120,
                                     stdout=subprocess.PIPE, text=True).stdout
            assert matches(printed, expected or ""), f"PYTHON.md:\n{program}\nprinted\n{printed}"
    print(f"PYTHON.md: {len(programs)} programs")


def scripts():
    """The scripts of the guides, and what they print."""
    for name in ("PYTHON.md", "SCRIPTS.md", "GATEWAY.md"):
        if reason := missing():
            print(f"{name} {reason}")
        elif name == "GATEWAY.md" and Broker.listens_at(1883):
            print(f"{name} skipped: port 1883 is in use")
        else:
            print(f"{name}: {run_scripts(name)} scripts")


def run_scripts(name):
    programs = blocks(name, "sh")
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "ble").symlink_to(ble)
        (folder / "ble-gateway").symlink_to(root / "Packaging/gateway/ble-gateway")
        (folder / "gateway").symlink_to(python.parent.parent)
        own = demo | {"PATH": f"{folder}:{python.parent}:{os.environ['PATH']}:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"}
        for program, expected in programs:
            with open(folder / "output", "w") as output, open(folder / "errors", "w") as errors:
                shell = subprocess.Popen(["bash", "-euc", program], cwd=folder, env=own, stdout=output, stderr=errors,
                                         start_new_session=True)
                try:
                    status = shell.wait(120)
                finally:
                    # What a script leaves in the background ends with it.
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(shell.pid, signal.SIGTERM)
            printed = (folder / "output").read_text()
            assert status == 0 and matches(printed, expected or ""), \
                f"{name}:\n{program}\nended with {status} and printed\n{printed}{(folder / 'errors').read_text()}"
    return len(programs)
