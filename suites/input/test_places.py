"""Replaced inputs and the place of the module: nested, side by side, shared, called again, under no_grad."""

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
    Scale,
    hooks_of,
)

ABOUT = "register_forward_pre_hook"

PRE_HOOK = "docs: torch.nn.Module.register_forward_pre_hook"
GLOBAL_PRE_HOOK = "docs: torch.nn.modules.module.register_module_forward_pre_hook"
NOTE = "note: modules.html#module-hooks"
THROUGHOUT = f'{NOTE} "return an updated value that will be used throughout the remaining computation"'
GLOBAL_PRE = "torch.nn.modules.module.register_module_forward_pre_hook"


RUN = (Forward(), Backward((2,)))


def scaling(draw, on: str, most: int = 3, first: int = 0, **options):
    """One to `most` pre-hooks on a module that multiply its input."""
    return [
        Hook("forward_pre", on, f"h{first + number}", (Scale(draw(FACTORS)),), **options)
        for number in range(draw(st.integers(1, most)))
    ]


def product(hooks):
    """What the hooks multiply by, taken together."""
    factor = 1
    for hook in hooks:
        factor *= hook.do[0].by
    return factor


@st.composite
def leaves(draw, op: str = "scale", steps=RUN, frozen: bool = False, **options) -> Plan:
    """A module without children, with pre-hooks that multiply."""
    width, names = {"scale": (1, 1), "same": (1, 0), "both": (2, 0), "first": (2, 1), "mul": (2, 0)}[op]
    xs = tuple(Input(draw(NUMBERS), grad=not frozen) for _ in range(width))
    hooks = scaling(draw, "m0", **options)
    return Plan(Leaf("m0", op, tuple(draw(NUMBERS) for _ in range(names))), xs, (*hooks, *steps))


@clause(
    "input.places.all_together",
    says="A pre-hook is given all positional inputs as one tuple, and replaces them together.",
    source=f'{NOTE} "Note that inputs are always wrapped in a tuple"',
)
@given(plan=leaves("mul"))
def test_all_together(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    x, y = (one.value for one in plan.inputs)
    for number, hook in enumerate(hooks_of(plan)):
        before = product(hooks_of(plan)[:number])
        assert trace.seen_by(hook.label) == [("m0", (before * x, before * y))]


@clause(
    "input.places.handed_through",
    says="A module that returns its input returns what its pre-hooks made of it.",
    source=THROUGHOUT,
)
@given(plan=leaves("both", steps=(Forward(), Backward((1, 2)))))
def test_handed_through(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.returns() == [tuple(product(hooks_of(plan)) * x.value for x in plan.inputs)]


@clause(
    "input.places.unused",
    says="Without backward hooks an unused input gets no gradient, though a pre-hook replaced it.",
    source="measured",
)
@given(plan=leaves("first"))
def test_unused(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [grads["x1"] for grads in trace.grads()] == [None]


@clause(
    "input.places.without_gradient",
    says="The parameter's gradient is made with the replaced input, also where the input needs no gradient.",
    source="measured",
)
@given(plan=leaves(frozen=True))
def test_without_gradient(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.grads() == [{"m0.weight": 2 * product(hooks_of(plan)) * plan.inputs[0].value}]


@clause(
    "input.places.no_grad",
    says="Under no_grad pre-hooks run and replace as ever; backward() of the output raises RuntimeError.",
    source="measured",
)
@given(plan=leaves(steps=(Forward(grad=False), Backward((2,)))))
def test_no_grad(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    usual = subject.expect(replace(plan, steps=(*hooks_of(plan), Forward())))
    assert trace[: len(usual)] == usual
    assert trace.raised() == [("backward", "RuntimeError")]


@clause(
    "input.places.backward_again",
    says="With retain_graph=True a second backward() uses the replacement and calls no pre-hook.",
    source="measured",
)
@given(plan=leaves(steps=(Forward(), Backward((2,)), Backward((3,)))))
def test_backward_again(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks = hooks_of(plan)
    assert trace.calls() == [hook.label for hook in hooks]
    assert [grads["x0"] for grads in trace.grads()] == [total * product(hooks) * plan.net.values[0] for total in (2, 5)]


@st.composite
def watched(draw) -> Plan:
    """Pre-hooks that multiply, and a hook on the caller's tensor."""
    plan = draw(leaves())
    hooks = (Hook("tensor", "x0", "watch"), *hooks_of(plan))
    return replace(
        plan, inputs=(Input(draw(NUMBERS), leaf=draw(st.booleans())),), steps=(*hooks, Forward(), Backward((2,)))
    )


@clause(
    "input.places.callers_tensor",
    says="A hook on the caller's tensor is given the gradient that came back through the replacements.",
    source="measured",
    about=("register_forward_pre_hook", "register_hook"),
)
@given(plan=watched())
def test_callers_tensor(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.seen_by("watch") == [(2 * plan.net.values[0] * product(hooks_of(plan, "forward_pre")),)]


@st.composite
def towers(draw) -> Plan:
    """Modules in modules, each with pre-hooks."""
    depth = draw(st.integers(2, 4))
    net = Leaf(f"m{depth - 1}", "scale", (draw(NUMBERS),))
    for level in reversed(range(depth - 1)):
        net = Chain(f"m{level}", (net,))
    hooks = []
    for level in draw(st.permutations(range(depth))):
        hooks += scaling(draw, f"m{level}", most=2, first=len(hooks))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward()))


@clause(
    "input.places.towers",
    says="In nested modules that pass their input on, a pre-hook is given what those around it left.",
    source=THROUGHOUT,
)
@given(plan=towers())
def test_towers(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks = sorted(hooks_of(plan), key=lambda hook: hook.on)
    for number, hook in enumerate(hooks):
        assert trace.seen_by(hook.label) == [(hook.on, (product(hooks[:number]) * plan.inputs[0].value,))]


@st.composite
def side_by_side(draw) -> Plan:
    """Two modules that are given the same input, the first of them with pre-hooks."""
    net = Fan("m0", (Leaf("m1", "scale", (draw(NUMBERS),)), Leaf("m2", "scale", (draw(NUMBERS),))))
    hooks = [*scaling(draw, "m1"), Hook("forward_pre", "m2", "other")]
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward((1, 2))))


@clause(
    "input.places.siblings",
    says="A replaced input is that module's alone: a module next to it is given the original input.",
    source="measured",
)
@given(plan=side_by_side())
def test_siblings(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.seen_by("other") == [("m2", (plan.inputs[0].value,))]


@st.composite
def shared(draw) -> Plan:
    """One module in two or three places of a chain, with pre-hooks."""
    children = (Leaf("m1", "scale", (draw(NUMBERS),)),) + (Again("m1"),) * draw(st.integers(1, 2))
    return Plan(Chain("m0", children), (Input(draw(NUMBERS)),), (*scaling(draw, "m1", most=2), Forward(), Backward()))


@clause(
    "input.places.shared",
    says="Pre-hooks of a module that is used in several places replace its input in each of them.",
    source=f'{PRE_HOOK} "The hook will be called every time before :func:`forward` is invoked"',
)
@given(plan=shared())
def test_shared(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks, places = hooks_of(plan), len(plan.net.children)
    assert trace.calls() == [hook.label for hook in hooks] * places
    assert trace.returns() == [plan.inputs[0].value * (product(hooks) * plan.net.children[0].values[0]) ** places]


@st.composite
def failing_once(draw) -> Plan:
    """Pre-hooks, one of which raises until it is removed."""
    hooks = scaling(draw, "m0")
    place = draw(st.integers(0, len(hooks)))
    hooks.insert(place, Hook("forward_pre", "m0", "fails", (Raise(),)))
    return Plan(
        Leaf("m0", "scale", (draw(NUMBERS),)), (Input(draw(NUMBERS)),), (*hooks, Forward(), Remove("fails"), Forward())
    )


@clause(
    "input.places.after_a_failure",
    says="After a call that a pre-hook made fail, the next call begins with its own input.",
    source="measured",
)
@given(plan=failing_once())
def test_after_a_failure(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    healthy = [hook for hook in hooks_of(plan) if hook.label != "fails"]
    assert trace.returns() == [product(healthy) * plan.net.values[0] * plan.inputs[0].value]


@st.composite
def everywhere(draw) -> Plan:
    """Global pre-hooks around a container that is called with a keyword."""
    hooks = [Hook("forward_pre", "*", f"h{number}") for number in range(draw(st.integers(1, 3)))]
    net = Chain("m0", (Leaf("m1", "scale", (draw(NUMBERS),)),))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(draw(NUMBERS))))


@clause(
    "input.places.global_keywords",
    says="Global pre-hooks are never given the keyword arguments; forward is.",
    source=f'{GLOBAL_PRE_HOOK} "Keyword arguments won\'t be passed to the hooks"',
    needs=GLOBAL_PRE,
)
@given(plan=everywhere())
def test_global_keywords(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    x = plan.inputs[0].value
    for hook in hooks_of(plan):
        assert trace.seen_by(hook.label) == [("m0", (x,)), ("m1", (x,))]
    assert trace.returns() == [plan.net.children[0].values[0] * x * plan.steps[-1].by]


@st.composite
def in_front(draw) -> Plan:
    """Pre-hooks that multiply, each put first or last, with and without keywords."""
    hooks = []
    for number in range(draw(st.integers(2, 5))):
        flags = {name: True for name in ("prepend", "with_kwargs") if draw(st.booleans())}
        hooks.append(Hook("forward_pre", "m0", f"h{number}", (Scale(draw(FACTORS)),), **flags))
    return Plan(Leaf("m0", "scale", (draw(NUMBERS),)), (Input(draw(NUMBERS)),), (*hooks, Forward(draw(NUMBERS))))


@clause(
    "input.places.prepended",
    says="A prepended pre-hook replaces the input before the older pre-hooks of the module see it.",
    source=f'{PRE_HOOK} "fired before all existing ``forward_pre`` hooks"',
    needs="torch.nn.Module.register_forward_pre_hook(prepend)",
)
@given(plan=in_front())
def test_prepended(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    line = []
    for hook in hooks_of(plan):
        line.insert(0 if hook.prepend else len(line), hook)
    for number, hook in enumerate(line):
        assert trace.seen_by(hook.label)[0][1] == (product(line[:number]) * plan.inputs[0].value,)


@st.composite
def repeated(draw) -> Plan:
    """Several forwards, some of them under no_grad, and a backward of the latest."""
    plan = draw(leaves())
    modes = draw(st.lists(st.booleans(), min_size=1, max_size=3))
    return replace(plan, steps=(*hooks_of(plan), *(Forward(grad=mode) for mode in modes), Forward(), Backward((2,))))


@clause(
    "input.places.calls_apart",
    says="In backward() from the latest output only the replacements of that call count.",
    source="measured",
)
@given(plan=repeated())
def test_calls_apart(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    factor = product(hooks_of(plan))
    assert [grads["m0.weight"] for grads in trace.grads()] == [2 * factor * plan.inputs[0].value]
    assert len(set(trace.returns())) == 1


@clause(
    "input.places.anywhere",
    says="In every plan of the grammar with pre-hooks only, each forward is given what they left.",
    source="measured",
    about=("register_forward_pre_hook", "register_module_forward_pre_hook"),
)
@given(
    plan=plans(
        kinds=("forward_pre",),
        does=("scale", "bare"),
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
