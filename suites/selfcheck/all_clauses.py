"""What the self-check asks of all clauses at once."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings

from fixtures.clause.clause import CLAUSES, Clause
from fixtures.draw.only import ONLY_DRAWS
from fixtures.judge.subject import Playable
from suites.examples import import_suites

__all__ = ["drawn", "draws_plans", "import_suites", "plans_of"]


def draws_plans(clause: Clause) -> bool:
    """Whether what a clause draws is a plan or a program: the model can play those, and nothing else."""
    return bool(clause.played)


def drawn(name: str, count: int) -> Sequence[Any]:
    """The first plans or programs of a clause, the same in each run."""
    return plans_of(CLAUSES[name], count)


def plans_of(clause: Clause, count: int) -> Sequence[Any]:
    """The same of a clause that may be in no table."""
    plans: list[Playable] = []

    @settings(ONLY_DRAWS, max_examples=count, derandomize=True)
    @given(plan=clause.function.hypothesis._given_kwargs[clause.played])  # type: ignore[attr-defined]
    def collect(plan: Playable) -> None:
        plans.append(plan)

    collect()
    return plans
