"""What counts as a hook of a tensor: each registration, on that tensor alone, and only where there is a graph."""

from math import prod
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import FACTORS, NUMBERS
from suites.gradient.said import NEVER_REQUIRES, REFUSED
from suites.tensors import item, leaf, outcome

ABOUT = "register_hook"

DOCS = "docs: torch.Tensor.register_hook"
SNAPSHOT = "https://github.com/pytorch/pytorch/pull/61250"


@clause(
    "gradient.membership.same_function_twice",
    says="One function registered several times is several hooks, each with its own handle.",
    source="docs: torch.utils.hooks.RemovableHandle",
    level="observed",
    readings=(
        Reading(
            "one for each",
            "",
            "A function is called as often as it is registered, less the handles removed.",
            value=True,
        ),
        Reading("one hook", "never", "A further registration replaces the first.", value=False),
    ),
    witness={"which": [0, 0], "removed": [1], "inner": False},
    covers=("tensor.reg.same_fn_twice",),
)
@given(
    which=st.lists(st.integers(0, 1), min_size=1, max_size=5),
    removed=st.lists(st.integers(0, 4), max_size=3),
    inner=st.booleans(),
)
def test_same_function_twice(subject: Subject, which: List[int], removed: List[int], inner: bool) -> None:
    seen: List[Any] = []
    functions = [lambda grad: seen.append(0) or grad * 2, lambda grad: seen.append(1) or grad + 3]
    x = leaf(1)
    y = 1 * x
    handles = [(y if inner else x).register_hook(functions[name]) for name in which]
    left = list(enumerate(which))
    for place in [None, *removed]:
        if place is not None and place < len(handles):
            handles[place].remove()
            left = [one for one in left if one[0] != place]
        called = [name for _, name in left] if subject.value else sorted({name for _, name in left})
        grad = 1
        for name in called:
            grad = grad + 3 if name else grad * 2
        x.grad = None
        seen.clear()
        y.backward(retain_graph=True)
        assert (seen, x.grad.item()) == (called, grad)


#: Ways to make a tensor out of another one.
DERIVED = {
    "detach": lambda x: x.detach().requires_grad_(),
    "clone": lambda x: x.clone(),
    "view": lambda x: x.view(1),
    "times 1": lambda x: 1 * x,
}


@clause(
    "gradient.membership.not_inherited",
    says="What is derived from a hooked tensor (detach, clone, view) has none of its hooks.",
    source="measured",
    level="observed",
    readings=(
        Reading("none", "", "A tensor that is derived from a hooked one has none of its hooks.", value=False),
        Reading("copied", "never", "A derived tensor takes the hooks along.", value=True),
    ),
    witness={"ways": ["clone"], "hooks": 1},
    covers=("tensor.reg.detach_no_inherit", "graph.api.hook_on_expanded_param_clone"),
)
@given(ways=st.lists(st.sampled_from(sorted(DERIVED)), min_size=1, max_size=3), hooks=st.integers(1, 3))
def test_not_inherited(subject: Subject, ways: List[str], hooks: int) -> None:
    import torch

    calls: List[int] = []
    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    for number in range(hooks):
        x.register_hook(lambda grad, number=number: calls.append(number))
    derived = x
    for way in ways:
        derived = DERIVED[way](derived)
    derived.backward(torch.ones(1, dtype=torch.float64))
    # From the end of the row back to the last detach(), which begins a graph of its own.
    reached = ways[::-1].index("detach") if "detach" in ways else len(ways) + 1
    times = (reached + ("detach" in ways)) if subject.value else int("detach" not in ways)
    assert calls == list(range(hooks)) * times


@clause(
    "gradient.membership.cleared",
    says="A hook that clears the dict of its tensor's hooks does not stop the later ones of the pass.",
    source=SNAPSHOT,
    level="implied",
    concern="tensor ?removes_inside",
    readings=(
        Reading(
            "still called",
            ">=1.10",
            "The hooks of a tensor are listed before the first one runs: clearing their dict stops none of them.",
            value=True,
        ),
        Reading(
            "gone at once",
            "<1.10",
            "A hook that clears the dict of its tensor's hooks stops the later ones of the pass.",
            value=False,
            headline=False,
            harm="silent",
        ),
    ),
    witness={"before": 0, "after": 1, "again": False},
    covers=("tensor.run.clear_dict",),
)
@given(before=st.integers(0, 2), after=st.integers(0, 3), again=st.booleans())
def test_cleared(subject: Subject, before: int, after: int, again: bool) -> None:
    calls: List[str] = []
    x = leaf(1)
    for _ in range(before):
        x.register_hook(lambda grad: calls.append("before"))
    x.register_hook(lambda grad: x._backward_hooks.clear())
    for _ in range(after):
        x.register_hook(lambda grad: calls.append("after"))
    first = ["before"] * before + ["after"] * (after if subject.value else 0)
    (2 * x).backward()
    assert calls == first
    if again:
        x.register_hook(lambda grad: calls.append("again"))
    (2 * x).backward()
    assert calls == first + ["again"] * again


@clause(
    "gradient.membership.without_a_graph",
    says="The result of detach() or of an operation under no_grad() refuses hooks with RuntimeError.",
    source=(
        REFUSED,
        NEVER_REQUIRES,
    ),
    level="implied",
    readings=(
        Reading(
            "refused",
            "",
            "What detach() or no_grad() returns, and what is made from it, refuses hooks until it requires grad.",
            value="RuntimeError",
        ),
        Reading("accepted", "never", "The hook is kept, and never called.", value="accepted"),
    ),
    witness={"row": ["detach"]},
    covers=("graph.api.hook_on_detached_view", "graph.mode.register_on_no_grad_result", "tensor.reg.detached"),
)
@given(row=st.lists(st.sampled_from(["times", "no_grad", "detach", "asked"]), max_size=4))
def test_without_a_graph(subject: Subject, row: List[str]) -> None:
    import torch

    calls: List[Any] = []
    tensor, requires = leaf(1), True
    for way in row:
        if way == "asked":
            tensor, requires = tensor.requires_grad_(), True
        elif way == "detach":
            tensor, requires = tensor.detach(), False
        else:
            with torch.set_grad_enabled(way == "times"):
                tensor = 2 * tensor
            requires = requires and way == "times"
    result = outcome(lambda: tensor.register_hook(calls.append))
    assert result == ("accepted" if requires else subject.value)
    if requires:
        tensor.backward()
    assert [grad.item() for grad in calls] == [1.0] * requires


@clause(
    "gradient.membership.switched_off",
    says="A leaf that no longer requires grad when the gradient arrives has its hooks called and no .grad set.",
    source="https://github.com/pytorch/pytorch/pull/85849",
    level="implied",
    concern="tensor ?switched_off",
    readings=(
        Reading(
            "called",
            ">=2.0",
            "A leaf that no longer requires grad has its hooks called once in each pass; .grad stays as it was.",
            value=True,
        ),
        Reading(
            "not called",
            "<2.0",
            "A leaf that no longer requires grad when the gradient arrives has no hook called and no .grad set.",
            value=False,
            headline=False,
            harm="silent",
        ),
    ),
    witness={"passes": [False], "factors": [1], "had": None},
    covers=("graph.accgrad.requires_grad_toggle",),
)
@given(
    passes=st.lists(st.booleans(), min_size=1, max_size=3),
    factors=st.lists(FACTORS, min_size=1, max_size=2),
    had=st.none() | NUMBERS,
)
def test_switched_off(subject: Subject, passes: List[bool], factors: List[int], had: Any) -> None:
    seen: List[float] = []
    x = leaf(1)
    x.grad = None if had is None else leaf(had).detach()
    for by in factors:
        x.register_hook(lambda grad, by=by: seen.append(grad.item()) or grad * by)
    y = 2 * x
    expected = []
    for on in passes:
        x.requires_grad_(on)
        y.backward(retain_graph=True)
        if on or subject.value:
            expected += [2 * prod(factors[:place]) for place in range(len(factors))]
        if on:
            had = (had or 0) + 2 * prod(factors)
        assert (seen, item(x.grad)) == (expected, had)
