"""Tests this project's host against BlueZ on a real Linux kernel in a virtual machine."""
