"""A hook must not change the gradient it is given: torch neither forbids it nor says who else holds that gradient."""

from math import prod
from typing import Any, Callable, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import AutogradGrad, Backward, Forward, Hook, InPlace, Input, Leaf, Like, Of, Plan, hooks_of
from suites.gradient.plans import INNER, NET, asked_alone, hooks_when_asked
from suites.gradient.sources import RETAINED_LAST
from suites.names import HOOKS_IN_ORDER, TENSOR_DOCS
from suites.shapes import product
from suites.tensors import leaf, multiplies

ABOUT = "register_hook"

#: Hooks that change their argument in place, by their factors.
EDITS = st.lists(FACTORS, min_size=1, max_size=3)


def edit(by: int) -> Callable[[Any], None]:
    """A hook that multiplies its argument in place, and returns None."""

    def hook(grad: Any) -> None:
        grad.mul_(by)

    return hook


@clause(
    "gradient.edits.own_gradient",
    says="backward() uses a gradient that a tensor hook changed in place as if the hook had returned it.",
    where="the gradient is not expanded or shared",
    see=("gradient.edits.siblings", "gradient.edits.expanded"),
    source=TENSOR_DOCS,
    asked="modify grad inplace in register_hook without return does it take effect clamp_ clip zero_ mask",
    value=True,
    wrong={"unchanged": False},
    witness={"hooks": [("edit", 5)], "inner": False, "create_graph": False},
)
@given(
    hooks=st.lists(st.tuples(st.sampled_from(["edit", "replace"]), FACTORS), min_size=1, max_size=4),
    inner=st.booleans(),
    create_graph=st.booleans(),
)
def test_own_gradient(subject: Subject, hooks: List[Tuple[str, int]], inner: bool, create_graph: bool) -> None:
    import torch

    x = leaf(1)
    y = 1 * x
    for how, by in hooks:
        (y if inner else x).register_hook(edit(by) if how == "edit" else multiplies(by))
    torch.autograd.backward([2 * y], create_graph=create_graph)
    grad, x.grad = x.grad.item(), None
    assert grad == 2 * prod(by for how, by in hooks if how == "replace" or subject.value)


@clause(
    "gradient.edits.siblings",
    says="y = a + b sends one gradient to both: an in-place change in a tensor hook of a can reach b, too.",
    where="a and b have one shape and dtype",
    source=TENSOR_DOCS,
    asked="inplace edit of gradient leaks into other branch residual "
    "skip connection wrong gradient shared memory aliasing",
    note="No error and no warning: a wrong gradient of a tensor without hooks is the only sign.",
)
@given(
    plan=st.builds(
        lambda values, edits, grad: Plan(
            Leaf("m0", "add"),
            tuple(Input(value) for value in values),
            (
                *(Hook("tensor", "x0", f"h{place}", (InPlace(by),)) for place, by in enumerate(edits)),
                Hook("tensor", "x1", "b"),
                Forward(),
                Backward((grad,)),
            ),
        ),
        st.tuples(NUMBERS, NUMBERS),
        EDITS,
        NUMBERS,
    )
)
def test_siblings(subject: Subject, plan: Plan) -> None:
    trace, (grad,) = subject.holds(plan), plan.steps[-1].grads
    changed = grad * product(hooks_of(plan))
    assert trace.seen_by("b") == [(changed,)]
    assert trace.grads() == [{"x0": changed, "x1": changed}]


@clause(
    "gradient.edits.other_hooks",
    says="An in-place change in a tensor hook shows in later hooks of its tensor, and in the object earlier ones got.",
    where="no other hook of the tensor returns a tensor",
    see="gradient.edits.expanded",
    source=TENSOR_DOCS,
    asked="stored grad in log list later altered by inplace clip saved gradients wrong need clone aliasing",
    value="both",
    wrong={"later only": "later"},
    witness={"does": [("keep", 1), ("edit", 5), ("keep", 1)]},
)
@given(does=st.lists(st.tuples(st.sampled_from(["keep", "edit", "replace"]), FACTORS), min_size=1, max_size=5))
def test_other_hooks(subject: Subject, does: List[Tuple[str, int]]) -> None:
    kept: List[Any] = []
    x = leaf(1)
    for how, by in does:
        x.register_hook({"keep": kept.append, "edit": edit(by), "replace": multiplies(by)}[how])
    (2 * x).backward()
    now, keepsakes = [2.0], []
    for how, by in does:
        if how == "keep":
            keepsakes.append(now)
        elif how == "edit" and subject.value == "both":
            now[0] *= by
        else:
            now = [now[0] * by]
    assert ([grad.item() for grad in kept], x.grad.item()) == ([one[0] for one in keepsakes], now[0])


@clause(
    "gradient.edits.callers_gradient",
    says="An in-place change in a tensor hook of y changes the g of y.backward(g).",
    where=("no earlier hook of y returns a tensor", "g has the dtype of y and is not expanded"),
    source=TENSOR_DOCS,
    asked="inplace edit of grad in register_hook corrupts external gradient argument passed to backward side effect",
    value=True,
    wrong={"unchanged": False},
    witness={"edits": [5], "inner": True, "first": 1, "passes": 1},
)
@given(edits=EDITS, inner=st.booleans(), first=NUMBERS, passes=st.integers(1, 3))
def test_callers_gradient(subject: Subject, edits: List[int], inner: bool, first: int, passes: int) -> None:
    x = leaf(1)
    root = 2 * x if inner else x
    for by in edits:
        root.register_hook(edit(by))
    gradient, start, total = leaf(first).detach(), float(first), 0.0
    for _ in range(passes):
        root.backward(gradient, retain_graph=True)
        total += start * prod(edits) * (2 if inner else 1)
        start *= prod(edits) if subject.value else 1
        assert (gradient.item(), x.grad.item()) == (start, total)


@clause(
    "gradient.edits.expanded",
    says="g.mul_(2) in the first tensor hook of x ends x.sum().backward() with RuntimeError.",
    where="x has several elements",
    source="measured",
    asked="unsupported operation more than one element of the written to tensor single memory location clone crash",
)
@given(
    plan=st.builds(
        lambda shape, by, before, leaf: Plan(
            Leaf("m0", "sum"),
            (Input(Of(1, tuple(shape)), leaf=leaf),),
            (
                *(Hook("tensor", "x0", f"h{place}", like="h0" * bool(place)) for place in range(before)),
                Hook("tensor", "x0", "edits", (InPlace(by),)),
                Hook("tensor", "x0", "last"),
                Forward(),
                Backward((Like(1),)),
            ),
        ),
        st.lists(st.integers(1, 3), max_size=3),
        FACTORS,
        st.integers(0, 2),
        st.booleans(),
    )
)
def test_expanded(subject: Subject, plan: Plan) -> None:
    trace, hooks = subject.holds(plan), [hook.like or hook.label for hook in hooks_of(plan)]
    # One element shares its place with nobody.
    shared = prod(plan.inputs[0].value.shape) > 1
    assert trace.raised() == [("backward", "RuntimeError")] * shared
    assert trace.calls() == hooks[: -1 if shared else None]


@clause(
    "gradient.edits.result_of_grad",
    says="An in-place change in a tensor hook of x is in what autograd.grad(z, x) returns.",
    where="no tensor hook of x returns a tensor",
    see="gradient.edits.expanded",
    source=HOOKS_IN_ORDER,
    asked="inplace clamp_ of gradient in register_hook visible with torch autograd grad saliency",
    level="observed",
    matters_if="tensor edits ?asked",
    readings=by_release(
        "silent",
        ("2.0", "in the result", {"hooks_when_asked": True}),
        "autograd.grad(z, x) returns the gradient as the in-place tensor hooks of x left it, x a leaf or not.",
        ("", "the hook is not called", {"hooks_when_asked": False}),
        "autograd.grad(z, x) calls no tensor hook of x: the gradient is returned as it came.",
    ),
    witness=Plan(
        NET, (Input(1),), (Forward(), Hook("tensor", INNER, "h0", (InPlace(5),)), AutogradGrad((INNER,), (2,)))
    ),
)
@given(plan=asked_alone(("x0", "m1.weight", INNER), "tensor", InPlace))
def test_result_of_grad(subject: Subject, plan: Plan) -> None:
    hooks_when_asked(subject, plan)


#: By reading: the factors that are in the kept gradient, of `edits` with retain_grad() called before number `place`.
KEPT = {
    "all": lambda edits, place: edits,
    "all or none": lambda edits, place: edits if place else [],
    "earlier ones": lambda edits, place: edits[:place],
}


@clause(
    "gradient.edits.kept_gradient",
    says="y.retain_grad() keeps what in-place tensor hooks of y left, also those registered later.",
    where=("y.grad was None, y is left unchanged", "no hook returns a tensor"),
    see=("retain.keep.adds_up", "gradient.edits.expanded"),
    source=(RETAINED_LAST, HOOKS_IN_ORDER),
    asked="does activation grad from retain_grad show value before or after inplace clip in register_hook order",
    about=("register_hook", "retain_grad"),
    matters_if="retain_grad ?editing_hook",
    readings=by_release(
        "silent",
        ("2.0", "what all hooks left", "all"),
        "y.retain_grad() keeps a copy of what all in-place tensor hooks of y left.",
        ("1.10", "none if it came first", "all or none"),
        "retain_grad() keeps what all in-place tensor hooks left; called before them all, what came.",
        ("", "in its turn", "earlier ones"),
        "retain_grad() keeps what the in-place tensor hooks registered before it left.",
    ),
    witness={"piles": [([2, 3], 1), ([2], 0)], "upstream": 5},
)
@given(piles=st.lists(st.tuples(EDITS, st.integers(0, 3)), min_size=1, max_size=2), upstream=FACTORS)
def test_kept_gradient(subject: Subject, piles: List[Tuple[List[int], int]], upstream: int) -> None:
    for edits, place in piles:
        x = leaf(1)
        y = x.view(())
        for number, by in enumerate(edits):
            if number == place:
                y.retain_grad()
            y.register_hook(edit(by))
        if place >= len(edits):
            y.retain_grad()
        x.register_hook(edit(upstream))
        (2 * y).backward()
        kept = KEPT[subject.value](edits, place)
        assert (y.grad.item(), x.grad.item()) == (2 * prod(kept), 2 * prod(edits) * upstream)


def times(numbers: Any, by: int) -> Any:
    """The numbers of a tensor, each multiplied; a complex number is a pair."""
    return type(numbers)(times(one, by) for one in numbers) if isinstance(numbers, (list, tuple)) else numbers * by


@clause(
    "gradient.edits.any_form",
    says="After an in-place change in a tensor hook the next hook of the tensor is given the same, changed object.",
    where="the hook that changes it returns None",
    see="gradient.edits.expanded",
    source="measured",
    asked="multiple register_hook on same activation grad mul_ clamp_ zero_ passed along identity same tensor id",
    note="Any shape, dtype and layout; the same object. Of an expanded one speaks gradient.edits.expanded.",
)
@given(plan=plans(kinds=("tensor",), does=("edit",), depth=0, least=2, alike=True, values=True))
def test_any_form(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    edits = {hook.label: [action.by for action in hook.do if isinstance(action, InPlace)] for hook in hooks_of(plan)}
    calls = [(event.what, event.seen[0]) for event in trace if event.what in trace.calls()]
    for (before, seen), (_, grad) in zip(calls, calls[1:]):
        # What had no name when it was first seen has one when it is seen again.
        assert grad.name
        assert seen.name in ("", grad.name)
        assert (grad.shape, grad.dtype, grad.strides) == (seen.shape, seen.dtype, seen.strides)
        assert grad.numbers == times(seen.numbers, prod(edits[before]))
