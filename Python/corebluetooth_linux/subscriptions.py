"""The subscriptions of a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .callbacks import run
from .errors import ending

if TYPE_CHECKING:
    from .device import Device, Value

# A subscribed characteristic: its service, its UUID, and its number among those with this UUID. Unlike a handle, this
# stays the same over connections.
Subscription = tuple[str, str, int]


def subscription_of(line: dict[str, Any]) -> Subscription:
    """Returns the characteristic that a line is about."""
    return line.get("service", ""), line.get("characteristic", ""), int(line.get("instance", 1))


class Receiver:
    """A function that receives the values of a characteristic.

    Attributes:
        subscription: The characteristic; None until the device has answered.
        handle: The handle of the characteristic in the answer.
        early: The values of all characteristics that came before the answer, which names the characteristic.
        is_active: False when the program needs no more values.
    """

    def __init__(self, call: Callable[[Value], None]) -> None:
        self.call = call
        self.subscription: Subscription | None = None
        self.handle = 0
        self.early: list[tuple[Subscription, Value]] = []
        self.is_active = True


class Subscriptions:
    """The functions that receive the values of a device.

    A characteristic without functions is unsubscribed. Until `subscribe` is answered, its characteristic is not known,
    so nothing is unsubscribed before the answer.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._receivers: dict[Subscription, list[Receiver]] = {}
        # The receivers whose `subscribe` has not been answered.
        self._asking: list[Receiver] = []
        # The characteristics, by all handles that subscribe() has returned, and their handles in this connection.
        self._known: dict[int, Subscription] = {}
        self._handles: dict[Subscription, int] = {}

    async def add(self, attribute: dict[str, Any], call: Callable[[Value], None]) -> Receiver:
        """Subscribes to the characteristic that `attribute`, the keys of a command, names."""
        receiver = Receiver(call)
        session = self._device._session

        def answered(line: dict[str, Any]) -> None:
            self._asking.remove(receiver)
            if line["event"] == "done":
                self._enter(receiver, line)
            self._unsubscribe_unused()

        number = session._send("subscribe", {"device": self._device.identifier} | attribute, answered)
        self._asking.append(receiver)
        try:
            await session._answer(number)
        except BaseException:
            # Without an answer, the characteristic may be subscribed later.
            self._leave(receiver)
            self._unsubscribe_unused()
            raise
        return receiver

    async def remove(self, receiver: Receiver) -> None:
        """Stops calling a function; unsubscribes if it was the last one."""
        self._leave(receiver)
        if receiver.subscription is not None:
            await self._unsubscribe(receiver.subscription)

    async def remove_all(self, handle: int, call: Callable[[Value], None] | None) -> None:
        """Stops calling a function, or all functions if `call` is None.

        Args:
            handle: A handle that subscribe() has returned for the characteristic.
        """
        subscription = self._known.get(handle)
        if subscription is None:
            return
        found = [one for one in self._receivers.get(subscription, ()) if call is None or one.call == call]
        for receiver in found if call is None else found[:1]:
            self._leave(receiver)
        await self._unsubscribe(subscription)

    def receive(self, subscription: Subscription, value: Value) -> None:
        """Calls the functions of a characteristic with a value."""
        for receiver in list(self._receivers.get(subscription, ())):
            if receiver.is_active:
                run(receiver.call, value)
        for receiver in self._asking:
            if receiver.is_active:
                receiver.early.append((subscription, value))

    def resubscribed(self, line: dict[str, Any]) -> None:
        """Records the new handle of a characteristic to which the session has subscribed again."""
        subscription = subscription_of(line)
        self._handles[subscription] = int(line["handle"])
        # The program may have ended the subscription while the device was gone.
        self._receivers.setdefault(subscription, [])
        self._unsubscribe_unused()

    def unsubscribed(self, subscription: Subscription) -> None:
        """Forgets the functions of a characteristic to which the session could not subscribe again."""
        self._receivers.pop(subscription, None)

    def clear(self) -> None:
        """Forgets all functions, because the connection has ended."""
        self._receivers.clear()

    def _enter(self, receiver: Receiver, line: dict[str, Any]) -> None:
        receiver.subscription = subscription = subscription_of(line)
        receiver.handle = handle = int(line["handle"])
        self._known[handle] = subscription
        self._handles[subscription] = handle
        receivers = self._receivers.setdefault(subscription, [])
        early, receiver.early = receiver.early, []
        if receiver.is_active:
            receivers.append(receiver)
            for known, value in early:
                if known == subscription and receiver.is_active:
                    run(receiver.call, value)

    def _leave(self, receiver: Receiver) -> None:
        receiver.is_active = False
        receiver.early.clear()
        receivers = self._receivers.get(receiver.subscription, []) if receiver.subscription is not None else []
        if receiver in receivers:
            receivers.remove(receiver)

    async def _unsubscribe(self, subscription: Subscription) -> None:
        """Unsubscribes from a characteristic without functions; does nothing while a `subscribe` is not answered."""
        if self._receivers.get(subscription) or self._asking:
            return
        if self._receivers.pop(subscription, None) is not None and self._device.is_connected:
            await ending(self._device._request("unsubscribe", handle=self._handles[subscription]))

    def _unsubscribe_unused(self) -> None:
        if self._asking:
            return
        for subscription in [one for one, receivers in self._receivers.items() if not receivers]:
            del self._receivers[subscription]
            if self._device.is_connected:
                self._device._session._send_and_forget(
                    "unsubscribe", device=self._device.identifier, handle=self._handles[subscription])
