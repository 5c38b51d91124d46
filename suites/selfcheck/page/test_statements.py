"""What the page says of a torch is the statement in force there; and it says what no clause speaks of yet."""

from __future__ import annotations

import pytest

from reports.data.atlas import build as build_atlas
from reports.data.neighbours import from_to, neighbours
from reports.data.statements import statement
from reports.data.verdicts import read_recorded, read_table
from suites.selfcheck import synthetic, synthetic_cells
from suites.selfcheck.page.pages import CONTRAST, SETTLED, Reader, build, watched

#: Says of every cell what the page shows of it.
TOLD = """() => Object.fromEntries(Object.entries(DATA.clauses).map(([id, clause]) => [id, COLUMNS.map((_, place) => {
  const { says, answer, effect, reason = "", ref = "", detail = "", cause = "" } = cellOn(clause, "eager", place);
  return [says ?? clause.says, answer, effect, reason, ref, detail ?? "", cause];
})]))"""
#: Returns of every clause the class of its bar on each column, and what is spoken of each bar.
DRAWN = """() => ROWS.map(({ id, row }) => [id, [...row.cells].slice(1).map((cell) =>
  [cell.className, cell.colSpan, cell.querySelector(".vh").textContent])])"""
#: Returns the class, the sign and the clause of each bar.
BARS = """() => [...document.querySelectorAll(".row td")].map((cell) =>
  [cell.className.split(" ")[0], cell.querySelector("i").textContent, cell.closest(".row").id])"""


@pytest.fixture(scope="module")
def atlas(built):
    folder = built.path.parent / "verdicts"
    return build_atlas(read_table(folder), read_recorded(folder))


def test_the_script_says_of_every_cell_what_the_verbs_say(reader, atlas):
    answer = reader.page.evaluate(TOLD)
    answers = set()
    for name, clause in atlas.clauses.items():
        for column, shown in zip(atlas.columns, answer[name], strict=True):
            wanted = statement(clause, atlas.cell(name, column, "eager"))
            told = [wanted.says, wanted.answer, wanted.effect, wanted.reason, wanted.ref, wanted.detail, wanted.cause]
            assert shown == told, name
            answers.add(wanted.answer)
    assert {"holds", "otherwise", "true", "false", "deviates", "absent"} <= answers


def test_a_bar_is_of_neighbours_that_say_the_same(reader, atlas):
    for name, bars in reader.page.evaluate(DRAWN):
        cells = [(column.label, atlas.cell(name, column, "eager")) for column in atlas.columns]
        wanted = neighbours(cells, lambda pair: (pair[1].verdict, pair[1].reading, pair[1].declared, pair[1].note))
        for (_, alike), (kind, span, spoken) in zip(wanted, bars, strict=True):
            (first, cell), (last, _) = alike[0], alike[-1]
            said = statement(atlas.clauses[name], cell)
            assert (kind.split()[0], span) == (said.answer, len(alike)), name
            assert spoken.endswith(f"; torch {from_to(first, last)}")
            assert cell.reading is None or not atlas.clauses[name].varies or cell.reading in spoken


def test_a_tick_is_for_a_sentence_that_is_true(reader, atlas):
    found = {(kind, sign) for kind, sign, _ in reader.page.evaluate(BARS)}
    assert {kind for kind, sign in found if sign == "✓"} == {"holds", "true"}
    assert ("otherwise", "⇄") in found
    otherwise = [name for kind, _, name in reader.page.evaluate(BARS) if kind == "otherwise"]
    green = reader.page.locator(f'[id="{otherwise[0]}"] td.otherwise .g').first
    holds = reader.page.locator(".row td.holds .g").first
    colours = [each.evaluate("each => getComputedStyle(each).backgroundColor") for each in (green, holds)]
    assert colours[0] != colours[1]
    reader.choose(verdict="otherwise")
    assert set(reader.rows()) == set(otherwise)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_deviation_has_both_sides_its_reason_and_its_reference(browser, built, scheme):
    name = built.having("deviates", "2.15.0")[0]
    with watched(browser, color_scheme=scheme) as page:
        Reader(page, built.url).open("#" + name)
        page.evaluate(SETTLED)
        assert page.evaluate(CONTRAST) == []
        row = page.locator("#drawer .spans > li", has_text="deviates")
        labels = [text.strip() for text in row.locator(".label").all_inner_texts()]
        assert labels == ["stated", "what torch does", "effect", "cause", "why"]
        bug = built.table[name]["deviations"][0]
        assert bug["says"] in row.inner_text()
        assert bug["cause"] in row.inner_text()
        assert bug["reason"] in row.inner_text()
        assert row.locator("a").get_attribute("href") == bug["ref"]


def test_the_level_is_shown_and_what_leads_nowhere_is_not(reader, built):
    for name in list(built.table)[:3]:
        facts = reader.open("#" + name).page.inner_text("#drawer .facts")
        assert built.table[name]["level"] + ": " in facts
        assert "Covers" not in facts
    wrong = next(name for name, clause in built.table.items() if clause["readings"][-1]["name"] == "first of all")
    says = built.table[wrong]["readings"][-1]["says"]
    assert says in reader.open("#" + wrong).page.inner_text("#drawer .facts dt:has-text('Refuted') + dd")


def test_rely_opens_on_the_newest_major_version_with_an_answer_in_sight(reader):
    page = reader.open("#rely").page
    assert (page.input_value("#rely-from"), page.input_value("#rely-to")) == ("2.0", "2.15")
    first = page.locator("#view-rely .group").first
    assert first.get_attribute("open") is not None
    assert first.locator("h3").inner_text() == "Changes (1)"
    box = first.locator(".spans").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900
    assert page.locator("#view-rely .found code:text-matches('^tutorial')").count() == 0
    assert "12 claims of tutorials are left out" in page.inner_text("#view-rely .left-out")
    page.check("#rely-tutorial")
    assert page.locator("#view-rely .left-out").count() == 0
    page.fill("#rely-q", "shared module")
    shown = page.locator("#view-rely .found > li > a").all_inner_texts()
    assert 0 < len(shown) <= 10


def test_rely_shows_the_worst_change_first_and_what_is_only_absent_last(reader):
    items = reader.open("#rely?from=1.4").page.locator("#view-rely .group").first.locator(".found > li")
    bad = ".tag.silent, .tag.error, .chip.deviates, .chip.crashed"
    harmful = items.evaluate_all("(all, bad) => all.map((one) => Boolean(one.querySelector(bad)))", bad)
    assert set(harmful) == {True, False}
    assert harmful == sorted(harmful, reverse=True)


def test_a_search_for_what_is_not_covered_says_why_above_the_nearest_clauses(reader):
    page = reader.page
    page.click("text=What is not covered yet, and why")
    assert "several processes" in page.inner_text("#uncovered")
    for asked in ("onnx and a tensor hook", "hook under tensor parallel", "CUDA"):
        page.fill("#q", asked)
        assert page.inner_text("#notes").startswith("Not covered: "), asked
    page.fill("#q", "tensor hook")
    assert page.locator("#notes").is_hidden()
    assert len(reader.rows()) == 20
    page.fill("#q", "")
    assert page.locator("#notes").is_hidden()


def test_how_to_measure_is_said_where_no_run_is(reader):
    answer = reader.open("#build").page.inner_text("#view-build")
    for wanted in (
        'pip install "torch-hook-conformance[suite]"',
        "hook-conformance run",
        "python -m pytest --run-file=hook-conformance/run.jsonl",
        "python -m reports page hook-conformance/run.jsonl",
    ):
        assert wanted in answer


def test_upgrade_says_what_comes_and_goes(browser, tmp_path):
    table = synthetic.clauses(3)
    first = next(iter(table))
    good = {name: ("conforms", clause["readings"][0]["name"]) for name, clause in table.items()}
    cells = {name: [good[name], *[("hung", None) if name == first else good[name]] * 2, good[name]] for name in table}
    synthetic_cells.write(tmp_path / "verdicts", table, cells, ("2.0.0", "2.1.0", "2.2.0", "2.3.0"))
    made = build(tmp_path, table)
    with watched(browser) as page:
        Reader(page, made.url).open("#upgrade?from=2.0&to=2.3")
        assert page.inner_text("#view-upgrade .group h3") == "Come and go between the two (1)"
        assert page.inner_text("#view-upgrade .found code") == first
        assert page.locator("#view-upgrade .when").all_inner_texts() == ["on both", "torch 2.1 to 2.2"]
        assert page.locator("#view-upgrade .found .tag").first.inner_text() == "error"
