"""rely: what holds on every release of a range, and the exit status that says so."""

from __future__ import annotations

import json

import pytest

from reports.__main__ import main
from reports.data import forms
from reports.verbs.choice import left_out
from suites.selfcheck import synthetic, synthetic_cells

CODE = "def test_x(subject, module):\n    module.{}(print)\n"
#: clause -> (API in its test, verdict and reading on each of synthetic_cells.TORCHES)
CELLS = {
    "a.b.holds": ("register_forward_hook", [("conforms", "always")] * 4),
    "a.b.changes": ("register_hook", [("conforms", "old")] * 2 + [("conforms", "new")] * 2),
    "a.b.added": ("register_full_backward_pre_hook", [("absent", None)] + [("conforms", "always")] * 3),
    "a.b.both": ("register_hook", [("conforms", "always")] * 2 + [("conforms", "new")] * 2),
    "a.b.old": ("register_hook", [("conforms", "old")] * 4),
    "a.b.bug": ("register_hook", [synthetic_cells.bug("lost")] * 4),
    "a.b.bugs": ("register_hook", [synthetic_cells.bug("lost")] * 2 + [synthetic_cells.bug("late")] * 2),
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
        table[name] = synthetic_cells.clause(
            name,
            CODE.format(api),
            needs,
            readings,
            effects={"old": "silent"},
            deviations=[("lost", "error"), ("late", "none")],
        )
    return synthetic_cells.write(tmp_path / "verdicts", table, {name: cells for name, (_, cells) in CELLS.items()})


def ask(verdicts, capsys, *arguments):
    """Return the exit status and clause -> its status."""
    status = main(["rely", *arguments, "--verdicts", str(verdicts), "--format", "json"])
    reported = json.loads(capsys.readouterr().out)
    return status, {each["clause"]: each["status"] for each in reported["clauses"]}


STANDS = {
    "a.b.holds": "holds",
    "a.b.changes": "changes",
    "a.b.added": "changes",
    "a.b.both": "holds",  # its sentence is true under both readings
    "a.b.old": "otherwise",
    "a.b.bug": "otherwise",
    "a.b.bugs": "nowhere",
    "a.b.never": "nowhere",  # nobody knows what torch does
    "a.c.hung": "changes",
    "a.c.unseen": "unseen",
    "tutorial.t.true": "holds",
    "tutorial.t.false": "otherwise",
    "tutorial.t.since": "otherwise",
}


def test_each_clause_stands_where_it_belongs(verdicts, capsys):
    assert ask(verdicts, capsys, "--tutorial") == (1, STANDS)


@pytest.mark.parametrize("asked", [["--tutorial"], ["--chapter", "tutorial"], ["tutorial"], ["tutorial.t."]])
def test_claims_count_only_where_they_are_asked_for(verdicts, capsys, asked):
    assert not any(name.startswith("tutorial") for name in ask(verdicts, capsys)[1])
    assert not any(name.startswith("tutorial") for name in ask(verdicts, capsys, "a", "--api", "register_hook")[1])
    assert sum(name.startswith("tutorial") for name in ask(verdicts, capsys, *asked)[1]) == 3
    assert main(["rely", "a.b.holds", "--api", "register_forward_hook", "--verdicts", str(verdicts)]) == 0
    assert "left out" not in capsys.readouterr().out
    assert main(["rely", "--api", "register_hook", "--verdicts", str(verdicts)]) == 1
    assert "\n3 claims of tutorials are left out; --tutorial asks for them too\n" in capsys.readouterr().out
    assert main(["rely", "t", "--verdicts", str(verdicts)]) == 2
    assert (
        "no clause fits all that was asked for; --tutorial asks for the claims of tutorials" in capsys.readouterr().err
    )


def test_what_is_printed_is_what_is_so(verdicts, capsys):
    """The sentence of a clause is printed as it is where it is true on every release, and nowhere else."""
    assert main(["rely", "--tutorial", "--verdicts", str(verdicts)]) == 1
    out = capsys.readouterr().out
    for reported in (
        "  a.b.holds  Says a.b.holds.\n",
        "  a.b.both  Says a.b.both.\n",
        "  a.b.changes\n    1.13 to 2.0: otherwise (other values or calls): Is old.\n",
        "Is old.\n    since 2.14: holds: Says a.b.changes.\n",
        "  a.b.added\n    1.13: absent: This torch has no torch.nn.Module.register_full_backward_pre_hook.\n",
        "  a.b.old  Is old.\n    otherwise (other values or calls)\n    not true here: Says a.b.old.\n",
        (
            "  a.b.bug  Is lost.\n    deviates (raises) [what is lost; Why lost; measured]\n"
            "    not true here: Says a.b.bug.\n"
        ),
        "  a.b.bugs\n    1.13 to 2.0: deviates (raises): Is lost. [what is lost; Why lost; measured]\n",
        "    since 2.14: deviates: Is late. [what is late; Why late; measured]\n    not true here: Says a.b.bugs.\n",
        "  a.c.unseen\n    1.13: unseen: Not run here\n    since 2.0: holds: Says a.c.unseen.\n",
        "  tutorial.t.false  Is false.\n",
    ):
        assert reported in out
    titles = [
        "change (",
        "differ in the same way on every release (",
        "hold on no release (",
        "not measured",
        "hold on every",
    ]
    places = [out.index(f"\n\n{title}") for title in titles]
    assert places == sorted(places)


def test_what_does_most_harm_comes_first_of_what_changes(verdicts, capsys):
    main(["rely", "a", "--verdicts", str(verdicts)])
    out = capsys.readouterr().out
    # silent, then an error, then what is not there
    places = [out.index(f"\n  {name}\n") for name in ("a.b.changes", "a.c.hung", "a.b.added")]
    assert places == sorted(places)


def test_json_carries_the_statements(verdicts, capsys):
    main(["rely", "a.b.bug", "a.b.changes", "a.b.old", "--verdicts", str(verdicts), "--format", "json"])
    reported = {each["clause"]: each for each in json.loads(capsys.readouterr().out)["clauses"]}
    one, two = reported["a.b.changes"], reported["a.b.bug"]
    assert reported["a.b.old"]["sentence"] == "Is old."
    assert one["sentence"] == ""
    assert [(span["says"], span["answer"], span["effect"]) for span in one["history"]] == [
        ("Is old.", "otherwise", "silent"),
        ("Says a.b.changes.", "holds", "none"),
    ]
    assert (two["sentence"], two["history"][0]["reason"], two["history"][0]["ref"]) == (
        "Is lost.",
        "Why lost.",
        "measured",
    )


def test_the_range_decides(verdicts, capsys):
    wanted = ("a.b.changes", "a.b.added", "a.c.unseen")
    assert ask(verdicts, capsys, *wanted, "--from", "2.14", "--to", "2.15")[0] == 0
    assert ask(verdicts, capsys, *wanted, "--from", "torch2.0", "--to", "2.14.0")[1]["a.b.changes"] == "changes"
    assert ask(verdicts, capsys, "a.b.added", "--to", "1.13") == (1, {"a.b.added": "nowhere"})
    assert ask(verdicts, capsys, "a.c.hung", "--to", "2.14")[1] == {"a.c.hung": "holds"}


@pytest.mark.parametrize("spelled", ["2.0", "v2.0", "torch2.0", "2.0.1", "2", "2.0+cpu", "2.0.1+cu117"])
def test_a_release_may_be_spelled_as_torch_spells_it(verdicts, capsys, spelled):
    assert main(["rely", "a.b.holds", "--from", spelled, "--to", "2.15", "--verdicts", str(verdicts)]) == 0
    assert capsys.readouterr().out.startswith("torch 2.0 to 2.15, eager")
    assert main(["diff", spelled, "2.15", "--verdicts", str(verdicts)]) == 1
    assert capsys.readouterr().out.startswith("torch 2.0.1 -> 2.15.0")


def test_clauses_are_chosen_by_beginning_chapter_and_api(verdicts, capsys):
    assert set(ask(verdicts, capsys, "a.c.")[1]) == {"a.c.hung", "a.c.unseen"}
    assert set(ask(verdicts, capsys, "--chapter", "tutorial")[1]) == {name for name in CELLS if name[0] == "t"}
    assert set(ask(verdicts, capsys, "--api", "retain_grad", "a.c.h")[1]) == {"a.c.hung"}
    assert set(ask(verdicts, capsys, "--api", "torch.nn.Module.register_full_backward_pre_hook")[1]) == {"a.b.added"}
    both = ask(verdicts, capsys, "--api", "register_hook", "--api", "register_forward_hook", "--chapter", "a")[1]
    assert set(both) == {name for name in CELLS if name.startswith("a.b.")} - {"a.b.added"}
    assert ask(verdicts, capsys, "--clauses", "a.c.h") == ask(verdicts, capsys, "a.c.h")
    assert set(ask(verdicts, capsys, "a.c.h", "--clauses", "a.c.u")[1]) == {"a.c.hung", "a.c.unseen"}


def test_the_same_answer_in_text_and_markdown(verdicts, capsys):
    counts = "3 change, 4 differ in the same way on every release, 2 hold on no release, 1 not measured"
    for form, escape in (("text", "{}".format), ("markdown", forms.escaped)):
        assert main(["rely", "--tutorial", "--verdicts", str(verdicts), "--format", form]) == 1
        out = capsys.readouterr().out
        assert f"of 13 clauses {counts}" in out
        assert all(name in out for name in CELLS)
        assert escape("1.13 to 2.0: otherwise (other values or calls): Is old.") in out


@pytest.mark.parametrize(
    ("clauses", "words", "title"),
    [
        (
            ["a.b.old"],
            "of 1 clause 1 differs in the same way on every release\n",
            "differs in the same way on every release (1)",
        ),
        (["a.c.hung"], "of 1 clause 1 changes\n", "changes (1)"),
        (
            ["a.b.old", "a.c."],
            "of 3 clauses 1 changes, 1 differs in the same way",
            "differs in the same way on every release (1)",
        ),
    ],
)
def test_one_is_told_of_as_one(verdicts, capsys, clauses, words, title):
    assert main(["rely", "--verdicts", str(verdicts), *clauses]) == 1
    out = capsys.readouterr().out
    assert words in out
    assert f"\n\n{title}\n" in out


def test_one_claim_that_is_left_out_is_one():
    assert left_out(1) == ["", "1 claim of tutorials is left out; --tutorial asks for them too"]
    assert left_out(0) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "2.1"], "there is no torch version '2.1'; did you mean 2.14 or 2.15?"),
        (["--from", "3.0"], "there is no torch version '3.0'; known are 1.13 to 2.15"),
        (["--from", ""], "there is no torch version ''; known are 1.13 to 2.15"),
        (["--to", ""], "there is no torch version ''; known are 1.13 to 2.15"),
        (["--from", "seven"], "known are 1.13 to 2.15"),
        (["--from", "2.15", "--to", "2.0"], "torch 2.15 is newer than torch 2.0; name the older one first"),
        (["--api", "retain_gard"], "did you mean retain_grad?"),
        (["--api", "register_hook(loud)"], "there is no option of register_hook 'loud'; leave it out"),
        (["--chapter", "tutorials"], "did you mean tutorial?"),
        (["a.d"], "there is no clause 'a.d'"),
        (["a.b.", "--chapter", "tutorial"], "no clause fits all that was asked for"),
        (["--mode", "eagre"], "there is no mode 'eagre'; did you mean eager?"),
    ],
)
def test_a_question_that_cannot_be_answered(verdicts, capsys, arguments, said):
    assert main(["rely", *arguments, "--verdicts", str(verdicts)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_a_run_of_ones_own_is_held_against_the_range(verdicts, tmp_path, capsys):
    table = {"a.b.holds": synthetic_cells.clause("a.b.holds", CODE.format("register_forward_hook"))}
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
    assert "torch 2.0 to 2.16.0a0+cpu (this run)" in capsys.readouterr().out


def test_a_long_answer_says_first_how_to_ask_for_less_and_other_ways_to_run_come_last(tmp_path, capsys):
    names = [f"modes.a.c{n}" for n in range(30)] + [f"output.a.c{n}" for n in range(11)]
    table = {name: synthetic_cells.clause(name) for name in names}
    cells = {name: [("conforms", "always")] * len(synthetic_cells.TORCHES) for name in names}
    folder = synthetic_cells.write(tmp_path / "verdicts", table, cells)
    assert main(["rely", "--verdicts", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "to ask for less: --chapter NAME, here modes (30), output (11)"
    shown = [line.split()[0] for line in lines if line.startswith(("  modes.", "  output."))]
    assert [name.startswith("output.") for name in shown] == [True] * 11 + [False] * 30
    assert main(["rely", "--chapter", "modes", "--verdicts", str(folder)]) == 0
    assert "to ask for less" not in capsys.readouterr().out
