"""A page made with a run in eager alone: no view is empty for that, and the run is not said to have measured more."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from suites.selfcheck import synthetic
from suites.selfcheck.page.pages import FRAME, OPEN_ALL, SETTLED, Reader, build, watched
from suites.selfcheck.page.test_layout import CUT, SIDEWAYS

TORCHES = ("2.0.0", "2.14.0", "2.15.0")
OWN = "2.15 (this run)"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Build a page: eager is recorded on three releases, compiled on the last two; the run is of the newest."""
    folder = tmp_path_factory.mktemp("eager")
    table = synthetic.clauses(20)
    recorded = synthetic.write_verdicts(folder / "verdicts", table, TORCHES)
    for minor in ("2.14", "2.15"):
        with synthetic.changing(recorded, minor) as cells:
            for modes in cells.values():
                if modes["eager"]["verdict"] == "conforms":
                    modes["compiled"] = dict(modes["eager"])
    lines = copy.deepcopy(synthetic.run_lines(table, "2.15.0", whole=True))
    cells = [line for line in lines if line["type"] == "cell"]
    conforming = [cell for cell in cells if cell["verdict"] == "conforms"]
    other = conforming[0]
    other.update(verdict="deviates", refuted=[], evidence=synthetic.evidence())
    missing = cells[-1]
    lines = [line for line in lines[:-1] if line is not missing]
    lines.append(synthetic.footer([cell for cell in cells if cell is not missing]))
    page: Any = build(folder, table, synthetic.write_lines(folder / "run.jsonl", lines))
    page.other, page.missing, page.same = other["clause"], missing["clause"], conforming[1]["clause"]
    page.compiled = {cell["clause"] for cell in [*conforming, other]}
    return page


def test_modes_tells_of_the_recorded_release(browser, made):
    with watched(browser) as page:
        Reader(page, made.url).open("#modes")
        assert "on torch 2.15, as recorded" in page.inner_text("#view-modes > p >> nth=0")
        asked = page.locator("#view-modes .group", has_text="as in eager in compiled")
        assert asked.count() > 0
        asked.first.locator("summary").press("Enter")
        assert "as in eager in" in asked.first.locator("dd").first.inner_text()
        assert OWN not in page.inner_text("#view-modes")


@pytest.mark.parametrize("address", ["from=2.14", "from=2.0", "from=2.15+run&to=2.15+run", "from=2.15&to=2.15"])
def test_rely_tells_of_the_releases_that_have_the_mode(browser, made, address):
    with watched(browser) as page:
        Reader(page, made.url).open(f"#rely?mode=compiled&{address}")
        said = page.inner_text("#rely-said")
        assert said.startswith("Torch 2.14 to 2.15, compiled: " if "2.15" not in address else "Torch 2.15, compiled: ")
        assert "this run" not in said
        assert "hold on every release" in said
        assert page.locator("#view-rely .left-out", has_text="Not measured in compiled: torch 2.0.").count() == (
            address == "from=2.0"
        )


def rows(page, selector):
    return [text.split("\n")[0] for text in page.locator(f"{selector} .when").all_inner_texts()]


def test_a_run_has_a_row_where_it_differs_alone(browser, made):
    with watched(browser) as page:
        for name in (made.same, made.other, made.missing):
            Reader(page, made.url).open("#" + name)
            found = rows(page, "#drawer > div > .spans")
            assert (f"torch {OWN}" in found) == (name == made.other)
            assert f"torch {OWN}" in found or "2.15" in found[-1]
            marked = page.locator("#drawer .spans .same").all_inner_texts()
            assert marked == (["your run: the same"] if name == made.same else [])
        Reader(page, made.url).open("#rely?from=2.0")
        while page.locator("#view-rely .group:not([open])").count():
            page.locator("#view-rely .group:not([open]) > summary").first.click()
        differs = page.locator("#view-rely .found > li", has=page.locator(f"code:text-is('{made.other}')"))
        assert f"torch {OWN}" in differs.locator(".when").all_inner_texts()
        assert page.locator("#view-rely .when", has_text=OWN).count() == 1


def test_a_clause_tells_its_modes_in_one_line_that_opens(browser, made):
    with watched(browser) as page:
        Reader(page, made.url).open("#" + made.same)
        text = page.inner_text("#drawer-body")
        line = "In other modes: as in eager in 1 of 1"
        parts = ("On your torch 2.15.0", "On each release", line, "Where it comes from")
        assert sorted(parts, key=text.index) == list(parts)
        assert "On each release, compiled" not in text
        page.locator(".in-modes > summary").press("Enter")
        page.wait_for_selector(".in-modes .spans")
        assert rows(page, ".in-modes") == ["torch 2.14 to 2.15"]


def test_the_search_is_on_the_first_screen_and_leads_on(browser, made):
    for width, height in ((1280, 800), (390, 844)):
        with watched(browser, viewport={"width": width, "height": height}) as page:
            reader = Reader(page, made.url).open("#rely")
            box = page.locator("#q").bounding_box()
            assert box["y"] + box["height"] < height / 3
            page.fill("#q", "why is my backward hook not called")
            assert page.url.endswith("#?q=why+is+my+backward+hook+not+called")
            shown = reader.rows()
            page.press("#q", "Enter")
            assert reader.opened() == shown[0]
            reader.close()
            assert reader.focused() == shown[0]
            page.focus("#q")
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowDown")
            assert reader.focused() == shown[1]
            page.click("#causes >> text=My backward hook on a module is not called")
            page.wait_for_function("() => document.activeElement.tagName === 'SUMMARY'")
            assert page.locator("#view-why .group[open] h3").all_inner_texts() == [
                "My backward hook on a module is not called"
            ]
            page.fill("#q", "hook")
            assert page.locator("#causes").is_hidden()


@pytest.mark.parametrize("address", ["", "#modes", "#rely?mode=compiled", "#?q=hook", "clause"])
def test_all_of_it_fits_on_a_phone_and_on_a_small_screen(browser, made, address):
    with watched(browser) as page:
        Reader(page, made.url).open("#" + made.other if address == "clause" else address)
        page.evaluate(SETTLED)
        page.evaluate(OPEN_ALL)
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            page.evaluate(FRAME)
            assert page.evaluate(SIDEWAYS) <= 0, width
            assert page.evaluate(CUT) == [], width
