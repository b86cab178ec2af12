"""The results of pairings, one JSON object a line, for `table.py`."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import time
from collections.abc import Iterator
from typing import Any

HOME = pathlib.Path(os.environ.get("INTEROP_HOME", pathlib.Path(__file__).parents[2] / ".interop"))
FOLDER = HOME / "results"


class NotMade(Exception):
    """The case did not occur, and there is nothing to record."""


@contextlib.contextmanager
def recorded(name: str, **facts: Any) -> Iterator[dict[str, Any]]:
    """Appends the result of the code in the context to the file called `name`.

    The yielded dictionary takes more facts.
    """
    start = time.monotonic()
    failure: str | None = "it was cut short"
    try:
        yield facts
        failure = ""
    except NotMade:
        failure = None
    except Exception as error:
        failure = str(error) or type(error).__name__
        raise
    finally:
        if failure is None:
            return
        facts |= {"passed": not failure, "why": failure, "took": round(time.monotonic() - start, 1)}
        _record(name, facts)


def _record(name: str, facts: dict[str, Any]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    line = {"date": time.strftime("%Y-%m-%d", time.gmtime())} | facts
    with open(FOLDER / f"{name}.jsonl", "a") as file:
        file.write(json.dumps(line) + "\n")
