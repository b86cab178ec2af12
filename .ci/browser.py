"""Controls Chromium without a window, through a pair of pipes: nothing listens on a port.

The protocol is https://chromedevtools.github.io/devtools-protocol/.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

LAUNCHER = """
import fcntl, os, sys
reader, writer = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(reader, 3)
os.dup2(writer, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
NAMES = ["chromium", "chromium-browser", "google-chrome"]


class BrowserError(Exception):
    """Chromium is missing, has ended, or did not answer in time."""


class Browser:
    """A running Chromium. Its profile is in a folder of its own with a short path, because it holds a Unix socket."""

    def __init__(self, seconds: float) -> None:
        program = next((path for path in map(shutil.which, NAMES) if path), None)
        if not program:
            raise BrowserError("there is no chromium: run .ci/run tools, or apt-get install chromium")
        self.deadline = time.monotonic() + seconds
        self.folder = tempfile.mkdtemp(prefix="page-", dir="/tmp")
        self.log = open(os.path.join(self.folder, "log"), "w+b")
        (reader, self.writer), (self.reader, writer) = os.pipe(), os.pipe()
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-extensions", "--force-color-profile=srgb",
            "--remote-debugging-pipe", f"--user-data-dir={self.folder}/profile", "about:blank",
        ]
        environment = {**os.environ, "TMPDIR": self.folder, "HOME": self.folder, "XDG_RUNTIME_DIR": self.folder}
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, str(reader), str(writer), program, *options],
            pass_fds=(reader, writer),
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            env=environment,
            start_new_session=True,
        )
        os.close(reader)
        os.close(writer)
        self.number = 0
        self.received = b""
        self.session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        # The processes of Chromium share a group that holds nothing else.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.reader)
        os.close(self.writer)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method, and returns its result."""
        self.number += 1
        number = self.number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writer, data) :]
        while True:
            answer = self.receive(method)
            if answer.get("id") == number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def receive(self, purpose: str) -> dict[str, Any]:
        """Returns the next message."""
        while b"\0" not in self.received:
            rest = self.deadline - time.monotonic()
            if rest <= 0 or not select.select([self.reader], [], [], rest)[0]:
                raise BrowserError(f"{purpose} did not end in time: {self.output()}")
            part = os.read(self.reader, 1 << 20)
            if not part:
                raise BrowserError(f"chromium ended during {purpose}: {self.output()}")
            self.received += part
        message, _, self.received = self.received.partition(b"\0")
        return json.loads(message)

    def output(self) -> str:
        self.log.seek(0)
        return self.log.read()[-2000:].decode(errors="replace")

    def open(self, address: str, width: int, height: int, dark: bool = False) -> None:
        """Shows a page in a window of this size, and returns when it is loaded."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.events = []
        self.call("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            message = self.receive(address)
            if "method" in message:
                self.events.append(message)

    def evaluate(self, script: str) -> Any:
        """Returns the value of an expression, or of its promise."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise BrowserError(f"{script[:80]}: {json.dumps(result['exceptionDetails'])[:800]}")
        return result["result"].get("value")

    def wait(self, condition: str) -> None:
        """Returns when an expression is true, which is tested in each frame of the page."""
        test = f"() => ({condition}) ? done(true) : requestAnimationFrame(test)"
        self.evaluate(f"new Promise(done => {{ const test = {test}; test() }})")

    def complaints(self) -> list[str]:
        """Returns the errors of scripts, the errors in the console, and the requests over a network."""
        self.evaluate("0")
        found = []
        for event in self.events:
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(parameters["exceptionDetails"])[:800])
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(parameters["args"])[:800])
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
        return found

    def addresses(self) -> list[str]:
        """Returns the addresses that the page has requested."""
        requests = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in requests]

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def turn_wheel(self, x: float, y: float, by: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by)

    def press(self, key: str) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def names(self) -> set[tuple[str, str]]:
        """Returns the role and name of each element, as a screen reader finds them."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return {
            (node.get("role", {}).get("value", ""), node.get("name", {}).get("value", ""))
            for node in nodes
            if not node.get("ignored")
        }

    def picture(self, path: str) -> None:
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
