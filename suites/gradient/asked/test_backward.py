"""Hooks under backward(inputs=…), which accumulates the gradients of some tensors only."""

from dataclasses import replace
from itertools import accumulate
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Scale, hooks_of
from suites.gradient.asked.plans import asking
from suites.gradient.plans import INNER, NET
from suites.gradient.sources import OTHERS_IGNORED
from suites.names import BACKWARD_DOCS, BACKWARD_INPUTS, INNER_INPUTS
from suites.shapes import product, starts
from suites.tensors import leaf, outcome

ABOUT = "register_hook"

LEAVES = ("x0", "m1.weight", "m2.weight")


@st.composite
def one_side(draw: Any) -> Plan:
    """y0 = weight * x and y1 = other * x, a replacing hook on both weights, and a pass that begins at one output."""
    first = draw(st.booleans())
    hooks = (Hook("tensor", f"m0.{name}", name, (Scale(draw(FACTORS)),)) for name in ("weight", "other"))
    asked = draw(st.sampled_from([("m0.weight",), ("m0.other",), ("m0.other", "m0.weight")]))
    back = Backward((draw(NUMBERS), None) if first else (None, draw(NUMBERS)), inputs=asked)
    return Plan(Leaf("m0", "split", (2, 3)), (Input(1),), (*hooks, Forward(), back))


def twice(plan: Plan) -> Plan:
    """The same with its last step once more."""
    return replace(plan, steps=(*plan.steps, plan.steps[-1]))


def reached(plan: Plan) -> List[str]:
    """The tensors that are asked for and that the pass reaches."""
    back = plan.steps[-1]
    ends = dict(zip(("m0.weight", "m0.other"), back.grads))
    return [on for on in back.inputs if ends.get(on, 1) is not None]


@clause(
    "gradient.asked.backward_inputs",
    says="backward(inputs=[w]) adds to w.grad what the tensor hooks of the leaf w leave, and calls no other leaf's.",
    where="the root is a non-leaf tensor",
    source=(
        OTHERS_IGNORED,
        "test: test/test_autograd.py TestAutograd.test_accumulate_grad_posthooks_should_not_execute",
    ),
    asked="backprop only into chosen parameter are register_hook on other params skipped does clip apply autograd.grad",
    needs=BACKWARD_INPUTS,
)
@given(
    plan=st.lists(st.sampled_from(LEAVES), min_size=1, max_size=2, unique=True).flatmap(
        lambda wanted: asking(wanted, LEAVES, Backward).map(twice)
    )
    | one_side().map(twice)
)
def test_backward_inputs(subject: Subject, plan: Plan) -> None:
    trace, plain = subject.holds(plan), subject.play(plan.without(Hook)).grads()
    hooks = [hook for hook in hooks_of(plan) if hook.on in reached(plan)]
    assert sorted(trace.calls()) == sorted(hook.label for hook in hooks * 2)
    by = {hook.on: product([hook]) for hook in hooks}
    assert trace.grads() == [{on: grads[on] * by[on] if on in by else None for on in grads} for grads in plain]


@clause(
    "gradient.asked.backward_inner",
    says="backward(inputs=[y]) adds to y.grad what tensor hooks of the non-leaf tensor y leave, and sets no leaf's.",
    source=('docs: torch.Tensor.backward "the gradient will be accumulated into ``.grad``"', INNER_INPUTS),
    asked="activation grad filled via backward inputs argument includes hook "
    "modification parameters untouched grad stays none autograd.grad",
    matters_if="tensor inner ?asked",
    needs=BACKWARD_INPUTS,
    readings=by_release(
        "error",
        ("1.10", "set", {"backward_inputs": "any"}),
        "backward(inputs=[y]) sets the .grad of a non-leaf tensor y, as if y.retain_grad() was called before.",
        ("", "refused", {"backward_inputs": "leaves"}),
        "backward(inputs=) takes leaves only: a non-leaf tensor raises RuntimeError.",
    ),
    witness=Plan(NET, (Input(3),), (Forward(), Backward((1,), inputs=(INNER,)))),
)
@given(
    plan=st.builds(
        lambda plan, later: Plan(plan.net, plan.inputs, plan.steps + later),
        asking((INNER,), (INNER, "x0"), Backward),
        st.sampled_from([(), (Backward((2,)),)]),
    )
)
def test_backward_inner(subject: Subject, plan: Plan) -> None:
    trace, refused = subject.holds(plan), subject.reading.facts["backward_inputs"] == "leaves"
    by = product(hook for hook in hooks_of(plan) if hook.on == INNER)
    left = accumulate(5 * grad * by for grad in starts(plan))
    assert trace.raised() == [("backward", "RuntimeError")] * refused
    assert [grads.get(INNER) for grads in trace.grads()] == [None if refused else grad for grad in left]
    assert {grad for on, grad in trace.grads()[0].items() if on != INNER} == {None}


@clause(
    "gradient.asked.backward_inner_and_leaf",
    says="backward(inputs=(y, w)) adds to y.grad what the tensor hooks of y leave.",
    where="y is made from the leaf w",
    source=INNER_INPUTS,
    asked="ask for activation and parameter together in backward inputs "
    "is hook change included in activation grad autograd.grad",
    matters_if="tensor inner ?asked",
    needs=BACKWARD_INPUTS,
    readings=by_release(
        "error",
        ("1.10", "set", {"backward_inputs": "any"}),
        "backward(inputs=(y, w)) adds to y.grad what the tensor hooks of y leave.",
        ("", "refused", {"backward_inputs": "leaves"}),
        "backward(inputs=) takes leaves only: a non-leaf tensor raises RuntimeError.",
    ),
    witness=Plan(NET, (Input(3),), (Forward(), Backward((1,), inputs=(INNER,)))),
)
@given(plan=st.sampled_from(["x0", "m1.weight"]).flatmap(lambda on: asking((INNER, on), (INNER,), Backward)).map(twice))
def test_backward_inner_and_leaf(subject: Subject, plan: Plan) -> None:
    trace, refused = subject.holds(plan), subject.reading.facts["backward_inputs"] == "leaves"
    left = accumulate(5 * grad * product(hooks_of(plan)) for grad in starts(plan))
    assert trace.raised() == [("backward", "RuntimeError")] * len(starts(plan)) * refused
    assert [grads.get(INNER) for grads in trace.grads()] == [None if refused else grad for grad in left]


@clause(
    "gradient.asked.backward_nothing",
    says="backward(inputs=[]) raises RuntimeError before any hook is called.",
    source=('code: torch/autograd/__init__.py "`inputs` argument to `backward()` cannot be empty."', BACKWARD_DOCS),
    asked="empty parameter list passed to backward inputs argument "
    "cannot be empty crash all frozen filter autograd.grad",
    needs=BACKWARD_INPUTS,
    value="RuntimeError",
    wrong={"everything": "accepted"},
    witness={"on": [0], "before": False},
)
@given(on=st.lists(st.integers(0, 2), min_size=1, max_size=3), before=st.booleans())
def test_backward_nothing(subject: Subject, on: List[int], before: bool) -> None:
    seen: List[int] = []
    x = leaf(1)
    y = 2 * x
    tensors = (x, y, 3 * y)
    for place in on:
        tensors[place].register_hook(lambda grad, place=place: seen.append(place))
    hooks = sorted(on, reverse=True)
    if before:
        tensors[-1].backward(retain_graph=True)
    result = outcome(lambda: tensors[-1].backward(inputs=[]))
    # The pass that failed changes nothing for the next one.
    again = outcome(tensors[-1].backward)
    passes = 1 + before if subject.value == "RuntimeError" else 2 + before
    assert (result, again, seen, x.grad.item()) == (subject.value, "accepted", hooks * passes, 6 * passes)
