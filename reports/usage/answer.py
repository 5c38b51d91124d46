"""The answer of `affects` as text, JSON, Markdown, SARIF and annotations of a workflow."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from reports.data import forms
from reports.data.neighbours import from_to
from reports.data.statements import HARMS
from reports.data.strict import ANSWERS_FORMAT
from reports.usage.affects import Answer, Finding
from reports.usage.uses import Use

MOST_PLACES = 6
#: Of SARIF, and of a workflow.
LEVELS = {"silent": "error", "error": "error", "warning": "warning", "none": "note"}
ANNOTATIONS = {"error": "error", "warning": "warning", "note": "notice"}


def _places(uses: Iterable[Use]) -> str:
    places = list(dict.fromkeys(f"{use.file}:{use.line}" for use in uses))
    more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
    return ", ".join(places[:MOST_PLACES]) + more


def spelling(use: Use, *, unsure: bool = True) -> str:
    """Return an API with its options: "register_forward_hook(prepend)", "**" for those that are not known."""
    inside = [*use.options] + (["**"] if use.unsure and unsure else [])
    return f"{use.api}({', '.join(inside)})" if inside else use.api


def _head(uses: Iterable[Use]) -> str:
    return f"{_places(uses)}: {', '.join(sorted({spelling(use) for use in uses}))}"


def _summary(answer: Answer) -> str:
    """Return the range, and why; how much differs there at all; and how much was read."""
    files = forms.counted(answer.code.files, "file", "files")
    uses = forms.counted(len(answer.code.uses), "use", "uses")
    differ = f"{answer.differ} of {answer.clauses} clauses differ there at all"
    where = from_to(answer.columns[0].label, answer.columns[-1].label)
    return f"torch {where}, {answer.why}; {differ}; {files}, {uses} of hooks"


def _count(answer: Answer) -> list[str]:
    """Return how many differences are reported, and how many are only counted, as lines."""
    number = forms.counted(len(answer.findings), "difference concerns it", "differences concern it")
    worst = HARMS[min((one.rank for one in answer.findings), default=0)]
    lines = [f"{number}, worst: {worst}" if answer.findings else "nothing that it uses differs"]
    more = len({one.clause for one in answer.unsure})
    return lines + [f"{more} more may concern it, by what code does not show (--unsure)"] * bool(more)


def as_text(answer: Answer) -> str:
    """Return the answer for a terminal."""
    lines = [_summary(answer)]
    groups: dict[tuple[Use, ...], list[Finding]] = {}
    for one in answer.findings:
        groups.setdefault(one.uses, []).append(one)
    for uses, found in groups.items():
        lines += ["", _head(uses)]
        for one in found:
            first, *rest = one.words
            lines += [f"  {first}  [{one.clause}]", *(f"    {each}" for each in rest)]
            lines += [f"    instead: {one.instead}"] if one.instead else []
    return "\n".join([*lines, "", *_count(answer)]) + "\n"


def lines_of(answer: Answer) -> list[str]:
    """Return what may concern the code, as lines."""
    lines = []
    for one in answer.unsure:
        lines += ["", f"{_head(one.uses)}, if {one.condition}  [{one.clause}]", *(f"  {each}" for each in one.words)]
    return lines


def _plain(uses: Iterable[Use]) -> list[dict[str, Any]]:
    return [
        {"file": use.file, "line": use.line, "api": use.api, "options": [*use.options], "unsure": use.unsure}
        for use in uses
    ]


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "clause": one.clause,
        "says": one.says,
        "harm": HARMS[one.rank],
        "spans": [{"from": span.first, "to": span.last, **span.said.plain()} for span in one.spans],
        "instead": one.instead,
        "if": one.condition,
        "uses": _plain(one.uses),
    }


def as_json(answer: Answer) -> str:
    """Return the answer as JSON."""
    return forms.as_json(
        {
            "format": ANSWERS_FORMAT,
            "path": answer.path,
            "releases": [column.label for column in answer.columns],
            "why": answer.why,
            "differ": answer.differ,
            "clauses": answer.clauses,
            "files": answer.code.files,
            "skipped": answer.code.skipped,
            "uses": _plain(answer.code.uses),
            "findings": [_finding(one) for one in answer.findings],
            "unsure": [_finding(one) for one in answer.unsure],
        }
    )


def as_markdown(answer: Answer) -> str:
    """Return the answer for an issue."""
    lines = [f"**{forms.escaped(_summary(answer))}**", "", *map(forms.escaped, _count(answer))]
    if answer.findings:
        lines += ["", "| at | harm | what differs | instead | clause |", "|---|---|---|---|---|"]
    for one in answer.findings:
        words = (_places(one.uses), HARMS[one.rank], "; ".join(one.words), one.instead)
        lines.append(f"| {' | '.join(map(forms.escaped, words))} | `{one.clause}` |")
    return "\n".join(lines) + "\n"


def _each(answer: Answer) -> Iterable[tuple[str, str, str, Use]]:
    """Yield each finding at each place: the clause, the level, what is said, and where."""
    for one in answer.findings:
        more = f" Instead: {one.instead}" if one.instead else ""
        yield from ((one.clause, LEVELS[HARMS[one.rank]], "; ".join(one.words) + more, use) for use in one.uses)


def as_sarif(answer: Answer) -> str:
    """Return the answer as SARIF 2.1.0."""
    results = []
    for rule, level, text, use in _each(answer):
        place = {
            "artifactLocation": {"uri": use.file, "uriBaseId": "SRCROOT"},
            "region": {"startLine": use.line},
        }
        where = [{"physicalLocation": place}]
        results.append({"ruleId": rule, "level": level, "message": {"text": text}, "locations": where})
    rules = [{"id": name} for name in dict.fromkeys(one.clause for one in answer.findings)]
    driver = {"name": "hook-conformance", "rules": rules}
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}, indent=1) + "\n"


def as_github(answer: Answer) -> str:
    """Return the answer as annotations of a workflow."""
    return "".join(
        f"::{ANNOTATIONS[level]} file={use.file},line={use.line},title={rule}::{text.replace('%', '%25')}\n"
        for rule, level, text, use in _each(answer)
    )


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown, "sarif": as_sarif, "github": as_github}
