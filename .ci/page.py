"""Checks the page of `ble explain` and `ble demo --page` in Chromium, and its numbers with tshark.

    python3 .ci/page.py PATH-OF-ble FOLDER [CAPTURE...]

Writes the pages and pictures of them to FOLDER. The numbers on the page of each CAPTURE, or of the captures in it if it
is a folder, and of those that it makes, have to be those of tshark; agree.py compares them.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from agree import SECONDS, TIME, TRACK, GROUP, OCTETS, Wrong, compare, data_of, expand, expect, make, run
from browser import Browser, BrowserError

SIZES = {"phone": (360, 740), "laptop": (1400, 1000), "4k": (3840, 2160)}

LAYOUT, SPEED = (
    (pathlib.Path(__file__).with_name(name)).read_text(encoding="utf-8") for name in ("layout.js", "speed.js")
)
FAULT = "linkLoss 6000 ms at step writeValue 1 of bob"


def check_layout(browser: Browser, page: pathlib.Path, size: str, dark: bool = False) -> dict[str, Any]:
    """Shows a page, and checks where its parts are."""
    width, height = SIZES[size]
    browser.open(page.as_uri(), width, height, dark)
    browser.wait("globalThis.explain && explain.state.paint !== undefined")
    found = browser.evaluate(LAYOUT)
    where = f"{page.name} at {size}"
    tops = [box["top"] for box in found["order"]]
    expect(found["fits"], f"{where} is wider than the window", found)
    expect(found["smallest"] >= 12, f"{where} has letters that are too small", found["smallest"])
    expect(tops[:6] == sorted(tops[:6]), f"{where} has its parts in another order", tops)
    chart, items, detail = found["order"][4:]
    expect(chart["width"] > 0.85 * width and chart["height"] > 80, f"{where} has a small chart", chart)
    if width > 800:
        expect(detail["left"] >= items["left"] + items["width"], f"{where}: the details are not beside the list", found)
    else:
        expect(detail["top"] >= items["top"] + items["height"], f"{where}: the details are not below the list", found)
    expect(5 <= found["rows"] <= 200, f"{where}: the list has a wrong number of elements", found["rows"])
    expect(found["painted"] > 4, f"{where}: the chart is empty", found["painted"])
    light = [int(part) for part in re.findall(r"\d+", found["background"])[:3]]
    expect((sum(light) < 200) == dark, f"{where} has the wrong background", found["background"])
    expect_silence(browser, where)
    return found


def expect_silence(browser: Browser, where: str) -> None:
    expect(not browser.complaints(), f"{where}: the console has errors", browser.complaints())
    others = [address for address in browser.addresses() if not address.startswith("file:")]
    expect(not others, f"{where} asks a network", others)


def check_use(browser: Browser, page: pathlib.Path) -> dict[str, Any]:
    """Searches, selects, zooms and filters as a person does."""
    browser.open(page.as_uri(), *SIZES["laptop"])
    names = browser.names()
    for item in [("searchbox", "Search events"), ("listbox", "Events"), ("button", "Zoom in"), ("checkbox", "HCI")]:
        expect(item in names, f"{page.name}: a screen reader does not find {item}", sorted(names)[:40])
    expect(any(role == "option" for role, _ in names), f"{page.name}: the list has no options")

    browser.evaluate("document.getElementById('search').focus()")
    browser.type("write")
    matches = browser.evaluate("explain.state.shown.length")
    wrong = browser.evaluate(
        "explain.state.shown.filter(i => !(e => [explain.data.strings[e[3]], explain.data.strings[e[4]],"
        " explain.data.sources[e[2]]].join(' ').toLowerCase().includes('write'))(explain.data.events[i])).length"
    )
    expect(matches > 0 and wrong == 0, f"{page.name}: the search for “write” is wrong", matches, wrong)
    click(browser, "#list .row")
    expect(browser.evaluate("document.querySelectorAll('#list .row.on').length") == 1, "a click selects no event")
    chosen = browser.evaluate("explain.state.selected")
    browser.evaluate("document.getElementById('list').focus()")
    browser.press("ArrowDown")
    expect(browser.evaluate("explain.state.selected") > chosen, "the arrow key selects no event")
    browser.evaluate("(e => { e.value = ''; e.dispatchEvent(new Event('input')) })(document.getElementById('search'))")

    # A call belongs to its request, the response, their packets and the callback.
    find = "explain.data.events.findIndex(e => explain.data.strings[e[3]] === '{}')"
    event = browser.evaluate(find.format("writeValue"))
    expect(event >= 0, f"{page.name} has no call to write")
    browser.evaluate(f"explain.select({event})")
    related = browser.evaluate("[...document.querySelectorAll('.related')].map(element => element.textContent)")
    for part in ("ATT and GATT: Write Request", "HCI: ATT Write Request", "Write Response", "didWriteValue"):
        expect(any(part in text for text in related), f"“{part}” does not belong to a call to write", related)
    click(browser, "#detail .related")
    expect(browser.evaluate("explain.state.selected") != event, "a related event cannot be selected")
    browser.evaluate(f"explain.select({find.format('Write Request')})")
    fields = browser.evaluate("[...document.querySelectorAll('#detail .field')].map(row => row.textContent)")
    expect(any("Attribute Handle" in field for field in fields), "the fields of a write are missing", fields)

    span = "explain.state.to - explain.state.from"
    before = browser.evaluate(span)
    browser.turn_wheel(*middle(browser, "#chart"), -300)
    browser.wait(f"{span} < {before}")
    browser.evaluate("document.getElementById('chart').focus()")
    begin = browser.evaluate("explain.state.from")
    browser.press("ArrowRight")
    browser.wait(f"explain.state.from > {begin}")
    shown = browser.evaluate("explain.state.shown.length")
    click(browser, "label input")
    browser.wait(f"explain.state.shown.length < {shown}")
    expect_silence(browser, page.name)
    return {"writes": matches, "related": len(related)}


def middle(browser: Browser, selector: str) -> list[float]:
    """Scrolls the first element of this kind into view, and returns a point in it."""
    return browser.evaluate(f"""(element => {{
        element.scrollIntoView({{ block: "center" }})
        const box = element.getBoundingClientRect()
        return [box.left + Math.min(box.width / 2, 40), box.top + box.height / 2]
    }})(document.querySelector({json.dumps(selector)}))""")


def click(browser: Browser, selector: str) -> None:
    browser.click(*middle(browser, selector))


def causes(browser: Browser) -> list[str]:
    return browser.evaluate("[...document.querySelectorAll('#why li')].map(item => item.dataset.rule)")


def check_failure(browser: Browser, page: pathlib.Path, rule: str, text: str) -> list[str]:
    """Checks that the page names a failure, with a link to its event."""
    check_layout(browser, page, "laptop")
    found = causes(browser)
    expect(rule in found, f"{page.name} does not name “{rule}”", found)
    why = browser.evaluate("document.getElementById('why').textContent")
    expect(text in why, f"{page.name} does not say “{text}”", why)
    click(browser, "#why li button")
    expect(browser.evaluate("explain.state.selected") >= 0, "the link to an event selects nothing")
    return found


def check_large(browser: Browser, page: pathlib.Path, folder: pathlib.Path) -> dict[str, Any]:
    """Repeats the events of a page until there are 100,000, and measures how long the page takes for them."""
    text, data = page.read_text(encoding="utf-8"), data_of(page)
    events, last = data["events"], data["events"][-1][TIME] + 1_000_000
    copies = 100_000 // len(events) + 1
    data["events"] = [
        [event[TIME] + copy * last, *event[TRACK:GROUP], 0, -1, *event[OCTETS:]]
        for copy in range(copies)
        for event in events
    ]
    begin = text.index('id="data">') + len('id="data">')
    large = folder / "large.html"
    content = json.dumps(data).replace("<", "\\u003c")
    large.write_text(text[:begin] + content + text[text.index("</script>", begin) :], encoding="utf-8")
    browser.open(large.as_uri(), *SIZES["laptop"])
    times = browser.evaluate(SPEED)
    expect_silence(browser, large.name)
    for what, most in [("load", 10_000), ("paint", 250), ("search", 2_000)]:
        expect(times[what] <= most, f"{times['events']} events: {what} takes more than {most} ms", times)
    large.unlink()
    return {key: round(value) for key, value in times.items()}


def main(ble: str, results: pathlib.Path, captures: list[pathlib.Path]) -> None:
    # Captures and sockets need a folder that no other user can change, whatever the umask is.
    with tempfile.TemporaryDirectory(prefix="page-") as name, Browser(SECONDS) as browser:
        folder = pathlib.Path(name)
        demo, lost, heart = folder / "demo.html", folder / "lost.html", folder / "heart.pcapng"
        run([ble, "demo", "--page", str(demo)])
        run([ble, "demo", "--page", str(lost), "--fault", FAULT], statuses=(1,))
        run([ble, "inspect", "Heart"], BLUETOOTH_HOST="demo", BLUETOOTH_CAPTURE=str(heart))
        own = folder / "own"
        own.mkdir()
        captures = [heart, *expand(captures)]
        report: dict[str, Any] = {"captures": {path.name: compare(ble, path, folder) for path in captures}}
        report["captures"] |= {path.name: compare(ble, path, own) for path in make(ble, own)}
        for size in SIZES:
            check_layout(browser, demo, size)
            expect(not causes(browser), "the demo has a failure", causes(browser))
        check_layout(browser, demo, "laptop", dark=True)
        report["use"] = check_use(browser, demo)
        report["failure"] = check_failure(browser, lost, "link lost", "packets in a row were lost")
        for path in captures:
            check_layout(browser, folder / (path.stem + ".html"), "laptop")
        report["large"] = check_large(browser, demo, folder)
        browser.open(lost.as_uri(), *SIZES["laptop"])
        browser.picture(str(folder / "lost.png"))
        results.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if path.suffix in (".html", ".png"):
                shutil.copy(path, results / path.name)
    print(json.dumps(report))


if __name__ == "__main__":
    try:
        main(os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), list(map(pathlib.Path, sys.argv[3:])))
    except (Wrong, BrowserError, subprocess.TimeoutExpired) as error:
        sys.exit(f"page.py: {error}")
