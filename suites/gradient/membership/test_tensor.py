"""What counts as a hook of a tensor: on that tensor alone, only where there is a graph, and where torch keeps it."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.gradient.sources import REFUSED
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
    x = make.ones(1, dtype=torch.float64, requires_grad=True)
    for number in range(hooks):
        x.register_hook(lambda grad, number=number: calls.append(number))
    derived = x
    for way in ways:
        derived = DERIVED[way](derived)
    derived.backward(make.ones(1, dtype=torch.float64))
    if "detach" in ways:  # which begins a graph of its own: the pass ends there
        called = ways[::-1].index("detach") + 1 if subject.value else 0
    else:
        called = len(ways) + 1 if subject.value else 1
    assert calls == list(range(hooks)) * called


@clause(
    "gradient.membership.without_a_graph",
    says="The result of detach(), or of a multiplication under no_grad(), refuses a tensor hook with RuntimeError.",
    where="requires_grad_() was not called",
    source=(REFUSED, 'docs: torch.Tensor.detach "The result will never require gradient"'),
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


@clause(
    "gradient.membership.two_dicts",
    says="Post-accumulate hooks of a tensor are in its _post_accumulate_grad_hooks, others in its _backward_hooks.",
    where="no hook is on its node",
    source=("docs: torch.Tensor.register_post_accumulate_grad_hook", "measured"),
    asked="where are register_hook callbacks stored private attribute inspect list count clear all nonetype empty",
    about=("register_hook", "register_post_accumulate_grad_hook"),
    matters_if="tensor_dict",
    instead="look at _post_accumulate_grad_hooks too, where the tensor has it.",
    readings=(
        Reading(
            "one",
            "<2.1",
            "A tensor has one kind of hook, kept in its _backward_hooks.",
            value=(None, ["_backward_hooks"]),
            says_the_same=False,
        ),
        Reading(
            "two",
            ">=2.1",
            "Post-accumulate hooks of a tensor are in its _post_accumulate_grad_hooks, not in _backward_hooks.",
            value=(None, ["_backward_hooks", "_post_accumulate_grad_hooks"]),
            effect="silent",
        ),
    ),
    note="Before 1.10 retain_grad() put its own hook into _backward_hooks as well.",
)
def test_two_dicts(subject: Subject) -> None:

    x = make.tensor(2.0, requires_grad=True)
    before, places = x._backward_hooks, []
    for name in sorted(dir(x)):
        if name.startswith("register_") and name.endswith("hook"):
            handle = getattr(x, name)(lambda grad: None)
            dicts = [place for place in dir(x) if place.endswith("_hooks")]
            places += [place for place in dicts if handle.id in (getattr(x, place) or {})]
    assert (before, places) == subject.value
