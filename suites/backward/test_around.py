"""How backward hooks of modules stand to everything else: tensor hooks, forward hooks, other modules, errors."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.contract import by_contract
from fixtures.draw.plans import FACTORS, NUMBERS, available, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Chain, Forward, Hook, Input, Leaf, Plan, Reuse, Scale, hooks_of
from suites.backward.plans import MAYBE_SCALE, NO_INPUT, PAIR, row, script
from suites.backward.sources import PRE_REPLACES, RULE_2, TESTS
from suites.names import EXECUTION, FULL, PRE

ABOUT = "register_backward_hook"
#: Whether a plan has a pre-hook besides, where a torch has them.
MAYBE_PRE = by_contract(
    lambda contract: st.booleans() if available(contract, ("full_backward_pre",)) else st.just(False)
)


@st.composite
def parameters(draw: Any, grad: bool = True) -> Plan:
    """A module m1 with all its tensors hooked; where its input needs a gradient it may be called twice in a row."""
    values = tuple(draw(st.lists(NUMBERS, min_size=1, max_size=2)))
    leaf, do = Leaf("m1", ("scale", "affine")[len(values) - 1], values), draw(MAYBE_SCALE)
    twice, pre = grad and draw(st.booleans()), draw(MAYBE_PRE)
    hooks = (
        Hook("full_backward", "m1", "full"),
        *([Hook("full_backward_pre", "m1", "pre", do)] * pre),
        *([Hook("tensor", "x0", "input", do)] * grad),
        *(Hook("tensor", f"m1.{name}", name, do) for name in ("weight", "bias")[: len(values)]),
        Forward(),
        Hook("tensor", "m0>0", "output", do),
        Backward((draw(NUMBERS),)),
    )
    given = Input(draw(NUMBERS), grad=grad, leaf=not grad or draw(st.booleans()))
    return Plan(Chain("m0", (leaf, Reuse("m1")) if twice else (leaf,)), (given,), hooks)


@clause(
    "backward.around.parameters_first",
    says="In backward() m.weight, used once, gets its .grad before m's full backward hook runs.",
    where="inputs are positional tensors that require grad",
    see="backward.structures.unseen_inputs",
    source="measured",
    asked="are layer weight gradients already available when "
    "register_full_backward_hook fires can i read param grad there",
    note="A parameter that is used twice, by calls or by modules, has its gradient after the last of its uses.",
    needs=FULL,
)
@given(plan=parameters())
def test_parameters_first(subject: Subject, plan: Plan) -> None:
    calls = subject.holds(plan).calls()
    own = [calls.index(name) for name in ("weight", "bias") if name in calls]
    *_, last = [place for place, label in enumerate(calls) if label == "full"]
    assert max(own) < last < calls.index("input")
    # Of two calls the later one comes first, before the parameter has its whole gradient.
    assert (calls.index("full") < min(own)) == (len(plan.net.children) > 1)


@clause(
    "backward.around.parameters_last",
    says="If no input needs a gradient, a module's full backward hook runs before its parameters get gradients.",
    where="forward uses the parameters and returns a tensor",
    source=(RULE_2, "https://github.com/pytorch/pytorch/issues/149938"),
    asked="first layer on raw data param grad is none or stale inside register_full_backward_hook too early",
    level="implied",
    matters_if="full_backward ?inputs_need_no_grad",
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.9", "before them", {"full_without_input": "output"}),
        "If no input needs a gradient, a module's full backward hook runs before its parameters get gradients.",
        ("", "silent", {"full_without_input": "silent"}),
        "If no input needs a gradient, the full backward hook does not run.",
    ),
    witness=script(2, (Hook("full_backward", "m0", "full"), Hook("tensor", "m0.weight", "weight")), (), 1, NO_INPUT),
)
@given(plan=parameters(grad=False))
def test_parameters_last(subject: Subject, plan: Plan) -> None:
    calls = subject.holds(plan).calls()
    own = [calls.index(name) for name in ("weight", "bias") if name in calls]
    expected = [] if subject.reading.facts["full_without_input"] == "silent" else ["full"]
    assert [label for label in calls if label == "full"] == expected
    assert calls[: min(own)][-1:] == expected or not expected


@clause(
    "backward.around.inside_forward",
    says="Tensor hooks that forward sets on x or y run between full backward pre-hook and full backward hook.",
    where=("x and y = m(x) are tensors", "x gets a gradient from y"),
    see="backward.firing.independent_output",
    source=f'{EXECUTION} "applied to the inputs of the module before forward"',
    asked="order of register_hook on intermediate activations within "
    "layer code versus module backward hooks fires first",
    needs=PRE,
)
@given(
    plan=st.builds(
        lambda value, grad, do: Plan(
            Chain("m0", (Leaf("m1", "same"), Leaf("m2", "scale", (value,)))),
            (Input(3),),
            (
                Hook("full_backward", "m0", "full"),
                Hook("full_backward_pre", "m0", "pre", do),
                Hook("tensor", "x0", "caller's x"),
                Forward(),
                Hook("tensor", "m0>0", "caller's y", do),
                Hook("tensor", "m1>0", "forward's x", do),
                Hook("tensor", "m2>0", "forward's y", do),
                Backward((grad,)),
            ),
        ),
        NUMBERS,
        NUMBERS,
        MAYBE_SCALE,
    )
)
def test_inside_forward(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["caller's y", "pre", "forward's y", "forward's x", "full", "caller's x"]


@clause(
    "backward.around.pre_then_full",
    says="A full backward hook is given as grad_output what the module's full backward pre-hooks left.",
    see=("backward.twice.stale", "backward.errors.stale_pre"),
    source=(PRE_REPLACES, TESTS + "test_backward_hooks_interaction"),
    asked="changed grad_output in register_full_backward_pre_hook "
    "does later backward hook see modified value or original",
    needs=PRE,
)
@given(
    plan=st.builds(
        lambda dos, grad: script(
            2,
            (
                Hook("full_backward", "m0", "full"),
                *(Hook("full_backward_pre", "m0", f"h{i}", do) for i, do in enumerate(dos)),
            ),
            (),
            grad,
        ),
        st.lists(MAYBE_SCALE, min_size=1, max_size=3),
        NUMBERS,
    )
)
def test_pre_then_full(subject: Subject, plan: Plan) -> None:
    trace, grad = subject.holds(plan), plan.steps[-1].grads[0]
    for hook in hooks_of(plan, "full_backward_pre"):
        assert trace.seen_by(hook.label) == [("m0", (grad,))]
        grad *= hook.do[0].by if hook.do else 1
    assert trace.seen_by("full") == [("m0", (2 * grad,), (grad,))]


@clause(
    "backward.around.forward_hook_inside",
    says="If m's forward hook returns output * 5, m's full backward hook has y's gradient as grad_output[0].",
    where=("y = m(x) is a tensor", "there is no other hook"),
    source="measured",
    asked="scaling activation in register_forward_hook which gradient do i see for the modified value or original",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda by, value, grad: script(
            value, (Hook("forward", "m0", "h0", (Scale(by),)), Hook("full_backward", "m0", "h1")), (), grad
        ),
        FACTORS,
        NUMBERS,
        NUMBERS,
    )
)
def test_forward_hook_inside(subject: Subject, plan: Plan) -> None:
    grad, by, value = plan.steps[-1].grads[0], plan.steps[0].do[0].by, plan.net.values[0]
    assert subject.holds(plan).seen_by("h1") == [("m0", (grad * by * value,), (grad,))]


@clause(
    "backward.around.pre_hook_outside",
    says="If m's forward pre-hook returns args[0] * 5, m's full backward hook is given that product's gradient.",
    where=("args[0] requires grad", "there is no other hook"),
    source="measured",
    asked="rescale data in register_forward_pre_hook does grad_input refer to the scaled value or the original",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda by, value, grad: script(
            value, (Hook("forward_pre", "m0", "h0", (Scale(by),)), Hook("full_backward", "m0", "h1")), (), grad
        ),
        FACTORS,
        NUMBERS,
        NUMBERS,
    )
)
def test_pre_hook_outside(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    grad, by, value = plan.steps[-1].grads[0], plan.steps[0].do[0].by, plan.net.values[0]
    assert trace.seen_by("h1") == [("m0", (grad * value,), (grad,))]
    assert trace.grads()[0]["x0"] == grad * value * by


@clause(
    "backward.around.legacy_on_forward_hook",
    says="If a forward hook returns output * 5, a legacy backward hook has output's gradient as grad_input[0].",
    where=("output is a tensor, used once", "there is no other hook"),
    source="measured",
    asked="old register_backward_hook shows gradient of scaled "
    "activation multiply added by another hook messes up my layer",
    about=("register_backward_hook", "register_forward_hook"),
)
@given(
    plan=st.builds(
        lambda by, grad: script(2, (Hook("forward", "m0", "h0", (Scale(by),)), Hook("backward", "m0", "h1")), (), grad),
        FACTORS,
        NUMBERS,
    )
)
def test_legacy_on_forward_hook(subject: Subject, plan: Plan) -> None:
    grad, by = plan.steps[-1].grads[0], plan.steps[0].do[0].by
    ((module, grad_input, grad_output),) = subject.holds(plan).seen_by("h1")
    assert (module, grad_input[0], grad_output) == ("m0", grad * by, (grad,))


@clause(
    "backward.around.legacy_shared_node",
    says="A legacy backward hook of a Sequential runs after that of its last module, whichever was set first.",
    where=("each module is called once", "there is no other hook"),
    source="measured",
    asked="container and final child share grad_fn register_backward_hook "
    "order parent after child regardless of registration",
)
@given(
    plan=st.builds(
        lambda values, grad, hooks: Plan(row(values), (Input(3),), (*hooks, Forward(), Backward((grad,)))),
        PAIR,
        NUMBERS,
        st.tuples(
            st.builds(lambda do: Hook("backward", "m0", "outer", do), MAYBE_SCALE),
            st.builds(lambda do: Hook("backward", "m2", "inner", do), MAYBE_SCALE),
        ).flatmap(st.permutations),
    )
)
def test_legacy_shared_node(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["inner", "outer"]


@clause(
    "backward.around.legacy_unchanged_input",
    says="If m(x) returns the tensor x, a legacy backward hook of m runs, unless x is a leaf.",
    where=("the loss uses m(x)", "there is no other hook"),
    source="measured",
    asked="register_backward_hook on identity layer or disabled dropout never called when fed the raw data directly",
)
@given(
    plan=st.builds(
        lambda kind, leaf, grad: Plan(
            Leaf("m0", "same"), (Input(3, leaf=leaf),), (Hook(kind, "m0", "h0"), Forward(), Backward((grad,)))
        ),
        st.just("backward"),
        st.booleans(),
        NUMBERS,
    )
)
def test_legacy_unchanged_input(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ([] if plan.inputs[0].leaf else ["h0"])


@clause(
    "backward.around.full_unchanged_input",
    says="A full backward hook of nn.Identity is given grad_input equal to grad_output.",
    where=("the input is a positional tensor that requires grad", "there is no other hook"),
    see="backward.structures.unseen_inputs",
    source="measured",
    asked="passthrough layer grad_input same as grad_output why are both identical noop module sanity check",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda leaf, grad, by: Plan(
            Leaf("m0", "same"),
            (Input(3, leaf=leaf),),
            (Hook("full_backward", "m0", "h0", (Scale(by),)), Forward(), Backward((grad,))),
        ),
        st.booleans(),
        NUMBERS,
        FACTORS,
    )
)
def test_full_unchanged_input(subject: Subject, plan: Plan) -> None:
    trace, grads = subject.holds(plan), plan.steps[-1].grads
    assert trace.seen_by("h0") == [("m0", grads, grads)]


@clause(
    "backward.around.frozen_factor",
    says="For y = weight * x a legacy backward hook has None in grad_input for an x that needs no gradient.",
    where="there is no other hook",
    source="measured",
    asked="legacy register_backward_hook missing entry for data batch "
    "requires_grad false multiplication only weight gradient appears",
)
@given(
    plan=st.builds(
        lambda value, grad: script(value, (Hook("backward", "m0", "h0"),), (), grad, NO_INPUT), NUMBERS, NUMBERS
    )
)
def test_frozen_factor(subject: Subject, plan: Plan) -> None:
    grad = plan.steps[-1].grads[0]
    assert subject.holds(plan).seen_by("h0") == [("m0", (3 * grad, None), (grad,))]


@each(
    Row(
        "backward.around.legacy_any_network",
        "Every plan of the grammar with legacy backward hooks next to others leaves the trace of the model.",
        "measured",
        checks_model=True,
        kinds=("backward",),
        most=4,
    ),
    Row(
        "backward.around.any_network",
        "Every plan of the grammar with full backward hooks around other hooks leaves the trace of the model.",
        "measured",
        checks_model=True,
        needs=FULL,
        kinds=("full_backward", "full_backward_pre"),
        most=5,
    ),
    plan=lambda row: plans(
        kinds=(*row.kinds, "forward", "forward_pre", "tensor"),
        does=("scale", "raise", "drop"),
        inputs=(1, 2),
        outputs=(1, 2),
        depth=2,
        frozen=True,
        runs=2,
        most=row.most,
    ),
)
def in_any_network(subject: Subject, plan: Plan, *, row: Any) -> None:
    subject.holds(plan)
