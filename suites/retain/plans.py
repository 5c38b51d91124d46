"""Plans with tensor hooks around retain_grad(), and what it keeps among them."""

from typing import Any, Dict, List

from hypothesis import strategies as st

from fixtures.plan.grammar import Hook, Plan, Retain
from fixtures.play.trace import Trace
from suites.shapes import product, scale_maybe


def among_hooks(draw: Any, on: str, act: bool = True) -> List[Any]:
    """Up to three tensor hooks of a tensor, which only look unless they may act, and retain_grad() among them."""
    count = draw(st.integers(0, 3))
    steps: List[Any] = [
        Hook("tensor", on, f"{on} {number}", scale_maybe(draw) if act else ()) for number in range(count)
    ]
    steps.insert(draw(st.integers(0, count)), Retain(on))
    return steps


def left_by_hooks(plan: Plan, kept: str) -> Dict[str, int]:
    """What each output of m0 keeps of one pass, by the answers to the fact `retain_grad`."""
    left = {}
    for slot, grad in enumerate(plan.steps[-1].grads):
        own = [step for step in plan.steps if isinstance(step, (Hook, Retain)) and step.on == f"m0>{slot}"]
        place = [isinstance(step, Retain) for step in own].index(True)
        before, after = own[:place], own[place + 1 :]
        every = kept == "last" or (kept == "slot" and before)
        left[f"m0>{slot}"] = grad * product(before + after if every else before)
    return left


def kept_of(trace: Trace, plan: Plan) -> Dict[str, Any]:
    """What each tensor keeps after the first pass."""
    return {step.on: trace.grads()[0].get(step.on) for step in plan.steps if isinstance(step, Retain)}
