"""What study notes teach about forward pre-hooks, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

import inspect
from typing import Any, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import NUMBERS, plans
from fixtures.plan.grammar import Bare, Forward, Hook, Input, Leaf, Plan, Scale, hooks_of

NOTES = "tutorials: widely read study notes, 2019-2022"
PRE = "docs: torch.nn.Module.register_forward_pre_hook"


def given_to(plan: Plan) -> Tuple[int, ...]:
    """The inputs that the network of a plan is called with."""
    return tuple(x.value if x.leaf else 2 * x.value for x in plan.inputs)


def factor(hook: Hook) -> int:
    """What a hook multiplies its argument by; 1 when it only looks."""
    return hook.do[0].by if hook.do else 1


@clause(
    "tutorial.forward.t05_pre_arguments",
    says="A forward pre-hook is given two things only: the module and the tuple of inputs.",
    source=(
        NOTES,
        PRE + ' "hook(module, args, kwargs) -> None or a tuple of modified input and kwargs"',
        "release 2.0: forward hooks can ask for the keyword arguments",
    ),
    concern="never",
    readings=(
        Reading(
            "true",
            "<2.0",
            "Every forward pre-hook is given the module and the tuple of inputs.",
            value=[("Double", "tuple")],
        ),
        Reading(
            "false",
            ">=2.0",
            "A forward pre-hook registered with with_kwargs=True is given the keyword arguments as a third.",
            value=[("Double", "tuple"), ("Double", "tuple", "dict")],
            headline=False,
        ),
    ),
)
def test_t05_pre_arguments(subject: Subject) -> None:
    import torch

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    double, seen = Double(), []
    parameters = inspect.signature(double.register_forward_pre_hook).parameters
    for options in [{}] + [{name: True} for name in parameters if name == "with_kwargs"]:
        double.register_forward_pre_hook(
            lambda *arguments: seen.append(tuple(type(one).__name__ for one in arguments)), **options
        )
    double(torch.tensor(3.0))
    assert seen == subject.value


@clause(
    "tutorial.forward.t06_collects_inputs",
    says="A pre-hook on an adder can collect all inputs in order, and they are the caller's own objects.",
    source=(NOTES, PRE, "measured"),
    readings=(
        Reading(
            "true",
            "",
            "A pre-hook is given the caller's own tensors in order, also where there is a backward hook.",
            value=True,
        ),
        Reading("false", "never", "Where there is a backward hook the pre-hook is given other tensors.", value=False),
    ),
    witness={"inputs": [2, 3], "pres": 1, "watched": True},
    note="A full backward hook does give forward and the forward hooks other tensors, but only after the pre-hooks.",
)
@given(inputs=st.lists(NUMBERS, min_size=1, max_size=4), pres=st.integers(1, 3), watched=st.booleans())
def test_t06_collects_inputs(subject: Subject, inputs: Any, pres: int, watched: bool) -> None:
    import torch

    class Adder(torch.nn.Module):
        def forward(self, *given: Any) -> Any:
            return sum(given)

    adder, seen = Adder(), []
    # The backward hook of this torch: the full one, or the only one there is.
    register = getattr(adder, "register_full_backward_hook", adder.register_backward_hook)
    for _ in range(pres if watched else 0):
        register(lambda module, grad_input, grad_output: None)
    for _ in range(pres):
        adder.register_forward_pre_hook(lambda module, given: seen.append(given))
    xs = tuple(torch.tensor(float(value), requires_grad=True) for value in inputs)
    assert adder(*xs).item() == sum(inputs)
    own = subject.value or not watched
    assert [[one is x for one, x in zip(given, xs)] for given in seen] == [[own] * len(xs)] * pres


@clause(
    "tutorial.forward.t07_pre_returns_tuple",
    says="A tuple that a pre-hook returns becomes the inputs; a pre-hook that returns nothing keeps them.",
    source=(NOTES, PRE + ' "User can either return a tuple or a single modified value"'),
    readings=(
        Reading("true", "", "Later hooks and forward get the tuple that a pre-hook returned.", value="the tuple"),
        Reading("false", "never", "Later hooks and forward get what the caller gave.", value="the caller's"),
    ),
    witness=Plan(
        Leaf("m0", "add"),
        (Input(1), Input(3)),
        (
            Hook("forward_pre", "m0", "h0", (Scale(10),)),
            Hook("forward_pre", "m0", "h1"),
            Hook("forward", "m0", "h2"),
            Forward(),
        ),
    ),
)
@given(
    plan=plans(
        kinds=("forward_pre", "forward"),
        does=("scale",),
        inputs=(1, 2),
        outputs=(1, 2),
        depth=0,
        least=2,
        backward=False,
    )
)
def test_t07_pre_returns_tuple(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    caller = inputs = given_to(plan)
    for hook in hooks_of(plan, "forward_pre") + hooks_of(plan, "forward"):
        handed = {"the tuple": inputs, "the caller's": caller}
        assert [seen[1] for seen in trace.seen_by(hook.label)] == [handed[subject.value]]
        if hook.kind == "forward_pre":
            inputs = tuple(x * factor(hook) for x in inputs)


@clause(
    "tutorial.forward.t16_pre_returns_bare",
    says="What a plain pre-hook returns without a tuple is wrapped in one, for the next pre-hook and forward.",
    source=(NOTES, PRE + ' "We will wrap the value into a tuple if a single value is returned"'),
    readings=(
        Reading(
            "true",
            "",
            "The next pre-hook is given a tuple of the one value that a pre-hook returned.",
            value="wrapped",
        ),
        Reading("false", "never", "The next pre-hook is given the bare value.", value="bare"),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)),
        (Input(3),),
        (Hook("forward_pre", "m0", "h0", (Bare(10),)), Hook("forward_pre", "m0", "h1"), Forward()),
    ),
    note="Since 2.0 this is not so for a pre-hook registered with with_kwargs=True: it returns (args, kwargs).",
)
@given(
    plan=plans(
        kinds=("forward_pre", "forward"), does=("bare",), ops=("scale", "affine"), depth=0, least=2, backward=False
    )
)
def test_t16_pre_returns_bare(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (x,) = given_to(plan)
    for hook in hooks_of(plan, "forward_pre") + hooks_of(plan, "forward"):
        handed = {"wrapped": (x,), "bare": x}
        assert [seen[1] for seen in trace.seen_by(hook.label)] == [handed[subject.value]]
        x *= factor(hook)
