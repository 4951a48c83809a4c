"""A network's page in a real browser: what it says, what the pointer shows, how it zooms."""

import json
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from command import joulemark
from joulemark.project import NETWORKS

PING = NETWORKS / "ping-telosb.toml"
SPAN_NS = 600_000_000
"""Length of the run."""
LABEL = 0.3
"""Share of a narrow timeline's width."""


def test_a_page_tells_what_the_command_tells(tmp_path: Path) -> None:
    path = tmp_path / "air.html"
    asked = ("network", str(PING), "--for", f"{SPAN_NS // 10**6}ms", "--page", str(path), "--json")
    result = json.loads(joulemark(*asked).stdout)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda r: complaints.append(r.url) if r.url.startswith("http") else None)
        page.goto(path.as_uri())
        page.wait_for_selector("#timeline[data-view]")

        lead = page.locator(".lead").inner_text()
        assert f"2 motes, 0.6 s, {result['frames']} frames: 0 opened and verified" in lead
        frames = page.locator("table").nth(0).locator("tbody tr").all()
        for row, mote in zip(frames, result["motes"], strict=True):
            cells = row.locator("td").all_inner_texts()
            assert cells[:3] == [mote["mote"], str(mote["sent"]), str(mote["received"])]

        def view() -> tuple[int, int]:
            begin, end = str(page.locator("#timeline").get_attribute("data-view")).split()
            return int(begin), int(end)

        assert view() == (0, SPAN_NS)
        box = page.locator("#timeline canvas").bounding_box()
        assert box is not None
        left, across = box["x"] + LABEL * box["width"], (1 - LABEL) * box["width"]

        # Two fingers a quarter of the time apart still hold the same times at twice the distance.
        touch = page.context.new_cdp_session(page)
        for kind, places in (
            ("touchStart", (0.5, 0.75)),
            ("touchMove", (0.4, 0.9)),
            ("touchEnd", ()),
        ):
            points = [
                {"x": left + part * across, "y": box["y"] + 60, "id": number}
                for number, part in enumerate(places)
            ]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_function("document.getElementById('timeline').dataset.view[0] !== '0'")
        begin, end = view()
        assert end - begin == pytest.approx(SPAN_NS / 2, rel=0.02)
        assert begin + 0.4 * (end - begin) == pytest.approx(SPAN_NS / 2, rel=0.02)

        page.click("#whole")
        page.wait_for_function("document.getElementById('timeline').dataset.view[0] === '0'")
        page.mouse.move(left + across / 2, box["y"] + 24 + 14 + 6)
        assert page.locator("#tip").inner_text().startswith("asker radio: ")
        page.mouse.wheel(0, -100)
        page.wait_for_function("document.getElementById('timeline').dataset.view[0] !== '0'")
        begin, end = view()
        assert end - begin == pytest.approx(0.8 * SPAN_NS, rel=0.01)

        violations = Axe().run(page).response["violations"]
        assert [v["id"] for v in violations] == []
        assert complaints == []
        browser.close()
