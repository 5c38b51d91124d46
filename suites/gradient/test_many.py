"""Many passes: hooks of tensors and of nodes, and retain_grad()."""

from typing import Any, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.clause import clause
from fixtures.draw.contract import by_contract
from fixtures.draw.plans import FACTORS, NUMBERS, available
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Retain, Scale, hooks_of
from suites.gradient.plans import PLACES
from suites.shapes import product


@st.composite
def many_passes(draw: Any, kinds: Tuple[str, ...]) -> Plan:
    """y = weight * x with hooks on y, its node and x that multiply, or look at .grad; and two to twelve like passes."""
    hooks = []
    for place, kind in enumerate(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))):
        do = () if kind == "post_accumulate" else (Scale(draw(FACTORS)),)
        hooks.append(Hook(kind, draw(st.sampled_from(PLACES[kind])), f"h{place}", do))
    passes = (Backward((draw(NUMBERS),)),) * draw(st.integers(2, 12))
    return Plan(
        Leaf("m0", "scale", (draw(NUMBERS),)), (Input(draw(NUMBERS)),), (Forward(), Retain("m0>0"), *hooks, *passes)
    )


@clause(
    "gradient.many.passes",
    says="Tensor hooks, hooks of nodes and retain_grad() act in every backward() that reaches them, not just one.",
    source="measured",
    asked="is it one shot or persistent must i register again every iteration retain_graph thousands of calls",
    about=(*apis(PLACES), "retain_grad"),
)
@given(plan=by_contract(lambda contract: many_passes(available(contract, tuple(PLACES)))))
def test_passes(subject: Subject, plan: Plan) -> None:
    trace, passes = subject.holds(plan), sum(isinstance(step, Backward) for step in plan.steps)
    for hook in hooks_of(plan):
        assert len(trace.seen_by(hook.label)) == passes
    kept = trace.grads()[0]["m0>0"]
    left = plan.net.values[0] * plan.steps[-1].grads[0] * product(hooks_of(plan))
    expected = [(kept * number, left * number) for number in range(1, passes + 1)]
    assert [(grads["m0>0"], grads["x0"]) for grads in trace.grads()] == expected
