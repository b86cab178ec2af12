"""Drives hosts through `BLEConformance host`, as host test suites do, on two or three controllers of one radio."""

import contextlib
import json
import pathlib
import queue
import subprocess
import sys
import threading
import time

import exchange

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Interop"))

from interop.ports import free_ports  # noqa: E402

PATIENCE = 30
PUBLIC, RANDOM, PRIVATE = 0, 1, 2


class Host:
    """A process of `BLEConformance host`, which answers lines of JSON."""

    def __init__(self, driver, port):
        command = [driver, "host", "--controller", f"tcp:127.0.0.1:{port}"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.seen = []
        self.count = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def wait(self, what, matches):
        """Returns the first unconsumed line that matches, and consumes it."""
        due = time.monotonic() + PATIENCE
        while True:
            for index, line in enumerate(self.seen):
                if matches(line):
                    return self.seen.pop(index)
            try:
                self.seen.append(self.lines.get(timeout=max(due - time.monotonic(), 0.01)))
            except queue.Empty:
                raise exchange.Failure(f"no {what} within {PATIENCE} s, but {self.seen[-3:]}") from None

    def ask(self, op, **arguments):
        """Sends a request, and returns its number."""
        self.count += 1
        self.process.stdin.write(json.dumps({"id": self.count, "op": op, **arguments}) + "\n")
        self.process.stdin.flush()
        return self.count

    def answer(self, number):
        """Returns the result of a request, or the text of its error."""
        line = self.wait(f"answer to {number}", lambda line: line.get("id") == number)
        return line.get("result", line.get("error"))

    def call(self, op, **arguments):
        """Sends a request that must succeed, and returns its result."""
        result = self.answer(self.ask(op, **arguments))
        if not isinstance(result, dict):
            raise exchange.Failure(f"{op} {arguments}: {result}")
        return result

    def refused(self, op, **arguments):
        """Sends a request that must fail, and returns the text of the error."""
        result = self.answer(self.ask(op, **arguments))
        if isinstance(result, dict):
            raise exchange.Failure(f"{op} {arguments} should be refused: {result}")
        return result

    def event(self, name, **values):
        """Returns the next event with this name and these values."""
        return self.wait(
            f"event {name} {values}",
            lambda line: line.get("event") == name and all(line.get(key) == value for key, value in values.items()),
        )

    def forget(self):
        """Discards all lines received so far."""
        while not self.lines.empty():
            self.lines.get()
        self.seen.clear()

    def end(self):
        self.process.stdin.close()
        try:
            return self.process.wait(timeout=PATIENCE)
        finally:
            self.process.kill()


@contextlib.contextmanager
def hosts(driver, count=2):
    """Provides `count` hosts, reset, each with a controller of the same radio."""
    ports = free_ports(count)
    command = [driver, "controller", *(word for port in ports for word in ("--port", str(port)))]
    controllers = subprocess.Popen(command, stdout=subprocess.PIPE)
    running = []
    try:
        exchange.expect("controller", json.loads(controllers.stdout.readline()), {"ready": True})
        for port in ports:
            running.append(Host(driver, port))
        for host in running:
            host.call("factory_reset")
        yield running
        for host in running:
            exchange.expect("exit status", host.end(), 0)
    finally:
        for host in running:
            host.process.kill()
        controllers.kill()
        controllers.wait()


def address(line):
    return {"address": line["address"], "address_type": line["address_type"]}


def reports(driver):
    """Advertising is reported unchanged, legacy or not, with its scan response if the scan is active."""
    with hosts(driver) as (advertiser, scanner):
        own = advertiser.call("read_local_address")
        legacy = advertiser.call(
            "advertise", legacy=True, connectable=True, own_address_type=PUBLIC, interval_ms=30,
            data="0201060302aafe", scan_response="0309616263",
        )["set"]
        extended = advertiser.call(
            "advertise", legacy=False, connectable=False, scannable=False, own_address_type=RANDOM, interval_ms=30,
            data="ff" * 4 + "00" * 250,
        )["set"]
        scanner.call("scan", passive=True, interval_ms=50, window_ms=50, phys=["1M"])
        one = scanner.event("report", legacy=True, scan_response=False)
        exchange.expect("own address", address(one), own)
        exchange.expect("data", one["data"], "0201060302aafe")
        exchange.expect("kind", (one["connectable"], one["scannable"], one["primary_phy"]), (True, True, "1M"))
        other = scanner.event("report", legacy=False)
        exchange.expect("data", other["data"], "ff" * 4 + "00" * 250)
        exchange.expect("kind", (other["connectable"], other["scannable"], other["truncated"]), (False, False, False))
        exchange.expect("random address", other["address_type"], 1)
        exchange.expect("unrequested scan response", any(line.get("scan_response") for line in scanner.seen), False)
        scanner.call("stop_scan")
        scanner.forget()
        scanner.call("scan", legacy=True, passive=False, interval_ms=50, window_ms=50)
        response = scanner.event("report", scan_response=True)
        exchange.expect("scan response", (response["data"], response["legacy"]), ("0309616263", True))
        exchange.expect("extended report", any(line.get("legacy") is False for line in scanner.seen), False)
        for one in (legacy, extended):
            advertiser.call("stop_advertising", set=one)
        time.sleep(0.3)
        scanner.forget()
        time.sleep(0.3)
        exchange.expect("reports after the end", scanner.lines.qsize(), 0)


def coded(driver):
    """Advertisers on the Coded PHY are found and connected to."""
    with hosts(driver) as (advertiser, scanner):
        advertiser.call(
            "advertise", legacy=False, connectable=True, own_address_type=PUBLIC, interval_ms=50,
            data="020106", primary_phy="Coded", secondary_phy="Coded",
        )
        scanner.call("scan", passive=True, interval_ms=50, window_ms=50, phys=["1M"])
        time.sleep(0.5)
        exchange.expect("reports on the 1M PHY", scanner.lines.qsize(), 0)
        scanner.call("stop_scan")
        scanner.call("scan", passive=True, interval_ms=50, window_ms=50, phys=["Coded"])
        report = scanner.event("report", primary_phy="Coded", secondary_phy="Coded", connectable=True)
        scanner.call("stop_scan")
        connection = scanner.call("connect", **address(report), own_address_type=PUBLIC)["connection"]
        advertiser.event("connected", role="peripheral")
        scanner.call("disconnect", connection=connection)


def connections(driver):
    """Links are made and ended from either end, and advertising continues after each."""
    with hosts(driver, 3) as (peripheral, one, other):
        own = peripheral.call("read_local_address")
        peripheral.call("advertise", legacy=True, connectable=True, own_address_type=PUBLIC, interval_ms=30, data="")
        for kind, central in ((PUBLIC, one), (PRIVATE, other)):
            connection = central.call("connect", **own, own_address_type=kind)["connection"]
            event = central.event("connected", connection=connection, role="central")
            exchange.expect("peer", address(event), own)
            link = peripheral.event("connected", role="peripheral")
            exchange.expect("address type", link["address_type"], 0 if kind == PUBLIC else 1)
            if central is one:
                central.call("disconnect", connection=connection)
                exchange.expect("reason", central.event("disconnected", connection=connection)["reason"], 0x16)
                exchange.expect("reason", peripheral.event("disconnected")["reason"], 0x13)
            else:
                peripheral.call("disconnect", connection=link["connection"])
                exchange.expect("reason", central.event("disconnected", connection=connection)["reason"], 0x13)
        reason = one.refused("disconnect", connection=77)
        exchange.expect("refusal", "no connection has the number 77" in reason, True)


def directed(driver):
    """Only the target of directed advertising connects, and the advertising ends with that."""
    with hosts(driver, 3) as (peripheral, one, other):
        own = peripheral.call("read_local_address")
        target = one.call("read_local_address")
        chosen = peripheral.call(
            "advertise", legacy=True, connectable=True, own_address_type=PUBLIC, interval_ms=30, target=target
        )["set"]
        waiting = other.ask("connect", **own, own_address_type=PUBLIC)
        one.call("connect", **own, own_address_type=PUBLIC)
        exchange.expect("peer", address(peripheral.event("connected")), target)
        time.sleep(0.3)
        exchange.expect("other connected", any(line.get("id") == waiting for line in list(other.lines.queue)), False)
        peripheral.call("stop_advertising", set=chosen)


def security(driver):
    """Links reach each level of security, by each method, as far as the devices' capabilities allow."""
    methods = [
        (2, None, None, {}, {}),
        (4, 1, 1, {"method": "numeric_comparison"}, {"method": "numeric_comparison"}),
        (3, 2, 0, {"method": "passkey_entry"}, {"method": "passkey_display"}),
        (4, 0, 2, {"method": "passkey_display"}, {"method": "passkey_entry"}),
    ]
    for level, central_io, peripheral_io, central_asks, peripheral_asks in methods:
        with hosts(driver) as (peripheral, central):
            own = peripheral.call("read_local_address")
            peripheral.call(
                "advertise", legacy=True, connectable=True, own_address_type=PUBLIC, interval_ms=30, data="020106"
            )
            for host, capability in ((central, central_io), (peripheral, peripheral_io)):
                if capability is not None:
                    host.call("on_pairing", io_capability=capability)
            for attempt in range(2):
                connection = central.call("connect", **own, own_address_type=PRIVATE)["connection"]
                link = peripheral.event("connected")["connection"]
                bonded = attempt == 1
                number = central.ask("secure", connection=connection, level=level)
                if not bonded and central_io is not None:
                    answer_questions(central, connection, central_asks, peripheral, link, peripheral_asks)
                result = central.answer(number)
                exchange.expect("level", isinstance(result, dict) and result["level"] >= level, True)
                for host, handle in ((central, connection), (peripheral, link)):
                    event = host.event("security", connection=handle)
                    exchange.expect("level and bond", (event["level"] >= level, event["bonded"]), (True, True))
                exchange.expect("questions with a bond", any("method" in line for line in central.seen), False)
                central.call("disconnect", connection=connection)
                peripheral.event("disconnected")


def answer_questions(central, connection, central_asks, peripheral, link, peripheral_asks):
    """Answers both hosts as a user with both devices does."""
    first = central.event("pairing", connection=connection, **central_asks)
    second = peripheral.event("pairing", connection=link, **peripheral_asks)
    for host, handle, mine, other in ((central, connection, first, second), (peripheral, link, second, first)):
        if mine["method"] == "passkey_entry":
            host.call("pairing_reply", connection=handle, passkey=other["value"])
        elif mine["method"] == "numeric_comparison":
            exchange.expect("number", mine["value"], other["value"])
            host.call("pairing_reply", connection=handle, confirm=True)


def refusals(driver):
    """Pairing that is refused, or not protected as requested, fails at both ends, and another one succeeds."""
    with hosts(driver) as (peripheral, central):
        own = peripheral.call("read_local_address")
        peripheral.call("advertise", legacy=True, connectable=True, own_address_type=PUBLIC, interval_ms=30, data="")
        connection = central.call("connect", **own, own_address_type=PUBLIC)["connection"]
        link = peripheral.event("connected")["connection"]
        exchange.expect("level", central.call("secure", connection=connection, level=1), {"level": 1})
        reason = central.refused("secure", connection=connection, level=3)
        exchange.expect("reason", "pairing failed" in reason, True)
        for host in (central, peripheral):
            host.call("on_pairing", io_capability="display_yes_no")
        for agrees in (False, True):
            number = ask_when_allowed(central, connection)
            central.event("pairing", connection=connection, method="numeric_comparison")
            peripheral.event("pairing", connection=link, method="numeric_comparison")
            central.call("pairing_reply", connection=connection, confirm=True)
            peripheral.call("pairing_reply", connection=link, confirm=agrees)
            exchange.expect("secured", isinstance(central.answer(number), dict), agrees)
        exchange.expect("level", central.event("security")["level"], 4)


def ask_when_allowed(central, connection):
    """Requests security for a link, repeatedly: after a failed pairing it is refused for a while."""
    for _ in range(2 * PATIENCE):
        number = central.ask("secure", connection=connection, level=4)
        line = central.wait("question", lambda line: line.get("event") == "pairing" or line.get("id") == number)
        if line.get("event") == "pairing":
            central.seen.append(line)
            return number
        if "tooSoon" not in line["error"] and "repeated attempts" not in line["error"].lower():
            raise exchange.Failure(line["error"])
        time.sleep(0.5)
    raise exchange.Failure(f"pairing is still refused after {PATIENCE} s")


def failures(driver):
    """A failed pairing is reported at both ends, can be cancelled at any time, and is forgotten after a reset."""
    with hosts(driver) as (peripheral, central):
        own = peripheral.call("read_local_address")
        for cancels in (central, peripheral, central, peripheral):
            for host in (peripheral, central):
                host.call("factory_reset")
                host.call("on_pairing", io_capability="display_yes_no")
            own = peripheral.call("read_local_address")
            peripheral.call("advertise", legacy=True, connectable=True, own_address_type=PUBLIC, interval_ms=30)
            connection = central.call("connect", **own, own_address_type=RANDOM)["connection"]
            link = peripheral.event("connected")["connection"]
            number = central.ask("secure", connection=connection, level=4)
            central.event("pairing", connection=connection)
            peripheral.event("pairing", connection=link)
            handles = {id(central): connection, id(peripheral): link}
            # One end accepts, and then cancels while the other still asks.
            cancels.call("pairing_reply", connection=handles[id(cancels)], confirm=True)
            cancels.call("pairing_reply", connection=handles[id(cancels)], confirm=False)
            for host in (central, peripheral):
                host.event("pairing_failed", connection=handles[id(host)])
            exchange.expect("refused", isinstance(central.answer(number), str), True)


def own_addresses(driver):
    """A random address can be used as soon as the host is ready."""
    with hosts(driver) as (advertiser, scanner):
        for _ in range(4):
            for host in (advertiser, scanner):
                host.call("factory_reset")
            chosen = advertiser.call(
                "advertise", legacy=True, connectable=True, own_address_type=RANDOM, interval_ms=30
            )["set"]
            scanner.call("scan", own_address_type=RANDOM, interval_ms=50, window_ms=50)
            report = scanner.event("report", address_type=1, connectable=True)
            scanner.call("stop_scan")
            scanner.call("connect", **address(report), own_address_type=RANDOM)
            exchange.expect("address type", advertiser.event("connected")["address_type"], 1)
            advertiser.call("stop_advertising", set=chosen)
            scanner.forget()


def attributes(driver):
    """The attributes of a peer are discovered, read, written and subscribed to from either end of a connection."""
    with hosts(driver) as (peripheral, central):
        own = peripheral.call("read_local_address")
        peripheral.call("advertise", legacy=True, connectable=True, own_address_type=PUBLIC, interval_ms=30)
        connection = central.call("connect", **own, own_address_type=PUBLIC)["connection"]
        link = peripheral.event("connected")["connection"]
        for host, handle in ((central, connection), (peripheral, link)):
            services = host.call("discover", connection=handle)["services"]
            found = {one["uuid"].lower(): one for service in services for one in service["characteristics"]}
            exchange.expect("services", {"1800", "1801"} <= {one["uuid"].lower() for one in services}, True)
            name = found["2a00"]["handle"]
            value = host.call("read", connection=handle, handle=name)["value"]
            exchange.expect("name", bytes.fromhex(value), b"BLEConformance")
            reason = host.refused("write", connection=handle, handle=name, value="41")
            exchange.expect("refusal", reason.startswith("ATT 0x03"), True)
            host.call("write", connection=handle, handle=name, value="41", response=False)
            reason = host.refused("read", connection=handle, handle=0xFFFF)
            exchange.expect("refusal", reason.startswith("ATT 0x01"), True)
            changed = found["2a05"]
            exchange.expect("descriptor", [one["uuid"] for one in changed["descriptors"]], ["2902"])
            host.call("subscribe", connection=handle, handle=changed["handle"], end=changed["end"], kind="indicate")
            reason = host.refused("subscribe", connection=handle, handle=name, end=name)
            exchange.expect("refusal", reason.startswith("ATT 0x0a"), True)
        number = central.ask("read", connection=connection, handle=name)
        central.answer(number)
        central.call("disconnect", connection=connection)
        central.event("disconnected")
        central.refused("read", connection=connection, handle=name)


def senseless(driver):
    """Invalid requests are refused with a reason, and the host continues."""
    with hosts(driver) as (host, _):
        for op, arguments, word in (
            ("advertise", {"interval_ms": 1e20}, "interval_ms"),
            ("advertise", {"data": "zz"}, "data"),
            ("advertise", {"legacy": True, "connectable": True, "data": "00" * 32}, "invalidParameters"),
            ("scan", {"phys": ["3M"]}, "phys"),
            ("scan", {"interval_ms": 50, "window_ms": 60}, "window_ms"),
            ("connect", {"address": "0102", "address_type": 0}, "address"),
            ("connect", {"address": "010203040506", "address_type": 7}, "address_type"),
            ("secure", {"connection": 1, "level": 2}, "connection"),
            ("on_pairing", {"io_capability": 9}, "io_capability"),
            ("stop_advertising", {}, "set"),
            ("read", {"connection": 1, "handle": 3}, "connection"),
            ("dance", {}, "op"),
        ):
            reason = host.refused(op, **arguments)
            exchange.expect(f"{op} {arguments}: {reason}", word in reason, True)
        host.process.stdin.write("no JSON\n")
        host.process.stdin.flush()
        exchange.expect("no JSON", "error" in host.wait("error", lambda line: "error" in line), True)
        exchange.expect("address", len(host.call("read_local_address")["address"]), 12)


SCENES = {
    "host reports": reports, "host coded": coded, "host connections": connections, "host directed": directed,
    "host security": security, "host refusals": refusals, "host failures": failures,
    "host own addresses": own_addresses, "host attributes": attributes, "host senseless": senseless,
}
