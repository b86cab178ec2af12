"""A peripheral with bluezero: peripheral.py FOLDER-OF-BLUEZERO. Needs python3-dbus and python3-gi."""

import sys

sys.path.insert(0, sys.argv[1])

from bluezero import adapter, peripheral  # noqa: E402
from gi.repository import GLib  # noqa: E402

level = [42]


def write(value, options):
    level[0] = value[0]


def notify(is_notifying, characteristic):
    def step():
        level[0] = (level[0] + 1) % 100
        characteristic.set_value(list(level))
        return characteristic.is_notifying

    if is_notifying:
        GLib.timeout_add(100, step)


address = next(iter(adapter.Adapter.available())).address
battery = peripheral.Peripheral(address, local_name="Zero")
battery.add_service(srv_id=1, uuid="180F", primary=True)
battery.add_characteristic(
    srv_id=1, chr_id=1, uuid="2A19", value=[], notifying=False, flags=["read", "write", "notify"],
    read_callback=lambda: list(level), write_callback=write, notify_callback=notify)
battery.publish()
