"""Calls of functions that a program has registered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


def run(call: Callable[..., object], *arguments: object) -> None:
    """Calls a function of the program, and reports its exception to the exception handler of the event loop.

    So an error in one callback does not end the session, which other tasks use as well. As in callbacks of asyncio,
    SystemExit and KeyboardInterrupt are raised.
    """
    try:
        call(*arguments)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        asyncio.get_running_loop().call_exception_handler(
            {"message": f"Exception in callback {call!r}", "exception": error})
