"""Optimizers for tests that play no plan."""

from typing import Any, List, Sequence

from hypothesis import strategies as st

from fixtures.stages.make import make

#: Optimizers of torch that every release has.
NAMES = st.sampled_from(["SGD", "Adam", "RMSprop", "Adagrad"])
WHEN = st.sampled_from(["pre", "post"])
WHENS = st.lists(WHEN, min_size=1, max_size=3)


def optimizer(name: str = "SGD", start: float = 1.0, grad: float = 1.0) -> Any:
    """An optimizer of one parameter with a gradient, and a rate of 1."""
    import torch

    weight = torch.nn.Parameter(make.tensor(float(start), dtype=torch.float64))
    weight.grad = make.tensor(float(grad), dtype=torch.float64)
    return getattr(torch.optim, name)([weight], lr=1.0)


def weight_of(one: Any) -> Any:
    """Its parameter."""
    return one.param_groups[0]["params"][0]


def counting(one: Any, whens: Sequence[str]) -> List[Any]:
    """Put a hook on an optimizer for each of these, and return what will have the number of each call."""
    calls: List[Any] = []
    for number, when in enumerate(whens):
        getattr(one, f"register_step_{when}_hook")(lambda *given, number=number: calls.append(number))
    return calls
