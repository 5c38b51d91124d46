"""retain_grad() asks that the gradient of an inner tensor be kept in its .grad, as if it were a leaf."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import NUMBERS, plans
from fixtures.plan import Backward, Forward, Hook, Input, Leaf, Plan, Retain
from fixtures.subject import Subject
from suites.tensors import item, leaf

DOCS = "docs: torch.Tensor.retain_grad"
PORTED = "https://github.com/pytorch/pytorch/pull/59362"


@st.composite
def kept(draw: Any, passes: int = 1, fewest: int = 1, hook: bool = False) -> Plan:
    """y = weight * x, its output retained, and some backward passes."""
    hooks = (Hook("tensor", "m0>0", "h0"),) if hook else ()
    backwards = tuple(Backward((draw(NUMBERS),)) for _ in range(draw(st.integers(fewest, passes))))
    net = Leaf("m0", "scale", (draw(NUMBERS),))
    return Plan(net, (Input(draw(NUMBERS)),), (Forward(),) + hooks + (Retain("m0>0"),) + backwards)


@clause(
    "retain.keep.inner_tensor",
    says="After retain_grad() an inner tensor has its gradient in .grad once backward has run.",
    source=DOCS,
    covers=("tensor.rg.nonleaf", "tensor.rg.late", "tensor.rg.root"),
)
@given(plan=kept())
def test_inner_tensor(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.grads()[0]["m0>0"] == plan.steps[-1].grads[0]


@clause(
    "retain.keep.what_hooks_see",
    says="Where hooks only look, the kept gradient is the one that the hooks of the tensor are given.",
    source=DOCS,
    covers=("tensor.rg.nonleaf",),
)
@given(plan=kept(hook=True))
def test_what_hooks_see(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.seen_by("h0") == [(trace.grads()[0]["m0>0"],)]


@clause(
    "retain.keep.changes_nothing_else",
    says="retain_grad() changes no other gradient and no hook call.",
    source=DOCS,
    covers=("tensor.rg.nonleaf",),
)
@given(plan=plans(kinds=("tensor",), does=(), inputs=(1, 2), outputs=(1, 2), depth=2, retain=True, runs=2))
def test_changes_nothing_else(subject: Subject, plan: Plan) -> None:
    trace, plain = subject.holds(plan), subject.play(plan.without(Retain))
    assert trace.calls() == plain.calls()
    kept_too = [{name: grads[name] for name in fewer} for grads, fewer in zip(trace.grads(), plain.grads())]
    assert kept_too == plain.grads()


@clause(
    "retain.keep.adds_up",
    says="Over several backwards the kept gradients add up.",
    source="docs: torch.Tensor.grad",
    covers=("tensor.rg.accumulates", "graph.order.retain_accumulates_over_backwards"),
)
@given(plan=kept(passes=4, fewest=2))
def test_adds_up(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    given_gradients = [step.grads[0] for step in plan.steps if isinstance(step, Backward)]
    sums = [sum(given_gradients[: end + 1]) for end in range(len(given_gradients))]
    assert [grads["m0>0"] for grads in trace.grads()] == sums


@clause(
    "retain.keep.once_is_enough",
    says="Calling retain_grad() again on the same tensor changes nothing.",
    source="measured",
    covers=("tensor.rg.twice",),
)
@given(plan=plans(kinds=("tensor",), does=(), inputs=(1, 2), outputs=(1, 2), retain=True, runs=2))
def test_once_is_enough(subject: Subject, plan: Plan) -> None:
    again: List[Any] = []
    for step in plan.steps:
        again += [step, step] if isinstance(step, Retain) else [step]
    doubled = Plan(plan.net, plan.inputs, tuple(again))
    assert subject.holds(doubled).grads() == subject.holds(plan).grads()


@clause(
    "retain.keep.nothing_for_leaves",
    says="retain_grad() on a leaf is without effect: its gradient is accumulated once, as ever.",
    source=DOCS,
    covers=("tensor.rg.leaf_noop",),
)
@given(
    plan=st.builds(
        lambda value, on, grads: Plan(
            Leaf("m0", "affine", (2, 5)),
            (Input(value),),
            (Forward(),) + tuple(Retain(name) for name in on) + tuple(Backward((grad,)) for grad in grads),
        ),
        NUMBERS,
        st.lists(st.sampled_from(["x0", "m0.weight", "m0.bias"]), min_size=1, max_size=3),
        st.lists(NUMBERS, min_size=1, max_size=3),
    )
)
def test_nothing_for_leaves(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).grads() == subject.play(plan.without(Retain)).grads()


@clause(
    "retain.keep.needs_grad",
    says="retain_grad() on a tensor that does not require grad raises RuntimeError.",
    source=("docs: torch.Tensor.retain_grad", "measured"),
    docs="contradicts",
    note="The docs say that it does nothing for a leaf, and what requires no gradient is a leaf.",
    readings=(
        Reading("raises", ">=1.5", "RuntimeError at the call.", {"retain_needs_grad": True}),
        Reading("is silent", "<1.5", "The call returns and does nothing.", {"retain_needs_grad": False}),
    ),
    witness=Plan(Leaf("m0", "scale", (2,)), (Input(1, grad=False),), (Retain("x0"), Forward(), Backward())),
    covers=("tensor.rg.no_requires_grad",),
)
@given(
    plan=st.builds(
        lambda spec, early: Plan(
            Leaf("m0", "scale", (2,)),
            (spec,),
            (Retain("x0"), Forward(), Backward()) if early else (Forward(), Retain("x0"), Backward()),
        ),
        st.builds(Input, NUMBERS, st.booleans(), st.booleans()),
        st.booleans(),
    )
)
def test_needs_grad(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "retain.keep.too_late",
    says="retain_grad() after the backward is accepted, and counts from the next backward on.",
    source="measured",
    covers=("tensor.rg.after_backward",),
)
@given(
    plan=st.builds(
        lambda first, second: Plan(
            Leaf("m0", "scale", (2,)),
            (Input(3),),
            (Forward(), Backward((first,)), Retain("m0>0"), Backward((second,))),
        ),
        NUMBERS,
        NUMBERS,
    )
)
def test_too_late(subject: Subject, plan: Plan) -> None:
    first, second = subject.holds(plan).grads()
    assert "m0>0" not in first
    assert second["m0>0"] == plan.steps[-1].grads[0]


@clause(
    "retain.keep.not_by_itself",
    says="Without retain_grad() the .grad of an inner tensor stays None, and reading it warns.",
    source=("docs: torch.Tensor.is_leaf", "release 1.5: reading .grad of an inner tensor warns"),
    readings=(
        Reading("warns", ">=1.5", "A UserWarning for each inner tensor that keeps nothing.", value=["UserWarning"]),
        Reading("is silent", "<1.5", "None, without a word.", value=[]),
    ),
    witness={"row": [False], "hooks": 0},
    covers=("tensor.rg.absent", "tensor.rg.no_warning_when_retained"),
)
@given(row=st.lists(st.booleans(), min_size=1, max_size=4), hooks=st.integers(0, 1))
def test_not_by_itself(subject: Subject, row: List[bool], hooks: int) -> None:
    import warnings

    tensors = [leaf(1)]
    for keep in row:
        tensors.append(2 * tensors[-1])
        if keep:
            tensors[-1].retain_grad()
        for _ in range(hooks):
            tensors[-1].register_hook(lambda grad: None)
    tensors[-1].backward()
    told = []
    for tensor in tensors:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            told.append((item(tensor.grad), [warning.category.__name__ for warning in caught]))
    grads = [2.0 ** (len(row) - place) for place in range(len(row) + 1)]
    quiet = [True, *row]
    assert told == [(grad, []) if keep else (None, subject.value) for grad, keep in zip(grads, quiet)]


@clause(
    "retain.keep.attribute",
    says="Every tensor has retains_grad: True for an inner tensor whose gradient is kept, else False.",
    source=("docs: torch.Tensor.retains_grad", PORTED),
    readings=(
        Reading("always there", ">=1.10", "Before the call, and on a leaf, it is False.", value=False),
        Reading(
            "only when kept", "<1.10", "There is no such attribute before the call, nor on leaves.", value="absent"
        ),
    ),
    witness={"calls": [0]},
    covers=("tensor.rg.attr",),
)
@given(calls=st.lists(st.integers(0, 3), max_size=5))
def test_attribute(subject: Subject, calls: List[int]) -> None:
    x = leaf(1)
    y = 2 * x
    tensors = [x, y, 3 * y, 1 * x]
    kept = set()
    for place in [None, *calls]:
        if place is not None:
            tensors[place].retain_grad()
            kept |= {place} - {0}
        seen = [getattr(tensor, "retains_grad", "absent") for tensor in tensors]
        assert seen == [True if at in kept else subject.value for at in range(len(tensors))]


@clause(
    "retain.keep.attribute_is_read_only",
    says="retains_grad cannot be assigned.",
    source=("docs: torch.Tensor.retains_grad", PORTED),
    readings=(
        Reading("read-only", ">=1.10", "AttributeError.", value="AttributeError"),
        Reading("an attribute like any other", "<1.10", "Assigned without a word.", value="assigned"),
    ),
    covers=("tensor.rg.attr_readonly",),
)
def test_attribute_is_read_only(subject: Subject) -> None:
    import torch

    y = 2 * torch.ones((), requires_grad=True)
    y.retain_grad()
    try:
        y.retains_grad = False
        result = "assigned"
    except AttributeError as error:
        result = type(error).__name__
    assert result == subject.value


@clause(
    "retain.keep.no_hook_of_its_own",
    says="retain_grad() adds nothing to the Python hooks of the tensor.",
    source=PORTED,
    readings=(
        Reading("nothing", ">=1.10", "`_backward_hooks` has what was registered.", value=0),
        Reading("a hook", "<1.10", "It is one hook in that dict, which pickling warns about.", value=1),
    ),
    witness={"calls": ["retain"]},
    covers=("tensor.rg.dict",),
)
@given(calls=st.lists(st.sampled_from(["retain", "hook"]), max_size=5))
def test_no_hook_of_its_own(subject: Subject, calls: List[str]) -> None:
    y = 2 * leaf(1)
    for what in calls:
        if what == "retain":
            y.retain_grad()
        else:
            y.register_hook(lambda grad: None)
    hooks = y._backward_hooks
    count = calls.count("hook") + (subject.value if "retain" in calls else 0)
    assert (0 if hooks is None else len(hooks)) == count


@clause(
    "retain.keep.own_memory",
    says="The kept gradient has memory of its own: changing it changes no other gradient.",
    source="measured",
    readings=(
        Reading("its own", "", "After adding to y.grad, x.grad is as it was, and the other way round.", value=0),
        Reading("shared", "never", "Both are one tensor.", value=1),
    ),
    witness={"adds": [(True, 2)], "size": 1},
    covers=("tensor.rg.storage", "tensor.rg.expanded_value"),
)
@given(adds=st.lists(st.tuples(st.booleans(), NUMBERS), max_size=4), size=st.integers(1, 2))
def test_own_memory(subject: Subject, adds: List[Any], size: int) -> None:
    import torch

    x = torch.ones(size, dtype=torch.float64, requires_grad=True)
    y = x.view(size)
    y.retain_grad()
    y.backward(torch.full((size,), 2.0, dtype=torch.float64))
    at_y = at_x = 2
    for kept, by in adds:
        (y if kept else x).grad.add_(by)
        at_y += by if kept else by * subject.value
        at_x += by * subject.value if kept else by
    assert (y.grad.tolist(), x.grad.tolist()) == ([at_y] * size, [at_x] * size)
