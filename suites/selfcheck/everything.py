"""Imports every topic file, so that all clauses are known."""

import importlib
import pathlib

from fixtures.clause import Clause

SUITES = pathlib.Path(__file__).resolve().parent.parent
APART = ("selfcheck", "timing")


def import_suites() -> None:
    """Import suites/<chapter>/test_<topic>.py for every chapter."""
    for path in sorted(SUITES.glob("*/test_*.py")):
        if path.parent.name not in APART:
            importlib.import_module(f"suites.{path.parent.name}.{path.stem}")


def draws_plans(clause: Clause) -> bool:
    """Whether what a clause draws is a plan: a miniature can play those, and nothing else."""
    return clause.draws and "plan" in clause.function.hypothesis._given_kwargs  # type: ignore[attr-defined]
