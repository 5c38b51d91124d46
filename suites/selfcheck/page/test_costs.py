"""The chapter on costs in a real browser: seen in both themes, narrow and wide, and by those who do not see it."""

from __future__ import annotations

import re

import pytest

from suites.selfcheck.page.pages import CONTRAST, PRICED, SCREENS, Reader, watched
from suites.selfcheck.synthetic_counts import KINDS


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_the_chapter_can_be_read(browser, priced, scheme, width):
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 844}) as page:
        Reader(page, priced.url).open("#costs")
        page.eval_on_selector_all("#view-costs details", "all => all.forEach(each => each.open = true)")
        assert page.evaluate(CONTRAST) == []
        plots = page.eval_on_selector_all(
            "#view-costs svg", "all => all.map(each => each.getBoundingClientRect().right)"
        )
        assert len(plots) == len(KINDS)
        assert all(right <= width for right in plots)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_chapter_is_given_in_words_and_tables(browser, priced):
    with watched(browser) as page:
        Reader(page, priced.url).open("#costs")
        section = page.get_by_role("main", name="What a hook costs")
        ends = re.compile(r"^forward hook: 1\d,\d+ on 1.12, 1[78],\d+ on 2.1$")
        assert section.get_by_role("img", name=ends).count() == 1
        table = section.get_by_role("table", name="Thousands of instructions that one hook adds, by torch version")
        assert table.get_by_role("columnheader").all_inner_texts()[-len(PRICED) :] == ["1.12", "1.13", "2.0", "2.1"]
        row = table.get_by_role("row", name=re.compile("^post-accumulate hook"))
        assert [cell.split("\n")[-1] for cell in row.get_by_role("cell").all_inner_texts()][:2] == ["not counted"] * 2
        changed = section.get_by_role("table", name="Changes from release to release")
        rows = changed.get_by_role("row").all_inner_texts()
        assert [line.split("\t")[0] for line in rows] == ["torch", "1.13 → 2.0", "1.12 → 1.13"]
        assert "not compared: they were counted with different builds" in rows[2]
        assert "Times are never compared between releases or machines" in section.inner_text()
        times = section.get_by_role("table", name=re.compile("^Nanoseconds that one hook adds on Made-up 9000"))
        assert times.get_by_role("row").count() == 2


def test_the_page_without_costs_has_no_chapter(browser, built):
    with watched(browser) as page:
        Reader(page, built.url).open()
        assert page.locator("#view-costs, [href='#costs']").count() == 0
