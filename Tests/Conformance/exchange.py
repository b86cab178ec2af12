"""Runs one case with a driver at the other end of a packet socket: an exchange of packets and lines.

A line of an exchange is one of

    > HEX     sent to the driver
    < HEX     the next packet that the driver must send
    ! JSON    written to the driver's standard input: an operation of ATT, or any input of SMP
    = JSON    the next line that the driver must print

Spaces between octets are ignored; `01..16` are the octets from 01 to 16, `ff*20` is 20 times ff. For values that the
specification leaves open, `??` is any octet, and the JSON string "not 0" any value but 0.
"""

import json
import os
import select
import socket
import subprocess
import tempfile
import time

import attribute_server

PATIENCE = 20
LEAST_MTU = 23


class Failure(Exception):
    """The driver sent or printed something other than the case expects."""


class Driver:
    """A driver that runs one case."""

    def __init__(self, program, command, description, folder):
        path = os.path.join(folder, "case.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(description, file)
        self.packets, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.packets.settimeout(PATIENCE)
        self.process = subprocess.Popen(
            [program, *command, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda: os.dup2(theirs.fileno(), 3), pass_fds=[3],
        )
        theirs.close()
        self.printed = b""

    def send(self, packet):
        self.packets.send(packet)

    def receive(self):
        try:
            return self.packets.recv(65536)
        except TimeoutError:
            raise Failure(f"nothing sent within {PATIENCE} s") from None

    def do(self, operation):
        self.tell({"do": operation})

    def tell(self, what):
        self.process.stdin.write(json.dumps(what).encode() + b"\n")
        self.process.stdin.flush()

    def line(self):
        """Returns the next line that it prints."""
        due = time.monotonic() + PATIENCE
        while b"\n" not in self.printed:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, due - time.monotonic()))
            read = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not read:
                raise Failure("the output ended without a line" if ready else f"nothing printed within {PATIENCE} s")
            self.printed += read
        line, self.printed = self.printed.split(b"\n", 1)
        return json.loads(line)

    def finish(self):
        """Closes the packet socket, and expects a successful exit without further packets or output."""
        self.packets.shutdown(socket.SHUT_WR)
        status = self.process.wait(PATIENCE)
        rest, printed = self.receive(), self.printed + self.process.stdout.read()
        if status or rest or printed:
            raise Failure(f"at the end: status {status}, packet {rest.hex() or 'none'}, output {printed!r}")

    def close(self):
        self.packets.close()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass


def octets(text):
    """Returns the hex digits of the octets in a line of an exchange."""
    digits = ""
    for word in text.split():
        if ".." in word:
            first, last = (int(end, 16) for end in word.split(".."))
            digits += bytes(range(first, last + 1)).hex()
        elif "*" in word:
            octet, count = word.split("*")
            digits += octet * int(count)
        else:
            digits += word
    return digits


def matches(found, wanted):
    """Returns whether a value of JSON matches the wanted one."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return found.keys() == wanted.keys() and all(matches(found[key], wanted[key]) for key in wanted)
    return found != 0 if wanted == "not 0" else found == wanted


def expect(what, found, wanted):
    if not matches(found, wanted):
        raise Failure(f"{what}: expected {json.dumps(wanted)}, found {json.dumps(found)}")


def expect_packet(found, pattern):
    """Compares octet by octet, except those that may be anything."""
    digits = found.hex()
    if len(digits) != len(pattern) or any(a != b and b != "?" for a, b in zip(digits, pattern)):
        raise Failure(f"expected {pattern}, found {digits or 'the end'}")


def settle_server(driver, case, mtu):
    """Waits until the server is ready, and the MTU is the one of the case."""
    expect("ready", driver.line(), {"ready": True})
    if "peer_mtu" in case:
        driver.send(b"\x02" + case["peer_mtu"].to_bytes(2, "little"))
        expect_packet(driver.receive(), "03" + mtu.to_bytes(2, "little").hex())


def settle_client(driver, case, mtu, database):
    """Waits until the client has exchanged the MTU and, in context `client`, discovered everything."""
    peer_mtu = case.get("peer_mtu", LEAST_MTU)
    expect_packet(driver.receive(), "02" + mtu.to_bytes(2, "little").hex())
    if "mtu_error" in case:
        driver.send(bytes([0x01, 0x02, 0, 0, case["mtu_error"]]))
    else:
        driver.send(b"\x03" + peer_mtu.to_bytes(2, "little"))
    if case["context"] == "att":
        return
    server = attribute_server.Server(database, max(LEAST_MTU, min(mtu, peer_mtu)))
    while not select.select([driver.process.stdout], [], [], 0)[0]:
        readable, _, _ = select.select([driver.packets, driver.process.stdout], [], [], PATIENCE)
        if driver.packets in readable:
            driver.send(server.answer(driver.receive()))
        elif not readable:
            raise Failure(f"no packet of the discovery within {PATIENCE} s")
    found = driver.line()
    found["services"] = sorted(found.get("services", []), key=lambda service: service["start"])
    expect("discovered", found, attribute_server.ready(database))


def run(program, case, databases):
    """Runs a case, and raises `Failure` if the driver deviates from it."""
    if case.get("driver") == "smp":
        return converse(program, ["smp"], case["case"], case["exchange"], lambda driver: None, Driver.tell)
    database, mtu = databases.get(case.get("database")), case.get("mtu", 512)
    is_server = case["role"] == "server"
    description = {
        "mtu": mtu, "context": case.get("context", "server"), "database": database if is_server else None,
        "operation": case.get("operation"),
    }
    def settle(driver):
        if is_server:
            settle_server(driver, case, mtu)
        else:
            settle_client(driver, case, mtu, database)
            if case["context"] == "client" and "operation" in case:
                driver.do(case["operation"])

    return converse(program, ["att", case["role"]], description, case["exchange"], settle, Driver.do)


def converse(program, command, description, lines, settle, order):
    """Runs a driver on a case: first the steps that all cases begin with, then the lines of an exchange."""
    with tempfile.TemporaryDirectory() as folder:
        driver = Driver(program, command, description, folder)
        try:
            settle(driver)
            for number, line in enumerate(lines, 1):
                try:
                    step(driver, line, order)
                except Failure as failure:
                    raise Failure(f"line {number} ({line}): {failure}") from None
            driver.finish()
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failure(f"{error}") from None
        finally:
            driver.close()


def step(driver, line, order):
    kind, text = line[0], line[1:].strip()
    if kind == ">":
        driver.send(bytes.fromhex(octets(text)))
    elif kind == "<":
        expect_packet(driver.receive(), octets(text))
    elif kind == "!":
        order(driver, json.loads(text))
    elif kind == "=":
        expect("printed", driver.line(), json.loads(text))
    else:
        raise ValueError(f"not a line of an exchange: {line}")
