"""BlueZ's own example programs, unmodified, on bled-bluez."""

import contextlib
import os
import re
import subprocess
import threading
import time

PYTHON = "/usr/bin/python3"


class Example:
    """An example program that runs until it is ended, and the text that it has written."""

    def __init__(self, folder, environment, name, *arguments):
        self.name, self.text = name, ""
        self.process = subprocess.Popen(
            [PYTHON, "-u", folder / name, *arguments], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while piece := self.process.stdout.read(1):
            self.text += piece

    def expect(self, *answers):
        end = time.monotonic() + 60
        while not all(re.search(answer, self.text, re.DOTALL) for answer in answers):
            assert time.monotonic() < end, f"{self.name} gave\n{self.text}\nand not {answers}"
            time.sleep(0.05)
        return self.text

    def end(self):
        self.process.terminate()
        self.process.wait(10)


def starter(stack, folder, environment):
    """Returns a function that starts an example program, which ends with the stack."""
    def start(name, *arguments):
        example = Example(folder, environment, name, *arguments)
        stack.callback(example.end)
        return example

    return start


def as_central(folder, environment):
    """The programs that use devices, in a world with the peripherals Heart and Lamp."""
    def run(name, *arguments):
        result = subprocess.run([PYTHON, folder / name, *arguments], env=environment, capture_output=True, text=True,
                                timeout=60)
        assert result.returncode == 0, f"{name} {arguments}: {result.stdout}{result.stderr}"
        return result.stdout

    with contextlib.ExitStack() as stack:
        start = starter(stack, folder, environment)
        start("monitor-bluetooth")
        discovery = start("test-discovery", "-t", "le")
        discovery.expect(r"\[ [0-9A-F:]{17} \]")
        end = time.monotonic() + 60
        while not (found := {name: address for address, name in re.findall("(.{17}) (.*)", run("test-device", "list"))}
                   ).keys() >= {"Heart", "Lamp"}:
            assert time.monotonic() < end, f"test-device lists {found}"
            time.sleep(0.2)
        discovery.end()
        heart, lamp = found["Heart"], found["Lamp"]
        assert "180d" in run("list-devices") and heart in run("list-devices")
        assert run("test-adapter", "list").startswith("    Name = ") or "hci0" in run("test-adapter", "list")
        assert run("test-adapter", "powered").strip() == "1"
        assert run("test-device", "name", heart) == "Heart\n"
        run("test-device", "alias", heart, "Herz")
        assert run("test-device", "alias", heart) == "Herz\n"
        run("test-device", "trusted", heart, "yes")
        assert run("test-device", "trusted", heart) == "1\n"
        assert run("test-device", "blocked", heart) == "0\n"
        run("test-device", "connect", heart)
        client = start("example-gatt-client")
        client.expect("Heart Rate Service found", "Body sensor location value: Chest", "notifications enabled",
                      "HR: 72")
        client.end()
        run("test-device", "disconnect", heart)
        agent = start("simple-agent", "-c", "NoInputNoOutput", lamp)
        agent.expect("Agent registered", "Device paired")
        assert "Paired = 1" in run("list-devices")
        run("test-device", "remove", lamp)
        assert lamp not in run("test-device", "list")


def as_peripheral(folder, environment, remote):
    """The programs that serve values and advertise; `remote` runs ble on the other controller."""
    with contextlib.ExitStack() as stack:
        start = starter(stack, folder, environment)
        start("example-gatt-server").expect("GATT application registered")
        start("example-advertisement").expect("Advertisement registered")
        text = remote("scan", "--name", "TestAdvertisement", "--duration", "5", "--json")
        for content in ("180d", "180f", "9999", "ffff"):
            assert content in text.lower(), f"example-advertisement without {content}: {text}"
        text = remote("read", "TestAdvertisement", "180F/2A19", "180D/2A38", "--timeout", "20")
        assert "64" in text and "01" in text, f"example-gatt-server: {text}"
        text = remote("inspect", "TestAdvertisement", "--timeout", "20")
        assert "12345678-1234-5678-1234-56789ABCDEF0" in text.upper(), f"example-gatt-server: {text}"
        assert "This is a characteristic for testing" in text, f"example-gatt-server without its descriptors: {text}"


def present(folder):
    """Returns whether the programs can be run, and says so if not."""
    if not (folder / "example-gatt-client").exists():
        return print("skipped: BlueZ's example programs are not there; see Interop/bluez-api/setup")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    return True
