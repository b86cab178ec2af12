"""The results of pairings, counted for each cell of the tables in docs/INTEROP.md, and stored in `results.jsonl`."""

from __future__ import annotations

import json
import pathlib
from typing import Any, NamedTuple

Row = dict[str, Any]

KEPT = pathlib.Path(__file__).parents[1] / "results.jsonl"
PAIRINGS, REFUSALS, CUTS = "pairings", "refusals", "cuts"
MANAGERS, REFUSING_MANAGERS = "managers", "refusing managers"

METHODS = {
    "justWorks": "Just Works",
    "numericComparison": "numeric comparison",
    "passkeyEntry": "passkey",
    "outOfBand": "out of band",
}
GENERATIONS = {"secure": "LE Secure Connections", "legacy": "legacy"}


class Cell(NamedTuple):
    """A position in the tables."""

    part: str
    generation: str
    method: str
    case: str
    pair: str
    """The central and the peripheral."""


class Count(NamedTuple):
    """The results of the pairings of a cell."""

    date: str
    """The day of the most recent one."""
    made: int = 0
    passed: int = 0
    races: int = 0
    """The number of links that `bluetoothd` abandoned, so that a read was repeated."""
    controllers: dict[str, tuple[int, int]] = {}
    """The numbers of pairings made and passed, for each make of controllers, if recorded."""
    kernels: dict[str, str] = {}
    failures: tuple[str, ...] = ()
    """Descriptions of the failed pairings, with reasons."""

    def with_row(self, row: Row, what: str) -> Count:
        """Returns the counts with one more pairing."""
        made, passed = self.controllers.get(row["controllers"], (0, 0))
        hosts = [host for host in (row["central"], row["peripheral"]) if "kernel" in row and host != "ours"]
        return Count(
            date=max(self.date, row["date"]),
            made=self.made + 1,
            passed=self.passed + row["passed"],
            races=self.races + row.get("races", 0),
            controllers=self.controllers | {row["controllers"]: (made + 1, passed + row["passed"])},
            kernels=self.kernels | {host: row["kernel"] for host in hosts},
            failures=self.failures if row["passed"] else (*self.failures, what),
        )


Counts = dict[Cell, Count]


def load(folder: pathlib.Path) -> Counts:
    """Returns all results in a folder."""
    counts: Counts = {}
    for file in sorted(folder.glob("*.jsonl")):
        for row in map(json.loads, file.read_text().splitlines()):
            cell = _cell(row)
            counts[cell] = counts.get(cell, Count(row["date"])).with_row(row, _failure(row, cell))
    return counts


def kept(file: pathlib.Path = KEPT) -> Counts:
    """Returns the stored counts."""
    found: Counts = {}
    for line in map(json.loads, file.read_text().splitlines() if file.exists() else []):
        cell = Cell(*(line.pop(name) for name in Cell._fields))
        line["controllers"] = {make: tuple(pair) for make, pair in line.get("controllers", {}).items()}
        found[cell] = Count(**line | {"failures": tuple(line.get("failures", ()))})
    return found


def keep(counts: Counts, file: pathlib.Path = KEPT) -> None:
    """Stores all counts, a line for each cell."""
    lines = []
    for cell, count in sorted(counts.items()):
        facts = {name: value for name, value in count._asdict().items() if value}
        lines.append(json.dumps(cell._asdict() | facts, ensure_ascii=False))
    file.write_text("\n".join(lines) + "\n")


def merged(old: Counts, new: Counts) -> Counts:
    """Returns both, preferring a new count to an old one unless it has fewer pairings."""
    return old | {cell: count for cell, count in new.items() if cell not in old or count.made >= old[cell].made}


def _cell(row: Row) -> Cell:
    by = _place(row["by"], row)
    does = "sends data" if row["method"] == "outOfBand" else "shows it"
    shown = {"": "", "nobody": ", typed in at both"}.get(by, f", {by} {does}")
    case = ("kept" if row["bonding"] else "not kept") + (", private addresses" if row.get("private") else "")
    return Cell(
        part=_part(row),
        generation=GENERATIONS[row["generation"]],
        method=METHODS[row["method"]] + shown,
        case=_refusal(row) if row["refusal"] else case,
        pair=f"{row['central']} → {row['peripheral']}",
    )


def _part(row: Row) -> str:
    if row["refusal"] == "cut":
        return CUTS
    if row["controllers"] == "none":
        return REFUSING_MANAGERS if row["refusal"] else MANAGERS
    return REFUSALS if row["refusal"] else PAIRINGS


def _place(text: str, row: Row) -> str:
    """Returns the role of `ours`, `the peer` or a named host, as the central or the peripheral."""
    central = row["central"]
    if text in ("", "the central", "the peripheral", "nobody"):
        return text
    if text == "the peer":
        return "the central" if central != "ours" else "the peripheral"
    return "the central" if central.split()[0] == text else "the peripheral"


def _refusal(row: Row) -> str:
    """Returns a description of the fault."""
    text = row["refusal"]
    if text == "cut":
        return f"at {_place(row['near'], row)}" + (", with an existing bond" if row.get("bonded") else "")
    if " at " in text:
        what, _, who = text.partition(" at ")
        return f"{what} at {_place(who, row)}"
    return f"{_place(text.removesuffix(' leaves'), row)} leaves"


def _failure(row: Row, cell: Cell) -> str:
    wrong = f"link lost {cell.case}, packet {row['step']} of {row['steps']}" if cell.part == CUTS else row["refusal"]
    what = ", ".join(filter(None, [cell.generation, cell.method, wrong]))
    return f"{row['date']}, {cell.pair}, controllers {row['controllers']}, {what}: {row['why'][:200]}"
