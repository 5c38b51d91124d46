"""Handles of tensor hooks: what register_hook returns, and what removes a hook."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.judge.subject import Subject
from suites.gradient.said import REMOVES
from suites.tensors import leaf

ABOUT = "register_hook"

HANDLE = "docs: torch.utils.hooks.RemovableHandle"


@clause(
    "gradient.lifetime.handle",
    says="Tensor.register_hook takes the hook as hook= and returns a RemovableHandle with an id of its own.",
    source=(REMOVES, "docs: torch.utils.hooks.RemovableHandle"),
    asked="what does registering on a tensor return how to get object to unregister later keyword name",
    value=True,
    wrong={"per tensor": False},
    witness={"on": [0, 1], "removed": None},
)
@given(on=st.lists(st.integers(0, 2), min_size=2, max_size=5), removed=st.none() | st.integers(0, 3))
def test_handle(subject: Subject, on: List[int], removed: Any) -> None:
    import pickle

    import torch

    x = leaf(1)
    tensors = [x, 2 * x, leaf(3)]
    seen: List[Any] = []
    handles: List[Any] = []
    for place in on:
        handles.append(tensors[place].register_hook(hook=seen.append))
        if removed is not None and removed < len(handles):
            # That an id is free again changes nothing.
            handles[removed].remove()
    ids = [handle.id for handle in handles]
    assert all(type(handle) is torch.utils.hooks.RemovableHandle for handle in handles)
    per_tensor = [on[:number].count(at) for number, at in enumerate(on)]
    assert len(set(ids)) == len(set(range(len(on)) if subject.value else per_tensor))
    # With the handle pickle stores the hooks that are left on its tensor: none, then.
    for handle in handles:
        handle.remove()
    assert [pickle.loads(pickle.dumps(handle)).id for handle in handles] == [handle.id for handle in handles]


@clause(
    "gradient.lifetime.removed_too_late",
    says="handle.remove() does nothing where the tensor hook was removed before, or its tensor and graph are gone.",
    see="gradient.lifetime.tensor_object_gone",
    source=HANDLE,
    asked="unregister twice or after deleting activation error or harmless silent",
    value=True,
    wrong={"takes the next": False},
    witness={"inner": False, "removed": [1, 1]},
)
@given(inner=st.booleans(), removed=st.lists(st.integers(0, 4), max_size=6))
def test_removed_too_late(subject: Subject, inner: bool, removed: List[int]) -> None:
    calls: List[int] = []
    handles = [leaf(1).register_hook(lambda grad: calls.append(-1))]  # 0: of a tensor that is gone
    x = leaf(1)
    y = 1 * x
    hooked = y if inner else x
    handles += [hooked.register_hook(lambda grad, number=number: calls.append(number)) for number in (1, 2, 3)]
    hooked.register_hook(lambda grad: calls.append(5))
    left = [1, 2, 3, 5]
    for place in removed:
        if place == 4:
            continue
        handles[place].remove()
        if place in left:
            left.remove(place)
        elif not subject.value:
            left = left[1:]
    y.backward()
    assert calls == left


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
    import torch

    x = torch.tensor(2.0, requires_grad=True)
    before, places = x._backward_hooks, []
    for name in sorted(dir(x)):
        if name.startswith("register_") and name.endswith("hook"):
            handle = getattr(x, name)(lambda grad: None)
            dicts = [place for place in dir(x) if place.endswith("_hooks")]
            places += [place for place in dicts if handle.id in (getattr(x, place) or {})]
    assert (before, places) == subject.value
