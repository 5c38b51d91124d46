"""A row of two multiplications, and plans that ask for the gradients of some of its tensors."""

from typing import Any, Sequence

from hypothesis import strategies as st

from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Ask, Chain, Forward, Hook, Input, Leaf, Plan, Scale, hooks_of
from fixtures.play.trace import Trace
from suites.shapes import product

NET = Chain("m0", (Leaf("m1", "scale", (2,)), Leaf("m2", "scale", (5,))))
INNER, ROOT = "m1>0", "m2>0"


@st.composite
def asking(draw: Any, asked: Sequence[str], hooked: Sequence[str], step: Any = Ask) -> Plan:
    """y = m1.weight * x and z = m2.weight * y, one replacing hook on each of `hooked`, and one question."""
    before, after = [], []
    for index, on in enumerate(hooked):
        hook = Hook("tensor", on, f"h{index}", (Scale(draw(FACTORS)),))
        (after if ">" in on else before).append(hook)
    question = step(inputs=tuple(asked), grads=(draw(NUMBERS),))
    return Plan(NET, (Input(draw(NUMBERS)),), (*before, Forward(), *after, question))


def asked_alone(on: Sequence[str], kind: str, action: Any) -> Any:
    """Plans in which one of some tensors is asked for alone, with one to three hooks of a kind on it that act."""
    return st.builds(
        lambda on, factors, value, grad: Plan(
            NET,
            (Input(value),),
            (
                Forward(),
                *(Hook(kind, on, f"h{place}", (action(by),)) for place, by in enumerate(factors)),
                Ask((on,), (grad,)),
            ),
        ),
        st.sampled_from(on),
        st.lists(FACTORS, min_size=1, max_size=3),
        NUMBERS,
        NUMBERS,
    )


def answer(trace: Trace) -> Any:
    """What autograd.grad returned."""
    (event,) = [event for event in trace if event.what == "asked"]
    return event.seen


def hooks_when_asked(subject: Subject, plan: Plan) -> None:
    """Play a plan that asks for one tensor, with hooks on it that multiply: each is called once and acts, or none."""
    trace, plain = subject.holds(plan), answer(subject.play(plan.without(Hook)))
    called = hooks_of(plan) if subject.reading.facts["hooks_when_asked"] else []
    assert trace.calls() == [hook.label for hook in called]
    assert answer(trace) == tuple(grad * product(called) for grad in plain)
