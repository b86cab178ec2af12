"""A queue between the process of a session and a program that iterates."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class EventQueue(Generic[Item]):
    """Events that a program has not taken yet, until an end or an error.

    While the queue is full, its session reads no events, so that the process, and then the device, waits. Nothing is
    dropped.
    """

    LIMIT = 256

    def __init__(self, on_room: Callable[[], None]) -> None:
        self._items: deque[Item] = deque()
        self._on_room = on_room
        self._changed = asyncio.Event()
        self._end: BaseException | None = None

    @property
    def is_full(self) -> bool:
        return len(self._items) >= self.LIMIT

    @property
    def is_open(self) -> bool:
        """True until the queue is ended."""
        return self._end is None

    def put(self, item: Item) -> None:
        if self._end is None:
            self._items.append(item)
            self._changed.set()

    def end(self, error: BaseException | None = None) -> None:
        """Ends the queue after the events that it has."""
        if self._end is None:
            self._end = error or StopAsyncIteration()
            self._changed.set()

    async def get(self) -> Item:
        """Returns the next event; raises the error, or StopAsyncIteration, after the last one."""
        while not self._items:
            if self._end is not None:
                raise self._end
            self._changed.clear()
            await self._changed.wait()
        item = self._items.popleft()
        self._on_room()
        return item
