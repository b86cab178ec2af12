"""Does what docs/TESTING.md says, literally, in an empty folder: newcomer.py PACKAGE FOLDER SCRATCH

The files are those of the guide: a code block below a line that is its path. A Swift block without a path is the
beginning of a function, and the table below it has the rest: the code in the second column of each row. A test is
made of each row. At a block of the language “console” `swift test` is run, which must print each line of the block,
whatever its numbers are, and fail if the block has a cross in it. What tests attach must be what the guide has them
attach. The address of the package is replaced by the path of this one.
"""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys

BLOCK = re.compile(
    r"(?:^`(?P<path>[\w./]+)`:\n\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$(?P<table>\n\n(?:\|[^\n]*\n)+)?",
    re.MULTILINE | re.DOTALL,
)
CODE = re.compile(r"`([^`]+)`")
ADDRESS = re.compile(r'\.package\(url: "[^"]*corebluetooth-linux\.git", from: "[^"]*"\)')

TOLD = "told"
ATTACHMENTS = {"story.txt": b"A world with seed 7", "packets.pcapng": b"\n\r\r\n", "page.html": b"<!DOCTYPE"}
"""Where tests attach files, and how those that the guide attaches begin."""


def attached(folder: pathlib.Path):
    """The files that were attached, with how they have to begin."""
    for path in (folder / TOLD).iterdir():
        yield path, ATTACHMENTS.get(path.name, b"nothing else is attached")


ROWS = "Tests/AppTests/RowTests.swift"
"""The file of the tests that are made of the rows of tables."""


def rows(beginning: str, table: str) -> str:
    """A file with a test for each row of a table, whose functions all have the same beginning."""
    names = re.findall(r"(?:let|var|,) (\w+) =", beginning)
    text = "#if canImport(BLESimulation)\nimport BLESimulation\nimport Testing\n\n@MainActor @Suite struct RowTests {\n"
    for number, row in enumerate(table.strip().splitlines()[2:]):
        code = "\n".join(CODE.findall(row.split(" | ")[-1]))
        text += f"@Test func row{number}() {{\n{beginning}{code}\n_ = ({', '.join(names)})\n}}\n"
    return text + "}\n#endif\n"


def steps(guide: str):
    """The files to write and the outputs to see, in the order of the guide; fails for code that is neither."""
    for block in BLOCK.finditer(guide):
        if block["path"] or block["language"] == "console":
            yield block["path"], block["text"]
        elif block["language"] == "swift" and block["table"]:
            yield ROWS, rows(block["text"], block["table"])
        else:
            raise SystemExit(f"newcomer: this code is in no file:\n{block['text']}")


def plain(line: str) -> str:
    """A line without what differs from run to run: numbers, blanks at its ends, and what is left out there."""
    return re.sub(r"\d+", "0", line).strip().removesuffix("…").strip()


def test(folder: pathlib.Path, scratch: str, expected: str) -> str | None:
    """Why `swift test` did not go as it should; `None` if it did."""
    told = folder / TOLD
    if "✘" in expected:
        # A file that is there already would be kept, under another name.
        shutil.rmtree(told, ignore_errors=True)
    told.mkdir(exist_ok=True)
    command = ["swift", "test", "--package-path", str(folder), "--scratch-path", scratch]
    command += ["--attachments-path", str(told.resolve())]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(run.stdout, flush=True)
    if (run.returncode != 0) != ("✘" in expected):
        return f"swift test ended with status {run.returncode}"
    printed = [plain(line) for line in run.stdout.splitlines()]
    for line in filter(None, map(plain, expected.splitlines())):
        if not any(line in each for each in printed):
            return f"swift test did not print “{line}”"
    return None


def main() -> int:
    package, folder, scratch = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # What was resolved for this package is good enough, and built already.
    if (resolved := package / "Package.resolved").exists():
        shutil.copy(resolved, folder)
    files = runs = 0
    for path, text in steps((package / "docs/TESTING.md").read_text()):
        if path is None:
            runs += 1
            if problem := test(folder, scratch, text):
                print(f"newcomer: {problem}")
                return 1
            continue
        files += 1
        here = f'.package(name: "corebluetooth-linux", path: "{package}")'
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(ADDRESS.sub(here, text))
    told = {path.name: path.read_bytes()[:len(begin)] == begin for path, begin in attached(folder)}
    if not all(told.values()) or len(told) != len(ATTACHMENTS):
        print(f"newcomer: the failed test attached {told}")
        return 1
    print(f"newcomer: {files} files and {runs} runs of the guide went as it says")
    return 0 if (files, runs) == (13, 4) else 1


if __name__ == "__main__":
    sys.exit(main())
