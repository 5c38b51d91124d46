"""Plans are data: they survive JSON and Python text, and the reproducer made of one does what the stage does."""

import contextlib
import gc
import io
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fixtures.draw.plans import plans
from fixtures.graph.errors import TooLarge
from fixtures.model.contract import contract_for, installed_version
from fixtures.model.module import expect
from fixtures.plan import grammar as grammar
from fixtures.plan.grammar import Backward, Chain, Forward, Hook, Input, Leaf, Plan, Retain, Scale
from fixtures.play.trace import Event, Trace, side_by_side
from fixtures.show.ending import NEEDED
from fixtures.show.standalone import script
from fixtures.stages.stage import Torch, perform
from suites.together import test_grammar, test_values

VERSION = installed_version()
CONTRACT = contract_for(VERSION)
CLAUSES: list[Any] = [vars(module)["test_everything"] for module in (test_grammar, test_values)]
ANY = st.one_of(*(one.hypothesis._given_kwargs["plan"] for one in CLAUSES))
HEALTH = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
QUICK = settings(
    max_examples=150,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=HEALTH,
    phases=(Phase.generate,),
)


@QUICK
@given(plan=ANY)
def test_a_plan_survives_json(plan: Plan) -> None:
    assert Plan.from_json(plan.to_json()) == plan


@QUICK
@given(plan=ANY)
def test_a_plan_prints_as_the_python_that_builds_it(plan: Plan) -> None:
    assert eval(repr(plan), dict(vars(grammar))) == plan


@pytest.mark.parametrize("text", ["[]", "{}", '{"Plan": 1, "x": 2}', '{"os": {}}', "1", '{"Scale": {"by": 2}}'])
def test_json_that_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        Plan.from_json(text)


def run(code: str) -> Any:
    """Run a reproducer in this process. Returns (its last words, its log of events, what it prints)."""
    space: Any = {"__name__": "__main__"}
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as stop:
        exec(compile(code, "reproducer.py", "exec"), space)
    assert gc.isenabled()  # also where a script looks at what lives on
    return str(stop.value), space["log"], out.getvalue()


@QUICK
@given(plan=ANY)
def test_a_reproducer_shows_what_the_stage_sees(plan: Plan) -> None:
    lib = Torch()
    try:
        expected = expect(plan, CONTRACT)
    except TooLarge:
        return
    trace = perform(plan, lib)
    words, log, printed = run(script(plan, expected, trace, "a.clause.id: A sentence.", VERSION))
    lib.reset()
    reported = [str(Event(row[0], row[1:])) for row in log]
    assert reported == trace.lines(), f"{plan!r}\n{side_by_side(trace.lines(), reported)}"
    assert (words, printed.splitlines()[-1]) == ("False", f"torch {torch.__version__} does as stated")


SMALL = Plan(
    Leaf("m0", "scale", (1,)),
    (Input(1),),
    (Forward(), Retain("m0>0"), Backward(), Hook("tensor", "m0>0", "h0", (Scale(2),)), Backward()),
)


EDITED = Plan(
    Leaf("m0", "scale", (1,)),
    (Input(1),),
    (
        Hook("forward", "m0", "h0", (grammar.InPlace(3),)),
        Forward(),
        Retain("m0>0"),
        grammar.MulInPlace("m0>0", 2),
        Backward(),
    ),
)


#: A module inside of another goes to eval mode with it; there is a keyword for each of thirteen tensors.
INSIDE = Plan(Chain("m0", (Leaf("m1", "gate", (2,)),)), (Input(1),), (grammar.Train("m0", False), Forward()))
KEYWORDS = Plan(
    Leaf("m0", "many", (2,), grammar.Call((0,) * 13, tuple(grammar.FIELDS[:13])), outputs=1), (Input(1),), (Forward(),)
)
#: A module packs more tensors in a dict than there are letters before m, which is no key.
PACKED = Plan(Leaf("m0", "scale", (2,), out=grammar.Pack("dict", (0,) * 13)), (Input(1),), (Forward(),))
#: Of the gradients that a hook changes in place one is undefined.
HOLLOW = Plan(
    Leaf("m0", "both"),
    (Input(1), Input(1, grad=False)),
    (Hook("full_backward_pre", "m0", "h0", (grammar.InPlace(3),)), Forward(), Backward((1, None))),
)
#: What a hook returns has names by number, of the tensors alone.
NAMED = Plan(
    Leaf("m0", "both"),
    (Input(grammar.Of(1)), Input(grammar.Of(1))),
    (
        Hook("full_backward_pre", "m0", "h0", (Scale(2),)),
        Hook("full_backward_pre", "m0", "h1"),
        Forward(),
        Backward((None, grammar.Like(1))),
    ),
)


@pytest.mark.parametrize("plan", [INSIDE, KEYWORDS, PACKED, HOLLOW, NAMED])
def test_a_reproducer_of_what_is_seldom_drawn_does_as_the_plan_says(plan: Plan) -> None:
    trace = expect(plan, CONTRACT)
    assert trace == perform(plan, Torch())
    assert run(script(plan, trace, trace, "a.clause.id: A sentence.", VERSION))[0] == "False"


@pytest.mark.parametrize("plan", [SMALL, EDITED])
def test_a_reproducer_of_a_small_plan_is_short_and_needs_only_torch(plan: Plan) -> None:
    trace = expect(plan, CONTRACT)
    code = script(plan, trace, trace, "a.clause.id: A sentence.", VERSION)
    lines = code.rstrip().splitlines()
    assert len(lines) < 80
    assert [line for line in lines if line.startswith(("import", "from"))] == [NEEDED, "import torch"]


def test_a_reproducer_marks_the_line_that_differs() -> None:
    trace = expect(SMALL, CONTRACT)
    wrong = Trace([*trace[:-1], trace[-1]._replace(seen=({"x0": 99},))])
    words, _, printed = run(script(SMALL, wrong, trace, "a.clause.id: A sentence.", VERSION))
    assert words == "True"
    assert printed.splitlines()[-1].endswith("does otherwise")
    assert [line[0] for line in printed.splitlines()].count("!") == 1


def test_two_traces_are_shown_side_by_side() -> None:
    shown = side_by_side(["h0(1)", "h1(2)", "b"], ["h1(3)", "h0(1)", "c"], "wanted", "seen")
    assert shown.splitlines() == [
        "  wanted  seen",
        "+         h1(3)",
        "  h0(1)   h0(1)",
        "- h1(2)",
        "≠ b       c",
    ]


def test_lines_too_wide_for_a_column_stand_below_each_other() -> None:
    wide, other = f"h0({'1' * 80})", f"h0({'2' * 80})"
    shown = side_by_side([wide, wide, "h1(1)"], [wide, other, "h1(1)"]).splitlines()
    assert shown[1:4] == [f"  both: {wide}", f"≠ expected: {wide}", f"  observed: {other}"]
    assert shown[4].split() == ["h1(1)", "h1(1)"]


@QUICK
@given(plan=plans(kinds=("forward",), runs=2, contract=CONTRACT))
def test_most_drawn_plans_play_to_the_end(plan: Plan) -> None:
    assert expect(plan, CONTRACT).returns()


def test_a_chain_of_shared_modules_is_played() -> None:
    shared = Plan(Chain("m0", (Leaf("m1", "scale", (2,)), grammar.Reuse("m1"))), (Input(3),), (Forward(), Backward()))
    assert perform(shared, Torch()).returns() == [12]
