"""What counts as a hook of a tensor: each registration, on that tensor alone, and only where there is a graph."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from suites.gradient.said import NEVER_REQUIRES, REFUSED
from suites.names import SNAPSHOT
from suites.tensors import leaf, outcome

ABOUT = "register_hook"
#: Ways to make a tensor out of another one.
DERIVED = {
    "detach": lambda x: x.detach().requires_grad_(),
    "clone": lambda x: x.clone(),
    "view": lambda x: x.view(1),
    "times 1": lambda x: 1 * x,
}


@clause(
    "gradient.membership.not_inherited",
    says="The tensor that detach(), clone() or view() makes from a hooked tensor has no hooks itself.",
    source="measured",
    asked="copy or reshape of activation lost callbacks do hooks "
    "carry over to new variable hook on a copy clone detach",
    value=False,
    wrong={"copied": True},
    witness={"ways": ["clone"], "hooks": 1},
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
    if "detach" in ways:  # which begins a graph of its own: the pass ends there
        called = ways[::-1].index("detach") + 1 if subject.value else 0
    else:
        called = len(ways) + 1 if subject.value else 1
    assert calls == list(range(hooks)) * called


@clause(
    "gradient.membership.cleared",
    says="A tensor hook that calls x._backward_hooks.clear() does not stop the later tensor hooks of x in that pass.",
    source=SNAPSHOT,
    asked="empty the private dict of callbacks inside callback to stop remaining ones",
    matters_if="tensor ?removes_inside",
    readings=by_release(
        "silent",
        ("1.10", "still called", True),
        "The tensor hooks of x are listed before the first one runs: clearing x._backward_hooks stops none.",
        ("", "gone at once", False),
        "A tensor hook that clears x._backward_hooks stops the later tensor hooks of x in that pass.",
    ),
    witness={"before": 0, "after": 1, "again": False},
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
    says="The result of detach(), or of a multiplication under no_grad(), refuses a tensor hook with RuntimeError.",
    where="requires_grad_() was not called",
    source=(REFUSED, NEVER_REQUIRES),
    asked="cannot register hook during evaluation inference mode detached activation crash",
    level="implied",
    value="RuntimeError",
    wrong={"accepted": "accepted"},
    witness={"row": ["detach"]},
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
