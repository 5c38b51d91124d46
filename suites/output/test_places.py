"""Replaced outputs and the place of the module: nested, side by side, shared, called again, under no_grad."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Chain, Forward, Hook, Input, Leaf, Parallel, Plan, Raise, Retain, hooks_of
from suites.names import AS_IS, CODE, FORWARD_HOOK, PREPEND, THROUGHOUT
from suites.shapes import (
    RUN,
    failing_once,
    in_front,
    in_line,
    leaves,
    one_leaf,
    product,
    scaling,
    shared,
    towers,
    until_one_raises,
    wider,
)

ABOUT = "register_forward_hook"


@clause(
    "output.places.all_together",
    says="A forward hook is given a tuple of outputs as a whole, and may replace it as a whole.",
    source=AS_IS,
    asked="lstm hook output is tuple hidden and cell how modify only one element replace both",
)
@given(plan=leaves("forward", "split", steps=(Forward(), Backward((1, 2)))))
def test_all_together(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    made = tuple(value * plan.inputs[0].value for value in plan.net.values)
    for number, hook in enumerate(hooks_of(plan)):
        before = product(hooks_of(plan)[:number])
        assert trace.seen_by(hook.label)[0][2] == tuple(before * value for value in made)


@clause(
    "output.places.left_out",
    says="For outputs (w * x, v * x) that forward hooks double, backward() from the first gives v no gradient.",
    where=("there is no backward hook", "outputs share no operation"),
    source="measured",
    asked="two heads one loss unused branch parameter grad none scaled activations multi output",
)
@given(plan=leaves("forward", "split", steps=(Forward(), Backward((2, None)))))
def test_left_out(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [grads["m0.other"] for grads in trace.grads()] == [None]


@clause(
    "output.places.input_untouched",
    says="Where forward returns its input, a forward hook that returns a new tensor leaves the input as it was.",
    source="measured",
    asked="identity or dropout eval layer hook adds noise does original x change too skip connection safe",
)
@given(plan=leaves("forward", "same"))
def test_input_untouched(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    for hook in hooks_of(plan):
        assert trace.seen_by(hook.label)[0][1] == (plan.inputs[0].value,)


@clause(
    "output.places.without_gradient",
    says="For y = w * x, where x needs no gradient, w gets its gradient through a forward hook that returns 2 * y.",
    where="w requires grad",
    source="measured",
    asked="first layer on raw images requires_grad false scaled activation parameters still train weights update",
)
@given(plan=leaves("forward", frozen=True))
def test_without_gradient(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).grads() == [{"m0.weight": 2 * product(hooks_of(plan)) * plan.inputs[0].value}]


@clause(
    "output.places.no_grad",
    says="Under no_grad forward hooks run and may replace the output; output.backward() raises.",
    where=("forward and hooks make new tensors", "nothing turns gradients on"),
    source="measured",
    asked="inference feature editing steering element 0 of tensors does not require grad hook still works",
)
@given(plan=leaves("forward", steps=(Forward(grad=False), Backward((2,)))))
def test_no_grad(subject: Subject, plan: Plan) -> None:
    trace, hooks = subject.holds(plan), hooks_of(plan)
    assert trace.calls() == [hook.label for hook in hooks]
    assert trace.returns() == [plan.net.values[0] * product(hooks) * plan.inputs[0].value]
    assert trace.raised() == [("backward", "RuntimeError")]


@clause(
    "output.places.backward_again",
    says="A second backward() through a kept graph runs no forward hook and uses the replaced output again.",
    source="measured",
    asked="retain_graph=true twice backprop does activation hook rerun recompute or reuse modified activations",
)
@given(plan=leaves("forward", steps=(Forward(), Backward((2,)), Backward((3,)))))
def test_backward_again(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks, x = hooks_of(plan), plan.inputs[0].value
    assert trace.calls() == [hook.label for hook in hooks]
    assert [grads["m0.weight"] for grads in trace.grads()] == [total * product(hooks) * x for total in (2, 5)]


@st.composite
def kept(draw) -> Plan:
    """Forward hooks that multiply; then retain_grad and a hook on the output of the call."""
    plan = draw(leaves("forward"))
    late = draw(st.permutations([Retain("m0>0"), Hook("tensor", "m0>0", "watch")]))
    return replace(plan, steps=(*hooks_of(plan), Forward(), *late, Backward((draw(NUMBERS),))))


@clause(
    "output.places.callers_tensor",
    says="For y = m(x) a tensor hook or retain_grad() on y sees the gradient of what m's forward hooks left.",
    where=("one backward()", "y and its gradient are not changed"),
    source="measured",
    asked="grad-cam gradient of modified activation register_hook "
    "on result after hook which version original or replaced",
    about=("register_forward_hook", "register_hook", "retain_grad"),
)
@given(plan=kept())
def test_callers_tensor(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (start,) = plan.steps[-1].grads
    assert trace.seen_by("watch") == [(start,)]
    assert [grads["m0>0"] for grads in trace.grads()] == [start]


@clause(
    "output.places.towers",
    says="A container's first forward hook is given what its child's forward hooks left, if forward returns that.",
    source=THROUGHOUT,
    asked="parent block hook sees already modified inner layer activation nested sequential wrapper last layer",
)
@given(plan=towers("forward"))
def test_towers(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    net = plan.net
    while isinstance(net, Chain):
        net = net.children[0]
    made = net.values[0] * plan.inputs[0].value
    hooks = sorted(hooks_of(plan), key=lambda hook: hook.on, reverse=True)
    for number, hook in enumerate(hooks):
        assert trace.seen_by(hook.label)[0][2] == product(hooks[:number]) * made


@st.composite
def side_by_side(draw) -> Plan:
    """Two modules that are given the same input, the first of them with forward hooks."""
    net = Parallel("m0", (one_leaf(draw, "m1"), one_leaf(draw, "m2")))
    return Plan(net, (Input(draw(NUMBERS)),), (*scaling(draw, "forward", "m1"), Forward(), Backward((1, 2))))


@clause(
    "output.places.siblings",
    says="For a(x) and b(x), a forward hook on a that returns 2 * output leaves b's output as it is.",
    where="a and b share no module",
    source="measured",
    asked="two layers same data scaling one branch activation affects the other branch no interference",
)
@given(plan=side_by_side())
def test_siblings(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    one, other = (child.values[0] * plan.inputs[0].value for child in plan.net.children)
    assert trace.returns() == [(product(hooks_of(plan)) * one, other)]


@clause(
    "output.places.shared",
    says="Forward hooks of a module that is called in several places may replace its output in each of them.",
    source=f'{FORWARD_HOOK} "called every time after :func:`forward` has computed an output"',
    asked="weight tied layer reused twice in network modify activation at each use how tell apart",
)
@given(plan=shared("forward"))
def test_shared(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks, places = hooks_of(plan), len(plan.net.children)
    assert trace.calls() == [hook.label for hook in hooks] * places
    assert trace.returns() == [plan.inputs[0].value * (product(hooks) * plan.net.children[0].values[0]) ** places]


@clause(
    "output.places.after_a_failure",
    says="Once a forward hook that raised is removed, the next successful call of its module runs all others in order.",
    source="measured",
    asked="unregister broken callback after exception does model recover working normally "
    "others fine leftover state notebook early stop forward raise exception",
)
@given(plan=failing_once("forward"))
def test_after_a_failure(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    healthy = [hook for hook in hooks_of(plan) if hook.label != "fails"]
    assert trace.calls() == until_one_raises(hooks_of(plan)) + [hook.label for hook in healthy]
    assert trace.returns() == [product(healthy) * plan.net.values[0] * plan.inputs[0].value]


@st.composite
def failing_inside(draw) -> Plan:
    """A child whose pre-hook raises, in a container; forward hooks without always_call on both."""
    hooks = [
        Hook("forward", draw(st.sampled_from(["m0", "m1", "m2"])), f"h{n}") for n in range(draw(st.integers(1, 4)))
    ]
    net = Chain("m0", (one_leaf(draw, "m1"), one_leaf(draw, "m2")))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Hook("forward_pre", "m2", "fails", (Raise(),)), Forward()))


@clause(
    "output.places.forward_raises",
    says="In a call whose forward or pre-hook raises, the module's forward hooks without always_call do not run.",
    where="no parent catches the error",
    source=f'{CODE} "forward hooks that should always be called even if an exception is raised"',
    asked="layer crashes cuda oom shape mismatch is activation hook skipped timer never stopped",
)
@given(plan=failing_inside())
def test_forward_raises(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    before = [hook.label for hook in hooks_of(plan, "forward") if hook.on == "m1"]
    assert trace.calls() == [*before, "fails"]
    assert trace.raised() == [("forward", "Boom")]


@clause(
    "output.places.prepended",
    says="A forward hook with prepend=True may replace the output before the module's older ones are given it.",
    source=f'{FORWARD_HOOK} "fired before all existing ``forward`` hooks"',
    asked="modify activation earlier than existing logger so it sees my changed version insert at front",
    needs=PREPEND,
)
@given(plan=in_front("forward"))
def test_prepended(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    line = in_line(hooks_of(plan))
    made = plan.net.values[0] * plan.inputs[0].value * plan.steps[-1].by
    for number, hook in enumerate(line):
        assert trace.seen_by(hook.label)[0][-1] == product(line[:number]) * made


@st.composite
def named(draw) -> Plan:
    """A module that returns a dict, with forward hooks, and behind it one that is given the dict's value."""
    net = Chain("m0", (Leaf("m1", "named", (draw(NUMBERS),)), Leaf("m2", "scale", (draw(NUMBERS),))))
    return Plan(
        net, (Input(draw(NUMBERS)),), (*scaling(draw, "forward", "m1"), Hook("forward_pre", "m2", "next"), *RUN)
    )


@clause(
    "output.places.structure",
    says="The caller gets the dict that the last forward hook returned in place of forward's dict.",
    where="there is no legacy backward hook",
    see=("backward.structures.legacy_first", "backward.structures.other_outputs"),
    source=THROUGHOUT,
    asked="return different mapping from hook huggingface modeloutput swap logits does user receive the new one",
)
@given(plan=named())
def test_structure(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    made = plan.net.children[0].values[0] * plan.inputs[0].value
    assert trace.seen_by("next") == [("m2", (product(hooks_of(plan, "forward")) * made,))]


@clause(
    "output.places.anywhere",
    says="Every plan of the grammar with forward hooks only leaves the trace of the model.",
    source="measured",
    checks_model=True,
    about=("register_forward_hook", "register_module_forward_hook"),
)
@given(plan=wider("everywhere", "options", "by", "no_grad", kinds=("forward",), depth=2, runs=3))
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
