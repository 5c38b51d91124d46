"""What people see, and its usual causes: each is a clause, or a program in reports/why where no clause speaks of it."""

from __future__ import annotations

from pathlib import Path

from reports.symptoms.symptom import Symptom, UsualCause
from reports.symptoms.symptoms import SYMPTOMS

PROGRAMS = Path(__file__).parents[1] / "why"


def program(name: str) -> str:
    """Return the text of a program."""
    return (PROGRAMS / name).read_text(encoding="utf-8")


def symptoms() -> list[tuple[Symptom, list[tuple[UsualCause, str]]]]:
    """Return the symptoms with their causes, each with its program or nothing."""
    return [
        (one, [(cause, program(cause.program) if cause.program else "") for cause in one.causes]) for one in SYMPTOMS
    ]
