"""Draws docs/performance.svg from baseline.json and peers.json.

plot.py

At the top: the host's instructions for one operation, next to those of NimBLE and BTstack. Below: the rate of two of
our processes over a controller as a multiple of Bumble's, with the worst and the best round. Both scales are
logarithmic.
"""

import json
import math
import pathlib

HERE = pathlib.Path(__file__).parent
OUTPUT = HERE.parent / "docs" / "performance.svg"
NIMBLE = [408, 1911, 2036, 1362, 1165, 1193, 1950, 2412, 1082]
BTSTACK = [1718, 4182, 4186, 1571, 1977, 1393, 4298, 4218, 2019]
COLOURS = {"ours": "#2563eb", "NimBLE": "#64748b", "BTstack": "#cbd5e1"}
WIDTH, LEFT, RIGHT = 720, 150, 60
NAMES = {
    "read": "read", "write": "write", "wcmd": "write commands", "notify": "notifications", "coc": "channel",
    "disc": "discovery",
}


class Drawing:
    def __init__(self):
        self.parts = []

    def text(self, x, y, words, anchor="start", size=12, weight="normal"):
        style = f'font-size="{size}" text-anchor="{anchor}" font-weight="{weight}"'
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {style}>{words}</text>')

    def bar(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" fill="{colour}"/>')

    def line(self, x1, y1, x2, y2, colour="#94a3b8"):
        self.parts.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}"/>')

    def svg(self, height):
        view = f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {view}>'
        ground = f'<rect width="{WIDTH}" height="{height}" fill="white"/>'
        return "\n".join([head, ground] + self.parts + ["</svg>", ""])


def scale(least, most):
    """Returns a function from a number to its position on a logarithmic axis."""
    width = WIDTH - LEFT - RIGHT
    return lambda value: LEFT + width * math.log(max(value, least) / least) / math.log(most / least)


def axis(drawing, place, marks, top, bottom):
    for mark in marks:
        drawing.line(place(mark), top, place(mark), bottom, "#e2e8f0")
        drawing.text(place(mark), bottom + 14, f"{mark:g}", "middle", 10)


def instructions(drawing, top):
    baseline = json.loads((HERE / "baseline.json").read_text())
    place = scale(200, 20_000)
    drawing.text(20, top, "Instructions of the host alone for one operation", weight="bold", size=14)
    for number, name in enumerate(COLOURS):
        drawing.bar(LEFT + 110 * number, top + 12, 12, 10, COLOURS[name])
        drawing.text(LEFT + 110 * number + 18, top + 21, name)
    first, bottom = top + 32, top + 32 + 9 * 40
    axis(drawing, place, [200, 500, 1_000, 2_000, 5_000, 10_000, 20_000], first, bottom)
    for index in range(9):
        y = first + 40 * index
        drawing.text(LEFT - 10, y + 20, f"H{index + 1}", "end")
        ours = baseline[f"H{index + 1}"]["own"]
        for row, (name, value) in enumerate([("ours", ours), ("NimBLE", NIMBLE[index]), ("BTstack", BTSTACK[index])]):
            drawing.bar(LEFT, y + 11 * row, place(value) - LEFT, 10, COLOURS[name])
            drawing.text(place(value) + 4, y + 11 * row + 9, f"{round(value):,}".replace(",", "\u202f"), size=9)
    return bottom + 50


def ratios(drawing, top):
    rows = [json.loads(line) for line in (HERE / "peers.json").read_text().splitlines()]
    place = scale(1, 100)
    drawing.text(20, top, "Two processes over a controller: times Bumble's rate", weight="bold", size=14)
    first, bottom = top + 16, top + 16 + 24 * len(rows)
    axis(drawing, place, [1, 2, 5, 10, 20, 50, 100], first, bottom)
    for index, row in enumerate(rows):
        y = first + 24 * index
        drawing.text(LEFT - 10, y + 14, f"{NAMES[row['workload']]}, MTU {row['mtu']}", "end")
        drawing.bar(LEFT, y + 4, place(row["ratio"]) - LEFT, 14, COLOURS["ours"])
        drawing.line(place(row["worst"]), y + 11, place(row["best"]), y + 11, "#f97316")
        drawing.text(place(max(row["best"], row["ratio"])) + 6, y + 15, f"{row['ratio']:g}", size=10)
    return bottom + 30


def main():
    drawing = Drawing()
    height = ratios(drawing, instructions(drawing, 30))
    OUTPUT.write_text(drawing.svg(height))


if __name__ == "__main__":
    main()
