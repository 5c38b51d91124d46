"""Replaced outputs and the place of the module: nested, side by side, shared, called again, under no_grad."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import FACTORS, NUMBERS, plans
from fixtures.plan.grammar import (
    Again,
    Backward,
    Chain,
    Fan,
    Forward,
    Hook,
    Input,
    Leaf,
    Plan,
    Raise,
    Remove,
    Retain,
    Scale,
    hooks_of,
)

ABOUT = "register_forward_hook"

FORWARD_HOOK = "docs: torch.nn.Module.register_forward_hook"
CODE = "code: torch/nn/modules/module.py"
NOTE = "note: modules.html#module-hooks"
THROUGHOUT = f'{NOTE} "return an updated value that will be used throughout the remaining computation"'
AS_IS = f'{NOTE} "are passed as-is"'
RUN = (Forward(), Backward((2,)))


def scaling(draw, on: str, most: int = 3, first: int = 0, **options):
    """One to `most` forward hooks on a module that multiply its output."""
    return [
        Hook("forward", on, f"h{first + number}", (Scale(draw(FACTORS)),), **options)
        for number in range(draw(st.integers(1, most)))
    ]


def product(hooks):
    """What the hooks multiply by, taken together."""
    factor = 1
    for hook in hooks:
        factor *= hook.do[0].by
    return factor


@st.composite
def leaves(draw, op: str = "scale", steps=RUN, frozen: bool = False) -> Plan:
    """A module without children, with forward hooks that multiply."""
    width, names = {"scale": (1, 1), "same": (1, 0), "split": (1, 2), "named": (1, 1)}[op]
    xs = tuple(Input(draw(NUMBERS), grad=not frozen) for _ in range(width))
    hooks = scaling(draw, "m0")
    return Plan(Leaf("m0", op, tuple(draw(NUMBERS) for _ in range(names))), xs, (*hooks, *steps))


@clause(
    "output.places.all_together",
    says="A forward hook is given several outputs as the one tuple they are, and replaces them together.",
    source=AS_IS,
)
@given(plan=leaves("split", steps=(Forward(), Backward((1, 2)))))
def test_all_together(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    made = tuple(value * plan.inputs[0].value for value in plan.net.values)
    for number, hook in enumerate(hooks_of(plan)):
        before = product(hooks_of(plan)[:number])
        assert trace.seen_by(hook.label)[0][2] == tuple(before * value for value in made)


@clause(
    "output.places.left_out",
    says="Without backward hooks the parameter behind an unused output gets no gradient, replaced or not.",
    source="measured",
)
@given(plan=leaves("split", steps=(Forward(), Backward((2, None)))))
def test_left_out(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [grads["m0.other"] for grads in trace.grads()] == [None]


@clause(
    "output.places.input_untouched",
    says="A hook that replaces the output of a module that returns its input leaves the input as it was.",
    source="measured",
)
@given(plan=leaves("same"))
def test_input_untouched(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    for hook in hooks_of(plan):
        assert trace.seen_by(hook.label)[0][1] == (plan.inputs[0].value,)


@clause(
    "output.places.without_gradient",
    says="The parameter's gradient comes through the replaced output, also if the input needs none.",
    source="measured",
)
@given(plan=leaves(frozen=True))
def test_without_gradient(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.grads() == [{"m0.weight": 2 * product(hooks_of(plan)) * plan.inputs[0].value}]


@clause(
    "output.places.no_grad",
    says="Under no_grad forward hooks run and replace as ever; backward() of the output raises.",
    source="measured",
)
@given(plan=leaves(steps=(Forward(grad=False), Backward((2,)))))
def test_no_grad(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    usual = subject.expect(replace(plan, steps=(*hooks_of(plan), Forward())))
    assert trace[: len(usual)] == usual
    assert trace.raised() == [("backward", "RuntimeError")]


@clause(
    "output.places.backward_again",
    says="With retain_graph=True a second backward() uses the replacement and calls no forward hook.",
    source="measured",
)
@given(plan=leaves(steps=(Forward(), Backward((2,)), Backward((3,)))))
def test_backward_again(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks, x = hooks_of(plan), plan.inputs[0].value
    assert trace.calls() == [hook.label for hook in hooks]
    assert [grads["m0.weight"] for grads in trace.grads()] == [total * product(hooks) * x for total in (2, 5)]


@st.composite
def kept(draw) -> Plan:
    """Forward hooks that multiply; then retain_grad and a hook on the output of the call."""
    plan = draw(leaves())
    late = draw(st.permutations([Retain("m0>0"), Hook("tensor", "m0>0", "watch")]))
    return replace(plan, steps=(*hooks_of(plan), Forward(), *late, Backward((draw(NUMBERS),))))


@clause(
    "output.places.callers_tensor",
    says="Hooks and retain_grad() on the output that the caller gets see the gradient of the replacement.",
    source="measured",
    about=("register_forward_hook", "register_hook", "retain_grad"),
)
@given(plan=kept())
def test_callers_tensor(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (start,) = plan.steps[-1].grads
    assert trace.seen_by("watch") == [(start,)]
    assert [grads["m0>0"] for grads in trace.grads()] == [start]


@st.composite
def towers(draw) -> Plan:
    """Modules in modules, each with forward hooks."""
    depth = draw(st.integers(2, 4))
    net = Leaf(f"m{depth - 1}", "scale", (draw(NUMBERS),))
    for level in reversed(range(depth - 1)):
        net = Chain(f"m{level}", (net,))
    hooks = []
    for level in draw(st.permutations(range(depth))):
        hooks += scaling(draw, f"m{level}", most=2, first=len(hooks))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward()))


@clause(
    "output.places.towers",
    says="In nested modules a forward hook is given what the hooks inside left, where that is handed on.",
    source=THROUGHOUT,
)
@given(plan=towers())
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
    net = Fan("m0", (Leaf("m1", "scale", (draw(NUMBERS),)), Leaf("m2", "scale", (draw(NUMBERS),))))
    return Plan(net, (Input(draw(NUMBERS)),), (*scaling(draw, "m1"), Forward(), Backward((1, 2))))


@clause(
    "output.places.siblings",
    says="A replaced output is that module's alone: the output of a module next to it stays.",
    source="measured",
)
@given(plan=side_by_side())
def test_siblings(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    one, other = (child.values[0] * plan.inputs[0].value for child in plan.net.children)
    assert trace.returns() == [(product(hooks_of(plan)) * one, other)]


@st.composite
def shared(draw) -> Plan:
    """One module in two or three places of a chain, with forward hooks."""
    children = (Leaf("m1", "scale", (draw(NUMBERS),)),) + (Again("m1"),) * draw(st.integers(1, 2))
    return Plan(Chain("m0", children), (Input(draw(NUMBERS)),), (*scaling(draw, "m1", most=2), Forward(), Backward()))


@clause(
    "output.places.shared",
    says="Forward hooks of a module that is used in several places replace its output in each of them.",
    source=f'{FORWARD_HOOK} "called every time after :func:`forward` has computed an output"',
)
@given(plan=shared())
def test_shared(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks, places = hooks_of(plan), len(plan.net.children)
    assert trace.calls() == [hook.label for hook in hooks] * places
    assert trace.returns() == [plan.inputs[0].value * (product(hooks) * plan.net.children[0].values[0]) ** places]


@st.composite
def failing_once(draw) -> Plan:
    """Forward hooks, one of which raises until it is removed."""
    hooks = scaling(draw, "m0")
    hooks.insert(draw(st.integers(0, len(hooks))), Hook("forward", "m0", "fails", (Raise(),)))
    steps = (*hooks, Forward(), Remove("fails"), Forward())
    return Plan(Leaf("m0", "scale", (draw(NUMBERS),)), (Input(draw(NUMBERS)),), steps)


@clause(
    "output.places.after_a_failure",
    says="After a call that a forward hook made fail, the next call begins anew.",
    source="measured",
)
@given(plan=failing_once())
def test_after_a_failure(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    healthy = [hook for hook in hooks_of(plan) if hook.label != "fails"]
    assert trace.returns() == [product(healthy) * plan.net.values[0] * plan.inputs[0].value]


@st.composite
def failing_inside(draw) -> Plan:
    """A child whose pre-hook raises, in a container; forward hooks without always_call on both."""
    hooks = [
        Hook("forward", draw(st.sampled_from(["m0", "m1", "m2"])), f"h{n}") for n in range(draw(st.integers(1, 4)))
    ]
    net = Chain("m0", (Leaf("m1", "scale", (draw(NUMBERS),)), Leaf("m2", "scale", (draw(NUMBERS),))))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Hook("forward_pre", "m2", "fails", (Raise(),)), Forward()))


@clause(
    "output.places.forward_raises",
    says="If forward raises, no forward hook of the module or its parents without always_call runs.",
    source=f'{CODE} "forward hooks that should always be called even if an exception is raised"',
)
@given(plan=failing_inside())
def test_forward_raises(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    before = [hook.label for hook in hooks_of(plan, "forward") if hook.on == "m1"]
    assert trace.calls() == [*before, "fails"]
    assert trace.raised() == [("forward", "Boom")]


@st.composite
def in_front(draw) -> Plan:
    """Forward hooks that multiply, each put first or last, with and without keywords."""
    hooks = []
    for number in range(draw(st.integers(2, 5))):
        flags = {name: True for name in ("prepend", "with_kwargs") if draw(st.booleans())}
        hooks.append(Hook("forward", "m0", f"h{number}", (Scale(draw(FACTORS)),), **flags))
    return Plan(Leaf("m0", "scale", (draw(NUMBERS),)), (Input(draw(NUMBERS)),), (*hooks, Forward(draw(NUMBERS))))


@clause(
    "output.places.prepended",
    says="A prepended forward hook replaces the output before the older ones of the module see it.",
    source=f'{FORWARD_HOOK} "fired before all existing ``forward`` hooks"',
    needs="torch.nn.Module.register_forward_hook(prepend)",
)
@given(plan=in_front())
def test_prepended(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    line = []
    for hook in hooks_of(plan):
        line.insert(0 if hook.prepend else len(line), hook)
    made = plan.net.values[0] * plan.inputs[0].value * plan.steps[-1].by
    for number, hook in enumerate(line):
        assert trace.seen_by(hook.label)[0][-1] == product(line[:number]) * made


@st.composite
def named(draw) -> Plan:
    """A module that returns a dict, with forward hooks, and behind it one that is given the dict's value."""
    net = Chain("m0", (Leaf("m1", "named", (draw(NUMBERS),)), Leaf("m2", "scale", (draw(NUMBERS),))))
    return Plan(net, (Input(draw(NUMBERS)),), (*scaling(draw, "m1"), Hook("forward_pre", "m2", "next"), *RUN))


@clause(
    "output.places.structure",
    says="A dict that a forward hook returns in place of forward's dict is what the calling code gets.",
    source=THROUGHOUT,
)
@given(plan=named())
def test_structure(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    made = plan.net.children[0].values[0] * plan.inputs[0].value
    assert trace.seen_by("next") == [("m2", (product(hooks_of(plan, "forward")) * made,))]


@clause(
    "output.places.anywhere",
    says="In every plan of the grammar with forward hooks only, the caller of a module gets what they left.",
    source="measured",
    about=("register_forward_hook", "register_module_forward_hook"),
)
@given(
    plan=plans(
        kinds=("forward",),
        inputs=(1, 2),
        outputs=(1, 2),
        depth=2,
        everywhere=True,
        options=True,
        runs=3,
        by=True,
        no_grad=True,
    )
)
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
