"""The view My build in a real browser: a run file is read there, compared with a release, and trusted in nothing."""

from __future__ import annotations

import copy
import json

import pytest
from packaging.version import InvalidVersion, Version

from reports.__main__ import main
from reports.data.atlas import _nearest
from reports.data.statements import KINDS
from reports.data.verdicts import read_recorded
from reports.page.details import aligned
from suites.selfcheck import synthetic
from suites.selfcheck.pages import CONTRAST, SCREENS, Reader, watched
from suites.selfcheck.test_page_data import EVIL
from suites.selfcheck.test_page_entrances import answered, grouped, in_any_order

OWN = "2.16.0a0+git1a2b3c4"


@pytest.fixture
def lines(built):
    """Give the lines of a run of one's own torch, on which three clauses have become worse."""
    found = copy.deepcopy(synthetic.run_lines(built.table, "2.15.0"))
    found[0]["torch"] = OWN
    cells = [line for line in found if line["type"] == "cell" and line["verdict"] == "conforms"]
    cells[0].update(verdict="deviates", refuted=[], evidence=synthetic.evidence(7))
    cells[1].update(verdict="hung", reading=None, refuted=[])
    cells[2].update(verdict="absent", reading=None, refuted=[])
    found[-1] = synthetic.footer([line for line in found if line["type"] == "cell"])
    return found


def text_of(lines):
    return "".join(json.dumps(line) + "\n" for line in lines)


def choose(page, *texts):
    """Choose files with these contents."""
    contents = [text if isinstance(text, bytes) else text.encode() for text in texts]
    page.set_input_files(
        "#build-file",
        [{"name": f"mine{n}.jsonl", "mimeType": "text/plain", "buffer": each} for n, each in enumerate(contents)],
    )
    page.wait_for_selector("#view-build:not([aria-busy])")


def complaint(page):
    return page.inner_text("#build-wrong")


def test_a_run_is_held_against_the_nearest_release_as_diff_does(reader, built, lines, tmp_path, capsys):
    page = reader.open("#build").page
    choose(page, text_of(lines))
    run = str(synthetic.write_lines(tmp_path / "run.jsonl", lines))
    capsys.readouterr()
    main(["diff", "2.15", run, "--tutorial", "--format", "json", "--verdicts", str(built.path.parent / "verdicts")])
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["changes"]) == 3
    assert in_any_order(answered(page, "build")) == grouped(answer["changes"], "kind", KINDS)
    assert page.inner_text("#build-said") == (
        f"Torch 2.15 → your torch {OWN}: 3 of 80 cells differ: 1 silent, 2 error."
    )
    assert "1 deviation: new on this torch, or never written down" in page.inner_text("#build-found")
    page.select_option("#build-with", "2.0")
    assert page.url.endswith("#build?with=2.0")
    capsys.readouterr()
    main(["diff", "2.0", run, "--tutorial", "--format", "json", "--verdicts", str(built.path.parent / "verdicts")])
    answer = json.loads(capsys.readouterr().out)
    assert in_any_order(answered(page, "build")) == grouped(answer["changes"], "kind", KINDS)


def test_a_new_deviation_shows_the_plan_and_the_traces_of_the_run(reader, lines):
    page = reader.open("#build").page
    choose(page, text_of(lines))
    page.locator("#view-build .found details summary").first.click()
    page.wait_for_selector("#view-build .trace")
    shown = page.inner_text("#view-build .found details >> nth=0")
    assert synthetic.PLAN in shown
    assert "47" in shown
    signs = page.eval_on_selector_all("#view-build .diff .sign", "all => all.map(each => each.innerText[0])")
    assert signs == ["≠", "+"]


TRACES = (
    ([], []),
    (["a"], []),
    ([], ["a", "b"]),
    (["a", "b", "c"], ["a", "x", "c"]),
    (["a", "b", "c"], ["a", "c", "d"]),
    (["h0(1)", "h1(2)", "grads({x0: 2})"], ["h1(1)", "h0(3)", "grads({x0: 3})"]),
    (["h0(1)", "h1(2)", "grads({x0: 2})"], ["h0(1)", "h0(1)", "h1(2)", "grads({x0: 2})"]),
    (["h0(1)", "returns(2)"], ["raises(forward, Boom)"]),
    (["[(1,)]", "x y"], ["[]"]),
    (["a"] * 401, ["a"] * 400 + ["b"]),
    (["a(1)"] * 401, ["b(1)"] * 400 + ["b"]),
)


def test_traces_are_aligned_as_those_of_the_page(reader):
    found = reader.page.evaluate("all => all.map(([one, two]) => aligned(one, two))", TRACES)
    assert [[tuple(line) for line in lines] for lines in found] == [aligned(*both) for both in TRACES]


def test_the_nearest_release_is_the_one_that_the_atlas_knows(reader, built):
    recorded = read_recorded(built.path.parent / "verdicts")
    builds = ("2.16.0a0+git1", "2.15.0a0+git1", "2.15.1a0", "2.15.0+gabc", "2.7.3.dev1", "1.0.0", "3.1", "2.5.0rc1")
    wanted = {torch: _nearest(Version(torch), recorded) for torch in builds}
    wanted |= {"2.15.0+cpu": "2.15", "2.3.1": "2.3", "1.13.1+cu117": "1.13"}  # a release is compared with itself
    assert reader.page.evaluate("all => all.map(torch => nearestTo(torch).key)", [*wanted]) == [*wanted.values()]


VERSIONS = (
    "2", "2.1", "v2.1.0", " 2.1 ", "1!2.0", "2.0.1.2", "2.0a1", "2.0.b", "2.0-rc.1", "2.0preview3", "2.0-1",
    "2.0.post1", "2.0_rev", "2.0r4", "2.0.dev20261120", "2.0rc1.post2.dev3+cu117.x_y", "2.0+", "2.0a1b1",
    "2.0.dev1.dev2", "2.0-1-1", "2.0.post1rc1", "2..0", "a", "", "2.0 1", "2.0+a..b", "2.0--1",
    "2.0" + ".a" * 99 + "!", "2.0" + "-r" * 99,
)  # fmt: skip


def test_a_version_is_one_where_it_is_for_python(reader):
    """Each is answer at once, however long it is."""
    found = reader.page.evaluate("all => all.map(versionOf)", VERSIONS)
    for torch, version in zip(VERSIONS, found, strict=True):
        try:
            wanted = {"numbers": list(Version(torch).release), "early": Version(torch).is_prerelease}
        except InvalidVersion:
            wanted = None
        assert (version and {key: version[key] for key in ("numbers", "early")}) == wanted, torch


def shards_of(lines, count):
    """Return the lines of each shard of a run, dealt out in turn."""
    cells, found = [line for line in lines if line["type"] == "cell"], []
    for shard in range(count):
        part = cells[shard::count]
        nodes = {f"x[{n}]": [cell["clause"], cell["mode"]] for n, cell in enumerate(part)}
        header = {**copy.deepcopy(lines[0]), "shard": [shard + 1, count], "nodes": nodes}
        found.append([header, *part, synthetic.footer(part)])
    return found


def test_shards_are_joined_and_what_is_given_twice_is_refused(reader, lines):
    shards = [text_of(shard) for shard in shards_of(lines, 2)]
    page = reader.open("#build").page
    choose(page, *shards)
    assert "3 of 80 cells differ" in page.inner_text("#build-said")
    assert "not here" not in page.inner_text("#build-found .facts")
    choose(page, shards[0] + shards[1])
    assert "3 of 80 cells differ" in page.inner_text("#build-said")
    choose(page, shards[0], shards[0])
    assert complaint(page).startswith("mine1.jsonl: ")
    assert complaint(page).endswith(" is also in mine0.jsonl; choose each run once.")
    assert page.inner_text("#build-said") == ""


OTHERS = {
    "build": "another commit",
    "torch": "2.14.0", "suite": "0.0.9", "python": "3.12.1", "platform": "Darwin-arm64", "device": "mps",
    "profile": "search", "examples": 1000, "seed": 7,
}  # fmt: skip


def test_shards_that_merge_would_refuse_are_not_joined(reader, lines, tmp_path, capsys):
    page = reader.open("#build").page
    for name, other in OTHERS.items():
        one, two = shards_of(lines, 2)
        two[0][name] = other
        choose(page, text_of(one), text_of(two))
        was, now = (json.dumps(shard[0].get(name)) for shard in (one, two))
        hint = "choose the shards of one run"
        assert complaint(page) == f"mine1.jsonl: {name} is {now}, but {was} in mine0.jsonl; {hint}."
        assert page.inner_text("#build-said") == ""
        if name not in ("torch", "platform", "device"):  # of these merge puts one run after the other
            files = [synthetic.write_lines(tmp_path / f"{n}.jsonl", each) for n, each in enumerate((one, two))]
            assert main(["merge", *map(str, files), "--out", str(tmp_path / "merged.jsonl")]) != 0
            assert str(other) in capsys.readouterr().err


def test_shards_with_two_texts_of_a_clause_are_not_joined(reader, lines):
    one, two = shards_of(lines, 2)
    name = two[1]["clause"]
    two[0]["clauses"][name]["code"] += "\n"
    two[0]["clauses"][name]["digest"] = synthetic.digest(two[0]["clauses"][name])
    page = reader.open("#build").page
    choose(page, text_of(one), text_of(two))
    assert complaint(page) == (
        f"mine1.jsonl: the clause {name} has another text than in mine0.jsonl; choose the shards of one run."
    )


def test_what_was_not_chosen_of_the_shards_is_named(reader, lines):
    page = reader.open("#build").page
    shards = [text_of(shard) for shard in shards_of(lines, 4)]
    choose(page, shards[0], shards[3])
    assert "shards 2 and 3 of 4 are not here" in page.inner_text("#build-found .facts")
    assert "40 are not seen on both" in page.inner_text("#build-said")
    choose(page, shards[0], shards[1], shards[3])
    assert "shard 3 of 4 is not here" in page.inner_text("#build-found .facts")
    choose(page, text_of(shards_of(lines, 40)[4]))
    answer = page.inner_text("#build-found .facts")
    assert "shards 1, 2, 3, 4, 6 and 34 more of 40 are not here" in answer


def test_shards_of_two_modes_are_joined_with_the_cells_of_both(reader, lines):
    cells = [{**line, "mode": "compiled"} for line in lines if line["type"] == "cell"]
    nodes = {f"x[{n}]": [cell["clause"], "compiled"] for n, cell in enumerate(cells)}
    other = [{**lines[0], "modes": ["compiled"], "nodes": nodes}, *cells, synthetic.footer(cells)]
    page = reader.open("#build").page
    choose(page, text_of(lines), text_of(other))
    assert "80 are not seen on both" in page.inner_text("#build-said")


def test_an_unfinished_run_is_shown_with_what_is_missing(reader, lines):
    page = reader.open("#build").page
    text = text_of(lines[:41])
    choose(page, text + '{"type": "cell", "clau')
    assert complaint(page) == ""
    assert "60 cells are missing; resume the run" in page.inner_text("#build-found")
    assert "60 are not seen on both" in page.inner_text("#build-said")


def test_another_text_of_a_clause_and_a_foreign_clause_are_not_compared(reader, built, lines):
    first, second = [line["clause"] for line in lines if line["type"] == "cell"][:2]
    table = copy.deepcopy(built.table)
    table[first].update(says="Something else.", digest="0" * 12)
    table["a.b.c"] = table.pop(second)
    for line in lines:
        if line.get("clause") == second:
            line["clause"] = "a.b.c"
    lines[0].update(clauses=table, nodes={})
    page = reader.open("#build").page
    choose(page, text_of(lines))
    facts = page.inner_text("#build-found .facts")
    assert "1 clause of the run" in facts
    assert "1 clause, not compared" in facts
    assert "2 are not seen on both" in page.inner_text("#build-said")


def damaged(lines, change):
    found = copy.deepcopy(lines)
    change(found)
    return text_of(found)


DAMAGE = {
    "is empty": lambda lines: b"",
    "is no UTF-8 text": lambda lines: b"\xff\xfe\x00",
    "line 1: is not a line of a run file": lambda lines: "torch==2.15\n",
    "line 1: is not a line of a run file;": lambda lines: text_of(lines)[:300],
    "line 1: a cell comes before the header": lambda lines: text_of(lines[2:]),
    "line 1: is of format 2, this page reads format 1": lambda lines: damaged(lines, lambda x: x[0].update(format=2)),
    'line 1: torch "newest" is not a version': lambda lines: damaged(lines, lambda x: x[0].update(torch="newest")),
    "line 1: the header has a list as shard": lambda lines: damaged(lines, lambda x: x[0].update(shard=[1, 10**9])),
    "line 1: the header has no clauses": lambda lines: damaged(lines, lambda x: x[0].pop("clauses")),
    "line 1: the header has an object as clauses": lambda lines: damaged(
        lines, lambda x: x[0].update(clauses={"a": 1})
    ),
    'line 3: the cell has "fine" as verdict': lambda lines: damaged(lines, lambda x: x[2].update(verdict="fine")),
    "line 3: the cell has 1 as declared": lambda lines: damaged(lines, lambda x: x[2].update(declared=1)),
    'line 3: is of the clause "__proto__"': lambda lines: damaged(lines, lambda x: x[2].update(clause="__proto__")),
    'line 3: is of the mode "warp"': lambda lines: damaged(lines, lambda x: x[2].update(mode="warp")),
    'line 3: names the reading "nope"': lambda lines: damaged(lines, lambda x: x[2].update(reading="nope")),
    "line 4: a second cell of": lambda lines: text_of([*lines[:3], *lines[2:]]),
    "line 4: a second header": lambda lines: text_of([*lines[:3], *lines]),
    "the footer speaks of 80 cells": lambda lines: text_of([*lines[:3], *lines[5:]]),
    "the footer speaks of 79 cells": lambda lines: damaged(lines, lambda x: x[-1].update(cells=79)),
    "after the footer": lambda lines: text_of([*lines, lines[-1]]),
    "line 3: is not a line of a run file": lambda lines: text_of(lines[:2]) + "[" * 100_000 + "\n" + text_of(lines[2:]),
    "line 2: the cell has an object as evidence": lambda lines: (
        text_of(lines[:1]) + '{"type":"cell","clause":"","mode":"","verdict":"hung","reading":null,"holds":[],'
        '"declared":false,"note":"","evidence":' + '{"a":' * 9999 + "1" + "}" * 9999 + "}\n"
    ),
}


def test_a_damaged_or_foreign_file_gets_one_clear_line(reader, lines):
    page = reader.open("#build").page
    for fault, damage in DAMAGE.items():
        choose(page, text_of(lines))
        assert complaint(page) == ""
        choose(page, damage(lines))
        line = complaint(page)
        assert fault in line
        assert line.startswith("mine0.jsonl")
        assert len(line) < 250
        assert "\n" not in line
        assert page.inner_text("#build-said") == page.inner_text("#build-found") == ""
        assert page.get_by_role("alert").inner_text() == line
    choose(page, text_of(lines))
    assert complaint(page) == ""


def test_markup_in_any_string_of_a_run_stays_text(reader, lines):
    evidence = {"plan": EVIL, "expected": [EVIL], "observed": [EVIL + "!"], "message": EVIL, "reproducer": EVIL}
    lines[0].update(python=EVIL, platform=EVIL, device=EVIL)
    for line in lines:
        if line["type"] == "cell":
            line.update(verdict="deviates", declared=False, refuted=[], note=EVIL, evidence=evidence)
    lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
    page = reader.open("#build").page
    choose(page, text_of(lines))
    answered(page, "build")
    for summary in page.locator("#view-build .found details > summary").all()[:3]:
        summary.click()
    page.wait_for_selector("#view-build .trace")
    assert page.text_content("#build-found").count(EVIL) > 80
    choose(page, text_of([{**lines[0], "torch": EVIL}]))
    assert "window.hit" in complaint(page)
    assert page.evaluate("window.hit") is None
    assert page.locator("img, b >> text={{7*7}}").count() == 0


def test_a_file_is_dropped_anywhere(reader, lines):
    page = reader.page
    page.evaluate(
        """text => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([text], "dropped.jsonl"));
          for (const name of ["dragover", "drop"]) {
            document.body.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true }));
          }
        }""",
        text_of(lines),
    )
    page.wait_for_selector("#build-said:has-text('3 of 80 cells differ')")
    assert page.url.endswith("#build")
    assert page.locator("body[data-drop]").count() == 0
    page.go_back()
    page.wait_for_function("() => document.body.dataset.view === undefined")
    page.click(".views >> text=My build")
    assert "3 of 80 cells differ" in page.inner_text("#build-said")


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_it_can_be_read_in_both_themes_and_at_any_width(browser, built, lines, scheme, width):
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 844}) as page:
        Reader(page, built.url).open("#build")
        for text in (text_of(lines), "x" * 99, text_of(lines)):
            choose(page, text)
            assert page.evaluate(CONTRAST) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
