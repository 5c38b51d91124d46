"""Plans of one product, x0 * x1, with pairs of hooks for what it saves."""

from typing import Any, List, Sequence, Tuple

from hypothesis import strategies as st

from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.plan.grammar import Backward, Forward, Hook, InPlace, Input, Leaf, Plan
from suites.shapes import LOOKS, SCALES

NET = Leaf("m0", "mul")
OUT = "m0>0"
#: Two factors, for witnesses.
TWO = (Input(2), Input(3))
EDITS = st.builds(lambda by: (InPlace(by),), FACTORS)
MAYBE = LOOKS | SCALES
PASSES = st.lists(st.builds(lambda grad: Backward((grad,)), NUMBERS), min_size=1, max_size=3).map(tuple)
ONE_PASS = st.builds(lambda grad: (Backward((grad,)),), NUMBERS)
BOOLEANS = st.booleans()
C0, C1 = Hook("saved", "", "c0"), Hook("saved", "", "c1")
ON_CPU_HOOK = Hook("save_on_cpu", "", "cpu")


def product(
    before: Any = LOOKS, after: Any = PASSES, leaf: Any = BOOLEANS, grads: Tuple[bool, bool] = (True, True)
) -> Any:
    """Plans of a product: hooks, one forward, and what comes after; the first factor is a leaf, or made of one."""
    return st.builds(
        lambda x, y, leaf, before, after: Plan(
            NET, (Input(x, grads[0], leaf or not grads[0]), Input(y, grads[1])), (*before, Forward(), *after)
        ),
        NUMBERS,
        NUMBERS,
        leaf,
        before,
        after,
    )


def pair(do: Any = LOOKS, back: Any = LOOKS, label: str = "c") -> Any:
    """One saved_tensors_hooks whose hooks do that; the pack hook is `label`.pack in a trace."""
    return st.builds(lambda do, back: (Hook("saved", "", label, do, back=back),), do, back)


def on_one(do: Any = LOOKS, back: Any = LOOKS) -> Any:
    """One SavedTensor.register_hooks on the first factor of the product."""
    return st.builds(lambda do, back: (Hook("saved_one", OUT, "c", do, back=back),), do, back)


def nested(least: int, most: int) -> st.SearchStrategy:
    """So many pairs, one in the next, each of which may multiply."""
    return st.lists(st.tuples(MAYBE, MAYBE), min_size=least, max_size=most).map(
        lambda pairs: tuple(Hook("saved", "", f"c{place}", do, back=back) for place, (do, back) in enumerate(pairs))
    )


def factors(plan: Plan) -> List[int]:
    """The numbers that are multiplied."""
    return [one.value if one.leaf else 2 * one.value for one in plan.inputs]


def starts(plan: Plan) -> List[int]:
    """The gradient that each backward pass begins with."""
    return [step.grads[0] for step in plan.steps if isinstance(step, Backward)]


def packs_and_unpacks(plan: Plan, label: str) -> List[str]:
    """The calls of one pair of hooks: it packs both factors once, and unpacks them in each pass."""
    return [f"{label}.pack"] * 2 + [f"{label}.unpack"] * 2 * len(starts(plan))


def ones(numbers: Sequence[int]) -> List[Tuple[int, ...]]:
    """Each number as the arguments of a call, in order of size."""
    return sorted((one,) for one in numbers)
