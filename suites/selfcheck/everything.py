"""Imports every topic file, so that all clauses are known."""

import importlib
import pathlib

SUITES = pathlib.Path(__file__).resolve().parent.parent
APART = ("selfcheck", "timing")


def import_suites() -> None:
    """Import suites/<chapter>/test_<topic>.py for every chapter."""
    for path in sorted(SUITES.glob("*/test_*.py")):
        if path.parent.name not in APART:
            importlib.import_module(f"suites.{path.parent.name}.{path.stem}")
