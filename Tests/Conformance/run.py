"""Runs the conformance cases against the drivers.

run.py PATH-OF-BLEConformance [--only TEXT] [--json] [--cases FILE ...]
"""

import argparse
import contextlib
import json
import pathlib
import socket
import subprocess
import sys

import exchange
import hosts

HERE = pathlib.Path(__file__).parent


def controller(driver):
    """Resets both controllers of `controller` through HCI."""
    ports = hosts.free_ports(2)
    command = [driver, "controller", *(word for port in ports for word in ("--port", str(port)))]
    with running(command) as process:
        exchange.expect("controller", json.loads(process.stdout.readline()), {"ready": True})
        for port in ports:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as host:
                host.sendall(bytes.fromhex("01030c00"))
                # The fourth octet is the number of commands that may follow, which the controller chooses.
                exchange.expect_packet(host.recv(7, socket.MSG_WAITALL), "040e04??030c00")


@contextlib.contextmanager
def running(command):
    """Runs `command` until the context ends."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def cases(files):
    """Yields the name, the title and the function of every case in the files."""
    databases = json.loads((HERE / "databases.json").read_text())
    for file in files:
        content = json.loads(pathlib.Path(file).read_text())
        known = {**databases, **content.get("databases", {})}
        for case in content["cases"]:
            name = " ".join(filter(None, (case["name"], case.get("variant"))))
            yield name, case["title"], lambda driver, case=case, known=known: exchange.run(driver, case, known)


def attempt(run, driver):
    """Returns the reason why a case failed; `None` if it passed."""
    try:
        run(driver)
    except exchange.Failure as failure:
        return str(failure)
    return None


def main():
    parser = argparse.ArgumentParser(description="Runs the conformance cases against the drivers.")
    parser.add_argument("driver", help="the path of BLEConformance")
    parser.add_argument("--only", metavar="TEXT", default="", help="only cases whose name contains this text")
    parser.add_argument("--json", action="store_true", help="print one object with all results")
    parser.add_argument("--cases", nargs="+", default=sorted((HERE / "cases").glob("*.json")), help="the files to run")
    arguments = parser.parse_args()
    all_cases = [
        *cases(arguments.cases),
        ("controller", "Two controllers of one radio are reset", controller),
        *((name, scene.__doc__.rstrip("."), scene) for name, scene in hosts.SCENES.items()),
    ]
    chosen = [case for case in all_cases if arguments.only.lower() in case[0].lower()]
    results = []
    for name, title, run in chosen:
        reason = attempt(run, arguments.driver)
        results.append({"name": name, "title": title, "passed": reason is None, "reason": reason})
        if not arguments.json and reason is not None:
            print(f"{name} ({title}) failed: {reason}")
    passed = sum(result["passed"] for result in results)
    if arguments.json:
        print(json.dumps({"passed": passed, "total": len(results), "cases": results}, indent=1))
    else:
        print(f"{passed} of {len(results)} passed")
    sys.exit(0 if results and passed == len(results) else 1)


if __name__ == "__main__":
    main()
