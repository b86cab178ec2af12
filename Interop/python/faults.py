"""The Python package in programs with errors: faults.py WORLD

Callbacks raise exceptions, commands cannot be written, tasks are cancelled, and devices are lost at any time. The
variables BLED and BLE name the programs.
"""

import asyncio
import gc
import json
import os
import pathlib
import sys
import tempfile
import traceback

import checks
from checks import check, failing, raising, reported
from corebluetooth_linux import BluetoothError, Daemon, Session
from corebluetooth_linux.lines import COMMAND_LIMIT, encoded

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from programs import air  # noqa: E402

LAMP = {"name": "Own lamp", "services": [{"uuid": "FFE0", "characteristics": [
    {"uuid": "FFE1", "properties": ["read", "notify"], "value": "01"}]}]}


def scripted(held="", **answers):
    """A session whose process writes these lines."""
    os.environ |= {"ANSWERS": json.dumps(answers), "HELD": held}
    return Session(program=str(pathlib.Path(__file__).with_name("scripted.py")))


async def callbacks(host):
    """A callback that raises an exception does not disturb the others."""
    with reported() as exceptions:
        async with Session(host) as session:
            lamp = await session.connect("Lamp", timeout=30)
            await lamp.subscribe("FFE1", raising)
            async with lamp.values("FFE1") as values:
                check("values after exceptions", [len((await anext(values)).octets) for _ in range(3)] == [1, 1, 1])
            reasons = []
            lamp.on_disconnect(raising)
            lamp.on_disconnect(reasons.append)
            before = len(exceptions)
        check("the other function receives the disconnection", len(reasons) == 1)
        check("the process ends", session._process.returncode == 0)
        check("the exceptions are reported", len(exceptions) == before + 1 > 3
              and all(isinstance(one, LookupError) for one in exceptions))


async def commands(host):
    """A command that the process could not parse fails, and the session goes on."""
    nested = []
    for _ in range(600):
        nested = [nested]
    async with Session(host) as session, await session.connect("Lamp", timeout=30) as lamp:
        for keys in ({"value": bytes(40_000).hex()}, {"handle": float("inf")}, {"characteristic": "\udcff"},
                     {"handle": 1 << 64}, {"handle": 10**400}, {"characteristic": nested}, {"value": b"octets"}):
            async with failing("invalid"):
                await asyncio.wait_for(session.request("write", device="Lamp", **keys), 30)
        async with failing("invalid"):
            async with session.serve({"name": "x" * COMMAND_LIMIT}):
                pass
        check("no command waits", not session._answers)
        length = len(encoded({"id": session._next + 1, "command": "read", "device": ""})) - 1
        async with failing("invalid"):  # The process answers that the attribute is missing.
            await asyncio.wait_for(session.request("read", device="é" * ((COMMAND_LIMIT - length) // 2)), 30)
        check("the session goes on", (await lamp.read("2A19")).octets == b"\x51")


async def rows():
    """Events that come right after an answer are processed after it."""
    lost = {"event": "disconnected", "reason": "The connection was lost."}
    async with scripted(connect=[{"event": "connected"}, {}, lost]) as session:
        lamp = await session.connect("Lamp")
        await session.request("received")
        check("a device that disconnects after the answer is not connected", not lamp.is_connected)
    back = [{"event": "disconnected"}, {}, {"event": "connected"}]
    async with scripted(disconnect=back) as session:
        lamp = await session.connect("Lamp")
        await lamp.disconnect()
        check("a device that another task connects after the answer is connected", lamp.is_connected)


async def streams():
    """The end of a stream does not end another one that begins, and a stream that never began is unsubscribed."""
    value = {"event": "received"}
    async with scripted(read=[value, {}]) as session:
        lamp = await session.connect("Lamp")
        async with lamp.values("FFE1") as first:
            second = lamp.values("FFE1")
            await asyncio.gather(second.__aenter__(), first.__aexit__())
            sent = (await session.request("received"))["commands"]
            check(f"a stream that begins while another ends stays subscribed: {sent}", "unsubscribe" not in sent)
            await lamp.read("FFE1")
            check("its value", (await asyncio.wait_for(anext(second), 30)).octets == b"\x00")
            await second.__aexit__()
        sent = (await session.request("received"))["commands"]
        check(f"the last stream is unsubscribed: {sent}", sent.count("unsubscribe") == 1)
    async with scripted("subscribe", read=[value, {}]) as session:
        lamp = await session.connect("Lamp")
        received = []
        subscribing = asyncio.create_task(lamp.subscribe("FFE1", received.append))
        while "subscribe" not in (await session.request("received"))["commands"]:
            pass
        await lamp.read("FFE1")
        subscribing.cancel()
        await asyncio.wait([subscribing])
        await session.request("release")
        await lamp.read("FFE1")
        sent = (await session.request("received"))["commands"]
        check(f"a cancelled subscription is ended: {sent}", sent.count("unsubscribe") == 1)
        check("a cancelled subscription calls nothing", subscribing.cancelled() and not received)


async def cancelled_streams(host):
    """A scan or a served device whose start is cancelled ends, so that another task can start one."""
    for begin, end in (("serve", "withdraw"), ("scan", "stop")):
        async with scripted(begin) as session:
            task = asyncio.create_task((session.serve(LAMP) if begin == "serve" else session.scan()).__aenter__())
            while begin not in (await session.request("received"))["commands"]:
                pass
            task.cancel()
            await asyncio.wait([task])
            sent = (await session.request("received"))["commands"]
            check(f"{end} after a cancelled {begin}: {sent}", task.cancelled() and sent.count(end) == 1)
    async with Session(host) as session:
        for _ in range(3):
            task = asyncio.create_task(session.serve(LAMP).__aenter__())
            while not session._answers:
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        async with session.serve(LAMP):
            check("a device after cancelled ones", task.cancelled())


async def found_late():
    """A device that is found before the time limit is returned, even if the scan has not ended by then."""
    found = {"event": "discovered", "rssi": -40}
    async with scripted("stop", scan=[{}, found]) as session:
        async with asyncio.timeout(30):
            check("the device", (await session.find(timeout=2)).name == "Lamp")


async def shared():
    """A cancelled connect() does not end a connection that another task has made."""
    async with scripted("connect") as session:
        for wanted in ("La", "La", "Lamp", "Other"):
            task = asyncio.create_task(session.connect(wanted))
            while not session._answers:
                await asyncio.sleep(0)
            sent = (await session.request("received"))["commands"]
            if sent.count("connect") == 1:
                await session.request("release")
                lamp = await task
            else:
                task.cancel()
                await asyncio.wait([task])
                disconnects = (await session.request("received"))["commands"].count("disconnect")
                check(f"the cancelled connect to {wanted}", disconnects == (1 if wanted == "Other" else 0))
        check("a scripted device is connected", lamp.name == "Lamp")


async def returning():
    """A device that is lost can be disconnected, although the session would connect it again."""
    with air(os.environ["BLE"]) as (one, other):
        async with Session(f"tcp:127.0.0.1:{other}") as user:
            away = asyncio.Event()
            async with Session(f"tcp:127.0.0.1:{one}") as device, device.serve(LAMP):
                found = await user.connect("Own lamp", timeout=60, reconnect=True)
                found.on_disconnect(lambda _: away.set())
                values = await found.values("FFE1").__aenter__()
            await away.wait()
            async with found:
                next = asyncio.create_task(anext(values))
            async with failing("disconnected"):
                await asyncio.wait_for(next, 30)
            async with failing("not_connected"):
                await user.request("disconnect", device=found.identifier)


async def lines():
    """A process whose lines do not follow docs/SESSION.md is ended."""
    async with scripted(connect=[{"event": "connected", "identifier": []}]) as session:
        async with failing("cancelled"):
            await session.connect("Lamp")
        await asyncio.wait_for(session._process.wait(), 30)
        check("the session knows that it has ended", not session.is_running)


async def programs():
    """The error about a program that cannot be run, or is not one of this project, names the program."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("greeting", "#!/bin/sh\necho hello\nexec sleep 600\n"), ("empty", "?"),
                           ("later", "#!/bin/sh\necho '{\"event\": \"ready\", \"protocol\": 2}'\n")):
            program = pathlib.Path(folder) / name
            program.write_text(text)
            program.chmod(0o755)
            async with failing("not_found"):
                async with Session(program=str(program)):
                    pass
        for program in (folder, str(pathlib.Path(folder) / "empty")):
            async with failing("not_found"):
                async with Daemon("demo", program=program):
                    pass


async def reasons():
    """The error after an unexpected end says why the process has ended."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "ble"
        program.write_text("#!/bin/sh\necho '{\"event\": \"ready\", \"protocol\": 1}'\nread line\n"
                           "echo 'ble: An earlier message.' >&2\necho 'ble: The adapter was removed.' >&2\nexit 69\n")
        program.chmod(0o755)
        for own, reason in ((Session(program=str(program)), "unexpectedly: The adapter was removed."),
                            (scripted("read"), "unexpectedly by signal 9.")):
            async with own as session:
                if "signal" in reason:
                    session._process.kill()
                try:
                    await session.request("read")
                except BluetoothError as error:
                    check(f"the reason in: {error}", str(error).endswith(reason))


async def repeated():
    """A session can be started only once, so that each process is ended."""
    async with scripted() as session:
        async with failing("invalid"):
            await session.__aenter__()
        await session.connect("Lamp")
    async with failing("invalid"):
        await session.__aenter__()


async def many():
    """A session does not keep devices that the program no longer uses."""
    async with scripted() as session:
        lamp = await session.connect("Lamp")
        await lamp.disconnect()
        for number in range(100):
            for event in ("connected", "disconnected"):
                session._receive({"event": event, "identifier": f"device {number}"})
        gc.collect()
        check("the devices", list(session._devices) == [lamp.identifier] and await session.connect("Lamp") is lamp)


async def ended():
    """Programs that go on after the end of the process need no more memory each time."""
    async with scripted() as session:
        lamp = await session.connect("Lamp")
        async with lamp.values("FFE1") as values:
            session._process.kill()
            for call in (lambda: lamp.read("FFE1"), lambda: anext(values)):
                depths = []
                for _ in range(10):
                    try:
                        await call()
                    except BluetoothError as error:
                        depths.append(len(traceback.extract_tb(error.__traceback__)))
                check(f"the depths of the errors: {depths}", len(depths) == 10 and depths[-1] == depths[1])


async def exits():
    """Leaving a stream, scan or device that has already ended raises no error in place of the task's own."""
    gone = [{"event": "failed", "code": "disconnected", "error": "The connection was lost."}]
    async with scripted(unsubscribe=gone, disconnect=gone, stop=gone) as session:
        try:
            async with await session.connect("Lamp") as lamp, lamp.values("FFE1"), session.scan():
                raise LookupError("an error of the program")
        except LookupError:
            check("the error of the body", True)
    async with scripted() as session:
        async with await session.connect("Lamp") as lamp, lamp.values("FFE1"), session.scan(), session.serve(LAMP):
            session._process.kill()
        await lamp.disconnect()
    check("the end of the session ends all", not lamp.is_connected)
    async with scripted(disconnect=[gone[0] | {"code": "refused"}]) as session:
        lamp = await session.connect("Lamp")
        async with failing("refused"):
            await lamp.disconnect()


async def leaving():
    """A callback can end the program, with its session."""
    program = ("import asyncio, sys\n"
               "from corebluetooth_linux import Session\n"
               "async def main():\n"
               "    async with Session() as session, await session.connect('Lamp') as lamp:\n"
               "        print(session._process.pid, flush=True)\n"
               "        await lamp.subscribe('FFE1', lambda value: sys.exit('the end'))\n"
               "        await asyncio.Event().wait()\n"
               "asyncio.run(main())\n")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    output, errors = await process.communicate()
    check(f"the end of a program: {errors.decode()}", (process.returncode, errors) == (1, b"the end\n"))
    check("its session has ended", not pathlib.Path(f"/proc/{int(output)}").exists())


async def main(world):
    await exits()
    await reasons()
    await repeated()
    await many()
    await ended()
    await programs()
    await lines()
    await found_late()
    await shared()
    await returning()
    await rows()
    await streams()
    async with Daemon(f"world:{world}") as host:
        os.environ["BLUETOOTH_HOST"] = host
        await callbacks(host)
        await leaving()
        await commands(host)
        await cancelled_streams(host)
    print(f"programs with errors: {checks.passed} checks passed")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
