"""Tests the packaged daemon in a machine of its own: run.py BLE

The machine is that of `Interop/service/setup`: Debian, booted by systemd in QEMU, with bled on its adapter hci0 for
apps of a user without rights, and bluetoothd on hci1. Its controllers and that of its peer are rootcanal's.
Prints one JSON object a row; the exit status is 1 if a row fails.
"""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
HOME = pathlib.Path(os.environ.get("INTEROP_HOME", HERE.parents[1] / ".interop"))
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
BOX = pathlib.Path(os.environ.get("INTEROP_BOXES", CACHE / "corebluetooth-linux" / "boxes")) / "service"
WORDS = "root=/dev/vda rw console=ttyS0 quiet net.ifnames=0 mitigations=off audit=0 panic=-1"
APP = "runuser -u visitor -- env -u BLUETOOTH_HOST XDG_RUNTIME_DIR=/run/user/1000"
BOOT_SECONDS = 240
"""The time limit of a boot, which takes about 30 s on an idle machine with emulated processors."""

sys.path.insert(0, str(HERE.parent / "daemon"))

from app import free_ports  # noqa: E402


class Failed(Exception):
    """A check in the machine has failed."""


def connect(port, seconds=20.0):
    due = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            if time.monotonic() > due:
                raise Failed(f"nothing listens on port {port}") from None
            time.sleep(0.05)


class Machine:
    """The machine, and its peer device."""

    def __init__(self, place, ble, stack):
        self.place, self.ble, self.stack, self.device = pathlib.Path(place), ble, stack, None
        self.hci, self.control, link, link_ble, self.port = free_ports(5)
        self.start(HOME / "rootcanal", f"-hci_port={self.hci}", f"-test_port={self.control}", f"-link_port={link}",
                   f"-link_ble_port={link_ble}", LD_PRELOAD=str(HOME / "rootcanal-loopback.so"))
        # rootcanal ends when the connection to its test port is closed.
        self.stack.enter_context(connect(self.control))
        disk = self.place / "disk.img"
        subprocess.run(["cp", "--sparse=always", BOX / "disk.img", disk], check=True)
        words = ["-nodefaults", "-no-user-config", "-display", "none", "-M", "q35", "-m", "1024", "-smp", "2"]
        words += os.environ.get("INTEROP_QEMU", "-accel tcg,thread=multi -cpu max").split()
        words += ["-kernel", BOX / "vmlinuz", "-initrd", BOX / "initrd.img", "-append", WORDS]
        words += ["-drive", f"file={disk},format=raw,if=virtio,cache=writeback"]
        words += ["-serial", f"file:{self.place / 'console'}", "-device", "virtio-serial-pci"]
        words += ["-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:23"]
        words += ["-device", "virtio-net-pci,netdev=net,romfile="]
        for name in ("hci0", "hci1"):
            words += ["-chardev", f"socket,id={name},host=127.0.0.1,port={self.hci},nodelay=on"]
            words += ["-device", f"virtserialport,chardev={name},name={name}"]
        self.start("qemu-system-x86_64", *words)

    def start(self, *words, **environment):
        with (self.place / "errors").open("ab") as errors:
            process = subprocess.Popen(words, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=errors)
        self.stack.callback(stop, process)
        return process

    def shell(self, commands, seconds=60.0):
        """Runs commands in the machine, which must succeed, and returns their output."""
        with connect(self.port) as line:
            line.sendall(f"(\n{commands}\n)\necho status=$?\nexit\n".encode())
            line.settimeout(seconds)
            printed = b""
            while b"status=" not in printed or not printed.endswith(b"\n"):
                try:
                    octets = line.recv(1 << 16)
                except OSError:
                    raise Failed(f"timed out after {seconds:g} s: {commands}: {printed.decode()}") from None
                if not octets:
                    break
                printed += octets
        text, _, status = printed.decode(errors="replace").rpartition("status=")
        if status.strip() != "0":
            raise Failed(f"status {status.strip()}: {commands}: {text.strip()[-600:]}")
        return text

    def await_boot(self, before=""):
        """Waits until a boot other than `before` has finished, and returns its identifier."""
        due = time.monotonic() + BOOT_SECONDS
        while time.monotonic() < due:
            with contextlib.suppress(Failed):
                name = self.shell("cat /proc/sys/kernel/random/boot_id", 5).strip()
                if name and name != before:
                    self.shell("systemctl is-system-running --wait || true", BOOT_SECONDS)
                    return name
            time.sleep(0.5)
        raise Failed(f"the machine has not booted after {BOOT_SECONDS} s")

    def start_device(self):
        file = self.place / "device.json"
        file.write_text(json.dumps({"name": "Counter", "services": [{"uuid": "180D", "characteristics": [
            {"uuid": "2A37", "properties": ["notify"], "notify": {"every": 300, "values": ["00", "01"]}},
            {"uuid": "2A38", "properties": ["read"], "value": "07"}]}]}))
        self.device = self.start(self.ble, "serve", file, BLUETOOTH_HOST=f"tcp:127.0.0.1:{self.hci}",
                                 XDG_STATE_HOME=str(self.place / "device"))

    def stop_device(self):
        stop(self.device)

    def remembered(self):
        """Returns the daemon's stored state of its radio."""
        return json.loads(self.shell("cat $(find /var/lib/bled -name host.json)"))

    def until(self, what, commands, seconds=60.0):
        """Repeats commands until they succeed, and returns their output."""
        due = time.monotonic() + seconds
        while True:
            try:
                return self.shell(commands)
            except Failed as failure:
                if time.monotonic() > due:
                    raise Failed(f"{what}: {failure}") from None
                time.sleep(1)


def stop(process):
    if process and process.poll() is None:
        process.kill()
    if process:
        process.wait()


def activation(machine):
    machine.start_device()
    machine.shell("systemctl is-active bled.socket && ! systemctl is-active bled.service")
    machine.until("the app finds the device", f"{APP} ble scan --duration 5 | grep Counter")
    machine.shell("systemctl is-active bled.service")
    machine.shell("[ $(stat -c %U /proc/$(pidof bled)) = bled ]")
    machine.shell("grep -q 'CapEff:.*0000000000001000' /proc/$(pidof bled)/status")
    machine.shell(f"{APP} ble read Counter 2A38 | grep 07")
    return {}


def sharing(machine):
    notify = f"{APP} ble notify Counter 2A37 --count 10 --json"
    both = f"{notify} > /tmp/one & {notify} > /tmp/two; wait"
    told = machine.shell(f"{both}; cat /tmp/one /tmp/two | grep -c received", 90)
    if int(told) != 20:
        raise Failed(f"{told} values instead of 20")
    return {"values": int(told)}


def neighbour(machine):
    scan = "bluetoothctl --timeout 8 scan on | grep -a Counter"
    machine.shell("systemctl is-active bluetooth")
    adapters = machine.shell("bluetoothctl list").count("Controller ")
    machine.until("bluetoothd finds the device", scan)
    machine.shell(f"({APP} ble notify Counter 2A37 --count 10 > /tmp/one) & {scan}; wait; grep -c . /tmp/one", 90)
    if adapters != 1:
        raise Failed(f"bluetoothd has {adapters} adapters instead of 1")
    return {"adapters_of_bluetoothd": adapters}


def pull(machine):
    pid = machine.shell("pidof bled").strip()
    bridge = "kill -{} $(systemctl show -p MainPID --value adapter@hci0)"
    machine.shell(f"({APP} ble notify Counter 2A37 > /tmp/pulled 2>&1; echo $? > /tmp/status) > /dev/null 2>&1 & "
                  "for i in $(seq 60); do [ -s /tmp/pulled ] && break; sleep 1; done; sleep 2")
    machine.shell(bridge.format("USR1"))
    status = machine.until("the app ends", "cat /tmp/status").strip()
    machine.shell(bridge.format("USR2"))
    machine.until("an app works again", f"{APP} ble read Counter 2A38 | grep 07", 90)
    if machine.shell("pidof bled").strip() != pid:
        raise Failed("the daemon has restarted")
    if status != "69":
        raise Failed(f"the app ended with status {status}: {machine.shell('cat /tmp/pulled')}")
    return {"status_of_the_app": int(status)}


def killed(machine):
    pid = machine.shell("pidof bled").strip()
    machine.shell("kill -9 $(pidof bled)")
    machine.until("an app works again", f"{APP} ble read Counter 2A38 | grep 07", 90)
    if machine.shell("pidof bled").strip() == pid:
        raise Failed("the daemon was not killed")
    return {}


def reboot(machine):
    heard = "journalctl -b --no-pager _SYSTEMD_USER_UNIT=watcher.service -o cat"
    machine.stop_device()
    machine.shell(f"{APP} systemctl --user start watcher")
    machine.until("the app waits", f"{heard} | grep 'powered on'")
    before, boot = machine.remembered(), machine.shell("cat /proc/sys/kernel/random/boot_id").strip()
    machine.shell("(sleep 1; systemctl reboot) > /dev/null 2>&1 &")
    machine.await_boot(before=boot)
    machine.until("the daemon starts by itself", "systemctl is-active bled.service")
    kept = machine.until("the session is kept", f"{APP} ble apps | grep kept")
    after = machine.remembered()
    if after["secret"] != before["secret"] or any(peer not in after["peers"] for peer in before["peers"]):
        raise Failed(f"the daemon has stored {after}, and had stored {before}")
    machine.shell(f"! {heard} | grep restored")
    machine.start_device()
    said = machine.until("the app is launched and finds the device", f"{heard} | grep -A9 restored | grep discovered")
    return {"kept": " ".join(kept.split()), "heard": said.split(), "peers_remembered": len(before["peers"])}


def confined(machine):
    rating = machine.shell("systemd-analyze security bled --no-pager | tail -n 1").strip()
    level = float(rating.split(":")[1].split()[0])
    machine.shell("systemctl stop bled.socket bled.service; ! pidof bled")
    errors = machine.shell("journalctl --no-pager -u bled -p err -o cat | grep -v -i 'main process exited' || true")
    if level > 1.5:
        raise Failed(rating)
    return {"exposure": level, "errors": errors.splitlines()}


ROWS = {
    "an app without rights starts the daemon by its socket, and reads from a device": activation,
    "two apps receive all values of a device": sharing,
    "bluetoothd has another adapter, and finds the device at the same time": neighbour,
    "the adapter is removed and returned: an app ends with an error, and the next one works": pull,
    "the daemon is killed: the next app works": killed,
    "the machine is rebooted: an app that was waiting is launched for its event": reboot,
    "the daemon is confined, and stops": confined,
}


def main(ble):
    missing = [str(path) for path in (BOX / "disk.img", HOME / "rootcanal") if not path.exists()]
    missing += [] if shutil.which("qemu-system-x86_64") else ["qemu-system-x86_64"]
    if missing:
        print(f"Skipped: {', '.join(missing)} is missing. Run Interop/setup and Interop/service/setup.")
        return 0
    failures = 0
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        begun, machine = time.monotonic(), Machine(place, ble, stack)
        machine.await_boot()
        print(json.dumps({"booted_s": round(time.monotonic() - begun)}), flush=True)
        for title, row in ROWS.items():
            begun, fact = time.monotonic(), {"row": title}
            try:
                fact |= row(machine) | {"holds": True}
            except Failed as failure:
                fact |= {"holds": False, "because": str(failure)}
                failures += 1
            print(json.dumps(fact | {"seconds": round(time.monotonic() - begun)}), flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(os.path.realpath(sys.argv[1])))
