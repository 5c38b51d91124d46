"""What a forward pre-hook returns becomes the input: of the next hook, of forward, and of the backward pass."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import OPS, Backward, Bare, Forward, Hook, Input, Leaf, Plan, Scale, hooks_of
from suites.names import FORWARD, FULL, GLOBAL_FORWARD_PRE, GLOBAL_PRE_HOOK, PRE_HOOK, THROUGHOUT
from suites.shapes import in_line, left_by_scaling, nested, product, removed, wider

ABOUT = "register_forward_pre_hook"


@st.composite
def replacing(draw, *actions: type, ops=("same", "both"), after=(), runs: int = 1, everywhere: bool = False) -> Plan:
    """A module without children whose pre-hooks do the actions; with hooks of the kinds `after` behind them."""
    op = draw(st.sampled_from(ops))
    width, height, names = OPS[op]
    hooks = []
    for number in range(draw(st.integers(1, 4))):
        action = draw(st.sampled_from(actions)) if actions else None
        on = draw(st.sampled_from(["*", "m0"])) if everywhere else "m0"
        hooks.append(Hook("forward_pre", on, f"h{number}", (action(draw(FACTORS)),) if action else ()))
    hooks += [Hook(kind, "m0", f"h{len(hooks) + number}") for number, kind in enumerate(after)]
    xs = tuple(Input(draw(NUMBERS), leaf=draw(st.booleans())) for _ in range(width))
    net = Leaf("m0", op, tuple(draw(NUMBERS) for _ in names))
    steps = (Forward(), Backward(tuple(draw(NUMBERS) for _ in range(height)))) * runs
    return Plan(net, xs, (*hooks, *steps))


def given_to(plan: Plan):
    """The inputs as the caller gives them: a non-leaf input is twice its value."""
    return tuple(x.value if x.leaf else 2 * x.value for x in plan.inputs)


def along(plan: Plan, hooks):
    """What each of the pre-hooks is given, in order, and at last what forward is given."""
    xs = given_to(plan)
    stages = [xs]
    for hook in hooks:
        for action in hook.do:
            xs = tuple(x * action.by for x in xs)
        stages.append(xs)
    return stages


@each(
    Row(
        "input.replacement.chain",
        "Each forward pre-hook is given the positional arguments that the one before it left.",
        THROUGHOUT,
        asked="several input callbacks same layer does second see first modification order",
        draws=lambda: replacing(Scale, Bare, ops=("scale", "affine", "same", "add", "mul", "cross", "both")),
    ),
    Row(
        "input.replacement.every_call",
        "In a second call with the same x the first forward pre-hook is given x again, not what it returned for it.",
        "measured",
        asked="input modification accumulates over iterations applied twice to same batch training loop",
        see="input.returns.in_place",
        draws=lambda: replacing(Scale, Bare, ops=("scale", "affine", "same"), runs=3),
    ),
    Row(
        "input.replacement.global_hook",
        "Global forward pre-hooks replace the input, too: the module's first own one is given what they left.",
        (f'{GLOBAL_PRE_HOOK} "This hook has precedence over the specific module hooks registered"', THROUGHOUT),
        asked="register_module_forward_pre_hook modify every layer input order before per layer ones",
        where="inputs are positional tensors",
        needs=GLOBAL_FORWARD_PRE,
        draws=lambda: replacing(Scale, Bare, ops=("same", "both", "add"), everywhere=True),
    ),
    plan=lambda row: row.draws(),
)
def goes_along(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace, line, calls = subject.holds(plan), in_line(hooks_of(plan)), plan.steps.count(Forward())
    *seen, _ = along(plan, line)
    assert [trace.seen_by(hook.label) for hook in line] == [[("m0", xs)] * calls for xs in seen]


@each(
    Row(
        "input.replacement.none_keeps",
        "A forward pre-hook that returns None does not replace the input.",
        f'{PRE_HOOK} "hook(module, args) -> None or modified input"',
        asked="forgot return in input callback only printing shapes does "
        "layer get original unchanged pre-hook returns None nothing",
        where="it changes nothing in place",
        see="input.keywords.dict_is_a_copy",
        draws=lambda: replacing(ops=("same", "both")),
    ),
    Row(
        "input.replacement.bare_is_wrapped",
        "A tensor that a forward pre-hook returns replaces all positional arguments, as a tuple of one.",
        f'{PRE_HOOK} "We will wrap the value into a tuple if a single value is returned"',
        asked="return single tensor not tuple from input callback layer with two inputs missing argument",
        see="input.keywords.only_a_pair",
        draws=lambda: replacing(Bare, ops=("same",)),
    ),
    Row(
        "input.replacement.tuple_replaces",
        "A plain tuple that a forward pre-hook returns replaces all positional arguments.",
        f'{PRE_HOOK} "User can either return a tuple or a single modified value"',
        asked="override several args before layer executes why did my second parameter vanish missing argument",
        see="input.keywords.pair_of_inputs",
        draws=lambda: replacing(Scale),
    ),
    plan=lambda row: row.draws(),
)
def reaches_forward(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace = subject.holds(plan)
    *seen, left = along(plan, hooks_of(plan))
    assert [trace.seen_by(hook.label) for hook in hooks_of(plan)] == [[("m0", xs)] for xs in seen]
    assert trace.returns() == [left if len(left) > 1 else left[0]]


@clause(
    "input.replacement.forward_hook_sees_it",
    says="A forward hook is given the input that the forward pre-hooks left, not the caller's.",
    where="inputs are positional tensors",
    see="output.keywords.hidden",
    source=THROUGHOUT,
    asked="captured input differs from what i passed register_forward_hook feature extraction original or modified",
    about=("register_forward_pre_hook", "register_forward_hook"),
)
@given(plan=replacing(Scale, Bare, ops=("scale", "affine", "same", "add", "both"), after=("forward",)))
def test_forward_hook_sees_it(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (hook,) = hooks_of(plan, "forward")
    ((_, xs, _),) = trace.seen_by(hook.label)
    assert xs == along(plan, hooks_of(plan, "forward_pre"))[-1]


@clause(
    "input.replacement.gradient_flows",
    says="If a forward pre-hook returns 2 * x for x, the gradient reaches the caller's x through 2 * x.",
    where=("x requires grad", "nothing is detached"),
    source="test: test/nn/test_module_hooks.py TestModuleHookNN.test_hook_forward_preforward_writable",
    asked="does backpropagation pass through input modification scale noise quantization inside callback",
)
@given(plan=replacing(Scale, Bare))
def test_gradient_flows(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    factor = product(hooks_of(plan))
    (grads,) = trace.grads()
    for number, (x, grad) in enumerate(zip(plan.inputs, plan.steps[-1].grads)):
        name = f"x{number}" if x.leaf else f"x{number}.base"
        assert grads[name] == factor * grad * (1 if x.leaf else 2)


@clause(
    "input.replacement.full_backward_sees_it",
    says="If forward pre-hooks turn x into 2 * x, the first full backward hook is given the gradient of 2 * x.",
    where="inputs are positional tensors that require grad",
    see="backward.given.kwargs_left_out",
    source="measured",
    asked="grad_input refers to modified or original input "
    "register_full_backward_hook with register_forward_pre_hook scaling",
    needs=FULL,
)
@given(plan=replacing(Scale, Bare, after=("full_backward",)))
def test_full_backward_sees_it(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (hook,) = hooks_of(plan, "full_backward")
    assert trace.seen_by(hook.label) == [("m0", plan.steps[-1].grads, plan.steps[-1].grads)]


@clause(
    "input.replacement.nested",
    says="A Sequential calls its first child with what the Sequential's own forward pre-hooks left.",
    where="inputs are positional",
    source=THROUGHOUT,
    asked="container input modification reaches inner layer nn sequential block first layer",
)
@given(plan=nested("forward_pre", inner=True))
def test_nested(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (x,) = given_to(plan)
    for name in ("m0", "m1", "m2"):
        assert trace.seen_by("at_" + name) == [(name, (x,))]
        (hook,) = [hook for hook in hooks_of(plan) if hook.on == name]
        x *= hook.do[0].by
    assert trace.returns() == [x]


@clause(
    "input.replacement.removed",
    says="A forward pre-hook that is removed between two calls replaces nothing in the second; the others still do.",
    source=f'{PRE_HOOK} "a handle that can be used to remove the added hook"',
    asked="unregister input modification layer back to original behaviour remaining callbacks continue ablation",
)
@given(plan=removed("forward_pre"))
def test_removed(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).returns() == left_by_scaling(plan)


@clause(
    "input.replacement.anywhere",
    says="Every plan of the grammar with hooks around forward that replace inputs leaves the trace of the model.",
    source="measured",
    checks_model=True,
    about=("register_forward_pre_hook", "register_forward_hook"),
)
@given(plan=wider(kinds=FORWARD, does=("scale", "bare"), depth=2, runs=2))
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
