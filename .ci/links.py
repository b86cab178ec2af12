"""Looks where the links in the documents of a repository lead: links.py FOLDER

A relative link has to lead to a file of the repository and, if it names one, to a heading in it. Links of DocC, and
links to pages of the site, are not checked here.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def prose(path: pathlib.Path) -> str:
    """A document without its code."""
    return CODE.sub("", path.read_text())


def anchors(path: pathlib.Path) -> set[str]:
    """What the headings of a document are called in links."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(text))
    return {heading.replace(" ", "-") for heading in plain}


def problem(source: pathlib.Path, link: str) -> str | None:
    """Why a link leads nowhere; `None` if it leads somewhere, or out of the repository."""
    if re.match(r"[a-z]+:|/documentation/", link):
        return None
    name, _, anchor = link.partition("#")
    target = (source.parent / name) if name else source
    if not target.exists():
        return "there is no such file"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return "there is no such heading"
    return None


def main() -> int:
    folder = pathlib.Path(sys.argv[1])
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=folder, capture_output=True, text=True, check=True,
    )
    count = bad = 0
    for name in listing.stdout.splitlines():
        for link in LINK.findall(prose(folder / name)):
            count += 1
            if reason := problem(folder / name, link):
                bad += 1
                print(f"{name}: {link}: {reason}")
    print(f"links: {count - bad} of {count} links lead somewhere")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
