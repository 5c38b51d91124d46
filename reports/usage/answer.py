"""The answer of `affects` as text, JSON, Markdown, SARIF and annotations of a workflow."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from reports.data.strict import FORMAT
from reports.usage.affects import Effect, Finding, open_words
from reports.usage.uses import Use
from reports.verbs import forms

MOST_PLACES = 6
LEVELS = {"silent": "error", "error": "error", "warning": "warning", "none": "note"}


def _places(uses: Iterable[Use]) -> str:
    places = list(dict.fromkeys(use.place for use in uses))
    more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
    return ", ".join(places[:MOST_PLACES]) + more


def spelling(use: Use, *, unsure: bool = True) -> str:
    """Return an API with its options: "register_forward_hook(prepend)", "**" for those that are not known."""
    inside = sorted(use.options) + (["**"] if use.unsure and unsure else [])
    return f"{use.api}({', '.join(inside)})" if inside else use.api


def _names(uses: Iterable[Use]) -> str:
    return ", ".join(sorted({spelling(use) for use in uses}))


def _by_uses(found: Iterable[Finding]) -> dict[tuple[Use, ...], list[Finding]]:
    groups: dict[tuple[Use, ...], list[Finding]] = {}
    for one in found:
        groups.setdefault(one.uses, []).append(one)
    return groups


def as_text(told: Effect) -> str:
    """Return the answer for a terminal."""
    lines = [told.summary]
    for one in told.missing:
        lines += ["", f"{_places(one.uses)}: {_names(one.uses)}", f"  error: {one.words}"]
    for uses, found in _by_uses(told.findings).items():
        lines += ["", f"{_places(uses)}: {_names(uses)}"]
        for one in found:
            first, *rest = one.words
            lines += [f"  {first}  [{one.clause}]", *(f"    {each}" for each in rest)]
            lines += [f"    instead: {one.instead}"] if one.instead else []
    lines += ["", told.count]
    if told.unsure:
        clauses = len({one.clause for one in told.unsure})
        more = forms.counted(clauses, "more", "more")
        lines.append(f"{more} may concern it, by what code does not show (--unsure)")
    return "\n".join(lines) + "\n"


def lines_of(told: Effect) -> list[str]:
    """Return what hangs on data, as lines."""
    lines = []
    for one in told.unsure:
        lines += ["", f"{_places(one.uses)}: {_names(one.uses)}, if {open_words(one)}  [{one.clause}]"]
        lines += [f"  {each}" for each in one.words]
    return lines


def _plain(uses: Iterable[Use]) -> list[dict[str, Any]]:
    return [
        {"file": use.file, "line": use.line, "api": use.api, "options": sorted(use.options), "unsure": use.unsure}
        for use in uses
    ]


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "clause": one.clause,
        "says": one.says,
        "harm": one.harm,
        "spans": [{"from": span.first, "to": span.last, **span.said.plain()} for span in one.spans],
        "instead": one.instead,
        "if": open_words(one),
        "uses": _plain(one.uses),
    }


def as_json(told: Effect) -> str:
    """Return the answer as JSON."""
    return forms.as_json(
        {
            "format": FORMAT,
            "path": told.path,
            "releases": [column.label for column in told.columns],
            "why": told.why,
            "differ": told.differ,
            "clauses": told.clauses,
            "files": told.code.files,
            "skipped": told.code.skipped,
            "uses": _plain(told.code.uses),
            "missing": [
                {"api": one.api, "option": one.option or None, "name": one.name, "from": one.first, "to": one.last,
                 "uses": _plain(one.uses)}
                for one in told.missing
            ],
            "findings": [_finding(one) for one in told.findings],
            "unsure": [_finding(one) for one in told.unsure],
        }
    )  # fmt: skip


def as_markdown(told: Effect) -> str:
    """Return the answer for an issue."""
    lines = [f"**{forms.escaped(told.summary)}**", "", forms.escaped(told.count)]
    if told.missing or told.findings:
        lines += ["", "| at | harm | what differs | instead | clause |", "|---|---|---|---|---|"]
    rows = [(_places(one.uses), "error", one.words, "", "") for one in told.missing]
    rows += [(_places(one.uses), one.harm, "; ".join(one.words), one.instead, one.clause) for one in told.findings]
    for *words, clause in rows:
        lines.append(f"| {' | '.join(map(forms.escaped, words))} | {clause and f'`{clause}`'} |")
    return "\n".join(lines) + "\n"


def _each(told: Effect) -> Iterable[tuple[str, str, str, Use]]:
    """Yield each finding at each place: a rule, its level, what is said, and where."""
    for one in told.missing:
        yield from (("missing." + one.name, "error", one.words, use) for use in one.uses)
    for one in told.findings:
        more = f" Instead: {one.instead}" if one.instead else ""
        yield from ((one.clause, LEVELS[one.harm], "; ".join(one.words) + more, use) for use in one.uses)


def as_sarif(told: Effect) -> str:
    """Return the answer as SARIF 2.1.0."""
    rows = list(_each(told))
    rules = [{"id": name} for name in dict.fromkeys(rule for rule, *_ in rows)]
    results = [
        {
            "ruleId": rule,
            "level": level,
            "message": {"text": text},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": use.file, "uriBaseId": "SRCROOT"},
                        "region": {"startLine": use.line},
                    }
                }
            ],
        }
        for rule, level, text, use in rows
    ]
    driver = {"name": "hook-conformance", "rules": rules}
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}, indent=1) + "\n"


def as_github(told: Effect) -> str:
    """Return the answer as annotations of a workflow."""
    kinds = {"error": "error", "warning": "warning", "note": "notice"}
    lines = [
        f"::{kinds[level]} file={use.file},line={use.line},title={rule}::{text.replace('%', '%25')}"
        for rule, level, text, use in _each(told)
    ]
    return "\n".join(lines) + "\n" if lines else ""


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown, "sarif": as_sarif, "github": as_github}
