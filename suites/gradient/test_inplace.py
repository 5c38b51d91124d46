"""A tensor changed in place has a new version: which gradient its hooks are given; and those of views and their base.

Torch 2.0 gave each version hooks of its own, 2.3 did so for a base that is changed through a view.
"""

from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.edited import edited
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import (
    Backward,
    Forward,
    Hook,
    InPlace,
    Input,
    Leaf,
    MulInPlace,
    Plan,
    Remove,
    Scale,
    hooks_of,
)
from fixtures.stages.make import make
from suites.gradient.plans import between_edits
from suites.names import BASE_VERSION, IN_PLACE_NOTE, OWN_VERSION
from suites.shapes import product
from suites.tensors import leaf

ABOUT = "register_hook"

OLD_NODE = f'{IN_PLACE_NOTE} "fire when that Tensor\'s old grad_fn is reached in the graph"'
#: Hooks put on a tensor, and changes of it in place, in this order.
CHANGES = st.lists(st.just("hook") | FACTORS, min_size=1, max_size=5).filter(lambda steps: "hook" in steps)


def noting(seen: List[Any], name: str) -> Any:
    """A hook that writes down its name and what it is given."""

    def hook(grad: Any) -> None:
        seen.append((name, grad.tolist()))

    return hook


def calls_of(steps: List[Any], reading: str) -> List[Tuple[str, int]]:
    """The hooks by number, as they are called, and the product of the later changes, which each is given."""
    versions: List[List[str]] = [[]]
    products = [1]
    for step in steps:
        if step == "hook":
            versions[-1].append(str(sum(map(len, versions))))
        else:
            versions.append([])
            products = [old * step for old in products] + [1]
    if reading == "first":
        every = [name for hooks in versions for name in hooks]
        first = [bool(hooks) for hooks in versions].index(True)
        return [(name, products[first]) for name in every]
    return [(name, by) for hooks, by in reversed(list(zip(versions, products))) for name in hooks]


@st.composite
def edited_leaves(draw: Any) -> Plan:
    """A hooked leaf, changed in place: at first with gradients recorded, then by a pre-hook under no_grad."""
    net, by, grads = Leaf("m0", "scale", (draw(NUMBERS),)), draw(FACTORS), (draw(NUMBERS),)
    attempt = (Hook("tensor", "x0", "h0"), MulInPlace("x0", by), Forward(), Backward(grads))
    quietly = (Hook("forward_pre", "m0", "h1", (InPlace(by),)), Forward(grad=False), Remove("h1"))
    return Plan(net, (Input(draw(NUMBERS)),), (*attempt, *quietly, Forward(), Backward(grads)))


@clause(
    "gradient.inplace.own_version",
    says="With y.mul_(5) between two tensor hooks of y, the first is given 5 times what the second leaves.",
    where="y is w * x and not used before",
    see="gradient.inplace.view_is_lost",
    source=(
        f'{IN_PLACE_NOTE} "hooks registered before in-place modification similarly receive gradients of the outputs"',
        "https://github.com/pytorch/pytorch/pull/92734",
    ),
    asked="hooks registered before and after inplace multiply scale differ order which sees which gradient",
    matters_if="tensor inner ?hooked_again ?edited_between",
    readings=by_release(
        "silent",
        ("2.0", "its own version", {"hooks_of_version": True}),
        "With y.mul_(5) between two tensor hooks of y, the first is given 5 times what the second leaves.",
        ("", "the first hook's version", {"hooks_of_version": False}),
        "With y.mul_(5) between two tensor hooks of y, both are given the gradient of y as it was before.",
    ),
    witness=Plan(
        Leaf("m0", "scale", (3,)),
        (Input(1),),
        (Forward(), Hook("tensor", "m0>0", "a"), MulInPlace("m0>0", 5), Hook("tensor", "m0>0", "b"), Backward((2,))),
    ),
)
@given(plan=edited("hook", "edit", "scale"))
def test_own_version(subject: Subject, plan: Plan) -> None:
    trace, (grad,), (old, new) = subject.holds(plan), plan.steps[-1].grads, hooks_of(plan)
    edited = grad * plan.steps[2].by
    own = subject.reading.facts["hooks_of_version"]
    assert trace.seen_by(new.label) == [(grad if own else edited,)]
    assert trace.seen_by(old.label) == [(edited * product([new]) if own else edited,)]


@clause(
    "gradient.inplace.replacements",
    says="A tensor hook put on y before y.mul_(5) replaces the old y's gradient, one put on after it the new y's.",
    where="y is w * x",
    see="gradient.inplace.view_is_lost",
    source=(OLD_NODE, OWN_VERSION),
    asked="inplace scale activation then override grad does it affect earlier or later value of variable",
    matters_if="tensor inner returns ?hooked_again ?edited_between",
    readings=by_release(
        "silent",
        ("2.0", "each in its place", {"hooks_of_version": True}),
        "A tensor hook put on y before y.mul_(5) replaces the old y's gradient, one put on after it the new y's.",
        ("", "all at the first", {"hooks_of_version": False}),
        "What tensor hooks of y return replaces the gradient of y as y was when the first was registered.",
    ),
    witness=Plan(
        Leaf("m0", "scale", (3,)),
        (Input(1),),
        (
            Forward(),
            Hook("tensor", "m0>0", "h0", (Scale(2),)),
            MulInPlace("m0>0", 5),
            Hook("tensor", "m0>0", "h1", (Scale(3),)),
            Backward((2,)),
        ),
    ),
)
@given(plan=between_edits("tensor", st.builds(lambda by: (Scale(by),), FACTORS)))
def test_replacements(subject: Subject, plan: Plan) -> None:
    trace, hooks, (left,) = subject.holds(plan), hooks_of(plan), plan.steps[-1].grads
    steps = ["hook" if isinstance(step, Hook) else step.by for step in plan.steps[1:-1]]
    expected = []
    for number, edits in calls_of(steps, "own" if subject.reading.facts["hooks_of_version"] else "first"):
        hook = hooks[int(number)]
        expected.append((hook.label, (left * edits,)))
        left *= product([hook])
    assert [(label, trace.seen_by(label)[0]) for label in trace.calls()] == expected


@clause(
    "gradient.inplace.masked",
    says="The first tensor hook of y, put on before y.relu_(), gets zeros where y was <= 0.",
    where="y is w * x, not used before, changed only by relu_()",
    see="gradient.inplace.view_is_lost",
    source=OLD_NODE,
    asked="relu inplace true hook on preactivation sees gradient before or after activation mask dead units",
    value=True,
    wrong={"as it came": False},
    witness={"values": [1, -1], "by": 3, "hooks": 1},
)
@given(values=st.lists(NUMBERS, min_size=1, max_size=4), by=FACTORS, hooks=st.integers(1, 3))
def test_masked(subject: Subject, values: List[int], by: int, hooks: int) -> None:
    import torch

    seen: List[Any] = []
    x = make.tensor([float(value) for value in values], requires_grad=True)
    y = 1 * x
    for number in range(hooks):
        y.register_hook(noting(seen, str(number)))
    torch.relu_(y)
    (by * y).sum().backward()
    masked = [float(by) if value > 0 else 0.0 for value in values]
    given_gradient = masked if subject.value else [float(by)] * len(values)
    assert seen == [(str(number), given_gradient) for number in range(hooks)]
    assert x.grad.tolist() == masked


@clause(
    "gradient.inplace.mark_dirty",
    says="The first tensor hook of y, put on before a Function marks y dirty, gets what its backward returns for y.",
    where="y is w * x and not used before",
    source=(
        "test: test/test_autograd.py TestAutograd.test_tensor_hooks_inplace",
        "docs: torch.autograd.function.FunctionCtx.mark_dirty",
        "https://github.com/pytorch/pytorch/pull/92734",
    ),
    asked="custom autograd function modifies its input inplace which gradient does earlier hook see",
    matters_if="tensor inner ?hooked_again ?edited_between",
    readings=by_release(
        "silent",
        ("2.0", "its own version", "own"),
        "The first tensor hook of y, put on before a Function marks y dirty, gets what its backward returns for y.",
        ("", "the first hook's version", "first"),
        "All tensor hooks are given the gradient of the first one's version, also those put on after mark_dirty().",
    ),
    witness={"steps": ["hook", 2, "hook"]},
)
@given(steps=CHANGES)
def test_mark_dirty(subject: Subject, steps: List[Any]) -> None:
    import torch

    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, by: int) -> Any:
            ctx.mark_dirty(x)
            ctx.by = by
            return x.mul_(by)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.by, None

    seen: List[Any] = []
    names = map(str, range(len(steps)))
    y = 3 * leaf(1)
    for step in steps:
        if step == "hook":
            y.register_hook(noting(seen, next(names)))
        else:
            y = Times.apply(y, step)
    y.backward()
    assert seen == calls_of(steps, subject.value)


@clause(
    "gradient.inplace.leaf_is_refused",
    says="A leaf that needs a gradient refuses mul_(): RuntimeError; under no_grad mul_() works, and its hooks stay.",
    source="docs: torch.no_grad",
    asked="a leaf variable is being used in an inplace operation error modify weight data multiply initialize",
)
@given(plan=edited_leaves())
def test_leaf_is_refused(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("mul_in_place", "RuntimeError")]
    once = plan.inputs[0].value * plan.net.values[0]
    by = plan.steps[1].by
    assert trace.returns() == [once, once * by, once * by]
    assert len(trace.seen_by("h0")) == 2


@clause(
    "gradient.inplace.leaf_becomes_inner",
    says="Tensor hooks put on a leaf are not called any more once an in-place change made it a non-leaf tensor.",
    source=(IN_PLACE_NOTE, OWN_VERSION),
    asked="hook silently never fires after copying values into tensor index assignment no longer leaf",
    level="observed",
    matters_if="tensor ?became_inner",
    readings=by_release(
        "none",
        ("2.0", "forgotten", False),
        "A leaf that y.mul_(w) makes a non-leaf tensor y drops its tensor hooks: `_backward_hooks` is None.",
        ("", "listed, not called", True, "too"),
        "A leaf that y.mul_(w) makes a non-leaf tensor y lists its tensor hooks, and does not call them.",
    ),
    witness={"hooks": 1, "by": 3},
)
@given(hooks=st.integers(1, 3), by=FACTORS)
def test_leaf_becomes_inner(subject: Subject, hooks: int, by: int) -> None:
    seen: List[Any] = []
    y = leaf(1)
    for number in range(hooks):
        y.register_hook(noting(seen, str(number)))
    y.requires_grad_(False)
    y.mul_(leaf(by))
    (2 * y).backward()
    listed = y._backward_hooks
    assert (seen, None if listed is None else len(listed)) == ([], hooks if subject.value else None)


@clause(
    "gradient.inplace.becomes_a_leaf",
    says="y.detach_().requires_grad_() makes a non-leaf tensor y a leaf, and its tensor hooks stay.",
    where=("y is not a view", "no other in-place change is made"),
    source="measured",
    asked="detach in place non-leaf activation turn into parameter do its callbacks still work truncated bptt",
    value=True,
    wrong={"gone": False},
    witness={"before": 1, "after": 0, "by": 2},
)
@given(before=st.integers(1, 3), after=st.integers(0, 2), by=NUMBERS)
def test_becomes_a_leaf(subject: Subject, before: int, after: int, by: int) -> None:
    y, seen = 3 * leaf(1), []
    for number in range(before + after):
        if number == before:
            y.detach_().requires_grad_()
        y.register_hook(noting(seen, str(number)))
    if not after:
        y.detach_().requires_grad_()
    (by * y).backward()
    assert seen == [(str(number), by) for number in range(0 if subject.value else before, before + after)]
    assert y.grad.item() == by


@clause(
    "gradient.inplace.base_through_view",
    says="A change of y in place through the slice y[:1] makes a new version of y, with tensor hooks of its own.",
    where="y is a non-leaf tensor",
    source=(IN_PLACE_NOTE, BASE_VERSION, "https://github.com/pytorch/pytorch/issues/117366"),
    asked="assign into part of activation indexed write original hook sees which value",
    matters_if="tensor inner ?hooked_again ?edited_between",
    readings=by_release(
        "silent",
        ("2.3", "its own version", "own"),
        "Tensor hooks put on a base before or after a change through a view are given their version's gradient.",
        ("", "the first hook's version", "first"),
        "All tensor hooks of a base are given the gradient of one version, that where the first one was put.",
    ),
    witness={"steps": ["hook", 5, "hook"]},
)
@given(steps=CHANGES)
def test_base_through_view(subject: Subject, steps: List[Any]) -> None:
    import torch

    seen: List[Any] = []
    names = map(str, range(len(steps)))
    y = 3 * make.ones(2, dtype=torch.float64, requires_grad=True)
    for step in steps:
        if step == "hook":
            y.register_hook(noting(seen, next(names)))
        else:
            y[:1].mul_(step)
    (2 * y).sum().backward()
    assert seen == [(name, [2.0 * by, 2.0]) for name, by in calls_of(steps, subject.value)]


@clause(
    "gradient.inplace.view_is_lost",
    says="Tensor hooks of a slice v = y[:1] are not called for uses of v after v or y was changed in place.",
    where=("they were registered before that", "y is a non-leaf tensor"),
    see="gradient.inplace.view_hooked_again",
    source=(IN_PLACE_NOTE, "test: test/test_autograd.py TestAutograd.test_tensor_hooks_inplace_over_view"),
    asked="hook on slice or chunk silently stops firing once inplace op is applied never triggered",
    value=False,
    wrong={"called": True},
    witness={"change_view": True, "by": 5, "before": None, "hooks": 1},
    docs="contradicts",
    note="The note says that hooks registered before the change go on getting gradients of the values before it.",
)
@given(change_view=st.booleans(), by=FACTORS, before=st.none() | FACTORS, hooks=st.integers(1, 2))
def test_view_is_lost(subject: Subject, change_view: bool, by: int, before: Any, hooks: int) -> None:
    import torch

    seen: List[Any] = []
    x = make.ones(2, dtype=torch.float64, requires_grad=True)
    y = 3 * x
    view = y[:1]
    for number in range(hooks):
        view.register_hook(noting(seen, str(number)))
    early = None if before is None else (before * view).sum()
    (view if change_view else y).mul_(by)
    late = (2 * view).sum()
    (late if early is None else late + early).backward()
    grad = (before or 0) + (2 * by if subject.value else 0)
    called = subject.value or before is not None
    assert seen == [(str(number), [float(grad)]) for number in range(hooks) if called]
    assert x.grad.tolist() == [3.0 * ((before or 0) + 2 * by), 0.0]


@clause(
    "gradient.inplace.view_hooked_again",
    says="A tensor hook put on a hooked view after the last change of its base in place is called.",
    where=("the view is a slice", "it is used only after that"),
    source=("https://github.com/pytorch/pytorch/pull/196514", "measured"),
    asked="base modified inplace fix by registering again on the sliced piece now fires",
    matters_if="tensor inner ?view ?hooked_again ?edited_between",
    instead="read view.grad_fn before the hook is registered.",
    readings=by_release(
        "silent",
        ("2.15", "called", [(1, ["b"]), (0, ["b"])]),
        "A tensor hook put on a hooked view after the last change of its base is called, grad_fn read or not.",
        ("2.0", "when grad_fn was read", [(1, []), (0, ["b"])]),
        "A tensor hook put on a hooked view after its base was changed is called only if grad_fn was read.",
        ("", "never called", [(1, []), (1, [])]),
        "A tensor hook put on a hooked view after its base was changed is never called.",
    ),
)
def test_view_hooked_again(subject: Subject) -> None:

    results: List[Tuple[int, List[str]]] = []
    for read in (False, True):
        seen: List[Any] = []
        y = 3 * make.ones(2, requires_grad=True)
        view = y[:1]
        view.register_hook(noting(seen, "a"))
        y.mul_(5)
        if read:
            assert view.grad_fn is not None
        hooks = len(view._backward_hooks or {})
        view.register_hook(noting(seen, "b"))
        (2 * view).sum().backward()
        results.append((hooks, [name for name, _ in seen]))
    assert results == subject.value
