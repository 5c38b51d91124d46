"""What is promised to work and ends some releases of torch with a segmentation fault.

Each of these clauses runs in a process of its own: a crash costs one cell.
"""

from math import prod
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Drop, Forward, Hook, Input, Leaf, Plan, Scale, hooks_of
from fixtures.stages.make import make
from suites.names import RETAIN_DOCS, SNAPSHOT
from suites.shapes import product

ABOUT = "register_hook"


@st.composite
def self_removing(draw: Any) -> Plan:
    """Three hooks on one tensor; one of them removes itself and then returns a replacement."""
    on = draw(st.sampled_from(["x0", "m0.weight", "m0>0"]))
    place = draw(st.integers(0, 2))
    hooks = []
    for index in range(3):
        label = f"h{index}"
        do = (Scale(draw(FACTORS)),)
        hooks.append(Hook("tensor", on, label, (Drop(label), *do) if index == place else do))
    backwards = (Backward((draw(NUMBERS),)), Backward((draw(NUMBERS),)))
    return Plan(Leaf("m0", "scale", (draw(NUMBERS),)), (Input(2),), (Forward(), *hooks, *backwards))


@clause(
    "gradient.crash.removes_itself_and_replaces",
    says="A tensor hook that removes itself may still replace the gradient in that call, which is its last.",
    source=SNAPSHOT,
    asked="one shot hook calls handle remove within callback and return new grad still applied once only",
    matters_if="tensor returns ?removes_inside",
    note="Before 1.10 torch used the freed hook to check what it returned: a segmentation fault.",
    isolated=True,
)
@given(plan=self_removing())
def test_removes_itself_and_replaces(subject: Subject, plan: Plan) -> None:
    hooks = hooks_of(plan)
    stay = [hook for hook in hooks if len(hook.do) == 1]
    trace, plain = subject.holds(plan), subject.play(plan.without(Hook)).grads()
    assert trace.calls() == [hook.label for hook in hooks + stay]
    # What the first and the second pass bring to the tensor, or to one upstream of it.
    on = "x0" if hooks[0].on == "m0>0" else hooks[0].on
    first, both = (grads[on] for grads in trace.grads())
    assert first == plain[0][on] * prod(hook.do[-1].by for hook in hooks)
    assert both - first == (plain[1][on] - plain[0][on]) * product(stay)


@clause(
    "gradient.crash.hook_on_a_stale_view",
    says="The first tensor hook of a slice y[:1] can be registered after y was changed in place.",
    where="y requires grad and is not a view",
    source=("https://github.com/pytorch/pytorch/pull/196514",),
    asked="register_hook on chunk of activation modified by inplace op crash or okay outdated indexing",
    matters_if="tensor inner ?view ?edited_before",
    value=([[2.0]], [30.0, 0.0]),
    wrong={"lost": ([], [30.0, 0.0])},
    note="From 2.0 to 2.14 registering followed a null pointer: a segmentation fault.",
    isolated=True,
)
def test_hook_on_a_stale_view(subject: Subject) -> None:

    seen: List[Any] = []
    x = make.ones(2, requires_grad=True)
    y = 3 * x
    view = y[:1]
    y.mul_(5)
    view.register_hook(lambda grad: seen.append(grad.tolist()))
    (2 * view).sum().backward()
    assert (seen, x.grad.tolist()) == subject.value


@clause(
    "gradient.crash.retain_on_a_stale_view",
    says="retain_grad() can be called on a slice y[:1] after y was changed in place.",
    where="y requires grad and is not a view",
    source=RETAIN_DOCS,
    asked="keep gradient of chunk of activation modified by inplace op crash segfault or okay non leaf",
    matters_if="retain_grad ?view ?edited_before",
    value=([2.0], [30.0, 0.0]),
    wrong={"lost": (None, [30.0, 0.0])},
    note="In 1.13 the call followed a null pointer: a segmentation fault.",
    isolated=True,
)
def test_retain_on_a_stale_view(subject: Subject) -> None:

    x = make.ones(2, requires_grad=True)
    y = 3 * x
    view = y[:1]
    y.mul_(5)
    view.retain_grad()
    (2 * view).sum().backward()
    assert (None if view.grad is None else view.grad.tolist(), x.grad.tolist()) == subject.value
