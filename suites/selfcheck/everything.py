"""What the self-check asks of all clauses at once."""

from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, given, settings

from fixtures.judge.clause import CLAUSES, Clause
from fixtures.plan.grammar import Plan
from suites.examples import import_suites

__all__ = ["drawn", "draws_plans", "import_suites"]


def draws_plans(clause: Clause) -> bool:
    """Whether what a clause draws is a plan: the model can play those, and nothing else."""
    return clause.plays


def drawn(name: str, count: int) -> Sequence[Plan]:
    """The first plans of a clause, the same in each run."""
    plans: list[Plan] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    @given(plan=CLAUSES[name].function.hypothesis._given_kwargs["plan"])  # type: ignore[attr-defined]
    def collect(plan: Plan) -> None:
        plans.append(plan)

    collect()
    return plans
