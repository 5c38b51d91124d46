"""What is left behind when a backward hook raises, and which mistakes are noticed when."""

from math import prod
from typing import List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Pack, Plan, Raise, ReturnWrong, Scale, hooks_of
from suites.backward.plans import AN_INPUT, MAYBE_SCALE, NO_INPUT, PAIR, row, script
from suites.names import FULL, PRE, TYPE_IS_LOST


@clause(
    "backward.errors.raising_full",
    says="If a full backward hook raises, no input of its module gets a gradient; gradients set before stay.",
    where=("inputs are positional tensors", "one call of the module"),
    see="backward.errors.raising_without_input",
    source="measured",
    asked="exception in module hook mid backprop are grads half filled which parameters already updated after crash",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda values, grad, raising: Plan(
            row(values), (Input(3),), (Hook("full_backward", raising, "h0", (Raise(),)), Forward(), Backward((grad,)))
        ),
        PAIR,
        NUMBERS,
        st.sampled_from(["m1", "m2"]),
    )
)
def test_raising_full(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    left: List[str] = [name for name, grad in trace.grads()[0].items() if grad is not None]
    assert trace.raised() == [("backward", "Boom")]
    assert left == (["m2.weight"] if plan.steps[0].on == "m2" else ["m1.weight", "m2.weight"])


#: A module whose second output is in a tuple of its own: what comes back through that one misses the output.
PAST = Leaf("m0", "both", out=Pack("tuple", (0, Pack("tuple", (1,)))))


@clause(
    "backward.errors.stale_pre",
    says="If m(x) is a, (b,) and m's full backward pre-hook raised for a, b.backward() runs m's full backward hook.",
    where=("this is the next pass", "b gives x a gradient"),
    source="measured",
    asked="two outputs pre hook crashed on one then other backpropagated leftover state wrong hook called",
    docs="contradicts",
    note="They are given what the pre-hooks before the failing one left of the failed pass; the docs say that "
    "grad_output holds the gradients with respect to the outputs. Without a failed pass they do not run.",
    needs=PRE,
)
@given(
    plan=st.builds(
        lambda hooks, factors, fails, grads: Plan(
            PAST,
            (AN_INPUT, AN_INPUT),
            (
                *(Hook("full_backward", "m0", f"full {place}") for place in range(hooks)),
                *(Hook("full_backward_pre", "m0", f"pre {by}", (Scale(by),)) for by in factors),
                Hook("full_backward_pre", "m0", "failing", (fails,)),
                Forward(),
                Backward((None, grads[0])),
                *(Backward((grad, None)) for grad in grads[1:]),
                Backward((None, grads[0])),
            ),
        ),
        st.integers(1, 3),
        st.lists(FACTORS, max_size=2, unique=True),
        st.sampled_from([Raise(), ReturnWrong("longer")]),
        st.lists(NUMBERS, min_size=2, max_size=3),
    )
)
def test_stale_pre(subject: Subject, plan: Plan) -> None:
    trace, full = subject.holds(plan), [hook.label for hook in hooks_of(plan, "full_backward")]
    assert trace.calls()[-len(full) :] == full
    *scaling, _ = hooks_of(plan, "full_backward_pre")
    stale = (plan.steps[-2].grads[0] * prod(hook.do[0].by for hook in scaling), None)
    assert [grad_output for _, _, grad_output in trace.seen_by("full 0")] == [stale]


@clause(
    "backward.errors.raising_without_input",
    says="If no input needs a gradient and the full backward hook raises, the module's parameters get no gradient.",
    where="forward uses the parameters",
    see="backward.errors.raising_full",
    source="measured",
    asked="hook crash on first layer with raw data are weights left without grad after exception",
    matters_if="full_backward raises ?inputs_need_no_grad",
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.9", "before them", {"full_without_input": "output"}),
        "If no input needs a gradient, the full backward hook runs before the parameters get their gradients.",
        ("", "silent", {"full_without_input": "silent"}),
        "If no input needs a gradient, the full backward hook does not run, so it cannot raise.",
    ),
    witness=script(2, (Hook("full_backward", "m0", "h0", (Raise(),)),), (), 1, NO_INPUT),
)
@given(
    plan=st.builds(
        lambda value, grad: script(value, (Hook("full_backward", "m0", "h0", (Raise(),)),), (), grad, NO_INPUT),
        NUMBERS,
        NUMBERS,
    )
)
def test_raising_without_input(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    silent = subject.reading.facts["full_without_input"] == "silent"
    assert [event.what for event in trace[1:]] == (["grads"] if silent else ["h0", "grads", "raises"])
    assert trace.raised() == [("backward", "Boom")] * (not silent)
    assert trace.grads()[0] == {"m0.weight": 3 * plan.steps[-1].grads[0] if silent else None}


@clause(
    "backward.errors.raising_legacy",
    says="For y = weight * x backward() raises what a legacy backward hook raises; weight and x get no gradient.",
    source=TYPE_IS_LOST,
    asked="old register_backward_hook throws exception do errors "
    "propagate is grad still filled or left none after crash",
    matters_if="backward raises",
    readings=(
        Reading(
            "as it is",
            "!=1.5.*,!=1.6.*",
            "backward() raises what a legacy backward hook raised, with its own type.",
            {"engine_keeps_error_type": True},
            effect="error",
        ),
        Reading(
            "as RuntimeError",
            ">=1.5,<1.7",
            "If a legacy backward hook raises, backward() raises RuntimeError, whatever the hook raised.",
            {"engine_keeps_error_type": False},
            says_the_same=False,
            effect="error",
        ),
    ),
    witness=script(2, (Hook("backward", "m0", "h0", (Raise(),)), Hook("backward", "m0", "h1")), (), 1),
)
@given(
    plan=st.builds(
        lambda value, grad, dos: script(
            value, tuple(Hook("backward", "m0", f"h{i}", do) for i, do in enumerate(dos)), (), grad
        ),
        NUMBERS,
        NUMBERS,
        st.lists(MAYBE_SCALE, min_size=0, max_size=2).map(lambda dos: [*dos, (Raise(),), ()]),
    )
)
def test_raising_legacy(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    error = "Boom" if subject.reading.facts["engine_keeps_error_type"] else "RuntimeError"
    assert trace.raised() == [("backward", error)]
    assert trace.calls() == [hook.label for hook in hooks_of(plan)][:-1]
    assert trace.grads() == [{"x0": None, "m0.weight": None}]
