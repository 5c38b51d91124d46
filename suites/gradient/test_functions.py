"""What can be a hook of a tensor or of a node: anything that can be called, and one function several times."""

from dataclasses import replace
from functools import partial
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.clause import Reading, clause
from fixtures.draw.plans import FACTORS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Hook, Plan
from suites.tensors import leaf

NAMES = "https://github.com/pytorch/pytorch/pull/37785"


@clause(
    "gradient.functions.any_callable",
    says="As a hook of a tensor or node a lambda, method, partial or callable instance acts like a function.",
    where="no functools.lru_cache or cache wraps it",
    source=("measured", NAMES),
    asked="use functools partial or class with __call__ or self method instead of def closure",
    note="Before torch 1.6 a tensor hook without a name may not return a gradient: tutorial.calling.t31_any_callable.",
    level="observed",
    about=(*apis(("tensor", "post_accumulate", "node", "node_pre")), "retain_grad"),
)
@given(
    plan=plans(
        kinds=("tensor", "post_accumulate", "node", "node_pre"),
        does=("scale",),
        depth=0,
        least=3,
        most=6,
        retain=True,
        runs=2,
        functions=True,
    )
)
def test_any_callable(subject: Subject, plan: Plan) -> None:
    steps = tuple(replace(step, form="") if isinstance(step, Hook) else step for step in plan.steps)
    assert subject.holds(plan) == subject.play(replace(plan, steps=steps))


def nameless(by: int) -> Any:
    """A hook that is an object, and has no __name__.

    It looks up no attribute: where CPython's cache of lookups misses one, an error that is pending is lost.
    """

    class Times:
        def __call__(self, grad: Any) -> Any:
            return grad * by

    return Times()


def times(by: int, grad: Any) -> Any:
    return grad * by


@clause(
    "gradient.functions.without_a_name",
    says="A tensor hook without a __name__, such as a partial, may return a gradient.",
    source=("test: test/test_autograd.py TestAutograd.test_hook_with_no_name", NAMES),
    note="Before torch 1.6 the missing name leaves an error pending, which Python may lose: backward() then goes on.",
    asked="functools partial attributeerror no __name__ when modifying grad scale clip with extra parameter",
    about="register_hook",
    matters_if="tensor returns ?without_name",
    readings=(
        Reading(
            "may",
            ">=1.6",
            "A tensor hook may return a gradient whether it has a __name__ or not, in each pass.",
            value="fine",
        ),
        Reading(
            "next pass raises",
            "<1.6",
            "After a tensor hook without a __name__ has returned a gradient, the next backward() raises.",
            value="raises",
            says_the_same=False,
            effect="error",
        ),
    ),
    witness={"kinds": ["partial"], "by": 2},
)
@given(kinds=st.lists(st.sampled_from(["partial", "object", "function"]), min_size=1, max_size=3), by=FACTORS)
def test_without_a_name(subject: Subject, kinds: List[str], by: int) -> None:
    x, result, passed = leaf(1), "fine", []
    for kind in kinds:
        x.register_hook(
            {"partial": partial(times, by), "object": nameless(by), "function": lambda grad: grad * by}[kind]
        )
    for _ in range(2):
        x.grad = None
        try:
            (x * 3).backward()
            passed.append(x.grad.item())
        # An error is pending then, and who meets it first makes another one of it.
        except (AttributeError, RuntimeError, SystemError, TypeError):
            result = "raises"
            break
    due = subject.value if {"partial", "object"} & {*kinds} else "fine"
    assert result == due
    assert passed == [3 * by ** len(kinds)] * len(passed)
