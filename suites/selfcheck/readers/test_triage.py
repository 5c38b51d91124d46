"""What failures share: the signs of plans and tests, the clusters, where to start, and the verb that prints them."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from fixtures.judge.in_words import in_words
from fixtures.judge.triage import BROAD, HOMES, as_lines, fails, signs_of_plan, signs_of_test, summary, triage, words
from fixtures.plan.grammar import Add, Backward, Copy, Drop, Forward, Hook, Input, Leaf, Plan, Remove, Retain, Scale
from reports.__main__ import main
from reports.data.strict import BadInput, validate
from suites.selfcheck import synthetic, synthetic_cells

ORDER = "first difference: other order"
TABLE = {
    name: synthetic_cells.clause(name, "def test_c(it):\n    it.register_hook(print)\n")
    for name in ("output.a.one", "output.a.two", "ordering.a.one", "retain.a.one", "together.a.one", "a.b.c")
}
TABLE["ordering.a.one"]["where"] = ["it is"]


def plan(*steps: Any) -> Plan:
    return Plan(Leaf("m0", "scale", (1,)), (Input(1),), steps)


@pytest.mark.parametrize(
    ("steps", "expected", "observed", "signs"),
    [
        (
            (Hook("forward", "m0", "h0"), Hook("forward", "m0", "h1", prepend=True), Forward()),
            ["h1(m0, 1)", "h0(m0, 1)"],
            ["h0(m0, 1)", "h1(m0, 1)"],
            ["forward hook", "prepend=True", ORDER, "first at: forward hook"],
        ),
        (
            (Hook("tensor", "x0", "h0", (Scale(2), Drop("h0"))), Retain("m0>0"), Backward((1,), inputs=("x0",))),
            ["h0(1)", "grads({x0: 2})"],
            ["h0(1)", "h0(2)", "grads({x0: 4})"],
            ["tensor hook", "replaces", "removes a hook", "retain_grad", "backward(inputs=)"]
            + ["first difference: extra", "first at: tensor hook"],
        ),
        (
            (
                Hook("forward", "*", "h0", (Add(Hook("forward_pre", "m0", "h1")),)),
                Copy(),
                Remove("h0"),
                Forward(grad=False),
            ),
            ["h0(m0, 1)", "returns(1)"],
            ["raises(forward, TypeError)"],
            ["forward hook", "global hook", "adds a hook", "forward_pre hook", "deepcopy", "remove()", "no_grad"]
            + ["first difference: missing", "first at: forward hook"],
        ),
        ((Forward(),), ["returns(1)"], ["returns(2)"], ["first difference: other value", "first at: returns"]),
    ],
)
def test_a_plan_has_these_signs(steps: Any, expected: Any, observed: Any, signs: Any) -> None:
    assert signs_of_plan(plan(*steps), expected, observed) == signs


def helper(module: Any) -> Any:
    return module.register_module_full_backward_hook(print)


def direct(kind: Any, others: Any = ()) -> None:
    helper(kind).remove()
    [each.register_hook(print, with_kwargs=True) for each in others]


def test_a_test_has_the_signs_of_its_own_functions_and_of_what_it_drew() -> None:
    found = signs_of_test(direct, {"kinds": ["forward"], "other": "nothing"}, "error")
    assert set(found) == {
        *("full_backward hook", "global hook", "remove()", "tensor hook", "with_kwargs=True", "forward hook"),
        "first difference: error",
    }


def cell(clause: str, *signs: str, verdict: str = "deviates", declared: bool = False, **more: Any) -> dict[str, Any]:
    evidence = {"plan": f"Plan({len(signs)})", "expected": [], "observed": [], "message": "", "reproducer": ""}
    made = {"type": "cell", "clause": clause, "mode": "eager", "verdict": verdict, "reading": None, "refuted": []}
    made.update(holds=[], declared=declared, seconds=0.5, note="", evidence=evidence, signs=list(signs))
    return {**made, **more}


def lines_of(clusters: Any) -> list[str]:
    return as_lines(clusters, TABLE, lambda cell: f"script: {cell['clause']}.py")


def seen(expected: list[str], observed: list[str], **more: Any) -> dict[str, Any]:
    found = {"plan": "Plan(3)", "expected": expected, "observed": observed, "reproducer": "print()\n"}
    return {**found, "message": "plan: Plan(3)\n\n  expected", **more}


RUN = [
    cell("output.a.one", "forward hook", "replaces", ORDER),
    cell("output.a.two", "forward hook", ORDER),
    cell(
        *("ordering.a.one", "forward hook", ORDER, "remove()", "first at: forward hook"),
        evidence=seen(["h0(m0, 1)", "h1(m0, 1)"], ["h1(m0, 1)", "h0(m0, 1)"]),
    ),
    cell("retain.a.one", "retain_grad", evidence=seen(["2"], ["3"], plan="")),
    cell("together.a.one", verdict="conforms"),
]


def test_failures_are_clustered_by_what_they_share_and_the_chapter_about_it_comes_first() -> None:
    first, second = triage(RUN)
    assert (len(first.cells), first.start["clause"]) == (3, "ordering.a.one")
    assert list(first.signs.items())[:4] == [("forward hook", 3), (ORDER, 3), ("replaces", 1), ("remove()", 1)]
    assert words(first) == f"forward hook; {ORDER}"
    assert second.start["clause"] == "retain.a.one"
    lines = lines_of([first, second])
    assert lines == [
        "triage of 4 failures, by what they share:",
        f"  3: forward hook; {ORDER}",
        f"    start here: ordering.a.one [eager]: {TABLE['ordering.a.one']['says']}",
        "    where it is",
        "    first difference: h1 ran before h0",
        "",
        "    plan: Plan(3)",
        "",
        "      expected",
        "",
        "    script: ordering.a.one.py",
        "  1: retain_grad",
        f"    the observed value was 3, not 2: retain.a.one [eager]: {TABLE['retain.a.one']['says']}",
    ]
    assert lines_of([second])[0] == "triage of 1 failure:"


def test_without_a_chapter_about_it_one_starts_where_most_fails_and_with_the_least_that_is_strange() -> None:
    others = [cell("output.a.three", verdict="conforms"), cell("input.a.one", "a", "b")]
    cells = [cell("output.a.one", "a", "c", "d"), cell("output.a.two", "a"), cell("together.a.one", "a"), *others]
    assert triage(cells)[0].start["clause"] == "input.a.one"
    cells[-1]["verdict"], cells[-1]["declared"] = "deviates", True
    assert triage(cells)[0].start["clause"] == "output.a.two"


TRACE = ["h0(m0, (1,), 2)", "h1(m0, (1,), 2)", "returns(2)", "grads({x0: 1, w: 3})"]


@pytest.mark.parametrize(
    ("kind", "expected", "observed", "words"),
    [
        ("forward", TRACE, [TRACE[1], TRACE[0], *TRACE[2:]], "h1 ran before h0"),
        ("forward", TRACE, TRACE[1:], "h0 was not called"),
        ("forward", TRACE, TRACE[:1], "h1 was not called"),
        ("forward", TRACE[:2] * 2, TRACE[:2] + TRACE[1:2], "h0 was called once less"),
        ("forward", TRACE, [*TRACE[:2], *TRACE[:1] * 2, *TRACE[2:]], "h0 was called 2 times more"),
        ("forward", TRACE[2:], TRACE[1:], "h1 was called, and should not be"),
        ("forward", TRACE, [*TRACE[:3], "grads({x0: 1, w: 4})"], "the gradient of w was 4, not 3"),
        ("forward", TRACE[2:], ["returns((2, 3))", TRACE[3]], "what the call returned was (2, 3), not 2"),
        ("forward", TRACE, [TRACE[0].replace("2)", "4)"), *TRACE[1:]], "output of h0 was 4, not 2"),
        (
            "forward",
            ["h0(m0, (1,), {k: (1, 2)}, 3)"],
            ["h0(m0, (1,), {k: (1, 3)}, 3)"],
            "kwargs of h0 was {k: (1, 3)}, not {k: (1, 2)}",
        ),
        ("full_backward", ["h0(m0, (3,), (1,))"], ["h0(m0, (3,), (2,))"], "grad_output of h0 was 2, not 1"),
        ("node", ["h0((3,), (1,))"], ["h0((3,), (2,))"], "what h0 was given was 2, not 1"),
        (
            "full_backward",
            ["h0(m0, (3,), (1,))"],
            ["h0(m0, (3,))"],
            "what h0 was given was m0, (3,), not m0, (3,), (1,)",
        ),
        ("forward", TRACE, ["raises(forward, RuntimeError)"], "forward raised RuntimeError"),
        ("forward", ["raises(forward, RuntimeError)"], TRACE, "forward did not raise RuntimeError"),
        ("forward", ["raises(forward, A)"], ["raises(forward, B)"], "forward raised B, not A"),
        ("forward", TRACE[2:], TRACE[3:], "returns(2) is not there"),
        ("forward", TRACE, [*TRACE, "saved(1)"], "saved(1) is there, too"),
        ("tensor", [f"h0({'1' * 70})"], ["h0(2)"], "the gradient of h0 was another"),
        ("", ["[0, (1, 2)]"], ["[(1, 2), 0]"], "(1, 2) came before 0"),
        ("", ["'a, b'"], ["'b'"], "the observed value was 'b', not 'a, b'"),
        ("", ["0", "1"], ["1", "0"], "1 came before 0"),
        ("", ["1" * 70], ["2"], "the values are others"),
        ("", ["no ValueError"], ["ValueError: no, not that"], "ValueError was raised"),
        ("", ["no error"], ["AssertionError: assert 1 == 2"], "this is false: 1 == 2"),
        ("", ["true: a < b"], ["false: a < b"], "this is false: a < b"),
    ],
)
def test_the_first_difference_is_said_in_words(kind: str, expected: Any, observed: Any, words: str) -> None:
    signs = [f"first at: {kind} hook"] if kind else []
    assert in_words(cell("a.b.c", *signs, evidence=seen(expected, observed))) == words


def test_a_failure_without_traces_is_said_in_words_too() -> None:
    changed = "the verdict has changed: a is recorded, and this torch gives b; look"
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"verdict": "crashed"}, "the process died"),
        ({"verdict": "hung"}, "it did not end"),
        (
            {"verdict": "conforms", "complaint": changed},
            "the verdict has changed: a is recorded, and this torch gives b",
        ),
        ({"verdict": "unseen", "note": "it is stale", "evidence": None}, "it is stale"),
    )
    for more, said in cases:
        assert in_words(cell("a.b.c", **more)) == said


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({}, True),
        ({"declared": True}, False),
        ({"verdict": "crashed"}, True),
        ({"verdict": "unseen"}, True),
        ({"verdict": "absent"}, False),
        ({"verdict": "conforms", "complaint": "the verdict has changed"}, True),
    ],
)
def test_what_fails_a_run(changes: Any, answer: bool) -> None:
    assert fails(cell("a.b.c", **changes)) is answer


def test_nothing_is_said_where_nothing_failed_and_declared_ones_are_told_apart() -> None:
    assert lines_of(triage([cell("a.b.c", verdict="conforms")])) == []
    cells = [cell("a.b.c"), cell("a.b.d", declared=True), cell("a.b.e", verdict="crashed", declared=True)]
    assert summary(cells) == "2 deviates (1 not declared), 1 crashed as declared"
    assert summary(cells[:1]) == "1 deviates, not declared"


def written(path: Any, cells: list[dict[str, Any]]) -> str:
    lines = [synthetic.header(TABLE, "2.15.0"), *cells, synthetic.footer(cells)]
    return str(synthetic.write_lines(path / "run.jsonl", lines))


def test_the_verb_says_the_same_of_a_run_file(tmp_path: Any, capsys: Any) -> None:
    path = written(tmp_path, RUN)
    assert main(["triage", path]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "torch 2.15.0+cpu: 4 deviates, not declared, 1 conforms"
    hint = f"    the script: python -m reports explain ordering.a.one --run {path}"
    same = [hint if line == "    script: ordering.a.one.py" else line for line in lines_of(triage(RUN))]
    assert out[1 : 1 + len(same)] == same
    assert out[-1] == "  output.a.one, output.a.two, ordering.a.one"
    script = tmp_path / "reproducers" / "ordering.a.one.eager.py"
    script.parent.mkdir()
    for code, line in (("print(2)\n", hint), ("print()\n", f"    script: {script}")):  # one of another run is not named
        script.write_text(code)
        assert main(["triage", path]) == 1
        assert line in capsys.readouterr().out.splitlines()
    assert main(["triage", path, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    validate(document, "answers.schema.json#/$defs/triage", tmp_path, "")
    with pytest.raises(BadInput, match="unknown key 'colour'"):
        validate({**document, "colour": "red"}, "answers.schema.json#/$defs/triage", tmp_path, "")
    assert document["clusters"][0]["start"] == {"clause": "ordering.a.one", "mode": "eager", "plan": "Plan(3)"}
    assert main(["triage", path, "--format", "markdown"]) == 1
    row = "| 3 | forward hook; first difference: other order | `ordering.a.one` | h1 ran before h0 |"
    assert row in capsys.readouterr().out


def test_older_run_files_have_no_signs_and_are_read(tmp_path: Any, capsys: Any) -> None:
    old = [{name: value for name, value in each.items() if name != "signs"} for each in RUN]
    assert main(["triage", written(tmp_path, old)]) == 1
    assert "4: nothing in common" in capsys.readouterr().out
    good = [dict(each, verdict="conforms", evidence=None) for each in old]
    assert main(["triage", written(tmp_path, good)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["nothing failed"]


def drawn(luck: random.Random, size: int) -> list[dict[str, Any]]:
    """The cells of a run in which each rule of the triage decides now and then: old files, ties, equal clauses."""
    signs = [*HOMES, "replaces", "raises", "prepend=True"]
    # Of few signs and chapters many cells share some.
    signs = luck.sample(signs, luck.choice([2, 4, len(signs)]))
    chapters = luck.sample(sorted({*HOMES.values(), *BROAD}), luck.choice([2, 3, 9]))
    if luck.random() < 0.5:
        chapters = [HOMES.get(sign, "together") for sign in signs]
    cells = []
    for _ in range(size):
        verdict = luck.choice(["deviates", "deviates", "conforms", "crashed", "hung", "unseen", "absent"])
        own = luck.sample(signs, luck.randint(0, min(4, len(signs))))
        more: dict[str, Any] = {"complaint": "the verdict has changed"} if luck.random() < 0.1 else {}
        made = cell(f"{luck.choice(chapters)}.a.c{luck.randint(0, 3)}", *own, verdict=verdict, **more)
        made.update(mode=luck.choice(["eager", "compile"]), declared=luck.random() < 0.2)
        made["evidence"]["plan"] = luck.choice(["", "Plan()", "Plan(2)", "Plan(33)"])
        if luck.random() < 0.1:
            made["evidence"] = None
        if luck.random() < 0.05:
            del made["signs"]
        cells.append(made)
    return cells
