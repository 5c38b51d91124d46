"""Targets in the verbs: who was measured is said, known drafts a file that is read, rely and diff ask the record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fixtures.target.features import FEATURES
from fixtures.target.target import TEMPLATE, Target, read
from reports.__main__ import main
from reports.data.forms import torch_of
from reports.data.strict import validate
from suites.selfcheck import synthetic
from suites.selfcheck.record import a_target

TABLE = synthetic.clauses(40, seed=3)
FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH = a_target.names_in(TABLE)[:6]
WORDS = a_target.WORDS


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of verdicts, a run of a target, and the same target recorded."""
    folder = tmp_path_factory.mktemp("targets")
    synthetic.write_verdicts(folder / "verdicts", TABLE)
    run = a_target.write(folder / "run.jsonl", TABLE)
    assert main(["record", "--target", "mine", str(run), "--verdicts", str(folder / "verdicts")]) == 0
    return folder


def said(room: Path, capsys: Any, *words: str, status: int = 0) -> str:
    assert main([*words, "--verdicts", str(room / "verdicts")]) == status
    return str(capsys.readouterr().out)


def test_a_release_is_called_torch_and_a_target_says_so_itself() -> None:
    assert [torch_of(name) for name in ("2.15", "2.15.0, copy", "1.4 to lazy on torch 2.15.0")] == [
        "torch 2.15", "torch 2.15.0, copy", "torch 1.4 to lazy on torch 2.15.0"
    ]  # fmt: skip
    for name in ("torch 2.15.0, float32", "lazy on torch 2.15.0, lazy (this run)", WORDS):
        assert torch_of(name) == name


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_who_was_measured_is_said_in_every_form(room: Path, capsys: Any, form: str) -> None:
    run = str(room / "run.jsonl")
    for words in (["check", run], ["badge", run], ["diff", "2.14", run], ["rely", "--run", run]):
        main([*words, "--format", form, "--verdicts", str(room / "verdicts")])
        assert WORDS in capsys.readouterr().out.replace("\\_", "_")
    assert main(["triage", run, "--format", form]) == 0
    out = capsys.readouterr().out
    assert WORDS in out.replace("\\_", "_")
    if form == "json":
        validate(json.loads(out), "answers.schema.json#/$defs/triage", room, "")


def test_a_run_that_is_not_named_and_the_atlas_say_it_too(
    room: Path, capsys: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    run = str(room / "run.jsonl")
    assert main(["atlas", run, "--out", str(room / "atlas.json"), "--verdicts", str(room / "verdicts")]) == 0
    found = json.loads((room / "atlas.json").read_text("utf-8"))
    validate(found, "atlas.schema.json", room, "")
    assert [one["target"] for one in found["columns"] if one["run"]] == [WORDS]
    monkeypatch.chdir(tmp_path)
    a_target.write(Path("mine.jsonl"), TABLE)
    Path("reports/out").mkdir(parents=True)
    Path("mine.jsonl").rename("reports/out/mine.jsonl")
    capsys.readouterr()
    assert main(["triage"]) == 0
    assert f": {WORDS}, measured on " in capsys.readouterr().err


def test_a_target_is_compared_with_its_release_and_what_is_told_is_no_change(room: Path, capsys: Any) -> None:
    out = said(room, capsys, "check", str(room / "run.jsonl"))
    assert out == (
        f"{WORDS} does what is recorded of 2.14: 36 of 36 clauses; 2 more are refused there; "
        "2 more differ as its file says\n"
    )
    lines = a_target.lines(TABLE, asked=20)
    line = next(each for each in lines if each.get("deviation") == "known")
    line.update(declared=False, deviation=None)
    run = synthetic.write_lines(room / "undeclared.jsonl", lines)
    out = said(room, capsys, "check", str(run), status=1)
    assert out.startswith(f"{WORDS} {FIRST} [eager]: recorded: conforms")
    assert f"{WORDS} differs from what is recorded of 2.14 in 1 of 17 clauses (20 of 40 were run)" in out


def test_without_a_run_the_template_is_printed(capsys: Any) -> None:
    assert main(["known"]) == 0
    assert capsys.readouterr().out == TEMPLATE


def drafted(folder: Path, lines: Any, capsys: Any) -> tuple[Target, str]:
    run = synthetic.write_lines(folder / "run.jsonl", lines)
    assert main(["known", str(run)]) == 0
    text = capsys.readouterr().out
    (folder / "target.toml").write_text(text, "utf-8")
    return read(str(folder / "target.toml"), FEATURES), text


def cells_of(lines: Any) -> dict[str, Any]:
    return {line["clause"]: line for line in lines if line["type"] == "cell"}


def fail(line: Any, **more: Any) -> None:
    line.update(verdict="deviates", refuted=[], declared=False, deviation=None, signs=[])
    line.update({"evidence": {**synthetic.evidence(), "plan": ""}, **more})


def test_a_draft_is_the_target_as_it_was_run_with_what_fails(tmp_path: Path, capsys: Any) -> None:
    lines = a_target.lines(TABLE)
    cells = cells_of(lines)
    odd = 'RuntimeError: "quoted" \\n \x7f\x1b[31m é'
    shown = {**synthetic.evidence(), "plan": "", "observed": [odd], "reproducer": "print(1)\n"}
    fail(cells[FIFTH], signs=[a_target.APART], evidence=shown)
    plan = "Plan(Chain('m0', (Leaf('m1', 'add'),)), steps=(Copy(), Forward()))"
    fail(cells[SIXTH], evidence={**synthetic.evidence(), "plan": plan}, note="no deep copy")
    lines[-1] = synthetic.footer(list(cells.values()))
    found, text = drafted(tmp_path, lines, capsys)
    assert (found.name, found.imports, found.device, found.dtype) == ("torch_mine", ("torch_mine",), "mine", "float32")
    assert found.setup.strip() == a_target.TARGET["setup"].strip()
    assert found.lacks == {"sparse": "mine/torch#7: no layout", "deepcopy": "not there: no deep copy"}
    assert found.known == {
        FIRST: a_target.WHY, SECOND: "arithmetic", FIFTH: odd.replace("\x7f", "\\x7f").replace("\x1b", "\\x1b")
    }  # fmt: skip
    above = text.splitlines()[
        : text.splitlines().index(next(one for one in text.splitlines() if FIFTH in one and "=" in one))
    ]
    assert above[-2:] == [
        "# no matter of hooks: a plan without hooks differs, too",
        f"# {tmp_path}/reproducers/{FIFTH}.eager.py",
    ]


def test_a_test_without_plans_shows_a_missing_feature_by_its_names_and_a_stale_entry_is_left_out(
    tmp_path: Path, capsys: Any
) -> None:
    lines = a_target.lines(TABLE)
    cells = cells_of(lines)
    lines[0]["clauses"][FIFTH]["code"] += "    copy.deepcopy(net)\n"
    lines[0]["target"]["known"] |= {SIXTH: "was otherwise", "gone.from.here": "of another run"}
    fail(cells[FIFTH], note="")
    cells[SIXTH].update(complaint="take the entry out")
    lines[-1] = synthetic.footer(list(cells.values()))
    found, _ = drafted(tmp_path, lines, capsys)
    assert found.lacks["deepcopy"].startswith("not there: ")
    assert list(found.known) == [FIRST, SECOND, "gone.from.here"]


def test_a_draft_of_a_run_without_a_target_and_of_a_plan_of_others_can_be_read(tmp_path: Path, capsys: Any) -> None:
    lines = synthetic.run_lines(TABLE, "2.15.0")
    cells = cells_of(lines)
    fail(
        cells[FIRST], evidence={**synthetic.evidence(), "plan": "Plan(Copy(Copy(1, 2, 3, 4), x=()), __import__('os'))"}
    )
    lines[-1] = synthetic.footer(list(cells.values()))
    found, _ = drafted(tmp_path, lines, capsys)
    assert (found.name, found.device, found.lacks, list(found.known)) == ("", "cpu", {}, [FIRST])


def test_rely_says_what_holds_on_a_target_and_why_the_rest_does_not(room: Path, capsys: Any) -> None:
    out = said(room, capsys, "rely", "--target", "mine", status=1)
    assert out.startswith(f"{WORDS}: of 40 clauses ")
    assert "; what needs sparse tensors was left out\n" in out
    assert f"  {FIRST}  deviates: {a_target.WHY}\n" in out
    assert f"  {SECOND}  deviates: arithmetic (no matter of hooks: a plan without hooks differs, too)\n" in out
    assert f"  {THIRD}  {a_target.DECLINED}\n" in out
    assert f"  {FOURTH}  needs sparse tensors (mine/torch#7: no layout)\n" in out
    holds = next(name for name in a_target.names_in(TABLE)[4:] if len(TABLE[name]["readings"]) == 1)
    for status, name in ((0, holds), (1, FIRST)):
        answer = json.loads(said(room, capsys, "rely", "--target", "mine", name, "--format", "json", status=status))
        validate(answer, "answers.schema.json#/$defs/target", room, "")
        assert answer["counts"] == {"differs" if status else "holds": 1}
    assert f"| `{FIRST}` |" in said(room, capsys, "rely", "--target", "mine", "--format", "markdown", status=1)


def test_what_was_not_asked_is_not_measured(room: Path, capsys: Any, tmp_path: Path) -> None:
    synthetic.write_verdicts(tmp_path / "verdicts", TABLE)
    run = a_target.write(tmp_path / "run.jsonl", TABLE, asked=20)
    assert main(["record", "--target", "some", str(run), "--verdicts", str(tmp_path / "verdicts")]) == 0
    capsys.readouterr()
    last = list(TABLE)[-1]
    out = said(tmp_path, capsys, "rely", "--target", "some", last, status=2)
    assert "not measured there with the text that it has now" in out
    assert said(tmp_path, capsys, "diff", "--target", "some", last, status=2).startswith("torch 2.14.0 -> ")


def test_diff_has_what_is_not_as_on_the_release_worst_first(room: Path, capsys: Any) -> None:
    answer = json.loads(said(room, capsys, "diff", "--target", "mine", "--format", "json", status=1))
    validate(answer, "answers.schema.json#/$defs/target", room, "")
    assert [one["clause"] for one in answer["clauses"]] == [FIRST, SECOND, THIRD, FOURTH]
    assert all(one["release"].startswith(("holds", "otherwise")) for one in answer["clauses"])
    assert answer["counts"] == {"same": 36, "unmeasured": 0, "differs": 2, "declined": 1, "lacks": 1}
    assert FIRST in said(room, capsys, "diff", "--target", "mine", FIRST, status=1)
    assert said(room, capsys, "diff", "--target", "mine", FIFTH).startswith(f"torch 2.14.0 -> {WORDS}: 0 clauses are")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["rely", "--target", "yours"], "reports: no target 'yours' is recorded; recorded are mine"),
        (["diff", "--target", "yours"], "reports: no target 'yours' is recorded; recorded are mine"),
        (["diff", "2.14"], "reports, diff: two torches are compared, A and B; see python -m reports diff --help"),
        (
            ["rely", "--target", "mine", "--from", "2.0"],
            "reports: --target asks about one torch, measured in eager, and --from about another; leave --from out",
        ),
    ],
)
def test_a_wrong_question_gets_one_line(room: Path, capsys: Any, words: list[str], line: str) -> None:
    assert main([*words, "--verdicts", str(room / "verdicts")]) == 2
    assert capsys.readouterr().err == line + "\n"
