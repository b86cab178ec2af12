"""Ports for programs that are told where to listen."""

from __future__ import annotations

import random
import socket

# Below those that systems give to who connects, so that no connection takes one before somebody listens at it.
_PORTS = range(20_000, 32_000)

_given: set[int] = set()


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens at, and that nobody else in this process was given."""
    found: list[int] = []
    draw = random.SystemRandom()
    while len(found) < count:
        port = draw.choice(_PORTS)
        if port in _given:
            continue
        with socket.socket() as candidate:
            try:
                candidate.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        found.append(port)
    return found
