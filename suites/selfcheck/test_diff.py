"""diff: every change of an upgrade is of one kind, told in each form."""

from __future__ import annotations

import json

import pytest

from reports.__main__ import main
from reports.diff import KINDS
from reports.strict import validate
from suites.selfcheck import measured, synthetic

OLD, NEW, NONE = ("conforms", "old"), ("conforms", "new"), ("absent", None)
BAD, DEAD, NO = ("deviates", "old"), ("crashed", None), ("refused", None)
#: (on 2.0, on 2.15) -> what that is
CHANGES = {
    (OLD, NEW): "changed",
    (NONE, OLD): "added",
    (OLD, NONE): "removed",
    (BAD, NONE): "removed",
    (OLD, BAD): "deviates",
    (NONE, BAD): "deviates",
    (OLD, DEAD): "deviates",
    (BAD, OLD): "fixed",
    (DEAD, NEW): "fixed",
    (BAD, DEAD): "otherwise",
    (OLD, NO): "otherwise",
    (NONE, NO): "added",
}


@pytest.fixture
def verdicts(tmp_path):
    names = {f"a.b.c{number}": pair for number, pair in enumerate(CHANGES)}
    table = {name: measured.clause(name, readings=("old", "new")) for name in [*names, "a.b.same", "a.b.unseen"]}
    cells = {**{name: [*pair] for name, pair in names.items()}, "a.b.same": [OLD, OLD], "a.b.unseen": [OLD, None]}
    return measured.write(tmp_path / "verdicts", table, cells, ("2.0.1", "2.15.0"))


def test_every_change_is_of_its_kind(verdicts, capsys):
    assert main(["diff", "2.0", "2.15", "--format", "json", "--verdicts", str(verdicts)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {change["clause"]: change["kind"] for change in told["changes"]} == {
        f"a.b.c{number}": kind for number, kind in enumerate(CHANGES.values())
    }
    assert (told["same"], told["unseen"]) == (1, 1)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_what_hurts_most_comes_first(verdicts, capsys, form):
    assert main(["diff", "2.0", "2.15", "--format", form, "--verdicts", str(verdicts)]) == 0
    out = capsys.readouterr().out.lower()
    counts = [f"{title} ({list(CHANGES.values()).count(kind)})" for kind, title in KINDS.items()]
    places = [out.index(told) for told in counts]
    assert places == sorted(places)
    assert all(out.count(f"a.b.c{number}{' ' if form == 'text' else '`'}") == 1 for number in range(len(CHANGES)))


PLAN = "Plan(Leaf('m0'),\n    steps=(Forward(),))"
EXPECTED = ["returns(2)", "h0(m0, 1)", "grads({x0: 2})"]
OBSERVED = ["returns(2)", "h0(m0, 3)", "grads({x0: 2})", "</details>```<img src=x>"]


@pytest.fixture
def in_modes(tmp_path):
    """Give verdicts of two clauses in two modes; what deviates has its evidence."""
    table = {name: measured.clause(name, readings=("old", "new")) for name in ("a.b.one", "a.b.two")}
    folder = measured.write(
        tmp_path / "verdicts", table, {"a.b.one": [OLD, OLD], "a.b.two": [OLD, NEW]}, ("2.0.1", "2.15.0")
    )
    evidence = {**synthetic.evidence(), "plan": PLAN, "expected": EXPECTED, "observed": OBSERVED}
    path = folder / "2.15.json"
    document = json.loads(path.read_text("utf-8"))
    one, two = (document["cells"][name] for name in table)
    one["compile"] = {**one["eager"], "verdict": "deviates", "declared": True, "evidence": evidence}
    two["compile"] = {**two["eager"], "reading": "old"}
    path.write_text(json.dumps(document), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("arguments", "head", "changes"),
    [
        # without a mode each is compared with itself
        (
            ["2.0", "2.15"],
            "torch 2.0.1 -> 2.15.0: 1 of 2 cells differ (1 of another reading), 2 not",
            ["a.b.two [eager]"],
        ),
        (["2.0", "2.15", "--mode", "eager"], "torch 2.0.1, eager -> 2.15.0, eager: 1 of 2", ["a.b.two [eager]"]),
        (
            ["2.0", "2.15", "--mode", "compile"],
            "torch 2.0.1, compile -> 2.15.0, compile: 0 of 0 cells differ, 2 not",
            [],
        ),
        (
            ["2.15", "2.15", "--mode", "eager", "--to-mode", "compile"],
            "torch 2.15.0, eager -> 2.15.0, compile: 2 of 2",
            ["a.b.one [eager -> compile]", "a.b.two [eager -> compile]"],
        ),
        (
            ["2.0", "2.15", "--mode", "eager", "--to-mode", "compile"],
            "torch 2.0.1, eager -> 2.15.0, compile: 1 of 2",
            ["a.b.one [eager -> compile]"],
        ),
    ],
)
def test_modes_are_compared_as_they_are_named(in_modes, capsys, arguments, head, changes):
    assert main(["diff", *arguments, "--verdicts", str(in_modes)]) == 0
    out = capsys.readouterr().out
    assert out.startswith(head)
    assert [line.partition("]")[0] + "]" for line in out.split("\n") if line.startswith("a.b.")] == changes
    assert main(["diff", *arguments, "--format", "json", "--verdicts", str(in_modes)]) == 0
    told = json.loads(capsys.readouterr().out)
    validate(told, "answers.schema.json#/$defs/diff", in_modes, "")
    shown = [(one["clause"], one["mode"], one["to_mode"]) for one in told["changes"]]
    assert [f"{name} [{mode if mode == to else f'{mode} -> {to}'}]" for name, mode, to in shown] == changes


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mode", "compil"], "there is no mode 'compil'; did you mean compile?"),
        (["--mode", "eager", "--to-mode", "jit"], "there is no mode 'jit'; measured are compile, eager"),
        (["--to-mode", "compile"], "--to-mode is named without --mode; name the mode of the first one too"),
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
    assert main(arguments) == 0
    shown = ["  on torch 2.15.0, compile:", *(f"    {line}" for line in [*PLAN.split("\n"), *traces])]
    assert "\n".join(shown) + "\n" in capsys.readouterr().out
    assert main([*arguments, "--format", "markdown"]) == 0
    shown = ["<summary>a.b.one on torch 2.15.0, compile: plan and traces</summary>", "", "```python", PLAN, "```"]
    shown += ["````text", *traces, "````", "", "</details>"]
    assert "\n".join(shown) + "\n" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_program_that_shows_both_is_named(in_modes, capsys, monkeypatch, tmp_path, form):
    says = measured.clause("a.b.two")["says"]
    (tmp_path / "a.b.two.py").write_text(f'"""a.b.two: {says}\n"""\n', encoding="utf-8")
    monkeypatch.setattr("reports.programs.program.__defaults__", (tmp_path,))
    assert main(["diff", "2.0", "2.15", "--format", form, "--verdicts", str(in_modes)]) == 0
    assert capsys.readouterr().out.count("reports/examples/a.b.two.py") == 1
