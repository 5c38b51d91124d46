"""explain: one clause in full, and names that were unfinished or misspelt."""

from __future__ import annotations

import json

import pytest

from fixtures.rules import RULES
from reports.__main__ import main
from reports.data.names import near
from suites.selfcheck import synthetic

DEVIATES = "a.b.deviates"
PLAIN = "a.b.plain"
HOSTILE = "\x1b[31m<script>alert(1)</script> ``` |"


@pytest.fixture
def verdicts(tmp_path):
    """Give recorded verdicts of three releases: one clause changes and deviates, the other is hostile."""
    readings = [
        {"name": "old", "torch": "<2.0", "says": "It was.", "says_the_same": False, "effect": "error"},
        {"name": "new", "torch": ">=2.0", "says": "It is."},
    ]
    base = synthetic.clauses(1)["ordering.{}".format(next(iter(synthetic.clauses(1))).partition(".")[2])]
    bug = {"name": "late", "torch": ">=2.15", "mode": "eager", "verdict": "deviates", "says": "It is late."}
    bug.update(effect="silent", reason="Nobody looked.", ref="https://github.com/pytorch/pytorch/issues/1")
    more = {"docs": "contradicts", "note": "Why.", "level": "implied", "deviations": [bug]}
    table = {
        DEVIATES: {**base, "says": "It does.", "readings": readings, **more},
        PLAIN: {**base, "says": HOSTILE, "code": HOSTILE, "readings": [{"name": "always", "torch": "", "says": ""}]},
    }
    folder = synthetic.write_verdicts(tmp_path / "verdicts", table, ("1.13.1", "2.0.1", "2.15.0"))
    with synthetic.changing(folder, "2.15") as cells:
        cells[DEVIATES]["eager"].update(
            verdict="deviates", declared=True, deviation="late", reading="new", evidence=synthetic.evidence()
        )
    return folder


def reading(name, torch, **more):
    return {"name": name, "torch": torch, "says": "It is.", **more}


@pytest.mark.parametrize(
    ("readings", "since", "stated"),
    [
        (
            [reading("a", ""), reading("b", "never", says_the_same=False, effect="error")],
            0,
            ["every torch"],
        ),
        ([reading("a", "<2.0"), reading("b", ">=2.0")], 0, ["torch <2.0", "torch >=2.0"]),
        # another reading comes first
        ([reading("a", ">=2.0,<2.15"), reading("b", "")], 0, ["torch >=2.0,<2.15", "torch 1.13, 2.15"]),
        # the API is younger
        ([reading("a", ""), reading("b", "never")], 1, ["torch 2.0 to 2.15"]),
        ([reading("a", "<2.15"), reading("b", ">=2.15")], 1, ["torch 2.0", "torch >=2.15"]),
        ([reading("a", "<2.0"), reading("b", ">=2.0")], 1, ["torch <2.0, where it is not measured", "torch >=2.0"]),
    ],
)
def test_a_reading_is_stated_for_where_it_is_in_force_and_no_more(tmp_path, capsys, readings, since, stated):
    base = next(iter(synthetic.clauses(1).values()))
    torches = ("1.13.1", "2.0.1", "2.15.0")
    folder = synthetic.write_verdicts(tmp_path, {PLAIN: {**base, "readings": readings}}, torches)
    for torch in torches[:since]:
        with synthetic.changing(folder, torch.rpartition(".")[0]) as cells:
            cells[PLAIN]["eager"].update(verdict="absent", reading=None)
    assert call(folder, "explain", PLAIN) == 0
    out = capsys.readouterr().out
    told = [f"  {one['name']} ({words}): It is.\n" for one, words in zip(readings, stated, strict=False)]
    told += ["  the test refutes: It is.\n"] * (len(stated) == 1)
    assert all(line in out for line in told), out


def test_a_wrong_value_that_is_no_sentence_is_not_shown(tmp_path, capsys):
    base = next(iter(synthetic.clauses(1).values()))
    wrong = reading("neither", "never", says="Torch does otherwise: neither.")
    folder = synthetic.write_verdicts(tmp_path, {PLAIN: {**base, "code": "", "readings": [reading("a", ""), wrong]}})
    for words in ([], ["--format", "markdown"]):
        assert call(folder, "explain", PLAIN, *words) == 0
        out = capsys.readouterr().out
        assert "neither" not in out
        assert "refutes" not in out


def call(verdicts, *arguments):
    return main([*arguments, "--verdicts", str(verdicts)])


def test_the_text_tells_readings_history_evidence_source_and_test(verdicts, capsys):
    assert call(verdicts, "explain", DEVIATES) == 0
    out = capsys.readouterr().out
    for part in (
        f"{DEVIATES}  It does.",
        "The documentation of torch says something else.",
        "implied: torch's own tests, comments or pull requests rely on it",
        "old (torch <2.0; there the sentence is not true (raises)): It was.",
        "new (torch >=2.0): It is.",
        "1.13  otherwise (raises): It was. (reading: old)",
        "2.0   holds: It does. (reading: new)",
        "2.15  deviates (other values or calls): It is late. [Nobody looked; https://github.com/pytorch/pytorch/issues/1]",
        "observed",
        "02b tensor_hook a.out 7",
        "import torch",
        "def test_",
        f"{PLAIN}  ",
    ):
        assert part in out


def test_a_clause_that_is_new_in_the_suite_is_said_to_be_not_recorded(tmp_path, capsys):
    table = synthetic.clauses(2)
    new, *_ = table
    folder = synthetic.write_verdicts(tmp_path / "verdicts", {n: c for n, c in table.items() if n != new}, ("2.15.0",))
    synthetic.write_table(folder, table)
    for form in ("text", "markdown"):
        assert call(folder, "explain", new, "--format", form) == 0
        assert "not recorded yet: the suite has this clause" in capsys.readouterr().out


def test_what_torch_does_comes_first_and_all_modes_have_one_line(verdicts, capsys):
    with synthetic.changing(verdicts, "2.15") as cells:
        cells[DEVIATES]["copy"] = {**cells[DEVIATES]["eager"], "evidence": None}
        cells[DEVIATES]["late"] = {**cells[DEVIATES]["copy"], "deviation": "rule frame"}
    assert call(verdicts, "explain", DEVIATES) == 0
    out = capsys.readouterr().out
    line = "in other modes: as in eager in 1 of 2; otherwise in late"
    parts = ("It does.", "--example", "torch 2.15: deviates", "measured, eager", line, "readings, ", "checked by")
    assert sorted(parts, key=out.index) == list(parts)
    assert "measured, late" not in out
    assert call(verdicts, "explain", DEVIATES, "--modes") == 0
    assert "\nmeasured, late\n" in capsys.readouterr().out


def test_json_and_markdown_tell_the_same(verdicts, capsys):
    assert call(verdicts, "explain", DEVIATES, "--format", "json") == 0
    reported = json.loads(capsys.readouterr().out)
    assert [span["verdict"] for span in reported["history"]["eager"]] == ["conforms", "conforms", "deviates"]
    assert reported["history"]["eager"][2]["evidence"] == synthetic.evidence()
    assert reported["related"] == [PLAIN]
    assert call(verdicts, "explain", DEVIATES, "--format", "markdown") == 0
    out = capsys.readouterr().out
    assert "| 2.15 | eager | deviates (other values or calls): It is late. \\[Nobody looked; https://github" in out
    assert "implied: torch's own tests" in out
    assert "```python\nimport torch" in out


def test_nothing_in_a_clause_acts_upon_the_terminal_or_the_markdown(verdicts, capsys):
    assert call(verdicts, "explain", PLAIN) == 0
    assert "\x1b" not in capsys.readouterr().out
    assert call(verdicts, "explain", PLAIN, "--format", "markdown") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    before, fence, code = out.partition("````python\n")
    assert fence, "the code is fenced by more backticks than it holds"
    assert "<script>" in code
    assert "<script>" not in before


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("a.b.devi", "did you mean a.b.deviates?"),
        ("a.b.deviate5", "did you mean a.b.deviates?"),
        ("plain", "did you mean a.b.plain?"),
        ("A.B.PLAIN", "did you mean a.b.plain?"),
        ("a.b", "did you mean a.b.deviates or a.b.plain?"),
        ("", "python -m reports rely lists them all"),
        ("zzz", "python -m reports rely lists them all"),
        ("\x1b[31m", "python -m reports rely lists them all"),
    ],
)
def test_an_unknown_clause_is_answered_in_one_line(verdicts, capsys, asked, said):
    assert call(verdicts, "explain", asked) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.endswith(said + "\n")
    assert err.strip().isprintable()


def test_the_nearest_names_come_in_order_of_likelihood():
    known = ["register_hook", "register_forward_hook", "register_forward_pre_hook", "retain_grad"]
    assert near("register_forward", known) == ["register_forward_hook", "register_forward_pre_hook"]
    assert near("forward_pre", known) == ["register_forward_pre_hook"]
    assert near("retain_gard", known) == ["retain_grad"]
    assert near("xyz", known) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["expalin"], "invalid choice: 'expalin', did you mean explain?"),
        (["diff", "2.0", "2.15", "--format", "mark"], "invalid choice: 'mark', did you mean markdown?"),
        (["zzz"], "choose from"),
    ],
)
def test_an_unknown_verb_or_choice_is_answered_in_one_line(capsys, arguments, said):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    out, err = capsys.readouterr()
    assert (caught.value.code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert "--help" in err


def test_diff_guesses_versions_too(verdicts, capsys):
    assert call(verdicts, "diff", "torch1.13", "2.1") == 2
    assert "2.1: no such version is recorded; did you mean 2.15?" in capsys.readouterr().err


def test_what_a_mode_does_otherwise_is_explained_by_the_name_that_affects_gives(verdicts, capsys):
    (rule,) = (one for one in RULES["checkpoint"] if one.name == "again")
    assert call(verdicts, "explain", "checkpoint.again") == 0
    out = capsys.readouterr().out
    assert out.startswith(f"checkpoint.again  {rule.says}\n")
    assert repr(rule.witness) in out
