"""Prepares the introduction of the documentation site: site.py PACKAGE CATALOG

Copies docs/Guide.docc to CATALOG, and adds the documents that its page lists as articles. Links between these
documents become links between articles; links to articles of modules become links to their pages; other relative
links lead out of the site, so only their text remains.
"""

from __future__ import annotations

import pathlib
import re
import shutil
import sys

LISTED = re.compile(r"^- <doc:([\w-]+)>$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
ARTICLE = re.compile(r"Sources/(\w+)/\w+\.docc/(\w+)\.md$")


def article(text: str, document: pathlib.Path, package: pathlib.Path, names: set[str]) -> str:
    """The text of a document, with links that work on the site."""

    def replacement(match: re.Match[str]) -> str:
        words, target = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        path = (document.parent / target.partition("#")[0]).resolve()
        if module := ARTICLE.search(path.as_posix()):
            return f"[{words}](/documentation/{module[1].lower()}/{module[2].lower()})"
        if path.suffix == ".md" and path.stem in names and path.parent in (package, package / "docs"):
            return f"[{words}](doc:{path.stem})"
        return words

    return LINK.sub(replacement, text)


def main() -> int:
    package, catalog = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    shutil.rmtree(catalog, ignore_errors=True)
    shutil.copytree(package / "docs" / "Guide.docc", catalog)
    names = set(LISTED.findall((catalog / "Guide.md").read_text()))
    for name in sorted(names):
        candidates = (package / "docs" / f"{name}.md", package / f"{name}.md")
        document = next((path for path in candidates if path.exists()), None)
        if document is None:
            print(f"site: Guide.md lists {name}, but there is no such document")
            return 1
        (catalog / f"{name}.md").write_text(article(document.read_text(), document, package, names))
    for image in (package / "docs").glob("*.[ps][nv]g"):
        shutil.copy(image, catalog)
    return 0


if __name__ == "__main__":
    sys.exit(main())
