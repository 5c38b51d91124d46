"""Plans of a module with backward hooks, and what they are drawn from."""

from typing import Any, Tuple

from hypothesis import strategies as st

from fixtures.draw.contract import by_contract
from fixtures.draw.plans import FACTORS, NUMBERS, available
from fixtures.plan.grammar import Backward, Chain, Forward, Hook, Input, Leaf, Plan, Scale
from suites.names import BACKWARD

ANY_KIND = st.sampled_from(["full_backward", "backward"])
PAIR = st.tuples(NUMBERS, NUMBERS)
MAYBE_SCALE = st.one_of(st.just(()), st.builds(lambda by: (Scale(by),), FACTORS))
#: The kinds that a torch has: full ones came with 1.8, pre-hooks with 2.0.
EVERY_KIND = by_contract(lambda contract: st.sampled_from(available(contract, BACKWARD)))
FULL_KINDS = by_contract(lambda contract: st.sampled_from(available(contract, BACKWARD[1:])))

AN_INPUT, NO_INPUT = Input(3), Input(3, grad=False)


def script(value: int, hooks: Tuple[Any, ...], after: Tuple[Any, ...], grad: int, given: Input = AN_INPUT) -> Plan:
    """y = value * x with hooks before the forward, hooks after it, and one backward pass."""
    return Plan(Leaf("m0", "scale", (value,)), (given,), hooks + (Forward(),) + after + (Backward((grad,)),))


def steps_on_line(*steps: Any) -> Plan:
    """The steps on y = 3 * x."""
    return Plan(Leaf("m0", "scale", (3,)), (Input(2),), steps)


def row(values: Tuple[int, ...]) -> Chain:
    """Two scaling modules m1 and m2, one after the other."""
    return Chain("m0", (Leaf("m1", "scale", values[:1]), Leaf("m2", "scale", values[1:])))


def returning(count: int, *does: Any, grad: bool = True) -> Plan:
    """A module of some inputs with full hooks that do so, one after the other, and a pass through it."""
    hooks = (Hook("full_backward", "m0", f"h{place}", do) for place, do in enumerate(does))
    return Plan(Leaf("m0", "many", (2,), outputs=1), (Input(3, grad=grad),) * count, (*hooks, Forward(), Backward()))
