"""Draws docs/page.png, the picture of a page in the README. It needs Chromium.

    swift build && python3 docs/draw-page.py .build/debug/ble docs/page.png
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / ".ci"))

from browser import Browser  # noqa: E402

FAULT = "linkLoss 6000 ms at step writeValue 1 of bob"

with tempfile.TemporaryDirectory(prefix="page-") as folder, Browser(120) as browser:
    page = pathlib.Path(folder, "demo.html")
    subprocess.run([sys.argv[1], "demo", "--page", page, "--fault", FAULT], stdout=subprocess.DEVNULL, check=False)
    browser.open(page.as_uri(), 1200, 900)
    browser.evaluate("document.querySelector('#why li button').click()")
    browser.evaluate("explain.zoom(3, .5)")
    browser.wait("document.querySelectorAll('#detail p').length > 1")
    browser.picture(sys.argv[2])
