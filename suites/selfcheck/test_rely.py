"""rely: what holds on every release of a range, and the exit status that says so."""

from __future__ import annotations

import json

import pytest

from reports.__main__ import main
from suites.selfcheck import measured, synthetic

CODE = "def test_x(subject, module):\n    module.{}(print)\n"
#: clause -> (API in its test, verdict and reading on each of measured.TORCHES)
CELLS = {
    "a.b.holds": ("register_forward_hook", [("conforms", "always")] * 4),
    "a.b.changes": ("register_hook", [("conforms", "old")] * 2 + [("conforms", "new")] * 2),
    "a.b.added": ("register_full_backward_pre_hook", [("absent", None)] + [("conforms", "always")] * 3),
    "a.b.never": ("register_hook", [("deviates", "always")] * 4),
    "a.c.hung": ("retain_grad", [("conforms", "always")] * 3 + [("hung", None)]),
    "a.c.unseen": ("retain_grad", [None] + [("conforms", "always")] * 3),
    "tutorial.t.true": ("register_hook", [("conforms", "true")] * 4),
    "tutorial.t.false": ("register_hook", [("conforms", "false")] * 4),
    "tutorial.t.since": ("register_hook", [("conforms", "false since 2.0")] * 4),
}


@pytest.fixture
def verdicts(tmp_path):
    """Give recorded verdicts as in CELLS."""
    table = {}
    for name, (api, cells) in CELLS.items():
        needs = [f"torch.nn.Module.{api}"] if ("absent", None) in cells else []
        readings = ("always", "new", "old") if name[0] == "a" else ("true", "false", "false since 2.0")
        table[name] = measured.clause(name, CODE.format(api), needs, readings)
    return measured.write(tmp_path / "verdicts", table, {name: cells for name, (_, cells) in CELLS.items()})


def ask(verdicts, capsys, *arguments):
    """Return the exit status and clause -> how it stands."""
    status = main(["rely", *arguments, "--verdicts", str(verdicts), "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    return status, {each["clause"]: each["stands"] for each in told["clauses"]}


def test_each_clause_stands_where_it_belongs(verdicts, capsys):
    status, told = ask(verdicts, capsys)
    assert status == 1
    assert told == {
        "a.b.holds": "holds",
        "a.b.changes": "changes",
        "a.b.added": "changes",
        "a.b.never": "nowhere",
        "a.c.hung": "changes",
        "a.c.unseen": "unseen",
        "tutorial.t.true": "holds",
        "tutorial.t.false": "nowhere",
        "tutorial.t.since": "nowhere",
    }


def test_the_range_decides(verdicts, capsys):
    wanted = ("a.b.changes", "a.b.added", "a.c.unseen")
    assert ask(verdicts, capsys, *wanted, "--from", "2.14", "--to", "2.15")[0] == 0
    assert ask(verdicts, capsys, *wanted, "--from", "torch2.0", "--to", "2.14.0")[1]["a.b.changes"] == "changes"
    assert ask(verdicts, capsys, "a.b.added", "--to", "1.13") == (1, {"a.b.added": "nowhere"})
    assert ask(verdicts, capsys, "a.c.hung", "--to", "2.14")[1] == {"a.c.hung": "holds"}


def test_clauses_are_chosen_by_beginning_chapter_and_api(verdicts, capsys):
    assert set(ask(verdicts, capsys, "a.c.")[1]) == {"a.c.hung", "a.c.unseen"}
    assert set(ask(verdicts, capsys, "--chapter", "tutorial")[1]) == {name for name in CELLS if name[0] == "t"}
    assert set(ask(verdicts, capsys, "--api", "retain_grad", "a.c.h")[1]) == {"a.c.hung"}
    assert set(ask(verdicts, capsys, "--api", "torch.nn.Module.register_full_backward_pre_hook")[1]) == {"a.b.added"}
    both = ask(verdicts, capsys, "--api", "register_hook", "--api", "register_forward_hook", "--chapter", "a")[1]
    assert set(both) == {"a.b.holds", "a.b.changes", "a.b.never"}


def test_the_same_answer_in_text_and_markdown(verdicts, capsys):
    for form in ("text", "markdown"):
        assert main(["rely", "--verdicts", str(verdicts), "--format", form]) == 1
        out = capsys.readouterr().out
        assert "of 9 clauses 2 hold on every release, 3 change, 3 hold on no release, 1 not measured" in out
        assert all(name in out for name in CELLS)
        assert "1.13 to 2.0: conforms (old)" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "2.1"], "there is no torch version '2.1'; did you mean 2.14 or 2.15?"),
        (["--from", "3.0"], "there is no torch version '3.0'; did you mean 2.0?"),
        (["--from", "seven"], "recorded are 1.13 to 2.15"),
        (["--from", "2.15", "--to", "2.0"], "torch 2.15 is newer than torch 2.0; name the older one first"),
        (["--api", "retain_gard"], "did you mean retain_grad?"),
        (["--api", "register_hook(loud)"], "there is no option of register_hook 'loud'; leave it out"),
        (["--chapter", "tutorials"], "did you mean tutorial?"),
        (["a.d"], "there is no clause 'a.d'"),
        (["a.b.", "--chapter", "tutorial"], "no clause is of all that"),
        (["--mode", "eagre"], "there is no mode 'eagre'; did you mean eager?"),
    ],
)
def test_a_question_that_cannot_be_answered(verdicts, capsys, arguments, said):
    assert main(["rely", *arguments, "--verdicts", str(verdicts)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_a_run_of_ones_own_is_held_against_the_range(verdicts, tmp_path, capsys):
    table = {"a.b.holds": measured.clause("a.b.holds", CODE.format("register_forward_hook"))}
    cell = synthetic.cell("a.b.holds", table["a.b.holds"], "2.16.0a0")
    absent = {**cell, "verdict": "absent", "reading": None, "refuted": [], "declared": False, "evidence": None}
    lines = [synthetic.header(table, "2.16.0a0"), absent, synthetic.footer([absent])]
    run = str(synthetic.write_lines(tmp_path / "mine.jsonl", lines))
    assert ask(verdicts, capsys, "a.b.holds", "--from", "2.0") == (0, {"a.b.holds": "holds"})
    assert ask(verdicts, capsys, "a.b.holds", "--from", "2.0", "--run", run) == (1, {"a.b.holds": "changes"})
    assert main(["rely", "a.b.holds", "--from", "2.0", "--to", "2.14", "--run", run, "--verdicts", str(verdicts)]) == 1
    assert "2.16.0a0+cpu (this run): absent" in capsys.readouterr().out
    assert main(["explain", "a.b.holds", "--run", run, "--verdicts", str(verdicts)]) == 0
    assert "2.16.0a0+cpu (this run)  absent" in capsys.readouterr().out
    code = tmp_path / "them.py"
    code.write_text("m.register_forward_hook(f)")
    assert main(["affects", str(code), "--from", "2.0", "--run", run, "--verdicts", str(verdicts)]) == 0
    assert "torch 2.0 -> 2.16.0a0+cpu (this run)" in capsys.readouterr().out
