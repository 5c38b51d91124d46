"""The view Others: recorded targets, each with what differs and why, by keyboard and in both themes."""

from __future__ import annotations

import pytest

from reports.__main__ import main
from reports.page.others import linked
from suites.selfcheck import synthetic
from suites.selfcheck.page.pages import CONTRAST, SCREENS, Reader, build, watched
from suites.selfcheck.page.test_axe import opened
from suites.selfcheck.record import a_target

TABLE = synthetic.clauses(40, seed=3)


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Build a page with two recorded targets, one of which was asked half of the clauses."""
    folder = tmp_path_factory.mktemp("others")
    verdicts = synthetic.write_verdicts(folder / "verdicts", TABLE)
    synthetic.write_scripts(folder / "upstream", TABLE)
    for name, asked in (("mine", None), ("half", 20)):
        run = a_target.write(folder / f"{name}.jsonl", TABLE, asked=asked)
        assert main(["record", "--target", name, str(run), "--verdicts", str(verdicts)]) == 0
    return build(folder, TABLE)


def test_each_target_says_who_it_is_what_differs_and_why(browser, others):
    first, second, third, fourth = a_target.names_in(TABLE)[:4]
    with watched(browser) as page:
        reader = Reader(page, others.url).open()
        page.focus(".views [data-view=others]")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.activeElement.id === 'view-others'")
        groups = page.locator("#view-others > .group")
        assert groups.count() == 2
        groups.nth(1).locator("> summary").press("Enter")
        page.wait_for_function("() => document.querySelectorAll('#view-others > .group')[1].open")
        text = groups.nth(1).inner_text()
        assert text.startswith(a_target.WORDS)
        assert "2 differ as its file says" in text
        assert "; what needs sparse tensors was left out." in text
        assert "are not measured there" not in text
        assert "20 are not measured there" in groups.nth(0).text_content()
        assert f"{TABLE[first]['says']} {first}" in text
        links = groups.nth(1).locator("a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
        assert "https://example.org/mine/1" in links
        assert f"#{second}?view=others" in links
        assert "no matter of hooks" in text
        page.evaluate("document.querySelectorAll('#view-others details').forEach((one) => (one.open = true))")
        text = groups.nth(1).inner_text()
        assert a_target.SCRIPT.strip() in text
        assert a_target.DECLINED in text
        assert "mine/torch#7: no layout" in text
        assert [one in text for one in (third, fourth)] == [True, True]
        groups.nth(1).locator("li a").first.press("Enter")
        assert reader.opened() == first
        assert reader.address() == f"#{first}?view=others"
        reader.close()
        assert page.is_visible("#view-others")


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_it_can_be_read_in_both_themes_and_at_any_width(browser, others, scheme, width):
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True) as page:
        Reader(page, others.url).open("#others")
        assert opened(page) == {}
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_page_without_targets_has_no_such_view(reader):
    assert reader.page.locator("#view-others, [data-view=others]").count() == 0


def test_a_run_of_a_target_is_a_column_of_its_own(browser, others, tmp_path):
    synthetic.write_verdicts(tmp_path / "verdicts", TABLE)
    synthetic.write_scripts(tmp_path / "upstream", TABLE)
    made = build(tmp_path, TABLE, a_target.write(tmp_path / "run.jsonl", TABLE))
    with watched(browser) as page:
        Reader(page, made.url).open()
        assert page.inner_text(".matrix th.own") == f"{a_target.WORDS}\nthis run"
        assert page.inner_text(".counts-of") == f"On {a_target.WORDS}, this run:"
        assert f"your run of {a_target.WORDS}" in page.inner_text("header")
        assert "of torch: 1.4 to 2.15." in page.inner_text(".lead")
        first = a_target.names_in(TABLE)[0]
        Reader(page, made.url).open("#" + first)
        assert f"On {a_target.WORDS}" in page.inner_text("#drawer")


def test_a_reason_is_linked_where_it_names_an_address_or_an_issue():
    assert linked("a/b#12, see https://example.org/x.") == [
        ("a/b#12", "https://github.com/a/b/issues/12"),
        (", see ", ""),
        ("https://example.org/x", "https://example.org/x"),
        (".", ""),
    ]
    assert linked("torch.lazy <b>") == [("torch.lazy <b>", "")]
