"""Plans that ask for the gradients of some tensors of a row of two multiplications."""

from typing import Any, Sequence

from hypothesis import strategies as st

from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.plan.grammar import AutogradGrad, Forward, Hook, Input, Plan, Scale
from suites.gradient.plans import NET


@st.composite
def asking(draw: Any, asked: Sequence[str], hooked: Sequence[str], step: Any = AutogradGrad) -> Plan:
    """y = m1.weight * x and z = m2.weight * y, one replacing hook on each of `hooked`, and one question."""
    before, after = [], []
    for index, on in enumerate(hooked):
        hook = Hook("tensor", on, f"h{index}", (Scale(draw(FACTORS)),))
        (after if ">" in on else before).append(hook)
    question = step(inputs=tuple(asked), grads=(draw(NUMBERS),))
    return Plan(NET, (Input(draw(NUMBERS)),), (*before, Forward(), *after, question))
