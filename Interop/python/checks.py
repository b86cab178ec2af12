"""Checks of the programs that use the Python package."""

import asyncio
import contextlib
import sys

from corebluetooth_linux import BluetoothError

passed = 0


def check(what, condition):
    """Ends the program unless the condition holds."""
    global passed
    if not condition:
        sys.exit(f"{sys.argv[0]}: {what}")
    passed += 1


@contextlib.asynccontextmanager
async def failing(code):
    """Checks that the body fails with this code."""
    try:
        yield
    except BluetoothError as error:
        check(f"the code {code} and not {error.code}: {error}", error.code == code)
    else:
        check(f"an error with the code {code}", False)


@contextlib.contextmanager
def reported():
    """Yields the exceptions that the handler of the event loop receives."""
    exceptions = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: exceptions.append(context.get("exception")))
    try:
        yield exceptions
    finally:
        loop.set_exception_handler(None)


def raising(*_):
    raise LookupError("an error of the program")
