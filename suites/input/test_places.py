"""Replaced inputs and the place of the module: nested, side by side, shared, called again, under no_grad."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Parallel, Plan, hooks_of
from suites.names import GLOBAL_FORWARD_PRE, GLOBAL_PRE_HOOK, NOTE, PRE_HOOK, THROUGHOUT
from suites.shapes import (
    failing_once,
    in_front,
    in_line,
    leaves,
    one_leaf,
    product,
    scaling,
    shared,
    tower,
    towers,
    wider,
)

ABOUT = "register_forward_pre_hook"


@clause(
    "input.places.all_together",
    says="A forward pre-hook is given all positional inputs in one tuple; a tuple that it returns replaces them all.",
    see=("input.returns.only_tuples_are_spread", "input.keywords.pair_of_inputs"),
    source=f'{NOTE} "Note that inputs are always wrapped in a tuple"',
    asked="layer with several inputs modify only one encoder decoder must return everything",
)
@given(plan=leaves("forward_pre", "mul"))
def test_all_together(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    x, y = (one.value for one in plan.inputs)
    for number, hook in enumerate(hooks_of(plan)):
        before = product(hooks_of(plan)[:number])
        assert trace.seen_by(hook.label) == [("m0", (before * x, before * y))]


@clause(
    "input.places.handed_through",
    says="A module that returns its input returns what its forward pre-hooks made of it.",
    where=("inputs are positional tensors", "there is no other hook"),
    source=THROUGHOUT,
    asked="nn identity or dropout eval passes through is result modified tensor or original",
)
@given(plan=leaves("forward_pre", "both", steps=(Forward(), Backward((1, 2)))))
def test_handed_through(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.returns() == [tuple(product(hooks_of(plan)) * x.value for x in plan.inputs)]


@clause(
    "input.places.unused",
    says="An input x that forward does not use gets no gradient, also when a forward pre-hook returns 2 * x for it.",
    where=("there is no backward hook", "x is used nowhere else"),
    see="backward.given.unused_input",
    source="measured",
    asked="input ignored by layer grad is none despite scaling in callback disconnected",
)
@given(plan=leaves("forward_pre", "first"))
def test_unused(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [grads["x1"] for grads in trace.grads()] == [None]


@clause(
    "input.places.without_gradient",
    says="Where x needs no gradient, the gradient of w in x * w is computed from the x that forward pre-hooks left.",
    source="measured",
    asked="weight gradient uses modified image or original data first layer normalization in callback",
)
@given(plan=leaves("forward_pre", frozen=True))
def test_without_gradient(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).grads() == [{"m0.weight": 2 * product(hooks_of(plan)) * plan.inputs[0].value}]


@clause(
    "input.places.no_grad",
    says="Under no_grad forward pre-hooks run and replace x in y = w * x, too; y.backward() raises RuntimeError.",
    source="measured",
    asked="inference evaluation mode are input callbacks still active does not require grad error",
)
@given(plan=leaves("forward_pre", steps=(Forward(grad=False), Backward((2,)))))
def test_no_grad(subject: Subject, plan: Plan) -> None:
    trace, hooks = subject.holds(plan), hooks_of(plan)
    assert trace.calls() == [hook.label for hook in hooks]
    assert trace.returns() == [plan.net.values[0] * product(hooks) * plan.inputs[0].value]
    assert trace.raised() == [("backward", "RuntimeError")]


@clause(
    "input.places.backward_again",
    says="A second backward() of y = w * x uses the x that forward pre-hooks left and calls none of them.",
    where="retain_graph=True is given",
    source="measured",
    asked="retain_graph twice do input callbacks rerun recompute weight gradient with modified input",
)
@given(plan=leaves("forward_pre", steps=(Forward(), Backward((2,)), Backward((3,)))))
def test_backward_again(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks = hooks_of(plan)
    assert trace.calls() == [hook.label for hook in hooks]
    weight, x = plan.net.values[0] * product(hooks), plan.inputs[0].value * product(hooks)
    assert trace.grads() == [{"x0": total * weight, "m0.weight": total * x} for total in (2, 5)]


@st.composite
def watched(draw) -> Plan:
    """Pre-hooks that multiply, and a hook on the caller's tensor."""
    plan = draw(leaves("forward_pre"))
    hooks = (Hook("tensor", "x0", "watch"), *hooks_of(plan))
    return replace(
        plan, inputs=(Input(draw(NUMBERS), leaf=draw(st.booleans())),), steps=(*hooks, Forward(), Backward((2,)))
    )


@clause(
    "input.places.callers_tensor",
    says="A tensor hook on the caller's input is given the gradient that came back through the replacements.",
    where=("it is positional and used once", "it has no other hook"),
    source="measured",
    asked="saliency adversarial gradient at original image before normalization inside callback chain rule",
    about=("register_forward_pre_hook", "register_hook"),
)
@given(plan=watched())
def test_callers_tensor(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).seen_by("watch") == [(2 * plan.net.values[0] * product(hooks_of(plan, "forward_pre")),)]


@clause(
    "input.places.towers",
    says="What a Sequential's forward pre-hooks left is given to the first forward pre-hook of its first child.",
    where="inputs are positional",
    source=THROUGHOUT,
    asked="nn sequential container input callback nested deep outer goes before inner layer",
)
@given(plan=towers("forward_pre"))
def test_towers(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks = sorted(hooks_of(plan), key=lambda hook: hook.on)
    for number, hook in enumerate(hooks):
        assert trace.seen_by(hook.label) == [(hook.on, (product(hooks[:number]) * plan.inputs[0].value,))]


@st.composite
def side_by_side(draw) -> Plan:
    """Two modules that are given the same input, the first of them with pre-hooks."""
    net = Parallel("m0", (one_leaf(draw, "m1"), one_leaf(draw, "m2")))
    hooks = [*scaling(draw, "forward_pre", "m1"), Hook("forward_pre", "m2", "other")]
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward((1, 2))))


@clause(
    "input.places.siblings",
    says="If a forward pre-hook of a replaces x in a(x), the first forward pre-hook of b is given x itself in b(x).",
    see="input.returns.in_place",
    source="measured",
    asked="parallel branches same activation does modifying input of one leak to other branch",
)
@given(plan=side_by_side())
def test_siblings(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).seen_by("other") == [("m2", (plan.inputs[0].value,))]


@clause(
    "input.places.shared",
    says="The forward pre-hooks of a module that is called in several places replace its input in each of them.",
    where="inputs are positional tensors",
    source=f'{PRE_HOOK} "The hook will be called every time before :func:`forward` is invoked"',
    asked="tied layer reused weight sharing input modification applied on every use",
)
@given(plan=shared("forward_pre"))
def test_shared(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks, places = hooks_of(plan), len(plan.net.children)
    assert trace.calls() == [hook.label for hook in hooks] * places
    assert trace.returns() == [plan.inputs[0].value * (product(hooks) * plan.net.children[0].values[0]) ** places]


@clause(
    "input.places.after_a_failure",
    says="After a call that failed in a forward pre-hook, the next call starts with its own input.",
    see="input.returns.in_place",
    source="measured",
    asked="exception in input callback does broken state or modified input leak into following batch",
)
@given(plan=failing_once("forward_pre"))
def test_after_a_failure(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    healthy = [hook for hook in hooks_of(plan) if hook.label != "fails"]
    assert trace.returns() == [product(healthy) * plan.net.values[0] * plan.inputs[0].value]


@st.composite
def everywhere(draw) -> Plan:
    """Global pre-hooks around a container that is called with a keyword."""
    hooks = [Hook("forward_pre", "*", f"h{number}") for number in range(draw(st.integers(1, 3)))]
    return Plan(tower(draw, 2), (Input(draw(NUMBERS)),), (*hooks, Forward(draw(NUMBERS))))


@clause(
    "input.places.global_keywords",
    says="A global forward pre-hook is not given the keyword arguments and does not change them.",
    source=f'{GLOBAL_PRE_HOOK} "Keyword arguments won\'t be passed to the hooks"',
    asked="register_module_forward_pre_hook attention_mask named inputs missing all layers huggingface",
    needs=GLOBAL_FORWARD_PRE,
)
@given(plan=everywhere())
def test_global_keywords(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    x = plan.inputs[0].value
    for hook in hooks_of(plan):
        assert trace.seen_by(hook.label) == [("m0", (x,)), ("m1", (x,))]
    assert trace.returns() == [plan.net.children[0].values[0] * x * plan.steps[-1].by]


@clause(
    "input.places.prepended",
    says="A forward pre-hook with prepend=True replaces the input before its module's older ones are given it.",
    where="inputs are positional tensors",
    source=f'{PRE_HOOK} "fired before all existing ``forward_pre`` hooks"',
    asked="run my input callback first before existing ones put at front spectral norm prune",
    needs="torch.nn.Module.register_forward_pre_hook(prepend)",
)
@given(plan=in_front("forward_pre"))
def test_prepended(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    line = in_line(hooks_of(plan))
    for number, hook in enumerate(line):
        assert trace.seen_by(hook.label)[0][1] == (product(line[:number]) * plan.inputs[0].value,)


@st.composite
def repeated(draw) -> Plan:
    """Several forwards, some of them under no_grad, and a backward of the latest."""
    plan = draw(leaves("forward_pre"))
    modes = draw(st.lists(st.booleans(), min_size=1, max_size=3))
    return replace(plan, steps=(*hooks_of(plan), *(Forward(grad=mode) for mode in modes), Forward(), Backward((2,))))


@clause(
    "input.places.calls_apart",
    says="After several calls of y = x * w, backward() of the last y uses the x that forward pre-hooks left for it.",
    where="all calls are given the same x",
    source="measured",
    asked="siamese layer reused several times gradient from latest result mixes inputs of other runs",
)
@given(plan=repeated())
def test_calls_apart(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    factor = product(hooks_of(plan))
    assert [grads["m0.weight"] for grads in trace.grads()] == [2 * factor * plan.inputs[0].value]
    assert len(set(trace.returns())) == 1


@clause(
    "input.places.anywhere",
    says="Every plan of the grammar with forward pre-hooks only leaves the trace of the model.",
    source="measured",
    checks_model=True,
    about=("register_forward_pre_hook", "register_module_forward_pre_hook"),
)
@given(
    plan=wider(
        "everywhere", "options", "by", "no_grad", kinds=("forward_pre",), does=("scale", "bare"), depth=2, runs=3
    )
)
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
