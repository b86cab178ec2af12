"""Pairs this project's host with BlueZ, which runs on a real Linux kernel in a virtual machine."""
