"""Backward hooks of modules when only some gradients are asked for: autograd.grad and backward(inputs=)."""

from typing import Any, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import AutogradGrad, Backward, Forward, Hook, Input, Leaf, Plan, Scale
from suites.backward.plans import MAYBE_SCALE
from suites.backward.sources import EXECUTED, PRE_CALLED, REPLACES, RULE_1, RULE_2
from suites.names import FULL, PRE

ABOUT = "register_backward_hook"

OLDER = "Rule 1 of the docs since 2.8; those of 1.13 to 2.7 promised a call whenever outputs get gradients."


def script(hooks: Tuple[Any, ...], *steps: Any, grad: bool = True) -> Plan:
    """y = 2 * x with hooks on the module, a forward, and some passes."""
    return Plan(Leaf("m0", "scale", (2,)), (Input(3, grad=grad),), (*hooks, Forward(), *steps))


@clause(
    "backward.asked.input",
    says="autograd.grad(module(x).sum(), x) returns what the module's full backward hook left for x.",
    where=("x is used once", "there is no other hook"),
    source=(RULE_1, REPLACES),
    asked="saliency map with torch autograd grad does it include gradient modified by module hook guided backprop",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda by, grad, names: script(
            (Hook("full_backward", "m0", "h0", (Scale(by),)),), AutogradGrad(names, (grad,))
        ),
        FACTORS,
        NUMBERS,
        st.sampled_from([("x0",), ("x0", "m0.weight"), ("m0.weight", "x0")]),
    )
)
def test_input(subject: Subject, plan: Plan) -> None:
    trace, (grad,) = subject.holds(plan), plan.steps[-1].grads
    assert trace.seen_by("h0") == [("m0", (2 * grad,), (grad,))]
    (asked,) = [event.seen for event in trace if event.what == "asked"]
    assert asked[plan.steps[-1].inputs.index("x0")] == 2 * grad * plan.steps[0].do[0].by


@clause(
    "backward.asked.weight",
    says="autograd.grad for a weight alone calls no full backward hook of its module.",
    where=("inputs are positional tensors that require grad", "the weight is used once"),
    see="backward.structures.unseen_inputs",
    source=RULE_1,
    asked="torch autograd grad wrt parameters only register_full_backward_hook "
    "silent never triggered per layer gradient",
    note=OLDER,
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda do, passes: script(
            (Hook("full_backward", "m0", "h0", do),), *(AutogradGrad(("m0.weight",), (grad,)) for grad in passes)
        ),
        MAYBE_SCALE,
        st.lists(NUMBERS, min_size=1, max_size=2),
    )
)
def test_weight(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == []


@clause(
    "backward.asked.pre_weight",
    says="For y = m(x) autograd.grad(y.sum(), m.weight) calls the full backward pre-hook of m.",
    where="y depends on m.weight",
    see="backward.structures.pre_other_outputs",
    source=PRE_CALLED,
    asked="does register_full_backward_pre_hook fire when torch autograd grad computes only parameter gradients",
    needs=PRE,
)
@given(
    plan=st.builds(
        lambda do, grad: script((Hook("full_backward_pre", "m0", "h0", do),), AutogradGrad(("m0.weight",), (grad,))),
        MAYBE_SCALE,
        NUMBERS,
    )
)
def test_pre_weight(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).seen_by("h0") == [("m0", plan.steps[-1].grads)]


@clause(
    "backward.asked.legacy_weight",
    says="For y = weight * x autograd.grad(y.sum(), weight) gives a legacy backward hook None as x's gradient.",
    where=("the weight is used once", "there is no other hook"),
    source="measured",
    asked="old register_backward_hook none in grad_input when "
    "computing only parameter gradient with torch autograd grad",
    matters_if="backward ?asked",
    readings=by_release(
        "silent",
        ("1.13", "not computed", {"computes_unasked": False}),
        "autograd.grad for the weight alone gives a legacy backward hook None for the input.",
        ("", "computed", {"computes_unasked": True}),
        "autograd.grad for the weight alone gives a legacy backward hook the gradient of the input too.",
    ),
    witness=script((Hook("backward", "m0", "h0"),), AutogradGrad(("m0.weight",), (1,))),
)
@given(
    plan=st.builds(lambda grad: script((Hook("backward", "m0", "h0"),), AutogradGrad(("m0.weight",), (grad,))), NUMBERS)
)
def test_legacy_weight(subject: Subject, plan: Plan) -> None:
    (grad,) = plan.steps[-1].grads
    other = 2 * grad if subject.reading.facts["computes_unasked"] else None
    assert subject.holds(plan).seen_by("h0") == [("m0", (3 * grad, other), (grad,))]


@clause(
    "backward.asked.backward_weight",
    says="backward(inputs=[weight]) calls no full backward hook of the weight's module.",
    where=("inputs are positional tensors that require grad", "the weight is used once"),
    see="backward.structures.unseen_inputs",
    source=(RULE_1, "docs: torch.autograd.backward"),
    asked="hook not called when backprop restricted to one parameter why is module hook ignored inputs argument",
    note=OLDER,
    needs=(FULL, "torch.autograd.backward(inputs)"),
)
@given(
    plan=st.builds(
        lambda do, grad: script(
            (Hook("full_backward", "m0", "h0", do),), Backward((grad,), inputs=("m0.weight",)), Backward((grad,))
        ),
        MAYBE_SCALE,
        NUMBERS,
    )
)
def test_backward_weight(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == ["h0"]
    assert trace.grads()[0] == {"x0": None, "m0.weight": 3 * plan.steps[-1].grads[0]}


@clause(
    "backward.asked.backward_weight_without_input",
    says="If no input of m needs a gradient, backward(inputs=[m.weight]) calls m's full backward hook.",
    where="m returns a tensor made from m.weight",
    source=(RULE_2, "docs: torch.autograd.backward"),
    asked="module hook fires anyway for first layer on raw data when backward restricted to a parameter",
    matters_if="full_backward ?inputs_need_no_grad ?asked",
    needs=(FULL, "torch.autograd.backward(inputs)"),
    readings=by_release(
        "silent",
        ("1.9", "at the output", {"full_without_input": "output"}),
        "If no input needs a gradient, backward(inputs=[weight]) calls the full backward hook.",
        ("", "silent", {"full_without_input": "silent"}),
        "If no input needs a gradient, backward(inputs=[weight]) does not call the full backward hook.",
    ),
    witness=script((Hook("full_backward", "m0", "h0"),), Backward(inputs=("m0.weight",)), grad=False),
)
@given(
    plan=st.builds(
        lambda grad: script((Hook("full_backward", "m0", "h0"),), Backward((grad,), inputs=("m0.weight",)), grad=False),
        NUMBERS,
    )
)
def test_backward_weight_without_input(subject: Subject, plan: Plan) -> None:
    silent = subject.reading.facts["full_without_input"] == "silent"
    wanted = [] if silent else [("m0", (None,), plan.steps[-1].grads)]
    assert subject.holds(plan).seen_by("h0") == wanted


@each(
    Row(
        "backward.asked.anywhere",
        "Every plan of the grammar with full hooks that asks for some gradients leaves the trace of the model.",
        EXECUTED,
        checks_model=True,
        needs=FULL,
        kinds=("full_backward", "full_backward_pre"),
    ),
    Row(
        "backward.asked.legacy_anywhere",
        "Every plan of the grammar with legacy hooks that asks for some gradients leaves the trace of the model.",
        "measured",
        checks_model=True,
        kinds=("backward",),
    ),
    plan=lambda row: plans(kinds=row.kinds, inputs=(1, 2), outputs=(1, 2), depth=2, runs=2, ask=True, frozen=True),
)
def in_any_network(subject: Subject, plan: Plan, *, row: Any) -> None:
    subject.holds(plan)
