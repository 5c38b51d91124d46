"""The page in a real browser: what a reader can see, search, open and share."""

from __future__ import annotations

import re

import pytest

from reports.data.clause import read_clauses
from reports.data.order import order
from reports.search.ask import search
from suites.selfcheck import synthetic
from suites.selfcheck.page.pages import CONTRAST, FRAME, SETTLED, Reader, watched


def test_opens_with_every_clause_and_the_counts_of_the_newest_torch(reader, built):
    assert reader.rows() == in_order(built.table, built.table)
    assert reader.page.inner_text("#shown") == "80 clauses"
    counts = reader.page.inner_text(".counts")
    assert "On torch 2.15" in counts
    assert f"{len(built.having('deviates', '2.15.0'))} deviates" in " ".join(counts.split())


def test_every_cell_says_its_verdict_in_words(reader, built):
    spoken = reader.page.eval_on_selector_all(".row td .vh", "all => all.map(each => each.textContent)")
    assert all(
        re.search(r"holds|otherwise|the claim is (true|false)|deviates|crashed|hung|absent|refused|unseen", text)
        for text in spoken
    )
    columns = reader.page.eval_on_selector_all(
        ".row", "rows => rows.map(row => [...row.cells].slice(1).reduce((sum, cell) => sum + cell.colSpan, 0))"
    )
    assert set(columns) == {len(synthetic.TORCHES)}


def test_a_claim_says_whether_it_is_true(reader, built):
    name, clause = next(
        (name, clause)
        for name, clause in built.table.items()
        if name.startswith("tutorial.") and "<" in clause["readings"][0]["torch"] and name not in built.having("absent")
    )
    shown = reader.page.eval_on_selector_all(f'[id="{name}"] td .g', "all => all.map(each => each.textContent)")
    assert shown[:2] == ["✓ true", "✗ false"]
    assert clause["readings"][1]["name"] == "false"


@pytest.mark.parametrize("width", [390, 1440])
def test_the_claims_of_tutorials_have_a_link_that_tells_how_many_are_true(browser, built, width):
    claims = [name for name in built.table if name.startswith("tutorial.")]
    cells = [synthetic.cell(name, built.table[name], "2.15.0") for name in claims]
    answers = [cell["reading"] if cell["verdict"] == "conforms" else None for cell in cells]
    true, false, other = (answers.count(each) for each in ("true", "false", None))
    assert true > 0 < false
    with watched(browser, viewport={"width": width, "height": 844}) as page:
        reader = Reader(page, built.url).open("#?verdict=deviates")
        answer = page.inner_text(".also:has(#claims)")
        assert answer.startswith("What tutorials teach: 12 sentences, ")
        assert f", on torch 2.15 {true} true and {false} false" in answer
        assert answer.endswith(f", {other} without an answer." if other else f" {false} false.")
        page.click("#claims")
        page.wait_for_function("() => readFields().chapter === 'tutorial'")
        assert sorted(reader.rows()) == sorted(claims)
        assert reader.address() == "#?chapter=tutorial"
        page.wait_for_function("() => document.activeElement.id === 'matrix'")
        first = page.locator(f'[id="{reader.rows()[0]}"]').bounding_box()
        assert first is not None
        assert 0 <= first["y"] <= 844
        page.click("#claims")
        assert reader.address() == "#?chapter=tutorial"


def test_a_page_without_claims_has_no_link_to_them(browser, priced):
    with watched(browser) as page:
        Reader(page, priced.url).open()
        assert page.locator("#claims").count() == 0


def test_search_ranks_clauses_as_find_does(reader, built):
    page = reader.page
    ask = search(read_clauses(dict(sorted(built.table.items()))))
    page.keyboard.press("/")
    assert reader.focused() == "q"
    for words in ("shared module", "PULL/85849", "is my hook called twise", "torch.compile", "ünknown hook"):
        page.fill("#q", words)
        found = ask.find(words)
        assert reader.rows() == list(found.clauses[:20])
        assert (page.inner_text("#results-said") == "Nearest to your words") == found.close
    page.fill("#q", "retain_grad.tensor")
    assert reader.rows() == sorted(name for name in built.table if name.startswith("retain_grad.tensor"))
    page.fill("#q", "qwxyz")
    assert page.is_visible("#none")
    page.click("#none-reset")
    assert len(reader.rows()) == 80


def test_filters_narrow_and_are_kept_in_the_address(reader, built):
    page = reader.page
    reader.choose(chapter="ordering")
    assert set(reader.rows()) == {name for name in built.table if name.startswith("ordering.")}
    reader.choose(chapter="", verdict="deviates")
    assert set(reader.rows()) == set(built.having("deviates"))
    reader.choose(verdict="", on="", **{"from": "1.13", "to": "2.0"})
    changed = set(reader.rows())
    assert changed == {name for name, clause in built.table.items() if not same(name, clause, "1.13.1", "2.0.0")}
    assert page.inner_text("#shown") == f"{len(changed)} of 80 clauses"
    address = page.url
    assert "from=1.13&to=2.0" in address
    reader.open("#" + address.split("#")[1])
    assert set(reader.rows()) == changed
    page.click("#reset")
    page.check("#docs")
    assert set(reader.rows()) == {name for name, clause in built.table.items() if clause["docs"]}


def in_order(names, table):
    clauses = read_clauses(table)
    return sorted(names, key=lambda name: order(clauses[name]))


def same(name, clause, one, two):
    first, second = (synthetic.cell(name, clause, torch) for torch in (one, two))
    return all(first[key] == second[key] for key in ("verdict", "reading", "holds"))


def test_a_count_shows_its_clauses(reader, built):
    reader.page.click(".count[data-verdict=deviates]")
    assert set(reader.rows()) == set(built.having("deviates", "2.15.0"))
    assert reader.page.get_attribute(".count[data-verdict=deviates]", "aria-pressed") == "true"
    reader.page.click(".count[data-verdict=deviates]")
    assert len(reader.rows()) == 80


def test_a_row_opens_by_click_and_by_keyboard_and_gives_the_focus_back(reader):
    page, (first, second, *_) = reader.page, reader.rows()
    page.click(f'[id="{second}"] td')
    assert reader.opened() == second
    assert page.url.endswith("#" + second)
    reader.close()
    assert reader.focused() == second
    assert reader.opened() == ""
    assert "#" not in page.url
    page.keyboard.press("ArrowUp")
    assert reader.focused() == first
    page.keyboard.press("Enter")
    assert reader.opened() == first
    assert page.evaluate("document.getElementById('drawer').contains(document.activeElement)")
    page.go_back()
    page.wait_for_function("() => !document.getElementById('drawer').open")


def test_a_related_clause_opens_and_the_filters_stay(reader, built):
    page = reader.open("#?chapter=ordering&q=runs").page
    shown = reader.rows()
    topics = [name.rpartition(".")[0] for name in built.table]
    name = next(each for each in shown if topics.count(each.rpartition(".")[0]) > 1)
    page.click(f'[id="{name}"] a')
    other = page.locator("#drawer .related a").first
    wanted = other.inner_text()
    assert other.get_attribute("href") == f"#{wanted}?q=runs&chapter=ordering"
    other.click()
    assert reader.opened() == wanted
    assert reader.address() == f"#{wanted}?q=runs&chapter=ordering"
    reader.close()
    assert reader.focused() == (wanted if wanted in shown else name)
    assert reader.rows() == shown
    assert reader.address() == "#?q=runs&chapter=ordering"


def test_a_permalink_opens_its_clause(reader, built):
    name = built.having("deviates")[0]
    reader.open("#" + name)
    assert reader.opened() == name
    assert built.table[name]["says"] == reader.page.text_content("#drawer h2")
    reader.open("#no.such.clause")
    assert reader.opened() == ""
    reader.open(f"#{name}?verdict=nonsense&chapter=none&from=%")
    assert reader.opened() == name


def test_a_deviation_opens_to_plan_traces_and_reproducer(reader, built, browser):
    name = built.having("deviates")[0]
    reader.open("#" + name)
    text = reader.page.inner_text("#drawer")
    for wanted in (
        "Plan(",
        "expected by the clause",
        "observed on torch",
        "import torch",
        "def test_",
        "A declared deviation",
    ):
        assert wanted in text
    signs = reader.page.eval_on_selector_all("#drawer .diff .sign", "all => all.map(each => each.innerText)")
    assert [sign[0] for sign in signs] == ["≠", "+"]
    reader.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reader.page.click("#drawer .code:has([aria-label^=Reproducer]) button")
    reader.page.wait_for_selector("button:has-text('Copied')")
    assert reader.page.evaluate("navigator.clipboard.readText()") == synthetic.REPRODUCER


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_can_be_read(browser, built, scheme):
    name = built.having("deviates")[0]
    with watched(browser, color_scheme=scheme) as page:
        reader = Reader(page, built.url).open()
        page.click("text=How to read this page")
        assert page.evaluate(CONTRAST) == []
        reader.open("#" + name)
        page.evaluate(SETTLED)  # the drawer fades in
        assert page.evaluate(CONTRAST) == []


def test_the_theme_can_be_chosen_and_stays(reader):
    def ground():
        return reader.page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = ground()
    reader.page.click("#theme")
    reader.page.click("#theme")
    dark = ground()
    assert light != dark
    reader.open()
    assert ground() == dark
    assert reader.page.text_content("#theme .name") == "Dark"


def test_no_width_makes_the_page_scroll_sideways(reader, built):
    page = reader.page
    for address in ("", "#" + built.having("deviates")[0]):
        reader.open(address)
        for width in (390, 768, 1440):
            page.set_viewport_size({"width": width, "height": 844})
            page.evaluate(FRAME)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate(
                "(d => d.open ? d.scrollWidth <= d.clientWidth : true)(document.getElementById('drawer'))"
            )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_paper_is_white_and_its_text_dark_whichever_theme_was_chosen(reader, built, theme):
    page = reader.page
    page.evaluate("theme => setTheme(theme)", theme)
    for address in ("", "#rely", "#disagreements", "#" + built.having("deviates")[0]):
        page.evaluate("address => { location.hash = address; }", address)
        page.evaluate(SETTLED)  # the drawer fades in
        page.emulate_media(media="print", color_scheme=theme)
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("getComputedStyle(document.body).colorScheme") == "light"
        assert page.evaluate(CONTRAST) == []
        page.emulate_media(media="screen", color_scheme=theme)


def test_prints(reader):
    assert reader.page.pdf(landscape=True).startswith(b"%PDF")
