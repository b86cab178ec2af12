"""A device that a program is itself: services that other devices read, write and subscribe to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .errors import BluetoothError
from .queue import EventStream

if TYPE_CHECKING:
    from .session import Session


@dataclass(frozen=True)
class Written:
    """A value that a central wrote, or wants to write."""

    characteristic: str
    octets: bytes


@dataclass(frozen=True)
class PeripheralEvent:
    """Something that a central did, or asks for.

    Attributes:
        kind: "connected", "disconnected", "subscribed", "unsubscribed", "read", "wrote", "read_requested",
            "write_requested" or "request_ended".
        central: The identifier of the central; None for "request_ended".
        characteristic: The UUID of the characteristic; None for connections, and for requests that write.
        writes: The values of "wrote" and "write_requested", usually one.
        request: The number of the request.
        reason: Why a request ended.
    """

    kind: str
    central: str | None
    characteristic: str | None = None
    writes: tuple[Written, ...] = ()
    request: int | None = None
    reason: str | None = None
    _session: Session | None = field(default=None, repr=False, compare=False)

    async def respond(self, value: bytes | None = None) -> None:
        """Answers a request: with the value that is read, or without one to accept what is written.

        Raises:
            BluetoothError: if the request has ended.
        """
        await self._answer(value=(value or b"").hex() if self.kind == "read_requested" else None)

    async def refuse(self, code: int) -> None:
        """Refuses a request with an error code of ATT, 1 to 255: 5 is Insufficient Authentication.

        Raises:
            BluetoothError: if the request has ended.
        """
        await self._answer(error=code)

    async def _answer(self, **keys: Any) -> None:
        if self._session is None or self.request is None:
            raise BluetoothError("invalid", "Only events “read_requested” and “write_requested” can be answered, "
                                 f"not “{self.kind}”.")
        await self._session.request("respond", request=self.request, **keys)


# The kinds of events, with the names of their lines in docs/SESSION.md.
KINDS = {
    "central_connected": "connected", "central_disconnected": "disconnected", "central_subscribed": "subscribed",
    "central_unsubscribed": "unsubscribed", "central_read": "read", "central_wrote": "wrote",
    "read_requested": "read_requested", "write_requested": "write_requested", "request_ended": "request_ended",
}


class Peripheral(EventStream[PeripheralEvent]):
    """A served device: an asynchronous context manager, and an iterator of PeripheralEvent.

    A session serves one device at a time. Take the events even if the program needs none of them: the session reads
    nothing more while 256 of them wait.
    """

    BEGIN = "serve"
    END = "withdraw"

    def _attach(self) -> None:
        if self._session._peripheral is not None:
            raise BluetoothError("busy", "This session already serves a device; stop serving it first, or start "
                                 "another session.")
        self._session._peripheral = self

    def _detach(self) -> None:
        self._session._peripheral = None

    async def update(self, characteristic: str, value: bytes) -> None:
        """Sets a value, and sends it to all subscribers; waits while a central receives slowly."""
        await self._session.request("update", characteristic=characteristic, value=value.hex())

    async def start_advertising(self) -> None:
        """Starts advertising the device, if it was served without that, or after stop_advertising."""
        await self._session.request("start_advertising")

    async def stop_advertising(self) -> None:
        """Stops advertising; connections stay."""
        await self._session.request("stop_advertising")

    def _receive(self, line: dict[str, Any]) -> bool:
        """Takes an event of the session; returns whether it is about the served device."""
        if self._queue is None:
            return False
        if line.get("event") == "serving_failed":
            self._queue.end(BluetoothError("not_served", line.get("reason", "The device can no longer be served.")))
            return True
        kind = KINDS.get(line.get("event", ""))
        if kind is None:
            return False
        writes = line.get("writes", [line] if kind == "wrote" else [])
        self._queue.put(PeripheralEvent(
            kind=kind, central=line.get("identifier"), characteristic=line.get("characteristic"),
            writes=tuple(Written(one["characteristic"], bytes.fromhex(one["value"])) for one in writes),
            request=line.get("request"), reason=line.get("reason"), _session=self._session))
        return True


def options(description: dict[str, Any] | str | os.PathLike[str], *, machine: str | None, ask: Iterable[str],
            advertise: bool, faults: Iterable[str]) -> dict[str, Any]:
    """Returns the keys of the command “serve”."""
    device: dict[str, Any] = {"description": description}
    if not isinstance(description, dict):
        device = {"file": os.fspath(description)}
    return device | {"machine": machine, "ask": list(ask) or None, "advertise": None if advertise else False,
                     "faults": list(faults) or None}
