"""Checks the page of `ble explain`, `ble demo --page` and `ble explore` in Chromium, and its numbers with tshark.

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
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agree import (
    ATTRIBUTE, GROUP, NAME, OCTETS, OPCODES, PACKET, SECONDS, TIME, TITLE, TRACK, WORLD, Wrong, compare, data_of,
    expand, expect, make, run,
)
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
    expect(chart["width"] > 0.85 * width and chart["height"] > 40, f"{where} has a small chart", chart)
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


def expect_silence(browser: Browser, where: str, own: str = "file:") -> None:
    expect(not browser.complaints(), f"{where}: the console has errors", browser.complaints())
    others = [address for address in browser.addresses() if not address.startswith(own)]
    expect(not others, f"{where} asks a network", others)


def check_capture(browser: Browser, page: pathlib.Path) -> dict[str, int]:
    """Checks that the page of a capture shows as many packets of each kind as its data has."""
    check_layout(browser, page, "laptop")
    data = data_of(page)
    titles = Counter(
        data["strings"][event[TITLE]]
        for event in data["events"]
        if event[TRACK] == ATTRIBUTE and event[PACKET] >= 0 and data["strings"][event[TITLE]] in OPCODES
    )
    count = len(data["events"])
    expect(
        browser.evaluate("document.getElementById('status').textContent") == f"{count} of {count} events",
        f"{page.name} does not list all of its {count} events",
    )
    for title in titles:
        found = browser.evaluate(f"""(() => {{
            const search = document.getElementById("search")
            search.value = {json.dumps(title)}
            search.dispatchEvent(new Event("input"))
            return explain.state.shown.filter(i => explain.data.events[i][1] === 1
                && explain.data.events[i][7] >= 0
                && explain.data.strings[explain.data.events[i][3]] === {json.dumps(title)}).length
        }})()""")
        expect(found == titles[title], f"{page.name}: the search finds {found} of {titles[title]} “{title}”")
    if titles:
        click(browser, "#list .row")
        fields = browser.evaluate("document.querySelectorAll('#detail .field').length")
        expect(fields > 0, f"{page.name}: a selected event has no fields")
    expect_silence(browser, page.name)
    return {"events": count, "att": titles.total()}


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


@contextmanager
def exploring(ble: str, **environment: str) -> Iterator[str]:
    """Runs `ble explore`, and returns the address of its page; Ctrl-C has to end it."""
    process = subprocess.Popen(
        [ble, "explore", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **environment}
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        expect(bool(line), "ble explore ended without an address")
        yield json.loads(line)["url"]
        process.send_signal(signal.SIGINT)
        expect(process.wait(SECONDS) == 0, "ble explore did not end with status 0", process.returncode)
    finally:
        process.kill()
        process.wait()


def check_live(browser: Browser, ble: str, folder: pathlib.Path) -> dict[str, Any]:
    """Scans, searches, connects, reads, writes and subscribes in the page of `ble explore`, in a world."""
    world = folder / "live.json"
    world.write_text(json.dumps(WORLD), encoding="utf-8")
    row, tree = "#devices tr", "#trees tr[data-type='{}']"
    with exploring(ble, BLUETOOTH_HOST=f"world:{world}") as url:
        browser.open(url, *SIZES["laptop"])
        browser.wait("document.getElementById('live-status').dataset.ready")
        click(browser, "#scan")
        browser.wait(f"document.querySelector({json.dumps(row)})?.textContent.includes({json.dumps(NAME)})")
        browser.wait("document.querySelector('#devices .plot').getAttribute('aria-label').includes('dBm')")
        for text, isHidden in [("nothing like it", True), (NAME.lower(), False)]:
            browser.evaluate(f"""(element => {{
                element.value = {json.dumps(text)}
                element.dispatchEvent(new Event("input"))
            }})(document.getElementById("device-search"))""")
            expect(browser.evaluate(f"document.querySelector({json.dumps(row)}).hidden") == isHidden, "search fails")
        click(browser, row + " button")
        for kind in ("FFA2", "FFA3"):
            browser.wait(f"document.querySelector({json.dumps(tree.format(kind))})")
        value = tree.format("FFA2") + " .value"
        press(browser, tree.format("FFA2"), "Read")
        browser.wait(f"document.querySelector({json.dumps(value)}).textContent.includes('00 01 02 03')")
        browser.evaluate(f"document.querySelector({json.dumps(tree.format('FFA2') + ' input')}).value = 'c0 ff ee'")
        press(browser, tree.format("FFA2"), "Write")
        browser.wait(f"document.querySelector({json.dumps(tree.format('FFA2'))}).textContent.includes('written')")
        press(browser, tree.format("FFA2"), "Read")
        browser.wait(f"document.querySelector({json.dumps(value)}).textContent.includes('c0 ff ee')")
        press(browser, tree.format("FFA3"), "Subscribe")
        received = tree.format("FFA3") + " .value"
        browser.wait(f"/[(][0-9]{{2,}} received/.test(document.querySelector({json.dumps(received)}).textContent)")
        for item in [("button", "Unsubscribe FFA3"), ("table", "Devices"), ("searchbox", "Search devices")]:
            expect(item in browser.names(), f"a screen reader does not find {item}")
        press(browser, tree.format("FFA3"), "Unsubscribe")
        # A refused write is an error beside its button, not in the console.
        browser.evaluate(f"document.querySelector({json.dumps(tree.format('FFA2') + ' input')}).value = 'xyz'")
        press(browser, tree.format("FFA2"), "Write")
        browser.wait(f"document.querySelector({json.dumps(tree.format('FFA2'))}).textContent.includes('hexadecimal')")

        find = "explain.data.events.findIndex(e => explain.data.strings[e[3]] === 'readValue')"
        browser.wait(f"{find} >= 0 && explain.data.findings.length === 0")
        browser.evaluate(f"explain.select({find})")
        browser.wait("document.querySelectorAll('.related').length > 3")
        related = browser.evaluate("[...document.querySelectorAll('.related')].map(element => element.textContent)")
        for part in ("ATT and GATT: Read Request", "didUpdateValue"):
            expect(any(part in text for text in related), f"“{part}” does not belong to a read", related)
        live = browser.evaluate(LAYOUT)
        tops = [box["top"] for box in live["order"]]
        expect(tops[:6] == sorted(tops[:6]) and live["fits"] and live["painted"] > 4, "the live page is wrong", live)
        found = browser.evaluate("explain.data.events.length")
        browser.picture(str(folder / "live.png"))
        expect_silence(browser, "ble explore", own=url)

        # A browser that comes later has the same events, and the attributes of the connected device.
        browser.open(url, *SIZES["phone"])
        browser.wait(f"document.querySelector({json.dumps(tree.format('FFA2'))})")
        browser.wait(f"explain.data.events.length >= {found}")
        expect(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the live page is too wide")
        click(browser, row + " button")
        browser.wait("!document.querySelector('#trees tr')")
        expect_silence(browser, "ble explore", own=url)
    browser.wait("document.getElementById('live-status').textContent.includes('has ended')")
    return {"events": found}


def press(browser: Browser, selector: str, word: str) -> None:
    """Waits until a button in an element can be used, and clicks it."""
    buttons = f"[...document.querySelectorAll({json.dumps(selector + ' button')})]"
    button = f"{buttons}.find(e => e.textContent === {json.dumps(word)})"
    browser.wait(f"{button} && !{button}.disabled")
    browser.evaluate(f"{button}.click()")


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
        report["failure"] = check_failure(browser, lost, "link lost", "lost while the devices were")
        report["pages"] = {path.name: check_capture(browser, folder / (path.stem + ".html")) for path in captures}
        report["live"] = check_live(browser, ble, folder)
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
