"""The words of clauses and rules are those of the suites, whatever was recorded: an edit there needs no recording."""

from __future__ import annotations

import pytest

from fixtures.judge.unplayed import NO_PLAN, unplayed
from suites.selfcheck import synthetic
from suites.selfcheck.recorded_room import NEW, OLD, recorded_room


@pytest.fixture
def room(tmp_path):
    return recorded_room(tmp_path)


def ruled(room, name, torch, note, rule="rule parameters"):
    """Write a run of one clause, which a rule of the mode copy explains."""
    cell = {**synthetic.cell(name, room.table[name], torch, "copy"), "verdict": "deviates", "refuted": [], "holds": []}
    cell.update(declared=True, deviation=rule, note=note)
    header = synthetic.header({name: room.table[name]}, torch, modes=["copy"], nodes={"a": [name, "copy"]})
    return room.write("ruled.jsonl", [header, cell, synthetic.footer([cell])])


def test_a_rule_has_the_sentence_that_the_suites_have(room):
    name, other, *_ = room.table
    rule = {"name": "parameters", "says": "Old words.", "torch": "", "ref": "measured"}
    room.write_table(room.table, {"copy": {"rules": [rule], "exclusions": []}})
    assert room.call("record", ruled(room, name, OLD, "Old words.")) == 0
    assert room.call("record", ruled(room, other, OLD, "Of no suite here.", rule="rule other")) == 0
    assert room.recorded()["1.13"][name]["copy"]["note"] == "Old words."
    room.write_table(room.table, {"copy": {"rules": [{**rule, "says": "New words."}], "exclusions": []}})
    assert room.recorded()["1.13"][name]["copy"]["note"] == "New words."
    assert room.recorded()["1.13"][other]["copy"]["note"] == "Of no suite here."
    texts = "".join(path.read_text("utf-8") for path in room.verdicts.iterdir())
    assert ("words" in texts, "Of no suite here" in texts) == (False, True)


def test_what_a_mode_lacks_is_in_the_words_that_the_suites_have(room):
    name = next(iter(room.table))
    exclusion = {"name": "saved", "needs": "old needs", "why": "", "torch": ""}
    room.write_table(room.table, {"copy": {"rules": [], "exclusions": [exclusion]}})
    cell = {**synthetic.cell(name, room.table[name], NEW, "copy"), "verdict": "refused", "refuted": [], "reading": None}
    cell.update(lacks=["saved", "torch.it"], note=unplayed(["old needs", "torch.it"], {}))
    header = synthetic.header({name: room.table[name]}, NEW, modes=["copy"], nodes={"a": [name, "copy"]})
    assert room.call("record", room.write("lacks.jsonl", [header, cell, synthetic.footer([cell])])) == 0
    assert room.recorded()["2.15"][name]["copy"]["note"] == "its plans need old needs, torch.it"
    room.write_table(room.table, {"copy": {"rules": [], "exclusions": [{**exclusion, "needs": "new needs"}]}})
    assert room.recorded()["2.15"][name]["copy"]["note"] == "its plans need new needs, torch.it"
    cell.update(lacks=[], note=NO_PLAN)
    assert room.call("record", room.write("none.jsonl", [header, cell, synthetic.footer([cell])])) == 0
    assert room.recorded()["2.15"][name]["copy"]["note"] == NO_PLAN
    assert not any(NO_PLAN in path.read_text("utf-8") for path in room.verdicts.iterdir())


def test_the_script_of_a_deviation_begins_with_the_sentence_that_the_suites_have(room):
    lines = room.lines()
    cell = next(line for line in lines if line.get("verdict") == "deviates")
    name, script = cell["clause"], '\n\nAs it was.\n"""\nimport torch\n'
    says = room.table[name]["says"]
    cell["evidence"]["reproducer"] = f'"""{name}: {says}{script}'
    assert room.call("record", room.write("run.jsonl", lines)) == 0
    assert says not in "".join(path.read_text("utf-8") for path in room.verdicts.iterdir())
    for now in (says, "It says something else."):
        room.write_table({**room.table, name: {**room.table[name], "says": now}})
        assert room.recorded()["2.15"][name]["eager"]["evidence"]["reproducer"] == f'"""{name}: {now}{script}'


def test_readings_may_get_other_names(room, capsys):
    """A run under new names says the same; once the suites have them, so has every row, swapped or not."""
    name = next(name for name, clause in room.table.items() if len(clause["readings"]) > 1)
    before = {minor: cells[name]["eager"]["reading"] for minor, cells in room.recorded().items()}
    lines = room.lines()
    readings = lines[0]["clauses"][name]["readings"]
    names = [one["name"] for one in readings]
    now = dict(zip(names, [*names[1:], names[0]], strict=True))
    for one in readings:
        one["name"] = now[one["name"]]
    for line in lines:
        if line["type"] == "cell" and line["clause"] == name:
            line["reading"] = now.get(line["reading"])
            line["refuted"] = [now[one] for one in line["refuted"]]
    run = room.write("renamed.jsonl", lines)
    assert room.call("check", run) == 0, capsys.readouterr().out
    room.write_table({**room.table, name: lines[0]["clauses"][name]})
    after = {minor: cells[name]["eager"]["reading"] for minor, cells in room.recorded().items()}
    assert after == {minor: now.get(reading) for minor, reading in before.items()}
    assert len(set(before.values()) - {None}) > 1, "nothing could be swapped"
    assert room.call("check", room.run) == 0, "a run under the old names says the same too"
