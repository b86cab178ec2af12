"""Runs the Python package, and programs of others on its bleak backend: run.py BLED BLE [PART…]

`Interop/python/setup` installs the programs. bleak's own tests run with Bumble as their peripheral if
`Interop/bluez-api/setup` has them; TheengsGateway publishes to a mosquitto of its own. A part whose program is missing
is skipped, and says so.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from brokers import RUUVI, crowd, fleet, gateway
from common import ble, daemon, environment, here, home, python, root
from guides import guide, scripts
from programs import air, bleak_tests, process

# Tests of bleak that may fail: two that are about its built-in backends, and those that fail through D-Bus, too.
KNOWN = ["test_platform_detection", "test_backend_id", "test_indicate_gatt_char",
         "test_notification_sent_before_write_response"]


def types():
    package = root / "Python/corebluetooth_linux"
    command = [python, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "--no-error-summary", "-p", package.name]
    subprocess.run(command, check=True, cwd=package.parent, timeout=300)
    print("mypy: the types of the package are right")


def client():
    subprocess.run([python, here / "client.py", here / "world.json"], env=environment, check=True, timeout=300)


def faults():
    for script in ("faults.py", "bleak_faults.py"):
        subprocess.run([python, here / script, here / "world.json"], env=environment, check=True, timeout=120)


def survival():
    """Sessions that live through everything; SURVIVAL_EVENTS says for how many values."""
    events = os.environ.get("SURVIVAL_EVENTS", "20000")
    subprocess.run([python, here / "survival.py", events], env=environment, check=True, timeout=300 + int(events) / 100)


def bleak():
    with daemon(f"world:{here.parent / 'bluez-api/world.json'}") as own:
        subprocess.run([python, "-m", "corebluetooth_linux", here.parent / "bluez-api/central.py"], env=own, check=True,
                       timeout=300)


def suite():
    with air(ble, "--unpaced") as (one, other), daemon(f"tcp:127.0.0.1:{one}") as own:
        bleak_tests(python, "-m", "corebluetooth_linux", home=home, peripheral=other, environment=own, known=KNOWN)


def ruuvitag():
    program = (
        "import asyncio, json\n"
        "from ruuvitag_sensor.ruuvi import RuuviTagSensor\n"
        "async def main():\n"
        "    found = {}\n"
        "    async for mac, data in RuuviTagSensor.get_data_async():\n"
        "        found[mac] = [data['temperature'], data['humidity'], data['pressure']]\n"
        "        if len(found) == 3:\n"
        "            break\n"
        "    print(json.dumps(sorted(found.values())))\n"
        "asyncio.run(main())\n")
    with tempfile.TemporaryDirectory() as folder, daemon(f"world:{here / 'world.json'}") as own:
        script = pathlib.Path(folder) / "ruuvi.py"
        script.write_text(program)
        result = subprocess.run([python, "-m", "corebluetooth_linux", script], capture_output=True, text=True,
                                env=own | {"RUUVI_BLE_ADAPTER": "bleak"}, timeout=120)
    values = json.loads(result.stdout.strip().splitlines()[-1]) if result.stdout.strip() else result.stderr
    assert values == sorted(map(list, RUUVI.values())), f"ruuvitag-sensor: {values}"
    print("ruuvitag-sensor: the values of three devices")


def smp():
    """smpclient updates the firmware of a device."""
    with air(ble) as (one, other), daemon(f"tcp:127.0.0.1:{one}") as own, \
            process(python, here / "smp_server.py", other):
        subprocess.run([python, "-m", "corebluetooth_linux", here / "smp_user.py"], env=own, check=True, timeout=170)


# What is created here is for this user only, whatever the umask is; what is started ends also if this is ended.
os.umask(0o077)
signal.signal(signal.SIGTERM, lambda *_: sys.exit("run.py: ended"))
parts = [types, client, faults, guide, scripts, survival, bleak, suite, ruuvitag, smp, gateway, fleet, crowd]
for part in [part for part in parts if part.__name__ in sys.argv[3:]] or parts:
    begun = time.monotonic()
    part()
    print(f"  {part.__name__}: {time.monotonic() - begun:.1f} s", flush=True)
