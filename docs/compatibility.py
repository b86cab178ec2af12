#!/usr/bin/env python3
"""Fills the tables of COMPATIBILITY.md from compatibility.json, and repeats trials.

    docs/compatibility.py write                     fill the tables
    docs/compatibility.py check                     fail if the tables are not those of the JSON file
    docs/compatibility.py try CHECKOUT [OPTION…]    test a library with its own manifest, unmodified

`try` finds the library by the commit of the checkout, which has to be among those in the table of packages. It runs
`swift test` with the options, such as `--toolset FILE`, and fails unless as many tests pass as the table says. It
fetches nothing; SwiftPM does if the manifest has dependencies.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys

DOCUMENT = pathlib.Path(__file__).with_name("COMPATIBILITY.md")
ROWS = json.loads(pathlib.Path(__file__).with_name("compatibility.json").read_text())
SECONDS = 900
TESTS = re.compile(r"Executed (\d+) tests?, with 0 failures|Test run with (\d+) tests? .*passed")


def named(row: dict) -> str:
    """The name of a library, with a link if its repository is known."""
    address = row.get("repository")
    return f"[{row['library']}](https://github.com/{address})" if address else row["library"]


def commits(row: dict) -> str:
    return ", ".join(f"`{commit}`" for commit in row["commits"])


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells).rstrip() + " |" for cells in lines)


def tables() -> dict[str, str]:
    """The tables by their names in the document."""
    compiled, stopped, packages = ROWS["compiled"], ROWS["stopped"], ROWS["packages"]
    causes: dict[str, list[str]] = {cause: [] for cause in ROWS["causes"]}
    for row in stopped:
        for cause in row["causes"]:
            causes[cause].append(row["library"])
    return {
        "packages": table(
            ["Package", "Commit", "Tests that pass", "Options"],
            [[named(row), commits(row), str(row["tests"]), row["options"]] for row in packages],
        ),
        "compiled": table(
            ["Library", "What it is", "Commit", "Files", "Lines", "Left out", "Shimmed", ""],
            [
                [named(row), row["about"], commits(row), str(row["files"]), str(row["lines"]), row["leftOut"],
                 row["shimmed"], row["run"]]
                for row in compiled
            ],
        ),
        "causes": table(
            ["Cause", "Rows", "Libraries"],
            [[cause, str(len(names)), "; ".join(names)] for cause, names in causes.items()],
        ),
        "stopped": table(
            ["Library", "Commit", "Files", "Lines", "What prevents it"],
            [
                [named(row), commits(row), str(row.get("files", "")), str(row.get("lines", "")), row["reason"]]
                for row in stopped
            ],
        ),
    }


def filled(text: str) -> str:
    """The document with its tables."""
    for name, content in tables().items():
        begin, end = f"<!-- table: {name} -->\n", "<!-- end of table -->"
        before, found, rest = text.partition(begin)
        if not found:
            raise SystemExit(f"compatibility: {DOCUMENT.name} has no table “{name}”")
        text = before + begin + content + "\n" + end + rest.partition(end)[2]
    return text


def attempt(checkout: str, options: list[str]) -> int:
    command = ["git", "-C", checkout, "rev-parse", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    row = next((row for row in ROWS["packages"] if any(commit.startswith(one) for one in row["commits"])), None)
    if row is None:
        raise SystemExit(f"compatibility: no package of the table has the commit {commit}")
    command = ["swift", "test", "--package-path", checkout, *options]
    run = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False
    )
    # XCTest prints a sum for each suite; the last line is that of all suites.
    sums = {"Executed": 0, "Test": 0}
    for match in TESTS.finditer(run.stdout):
        sums[match[0].split()[0]] = int(match[1] or match[2])
    passed = sum(sums.values())
    print(f"{row['library']}: {passed} tests pass; the table says {row['tests']}")
    if run.returncode != 0 or passed != row["tests"]:
        print(run.stdout)
        return 1
    return 0


def main() -> int:
    match sys.argv[1:]:
        case ["write"]:
            DOCUMENT.write_text(filled(DOCUMENT.read_text()))
        case ["check"]:
            if (text := DOCUMENT.read_text()) != filled(text):
                print("compatibility: the tables differ from compatibility.json; run docs/compatibility.py write")
                return 1
            print("compatibility: the tables are those of compatibility.json")
        case ["try", checkout, *options]:
            return attempt(checkout, options)
        case _:
            print(__doc__)
            return 64
    return 0


if __name__ == "__main__":
    sys.exit(main())
