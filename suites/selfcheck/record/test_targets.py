"""A target in a run file and among the recorded verdicts: said strictly, recorded from one complete run only."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fixtures.run import recorded
from reports.__main__ import main
from reports.data.runfile import BadInput, read_run, run_key
from reports.data.verdicts import read_recorded
from reports.record.targets import read_targets, target_named
from suites.selfcheck import synthetic
from suites.selfcheck.record import a_target

TABLE = synthetic.clauses(40, seed=3)


@pytest.fixture
def verdicts(tmp_path: Path) -> Path:
    return Path(synthetic.write_verdicts(tmp_path / "verdicts", TABLE))


def test_a_run_is_known_by_the_words_of_its_target(tmp_path: Path) -> None:
    run = read_run(a_target.write(tmp_path / "run.jsonl", TABLE))
    assert (run_key(run), run.measured) == (a_target.WORDS, a_target.WORDS)
    other = read_run(a_target.write(tmp_path / "other.jsonl", TABLE, platform="Darwin-arm64"))
    assert run_key(other) == f"{a_target.WORDS} Darwin-arm64"
    assert read_run(synthetic.write_run(tmp_path / "plain.jsonl", TABLE, "2.14.0")).target is None


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"words": ""}, "words"),
        ({"dtype": "float16"}, "none of float64, float32"),
        ({"lacks": {"sparse": ""}}, "sparse"),
        ({"known": {"a.b.c": 3}}, "is not of type string"),
        ({"imports": "torch_mine"}, "is not of type array"),
    ],
)
def test_a_header_says_its_target_strictly(tmp_path: Path, changes: Any, fault: str) -> None:
    lines = a_target.lines(TABLE)
    lines[0]["target"].update(changes)
    with pytest.raises(BadInput, match=fault):
        read_run(synthetic.write_lines(tmp_path / "run.jsonl", lines))


def test_runs_of_two_files_of_known_differences_are_not_merged(tmp_path: Path, capsys: Any) -> None:
    one = a_target.write(tmp_path / "one.jsonl", TABLE)
    lines = a_target.lines(TABLE)
    lines[0]["target"]["lacks"]["deepcopy"] = "no"
    other = synthetic.write_lines(tmp_path / "other.jsonl", lines)
    assert main(["merge", str(one), str(other), "--out", str(tmp_path / "both.jsonl")]) == 2
    assert "target is {" in capsys.readouterr().err


def test_no_target_is_recorded_as_a_release(tmp_path: Path, verdicts: Path, capsys: Any) -> None:
    run = a_target.write(tmp_path / "run.jsonl", TABLE)
    assert main(["record", str(run), "--verdicts", str(verdicts)]) == 2
    assert capsys.readouterr().err == (
        f"{run}: is of {a_target.WORDS}: only releases are recorded as such; "
        f"record it as a target: python -m reports record --target NAME {run}\n"
    )


def test_what_is_recorded_is_what_the_run_says_and_disturbs_no_release(
    tmp_path: Path, verdicts: Path, capsys: Any
) -> None:
    before = read_recorded(verdicts), recorded.names(str(verdicts))
    run = a_target.write(tmp_path / "run.jsonl", TABLE)
    assert main(["record", "--target", "mine", str(run), "--verdicts", str(verdicts)]) == 0
    assert capsys.readouterr().out == f"{verdicts / 'targets' / 'mine.json'}\n"
    assert (read_recorded(verdicts), recorded.names(str(verdicts))) == before
    (found,) = read_targets(verdicts)
    assert (found.name, found.words, found.release) == ("mine", a_target.WORDS, "2.14")
    lines = {line["clause"]: line for line in a_target.lines(TABLE) if line["type"] == "cell"}
    measured = found.measured(read_run(run).clauses)
    assert measured == {name: line["verdict"] for name, line in lines.items()}
    assert "conforms" not in {verdict for verdict, _ in found.clauses.values()}
    first, second, third, fourth = a_target.names_in(TABLE)[:4]
    known = {"verdict": "deviates", "script": a_target.SCRIPT}
    assert found.known == {
        first: {**known, "why": a_target.WHY},
        second: {**known, "why": "arithmetic", "apart": "no matter of hooks"},
    }
    assert found.notes == {third: a_target.DECLINED, fourth: a_target.NEEDS}
    assert found.record["lacks"] == {"sparse": {"words": "sparse tensors", "why": "mine/torch#7: no layout"}}
    assert (found.lacks(a_target.NEEDS), found.lacks(a_target.DECLINED)) == (["sparse"], [])


def test_a_clause_with_another_text_was_not_measured(tmp_path: Path, verdicts: Path) -> None:
    run = a_target.write(tmp_path / "run.jsonl", TABLE)
    assert main(["record", "--target", "mine", str(run), "--verdicts", str(verdicts)]) == 0
    clauses = dict(read_run(run).clauses)
    found = target_named("mine", verdicts)
    names = a_target.names_in(TABLE)
    for name in (names[0], names[2], names[-1]):  # it differs, it is refused, it conforms
        assert name in found.measured(clauses)
        clauses[name] = replace(clauses[name], digest="0" * 12)
        assert name not in found.measured(clauses)


def undeclared(lines: Any) -> None:
    next(line for line in lines if line.get("deviation") == "known").update(declared=False, deviation=None)


def stale(lines: Any) -> None:
    next(line for line in lines if line.get("verdict") == "conforms").update(complaint="take the entry out")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda lines: lines[0].update(profile="quick"), "was run with the profile quick"),
        (lambda lines: lines[0].update(whole=False), "is no run of all clauses"),
        (lambda lines: lines[0].pop("target"), "is a run of torch 2.14.0, no target"),
        (undeclared, f"{a_target.names_in(TABLE)[0]} fails; name what is known"),
        (stale, "fails; name what is known"),
    ],
)
def test_only_a_complete_run_without_a_failure_is_recorded(
    tmp_path: Path, verdicts: Path, capsys: Any, change: Any, fault: str
) -> None:
    lines = a_target.lines(TABLE)
    change(lines)
    run = synthetic.write_lines(tmp_path / "run.jsonl", lines)
    assert main(["record", "--target", "mine", str(run), "--verdicts", str(verdicts)]) == 2
    err = capsys.readouterr().err
    assert (fault in err, err.count("\n")) == (True, 1)
    assert read_targets(verdicts) == []


def test_a_name_that_is_none_and_two_runs_are_refused(tmp_path: Path, verdicts: Path, capsys: Any) -> None:
    run = str(a_target.write(tmp_path / "run.jsonl", TABLE))
    for words in (["../mine", run], ["mine"]):
        assert main(["record", "--target", *words, "--verdicts", str(verdicts)]) == 2
        assert capsys.readouterr().err.startswith("record, --target: ")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda found: found.update(format=7), "is of format 7"),
        (lambda found: found["lacks"].update(sparse="no"), "is not of type object"),
        (
            lambda found: found["known"].update({"a.b.c": {"verdict": "hung", "why": "?"}}),
            "known: a.b.c has no verdict",
        ),
        (lambda found: found["verdicts"].update(unseen={}), "unseen"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(
    tmp_path: Path, verdicts: Path, capsys: Any, change: Any, fault: str
) -> None:
    run = a_target.write(tmp_path / "run.jsonl", TABLE)
    assert main(["record", "--target", "mine", str(run), "--verdicts", str(verdicts)]) == 0
    path = verdicts / "targets" / "mine.json"
    found = json.loads(path.read_text("utf-8"))
    change(found)
    path.write_text(json.dumps(found), "utf-8")
    with pytest.raises(BadInput, match=r"mine\.json") as caught:
        read_targets(verdicts)
    assert (fault in str(caught.value), "\n" in str(caught.value)) == (True, False)
