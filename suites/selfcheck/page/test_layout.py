"""The page fits: one scroller, nothing cut off at usual widths, no frame around a view. Links to nothing say so."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from suites.selfcheck.page.pages import FRAME, OPEN_ALL, SETTLED, Reader, watched

WIDTHS = (390, 768, 1024, 1280, 1400, 1920)
ADDRESSES = ("", "#rely", "#upgrade?from=1.13", "#build", "#why", "#?q=hook+twice", "#modes", "#disagreements")
#: Returns what scrolls up and down, and views that scroll sideways; but for code, which may, and the page itself.
SCROLLERS = """() => [...document.querySelectorAll("main, main *")]
  .filter((each) => /auto|scroll/.test(getComputedStyle(each).overflowY))
  .filter((each) => each.scrollHeight > each.clientHeight + 1 ||
    (each.matches("main") && each.scrollWidth > each.clientWidth))
  .filter((each) => !each.closest("pre")).map((each) => each.tagName + "." + each.className)"""
#: Returns the texts that are seen in part only: beyond the window, or beyond a box that hides what is outside of it.
#: What is hidden as a whole is meant to be, such as a word that has no room in its bar.
CUT = """() => {
  const cut = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const parent = text.parentElement;
    if (!text.data.trim() || !parent.checkVisibility() || parent.closest(".vh, .skip, pre, select, script")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const part of range.getClientRects()) {
      let [left, right, hidden] = [0, document.documentElement.clientWidth, false];
      for (let box = parent; box && box !== document.body; box = box.parentElement) {
        const { overflowX } = getComputedStyle(box);
        if (/auto|scroll/.test(overflowX)) { hidden = true; break; }
        if (overflowX === "visible") continue;
        const frame = box.getBoundingClientRect();
        [left, right] = [Math.max(left, frame.left), Math.min(right, frame.right)];
        hidden ||= part.top >= frame.bottom - 2 || part.bottom <= frame.top + 2;
      }
      if (hidden || (part.left >= left - 1 && part.right <= right + 1)) continue;
      cut.add(`${parent.tagName}.${parent.className}: ${text.data.slice(0, 40)}`);
    }
  }
  return [...cut];
}"""
SIDEWAYS = "() => document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"


@pytest.mark.parametrize("address", [*ADDRESSES, "clause"])
def test_nothing_is_cut_off_and_nothing_scrolls_but_the_page(browser, built, address):
    with watched(browser) as page:
        Reader(page, built.url).open("#" + built.having("deviates")[0] if address == "clause" else address)
        page.evaluate(SETTLED)
        page.evaluate(OPEN_ALL)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(FRAME)
            page.evaluate(SETTLED)
            assert page.evaluate(SIDEWAYS) <= 0, width
            assert page.evaluate(CUT) == [], width
            assert page.evaluate(SCROLLERS) == [], width


@pytest.mark.parametrize("width", [390, 1400])
def test_the_wheel_over_the_matrix_moves_the_page(browser, built, width):
    with watched(browser, viewport={"width": width, "height": 900}) as page:
        reader = Reader(page, built.url).open()
        page.locator(f'[id="{reader.rows()[3]}"] td').first.hover()
        page.mouse.wheel(0, 1500)
        page.wait_for_function("() => scrollY > 0")
        page.wait_for_function(
            "() => { const head = document.querySelector('th[data-key]').getBoundingClientRect();"
            " return head.top >= 0 && head.top < 120; }"
        )  # the versions stay in view
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        page.wait_for_function("() => document.querySelector('.end').getBoundingClientRect().bottom <= innerHeight + 1")


def test_what_is_cut_off_is_found(browser, built):
    """The measure would say so: of a matrix in a box of its own, and of a sentence that has no room."""
    with watched(browser, viewport={"width": 1280, "height": 900}) as page:
        Reader(page, built.url).open()
        page.add_style_tag(content=".row th { white-space: nowrap; overflow: clip; }")
        assert any(each.startswith("A.") for each in page.evaluate(CUT))
        page.add_style_tag(content=".matrix { min-width: 1500px; }")
        assert page.evaluate(SIDEWAYS) > 0
        page.add_style_tag(content=".pane { overflow: auto; max-height: 50vh; }")
        assert page.evaluate(SCROLLERS) == ["MAIN.pane"]


def test_a_row_takes_three_lines_at_most(browser, built):
    with watched(browser, viewport={"width": 1400, "height": 900}) as page:
        Reader(page, built.url).open()
        lines = page.eval_on_selector_all(
            ".row > th",
            "all => all.map(each => each.clientHeight / parseFloat(getComputedStyle(each).lineHeight))",
        )
        assert max(lines) < 3.8  # and what is above and below them


def test_a_view_that_takes_the_focus_has_no_frame(browser, priced):
    with watched(browser) as page:
        Reader(page, priced.url).open()
        for view in ("rely", "upgrade", "why", "costs"):
            page.focus(f".views [data-view='{view}']")
            page.keyboard.press("Enter")
            page.wait_for_function("view => document.activeElement.id === 'view-' + view", arg=view)
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "none"
            page.keyboard.press("Tab")
            page.wait_for_function("view => document.activeElement.id !== 'view-' + view", arg=view)
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


NOWHERE = {
    "#no.such.clause": "There is no clause and no view “no.such.clause” here",
    "#relly": "the nearest is rely",
    "#rely?clauses=retain.": "asks for “clauses”, which is not understood here; the nearest is clause.",
    "#?chapters=ordering": "asks for “chapters”, which is not understood here; the nearest is chapter.",
    "#__proto__": "There is no clause and no view “__proto__” here",
}


def test_a_link_that_leads_nowhere_says_so_in_one_line(reader):
    page = reader.open().page
    for address, words in NOWHERE.items():
        page = reader.open(address).page
        assert words in page.inner_text("#unknown")
        assert "\n" not in page.inner_text("#unknown")
    page.click(".views >> text=All sentences")
    page.wait_for_function("() => byId('unknown').hidden")


def test_the_nearest_clause_is_a_click_away(reader, built):
    name = built.having("deviates")[0]
    page = reader.open(f"#{name[:-1]}x").page
    page.click("#unknown a")
    page.wait_for_function("() => drawer.open")
    assert reader.opened() == name
    assert page.locator("#unknown").is_hidden()
    reader.open("#" + name)
    assert page.locator("#unknown").is_hidden()


def test_what_is_waited_for_is_a_function():
    """The policy of the page forbids to evaluate a text: an expression is only seen where it is true at once."""
    found = [
        f"{path.name}:{call.lineno}"
        for path in sorted(Path(__file__).parent.glob("*.py"))
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if call.func.attr == "wait_for_function" and "=>" not in ast.unparse(call.args[0])
    ]
    assert found == []
