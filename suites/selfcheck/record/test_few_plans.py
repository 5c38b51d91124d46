"""A run that plays a few plans in other modes: no measurement of these modes, but what fails there is told."""

from __future__ import annotations

import pytest

from fixtures.judge.triage import summary, triage, words
from reports.data.atlas import build
from reports.data.names import mode_named
from reports.data.runfile import read_run
from reports.data.verdicts import read_recorded, read_table
from suites.selfcheck import synthetic
from suites.selfcheck.recorded_room import NEW, recorded_room


@pytest.fixture
def room(tmp_path):
    """The first clauses are recorded in the mode copy, too: the third one deviates there by a rule."""
    made = recorded_room(tmp_path)
    chosen = [name for name, one in made.table.items() if len(one["readings"]) == 1][:4]
    cells = [copied(made, name, "deviates" if name == chosen[2] else "conforms") for name in chosen]
    assert made.call("record", made.write("whole.jsonl", lines_of(made, cells))) == 0
    made.chosen = chosen
    return made


def copied(room, name, verdict, **changes):
    found = {**synthetic.cell(name, room.table[name], NEW, "copy"), "verdict": verdict, "refuted": [], "holds": []}
    reading, by = room.table[name]["readings"][0]["name"], verdict == "deviates"
    found.update(reading=reading, declared=by, deviation="rule parameters" if by else None, evidence=None, note="")
    return {**found, **changes}


def lines_of(room, cells, eager=(), **changes):
    nodes = {f"{one['clause']}-{one['mode']}": [one["clause"], one["mode"]] for one in (*eager, *cells)}
    table = {one["clause"]: room.table[one["clause"]] for one in cells}
    modes = ["eager", "copy"] if eager else ["copy"]
    return [
        synthetic.header(table, NEW, modes=modes, nodes=nodes, **changes),
        *eager,
        *cells,
        synthetic.footer([*eager, *cells]),
    ]


def a_few(room, **failing):
    """The lines of a run in eager with two plans in the mode copy: the rule was not met, and one clause has no plan."""
    eager = [synthetic.cell(name, room.table[name], NEW) for name in room.chosen]
    cells = [copied(room, name, "conforms", few=2) for name in room.chosen]
    cells[3] = copied(room, room.chosen[3], "refused", few=0, note="this mode plays no plan of the clause")
    if failing:
        cells[0].update(verdict="deviates", evidence=synthetic.evidence(7), **failing)
    return lines_of(room, cells, eager, few=2)


def test_what_a_few_plans_do_not_find_is_not_said_and_not_recorded(room, capsys):
    run = room.write("few.jsonl", a_few(room))
    assert room.call("check", run) == 0
    said = capsys.readouterr().out
    assert said.endswith("4 of 4 clauses (4 of 30 were run); a few plans were played in copy, without a failure\n")
    before = {path.name: path.read_bytes() for path in room.verdicts.iterdir()}
    assert room.call("record", run) == 0
    assert {path.name: path.read_bytes() for path in room.verdicts.iterdir()} == before


def test_what_fails_in_a_few_plans_is_not_as_recorded(room, capsys):
    run = room.write("few.jsonl", a_few(room, declared=False))
    assert room.call("check", run) == 1
    out = capsys.readouterr().out
    assert f"{room.chosen[0]} [copy]: recorded: conforms; now: deviates" in out
    assert "differs from what is recorded of 2.15 in 0 of 4 clauses, 1 of 4 in copy, by a few plans" in out


def test_readers_hold_a_few_plans_for_no_measurement(room):
    run = read_run(room.write("few.jsonl", a_few(room, declared=False)))
    atlas = build(read_table(room.verdicts), read_recorded(room.verdicts), [run])
    mine, copy = atlas.focus, mode_named(atlas, "copy")
    first, second, third, _ = (atlas.cell(name, mine, copy) for name in room.chosen)
    assert (first.verdict, first.new) == ("deviates", True)
    assert {(one.verdict, one.note) for one in (second, third)} == {
        ("unseen", "2 plans played here, without a failure")
    }
    assert atlas.cell(room.chosen[0], mine, "eager").verdict != "unseen"


def test_cells_of_all_plans_come_before_those_of_a_few(room, capsys):
    few, whole = room.write("few.jsonl", a_few(room)), room.path / "whole.jsonl"
    runs = [read_run(path) for path in (whole, few)]
    for given in (runs, runs[::-1]):
        atlas = build(read_table(room.verdicts), read_recorded(room.verdicts), given)
        assert atlas.cell(room.chosen[0], atlas.focus, "copy").verdict == "conforms"
    capsys.readouterr()
    assert room.call("check", whole, few) == 0
    assert "4 of 4 clauses, 4 of 4 in copy" in capsys.readouterr().out


def failing(clause, mode, *signs, verdict="deviates"):
    return {"clause": clause, "mode": mode, "verdict": verdict, "declared": False, "signs": list(signs), "few": None}


def test_triage_groups_by_mode_first_where_eager_is_right():
    right = [failing(name, "eager", verdict="conforms") for name in ("a.b.c", "a.b.d", "a.b.e")]
    cells = [
        failing("a.b.c", "copy", "forward hook"),
        failing("a.b.d", "contexts", "forward hook"),
        failing("a.b.e", "contexts", "tensor hook"),
    ]
    assert [words(one) for one in triage(right + cells)] == [
        "only in contexts; forward hook (1); tensor hook (1)",
        "only in copy; forward hook",
    ]
    wrong = [failing(one["clause"], "eager", "forward hook") for one in right]
    (all_,) = triage([*wrong, *cells[:2]])
    assert all_.start["mode"] == "eager"


def test_the_summary_of_a_run_counts_a_few_plans_apart():
    cells = [failing("a.b.c", "eager", verdict="conforms"), {**failing("a.b.c", "copy", verdict="conforms"), "few": 2}]
    assert summary(cells) == "1 conforms; 2 plans in copy: none fails"
    cells[1]["verdict"] = "deviates"
    assert summary(cells) == "1 conforms; 2 plans in copy: 1 cell fails"
