"""The answer of `affects` as text, JSON, Markdown, SARIF and annotations of a workflow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import quote

from fixtures.clause.clause import EFFECTS
from reports.data import forms
from reports.data.neighbours import from_to
from reports.data.strict import ANSWERS_FORMAT
from reports.usage.affects import Affected, Finding
from reports.usage.uses import Use

MOST_PLACES = 6
SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#: Of SARIF, and of a workflow.
LEVELS = {"silent": "error", "error": "error", "warning": "warning", "none": "note"}
#: Who meets a finding, in words: of `Finding.when`.
WHEN = {
    "upgrade": "an upgrade breaks or changes this",
    "older": "missing or wrong on older releases only",
    "mode": "otherwise than in eager",
}
ANNOTATIONS = {"error": "error", "warning": "warning", "note": "notice"}


def _places(uses: Iterable[Use]) -> str:
    places = [*dict.fromkeys(use.place for use in sorted(uses, key=lambda one: one.order))]
    left = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
    return ", ".join(places[:MOST_PLACES]) + left


def spelling(use: Use, *, unsure: bool = True) -> str:
    """Return an API with its options: "register_forward_hook(prepend)", "**" for those that are not known."""
    inside = [*use.options] + (["**"] if use.unsure and unsure else [])
    return f"{use.api}({', '.join(inside)})" if inside else use.api


def heading(uses: Iterable[Use]) -> str:
    """Return the places of uses, and the APIs that are used there."""
    return f"{_places(uses)}: {', '.join(sorted({spelling(use) for use in uses}))}"


def _summary(answer: Affected) -> str:
    """Return the range, and why; how much differs there at all; and how much was read."""
    files = forms.counted(answer.code.sources.files, "file", "files")
    uses = forms.counted(len(answer.code.uses), "use", "uses")
    counts = answer.counts
    differ = f"{counts.differ} of {forms.counted(counts.clauses, 'clause', 'clauses')} differ there at all"
    differ += f" ({counts.new} new API)" * bool(counts.new)
    differ += f", {counts.passing} {'come and go' if counts.passing > 1 else 'comes and goes'} between" * bool(
        counts.passing
    )
    where = from_to(answer.columns[0].label, answer.columns[-1].label)
    return f"torch {where}, {answer.why}; {differ}; {files}, {uses} of hooks"


def _by_when(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    """Return the findings by who meets them, with the words for it; not what is empty."""
    every = [*findings]
    groups = [(words, [one for one in every if one.when == when]) for when, words in WHEN.items()]
    return [(words, some) for words, some in groups if some]


def _count(answer: Affected) -> list[str]:
    """Return how many differences are reported, and how many are only counted, as lines."""
    number = forms.counted(len(answer.findings), "difference concerns it", "differences concern it")
    worst = EFFECTS[min((one.rank for one in answer.findings), default=0)]
    parts = "".join(f"; {words}: {len(some)}" for words, some in _by_when(answer.findings))
    missed = sum(len(one.uses) for one in answer.unmeasured)
    nothing = "nothing that it uses" + " and was measured" * bool(missed) + " differs"
    nothing += f" in {answer.mode}, as assumed above" if answer.mode else ""
    lines = [f"{number}, worst: {worst}{parts}" if answer.findings else nothing]
    lines += [forms.counted(missed, "use is", "uses are") + f" not measured in {answer.mode}"] * bool(missed)
    more = len({one.clause for one in answer.unsure})
    how = "" if answer.listed else " (--unsure lists them)"
    lines += [f"{more} more may concern it, by what code does not show{how}"] * bool(more)
    if answer.mode and not answer.listed:
        cases = Counter(replace(one, open=one.open[:1]).condition for one in answer.unsure).most_common()
        lines += [f"  where {case}: {number}" for case, number in cases[:MOST_PLACES]]
        others = forms.counted(len(cases) - MOST_PLACES, "other thing is", "other things are")
        lines += [f"  and where {others} so"] * (len(cases) > MOST_PLACES)
    return lines


def _said(answer: Affected) -> list[str]:
    """Return of a mode what was assumed, and the last lines."""
    return [*answer.assumed, *_count(answer)] if answer.mode else []


def _not_measured(answer: Affected) -> Iterator[tuple[str, Use]]:
    """Yield what was not measured at each place."""
    for one in answer.unmeasured:
        for use in one.uses:
            place = f"{use.place}: " * bool(use.cell)
            yield f"{place}{one.api} is not measured in {answer.mode} on torch {one.on}", use


def as_text(answer: Affected) -> str:
    """Return the answer for a terminal."""
    lines = [_summary(answer), *answer.assumed]
    for when, findings in _by_when(answer.findings):
        lines += ["", f"{when} ({len(findings)})"]
        for uses in dict.fromkeys(one.uses for one in findings):
            lines += ["", heading(uses)]
            for one in (each for each in findings if each.uses == uses):
                first, *rest = one.words
                lines += [f"  {first}  [{one.clause}]", *(f"    {each}" for each in rest)]
                lines += [f"    instead: {one.instead}"] if one.instead else []
    if answer.unmeasured:
        lines += ["", f"not measured in {answer.mode} ({len(answer.unmeasured)})", ""]
        lines += [f"{heading(one.uses)}, on torch {one.on}" for one in answer.unmeasured]
    lines += ["", *_count(answer)]
    for when, findings in _by_when(answer.unsure if answer.listed else ()):
        lines += ["", f"by what code does not show, {when} ({len(findings)})"]
        for one in findings:
            head = f"{heading(one.uses)}  [{one.clause}]"
            lines += ["", head, f"  if {one.condition}:", *(f"  {each}" for each in one.words)]
    return "\n".join(lines) + "\n"


def plain(uses: Iterable[Use]) -> list[dict[str, Any]]:
    """Return uses as plain data."""
    return [
        {"file": use.file, "line": use.line, "api": use.api, "options": [*use.options], "unsure": use.unsure}
        | ({"cell": use.cell} if use.cell else {})
        for use in uses
    ]


def as_json(answer: Affected) -> str:
    """Return the answer as JSON."""
    code = answer.code
    findings, unsure = (
        [
            {"clause": one.clause, "says": one.says, "effect": EFFECTS[one.rank], "when": one.when}
            | {"spans": [{"from": span.first, "to": span.last, **span.said.plain()} for span in one.spans]}
            | {"instead": one.instead, "if": one.condition, "uses": plain(one.uses)}
            for one in some
        ]
        for some in (answer.findings, answer.unsure)
    )
    labels = [column.label for column in answer.columns]
    missed = [{"api": one.api, "on": one.on, "uses": plain(one.uses)} for one in answer.unmeasured]
    mode = {"mode": answer.mode, "assumed": [*answer.assumed], "unmeasured": missed} if answer.mode else {}
    return forms.as_json(
        {"format": ANSWERS_FORMAT, "path": answer.path, "releases": labels, "why": answer.why}
        | asdict(answer.counts)
        | {"files": code.sources.files}
        | {"skipped": code.sources.skipped, "uses": plain(code.uses), "findings": findings, "unsure": unsure}
        | mode
    )


def as_markdown(answer: Affected) -> str:
    """Return the answer for an issue."""
    lines = [f"**{forms.escaped(_summary(answer))}**", ""]
    lines += [f"* {forms.escaped(each)}" for each in (*answer.assumed, *_count(answer))]
    for more, found in (("instead", answer.findings), ("if", answer.unsure if answer.listed else ())):
        lines += (
            ["", f"| at | effect | when | what differs | {more} | clause |", "|---|---|---|---|---|---|"]
            if found
            else []
        )
        for one in found:
            words = (
                _places(one.uses),
                EFFECTS[one.rank],
                WHEN[one.when],
                "; ".join(one.words),
                one.condition or one.instead,
            )
            lines.append(f"| {' | '.join(map(forms.escaped, words))} | `{one.clause}` |")
    if answer.unmeasured:
        lines += ["", f"| not measured in {answer.mode} | at | torch |", "|---|---|---|"]
        rows = ((f"`{one.api}`", forms.escaped(_places(one.uses)), one.on) for one in answer.unmeasured)
        lines += [f"| {' | '.join(row)} |" for row in rows]
    left_out = [f"* left out: {forms.escaped(each)}" for each in answer.code.sources.skipped]
    return "\n".join([*lines, *[""] * bool(left_out), *left_out]) + "\n"


def _each(answer: Affected) -> Iterator[tuple[Finding, str, str, Use]]:
    """Yield each finding at each place: the level, what is said, and where; what is unsure is a note."""
    for one in (*answer.findings, *(answer.unsure if answer.listed else ())):
        more = f" Instead: {one.instead}" if one.instead else ""
        where = f"If {one.condition}: " if one.open else ""
        level = "note" if one.open else LEVELS[EFFECTS[one.rank]]
        for use in one.uses:
            yield (
                one,
                level,
                (f"{use.place}: " if use.cell else "") + where + "; ".join(one.words) + f" ({WHEN[one.when]})." + more,
                use,
            )


def _located(use: Use) -> list[dict[str, Any]]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(use.file), "uriBaseId": "SRCROOT"}}
    if not use.cell:  # the file of a notebook has other lines than its cells
        place["region"] = {"startLine": use.line, "startColumn": use.column + 1}
    return [{"physicalLocation": place}]


def as_sarif(answer: Affected) -> str:
    """Return the answer as SARIF 2.1.0."""
    rules = {one.clause: {"id": one.clause, "shortDescription": {"text": one.says}} for one, *_ in _each(answer)}
    results = []
    for one, level, text, use in _each(answer):
        rule = {"ruleId": one.clause, "ruleIndex": [*rules].index(one.clause), "level": level}
        results.append(rule | {"message": {"text": text}, "locations": _located(use)})
    notes = [{"level": "warning", "message": {"text": f"left out: {each}"}} for each in answer.code.sources.skipped]
    notes += [{"level": "note", "message": {"text": each}} for each in _said(answer)]
    notes += [
        {"level": "warning", "message": {"text": text}, "locations": _located(use)}
        for text, use in _not_measured(answer)
    ]
    run = {
        "tool": {"driver": {"name": "hook-conformance", "rules": [*rules.values()]}},
        "originalUriBaseIds": {"SRCROOT": {"uri": answer.code.root.as_uri().rstrip("/") + "/"}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return forms.as_json({"$schema": SARIF, "version": "2.1.0", "runs": [run]})


def as_github(answer: Affected) -> str:
    """Return the answer as annotations of a workflow."""
    every = [(level, one.clause, text, use) for one, level, text, use in _each(answer)]
    every += [("warning", "not measured", text, use) for text, use in _not_measured(answer)]
    lines = []
    for level, title, text, use in every:
        lines.append(annotation(ANNOTATIONS[level], use, title, text))
    lines += [f"::notice::{_escaped(each)}\n" for each in _said(answer)]
    lines += [f"::warning::{_escaped(f'left out: {each}')}\n" for each in answer.code.sources.skipped]
    return "".join(lines)


def annotation(level: str, use: Use, title: str, text: str) -> str:
    """Return an annotation of a workflow at a use."""
    where = {"file": use.file, **({} if use.cell else {"line": str(use.line)}), "title": title}
    given = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in where.items())
    return f"::{level} {given}::{_escaped(text)}\n"


def _escaped(text: str, more: str = "") -> str:
    """Return text as a command of a workflow takes it: "%" first, and ":" and "," in what is in front."""
    for sign in "%\r\n" + more:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown, "sarif": as_sarif, "github": as_github}
