"""diff: every change of an upgrade is of one kind, the worst first, with both statements and since when."""

from __future__ import annotations

import json
import re

import pytest

from reports.__main__ import main
from reports.data import forms
from reports.data.statements import KINDS
from reports.data.strict import validate
from suites.selfcheck import synthetic, synthetic_cells

GOOD, TRUE, LOUD, MUTE = (("conforms", name) for name in ("good", "true", "loud", "mute"))
BUG, DEAD, NONE = ("deviates", "good"), ("crashed", None), ("absent", None)
NO = ("refused", None, {"note": "no"})
LOST, LATE = synthetic_cells.bug("lost"), synthetic_cells.bug("late")
READINGS, EFFECTS = ("always", "good", "true", "loud", "mute"), {"loud": "error", "mute": "silent"}
#: on 2.0, on 2.15, what that is
CHANGES = [
    (GOOD, MUTE, "silent"),
    (MUTE, GOOD, "silent"),
    (GOOD, BUG, "silent"),  # nobody declared it
    (GOOD, LOUD, "error"),
    (GOOD, NONE, "error"),
    (BUG, NONE, "error"),
    (GOOD, DEAD, "error"),
    (GOOD, LOST, "error"),
    (GOOD, NO, "error"),
    (GOOD, LATE, "warning"),
    (NONE, GOOD, "added"),
    (NONE, BUG, "added"),  # what was not there breaks no code
    (NONE, LOST, "added"),
    (BUG, GOOD, "fixed"),
    (DEAD, TRUE, "fixed"),
    (LOUD, GOOD, "fixed"),
    (LOST, DEAD, "internal"),
    (GOOD, TRUE, "internal"),
    (NONE, NO, "internal"),
]


def clause(name):
    return synthetic_cells.clause(
        name, readings=READINGS, effects=EFFECTS, deviations=[("lost", "error"), ("late", "warning")]
    )


@pytest.fixture
def verdicts(tmp_path):
    names = {f"a.b.c{number}": pair for number, (*pair, _) in enumerate(CHANGES)}
    table = {name: clause(name) for name in [*names, "a.b.same", "a.b.unseen"]}
    cells = {**names, "a.b.same": [GOOD, GOOD], "a.b.unseen": [GOOD, None]}
    return synthetic_cells.write(tmp_path / "verdicts", table, cells, ("2.0.1", "2.15.0"))


def ask(verdicts, capsys, *arguments):
    """Return the exit status and the answer, which fits its schema."""
    status = main(["diff", *arguments, "--format", "json", "--verdicts", str(verdicts)])
    reported = json.loads(capsys.readouterr().out)
    validate(reported, "answers.schema.json#/$defs/diff", verdicts, "")
    return status, reported


def test_every_change_is_of_its_kind(verdicts, capsys):
    status, reported = ask(verdicts, capsys, "2.0", "2.15")
    assert {change["clause"]: change["kind"] for change in reported["changes"]} == {
        f"a.b.c{number}": kind for number, (*_, kind) in enumerate(CHANGES)
    }
    assert (status, reported["same"], reported["unseen"]) == (1, 1, 1)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_worst_comes_first(verdicts, capsys, form):
    assert main(["diff", "2.0", "2.15", "--format", form, "--verdicts", str(verdicts)]) == 1
    out = capsys.readouterr().out.lower()
    kinds = [kind for *_, kind in CHANGES]
    counts = [f"{title} ({kinds.count(kind)})" for kind, title in KINDS.items()]
    places = [out.index(reported.lower()) for reported in counts]
    assert places == sorted(places)
    ends = "`" if form == "markdown" else "[ \\n]"
    assert all(len(re.findall(f"a.b.c{number}{ends}", out)) == 1 for number in range(len(CHANGES)))


@pytest.mark.parametrize(
    ("asked", "status", "kinds"),
    [
        ([], 1, list(KINDS)),
        (["--min-effect", "none"], 1, list(KINDS)),
        (["--min-effect", "warning"], 1, ["silent", "error", "warning"]),
        (["--min-effect", "error"], 1, ["silent", "error"]),
        (["--min-effect", "silent"], 1, ["silent"]),
        (["a.b.c9"], 1, ["warning"]),
        (["a.b.c9", "--min-effect", "error"], 0, []),
        (["a.b.c10", "a.b.c13", "--clauses", "a.b.c17"], 0, ["fixed", "internal", "added"]),
        (["a.b.c10", "--min-effect", "none"], 1, ["added"]),
        (["a.b.same", "--min-effect", "none"], 0, []),
    ],
)
def test_harm_chooses_what_is_shown_and_the_exit_status(verdicts, capsys, asked, status, kinds):
    found, reported = ask(verdicts, capsys, "2.0", "2.15", *asked)
    assert found == status
    assert list(dict.fromkeys(change["kind"] for change in reported["changes"])) == kinds


def test_what_more_programs_rely_on_comes_first(tmp_path, capsys):
    """Documented, then tested by torch, then only measured; what is deprecated later, signatures and claims last."""
    levels = {
        "b.a.documented": {"level": "documented"},
        "b.a.legacy": {"level": "documented", "says": "A legacy hook runs."},
        "a.a.implied": {"level": "implied"},
        "a.a.observed": {"level": "observed"},
        "a.b.unknown": {"level": ""},
        "handles.a.signatures": {"level": "documented"},
        "tutorial.a.claim": {"level": "documented"},
    }
    table, cells = {}, {}
    for name in reversed(levels):
        readings = ("true", "false") if name[0] == "t" else ("good", "mute")
        table[name] = {
            **synthetic_cells.clause(name, readings=readings, effects={readings[1]: "silent"}),
            **levels[name],
        }
        cells[name] = [("conforms", reading) for reading in readings]
    verdicts = synthetic_cells.write(tmp_path / "verdicts", table, cells, ("2.0.1", "2.15.0"))
    _, reported = ask(verdicts, capsys, "2.0", "2.15", "--tutorial")
    assert [change["clause"] for change in reported["changes"]] == list(levels)


#: what was measured on 1.13, 2.0, 2.14 and 2.15
BETWEEN = {
    "a.b.early": [GOOD, MUTE, MUTE, MUTE],
    "a.b.late": [GOOD, GOOD, GOOD, MUTE],
    "a.b.twice": [GOOD, MUTE, LOUD, MUTE],
    "a.b.gap": [GOOD, None, MUTE, MUTE],
    "a.b.passed": [GOOD, LOUD, MUTE, GOOD],
    "a.b.unseen": [GOOD, None, None, GOOD],
    "a.b.worded": [GOOD, TRUE, TRUE, TRUE],
}


@pytest.fixture
def between(tmp_path):
    return synthetic_cells.write(tmp_path / "verdicts", {name: clause(name) for name in BETWEEN}, BETWEEN)


def test_each_change_says_since_when(between, capsys):
    _, reported = ask(between, capsys, "1.13", "2.15")
    assert {one["clause"][4:]: one["since"] for one in reported["changes"]} == {
        "early": "2.0", "late": "2.15", "twice": "2.15", "gap": "≤2.14", "worded": "2.0",
    }  # fmt: skip
    _, reported = ask(between, capsys, "2.15", "1.13")
    assert {one["clause"][4:]: one["since"] for one in reported["changes"]} == {
        "early": "1.13", "late": "2.14", "twice": "1.13", "gap": "≤1.13", "worded": "1.13",
    }  # fmt: skip
    for arguments, said in (
        (
            ["1.13", "2.15", "a.b.early"],
            "+ since 2.0: otherwise (other values or calls): Is mute.\n  - torch 1.13.1: holds: Says",
        ),
        (["1.13", "2.15", "a.b.gap"], "  + since 2.14 or earlier: otherwise"),
        (["2.15", "1.13", "a.b.late"], "  + up to 2.14: holds: Says a.b.late."),
        (["2.15", "1.13", "a.b.gap"], "  + up to 1.13 or later: holds"),
        # the clause's own sentence is true on both sides
        (["1.13", "2.15", "a.b.worded"], "+ since 2.0: holds: Is true.\n  - torch 1.13.1: holds: Is good."),
    ):
        main(["diff", *arguments, "--verdicts", str(between)])
        assert said in capsys.readouterr().out


def test_what_comes_and_goes_between_the_two_is_listed(between, capsys):
    status, reported = ask(between, capsys, "1.13", "2.15", "a.b.p", "a.b.u", "--min-effect", "silent")
    assert (status, reported["changes"], reported["same"]) == (0, [], 2)
    (one,) = reported["passing"]
    assert (one["clause"], one["kind"], one["ends"]["says"]) == ("a.b.passed", "silent", "Says a.b.passed.")
    assert [(each["from"], each["to"], each["says"]) for each in one["inside"]] == [
        ("2.0", "2.0", "Is loud."), ("2.14", "2.14", "Is mute."),
    ]  # fmt: skip
    for form in ("text", "markdown"):
        main(["diff", "1.13", "2.15", "a.b.p", "--format", form, "--verdicts", str(between)])
        out = capsys.readouterr().out
        assert "ome and go between the two (1)" in out
        for said in (
            "holds: Says a.b.passed.",
            "2.0: otherwise (raises): Is loud.",
            "2.14: otherwise (other values or calls): Is mute.",
        ):
            assert (said if form == "text" else forms.escaped(said)) in out


PLAN = "Plan(Leaf('m0'),\n    steps=(Forward(),))"
EXPECTED = ["returns(2)", "h0(m0, 1)", "grads({x0: 2})"]
OBSERVED = ["returns(2)", "h0(m0, 3)", "grads({x0: 2})", "</details>```<img src=x>"]


@pytest.fixture
def in_modes(tmp_path):
    """Give verdicts of two clauses in two modes; what deviates has its evidence. A run file has one mode."""
    table = {name: synthetic_cells.clause(name, readings=("old", "new")) for name in ("a.b.one", "a.b.two")}
    old, new = ("conforms", "old"), ("conforms", "new")
    folder = synthetic_cells.write(
        tmp_path / "verdicts", table, {"a.b.one": [old, old], "a.b.two": [old, new]}, ("2.0.1", "2.15.0")
    )
    evidence = {**synthetic.evidence(), "plan": PLAN, "expected": EXPECTED, "observed": OBSERVED}
    with synthetic.changing(folder, "2.15") as cells:
        one, two = (cells[name] for name in table)
        one["compile"] = {**one["eager"], "verdict": "deviates", "declared": True, "evidence": evidence}
        two["compile"] = {**two["eager"], "reading": "old"}
    nodes = {f"test.py::{name}": [name, "compile"] for name in table}
    header, *cells, _ = synthetic.run_lines(table, "2.15.0", modes=["compile"], nodes=nodes)
    cells = [{**cell, "mode": "compile"} for cell in cells]
    for cell in cells:
        if cell["type"] == "cell":
            cell.update(verdict="conforms", reading="new", refuted=["old"], declared=False, note="", evidence=None)
    found = [cell for cell in cells if cell["type"] == "cell"]
    synthetic.write_lines(tmp_path / "run.jsonl", [header, *cells, synthetic.footer(found)])
    return folder


@pytest.mark.parametrize(
    ("arguments", "head", "modes", "changes"),
    [
        # eager where no mode is named
        ("2.0 2.15", "torch 2.0.1 -> 2.15.0: 1 of 2 clauses differs (1 different)\n", "eager eager", "two"),
        ("2.0 2.15 --mode eager", "torch 2.0.1 -> 2.15.0: 1 of 2", "eager eager", "two"),
        ("2.0 2.15 --mode compile", "torch 2.0.1, compile -> 2.15.0, compile: 0 of 0 clauses differ, 2 not", "", ""),
        ("2.15 2.15 --to-mode compile", "torch 2.15.0, eager -> 2.15.0, compile: 2 of 2", "eager compile", "one two"),
        (
            "2.0 2.15 --mode eager --to-mode compile",
            "torch 2.0.1, eager -> 2.15.0, compile: 1 of 2",
            "eager compile",
            "one",
        ),
        # the mode of a run file that has only one
        ("2.15 RUN", "torch 2.15.0, compile -> 2.15.0+cpu (this run), compile: 2 of 2", "compile compile", "one two"),
        (
            "RUN 2.15 --to-mode eager",
            "torch 2.15.0+cpu (this run), compile -> 2.15.0, eager: 1 of 2",
            "compile eager",
            "one",
        ),
    ],
)
def test_modes_are_compared_as_they_are_named(in_modes, tmp_path, capsys, arguments, head, modes, changes):
    words = [str(tmp_path / "run.jsonl") if word == "RUN" else word for word in arguments.split()]
    main(["diff", *words, "--verdicts", str(in_modes)])
    out = capsys.readouterr().out
    assert out.startswith(head)
    assert [line for line in out.split("\n") if line.startswith("a.b.")] == [f"a.b.{each}" for each in changes.split()]
    main(["diff", *words, "--format", "json", "--verdicts", str(in_modes)])
    reported = json.loads(capsys.readouterr().out)
    validate(reported, "answers.schema.json#/$defs/diff", in_modes, "")
    assert [one["clause"] for one in reported["changes"]] == [f"a.b.{each}" for each in changes.split()]
    assert all(f"{one['mode']} {one['to_mode']}" == modes for one in reported["changes"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mode", "compil"], "there is no mode 'compil'; did you mean compile?"),
        (["--mode", "eager", "--to-mode", "jit"], "there is no mode 'jit'; measured are compile, eager"),
    ],
)
def test_a_mode_that_is_not_there(in_modes, capsys, arguments, said):
    assert main(["diff", "2.0", "2.15", *arguments, "--verdicts", str(in_modes)]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"reports: {said}\n")


def test_a_deviation_shows_its_plan_and_both_traces(in_modes, capsys):
    arguments = ["diff", "2.15", "2.15", "--mode", "eager", "--to-mode", "compile", "--verdicts", str(in_modes)]
    traces = [
        "  expected        observed",
        "  returns(2)      returns(2)",
        "≠ h0(m0, 1)       h0(m0, 3)",
        "  grads({x0: 2})  grads({x0: 2})",
        "+                 </details>```<img src=x>",
    ]
    assert main(arguments) == 1
    shown = ["  on torch 2.15.0, compile:", *(f"    {line}" for line in [*PLAN.split("\n"), *traces])]
    assert "\n".join(shown) + "\n" in capsys.readouterr().out
    assert main([*arguments, "--format", "markdown"]) == 1
    shown = ["<summary>a.b.one on torch 2.15.0, compile: plan and traces</summary>", "", "```python", PLAN, "```"]
    shown += ["````text", *traces, "````", "", "</details>"]
    assert "\n".join(shown) + "\n" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_it_says_how_to_get_a_program_that_shows_both(in_modes, capsys, form):
    command = "python -m reports explain CLAUSE --example"
    assert main(["diff", "2.0", "2.15", "--format", form, "--verdicts", str(in_modes)]) == 0
    assert capsys.readouterr().out.count(command) == 1
    assert main(["diff", "2.15", "2.15", "--format", form, "--verdicts", str(in_modes)]) == 0
    assert command not in capsys.readouterr().out
