"""Post-accumulate hooks: called with a leaf once its .grad is up to date, to use it or to set it (torch 2.1)."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS, plans
from fixtures.plan import Backward, Forward, Hook, Input, Leaf, Plan, Scale
from fixtures.subject import Subject

DOCS = "docs: torch.Tensor.register_post_accumulate_grad_hook"
NEEDS = ("torch.Tensor.register_post_accumulate_grad_hook",)


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


@clause(
    "gradient.accumulated.grad_is_set",
    says="A post-accumulate hook runs after .grad was updated: it finds the whole accumulated value there.",
    source=DOCS,
    needs=NEEDS,
    covers=("tensor.pag.grad_set", "tensor.pag.once"),
)
@given(plan=weights(passes=3))
def test_grad_is_set(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [seen for (seen,) in trace.seen_by("h0")] == [grads["m0.weight"] for grads in trace.grads()]


@clause(
    "gradient.accumulated.after_tensor_hooks",
    says="It runs after the tensor hooks of the leaf, whatever was registered first, and finds what they left.",
    source="note: notes/autograd.html#backward-hooks-execution",
    needs=NEEDS,
    covers=("tensor.pag.after_tensor_hook", "tensor.pag.sees_replacement"),
)
@given(plan=weights(tensor_hooks=2, most=2, passes=1))
def test_after_tensor_hooks(subject: Subject, plan: Plan) -> None:
    calls = subject.holds(plan).calls()
    assert [label[0] for label in calls] == sorted([label[0] for label in calls], reverse=True)


@clause(
    "gradient.accumulated.order",
    says="Several post-accumulate hooks of a leaf run in order of registration.",
    source="measured",
    needs=NEEDS,
    covers=("tensor.pag.order",),
)
@given(plan=weights(fewest=2, most=4, act=True, passes=1))
def test_order(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == [step.label for step in plan.steps if isinstance(step, Hook)]


@clause(
    "gradient.accumulated.may_set_grad",
    says="What a post-accumulate hook assigns to .grad stays, and the next backward adds to it.",
    source=DOCS,
    needs=NEEDS,
    covers=("tensor.pag.clear_grad",),
)
@given(plan=plans(kinds=("tensor", "post_accumulate"), on=("parameter",), inputs=(1, 2), depth=2, runs=3))
def test_may_set_grad(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.accumulated.leaves_only",
    says="Registering one on a tensor that is no leaf, or needs no gradient, raises RuntimeError.",
    source=DOCS,
    needs=NEEDS,
    covers=("tensor.pag.nonleaf", "tensor.pag.no_requires_grad"),
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
    "gradient.accumulated.given_the_leaf",
    says="Its argument is the leaf itself, not the gradient.",
    source=DOCS,
    needs=NEEDS,
    readings=(
        Reading("the leaf", "", "`argument is x`.", value=[True]),
        Reading("something else", "never", "The gradient, or a copy of the leaf.", value=[False]),
    ),
    covers=("tensor.pag.arg",),
)
def test_given_the_leaf(subject: Subject) -> None:
    import torch

    seen = []
    x = torch.ones((), requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda given_tensor: seen.append(given_tensor is x))
    (2 * x).backward()
    assert seen == subject.value


@clause(
    "gradient.accumulated.returns_nothing",
    says="It must return None: a tensor ends backward() with RuntimeError, another value with TypeError.",
    source=DOCS,
    needs=NEEDS,
    readings=(
        Reading(
            "refused",
            "",
            "Both are refused, after .grad was updated.",
            value=[("RuntimeError", 2.0), ("TypeError", 2.0)],
        ),
        Reading("ignored", "never", "What it returns is not looked at.", value=[("accepted", 2.0), ("accepted", 2.0)]),
    ),
    covers=("tensor.pag.return_tensor", "tensor.pag.return_int"),
)
def test_returns_nothing(subject: Subject) -> None:
    import torch

    results = []
    for returned in (torch.ones(()), 3):
        x = torch.ones((), requires_grad=True)
        x.register_post_accumulate_grad_hook(lambda leaf, returned=returned: returned)
        try:
            (2 * x).backward()
            result = "accepted"
        except (RuntimeError, TypeError) as error:
            result = type(error).__name__
        results.append((result, x.grad.item()))
    assert results == subject.value


@clause(
    "gradient.accumulated.frees_grad",
    says="Setting .grad to None in the hook frees the gradient while backward goes on.",
    source="tutorial: intermediate/optimizer_step_in_backward_tutorial",
    needs=NEEDS,
    readings=(
        Reading("freed", "", "Afterwards .grad is None.", value=(2.0, None)),
        Reading("put back", "never", "The engine sets .grad again.", value=(2.0, 2.0)),
    ),
    covers=("tensor.pag.clear_grad", "tensor.pag.detach_view_optim"),
)
def test_frees_grad(subject: Subject) -> None:
    import torch

    seen = []

    def hook(leaf: Any) -> None:
        seen.append(leaf.grad.item())
        leaf.grad = None

    x = torch.ones((), requires_grad=True)
    x.register_post_accumulate_grad_hook(hook)
    (2 * x).backward()
    assert (seen[0], x.grad) == subject.value


@clause(
    "gradient.accumulated.not_for_grad",
    says="autograd.grad accumulates nothing and calls no post-accumulate hook.",
    source="docs: torch.autograd.grad",
    needs=NEEDS,
    readings=(
        Reading("not called", "", "No call, no .grad.", value=([], None)),
        Reading("called", "never", "It is called for every gradient of the leaf.", value=([None], None)),
    ),
    covers=("tensor.pag.grad_api",),
)
def test_not_for_grad(subject: Subject) -> None:
    import torch

    seen = []
    x = torch.ones((), requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    torch.autograd.grad(2 * x, [x])
    assert (seen, x.grad) == subject.value


UNDEFINED = Plan(
    Leaf("m0", "split", (2, 3)),
    (Input(1),),
    (
        Hook("full_backward_pre", "m0", "pre"),
        Hook("post_accumulate", "m0.other", "leaf"),
        Forward(),
        Backward((1, None)),
    ),
)


@clause(
    "gradient.accumulated.undefined",
    says="A post-accumulate hook is not called when the gradient is undefined: nothing was accumulated.",
    source=DOCS,
    needs=NEEDS + ("torch.nn.Module.register_full_backward_pre_hook",),
    readings=(Reading("not called", "", "It runs only when .grad was updated.", {"post_accumulate_sees_none": False}),),
    witness=UNDEFINED,
    covers=("tensor.pag.undefined", "tensor.pag.undefined_existing"),
)
@given(
    plan=st.builds(
        lambda before, grads: Plan(UNDEFINED.net, UNDEFINED.inputs, UNDEFINED.steps[:3] + before + (Backward(grads),)),
        st.sampled_from([(), (Backward((2, 3)),)]),
        st.sampled_from([(1, None), (None, 2), (1, 2)]),
    )
)
def test_undefined(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
