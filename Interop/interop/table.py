"""Renders docs/INTEROP.md from what came of pairings: `table.py [--keep] [RESULTS-FOLDER] > docs/INTEROP.md`.

The folder is `.interop/results` if it is not given. Each run of the scripts adds to it; whoever wants the figures of
one day alone removes it before. What is not in the folder is taken from `Interop/results.jsonl`, where `--keep` puts
the figures of all that is shown.
"""

from __future__ import annotations

import pathlib
import sys
import textwrap

from cells import (
    CUTS,
    GENERATIONS,
    MANAGERS,
    METHODS,
    PAIRINGS,
    REFUSALS,
    REFUSING_MANAGERS,
    Cell,
    Counts,
    keep,
    kept,
    load,
    merged,
)

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
CUT = """Between one of the hosts and its controller is a line on which one packet of the security manager is lost, the
first, the second, and so on to the last, and the link with it: “13 of 13” are as many packets. That host hears
that the link was lost, and the other that it was ended. It passes if neither has paired then, neither keeps
anything, no process has ended, and the next pairing of the two, at once, succeeds; where they had a bond, both
still have that very bond, and use it. Of the 20 rounds of a passkey that BlueZ makes, or that is to replace a
bond, most of the middle ones were left out: of some ninety packets BlueZ lost the first six, one in the middle
and the last eleven, or some of these. With BlueZ 5.66 as the central the first three packets were left out,
for the reason that is told below. “At once” is a second later where our peripheral was not started anew: so
long it refuses who has just failed.

The last packets are keys of the central. When they have been sent and acknowledged, and got lost behind the
controller of the peripheral, the central cannot know that, and has paired: it may keep its bond then, which has to be
removed (`ble bonds remove`). BlueZ and Bumble keep theirs as soon as they have handed those packets to their
controller. A peripheral of ours never keeps anything then, nor does a central whose packet was not acknowledged.
"""
NOTES = """
## What is not there

- Out of band BlueZ is told what our host tells (`btmgmt remote-oob`); what BlueZ tells is not to be had: both kernels
  answer `btmgmt le-oob` with Not Supported, and there is no call for it on D-Bus. So two of BlueZ cannot pair so.
- Two processes of `ble` pair the legacy way only where both know a key by other means, since neither lacks LE Secure
  Connections; other legacy pairing of our host with itself is in the last table. BlueZ has no call for such a key.
- Where the link is lost while BlueZ 5.66 shows a passkey of legacy pairing, before the fourth packet of a pairing
  that it began, or at the first or last of one that is to replace a bond, the box's Linux 6.1.0-56 faults as
  `bluetoothd` closes the socket, and `bluetoothd` ends with that: “general protection fault” in
  `__list_del_entry_valid`, called by `hci_chan_del`, `l2cap_chan_put` and `l2cap_sock_release`. Those packets were
  left out with it. Linux 6.12 does not.
- Where a bonded central of ours has encrypted the link between the moment at which `bluetoothd` asks how safe it is
  and the one at which it asks for more, the kernel refuses the latter (`device_attach_att() bt_io_set:
  setsockopt(BT_SECURITY): Invalid argument`); `bluetoothd` then answers nothing on that link, and the kernel ends it
  some seconds later. It is BlueZ that ends it, so our host reads once more, and passes if that succeeds. That was so
  RACES, on a machine that was busy with other things.
- With the last packet of a pairing by LE Secure Connections, its DHKey Check, the kernel of BlueZ 5.82 as the
  peripheral puts the new key in the place of the bond's, and gives that up when the link is lost. It has no key then
  for our host, which keeps its bond, does not go on in the clear, and says so: that is the packet that failed where
  they have a bond.
- With BlueZ, bonds were replaced by numeric comparison alone while the link was lost, and not by a passkey.
- Bumble's host keeps keys also where it has said that it does not bond; what it does with them then is not tried.
"""


def table(counts: Counts, part: str, name: str) -> list[str]:
    """A table of a part, with a column for each pair of hosts."""
    cells = [cell for cell in counts if cell.part == part]
    pairs = sorted({cell.pair for cell in cells}, key=lambda each: (each.count("ours") == 0, each))
    order = list(METHODS.values())
    text = [f"| generation | method | {name} | {' | '.join(pairs)} |", "| --- " * (3 + len(pairs)) + "|"]

    def rank(key: tuple[str, ...]) -> tuple[bool, int, tuple[str, ...]]:
        return key[0] != GENERATIONS["secure"], order.index(key[1].partition(",")[0]), key

    for key in sorted({cell[1:4] for cell in cells}, key=rank):
        found = [counts.get(Cell(part, *key, pair)) for pair in pairs]
        shown = [f"{each.passed} of {each.made}" if each else "–" for each in found]
        text.append(f"| {' | '.join(key)} | {' | '.join(shown)} |")
    return [*text, ""]


def controllers(counts: Counts) -> list[str]:
    """On whose controllers all these were made."""
    makes = {"none": "none", "ours": "ours (`ble radio`)", "rootcanal": "rootcanal's"}
    text = ["| controllers | pairings and refusals | passed |", "| --- | --- | --- |"]
    totals = [sum(count.made for count in counts.values()), sum(count.passed for count in counts.values())]
    for make, name in makes.items():
        found = [count.controllers.get(make, (0, 0)) for count in counts.values()]
        some = [sum(each) for each in zip(*found)]
        totals = [left - here for left, here in zip(totals, some)]
        if some[0]:
            text.append(f"| {name} | {some[0]} | {some[1]} |")
    if totals[0]:
        text.append(f"| ours or rootcanal's, as it was not kept | {totals[0]} | {totals[1]} |")
    return [*text, ""]


def failures(counts: Counts) -> list[str]:
    """Those that failed, and why."""
    failed = [line for _, count in sorted(counts.items()) for line in count.failures]
    text = ["", "## What failed", ""] if failed else []
    for line in failed:
        text += textwrap.wrap(f"- {line}", 120, subsequent_indent="  ", break_on_hyphens=False)
    return text


def races(counts: Counts) -> str:
    """How often BlueZ has left a link to itself."""
    hosts = sorted({pair for cell in counts for pair in cell.pair.split(" → ") if "BlueZ" in pair})
    said = []
    for host in hosts:
        some = [count for cell, count in counts.items() if cell.pair == f"ours → {host}" and count.controllers]
        said.append(f"{sum(each.races for each in some)} times in {sum(each.made for each in some)} with {host}")
    return " and ".join(said)


def versions(folder: pathlib.Path, counts: Counts) -> str:
    """What was tested, and when."""
    installed = folder.parent / "installed"
    names = installed.read_text().split() if installed.exists() else []
    known = {"bumble": "Bumble", "rootcanal": "rootcanal"}
    found = [each.partition("==") for each in names]
    peers = [f"{known[name]} {version}" for name, _, version in found if name in known]
    kernels = {host: kernel for count in counts.values() for host, kernel in count.kernels.items()}
    peers += [f"{host} on Linux {kernel}" for host, kernel in sorted(kernels.items())]
    dates = sorted({count.date for count in counts.values()})
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return "\n".join(textwrap.wrap(f"Made on {days}, with {', '.join(peers)}.", 120)) + "\n"


def main() -> None:
    arguments = [each for each in sys.argv[1:] if each != "--keep"]
    default = pathlib.Path(__file__).parents[2] / ".interop" / "results"
    folder = pathlib.Path(arguments[0]) if arguments else default
    counts = merged(kept(), load(folder))
    if not counts:
        sys.exit(f"table.py: nothing is recorded in {folder}; run Interop/run and Interop/bluez/run first")
    if "--keep" in sys.argv:
        keep(counts)
    text = [HEAD, versions(folder, counts), *controllers(counts)]
    text += ["## Pairings of hosts", "", *table(counts, PAIRINGS, "bond")]
    text += ["## Refusals of hosts", "", *table(counts, REFUSALS, "what goes wrong")]
    text += ["## Links that are lost in a pairing", "", CUT, *table(counts, CUTS, "where the link is lost")]
    text += ["## Security managers alone", "", *table(counts, MANAGERS, "bond")]
    text += table(counts, REFUSING_MANAGERS, "what goes wrong")
    notes = NOTES.replace("RACES", races(counts))
    print("\n".join([*text[:-1], *failures(counts)]).rstrip() + "\n" + notes, end="")


if __name__ == "__main__":
    main()
