"""What step hooks return: other arguments for step(), or what they may not."""

from typing import Any, List, Optional, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.hooking import raised
from suites.optimizer.optimizers import counting, optimizer, weight_of
from suites.optimizer.sources import AFTER, ALL, CODE, OWN, PRE_HOOK, REPLACES

#: What a hook returns in place of the arguments, or None.
OTHER = st.none() | st.tuples(NUMBERS, NUMBERS)


@clause(
    "optimizer.returns.pair",
    says="step() and later step hooks are given the (args, kwargs) that a step pre-hook returned last.",
    source=REPLACES,
    asked="replace closure or arguments of optimizer.step from callback return new_args new_kwargs",
    needs=OWN,
    about=ALL[:2],
    value=True,
    wrong={"ignored": False},
    witness={"first": (1, 2), "others": [(3, 5)], "posts": 1},
)
@given(first=st.tuples(NUMBERS, NUMBERS), others=st.lists(OTHER, min_size=1, max_size=4), posts=st.integers(0, 2))
def test_pair(subject: Subject, first: Tuple[int, int], others: List[Any], posts: int) -> None:
    import torch

    seen: List[Any] = []

    class Notes(torch.optim.Optimizer):
        def step(self, amount: int, more: int = 0) -> None:
            seen.append((amount, more))

    def hook(other: Optional[Tuple[int, int]]) -> Any:
        def call(one: Any, args: Any, kwargs: Any) -> Any:
            seen.append((*args[1:], kwargs["more"]))
            return None if other is None else ((one, other[0]), {"more": other[1]})

        return call

    notes, expected, now = Notes([torch.nn.Parameter(make.ones(()))], {}), [], first
    for other in others:
        notes.register_step_pre_hook(hook(other))
        expected.append(now)
        now = other if other and subject.value else now
    for _ in range(posts):
        notes.register_step_post_hook(hook((7, 7)))
    notes.step(first[0], more=first[1])
    assert seen == [*expected, now, *[now] * posts]


@clause(
    "optimizer.returns.without_optimizer",
    says="A step pre-hook that returns ((), {}), without the optimizer, makes step() raise IndexError.",
    where=("it comes last", "an SGD, Adam, RMSprop or Adagrad steps"),
    source=("measured", PRE_HOOK),
    asked="IndexError tuple index out of range in optimizer step pre hook returns empty args TypeError missing self",
    needs=OWN,
    matters_if="step_pre returns ?returns_wrong",
    readings=by_release(
        ("error", "error"),
        ("2.8", "IndexError", "IndexError"),
        "A step pre-hook that returns ((), {}), without the optimizer, makes step() raise IndexError.",
        ("", "TypeError", "TypeError"),
        "A step pre-hook that returns ((), {}), without the optimizer, makes step() raise TypeError.",
    ),
    witness={"name": "SGD", "before": 0},
)
@given(name=st.sampled_from(["SGD", "Adam", "RMSprop", "Adagrad"]), before=st.integers(0, 2))
def test_without_optimizer(subject: Subject, name: str, before: int) -> None:
    one = optimizer(name)
    counting(one, ["pre"] * before)
    one.register_step_pre_hook(lambda *given: ((), {}))
    assert (raised(one.step, IndexError, TypeError), weight_of(one).item()) == (subject.value, 1)


@clause(
    "optimizer.returns.wrong",
    says="If a step pre-hook returns neither None nor a tuple of two, step() raises RuntimeError, updating nothing.",
    source=(REPLACES, CODE),
    asked="RuntimeError must return None or a tuple of (new_args, "
    "new_kwargs) but got lambda optimizer callback returns value",
    needs=OWN,
    value="RuntimeError",
    wrong={"ignored": "none"},
    witness={"returned": 3, "before": 0, "after": 1},
)
@given(
    returned=st.sampled_from([3, 0, False, True, "", "tensor", (), (1,), (1, 2, 3), [], [1, 2], {}]),
    before=st.integers(0, 2),
    after=st.integers(0, 2),
)
def test_wrong(subject: Subject, returned: Any, before: int, after: int) -> None:
    one = optimizer()
    calls = counting(one, ["pre"] * before)
    what = weight_of(one).grad if returned == "tensor" else returned
    one.register_step_pre_hook(lambda *given: what)
    later = counting(one, ["pre", "post"] * after)
    found = raised(one.step, RuntimeError)
    refused = subject.value != "none"
    assert (found, len(calls), len(later)) == (subject.value, before, 0 if refused else 2 * after)
    assert weight_of(one).item() == (1 if refused else 0)


@clause(
    "optimizer.returns.post_ignored",
    says="What a step post-hook returns is ignored: step() returns what it did, and later hooks are given the same.",
    source=(AFTER, CODE),
    asked="return value of register_step_post_hook change loss returned by optimizer.step",
    needs=OWN,
    about=ALL[1],
    value=True,
    wrong={"returned": False},
    witness={"returned": [3], "loss": 1},
)
@given(
    returned=st.lists(st.sampled_from([None, 3, False, (), ((), {}), [1, 2]]), min_size=1, max_size=4),
    loss=st.none() | NUMBERS,
)
def test_post_ignored(subject: Subject, returned: List[Any], loss: Optional[int]) -> None:
    one, seen = optimizer(), []
    for what in returned:
        one.register_step_post_hook(lambda *given, what=what: (seen.append(given), what)[1])

    def closure() -> Any:
        return loss

    found = one.step(closure)
    expected = loss if subject.value else next((what for what in returned if what is not None), loss)
    assert found == expected
    assert seen == [(one, (one, closure), {})] * len(returned)
