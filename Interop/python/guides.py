"""The programs of the guides, run literally in the demo."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

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
    """The programs of PYTHON.md."""
    programs = blocks("PYTHON.md", "python")
    assert len(programs) == 3, f"PYTHON.md has {len(programs)} programs"
    with tempfile.TemporaryDirectory() as folder:
        for program, _ in programs:
            script = pathlib.Path(folder) / "program.py"
            script.write_text(program)
            subprocess.run([python, script], env=demo, check=True, timeout=120, stdout=subprocess.DEVNULL)
    print(f"PYTHON.md: {len(programs)} programs")


def scripts():
    """The scripts of SCRIPTS.md."""
    if not shutil.which("jq"):
        return print("skipped: there is no jq (apt-get install jq)")
    programs = blocks("SCRIPTS.md", "sh")
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "ble").symlink_to(ble)
        own = demo | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        for program, expected in programs:
            result = subprocess.run(["bash", "-euc", program], cwd=folder, env=own, capture_output=True, text=True,
                                    timeout=120)
            assert result.returncode == 0 and matches(result.stdout, expected or ""), \
                f"SCRIPTS.md:\n{program}\nexited with {result.returncode} and printed\n{result.stdout}{result.stderr}"
    print(f"SCRIPTS.md: {len(programs)} scripts")
