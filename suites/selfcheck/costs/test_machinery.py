"""What the machinery costs: a clause against the same draw and the same torch calls in one plain Hypothesis test."""

import sys
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import HealthCheck, given, settings

from fixtures.clause.clause import Clause, Reading
from fixtures.draw.plans import plans
from fixtures.judge.subject import Subject
from fixtures.judge.verdict import search
from fixtures.model.contract import contract_for, installed_version
from fixtures.plan.grammar import Backward, Forward, Hook, Plan
from fixtures.stages.eager import Eager

EXAMPLES = 200
MOST = 1.6
CONTRACT = contract_for(installed_version())
STRATEGY = plans(kinds=("forward", "forward_pre"), ops=("scale", "same"), depth=0, runs=2, most=3, contract=CONTRACT)
SETTINGS = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@SETTINGS
@given(plan=STRATEGY)
def the_clause(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


class Scale(torch.nn.Module):
    def __init__(self, value: float) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(value, dtype=torch.float64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * x


class Same(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


@SETTINGS
@given(plan=STRATEGY)
def by_hand(plan: Any) -> None:
    """What someone would write who knows nothing of plans: the draw, the torch calls, and what must come out."""
    net: Any = Scale(float(plan.net.values[0])) if plan.net.op == "scale" else Same()
    x = torch.tensor(float(plan.inputs[0].value), dtype=torch.float64, requires_grad=True)
    seen: list[Any] = []
    expected = y = x if plan.inputs[0].leaf else x * 2
    handles = {}
    for step in plan.steps:
        if isinstance(step, Hook):
            by = getattr(step.do[0], "by", None) if step.do else None

            def hook(module: Any, args: Any, out: Any = None, by: Any = by) -> Any:
                value = args[0] if out is None else out
                seen.append(value.item())
                return None if by is None else value * by

            handles[step.label] = getattr(net, f"register_{step.kind}_hook")(hook)
        elif isinstance(step, Forward):
            y = net(expected)
            seen.append(y.item())
        elif isinstance(step, Backward):
            y.backward(torch.tensor(float(step.grads[0] or 0), dtype=torch.float64), retain_graph=True)
            assert x.grad is not None
            seen.append(x.grad.item())
            seen.extend(weight.grad.item() for weight in net.parameters())
    for handle in handles.values():
        handle.remove()
    assert all(float(value).is_integer() for value in seen)


def calls(action: Callable[[], Any]) -> int:
    """How many functions are called, Python's and those of C: a clock says something else whenever others compute."""
    found = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return found


def test_an_example_costs_at_most_six_tenths_more_than_by_hand() -> None:
    version = installed_version()
    reading = Reading("always", "", "")
    clause = Clause("a.b.c", "", (), (reading,), (), None, "", "", False, "observed", the_clause)
    subject = Subject("eager", "cpu", version, CONTRACT, reading, Eager().play)
    search(clause, subject)
    by_hand()
    ratio = calls(lambda: search(clause, subject)) / calls(by_hand)
    print(f"calls per example, clause / by hand: {ratio:.2f}")
    assert ratio <= MOST
