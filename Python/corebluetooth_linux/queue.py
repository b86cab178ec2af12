"""A queue between the process of a session and a program that iterates."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from .errors import BluetoothError, ending

if TYPE_CHECKING:
    from .session import Session

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
                # Without this, each call would add its frames to the traceback.
                raise self._end.with_traceback(None)
            self._changed.clear()
            await self._changed.wait()
        item = self._items.popleft()
        self._on_room()
        return item


class EventStream(Generic[Item]):
    """Events of a session that a command begins: an asynchronous context manager and iterator.

    A subclass says where the session finds it, and which commands begin and end the events.
    """

    # The commands that begin and end the events.
    BEGIN: str
    END: str

    def __init__(self, session: Session, options: dict[str, Any]) -> None:
        self._session = session
        self._options = options
        self._queue: EventQueue[Item] | None = None

    def _attach(self) -> None:
        """Enters the stream in its session; raises BluetoothError if the session has one already."""
        raise NotImplementedError

    def _detach(self) -> None:
        """Removes the stream from its session."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        self._attach()
        self._queue = self._session._queue()
        try:
            await self._session.request(self.BEGIN, **self._options)
        except BluetoothError:
            self._leave()
            raise
        except BaseException:
            # The process still carries out the command, and then the one that ends the events.
            if self._leave():
                self._session._send_and_forget(self.END)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._leave():
            await ending(self._session.request(self.END))

    def _leave(self) -> bool:
        """Detaches the stream from its session; returns whether the session must still end the events."""
        if self._queue is None:
            return False
        must_finish = self._queue.is_open and self._session.is_running
        self._session._forget(self._queue)
        self._detach()
        self._queue.end()
        self._queue = None
        return must_finish

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        if self._queue is None:
            raise RuntimeError(f"Iterate a {type(self).__name__} inside “async with”.")
        return await self._queue.get()
