"""Renders docs/INTEROP.md from recorded results: `table.py [--keep] [RESULTS-FOLDER] > docs/INTEROP.md`.

The folder is `.interop/results` by default. Each run of the scripts adds to it; remove it first for the figures of one
day only. Results that are not in the folder come from `Interop/results.jsonl`, where `--keep` stores all figures shown.
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

The pairings made by the scripts of [Interop](../Interop/README.md), and their outcomes. `Interop/interop/table.py`
generates this file from recorded results. “3 of 3” means that three were made and three passed.

A pairing passes if both ends report that they are paired with this method, and store a bond or not, as requested; if
they compare numbers, both show the same ones; the central has read a value that requires pairing; and, if a bond was
stored and the peers meet again, the central has reconnected, encrypted the link without a prompt, and read the value
once more (except Bumble after legacy pairing, because it uses a different one of the two keys). A refusal passes if
neither end is paired afterwards, both report a failure unless they have left, and the next pairing of the two passes.

Between security managers without controllers, there is no value to read: a pairing passes if both ends have the same
key, made with the method that the specification defines for their capabilities.
"""
CUT = """One packet of the security manager is lost between one of the hosts and its controller, and the link with it:
the first packet, then the second, and so on to the last. “13 of 13” stands for 13 packets. That host receives a
lost link, and the other a disconnection. A round passes if neither end has paired, neither has stored anything,
no process has ended, and the next pairing of the two succeeds immediately; if they had a bond, both still have
the same bond, and use it. Of the 20 rounds of a passkey that BlueZ makes, or that is to replace a bond, most of
the middle ones were left out: of some ninety packets, BlueZ lost the first six, one in the middle and the last
eleven, or some of these. With BlueZ 5.66 as the central, the first three packets were left out, for the reason
given below. “Immediately” means one second later if our peripheral was not restarted, since it refuses a peer
for that time after a failure.

The last packets are keys of the central. If they are sent and acknowledged, and then lost between the peripheral's
controller and host, the central cannot notice it and has paired. It may store its bond, which then has to be removed
(`ble bonds remove`). BlueZ and Bumble store theirs when they have handed those packets to their controller. Our
peripheral never stores anything then, nor does our central if its packet was not acknowledged.
"""
NOTES = """
## Gaps and known failures

- BlueZ accepts our host's out-of-band data (`btmgmt remote-oob`) but does not provide its own: both kernels answer
  `btmgmt le-oob` with Not Supported, and D-Bus has no call for it. So two BlueZ hosts cannot pair out of band.
- Two processes of `ble` use legacy pairing only with an out-of-band key, since both support LE Secure Connections;
  other legacy pairing of our host with itself is in the last table. BlueZ has no call for such a key.
- If the link is lost while BlueZ 5.66 shows a passkey of legacy pairing, before the fourth packet of a pairing that it
  started, or at the first or last packet of one that is to replace a bond, the box's Linux 6.1.0-56 faults when
  `bluetoothd` closes the socket, and `bluetoothd` ends: “general protection fault” in `__list_del_entry_valid`, called
  by `hci_chan_del`, `l2cap_chan_put` and `l2cap_sock_release`. Those packets were left out. Linux 6.12 has no such
  fault.
- If our bonded central encrypts the link after `bluetoothd` has queried the link's security and before it requests
  more, the kernel refuses that request (`device_attach_att() bt_io_set: setsockopt(BT_SECURITY): Invalid argument`).
  `bluetoothd` then answers nothing on that link, and the kernel ends it some seconds later. Since BlueZ ends the link,
  our host reads once more, and passes if that succeeds. That was so
  RACES, on a machine that was busy with other things.
- With the last packet of an LE Secure Connections pairing, the DHKey Check, the kernel of BlueZ 5.82 as the peripheral
  replaces the bond's key with the new one, and drops that when the link is lost. Then it has no key for our host, which
  keeps its bond, does not continue unencrypted, and reports it: this is the packet that failed where they have a bond.
- With BlueZ, only bonds made with numeric comparison were replaced while the link was lost, not those with a passkey.
- Bumble's host stores keys even after it has declared that it does not bond; its use of them is not tested.
"""


def table(counts: Counts, part: str, name: str) -> list[str]:
    """Returns a table of a part, with a column for each pair of hosts."""
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
    """Returns a table of the numbers of pairings for each make of controllers."""
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
        text.append(f"| ours or rootcanal's (not recorded) | {totals[0]} | {totals[1]} |")
    return [*text, ""]


def failures(counts: Counts) -> list[str]:
    """Returns the list of failures, with their reasons."""
    failed = [line for _, count in sorted(counts.items()) for line in count.failures]
    text = ["", "## Failures", ""] if failed else []
    for line in failed:
        text += textwrap.wrap(f"- {line}", 120, subsequent_indent="  ", break_on_hyphens=False)
    return text


def races(counts: Counts) -> str:
    """Returns how often BlueZ has abandoned a link."""
    hosts = sorted({pair for cell in counts for pair in cell.pair.split(" → ") if "BlueZ" in pair})
    said = []
    for host in hosts:
        some = [count for cell, count in counts.items() if cell.pair == f"ours → {host}" and count.controllers]
        said.append(f"{sum(each.races for each in some)} times in {sum(each.made for each in some)} with {host}")
    return " and ".join(said)


def versions(folder: pathlib.Path, counts: Counts) -> str:
    """Returns the tested versions, and the dates of the tests."""
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
        sys.exit(f"table.py: no results in {folder}; run Interop/run and Interop/bluez/run first")
    if "--keep" in sys.argv:
        keep(counts)
    text = [HEAD, versions(folder, counts), *controllers(counts)]
    text += ["## Pairings of hosts", "", *table(counts, PAIRINGS, "bond")]
    text += ["## Refusals of hosts", "", *table(counts, REFUSALS, "what goes wrong")]
    text += ["## Links lost during pairing", "", CUT, *table(counts, CUTS, "where the link is lost")]
    text += ["## Security managers without hosts", "", *table(counts, MANAGERS, "bond")]
    text += table(counts, REFUSING_MANAGERS, "what goes wrong")
    notes = NOTES.replace("RACES", races(counts))
    print("\n".join([*text[:-1], *failures(counts)]).rstrip() + "\n" + notes, end="")


if __name__ == "__main__":
    main()
