"""Clauses and mutants of the model: which mutant a clause that draws plans rejects."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hypothesis.errors import UnsatisfiedAssumption

from fixtures.clause.clause import CLAUSES, Clause
from fixtures.judge.subject import Playable, Subject
from fixtures.model.contract import contract_for, installed_version, with_facts
from fixtures.model.module import expect
from fixtures.stages.stage import missing
from suites.selfcheck.all_clauses import import_suites
from suites.selfcheck.mutants.mutate import Hung, Mutant, at_most

import_suites()
VERSION = installed_version()
CONTRACT = contract_for(VERSION)
#: Those of `programs` are not judged by the model: mutants of what they are compared with are in `selfcheck/programs`.
DRAWING = sorted(
    name for name, one in CLAUSES.items() if one.played and not missing(one.needs) and not name.startswith("programs.")
)
#: Plans of each clause; the second number where the first plans show nothing.
PLANS = (15, 60)
#: Processor seconds for one play, which takes some thousandths.
PATIENCE = 1.0
RECORD = Path(__file__).with_name("rejected.json")
#: clause -> the mutant of the model that it rejects and few others do.
REJECTED: dict[str, str] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}


def passes(clause: Clause, plan: Playable, stage: Callable[[Any], Any]) -> bool:
    """Whether the clause's own test passes when `stage` plays the plan in place of torch."""
    subject = Subject("model", "cpu", VERSION, CONTRACT, clause.reading_for(VERSION), stage)
    try:
        clause.test()(subject=subject, **{clause.played: plan})
    except UnsatisfiedAssumption:
        return True
    except (Exception, Hung):  # noqa: BLE001 - a mutant may raise anything, a broken trace too
        return False
    return True


def accepts(clause: Clause, plans: Sequence[Playable], mutant: Mutant | None = None) -> bool:
    """Whether a clause's test passes for all of these plans on the model, or on a mutant of it."""
    facts = with_facts(CONTRACT, dict(clause.reading_for(VERSION).facts))

    def stage(plan: Playable) -> Any:
        if mutant is None:
            return expect(plan, facts)
        with at_most(PATIENCE), mutant.on():
            return expect(plan, facts)

    return all(passes(clause, plan, stage) for plan in plans)
