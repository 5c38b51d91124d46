"""The answers of `run --for` as text, JSON and annotations of a workflow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fixtures.run.naming import REPORTS
from reports.data import forms
from reports.data.clause import Clauses
from reports.data.strict import ANSWERS_FORMAT
from reports.relied.alarm import Alarm, Alarms
from reports.relied.choice import Relied, in_order
from reports.usage.answer import annotation, heading, plain

LACKS = "torch has no {}: ask for a release that has it, or guard the call"


def as_text(answer: Alarms) -> str:
    """Return the alarms for a terminal, in the order of the code."""
    lines = [answer.summary]
    for name, uses in answer.missing.items():
        lines += ["", heading(uses), f"  {LACKS.format(name)}"]
    for uses in dict.fromkeys(one.uses for one in answer.alarms):
        lines += ["", heading(uses)]
        first, *rest = (each for each in answer.alarms if each.uses == uses)
        lines += [
            f"  relies on {first.clause.id}: {first.clause.says}",
            *(f"    {each}" for each in first.clause.hints),
        ]
        lines += [f"    {first.words}", *[f"    script: {first.script}"] * bool(first.script)]
        lines += [f"  and on {_more(rest)} (--format json has what each says)"] * bool(rest)
    if answer.others:
        number = forms.counted(answer.others, "other clause fails", "other clauses fail")
        lines += ["", f"{number}, with hooks that your code does not register so: {REPORTS} triage"]
    return "\n".join(lines) + "\n"


def _more(rest: Sequence[Alarm]) -> str:
    """Return how many clauses fail besides the first one; what they say may concern the lines less."""
    return forms.counted(len(rest), "other clause", "other clauses")


def as_json(answer: Alarms) -> str:
    """Return the alarms as JSON."""
    found = [
        {"clause": one.clause.id, "says": one.clause.says, "mode": one.mode, "does": one.does, "changed": one.changed}
        | {"level": one.clause.level, "script": one.script, "uses": plain(one.uses)}
        for one in answer.alarms
    ]
    missing = [{"api": name, "uses": plain(uses)} for name, uses in answer.missing.items()]
    return forms.as_json(
        {"format": ANSWERS_FORMAT, "torch": answer.torch, "clauses": answer.judged, "others": answer.others}
        | {"missing": missing, "alarms": found}
    )


def as_github(answer: Alarms) -> str:
    """Return the alarms as annotations of a workflow, one a use, and the summary."""
    lines = [
        annotation("error", use, f"missing.{name}", LACKS.format(name))
        for name, uses in answer.missing.items()
        for use in uses
    ]
    for uses in dict.fromkeys(one.uses for one in answer.alarms):
        first, *rest = (one for one in answer.alarms if one.uses == uses)
        says = f"relies on {first.clause.id}: {first.clause.says} {first.words}"
        says += f"; and on {_more(rest)}" if rest else ""
        lines += [annotation("error", use, first.clause.id, says) for use in uses]
    return "".join(lines) + answer.summary + "\n"


FORMS = {"text": as_text, "json": as_json, "github": as_github}


def listed(given: tuple[Relied, Clauses]) -> str:
    """Return the clauses that were chosen, those about the same uses together."""
    asked, clauses = given
    lines = [forms.counted(len(asked.clauses), "clause", "clauses") + f" for torch {asked.version}"]
    for uses, names in in_order(asked):
        lines += ["", heading(uses)]
        for name in names:
            why = "".join(f", {each}" for each in asked.named.why(clauses[name]))
            lines.append(f"  {name}: {clauses[name].says}" + (f" (for{why[1:]})" if why else ""))
    return "\n".join(lines) + "\n"


def listed_as_json(given: tuple[Relied, Clauses]) -> str:
    """Return the same as JSON."""
    asked, clauses = given
    found: list[dict[str, Any]] = [
        {"clause": name, "says": clauses[name].says, "ways": asked.named.why(clauses[name]), "uses": plain(uses)}
        for name, uses in asked.clauses.items()
    ]
    return forms.as_json(
        {"format": ANSWERS_FORMAT, "torch": str(asked.version), "ways": asked.named.ways()} | {"clauses": found}
    )


LISTS = {"text": listed, "json": listed_as_json}
