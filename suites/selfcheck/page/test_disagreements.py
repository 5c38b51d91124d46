"""The list of disagreements between torch and its documentation on the page, in a real browser."""

from __future__ import annotations

import pytest

from reports.data.disagreements import read_scripts
from suites.selfcheck import synthetic
from suites.selfcheck.page.pages import CONTRAST, SCREENS, Reader, build, watched
from suites.selfcheck.page.test_data import EVIL

TITLE = "Where torch and its documentation disagree"


@pytest.fixture
def scripts(built):
    return read_scripts(built.path.parent / "upstream")


def is_in_view(page, selector):
    box, height = page.locator(selector).first.bounding_box(), page.viewport_size["height"]
    return 0 <= box["y"] <= height


def test_each_script_is_shown_with_its_page_and_its_versions(reader, scripts, built):
    page = reader.page
    assert page.locator("#view-disagreements article").count() == len(scripts) == 5
    assert page.inner_text(".views [href='#disagreements']").split("\n") == ["Docs disagree", "5 places and scripts"]
    for number, one in enumerate(scripts):
        text = page.locator("#view-disagreements article").nth(number).inner_text()
        for wanted in (one.sentence, one.documentation, one.torch, one.doubt, one.address.removeprefix("https://")):
            assert wanted in text
    later = next(one for one in scripts if built.table[one.clause]["readings"][0]["torch"] == "<2.0")
    versions = page.locator("article", has_text=later.sentence).locator("dt:has-text('Versions') + dd")
    assert versions.inner_text() == "2.0 to 2.15"


def test_the_link_above_and_the_permalink_lead_to_the_list(reader):
    page = reader.page
    assert not page.is_visible("#view-disagreements h2")
    page.click(".views [href='#disagreements']")
    page.wait_for_function("() => document.activeElement.id === 'view-disagreements'")
    assert is_in_view(page, "#view-disagreements h2")
    assert page.url.endswith("#disagreements")
    reader.open("#disagreements")
    assert is_in_view(page, "#view-disagreements h2")
    assert reader.opened() == ""


def test_an_address_with_escapes_leads_there_too(reader):
    reader.open("#%64isagreements")
    assert is_in_view(reader.page, "#view-disagreements h2")


def test_a_clause_opens_from_the_list_by_keyboard_and_the_focus_comes_back(reader, scripts):
    page = reader.open().page
    page.focus(".views [href='#disagreements']")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.id === 'view-disagreements'")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert reader.opened() == scripts[0].clause
    assert "Where it contradicts the documentation" in page.inner_text("#drawer")
    assert scripts[0].documentation in page.inner_text("#drawer")
    assert page.url.endswith(f"#{scripts[0].clause}?view=disagreements")
    page.keyboard.press("Escape")
    page.wait_for_function("text => document.activeElement.textContent === text", arg=scripts[0].sentence)
    assert is_in_view(page, "#view-disagreements article h3")


def test_going_back_closes_the_clause_and_keeps_the_address_of_the_list(reader, scripts):
    page = reader.open("#disagreements").page
    page.click("#view-disagreements article h3 a")
    assert reader.opened() == scripts[0].clause
    page.go_back()
    page.wait_for_function("() => !document.getElementById('drawer').open")
    assert page.url.endswith("#disagreements")
    assert is_in_view(page, "#view-disagreements h2")


def test_a_script_is_shown_with_colours_and_copied_as_it_is(reader, scripts):
    page = reader.page
    page.focus(".views [href='#disagreements']")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.id === 'view-disagreements'")
    assert page.locator("#view-disagreements pre").count() == 0
    for key in ("Tab", "Tab", "Tab", "Tab", "Tab"):  # the clause, its page, two threads, and the script
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.wait_for_selector("#view-disagreements pre")
    assert page.text_content("#view-disagreements pre") == scripts[0].code
    assert page.locator("#view-disagreements pre .k-keyword").count() == 1
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.locator("#view-disagreements pre").count() == 1
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#view-disagreements .code button")
    page.wait_for_selector("button:has-text('Copied')")
    assert page.evaluate("navigator.clipboard.readText()") == scripts[0].code


def test_a_browser_that_guards_the_clipboard_copies_too(reader, scripts):
    page = reader.open("#disagreements").page
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('guarded')); }")
    page.click("#view-disagreements summary")
    page.click("#view-disagreements .code button")
    page.wait_for_selector("button:has-text('Copied')")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    assert page.evaluate("navigator.clipboard.readText()") == scripts[0].code


def test_the_list_and_its_scripts_have_names(reader, scripts):
    page = reader.open("#disagreements").page
    assert page.get_by_role("main", name=TITLE).count() == 1
    assert page.get_by_role("heading", name=TITLE, level=2).count() == 1
    names = page.locator("#view-disagreements summary").all_text_contents()
    assert names == [f"Script: {one.sentence}" for one in scripts]
    page.click("#view-disagreements summary")
    page.get_by_role("group", name=f"{scripts[0].clause}.py", exact=True).wait_for()


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_it_can_be_read_in_both_themes_and_at_any_width(browser, built, scheme, width):
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 844}) as page:
        Reader(page, built.url).open("#disagreements")
        page.click("#view-disagreements summary")
        page.locator("#view-disagreements pre").wait_for()
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_page_without_scripts_has_no_list(browser, tmp_path):
    table = synthetic.clauses(6)
    synthetic.write_verdicts(tmp_path / "verdicts", table)
    made = build(tmp_path, table)
    with watched(browser) as page:
        reader = Reader(page, made.url).open("#disagreements")
        assert len(reader.rows()) == 6
        assert page.locator("#view-disagreements, [href='#disagreements']").count() == 0
        assert "no view “disagreements”" in page.inner_text("#unknown")


def test_markup_in_a_script_stays_text(browser, tmp_path):
    table = synthetic.clauses(6)
    table = {name: {**clause, "docs": "contradicts"} for name, clause in table.items()}
    synthetic.write_verdicts(tmp_path / "verdicts", table)
    synthetic.write_scripts(tmp_path / "upstream", table, documented=EVIL, awake=EVIL)
    made = build(tmp_path, table)
    with watched(browser) as page:
        Reader(page, made.url).open("#disagreements")
        for summary in page.locator("#view-disagreements summary").all():
            summary.click()
        # A script is written when its part has opened, a moment after the click.
        page.locator("#view-disagreements pre").nth(len(table) - 1).wait_for()
        assert page.locator("#view-disagreements dd", has_text=EVIL).count() == len(table)
        assert page.locator("#view-disagreements pre", has_text=EVIL).count() == len(table)
        assert page.evaluate("window.hit") is None
        assert page.locator("img").count() == 0
