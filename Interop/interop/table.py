"""Renders docs/INTEROP.md from what came of pairings: `table.py [RESULTS-FOLDER] > docs/INTEROP.md`.

The folder is `.interop/results` if it is not given. Each run of the scripts adds to it; whoever wants the figures of
one day alone removes it before.
"""

from __future__ import annotations

import json
import pathlib
import sys
import textwrap
from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]

METHODS = {
    "justWorks": "Just Works",
    "numericComparison": "numeric comparison",
    "passkeyEntry": "passkey",
    "outOfBand": "told out of band",
}
GENERATIONS = {"secure": "LE Secure Connections", "legacy": "legacy"}

HEAD = """# Pairing with others

What the scripts of [Interop](../Interop/README.md) made, and what came of it; made by `Interop/interop/table.py` from
what they recorded, and not by hand. “3 of 3” means that three were made and three passed.

A pairing passes if both ends say that they are paired, by this method, and keep a bond or keep none, as was asked for;
the same numbers were shown where some are compared; the central has read what only a paired one may; and, where a bond
was kept and the peers of the radio are met again, it has read that once more after it came back, encrypted and without
a question (not Bumble after legacy pairing, of whose two keys it takes another one than ours). A refusal passes if
neither end is paired afterwards, both say that it failed, each of its own, unless it has left, and the next pairing of
the two, in which all goes well, passes.

Between security managers alone, without controllers, there is nothing to read: there, both ends have come to the same
key, by the method that the specification gives for their capabilities.
"""
CUTS = """Between one of the hosts and its controller is a line on which one packet of the security manager is lost, the
first, the second, and so on to the last, and the link with it: “13 of 13” are as many packets. That host hears that the
link was lost, and the other that it was ended. It passes if neither has paired then, neither keeps anything, no process
has ended, and the next pairing of the two, at once, succeeds; where they had a bond, both still have that very bond,
and use it. Of the 20 rounds of a passkey that BlueZ makes, or that is to replace a bond, the middle ones were left out.
“At once” is a second later where our peripheral was not started anew: so long it refuses who has just failed.

The last packets are keys of the central. When they have been sent and acknowledged, and got lost behind the controller
of the peripheral, the central cannot know that, and has paired: it may keep its bond then, which has to be removed
(`ble bonds remove`). BlueZ and Bumble keep theirs as soon as they have handed those packets to their controller. A
peripheral of ours never keeps anything then, nor does a central whose packet was not acknowledged.
"""
NOTES = """
## What is not there

- Out of band BlueZ is told what our host tells (`btmgmt remote-oob`); what BlueZ tells is not to be had: both kernels
  answer `btmgmt le-oob` with Not Supported, and there is no call for it on D-Bus. So two of BlueZ cannot pair so.
- Legacy pairing out of band was tried between security managers alone, and Bumble's hosts with each other: `ble` tells
  and is told for LE Secure Connections alone. Two processes of `ble` always pair by LE Secure Connections, since
  neither lacks it; legacy pairing of our host with itself is in the last table.
- Where the link is lost while BlueZ 5.66 shows a passkey of legacy pairing, or before the fourth packet of a pairing
  that it began, the box's Linux 6.1 faults in `hci_chan_del` as `bluetoothd` closes the socket, and `bluetoothd` ends
  with that. Those packets were left out with it. Linux 6.12 does not.
- Bumble's host keeps keys also where it has said that it does not bond; what it does with them then is not tried.
"""


def load(folder: pathlib.Path) -> list[Row]:
    """All that was recorded."""
    return [json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]


def place(text: str, row: Row) -> str:
    """Who is meant by `ours`, `the peer` or a name, as the central or the peripheral."""
    central, peripheral = row["central"], row["peripheral"]
    if text in ("", "the central", "the peripheral", "nobody"):
        return text
    if text == "the peer":
        return "the central" if central != "ours" else "the peripheral"
    return "the central" if central.split()[0] == text else "the peripheral"


def kind(row: Row) -> tuple[str, str]:
    """The generation and method of a pairing, as a row of the table."""
    by = place(row["by"], row)
    does = "alone tells" if row["method"] == "outOfBand" else "shows it"
    shown = {"": "", "nobody": ", typed in at both"}.get(by, f", {by} {does}")
    return GENERATIONS[row["generation"]], METHODS[row["method"]] + shown


def refusal(row: Row) -> str:
    """What goes wrong in a refusal."""
    text = row["refusal"]
    if text == "cut":
        return f"at {place(row['near'], row)}" + (", which have a bond" if row.get("bonded") else "")
    if " at " in text:
        what, _, who = text.partition(" at ")
        return f"{what} at {place(who, row)}"
    return f"{place(text.removesuffix(' leaves'), row)} leaves"


def pair(row: Row) -> str:
    """Who pairs with whom, as a column of the table."""
    return f"{row['central']} → {row['peripheral']}"


def table(rows: Iterable[Row], name: str) -> list[str]:
    """A table of those rows, with a column for each pair of hosts."""
    rows = list(rows)
    pairs = sorted({pair(row) for row in rows}, key=lambda each: (each.count("ours") == 0, each))
    lines: dict[tuple[str, ...], dict[str, list[bool]]] = {}
    for row in rows:
        generation, method = kind(row)
        bond = ("kept" if row["bonding"] else "not kept") + (", private addresses" if row.get("private") else "")
        key = (generation, method, refusal(row) if row["refusal"] else bond)
        lines.setdefault(key, {}).setdefault(pair(row), []).append(row["passed"])
    order = list(METHODS.values())
    text = [f"| generation | method | {name} | {' | '.join(pairs)} |", "| --- " * (3 + len(pairs)) + "|"]
    def rank(key: tuple[str, ...]) -> tuple[bool, int, tuple[str, ...]]:
        return key[0] != GENERATIONS["secure"], order.index(key[1].partition(",")[0]), key

    for key in sorted(lines, key=rank):
        cells = [lines[key].get(each, []) for each in pairs]
        counts = [f"{sum(cell)} of {len(cell)}" if cell else "–" for cell in cells]
        text.append(f"| {' | '.join(key)} | {' | '.join(counts)} |")
    return [*text, ""]


def controllers(rows: list[Row]) -> list[str]:
    """On whose controllers all these were made."""
    makes = {"none": "none", "ours": "ours (`ble radio`)", "rootcanal": "rootcanal's"}
    text = ["| controllers | pairings and refusals | passed |", "| --- | --- | --- |"]
    for make, name in makes.items():
        some = [row["passed"] for row in rows if row["controllers"] == make]
        if some:
            text.append(f"| {name} | {len(some)} | {sum(some)} |")
    return [*text, ""]


def failures(rows: list[Row]) -> list[str]:
    """Those that failed, and why."""
    failed = [row for row in rows if not row["passed"]]
    if not failed:
        return []
    text = ["", "## What failed", ""]
    for row in failed:
        wrong = row["refusal"]
        if wrong == "cut":
            wrong = f"link lost {refusal(row)}, packet {row['step']} of {row['steps']}"
        what = ", ".join(filter(None, [*kind(row), wrong]))
        line = f"- {row['date']}, {pair(row)}, controllers {row['controllers']}, {what}: {row['why'][:200]}"
        text += textwrap.wrap(line, 120, subsequent_indent="  ")
    return text


def versions(folder: pathlib.Path, rows: list[Row]) -> str:
    """What was tested, and when."""
    installed = folder.parent / "installed"
    names = installed.read_text().split() if installed.exists() else []
    known = {"bumble": "Bumble", "rootcanal": "rootcanal"}
    found = [each.partition("==") for each in names]
    peers = [f"{known[name]} {version}" for name, _, version in found if name in known]
    hosts: dict[str, str | None] = {}
    for row in rows:
        for host in (row["central"], row["peripheral"]):
            if host.startswith("BlueZ"):
                hosts[host] = row.get("kernel") or hosts.get(host)
    peers += [f"{host} on Linux {kernel}" if kernel else host for host, kernel in sorted(hosts.items())]
    dates = sorted({row["date"] for row in rows})
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return "\n".join(textwrap.wrap(f"Made on {days}, with {', '.join(peers)}.", 120)) + "\n"


def main() -> None:
    default = pathlib.Path(__file__).parents[2] / ".interop" / "results"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    rows = load(folder)
    if not rows:
        sys.exit(f"table.py: nothing is recorded in {folder}; run Interop/run and Interop/bluez/run first")
    paired, refused = [row for row in rows if not row["refusal"]], [row for row in rows if row["refusal"]]
    hosts = [row for row in paired if row["controllers"] != "none"]
    managers = [row for row in rows if row["controllers"] == "none"]
    text = [HEAD, versions(folder, rows), *controllers(rows)]
    text += ["## Pairings of hosts", "", *table(hosts, "bond")]
    text += ["## Refusals of hosts", ""]
    cuts = [row for row in refused if row["refusal"] == "cut"]
    text += table((row for row in refused if row["controllers"] != "none" and row not in cuts), "what goes wrong")
    text += ["## Links that are lost in a pairing", "", CUTS, *table(cuts, "where the link is lost")]
    text += ["## Security managers alone", "", *table((row for row in managers if not row["refusal"]), "bond")]
    text += table((row for row in managers if row["refusal"]), "what goes wrong")
    print("\n".join([*text[:-1], *failures(rows)]).rstrip() + "\n" + NOTES, end="")


if __name__ == "__main__":
    main()
