"""What the parts of the step `python` share: the programs, their environment, and a daemon of their own."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
sys.path.insert(0, str(here.parent))
from programs import process  # noqa: E402

bled, ble = (os.path.abspath(path) for path in sys.argv[1:3])
home = pathlib.Path(os.environ.get("INTEROP_HOME") or root / ".interop").resolve()
python = home / "python/venv/bin/python"
environment = os.environ | {"BLE": ble, "BLED": bled}


@contextlib.contextmanager
def daemon(radio):
    """A daemon; yields the environment of a program that uses it."""
    with tempfile.TemporaryDirectory(prefix="bled-", dir="/tmp") as folder:
        place = pathlib.Path(folder) / "bled/socket"
        with process(bled, "--socket", place, "--sessions", pathlib.Path(folder) / "sessions", radio,
                     until=place.exists, stdout=subprocess.DEVNULL):
            yield environment | {"BLUETOOTH_HOST": f"bled:{place}"}
