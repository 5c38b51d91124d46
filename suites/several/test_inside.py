"""Passes inside of a pass, and passes in several threads, over hooks of several tensors with mode="all"."""

from typing import Any, List, Sequence

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from suites.hooking import at_once
from suites.several.sources import DOCS, HAS_ALL
from suites.tensors import item, leaf

ABOUT = "register_multi_grad_hook"

#: Whether the inner pass reaches x, and whether y.
ONE = st.sampled_from(((True, False), (False, True)))


def calls(values: Sequence[int], inside: Sequence[bool]) -> List[Any]:
    """What a hook on x and y is given in a pass from (3 * x) * y, where a pass through some runs after y's gradient."""
    import torch

    x, y = (leaf(value) for value in values)
    inner = 7
    for one, reached in zip((x, y), inside):
        inner = inner * one if reached else inner
    seen: List[Any] = []
    torch.autograd.graph.register_multi_grad_hook((x, y), lambda grads: seen.append([item(grad) for grad in grads]))
    h = 3 * x
    h.register_hook(lambda grad: inner.backward())  # type: ignore[attr-defined]
    (h * y * 1).backward()
    return seen


@clause(
    "several.inside.fewer",
    says="A multi-grad hook on two leaves loses the outer call if one pass, through one, runs between their gradients.",
    where=('mode is "all"', "it runs after the hook saw one"),
    source=DOCS,
    asked="nested backward inside a hook and my callback for all gradients is never called",
    docs="contradicts",
    needs=HAS_ALL,
    value="lost",
    wrong={"called": "called"},
    witness={"values": [2, 3], "inside": (True, False)},
)
@given(values=st.tuples(NUMBERS, NUMBERS), inside=ONE)
def test_fewer(subject: Subject, values: Sequence[int], inside: Sequence[bool]) -> None:
    x, y = values
    outer = [[3.0 * y, 3.0 * x]] if subject.value == "called" else []
    assert calls(values, inside) == [[7.0 if reached else None for reached in inside], *outer]


@clause(
    "several.inside.all_reached",
    says='backward() inside a hook calls a multi-grad hook of mode "all", and so does the outer pass later.',
    where="both reach all its tensors and begin at none",
    source=DOCS,
    asked="callback for all gradients runs two times when a hook calls backward",
    needs=HAS_ALL,
    value="both",
    wrong={"the inner alone": "inner"},
    witness={"values": [2, 3]},
)
@given(values=st.tuples(NUMBERS, NUMBERS))
def test_all_reached(subject: Subject, values: Sequence[int]) -> None:
    x, y = values
    outer = [[3.0 * y, 3.0 * x]] if subject.value == "both" else []
    assert calls(values, (True, True)) == [[7.0 * y, 7.0 * x], *outer]


def through_layers(values: Sequence[int], inside: Sequence[bool], reentrant: bool) -> List[Any]:
    """What a hook on the weights of layers is given; those inside are run by checkpoint, one by one."""
    import torch
    from torch.utils.checkpoint import checkpoint

    weights = [leaf(value) for value in values]
    seen: List[Any] = []
    torch.autograd.graph.register_multi_grad_hook(weights, lambda grads: seen.append([item(grad) for grad in grads]))
    out = leaf(1)
    for weight, checkpointed in zip(weights, inside):
        layer = lambda x, weight=weight: x * weight  # noqa: E731
        out = checkpoint(layer, out, use_reentrant=reentrant) if checkpointed else layer(out)
    (out * 1).backward()
    return seen


LAYERS = st.lists(NUMBERS, min_size=2, max_size=4)
#: Of each layer whether it is checkpointed; the first is, and the second is not.
SOME_INSIDE = st.lists(st.booleans(), min_size=2, max_size=2).map(lambda more: [True, False, *more])


@clause(
    "several.inside.reentrant_checkpoint",
    says="With a reentrant checkpoint a multi-grad hook on weights inside and outside never gets all gradients.",
    where=('mode is "all"', "each weight is used once"),
    source=DOCS,
    asked="activation checkpointing use_reentrant True multi grad hook called in parts or never",
    needs=HAS_ALL,
    value="never all",
    wrong={"all": "all"},
    witness={"values": [2, 3], "inside": [True, False]},
)
@given(values=LAYERS, inside=SOME_INSIDE)
def test_reentrant_checkpoint(subject: Subject, values: Sequence[int], inside: Sequence[bool]) -> None:
    whole = [grads for grads in through_layers(values, inside, reentrant=True) if None not in grads]
    assert bool(whole) == (subject.value == "all")


@clause(
    "several.inside.checkpoint",
    says="With checkpoint(use_reentrant=False) a multi-grad hook on weights is called once, with all gradients.",
    where=('mode is "all"', "backward() reaches all of them"),
    source=DOCS,
    asked="activation checkpointing use_reentrant False with register_multi_grad_hook works",
    needs=HAS_ALL,
    value=1,
    wrong={"not called": 0},
    witness={"values": [2, 3], "inside": [True, False]},
)
@given(values=LAYERS, inside=SOME_INSIDE)
def test_checkpoint(subject: Subject, values: Sequence[int], inside: Sequence[bool]) -> None:
    product = 1
    for value in values:
        product *= value
    assert through_layers(values, inside, reentrant=False) == [[product / value for value in values]] * subject.value


@clause(
    "several.inside.threads",
    says='Passes in several threads at once each call a multi-grad hook of mode "all" with their gradients.',
    where="each reaches all its tensors in a graph of its own",
    source="https://github.com/pytorch/pytorch/pull/86260",
    asked="hogwild threads share parameters with one callback for all gradients, is it called for each thread",
    needs=HAS_ALL,
    value="each",
    wrong={"the first only": "first"},
    witness={"passes": [1, 1]},
)
@given(passes=st.lists(st.integers(1, 12), min_size=2, max_size=4))
def test_threads(subject: Subject, passes: List[int]) -> None:
    import torch

    seen: List[Any] = []
    x, y = leaf(1), leaf(1)
    torch.autograd.graph.register_multi_grad_hook((x, y), lambda grads: seen.append([item(grad) for grad in grads]))

    def work(factor: int, times: int) -> None:
        for _ in range(times):
            (factor * (x * y)).backward()

    at_once(work, list(enumerate(passes, 1)))
    run = passes if subject.value == "each" else passes[:1]
    assert sorted(seen) == [[float(factor)] * 2 for factor, times in enumerate(run, 1) for _ in range(times)]
