"""Ports for programs that have to be given the ports to listen on."""

from __future__ import annotations

import random
import socket

# Below the ephemeral ports, so that no outgoing connection takes one before its program listens.
_PORTS = range(20_000, 32_000)

_given: set[int] = set()


def free_ports(count: int) -> list[int]:
    """Returns ports of 127.0.0.1 on which nothing listens, and which this process has not returned before."""
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
