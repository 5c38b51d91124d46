"""What the self-check asks of all clauses at once."""

from fixtures.judge.clause import Clause
from suites.examples import import_suites

__all__ = ["draws_plans", "import_suites"]


def draws_plans(clause: Clause) -> bool:
    """Whether what a clause draws is a plan: a miniature can play those, and nothing else."""
    return clause.plays
