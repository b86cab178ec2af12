"""Draws docs/demo.svg, the picture in the README, from what the demo prints.

    swift run -q ble demo --json | python3 docs/draw-demo.py > docs/demo.svg

One row for each event, one column for each machine. An arrow goes from the machine that sent something to the one whose
delegate was called.
"""

from __future__ import annotations

import html
import json
import sys

MACHINES = ["Alice", "Lobby", "Bob"]
COLUMN = {"Alice": 330, "Lobby": 565, "Bob": 800}
ROW, TOP, WIDTH = 28, 80, 1065

CALLBACKS = {
    "discovered": "didDiscover",
    "connected": "didConnect",
    "subscribed": "didUpdateNotificationStateFor",
    "received": "didUpdateValueFor",
    "wrote": "didWriteValueFor",
    "left": "didDisconnectPeripheral",
}

STYLE = """
text { font: 13px ui-sans-serif, system-ui, sans-serif; fill: #1f2328; }
.name { font-weight: 600; font-size: 15px; text-anchor: middle; }
.role, .time { fill: #59636e; font-size: 12px; }
.role { text-anchor: middle; }
.time { text-anchor: end; font-variant-numeric: tabular-nums; }
.call { font: 12px ui-monospace, monospace; text-anchor: middle; }
.said { font-size: 12px; fill: #59636e; }
.lane { stroke: #d1d9e0; stroke-width: 2; }
.arrow { stroke-width: 1.8; fill: none; }
.Alice { stroke: #0969da; fill: #0969da; } .Bob { stroke: #8250df; fill: #8250df; } .Lobby { fill: #1a7f37; }
path.Alice, path.Bob { fill: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; } .role, .time, .said { fill: #9198a1; } .lane { stroke: #3d444d; }
  .Alice { stroke: #4493f8; fill: #4493f8; } .Bob { stroke: #ab7df8; fill: #ab7df8; } .Lobby { fill: #3fb950; }
}
text.Alice, text.Bob, text.Lobby { stroke: none; }
"""


def said(event: dict) -> str:
    """The text that an event carries, cut to the width beside the column."""
    text = event.get("text", "")
    return text if len(text) <= 38 else text[:37].rstrip() + "…"


def row(index: int, event: dict) -> list[str]:
    """One event: its time, an arrow below the delegate's method, and the text beside the machine."""
    machine = event.get("machine") or event["who"]
    y = TOP + ROW * index
    there, here = COLUMN["Lobby"], COLUMN[machine]
    inwards = 1 if here < there else -1
    end, tip = here + 4 * inwards, here + 11 * inwards
    anchor = "end" if inwards > 0 else "start"
    return [
        f'<text class="time" x="62" y="{y + 4}">{float(event.get("worldTime", event["time"])):.3f} s</text>',
        f'<path class="arrow {machine}" d="M{there} {y}H{end}M{tip} {y - 4}L{end} {y}L{tip} {y + 4}"/>',
        f'<text class="call" x="{(here + there) // 2}" y="{y - 5}">{CALLBACKS[event["event"]]}</text>',
        f'<text class="said" x="{here - 12 * inwards}" y="{y + 4}" text-anchor="{anchor}">'
        f"{html.escape(said(event))}</text>",
    ]


def main() -> None:
    events = [event for event in map(json.loads, sys.stdin) if event.get("event") in CALLBACKS]
    height = TOP + ROW * len(events) + 8
    roles = {"Alice": "CBCentralManager", "Lobby": "CBPeripheralManager", "Bob": "CBCentralManager"}
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' role="img" aria-label="Two guests join a chat room over the virtual radio">',
        f"<style>{STYLE}</style>",
    ]
    for machine in MACHINES:
        x = COLUMN[machine]
        lines += [
            f'<text class="name {machine}" x="{x}" y="24">{machine}</text>',
            f'<text class="role" x="{x}" y="42">{roles[machine]}</text>',
            f'<path class="lane" d="M{x} 52V{height - 8}"/>',
        ]
    for index, event in enumerate(events):
        lines += row(index, event)
    print("\n".join([*lines, "</svg>"]))


if __name__ == "__main__":
    main()
