"""The page at its largest: 100 versions, 2,000 clauses and 3 modes are built, opened and filtered with little work."""

from __future__ import annotations

import random
import re
import shutil

import pytest

from reports.__main__ import main
from suites.selfcheck import synthetic
from suites.selfcheck.page.pages import FRAME, Built, Effort, Reader, build, watched

TORCHES = (*(f"1.{minor}.0" for minor in range(4, 14)), *(f"2.{minor}.0" for minor in range(90)))
#: In pieces of work of the page's own; some 9 and, for the least of two, below 2 when this was written.
OPENING, FILTERING = 25, 5
MODES = ("eager", "compiled", "scripted")
CHOICES = (
    ("q", "", "forward"),
    ("chapter", "", "ordering"),
    ("verdict", "", "deviates"),
    ("mode", "eager", "scripted"),
)
BARS = "ROWS.map(({ row }) => [...row.cells].slice(1).map((cell) => cell.outerHTML).join())"


def entry(name, clause, torch, mode):
    """Return a recorded cell: in further modes a tenth is refused, and some deviate from some version on."""
    made = synthetic.cell(name, clause, torch)
    luck = random.Random(name + mode).random()
    if mode != MODES[0] and made["verdict"] == "conforms":
        if luck < 0.1:
            made.update(verdict="refused", reading=None)
        elif luck > 0.97 and synthetic.minor_of(torch) >= (2, int(luck * 10_000) % 60):
            made.update(verdict="deviates", declared=True, evidence=synthetic.evidence(int(luck * 1000)))
    return synthetic.recorded_entry(made, clause)


def write_verdicts(folder, table, torches):
    cells = {
        torch: {name: {mode: entry(name, table[name], torch, mode) for mode in MODES} for name in table}
        for torch in torches
    }
    return synthetic.write_cells(folder, table, cells)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Give the largest page."""
    folder = tmp_path_factory.mktemp("large")
    table = synthetic.clauses(2_000, claims=100)
    verdicts = write_verdicts(folder / "verdicts", table, TORCHES)
    out = folder / "index.html"
    assert main(["page", "--recorded", "--verdicts", str(verdicts), "--out", str(out)]) == 0
    shutil.rmtree(verdicts)  # 150 MB
    return Built(out, table)


def test_it_is_small(large):
    assert large.path.stat().st_size < 6_000_000


def test_it_opens_and_filters_with_little_work(browser, large):
    with watched(browser) as page:
        effort = Effort(page)
        reader = Reader(page, large.url).open()
        assert effort.since() < OPENING
        assert len(reader.rows()) == 2_000
        for field, usual, other in CHOICES:
            took = {usual: [], other: []}
            for chosen in (other, usual) * 2:
                took[chosen].append(filtered(page, field, chosen))
            assert all(min(efforts) < FILTERING for efforts in took.values()), (field, took)  # a disturbance only adds


def filtered(page, field, value):
    """Return the work from a choice to its first picture, in pieces of the page's own."""
    effort = Effort(page)
    put(page, field, value)
    pieces = effort.since()
    page.wait_for_function("() => toShow.length === 0")
    page.evaluate(FRAME)
    return pieces


def put(page, field, value):
    page.evaluate(
        "([field, value]) => { byId(field).value = value;"
        " byId(field).dispatchEvent(new Event('input', { bubbles: true })); }",
        [field, value],
    )


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """Give a page of several modes with a run of one's own, longer than what is shown at once."""
    folder = tmp_path_factory.mktemp("several")
    table = synthetic.clauses(450, seed=3, claims=20)
    write_verdicts(folder / "verdicts", table, synthetic.TORCHES[::3])
    lines = synthetic.run_lines(table, "2.15.0")
    lines[0]["torch"] = "2.16.0a0+git1a2b3c4"
    return build(folder, table, synthetic.write_lines(folder / "run.jsonl", lines))


def test_another_mode_shows_its_own_bars_for_all_clauses(browser, several):
    with watched(browser) as page:
        reader = Reader(page, several.url).open()
        usual = page.evaluate(BARS)
        reader.open("#?mode=scripted")
        assert len(reader.rows()) == 450
        for name in (reader.rows()[0], reader.rows()[-1]):
            spoken = page.eval_on_selector_all(f'[id="{name}"] td', "all => all.map(td => td.textContent.trim())")
            verdicts = [
                entry(name, several.table[name], torch, "scripted")["verdict"] for torch in synthetic.TORCHES[::3]
            ]
            words = [re.sub("^conforms$", "holds|otherwise|the claim is", verdict) for verdict in verdicts]
            assert all(any(re.search(each, text) for text in spoken) for each in words)
            assert "unseen" in spoken[-1]  # the run of one's own was eager only
        reader.choose(mode="eager")
        page.wait_for_function("() => toShow.length === 0")
        assert page.evaluate(BARS) == usual


def test_what_is_shown_a_moment_later_is_there_for_a_link_and_on_paper(browser, several):
    with watched(browser) as page:
        reader = Reader(page, several.url).open("#?mode=scripted")
        waiting = page.evaluate(
            "() => { setFilters({ q: 'no such words' }); setFilters({ q: '' }); const count = toShow.length;"
            " dispatchEvent(new Event('beforeprint')); return [count, toShow.length]; }"
        )
        assert waiting == [350, 0]
        name = reader.rows()[-1]
        reader.open(f"#{name}?mode=scripted")
        assert reader.opened() == name
        page.keyboard.press("Escape")
        page.wait_for_function("name => document.activeElement.closest('.row')?.id === name", arg=name)
        place = page.locator(f'[id="{name}"]').bounding_box()
        assert place is not None
        assert 0 <= place["y"] <= 900
