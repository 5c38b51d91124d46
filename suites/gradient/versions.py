"""Hooks put on a tensor before and after it is changed in place, and what each of them is given."""

from typing import Any, List, Tuple

from hypothesis import strategies as st

from fixtures.plan.draw import FACTORS

#: Hooks put on a tensor, and changes of it in place, in this order.
CHANGES = st.lists(st.just("hook") | FACTORS, min_size=1, max_size=5).filter(lambda steps: "hook" in steps)


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
