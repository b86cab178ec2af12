"""Asks the conformance drivers what they must answer: run.py PATH-OF-BLEConformance."""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).parent

ATT_EXCHANGES = [
    ("exchange of the MTU", "021700", "034000"),
    ("primary services", "100100ffff0028", "110610001f000f18"),
    ("characteristics", "0810001f000328", "09071100121400192a"),
    ("read of the value", "0a1400", "0b5a"),
    ("read of the declaration", "0a1100", "0b121400192a"),
    ("read of a handle that is not there", "0a1300", "010a130001"),
    ("write of a value that can only be read", "12140001", "0112140003"),
    ("blob from beyond the end", "0c14000200", "010c140007"),
    ("unknown request", "3f", "013f000006"),
]


def check(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: expected {wanted}, found {found}")
    print(f"{what}: {found}")


@contextlib.contextmanager
def running(*command, **options):
    """Runs `command` for as long as the context lasts."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def att_server(driver):
    """Speaks ATT to `att server`, whose descriptor 3 is a socket that keeps packets apart."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(10)
    becomes_3 = {"preexec_fn": lambda: os.dup2(theirs.fileno(), 3), "pass_fds": [3]}
    with running(driver, "att", "server", str(HERE / "att-server.json"), **becomes_3) as process:
        theirs.close()
        check("att server", json.loads(process.stdout.readline()), {"ready": True})
        for what, request, response in ATT_EXCHANGES:
            ours.send(bytes.fromhex(request))
            check(what, ours.recv(1024).hex(), response)
        # A command that is not known gets no answer, so the answer that comes is that of the read after it.
        ours.send(bytes.fromhex("ff"))
        ours.send(bytes.fromhex("0a1400"))
        check("read after an unknown command", ours.recv(1024).hex(), "0b5a")
        process.stdin.write(b'{"do": {"op": "send_notification", "handle": 20, "value": "64"}}\n')
        process.stdin.flush()
        check("notification", ours.recv(1024).hex(), "1b140064")
        check("its result", json.loads(process.stdout.readline()), {"result": {}})
        ours.close()
        check("status at the end of descriptor 3", process.wait(10), 0)


def controller(driver):
    """Speaks HCI to both controllers of `controller`."""
    with socket.socket() as first, socket.socket() as second:
        for each in (first, second):
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in (first, second)]
    with running(driver, "controller", *(word for port in ports for word in ("--port", str(port)))) as process:
        check("controller", json.loads(process.stdout.readline()), {"ready": True})
        for port in ports:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as host:
                host.sendall(bytes.fromhex("01030c00"))
                answer = host.recv(7, socket.MSG_WAITALL)
                # The fourth octet is how many commands may follow, which is the controller's choice.
                check("reset of a controller", (answer[:3] + answer[4:]).hex(), "040e04030c00")


if __name__ == "__main__":
    att_server(sys.argv[1])
    controller(sys.argv[1])
