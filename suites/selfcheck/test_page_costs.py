"""The chapter on costs in a real browser: seen in both themes, narrow and wide, and told to those who do not see it."""

from __future__ import annotations

import pytest

from reports.costs import from_run
from reports.costs_recorded import record
from suites.selfcheck import synthetic, timing_session
from suites.selfcheck.pages import CONTRAST, Reader, build, watched
from suites.selfcheck.timing_session import KINDS, Machine

TORCHES = ("1.12.0", "1.13.1", "2.0.0", "2.1.0")


@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    """Build a page with costs of four versions."""
    folder = tmp_path_factory.mktemp("costs")
    table = synthetic.clauses(10, seed=5)
    synthetic.write_verdicts(folder / "verdicts", table)
    synthetic.write_scripts(folder / "upstream", table)
    sweep = [
        from_run(timing_session.run(Machine(1, 0.0), torch=torch, slower={"node": 1.0 + index / 2}))
        for index, torch in enumerate(TORCHES)
    ]
    record(sweep, folder / "verdicts" / "costs")
    return build(folder, table)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_chapter_can_be_read(browser, priced, scheme, width):
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 844}) as page:
        Reader(page, priced.url).open("#costs")
        page.eval_on_selector_all("#costs details", "all => all.forEach(each => each.open = true)")
        assert page.evaluate(CONTRAST) == []
        charts = page.eval_on_selector_all("#costs svg", "all => all.map(each => each.getBoundingClientRect().right)")
        assert len(charts) == len(KINDS) + 2
        assert all(right <= width for right in charts)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_chart_is_told_in_words_and_in_a_table(browser, priced):
    with watched(browser) as page:
        Reader(page, priced.url).open()
        section = page.get_by_role("region", name="What a hook costs")
        assert section.get_by_role("img", name="node hook: 10").count() == 1
        section.locator("summary", has_text="The charts as a table").click()
        told = section.get_by_role("table", name="Plain Python calls that one hook adds, by torch version")
        assert told.get_by_role("columnheader").all_inner_texts()[0] == "torch"
        assert told.get_by_role("row").count() == 1 + len(TORCHES)
        section.locator("summary", has_text="What changed between neighbouring versions").click()
        changed = section.get_by_role("table", name="What changed between neighbouring versions").first
        assert changed.get_by_role("row").count() == len(TORCHES)


def test_the_page_without_costs_has_no_chapter(browser, built):
    with watched(browser) as page:
        Reader(page, built.url).open()
        assert page.locator("#costs").count() == 0
