"""Tests that users of a computer cannot harm each other through the daemon: users.py BLED BLE

It needs root, acts as other users, and restarts itself through sudo if necessary. The other users need no accounts. It
tries directories and links that others can change, a user who connects endlessly, and programs that pretend to be the
one that a rule of the policy names.
"""

import contextlib
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import time

from app import POWERED_ON, REFUSED, STATE_CHANGED, WELCOME, App, Lost

OTHER, NOT_ALLOWED, UNUSABLE = 4711, 4, 69
EVERYBODY = 0o755


def as_other(*command):
    return ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", *command]


def daemon(bled, place, *options, user=(), **variables):
    """Runs a daemon with its socket at a place, and returns when it listens or has ended."""
    process = subprocess.Popen(
        [*user, bled, "--socket", f"{place}/socket", *options, "demo"], env=os.environ | variables,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


def end(process):
    process.terminate()
    errors = process.communicate(timeout=20)[1]
    return process.returncode, errors


def folder(parent, name, owner=0, mode=EVERYBODY):
    path = pathlib.Path(parent, name)
    path.mkdir()
    path.chmod(mode)
    os.chown(path, owner, owner)
    return path


def untrusted_places(bled, place):
    """Expects no socket, state, capture or policy in a directory that another user can change.

    That includes a directory behind another user's link.
    """
    secret = pathlib.Path(place, "secret")
    secret.write_text("secret")
    secret.chmod(0o600)
    bad = [folder(place, "theirs", OTHER), folder(place, "open", mode=0o777)]
    link = pathlib.Path(place, "link")
    link.symlink_to(folder(place, "own"))
    os.lchown(link, OTHER, OTHER)
    for directory in [*bad, link]:
        status, errors = end(daemon(bled, directory, "--sessions", f"{place}/sessions"))
        assert status == UNUSABLE, f"a socket in {directory}: {status} {errors}"
        good = folder(place, f"good-{directory.name}")
        capture = f"{directory}/capture.pcapng"
        process = daemon(bled, good, "--sessions", f"{directory}/state/sessions", BLUETOOTH_CAPTURE=capture)
        with contextlib.suppress(Lost):
            App(f"{good}/socket").greet(identifier="kept")
        time.sleep(0.5)
        errors = end(process)[1]
        assert str(directory) in errors, f"{directory} is not mentioned: {errors}"
        assert not list(directory.iterdir()), f"there are files in {directory}: {list(directory.iterdir())}"
        policy = directory / "policy.json"
        policy.write_text('{"rules": []}')
        status, errors = end(daemon(bled, good, "--sessions", f"{place}/sessions", "--policy", str(policy)))
        assert status == 66, f"a policy in {directory}: {status} {errors}"
        policy.unlink()
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def swapped_socket(bled, place):
    """Has a user swap the new socket for a link to root's file, in a directory that is open to all."""
    secret, shared = pathlib.Path(place, "roots-file"), folder(place, "shared", mode=0o1777)
    secret.write_text("secret")
    secret.chmod(0o600)
    racer = (
        "import os, sys\nos.chdir(sys.argv[1])\n"
        "while True:\n"
        "    for step in (lambda: os.symlink(sys.argv[2], 'link'), lambda: os.rename('link', 'socket')):\n"
        "        try: step()\n"
        "        except OSError: pass\n")
    for _ in range(20):
        attacker = subprocess.Popen(as_other(sys.executable, "-c", racer, str(shared), str(secret)))
        try:
            end(daemon(bled, shared, "--sessions", f"{place}/sessions"))
        finally:
            attacker.kill()
            attacker.wait()
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600, "root's file has other permissions"
        assert secret.read_text() == "secret"
        for name in ("socket", "link"):
            shared.joinpath(name).unlink(missing_ok=True)


def no_home(bled, place):
    """Expects that a daemon that knows no directory of its user says so, and uses no shared one."""
    process = subprocess.run(as_other(bled, "--socket", f"{place}/socket", "demo"), env={}, capture_output=True,
                             text=True, timeout=20, check=False)
    assert process.returncode == 64 and "--sessions" in process.stderr, process


def flood(bled, ble, place):
    """Has a user connect endlessly, beside the apps of another."""
    process = daemon(bled, folder(place, "flooded"), "--sessions", f"{place}/sessions")
    path = f"{place}/flooded/socket"
    source = (
        "import socket, sys\n"
        "while True:\n"
        "    s = socket.socket(socket.AF_UNIX)\n"
        "    try: s.connect(sys.argv[1])\n"
        "    except OSError: pass\n"
        "    s.close()\n")
    attackers = [subprocess.Popen(as_other(sys.executable, "-c", source, path)) for _ in range(4)]
    try:
        time.sleep(1)
        for _ in range(10):
            app = App(path)
            app.greet()
            app.event(STATE_CHANGED, POWERED_ON)
            app.close()
        for _ in range(3):
            scan = subprocess.run([ble, "scan", "--duration", "1"], capture_output=True, text=True, timeout=60,
                                  env=os.environ | {"BLUETOOTH_HOST": f"bled:{path}"}, check=False)
            assert scan.returncode == 0 and "Lamp" in scan.stdout, scan
    finally:
        for attacker in attackers:
            attacker.kill()
            attacker.wait()
        end(process)


def answer(app):
    """Returns the code of the daemon's answer to a greeting, and the reason if it refuses."""
    message = app.message()
    return message[0], message[1] if message[0] == REFUSED else None


def greet(path):
    """Greets as this process, and prints the daemon's answer; this may be the program of a rule."""
    app = App(path)
    app.greet()
    print(json.dumps(answer(app)), flush=True)


def replace_oneself(path, program):
    """Connects, becomes the program of a rule, and has a child send the greeting."""
    app = App(path)
    os.set_inheritable(app.socket.fileno(), True)
    come = os.pipe()
    child = os.fork()
    if child:
        os.close(come[0])
        os.set_inheritable(come[1], True)
        os.execv(program, [program, "5"])
    os.close(come[1])
    # Wait until the parent has become the other program.
    while os.readlink(f"/proc/{os.getppid()}/exe") != program:
        time.sleep(0.01)
    app.greet()
    print(json.dumps(answer(app)), flush=True)


def pretended_programs(bled, place):
    """Expects that the rule for a program applies to no other program that pretends to be it."""
    programs = folder(place, "programs")
    sensor, sleeper = programs / "sensor", programs / "sleeper"
    shutil.copy(os.path.realpath(sys.executable), sensor)
    shutil.copy("/bin/sleep", sleeper)
    policy = pathlib.Path(place, "policy.json")
    policy.write_text(json.dumps({"rules": [{"program": str(sensor)}, {"program": str(sleeper)}]}))
    process = daemon(bled, folder(place, "guarded"), "--sessions", f"{place}/sessions", "--policy", str(policy))
    path, script = f"{place}/guarded/socket", [__file__, "--greet"]

    def said(command):
        run = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert run.stdout, run
        return json.loads(run.stdout)

    try:
        assert said([sensor, *script, path]) == [WELCOME, None], "the program of the rule is refused"
        assert said([sys.executable, *script, path]) == [REFUSED, NOT_ALLOWED]
        greeting = f"{sleeper} {os.path.abspath(__file__)} --greet {path}"
        mounted = f"mount --bind {os.path.realpath(sys.executable)} {sleeper} && exec {greeting}"
        assert said(["unshare", "--mount", "sh", "-c", mounted]) == [REFUSED, NOT_ALLOWED], "by a mount"
        become = [sys.executable, __file__, "--replace", path, str(sleeper)]
        assert said(become) == [REFUSED, NOT_ALLOWED], "by exec after connecting"
    finally:
        end(process)


def main(bled, ble):
    if os.geteuid():
        os.execvp("sudo", ["sudo", "-n", sys.executable, *sys.argv])
    bled, ble = os.path.abspath(bled), os.path.abspath(ble)
    # Below /tmp, since the path of a socket has at most 107 octets.
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        os.chmod(place, EVERYBODY)
        for attempt in (untrusted_places, swapped_socket, no_home, pretended_programs):
            attempt(bled, folder(place, attempt.__name__))
        flood(bled, ble, folder(place, "flood"))
    print("no user changed another's file, blocked the daemon for others, or passed for a program of the policy")


if __name__ == "__main__":
    if sys.argv[1] == "--greet":
        greet(sys.argv[2])
    elif sys.argv[1] == "--replace":
        replace_oneself(*sys.argv[2:4])
    else:
        main(*sys.argv[1:3])
