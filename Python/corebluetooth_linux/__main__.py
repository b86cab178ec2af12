"""Runs an unchanged program written with bleak on Core Bluetooth for Linux.

    python -m corebluetooth_linux PROGRAM.py ARGUMENT…
    python -m corebluetooth_linux -m MODULE ARGUMENT…
"""

import runpy
import sys


def main() -> None:
    arguments = sys.argv[1:]
    is_module = arguments[:1] == ["-m"]
    if is_module:
        arguments = arguments[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.exit((__doc__ or "").strip())
    from .bleak import install

    install()
    sys.argv = arguments
    if is_module:
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(arguments[0], run_name="__main__")


main()
