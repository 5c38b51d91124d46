"""The chapter on costs in a real browser: seen in both themes, narrow and wide, and told to those who do not see it."""

from __future__ import annotations

import re

import pytest

from suites.selfcheck.pages import CONTRAST, PRICED, Reader, watched
from suites.selfcheck.timing_session import KINDS


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_chapter_can_be_read(browser, priced, scheme, width):
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 844}) as page:
        Reader(page, priced.url).open("#costs")
        page.eval_on_selector_all("#view-costs details", "all => all.forEach(each => each.open = true)")
        assert page.evaluate(CONTRAST) == []
        charts = page.eval_on_selector_all(
            "#view-costs svg", "all => all.map(each => each.getBoundingClientRect().right)"
        )
        assert len(charts) == len(KINDS) + 2
        assert all(right <= width for right in charts)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_no_word_of_a_chart_is_cut_off(browser, recorded):
    # How far letters reach differs from font to font, and readers have other fonts than this machine: 1.3 and 0.4 of
    # the size is more than any usual one takes above and below the line.
    cut = """all => all.filter(text => {
        const {x, width} = text.getBBox(), box = text.ownerSVGElement.viewBox.baseVal;
        const y = parseFloat(text.getAttribute("y")), size = parseFloat(getComputedStyle(text).fontSize);
        return x < 0 || x + width > box.width || y < 1.3 * size || y + 0.4 * size > box.height;
    }).map(text => text.textContent)"""
    with watched(browser) as page:
        Reader(page, recorded.url).open("#costs")
        assert page.locator("#view-costs svg text").count() > len(KINDS)
        assert page.eval_on_selector_all("#view-costs svg text", cut) == []


def test_a_chart_is_told_in_words_and_in_a_table(browser, priced):
    with watched(browser) as page:
        Reader(page, priced.url).open("#costs")
        section = page.get_by_role("main", name="What a hook costs")
        assert section.get_by_role("img", name=re.compile(r"node hook: (9\.\d+|10\.\d) plain calls")).count() == 1
        section.locator("summary", has_text="The charts as a table").click()
        told = section.get_by_role("table", name="Plain Python calls that one hook adds, by torch version")
        assert told.get_by_role("columnheader").all_inner_texts()[0] == "torch"
        assert told.get_by_role("row").count() == 1 + len(PRICED)
        section.locator("summary", has_text="What changed between neighbouring versions").click()
        changed = section.get_by_role("table", name="What changed between neighbouring versions").first
        assert changed.get_by_role("row").count() == len(PRICED)


def test_the_page_without_costs_has_no_chapter(browser, built):
    with watched(browser) as page:
        Reader(page, built.url).open()
        assert page.locator("#view-costs, [href='#costs']").count() == 0
