"""Runs an unchanged program written with bleak on Core Bluetooth for Linux.

    python -m corebluetooth_linux PROGRAM.py [ARGUMENT…]
    python -m corebluetooth_linux -m MODULE [ARGUMENT…]

The program “ble” must be in PATH, or the variable BLE must contain its path.
BLUETOOTH_HOST selects the radio; “ble --help” lists the values.

Examples:
    python -m corebluetooth_linux scanner.py
    BLUETOOTH_HOST=demo python -m corebluetooth_linux -m my_package --verbose
"""

import runpy
import sys


def main() -> None:
    arguments = sys.argv[1:]
    is_module = arguments[:1] == ["-m"]
    if is_module:
        arguments = arguments[1:]
    if arguments and not is_module and arguments[0] in ("-h", "--help"):
        print((__doc__ or "").strip())
        return
    if not arguments:
        sys.exit("corebluetooth_linux: name a program, or a module after -m; --help shows how.")
    from .bleak import install

    install()
    sys.argv = arguments
    if is_module:
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(arguments[0], run_name="__main__")


main()
