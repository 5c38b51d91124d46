"""Hooks put on a tensor before and after it is changed in place, and what each of them is given."""

from typing import Any, List, Tuple

from hypothesis import strategies as st

from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.plan.grammar import Backward, Edit, Forward, Hook, Input, Leaf, Plan

#: Hooks put on a tensor, and changes of it in place, in this order.
CHANGES = st.lists(st.just("hook") | FACTORS, min_size=1, max_size=5).filter(lambda steps: "hook" in steps)


def between_edits(kind: str, does: Any) -> Any:
    """Plans in which y = m0.weight * x is changed in place and gets hooks of a kind, in any order."""
    return st.builds(
        lambda steps, value, grad: Plan(
            Leaf("m0", "scale", (value,)),
            (Input(1),),
            (
                Forward(),
                *(
                    Hook(kind, "m0>0", f"h{place}", step) if isinstance(step, tuple) else Edit("m0>0", step)
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


def noting(seen: List[Any], name: str) -> Any:
    """A hook that writes down its name and what it is given."""

    def hook(grad: Any) -> None:
        seen.append((name, grad.tolist()))

    return hook


def calls_of(steps: List[Any], reading: str) -> List[Tuple[str, int]]:
    """The hooks by number, as they are called, and the product of the later changes, which each is given."""
    versions: List[List[str]] = [[]]
    products = [1]
    for step in steps:
        if step == "hook":
            versions[-1].append(str(sum(map(len, versions))))
        else:
            versions.append([])
            products = [old * step for old in products] + [1]
    if reading == "first":
        every = [name for hooks in versions for name in hooks]
        first = [bool(hooks) for hooks in versions].index(True)
        return [(name, products[first]) for name in every]
    return [(name, by) for hooks, by in reversed(list(zip(versions, products))) for name in hooks]
