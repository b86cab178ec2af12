"""Checks of the programs that use the Python package."""

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
