"""record and check: what a run would change, what is kept, and what is believed only when it is accepted."""

from __future__ import annotations

import copy
import json

import pytest

from reports.data.verdicts import read_recorded, read_table
from suites.selfcheck import synthetic
from suites.selfcheck.recorded_room import NEW, recorded_room, refused


@pytest.fixture
def room(tmp_path):
    return recorded_room(tmp_path)


def test_recording_what_is_recorded_changes_no_byte(room, capsys):
    before = {path.name: path.read_bytes() for path in room.verdicts.iterdir()}
    assert room.call("record", room.run) == 0
    assert {path.name: path.read_bytes() for path in room.verdicts.iterdir()} == before
    assert capsys.readouterr().out.endswith("no cell changed\n")


def test_check_is_silent_until_a_verdict_changes(room, capsys):
    assert room.call("check", room.run) == 0
    assert capsys.readouterr().out == "your torch 2.15.0 does what is recorded of 2.15: 30 of 30 clauses\n"
    run, clause = room.changed()
    assert room.call("check", run) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == f"2.15 {clause} [eager]: recorded: conforms; now: hung (torch documents it)"
    match = "your torch 2.15.0 differs from what is recorded of 2.15 in 1 of 30 clauses; "
    assert out[1:] == [match + "1 of them breaks what torch documents or tests"]
    assert room.call("record", run, "--accept", "undeclared") == 0
    assert room.call("check", run) == 0


def test_check_says_last_that_another_hypothesis_drew_the_plans(room, capsys):
    runs = [
        synthetic.write_run(room.path / f"{v}.jsonl", room.table, NEW, hypothesis=v) for v in ("6.113.0", "6.170.17")
    ]
    assert room.call("record", runs[0]) == 0
    capsys.readouterr()
    for run in (room.run, runs[0]):  # a run of before the version was written says nothing
        assert room.call("check", run) == 0
        assert capsys.readouterr().out.splitlines()[-1].endswith("30 of 30 clauses")
    assert room.call("check", runs[1]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.endswith(
        "; drawn with Hypothesis 6.170.17, recorded with 6.113.0: where torch deviates, plans may differ"
    )
    assert room.call("page", runs[1], "--out", room.path / "page.html") == 0
    assert "<td>6.170.17</td>" in (room.path / "page.html").read_text("utf-8")


def test_the_reason_of_a_deviation_is_recorded_and_shown(room):
    run, clause = room.changed()
    lines = [json.loads(line) for line in run.read_text("utf-8").splitlines()]
    cell = next(line for line in lines if line.get("verdict") == "hung")
    cell.update(verdict="deviates", declared=True, note="It copies <None>.", evidence=synthetic.evidence())
    lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
    assert room.call("record", room.write("why.jsonl", lines)) == 0
    recorded = room.recorded()
    assert recorded["2.15"][clause]["eager"]["note"] == "It copies <None>."
    assert room.call("page", "--recorded", "--out", room.path / "page.html") == 0
    assert "It copies \\u003cNone\\u003e." in (room.path / "page.html").read_text("utf-8")


def part_of(room, name="part.jsonl", **header):
    """Write a run of ten clauses."""
    return synthetic.write_run(room.path / name, dict(list(room.table.items())[:10]), NEW, **header)


def test_a_run_of_some_clauses_is_compared_for_what_it_ran(room, capsys):
    assert room.call("check", part_of(room)) == 0
    match = "your torch 2.15.0 does what is recorded of 2.15: 10 of 10 clauses (10 of 30 were run)\n"
    assert capsys.readouterr() == (match, "")
    assert room.call("check", part_of(room, whole=True)) == 1
    out = capsys.readouterr().out
    assert out.count("; now: nothing\n") == 20
    assert " in 20 of 30 clauses" in out


def test_recording_a_part_keeps_the_other_cells_unless_they_are_to_go(room, capsys):
    before = room.recorded()
    assert room.call("record", part_of(room)) == 0
    assert room.recorded() == before
    assert "no cell changed" in capsys.readouterr().out
    assert room.call("record", part_of(room), "--replace") == 0
    assert "20 cells changed" in capsys.readouterr().out
    assert {torch: len(cells) for torch, cells in room.recorded().items()} == {"1.4": 30, "1.13": 30, "2.15": 10}


def test_a_new_release_is_not_recorded_in_part_unless_that_is_wanted(room, capsys):
    part = synthetic.write_run(room.path / "new.jsonl", dict(list(room.table.items())[:10]), "2.16.0")
    said = refused(capsys, room.call("record", part))
    assert said.startswith(
        "record: torch 2.16 is not recorded yet, and 20 of its clauses were not run; run them all, or"
    )
    assert room.call("record", part, "--accept", "part") == 0
    assert len(room.recorded()["2.16"]) == 10


def went_beyond(room, torch, words, name="beyond.jsonl"):
    """Write a run of ten clauses in which the first was tested beyond these words, and return its name."""
    clause, *_ = room.table
    lines = synthetic.run_lines(dict(list(room.table.items())[:10]), torch)
    for line in lines:
        if line["type"] == "cell" and line["clause"] == clause:
            line["beyond"] = words
    return clause, synthetic.write_lines(room.path / name, lines)


def test_the_newest_release_says_beyond_which_words_a_clause_was_tested(room):
    clause, run = went_beyond(room, NEW, ["keyword inputs", "eval()"])
    assert room.call("record", run) == 0
    _, older = went_beyond(room, "1.13.1", ["copies"])
    assert room.call("record", older) == 0
    # a run that says nothing of it, such as one of another mode, leaves it
    assert room.call("record", room.run) == 0
    assert read_table(room.verdicts).clauses[clause].beyond == ("keyword inputs", "eval()")


def test_clauses_that_the_suites_do_not_have_are_dropped_everywhere_when_that_is_asked(room, capsys):
    left, every = list(room.table)[:10], set(room.table)
    run = part_of(room)
    room.write_table({name: room.table[name] for name in left})
    assert room.call("record", run) == 0
    assert [set(old.cells) for old in read_recorded(room.verdicts)] == [every] * 3
    capsys.readouterr()
    assert room.call("record", run, "--gone") == 0
    out = capsys.readouterr().out
    assert set(out.split("gone: ")[1].splitlines()[0].split(", ")) == every - set(left)
    assert "no cell changed" in out
    assert [set(cells) for cells in room.recorded().values()] == [set(left)] * 3


def test_the_cells_of_another_mode_stay_unless_their_clause_is_gone(room, capsys):
    name, *others = list(room.table)[:10]
    with synthetic.changing(room.verdicts, "2.15") as cells:
        for clause in room.table:
            cells[clause]["copy"] = dict(cells[clause]["eager"])
    before = room.recorded()["2.15"]
    assert room.call("record", part_of(room)) == 0
    assert room.recorded()["2.15"] == before
    assert room.call("record", part_of(room), "--replace") == 0
    assert room.recorded()["2.15"] == {clause: before[clause] for clause in (name, *others)}
    copied = [synthetic.cell(name, room.table[name], NEW, "copy")]
    header = synthetic.header({name: room.table[name]}, NEW, modes=["copy"], nodes={"a": [name, "copy"]})
    run = room.write("copy.jsonl", [header, *copied, synthetic.footer(copied)])
    assert room.call("record", run, "--replace") == 0
    eager = {clause: {"eager": before[clause]["eager"]} for clause in others}
    assert room.recorded()["2.15"] == {name: before[name], **eager}


@pytest.mark.parametrize("declared", [True, False])
def test_of_a_mode_that_deviates_as_declared_the_evidence_stays_in_the_run_file(room, capsys, declared):
    name = next(iter(room.table))
    shown = synthetic.evidence(77)
    cell = {**synthetic.cell(name, room.table[name], NEW, "copy"), "verdict": "deviates", "refuted": [], "holds": []}
    cell.update(declared=declared, deviation="rule parameters" if declared else None, note="By rule.", evidence=shown)
    header = synthetic.header({name: room.table[name]}, NEW, modes=["copy"], nodes={"a": [name, "copy"]})
    run = room.write("copy.jsonl", [header, cell, synthetic.footer([cell])])
    assert room.call("record", run, *([] if declared else ["--accept", "undeclared"])) == 0
    recorded = room.recorded()["2.15"][name]["copy"]
    assert (recorded["note"], "evidence" in recorded) == ("By rule.", not declared)
    assert room.call("check", run) == 0
    capsys.readouterr()
    assert room.call("diff", "1.4", run, "--mode", "eager", "--to-mode", "copy") == 1
    assert "02 forward a (117,)" in capsys.readouterr().out, "the answer about the run file shows it"


def test_undeclared_deviations_are_recorded_only_when_they_are_accepted(room, capsys):
    before = room.recorded()
    run, clause = room.changed()
    said = refused(capsys, room.call("record", run))
    assert f"record: not declared: 2.15 {clause} [eager]" in said
    assert "--accept undeclared" in said
    assert room.recorded() == before
    assert room.call("record", run, "--accept", "undeclared") == 0


def test_another_build_is_recorded_only_when_it_is_accepted(room, capsys):
    assert room.call("record", room.write("one.jsonl", room.lines(build="a" * 40))) == 0
    capsys.readouterr()
    other = room.write("two.jsonl", room.lines(build="b" * 40))
    assert f"is of the build {'b' * 40}, and {'a' * 40} is recorded" in refused(capsys, room.call("record", other))
    assert room.call("check", other) == 0
    assert room.call("record", other, "--accept", "build") == 0


@pytest.mark.parametrize("profile", ["search", "quick"])
def test_check_takes_runs_of_any_profile_and_compares_their_verdicts(room, capsys, profile):
    lines = room.lines(profile=profile)
    for cell in lines:
        if cell.get("verdict") == "deviates":
            cell.update(declared=True)
            cell["evidence"]["observed"].append("another plan, another trace")
    old = room.lines()
    for cell in old:
        if cell.get("verdict") == "deviates":
            cell.update(declared=True)
    assert any(cell.get("declared") for cell in old), "no deviation among the cells"
    assert room.call("record", room.write("old.jsonl", old), "--accept", "undeclared") == 0
    capsys.readouterr()
    assert room.call("check", room.write("run.jsonl", lines)) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 2
    assert said[1].startswith(f"searched with other plans than the recorded ones (profile {profile}): where torch ")
    plain = next(cell["clause"] for cell in lines if cell.get("verdict") == "conforms")
    one = synthetic.write_run(room.path / "one.jsonl", {plain: room.table[plain]}, NEW, profile=profile)
    assert room.call("check", one) == 0
    assert "searched with" not in capsys.readouterr().out, "there is none that deviates"
    assert room.call("check", room.changed(profile=profile)[0]) == 1


def test_what_a_torch_does_otherwise_than_it_documents_is_wrong_and_else_different(room, capsys):
    run, clause = room.changed()
    for level, reported in (("documented", "(torch documents it)"), ("observed", "(nobody promises it)")):
        room.table[clause]["level"] = level
        room.write_table(room.table)
        run = room.changed()[0]
        assert room.call("check", run) == 1
        assert f"; now: hung {reported}\n" in capsys.readouterr().out
        assert room.call("check", run, "--format", "json") == 1
        (change,) = json.loads(capsys.readouterr().out)["changes"]
        assert (change["kind"], change["level"]) == ("verdict", level)
        assert (change["before"]["verdict"], change["after"]["verdict"]) == ("conforms", "hung")


def test_a_release_that_is_not_recorded_has_nothing_to_be_compared_with(room, capsys):
    run = room.write("new.jsonl", room.lines(torch="2.16.0"))
    assert "torch 2.16 is not recorded; compare it with the nearest release" in refused(capsys, room.call("check", run))


def test_the_page_refuses_what_merge_refuses(room, capsys):
    one, two = part_of(room), room.path / "two.jsonl"
    table = dict(list(room.table.items())[10:20])
    for changes in ({"profile": "quick"}, {"build": "b" * 40}, {"python": "3.12.0"}, {"suite": "0.2.0"}):
        synthetic.write_run(two, table, NEW, **changes)
        out = room.path / "page.html"
        reported = {refused(capsys, room.call(verb, one, two, "--out", out)) for verb in ("page", "merge")}
        assert len(reported) == 1
        assert not out.exists()


def test_check_tells_of_a_changed_text_and_the_page_shows_such_cells_as_unseen(room, capsys):
    name = next(name for name, clause in room.table.items() if len(clause["readings"]) == 1)
    table = copy.deepcopy(room.table)
    table[name]["digest"] = "0" * 12
    run = synthetic.write_run(room.path / "text.jsonl", table, NEW)
    assert room.call("check", run) == 1
    assert "the text of the clause has changed" in capsys.readouterr().out
    assert room.call("page", run, "--out", room.path / "page.html") == 0
    assert "recorded with an older text of the clause" in (room.path / "page.html").read_text("utf-8")
    assert room.call("record", run) == 0
    assert "shown as unseen: 1 on 2.15; measure them again" in capsys.readouterr().err, "the suites say otherwise"
    room.write_table(table)
    assert room.call("record", run) == 0
    assert "1 on 1.4, 1 on 1.13; measure them again: python -m reports sweep 1.4 1.13" in capsys.readouterr().err


def with_new_text(room, torch, name):
    """A run in which a clause has another text, and is judged as before."""
    lines = room.lines(torch=torch)
    lines[0]["clauses"][name]["digest"] = "f" * 12
    return room.write(f"{torch}.jsonl", lines)


def test_a_new_text_that_gives_the_same_keeps_what_was_measured(room, capsys):
    """It must be run on a release of each result; the record says on which it was run, and keeps its rows."""
    name = next(name for name, clause in room.table.items() if len(clause["readings"]) > 1)
    newest, rows = with_new_text(room, NEW, name), room.clause(name)["modes"]
    before = {old.minor: old.cells[name]["eager"] for old in read_recorded(room.verdicts)}
    assert before["1.4"].state != before["2.15"].state
    assert room.call("record", "--restamp", newest) == 0
    assert f"{name} [eager] was run on no release that is recorded as torch 1.4 is" in capsys.readouterr().err
    assert {old.cells[name]["eager"].digest for old in read_recorded(room.verdicts)} > {"f" * 12}
    runs = [newest, with_new_text(room, "1.4.0", name)]
    assert room.call("record", "--restamp", *runs) == 0
    assert f"the same where they were: {name}" in capsys.readouterr().out
    after = {new.minor: new.cells[name]["eager"] for new in read_recorded(room.verdicts)}
    assert {cell.digest for cell in after.values()} == {"f" * 12}
    assert {minor: cell.state for minor, cell in after.items()} == {minor: cell.state for minor, cell in before.items()}
    assert {minor: cell.restamped for minor, cell in after.items()} == {"1.4": False, "1.13": True, "2.15": False}
    assert (room.clause(name)["run"], room.clause(name)["modes"]) == ({"1.4, 2.15 to newest": ["eager"]}, rows)
    assert room.call("record", with_new_text(room, "1.13.1", name)) == 0
    assert "run" not in room.clause(name), "it is run everywhere"


def test_a_release_of_which_only_others_are_measured_anew_keeps_it_too(room):
    name = next(name for name, clause in room.table.items() if len(clause["readings"]) > 1)
    lines = [line for line in room.lines(torch="1.13.1") if line.get("clause") != name]
    lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
    del lines[0]["clauses"][name]
    lines[0]["nodes"] = {node: known for node, known in lines[0]["nodes"].items() if known[0] != name}
    runs = [with_new_text(room, torch, name) for torch in ("1.4.0", NEW)]
    assert room.call("record", "--restamp", *runs, room.write("others.jsonl", lines)) == 0
    after = {new.minor: new.cells[name]["eager"] for new in read_recorded(room.verdicts)}
    assert (after["1.13"].digest, after["1.13"].restamped) == ("f" * 12, True)


def test_a_new_text_that_gives_another_result_must_be_measured(room, capsys):
    name = next(name for name, clause in room.table.items() if len(clause["readings"]) == 1)
    lines = room.lines()
    lines[0]["clauses"][name]["digest"] = "f" * 12
    cell = next(line for line in lines if line.get("clause") == name and line["type"] == "cell")
    cell.update(verdict="hung", reading=None, refuted=[])
    lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
    run = room.write("other.jsonl", lines)
    assert room.call("record", "--restamp", "--accept", "undeclared", run) == 0
    assert "not restamped" in (err := capsys.readouterr().err)
    assert "is not on torch 2.15 what is recorded there" in err


def test_a_new_reading_before_the_others_keeps_what_was_measured_of_them(room, capsys):
    """Their places are others in the new text: where it was run it shows which, and it states them for all releases."""
    name = next(name for name, clause in room.table.items() if clause["readings"][0]["torch"] == "<2.0")
    before = {minor: cells[name]["eager"] for minor, cells in room.recorded().items()}
    readings = [{"name": "soon", "torch": ">=2.16", "says": "It is otherwise."}, *room.table[name]["readings"]]
    runs = []
    for torch in ("1.4.0", NEW):
        lines = room.lines(torch=torch)
        lines[0]["clauses"][name].update(digest="f" * 12, readings=readings)
        runs.append(room.write(f"{torch}.jsonl", lines))
    assert room.call("record", "--restamp", *runs) == 0
    assert f"the same where they were: {name}" in capsys.readouterr().out
    room.write_table({**room.table, name: {**room.table[name], "digest": "f" * 12, "readings": readings}})
    after = {minor: cells[name]["eager"] for minor, cells in room.recorded().items()}
    assert {minor: cell["reading"] for minor, cell in after.items()} == {
        minor: cell["reading"] for minor, cell in before.items()
    }
    assert [minor for minor, cell in after.items() if cell.get("restamped")] == ["1.13"]


def test_a_measurement_is_not_kept_under_a_reading_that_the_new_text_does_not_state_there(room, capsys):
    name = next(name for name, clause in room.table.items() if clause["readings"][0]["torch"] == "<2.0")
    runs = []
    for torch in ("1.4.0", NEW):
        lines = room.lines(torch=torch)
        first, second, *more = lines[0]["clauses"][name]["readings"]
        readings = [{**first, "torch": "<1.13"}, {**second, "torch": ">=1.13"}, *more]
        lines[0]["clauses"][name].update(digest="f" * 12, readings=readings)
        runs.append(room.write(f"{torch}.jsonl", lines))
    assert room.call("record", "--restamp", *runs) == 0
    assert f"{name} [eager] states another reading for torch 1.13 than was recorded there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"profile": "quick"},
            "was run with the profile quick, whose plans are others each time; run the suite with --profile",
        ),
        ({"device": "cuda"}, "was run on the device cuda"),
    ],
)
def test_only_full_runs_on_the_cpu_are_recorded(room, capsys, changes, said):
    run = room.write("run.jsonl", room.lines(**changes))
    assert said in refused(capsys, room.call("record", run))
