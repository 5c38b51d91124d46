"""Plans with hooks on tensors of a row of multiplications, and what passes over them give."""

from typing import Any, Sequence

from hypothesis import strategies as st

from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import AutogradGrad, Backward, Chain, Forward, Hook, Input, Leaf, MulInPlace, Plan, hooks_of
from fixtures.play.trace import Trace
from suites.shapes import product

NET = Chain("m0", (Leaf("m1", "scale", (2,)), Leaf("m2", "scale", (5,))))
INNER, ROOT = "m1>0", "m2>0"
#: The kinds of hook that y = weight * x can have, and where.
PLACES = {"tensor": ("x0", "m0>0"), "post_accumulate": ("x0",), "node": ("m0>0",), "node_pre": ("m0>0",)}


def asked_alone(on: Sequence[str], kind: str, action: Any) -> Any:
    """Plans in which one of some tensors is asked for alone, with one to three hooks of a kind on it that act."""
    return st.builds(
        lambda on, factors, value, grad: Plan(
            NET,
            (Input(value),),
            (
                Forward(),
                *(Hook(kind, on, f"h{place}", (action(by),)) for place, by in enumerate(factors)),
                AutogradGrad((on,), (grad,)),
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


def between_edits(kind: str, does: Any) -> Any:
    """Plans in which y = m0.weight * x is changed in place and gets hooks of a kind, in any order."""
    return st.builds(
        lambda steps, value, grad: Plan(
            Leaf("m0", "scale", (value,)),
            (Input(1),),
            (
                Forward(),
                *(
                    Hook(kind, "m0>0", f"h{place}", step) if isinstance(step, tuple) else MulInPlace("m0>0", step)
                    for place, step in enumerate(steps)
                ),
                Backward((grad,)),
            ),
        ),
        # At least one hook and one change.
        st.lists(does | FACTORS, min_size=2, max_size=5).filter(lambda steps: len({*map(type, steps)}) == 2),
        NUMBERS,
        NUMBERS,
    )
