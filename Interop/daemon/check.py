"""Tests that apps can share a simulated world through the daemon: check.py BLED BLE CLIENT

One of them is written in another language. The daemon is killed and restarted while an app listens.
"""

import os
import signal
import subprocess
import sys
import tempfile

bled, ble, client = sys.argv[1:]


def start(place):
    daemon = subprocess.Popen(
        [bled, "--socket", place + "/socket", "--sessions", place + "/sessions", "demo"],
        stdout=subprocess.PIPE, text=True)
    assert "Serving" in daemon.stdout.readline(), "the daemon does not listen"
    return daemon


def tool(place, *arguments):
    environment = os.environ | {"BLUETOOTH_HOST": f"bled:{place}/socket"}
    return subprocess.Popen([ble, *arguments], env=environment, stdout=subprocess.PIPE, text=True)


def output(process):
    text, _ = process.communicate(timeout=40)
    assert process.returncode == 0, f"{process.args} ended with {process.returncode}"
    return text


with tempfile.TemporaryDirectory() as place:
    daemon = start(place)
    try:
        apps = [
            tool(place, "scan", "--duration", "2"), tool(place, "inspect", "Heart Rate"),
            tool(place, "notify", "Heart Rate", "2A37", "--count", "2"),
            subprocess.Popen([sys.executable, client, place + "/socket", "Heart Rate"],
                             stdout=subprocess.PIPE, text=True),
        ]
        scan, inspect, notify, services = [output(app) for app in apps]
        assert "Lamp" in scan and "Thermometer" in scan, scan
        assert "2A37" in inspect and "2A29" in inspect, inspect
        assert notify.count("bpm") == 2, notify
        assert services.split()[-3:] == ["180D", "180F", "180A"], services
        listener = tool(place, "notify", "Heart Rate", "2A37", "--json")
        assert listener.stdout.readline(), "nothing is notified"
        assert "ble" in output(tool(place, "links")), "the link is not listed"
        assert f"{listener.pid}" in output(tool(place, "apps")), "the app is not listed"
        assert "no policy" in output(tool(place, "policy", f"{listener.pid}")), "the app's permissions are not shown"
        listener.kill()
        listener.wait()
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
        daemon = start(place)
        # The reader of the daemon's output may close it.
        daemon.stdout.close()
        daemon.send_signal(signal.SIGHUP)
        assert "Lamp" in output(tool(place, "scan", "--duration", "2")), "nothing is found after a restart"
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(10) == 0, "the daemon did not end with status 0"
        assert not os.path.exists(place + "/socket"), "the daemon left its socket"
    finally:
        daemon.kill()
print("4 apps shared a world through the daemon, one of them in Python; a daemon that was killed was replaced")
