"""What a forward hook returns becomes the output: for the next hook, for the caller, and in the backward pass."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.contract import by_contract
from fixtures.draw.plans import FACTORS, NUMBERS, available, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import OPS, Backward, Chain, Forward, Hook, Input, Leaf, Plan, hooks_of
from fixtures.play.packing import rebuild
from fixtures.stages.make import make
from suites.names import AS_IS, FORWARD_HOOK, FULL, GLOBAL_FORWARD, GLOBAL_HOOK, THROUGHOUT
from suites.shapes import (
    in_line,
    left_by_scaling,
    nested,
    one_leaf,
    one_raises,
    product,
    removed,
    scale_maybe,
    until_one_raises,
    wider,
)
from suites.tensors import item, leaf

ABOUT = "register_forward_hook"

#: Some of the full backward hooks that a torch has.
FULL_KINDS = by_contract(
    lambda contract: st.lists(
        st.sampled_from(available(contract, ("full_backward", "full_backward_pre"))), min_size=1, max_size=3
    )
)


@st.composite
def replacing(draw, ops, scale: bool = True, after=(), everywhere: bool = False, runs: int = 1) -> Plan:
    """A module without children whose forward hooks scale or observe; with hooks of the kinds `after` behind them."""
    op = draw(st.sampled_from(ops))
    width, height, names = OPS[op]
    hooks = []
    for number in range(draw(st.integers(1, 4))):
        on = draw(st.sampled_from(["*", "m0"])) if everywhere else "m0"
        hooks.append(Hook("forward", on, f"h{number}", scale_maybe(draw) if scale else ()))
    hooks += [Hook(kind, "m0", f"h{len(hooks) + number}") for number, kind in enumerate(after)]
    xs = tuple(Input(draw(NUMBERS)) for _ in range(width))
    net = Leaf("m0", op, tuple(draw(NUMBERS) for _ in names))
    steps = (Forward(), Backward(tuple(draw(NUMBERS) for _ in range(height)))) * runs
    return Plan(net, xs, (*hooks, *steps))


def made_by(plan: Plan):
    """What forward itself returns, for the ops that these clauses use."""
    xs, values = [x.value for x in plan.inputs], plan.net.values
    return {
        "same": lambda: xs[0],
        "both": lambda: (xs[0], xs[1]),
        "scale": lambda: values[0] * xs[0],
        "split": lambda: (values[0] * xs[0], values[1] * xs[0]),
        "named": lambda: {"y": values[0] * xs[0]},
        "add": lambda: xs[0] + xs[1],
    }[plan.net.op]()


def along(plan: Plan, hooks):
    """What each of the hooks is given as output, in order, and at last what the caller gets."""
    out = made_by(plan)
    stages = [out]
    for hook in hooks:
        for action in hook.do:
            out = rebuild(out, lambda number, action=action: number * action.by)
        stages.append(out)
    return stages


@each(
    Row(
        "output.replacement.hook_is_given",
        "A forward hook is given (module, args, output); for the first hook output is what forward returned.",
        f'{FORWARD_HOOK} "hook(module, args, output) -> None or modified output"',
        asked="activation hook signature what are the three parameters input tuple feature extraction basic "
        "example get intermediate layer output activation feature extraction forward hook arguments",
        see=("output.always.before_output",),
        draws=lambda: replacing(ops=("scale", "add", "split", "both"), scale=False),
    ),
    Row(
        "output.replacement.value_replaces",
        "What the last forward hook returns, unless it is None, is the output that the caller gets.",
        (f'{FORWARD_HOOK} "The hook can modify the output"', THROUGHOUT),
        asked="returning modified activation from callback does model use it change layer result "
        "intervention change modify the output of a layer return value of a forward hook",
        where="there is no backward hook or backward pre-hook",
        see=("backward.objects.views", "backward.structures.legacy_first"),
        draws=lambda: replacing(ops=("same", "scale", "add")),
    ),
    Row(
        "output.replacement.chain",
        "In a successful call each forward hook of the module but the first gets the output that the one before left.",
        THROUGHOUT,
        asked="second activation modifier sees original or modified version stacking noise and clamp on one layer",
        draws=lambda: replacing(ops=("same", "scale", "add", "both", "split")),
    ),
    Row(
        "output.replacement.structures",
        "An output that is a tuple or a dict is given to forward hooks, and replaced, as a whole.",
        AS_IS,
        asked="multi output layer lstm huggingface modeloutput hook gets everything not each tensor separately",
        draws=lambda: replacing(ops=("both", "split", "named")),
    ),
    Row(
        "output.replacement.every_call",
        "In each successful call of a module what a forward hook returns, unless None, replaces the output.",
        f'{FORWARD_HOOK} "called every time after :func:`forward` has computed an output"',
        asked="activation patching applied at all iterations not just once ablation persists each batch",
        where="no later hook replaces it",
        draws=lambda: replacing(ops=("same", "scale", "both"), runs=3),
    ),
    Row(
        "output.replacement.global_hook",
        "Global forward hooks may replace the output; the module's own first hook is given what they left.",
        (
            f'{GLOBAL_HOOK} "by returning a new value that will replace the output"',
            f'{GLOBAL_HOOK} "executed before specific module hooks registered with"',
        ),
        asked="register_module_forward_hook modify activations of all "
        "layers quantize then layer specific callback sees modified",
        needs=GLOBAL_FORWARD,
        draws=lambda: replacing(ops=("same", "both", "named"), everywhere=True),
    ),
    plan=lambda row: row.draws(),
)
def goes_along(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace, line, calls = subject.holds(plan), in_line(hooks_of(plan)), plan.steps.count(Forward())
    xs = tuple(x.value for x in plan.inputs)
    *seen, returned = along(plan, line)
    assert [trace.seen_by(hook.label) for hook in line] == [[("m0", xs, out)] * calls for out in seen]
    assert trace.returns() == [returned] * calls


@clause(
    "output.replacement.none_keeps",
    says="A forward hook that returns None and changes nothing in place leaves the output as it is.",
    source=f'{FORWARD_HOOK} "hook(module, args, output) -> None or modified output"',
    asked="just log or save features without return statement does observing "
    "affect model predictions forward hook returns nothing None",
)
@given(plan=plans(kinds=("forward",), does=(), runs=2))
def test_none_keeps(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls()
    assert trace.returns() == subject.play(plan.without(Hook)).returns()


@clause(
    "output.replacement.gradient_flows",
    says="For y = w * x gradients flow back to w and x through a forward hook that returns 2 * y.",
    where="w and x require grad",
    source="test: test/nn/test_module_hooks.py TestModuleHookNN.test_hook_forward_preforward_writable",
    asked="does scaling activation in hook break autograd does backprop go through my change weights train correctly",
)
@given(plan=replacing(ops=("scale",)))
def test_gradient_flows(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (weight,), (grad,), (x,) = plan.net.values, plan.steps[-1].grads, plan.inputs
    incoming = grad * product(hooks_of(plan, "forward"))
    assert trace.grads() == [{"x0": incoming * weight, "m0.weight": incoming * x.value}]


@clause(
    "output.replacement.full_backward_sees_it",
    says="For y = m(x) that forward hooks replaced, a full backward hook is given y's gradient as grad_output[0].",
    where=("no hook changes the gradient", "y is a tensor"),
    see=("backward.structures.other_outputs",),
    source="measured",
    asked="modified activation which gradient does register_full_backward_hook get original or replaced grad-cam",
    needs=FULL,
)
@given(plan=replacing(ops=("scale",), after=("full_backward",)))
def test_full_backward_sees_it(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (hook,) = hooks_of(plan, "full_backward")
    (weight,), (grad,) = plan.net.values, plan.steps[-1].grads
    assert trace.seen_by(hook.label) == [("m0", (grad * product(hooks_of(plan, "forward")) * weight,), (grad,))]


@clause(
    "output.replacement.tensor_hook_inside",
    says="A forward hook's tensor hook on a tensor output runs between the module's full backward pre-hooks and hooks.",
    where="inputs are tensors that require grad",
    see=("ordering.nested.input_without_grad", "backward.structures.unseen_inputs"),
    source="measured",
    asked="register_hook on activation inside callback timing relative to "
    "register_full_backward_pre_hook and register_full_backward_hook grad-cam",
    needs=FULL,
    value=lambda pres, inside, fulls: pres + inside + fulls,
    wrong={"never outside": lambda pres, inside, fulls: pres + fulls + inside},
    witness={"factors": [2], "kinds": ["full_backward"], "grad": 3},
)
@given(
    factors=st.lists(FACTORS, min_size=1, max_size=3),
    kinds=FULL_KINDS,
    grad=NUMBERS,
)
def test_tensor_hook_inside(subject: Subject, factors, kinds, grad) -> None:
    import torch

    ran, module, x = [], torch.nn.Identity(), leaf(1)
    for number, kind in enumerate(kinds):
        getattr(module, f"register_{kind}_hook")(lambda *given, number=number: ran.append((kinds[number], number)))
    for factor in factors:

        def replace(module, args, output, factor=factor):
            output.register_hook(lambda grad: ran.append(("tensor", item(grad))))
            return output * factor

        module.register_forward_hook(replace)
    module(x).backward(make.tensor(float(grad), dtype=x.dtype))
    inside, here = [], grad
    for factor in reversed(factors):
        here *= factor
        inside.append(("tensor", here))
    pres = [(kind, number) for number, kind in enumerate(kinds) if kind == "full_backward_pre"]
    fulls = [(kind, number) for number, kind in enumerate(kinds) if kind == "full_backward"]
    assert ran == subject.value(pres, inside, fulls)


@clause(
    "output.replacement.legacy_backward_sees_it",
    says="If the last forward hook returns 2 * output, a legacy backward hook gets the gradients of that product.",
    where=("output is a tensor", "there is no backward pre-hook"),
    see=("backward.structures.legacy_first",),
    source="measured",
    asked="deprecated register_backward_hook wrong grad_input after "
    "activation modified two gradients of mul instead of linear",
    about=("register_backward_hook", "register_forward_hook"),
)
@given(plan=replacing(ops=("scale", "add", "split"), after=("backward",)))
def test_legacy_backward_sees_it(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (hook,) = hooks_of(plan, "backward")
    grad = plan.steps[-1].grads[0]
    replaced = [action.by for one in hooks_of(plan, "forward") for action in one.do]
    if replaced:
        # A multiplication by a plain number: one gradient for the tensor, none for the number.
        assert trace.seen_by(hook.label) == [("m0", (grad * replaced[-1], None), (grad,))]


@clause(
    "output.replacement.nested",
    says="A container's forward goes on with what a child's forward hooks left; its own hooks may replace the result.",
    source=THROUGHOUT,
    asked="change intermediate layer activation rest of network uses modified version ablate block inside parent model",
)
@given(plan=nested("forward"))
def test_nested(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    factors = {hook.on: hook.do[0].by for hook in hooks_of(plan)}
    x = plan.inputs[0].value
    assert trace.seen_by("at_m1") == [("m1", (x,), x)]
    assert trace.seen_by("at_m2") == [("m2", (x * factors["m1"],), x * factors["m1"])]
    assert trace.seen_by("at_m0") == [("m0", (x,), x * factors["m1"] * factors["m2"])]
    assert trace.returns() == [x * factors["m1"] * factors["m2"] * factors["m0"]]


@clause(
    "output.replacement.removed",
    says="A forward hook that is removed between two calls no longer replaces the output; the others still do.",
    source=f'{FORWARD_HOOK} "a handle that can be used to remove the added hook"',
    asked="undo activation patching handle remove restore original predictions after intervention",
)
@given(plan=removed("forward"))
def test_removed(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).returns() == left_by_scaling(plan)


@st.composite
def failing(draw) -> Plan:
    """Two modules in a container, all with forward hooks; a hook of the first module raises."""
    hooks = one_raises(draw, "forward")
    others = [Hook("forward", "m2", "sibling"), Hook("forward", "m0", "parent")]
    net = Chain("m0", (one_leaf(draw, "m1"), Leaf("m2", "same")))
    return Plan(net, (Input(draw(NUMBERS)),), (*others, *hooks, Forward(), Backward()))


@clause(
    "output.replacement.raising",
    says="An error of a forward hook leaves the call; later forward hooks of the module do not run.",
    where="no parent catches the error",
    see=("output.always.changed_under_way", "output.always.base_exceptions"),
    source="measured",
    asked="exception inside activation callback stops model early exit trick "
    "remaining callbacks skipped early stop forward raise exception in a hook",
)
@given(plan=failing())
def test_raising(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == until_one_raises([hook for hook in hooks_of(plan) if hook.on == "m1"])
    assert trace.raised() == [("forward", "Boom")]


@clause(
    "output.replacement.anywhere",
    says="Every plan of the grammar with forward hooks that replace outputs leaves the trace of the model.",
    source="measured",
    checks_model=True,
)
@given(plan=wider(kinds=("forward",), depth=2, runs=2))
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
