"""Sensors of simulated worlds, gateways and a real broker: what arrives there is what the sensors send."""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

from common import ble, bled, daemon, environment, here, python, root
from programs import process

# Temperature, humidity and pressure of the devices of world.json, in °C, % and hPa.
RUUVI = {"Ruuvi 1": (24.3, 53.49, 1000.44), "Ruuvi 2": (20.0, 50.0, 1000.0), "Ruuvi 3": (-20.0, 25.0, 831.24)}
ROOM = "home/kitchen"
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def sensor(kind, number, dice):
    """A sensor of one of five kinds with random values: its name, its description, and what a decoder must find."""
    address = bytes.fromhex("A4C138") + dice.randbytes(3)
    celsius, percent, battery = dice.randrange(-2000, 4000), dice.randrange(500, 9500), dice.randrange(5, 101)
    match kind:
        case 0:
            hectopascal = dice.randrange(90000, 105000)
            data = struct.pack("<HBhHHhhhHBH", 0x0499, 5, 0, 0, 0, 4, -4, 1036, 44086, 66, number)
            celsius, percent = celsius // 10 * 10, percent // 10 * 10
            values = struct.pack(">hHH", celsius * 2, percent * 4, hectopascal - 50000)
            octets = b"\x99\x04\x05" + values + struct.pack(">hhhHBH", 4, -4, 1036, 44086, 66, number) + address
            return f"Tag {number}", {"manufacturerData": octets.hex()}, {
                "tempc": celsius / 100, "hum": percent / 100, "pres": hectopascal / 100}
        case 1:
            celsius, percent = celsius // 10, percent // 100
            octets = address + struct.pack(">hBBHB", celsius, percent, battery, 2950, number % 256)
            found = {"tempc": celsius / 10, "hum": percent, "batt": battery, "volt": 2.95}
        case 2:
            octets = address[::-1] + struct.pack("<hHHBBB", celsius, percent, 2950, battery, number % 256, 4)
            found = {"tempc": celsius / 100, "hum": percent / 100, "batt": battery, "volt": 2.95}
        case 3:
            octets = struct.pack("<BBBBBBhBH", 0x40, 0, number % 256, 1, battery, 2, celsius, 3, percent)
            return f"ATC_{number:06X}", {"serviceData": [{"uuid": "FCD2", "value": octets.hex()}]}, {
                "tempc": celsius / 100, "hum": percent / 100, "batt": battery}
        case _:
            celsius, percent = abs(celsius) // 10, percent // 10
            octets = b"\x88\xec\0" + (celsius * 1000 + percent).to_bytes(3, "big") + bytes([battery, 0])
            return f"GVH5075_{number:04X}", {"manufacturerData": octets.hex()}, {
                "tempc": celsius / 10, "hum": percent / 10, "batt": battery}
    return f"ATC_{number:06X}", {"serviceData": [{"uuid": "181A", "value": octets.hex()}]}, found


def world(count, seed=1):
    """A world with sensors, and the values of each."""
    dice = random.Random(seed)
    sensors = [sensor(number % 5, number, dice) for number in range(count)]
    machines = [{"name": name, "connectable": False} | keys for name, keys, _ in sensors]
    return {"seed": seed, "machines": machines}, {name: found for name, _, found in sensors}


class Broker:
    """A mosquitto of its own, and what subscribers of it have received."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.configuration = self.folder / "broker.conf"
        self.configuration.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\n")
        self.program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/sbin")

    def listens(self):
        return self.listens_at(self.port)

    @staticmethod
    def listens_at(port):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    def run(self):
        return process(self.program, "-c", self.configuration, until=self.listens, **quiet)

    @contextlib.contextmanager
    def subscriber(self, topic="home/#"):
        """Yields a function that returns the messages so far, as pairs of topic and text."""
        log = self.folder / "messages"
        with open(log, "w") as output, process("mosquitto_sub", "-p", str(self.port), "-t", topic, "-F", "%t %p",
                                               stdout=output, stderr=subprocess.DEVNULL):
            yield lambda: [tuple(line.split(" ", 1)) for line in log.read_text().splitlines(True) if line[-1] == "\n"]


def until(what, condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.1)


def missing():
    """Says which program is missing, if one is."""
    for program in ("mosquitto", "mosquitto_sub", "jq"):
        if not shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin"):
            return f"skipped: there is no {program} (apt-get install mosquitto mosquitto-clients jq)"
    return None


def gateway():
    """TheengsGateway as its own scanner, on the backend for bleak."""
    if reason := missing():
        return print(reason)

    def values(messages):
        """The values of each device that the broker has got, by name."""
        got = {}
        for _, text in messages():
            with contextlib.suppress(ValueError):
                message = json.loads(text)
                if message.get("name") in RUUVI:
                    found = (message.get("tempc"), message.get("hum"), message.get("pres", 0))
                    got.setdefault(message["name"], set()).add(found)
        return got

    with tempfile.TemporaryDirectory() as folder, daemon(f"world:{here / 'world.json'}") as own:
        broker = Broker(folder)
        for _ in range(2):  # The second time, the broker and the gateway have been restarted.
            with broker.run(), broker.subscriber() as messages:
                got = values_of_scans(broker, own, lambda: values(messages))
            assert got == {name: {numbers} for name, numbers in RUUVI.items()}, f"TheengsGateway: {got}"
    print("TheengsGateway: the values of three devices, before and after a restart of the broker")


def values_of_scans(broker, own, values):
    """Runs TheengsGateway until `values` has those of all devices; returns them.

    Its scans begin in a thread of their own, and never do if that thread is faster than the one that creates the MQTT
    client. Then it is started again.
    """
    for _ in range(5):
        with theengs(broker, "-sd", "2", "-tb", "1", env=own), contextlib.suppress(AssertionError):
            until("values of three devices", lambda: len(values()) == len(RUUVI), 40)
            break
    return values()


@contextlib.contextmanager
def theengs(broker, *options, env):
    """TheengsGateway with a configuration of its own; what it writes is shown if a check fails."""
    log = broker.folder / "theengs.log"
    command = [python, "-m", "corebluetooth_linux", "-m", "TheengsGateway", "-H", "127.0.0.1", "-P", str(broker.port),
               "-c", broker.folder / "theengs.conf", *options]
    with open(log, "w") as output:
        try:
            with process(*command, cwd=broker.folder, env=env, stdout=output, stderr=output) as running:
                yield running
        except AssertionError:
            print(log.read_text()[-3000:])
            raise


@contextlib.contextmanager
def ble_gateway(broker, room, env):
    """The gateway of the package, with all of its processes; yields the process of its script."""
    command = [root / "Packaging/gateway/ble-gateway", room, "-h", "127.0.0.1", "-p", str(broker.port)]
    with process(*command, env=env, start_new_session=True, **quiet) as script:
        try:
            yield script
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(script.pid, signal.SIGTERM)


class Place:
    """A folder with a world of sensors, and with `ble` in a PATH of its own."""

    def __init__(self, stack, sensors):
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-", dir="/tmp")))
        described, self.expected = world(sensors)
        (self.folder / "world.json").write_text(json.dumps(described))
        (self.folder / "ble").symlink_to(ble)
        self.socket = self.folder / "bled/socket"
        self.environment = environment | {"BLUETOOTH_HOST": f"bled:{self.socket}", "GATEWAY_EVERY": "1",
                                          "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}"}

    def daemon(self):
        with contextlib.suppress(FileNotFoundError):
            self.socket.unlink()
        return process(bled, "--socket", self.socket, "--sessions", self.folder / "sessions",
                       f"world:{self.folder / 'world.json'}", until=self.socket.exists, **quiet)


def fleet():
    """ble-gateway in worlds with 5 and 200 sensors; the broker and the daemon are killed and started again."""
    if reason := missing():
        return print(reason)
    for count in (5, 200):
        begun = time.monotonic()
        messages = sensors_to_broker(count)
        print(f"ble-gateway: {count} sensors, {messages} decoded messages in {time.monotonic() - begun:.0f} s, each "
              "with the values of its sensor, over restarts of the broker and the daemon")


def sensors_to_broker(count):
    """Returns the number of decoded messages, all of which were right."""
    total = 0
    with contextlib.ExitStack() as stack:
        place = Place(stack, count)
        broker = Broker(place.folder)

        def check(messages, *states):
            """Waits for the values of all sensors and for states of the gateway; checks all messages."""
            nonlocal total

            def names():
                return {json.loads(text).get("name") for topic, text in messages() if "undecoded" not in topic
                        and "/BTtoMQTT/" in topic}

            def said():
                return [text.strip() for topic, text in messages() if topic == f"{ROOM}/LWT"]

            until(f"values of {count} sensors", lambda: names() >= set(place.expected))
            until(f"the states {states}", lambda: list(dict.fromkeys(said()))[:len(states)] == list(states), 60)
            for topic, text in messages():
                if "/BTtoMQTT/" in topic and "undecoded" not in topic:
                    message = json.loads(text)
                    wanted = place.expected[message["name"]]
                    assert {key: message.get(key) for key in wanted} == wanted, f"{wanted} became {message}"
                    total += 1

        first = stack.enter_context(broker.run())
        owner = stack.enter_context(place.daemon())
        stack.enter_context(theengs(broker, "-b", "0", env=place.environment))
        script = stack.enter_context(ble_gateway(broker, "kitchen", place.environment))
        with broker.subscriber() as messages:
            check(messages, "online")
            # The daemon: the gateway says that it is offline, and goes on when the daemon is back.
            owner.kill()
            owner.wait()
            until("the state offline", lambda: (f"{ROOM}/LWT", "offline\n") in messages())
        with broker.subscriber() as messages:
            stack.enter_context(place.daemon())
            check(messages, "offline", "online")
        first.kill()
        first.wait()
        stack.enter_context(broker.run())
        with broker.subscriber() as messages:
            check(messages, "online")
        assert script.poll() is None, "ble-gateway has ended"
        script.terminate()
        assert (status := script.wait(30)) == 0, f"ble-gateway has ended with status {status}"
    return total


def crowd():
    """Many gateways on one broker, and what each costs.

    GATEWAYS says how many, SENSORS how many sensors each receives, and MEASURED_SECONDS for how long they are measured.
    """
    if reason := missing():
        return print(reason)
    count, sensors, seconds = (int(os.environ.get(name, default)) for name, default in
                               (("GATEWAYS", "4"), ("SENSORS", "20"), ("MEASURED_SECONDS", "5")))
    with contextlib.ExitStack() as stack:
        place = Place(stack, sensors)
        place.environment["GATEWAY_EVERY"] = "5"
        broker = Broker(place.folder)
        single = {"broker": stack.enter_context(broker.run()), "bled": stack.enter_context(place.daemon())}
        messages = stack.enter_context(broker.subscriber("home/+/BTtoMQTT/undecoded"))
        scripts = [stack.enter_context(ble_gateway(broker, f"room{number}", place.environment))
                   for number in range(count)]

        def pairs():
            return {(topic, json.loads(text)["name"]) for topic, text in messages()}

        until("every gateway has published every sensor", lambda: len(pairs()) == count * sensors, 300)
        sessions = {script.pid for script in scripts}
        gateways = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if session(pid) in sessions]
        before = {pid: cost(pid) for pid in [*gateways, *(one.pid for one in single.values())]}
        published, begun = len(messages()), time.monotonic()
        time.sleep(seconds)
        took, published = time.monotonic() - begun, len(messages()) - published
        after = {pid: cost(pid) for pid in before}
        assert all(script.poll() is None for script in scripts), "a gateway has ended"

        def say(what, processes, shares=1):
            percent = sum(after[pid][0] - before[pid][0] for pid in processes) / took * 100 / shares
            memory = sum(after[pid][1] for pid in processes) / shares / 2**20
            print(f"  {what}: {percent:.2f} % of a core, {memory:.1f} MiB")

        print(f"{count} gateways, {sensors} sensors: {published / took:.0f} messages per second at the broker")
        say("a gateway", gateways, count)
        for program in ("ble", "jq", "mosquitto_pub", "tee", "ble-gateway"):
            say(f"  of it {program}", [pid for pid in gateways if after[pid][2] == program], count)
        for what, one in single.items():
            say(f"the {what}", [one.pid])


def session(pid):
    """The session of a process, or None if it has ended."""
    with contextlib.suppress(OSError):
        return os.getsid(pid)


def cost(pid):
    """The processor time of a process in seconds, its own memory and its share of common memory in octets, its name."""
    folder = pathlib.Path(f"/proc/{pid}")
    name, _, rest = (folder / "stat").read_text().partition(" (")[2].rpartition(")")
    ticks = sum(map(int, rest.split()[11:13]))
    memory = re.search(r"^Pss:\s+(\d+)", (folder / "smaps_rollup").read_text(), re.MULTILINE)
    return ticks / os.sysconf("SC_CLK_TCK"), int(memory[1]) << 10, name
