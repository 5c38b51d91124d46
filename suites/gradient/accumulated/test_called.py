"""When post-accumulate hooks are called, and what they find: a leaf whose .grad is up to date (torch 2.1)."""

from dataclasses import replace
from itertools import accumulate
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import (
    Add,
    AutogradGrad,
    Backward,
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
from suites.gradient.sources import NOT_ACCUMULATED, OTHERS_IGNORED
from suites.names import EXECUTION, IN_ORDER, POST_ACCUMULATE, PRE
from suites.shapes import product, starts

PAIRS = (
    Hook("post_accumulate", "m0.weight", "w1"),
    Hook("post_accumulate", "m0.bias", "b1"),
    Hook("tensor", "m0.weight", "w0"),
    Hook("tensor", "m0.bias", "b0"),
)


@st.composite
def weights(
    draw: Any, tensor_hooks: int = 0, fewest: int = 1, most: int = 1, act: bool = False, passes: int = 2
) -> Plan:
    """y = weight * x with tensor hooks and post-accumulate hooks on the weight, and some backward passes."""
    hooks = [Hook("tensor", "m0.weight", f"t{i}", (Scale(draw(FACTORS)),)) for i in range(tensor_hooks)]
    for index in range(draw(st.integers(fewest, most))):
        do = (Scale(draw(FACTORS)),) if act else ()
        hooks.insert(draw(st.integers(0, tensor_hooks)), Hook("post_accumulate", "m0.weight", f"h{index}", do))
    backwards = tuple(Backward((draw(NUMBERS),)) for _ in range(draw(st.integers(1, passes))))
    return Plan(Leaf("m0", "scale", (draw(NUMBERS),)), (Input(draw(NUMBERS)),), tuple(hooks) + (Forward(),) + backwards)


def arriving(plan: Plan) -> List[int]:
    """The gradient of the weight in each pass of such a plan, before any hook."""
    return [plan.inputs[0].value * grad for grad in starts(plan)]


@clause(
    "gradient.accumulated.grad_is_set",
    says="A post-accumulate hook finds in .grad what was there plus the whole gradient of this backward().",
    where=("it is the leaf's first one", "the gradient is not None"),
    see="gradient.accumulated.may_set_grad",
    source='docs: torch.Tensor.register_post_accumulate_grad_hook "the .grad field has been updated on that tensor"',
    asked="gradient accumulation over micro batches does "
    "register_post_accumulate_grad_hook see running total or only new one "
    "per layer optimizer step in backward ignores accumulation steps every microbatch",
    needs=POST_ACCUMULATE,
)
@given(plan=weights(passes=3))
def test_grad_is_set(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [seen for (seen,) in trace.seen_by("h0")] == list(accumulate(arriving(plan)))


@clause(
    "gradient.accumulated.after_tensor_hooks",
    says="The post-accumulate hooks of a leaf run after its tensor hooks, whichever were registered first.",
    source="note: autograd.html#backward-hooks-execution "
    '"for leaf Tensors that have ``.grad`` accumulated, post-accumulate-grad hooks are executed"',
    asked="order of register_hook and register_post_accumulate_grad_hook on same parameter which fires first",
    needs=POST_ACCUMULATE,
)
@given(plan=weights(tensor_hooks=2, most=2, passes=1))
def test_after_tensor_hooks(subject: Subject, plan: Plan) -> None:
    calls = subject.holds(plan).calls()
    assert sorted(calls) == sorted(hook.label for hook in hooks_of(plan))
    assert [label[0] for label in calls] == sorted([label[0] for label in calls], reverse=True)


@clause(
    "gradient.accumulated.order",
    says="Several post-accumulate hooks of a leaf run in order of registration.",
    source=IN_ORDER,
    asked="multiple register_post_accumulate_grad_hook on one parameter clip first then step sequence",
    needs=POST_ACCUMULATE,
)
@given(plan=weights(fewest=2, most=4, act=True, passes=1))
def test_order(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == [step.label for step in plan.steps if isinstance(step, Hook)]


@clause(
    "gradient.accumulated.may_set_grad",
    says="A tensor that a post-accumulate hook assigns to .grad is there after backward(); the next one adds to it.",
    where="nothing else sets .grad, as zero_grad() does",
    see="gradient.values.expanded_grad",
    source="docs: torch.Tensor.register_post_accumulate_grad_hook "
    '"modify and access its Tensor argument, including its .grad field"',
    asked="override param grad inside register_post_accumulate_grad_hook clip replace does it persist for optimizer",
    needs=POST_ACCUMULATE,
)
@given(plan=weights(tensor_hooks=1, most=3, act=True, passes=3))
def test_may_set_grad(subject: Subject, plan: Plan) -> None:
    trace, expected = subject.holds(plan), [0]
    hooks, assigning = hooks_of(plan, "tensor"), hooks_of(plan, "post_accumulate")
    for grad in arriving(plan):
        expected.append((expected[-1] + grad * product(hooks)) * product(assigning))
    assert [grads["m0.weight"] for grads in trace.grads()] == expected[1:]


@clause(
    "gradient.accumulated.leaves_only",
    says="Registering a post-accumulate hook on a non-leaf tensor or one that needs no gradient raises RuntimeError.",
    source="docs: torch.Tensor.register_post_accumulate_grad_hook "
    '"Registering this hook on a non-leaf tensor will error!"',
    asked="post accumulate grad hooks cannot be registered on non leaf tensors activation or frozen weight error",
    needs=POST_ACCUMULATE,
)
@given(
    plan=st.builds(
        lambda spec, late: Plan(
            Leaf("m0", "scale", (2,)),
            (spec,),
            (Forward(), Hook("post_accumulate", "x0", "h0"), Backward())
            if late
            else (Hook("post_accumulate", "x0", "h0"), Forward(), Backward()),
        ),
        st.builds(Input, NUMBERS, st.booleans(), st.booleans()),
        st.booleans(),
    )
)
def test_leaves_only(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    allowed = plan.inputs[0].grad and plan.inputs[0].leaf
    assert trace.raised() == ([] if allowed else [("hook", "RuntimeError")])


@clause(
    "gradient.accumulated.not_for_grad",
    says="autograd.grad adds to the .grad of no leaf and calls no post-accumulate hook.",
    where="no hook runs a backward()",
    see="retain.asked.on_the_way_of_grad",
    source=NOT_ACCUMULATED,
    asked="torch autograd grad with register_post_accumulate_grad_hook never called parameter grad stays none",
    needs=POST_ACCUMULATE,
)
@given(
    plan=st.builds(
        lambda wanted, grads, back: Plan(
            Leaf("m0", "affine", (2, 5)),
            (Input(3),),
            (*PAIRS, Forward(), *(AutogradGrad(names, (grad,)) for names, grad in zip(wanted, grads)), *back),
        ),
        st.lists(
            st.sampled_from([("m0.weight",), ("m0.bias",), ("m0.bias", "m0.weight"), ("x0",)]), min_size=1, max_size=2
        ),
        st.tuples(NUMBERS, NUMBERS),
        st.sampled_from([(), (Backward((2,)),)]),
    )
)
def test_not_for_grad(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    asked, backwards = (sum(isinstance(step, kind) for step in plan.steps) for kind in (AutogradGrad, Backward))
    assert all(set(grads.values()) == {None} for grads in trace.grads()[:asked])
    assert sorted(label for label in trace.calls() if label in ("w1", "b1")) == ["b1", "w1"] * backwards


UNDEFINED = Plan(
    Leaf("m0", "split", (2, 3)),
    (Input(1),),
    (
        Hook("full_backward_pre", "m0", "pre"),
        Hook("post_accumulate", "m0.other", "h0"),
        Forward(),
        Backward((1, None)),
    ),
)


@clause(
    "gradient.accumulated.undefined",
    says="A post-accumulate hook is not called when the gradient of its leaf is undefined (None).",
    source=(
        "docs: torch.Tensor.register_post_accumulate_grad_hook",
        'code: torch/include/torch/csrc/autograd/variable.h ".grad field has been accumulated into"',
    ),
    asked="unused parameter custom function returns no grad register_post_accumulate_grad_hook never fires ddp waiting",
    matters_if="post_accumulate ?gradient_undefined",
    docs="contradicts",
    note="The docs say that the hook is called when .grad has been updated; since 2.8 it is called without.",
    needs=(POST_ACCUMULATE, PRE),
    readings=(
        Reading(
            "not called",
            "",
            "A post-accumulate hook is not called when the gradient of its leaf is undefined (None).",
            {"post_accumulate_sees_none": False},
        ),
    ),
    witness=UNDEFINED,
)
@given(
    plan=st.builds(
        lambda before, grads: Plan(UNDEFINED.net, UNDEFINED.inputs, UNDEFINED.steps[:3] + before + (Backward(grads),)),
        st.sampled_from([(), (Backward((2, 3)),)]),
        st.sampled_from([(1, None), (None, 2), (1, 2)]),
    )
)
def test_undefined(subject: Subject, plan: Plan) -> None:
    trace, without = subject.holds(plan), subject.reading.facts["post_accumulate_sees_none"]
    others = [step.grads[1] for step in plan.steps if isinstance(step, Backward)]
    assert len(trace.seen_by("h0")) == sum(grad is not None or without for grad in others)


@clause(
    "gradient.accumulated.one_leaf_at_a_time",
    says="In backward() the hooks of a leaf run, and its .grad is set, before the hooks of the next leaf run.",
    where="no hook runs a backward() or sets .grad",
    source=EXECUTION,
    asked="interleaving of parameters during backprop optimizer per "
    "parameter hook while other params still missing grad overlap",
    needs=POST_ACCUMULATE,
    docs="contradicts",
    note="The note says that these hooks are triggered when .grad is updated at the end of the backward pass.",
)
@given(
    plan=st.builds(
        lambda grad, late: Plan(
            Leaf("m0", "affine", (2, 5)),
            (Input(3),),
            ((Forward(), *PAIRS) if late else (*PAIRS, Forward())) + (Backward((grad,)),),
        ),
        NUMBERS,
        st.booleans(),
    )
)
def test_one_leaf_at_a_time(subject: Subject, plan: Plan) -> None:
    trace, (grad,) = subject.holds(plan), plan.steps[-1].grads
    calls = trace.calls()
    assert sorted([tuple(calls[:2]), tuple(calls[2:])]) == [("b0", "b1"), ("w0", "w1")]
    assert (trace.seen_by("b1"), trace.seen_by("w1")) == ([(grad,)], [(3 * grad,)])


@clause(
    "gradient.accumulated.once_for_the_sum",
    says="In one backward() each post-accumulate hook of a leaf is called once, however often the leaf is used.",
    where="backward() reaches the leaf",
    source="docs: torch.Tensor.register_post_accumulate_grad_hook "
    '"called after all gradients for a tensor have been accumulated"',
    asked="shared tied weight embedding reused many times does register_post_accumulate_grad_hook "
    "fire multiple times per step parameter used several times weight tying shared once",
    needs=POST_ACCUMULATE,
)
@given(
    plan=plans(
        kinds=("post_accumulate",), does=(), ops=("scale", "mul", "add", "cross"), inputs=(2, 2), depth=2, least=1
    )
)
def test_once_for_the_sum(subject: Subject, plan: Plan) -> None:
    inner = [f"x{place}" for place, one in enumerate(plan.inputs) if not one.leaf]  # refuses such a hook
    assert sorted(subject.holds(plan).calls()) == [hook.label for hook in hooks_of(plan) if hook.on not in inner]


@clause(
    "gradient.accumulated.removed",
    says="A post-accumulate hook removed before a backward() is not called in it; the others of its leaf are.",
    where="this backward() reaches the leaf",
    see="ordering.changes.post_accumulate_removed",
    source='docs: torch.Tensor.register_post_accumulate_grad_hook "returns a handle with a method ``handle.remove()``"',
    asked="handle delete register_post_accumulate_grad_hook unregister one keep rest still firing",
    needs=POST_ACCUMULATE,
)
@given(
    plan=st.builds(
        lambda plan, gone: replace(plan, steps=(*plan.steps, gone, plan.steps[-1])),
        weights(tensor_hooks=1, fewest=2, most=4, act=True, passes=1),
        st.builds(Remove, st.sampled_from(["h0", "h1"]), leave=st.booleans()),
    )
)
def test_removed(subject: Subject, plan: Plan) -> None:
    (gone,) = [step.label for step in plan.steps if isinstance(step, Remove)]
    every = ["t0", *(hook.label for hook in hooks_of(plan, "post_accumulate"))]
    assert subject.holds(plan).calls() == [*every, *(label for label in every if label != gone)]


@clause(
    "gradient.accumulated.registered_inside",
    says="A post-accumulate hook that a running one registers on the same leaf is first called in the next backward().",
    where="each backward() reaches the leaf",
    source="measured",
    asked="add register_post_accumulate_grad_hook from within another callback fires this step or next iteration",
    needs=POST_ACCUMULATE,
)
@given(
    plan=weights(most=3, act=True, passes=1).map(
        lambda plan: replace(
            plan,
            steps=(
                Hook("post_accumulate", "m0.weight", "adds", (Add(Hook("post_accumulate", "m0.weight", "new")),)),
                *plan.steps,
                *plan.steps[-1:] * 2,
            ),
        )
    )
)
def test_registered_inside(subject: Subject, plan: Plan) -> None:
    hooks = [hook.label for hook in hooks_of(plan)]
    assert subject.holds(plan).calls() == [*hooks, *hooks, "new", *hooks, "new", "new"]


@clause(
    "gradient.accumulated.raising",
    says="A post-accumulate hook that raises ends backward(): .grad of its leaf is set, later hooks do not run.",
    where="no hook sets .grad",
    source="measured",
    asked="exception in optimizer step callback during backprop crash "
    "nan check param grad already filled remaining skipped",
    needs=POST_ACCUMULATE,
)
@given(
    plan=st.builds(
        lambda before, after, value, grad: Plan(
            Leaf("m0", "scale", (value,)),
            (Input(3),),
            (
                *(Hook("post_accumulate", "m0.weight", f"h{index}") for index in range(before)),
                Hook("post_accumulate", "m0.weight", "fails", (Raise(),)),
                *(Hook("post_accumulate", "m0.weight", f"g{index}") for index in range(after)),
                Forward(),
                Backward((grad,)),
                Backward((grad,)),
            ),
        ),
        st.integers(0, 2),
        st.integers(0, 2),
        NUMBERS,
        NUMBERS,
    )
)
def test_raising(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("backward", "Boom")] * 2
    assert not any(label.startswith("g") for label in trace.calls())
    (grad,) = plan.steps[-1].grads
    assert [grads["m0.weight"] for grads in trace.grads()] == [3 * grad, 6 * grad]


@clause(
    "gradient.accumulated.only_what_is_asked",
    says="backward(inputs=) calls the post-accumulate hooks of the leaves in inputs= that it reaches, no others.",
    source=OTHERS_IGNORED,
    asked="restrict backprop to some parameters does register_post_accumulate_grad_hook fire for others selective",
    needs=POST_ACCUMULATE,
)
@given(
    plan=st.builds(
        lambda wanted, grad: Plan(
            Leaf("m0", "affine", (2, 5)), (Input(3),), (*PAIRS, Forward(), Backward((grad,), inputs=(wanted,)))
        ),
        st.sampled_from(["m0.weight", "m0.bias"]),
        NUMBERS,
    )
)
def test_only_what_is_asked(subject: Subject, plan: Plan) -> None:
    (asked,) = plan.steps[-1].inputs
    assert subject.holds(plan).calls() == sorted(hook.label for hook in PAIRS if hook.on == asked)
