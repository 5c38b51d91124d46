"""The difference between two torches as text, JSON and Markdown, and the verb that asks for it."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from fixtures.clause.clause import EFFECTS
from fixtures.run.naming import READERS, REPORTS
from reports.data import forms
from reports.data.forms import escaped, fenced
from reports.data.neighbours import from_to
from reports.data.scope import LINE, SCOPE
from reports.data.statements import KINDS, WORDS, in_contrast
from reports.data.strict import ANSWERS_FORMAT, BadInput
from reports.data.traces import side_by_side
from reports.data.verdicts import VERDICTS, read_recorded, read_table
from reports.page.programs import asked_by
from reports.verbs import on_target
from reports.verbs.choice import CLAUSES, add_choice, choose, left_out
from reports.verbs.diff import Change, Diff, Passing, Side, compare
from reports.verbs.verb import add_verb

USUAL = "warning"
PASSING = "come and go between the two"
BESIDES = "the same within what the sentence promises, and not beyond it"
EPILOG = f"""{CLAUSES}
exit status: 0 nothing has the effect of --min-effect or a worse one, 1 something has, 2 the question cannot be
answered: there is no such thing, or none of the clauses is measured on both; what comes and goes between
the two does not count.
example: python -m reports diff 1.13 2.15 --api register_hook --min-effect error"""


def bad(one: Change | Passing, effect: str) -> bool:
    """Say whether a change does at least this, one of EFFECTS; "none" counts every change."""
    return effect == "none" or one.kind in EFFECTS[: EFFECTS.index(effect) + 1]


def above(diff: Diff, effect: str) -> Diff:
    """Return the difference with only what does at least this."""
    changes, passing = (tuple(one for one in every if bad(one, effect)) for every in (diff.changes, diff.passing))
    return replace(diff, changes=changes, passing=passing)  # type: ignore[arg-type]


def _by_kind(diff: Diff) -> list[tuple[str, list[Change]]]:
    groups = [(title, [one for one in diff.changes if one.kind == kind]) for kind, title in KINDS.items()]
    return [(title, changes) for title, changes in groups if changes]


def _since(diff: Diff, change: Change) -> str:
    """Return "since 2.0": where what is there on the second side began, or ended where that is the older one."""
    plain = change.since.removeprefix("≤")
    if not plain:
        return forms.torch_of(diff.after)
    unsure = plain != change.since
    if change.back:
        return f"up to {plain}" + " or later" * unsure
    return f"since {plain}" + " or earlier" * unsure


def as_text(diff: Diff) -> str:
    """Return the difference for a terminal."""
    lines = [f"{forms.torch_of(diff.before)} -> {diff.after}: {_summary(diff)}"]
    for title, changes in _by_kind(diff):
        lines += ["", f"{title} ({len(changes)})"]
        if changes[0].kind == "added":  # they break no code: in one line each
            lines += ["", *(f"{one.clause}  {_since(diff, one)}: {one.after.statement.words}" for one in changes)]
            continue
        for change in changes:
            before, after = in_contrast(change.before.statement, change.after.statement)
            lines += [
                "",
                change.clause,
                *(f"  {line}" for line in change.record.hints),
                f"  + {_since(diff, change)}: {after}",
                f"  - {forms.torch_of(diff.before)}: {before}",
            ]
            for torch, evidence in _evidence(diff, change):
                lines += [
                    f"  on {forms.torch_of(torch)}:",
                    *(f"    {line}" for line in evidence["plan"].split("\n") if line),
                ]
                lines += [f"    {line}" for line in side_by_side(evidence["expected"], evidence["observed"])]
    lines += ["", f"a program that shows what each side does: {asked_by('CLAUSE')}"] * bool(diff.changes)
    if diff.passing:
        lines += ["", f"{PASSING} ({len(diff.passing)})"]
    for one in diff.passing:
        lines += ["", one.clause, f"    on both: {one.ends.statement.words}"]
        lines += [f"    {from_to(first, last)}: {side.statement.words}" for first, last, side in one.inside]
    if diff.besides:
        lines += ["", BESIDES, "", *(f"  {line}" for line in _besides(diff))]
    return "\n".join([*lines, *left_out(diff.left_out), "", SCOPE]) + "\n"


def as_json(diff: Diff) -> str:
    """Return the difference as JSON."""
    document = {
        "format": ANSWERS_FORMAT,
        "before": diff.before,
        "after": diff.after,
        "same": diff.same,
        "unseen": diff.unseen,
        "left_out": diff.left_out,
        "scope": LINE,
        "changes": [
            {
                "clause": change.clause,
                "mode": change.mode,
                "to_mode": change.to_mode,
                "kind": change.kind,
                "says": change.record.says,
                **change.record.limited,
                "since": change.since,
                "before": _plain(change.before),
                "after": _plain(change.after),
            }
            for change in diff.changes
        ],
        "passing": [
            {
                "clause": one.clause,
                "mode": one.mode,
                "kind": one.kind,
                "says": one.record.says,
                **one.record.limited,
                "ends": _plain(one.ends),
                "inside": [{"from": first, "to": last, **_plain(side)} for first, last, side in one.inside],
            }
            for one in diff.passing
        ],
        "besides": dict(diff.besides),
    }
    return json.dumps(document, indent=1) + "\n"


def as_markdown(diff: Diff) -> str:
    """Return the difference as a table for an issue or a pull request."""
    lines = [f"**{escaped(forms.torch_of(diff.before))} → {escaped(diff.after)}**: {_summary(diff)}", ""]
    for title, changes in _by_kind(diff):
        lines += [f"### {title[0].upper() + title[1:]} ({len(changes)})", ""]
        lines += ["| clause | now | from where | before |", "|---|---|---|---|"]
        for change in changes:
            before, after = in_contrast(change.before.statement, change.after.statement)
            row = (after, _since(diff, change), before)
            name = "<br>".join([f"`{change.clause}`", *map(escaped, change.record.hints)])
            lines.append(f"| {name} | {' | '.join(map(escaped, row))} |")
        lines.append("")
        for change in changes:
            for torch, evidence in _evidence(diff, change):
                what = "plan and traces" if evidence["plan"] else "traces"
                lines += [
                    "<details>",
                    f"<summary>{change.clause} on {escape(forms.torch_of(torch))}: {what}</summary>",
                    "",
                ]
                lines += fenced(evidence["plan"]) if evidence["plan"] else []
                lines += fenced("\n".join(side_by_side(evidence["expected"], evidence["observed"])), "text")
                lines += ["", "</details>", ""]
    lines += [f"A program that shows what each side does: `{asked_by('CLAUSE')}`", ""] * bool(diff.changes)
    if diff.passing:
        lines += [f"### {PASSING[0].upper() + PASSING[1:]} ({len(diff.passing)})", ""]
        lines += ["| clause | on both | between |", "|---|---|---|"]
    for one in diff.passing:
        between = [f"{from_to(first, last)}: {side.statement.words}" for first, last, side in one.inside]
        row = f"{escaped(one.ends.statement.words)} | {'<br>'.join(map(escaped, between))}"
        lines.append(f"| `{one.clause}` | {row} |")
    if diff.besides:
        lines += [f"### {BESIDES[0].upper() + BESIDES[1:]}", "", *(f"- {escaped(line)}" for line in _besides(diff))]
    return "\n".join([*lines, *left_out(diff.left_out)]) + "\n"


def _besides(diff: Diff) -> list[str]:
    return [f"{text} ({forms.counted(count, 'clause', 'clauses')})" for text, count in diff.besides.items()]


def _evidence(diff: Diff, change: Change) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each side that has traces to show, with its name."""
    for torch, side in ((diff.before, change.before), (diff.after, change.after)):
        evidence = side.cell.evidence
        if evidence is not None and any(side.cell.traces or ()):
            yield torch, evidence


def _plain(side: Side) -> dict[str, Any]:
    cell = side.cell
    return {
        **cell.plain,
        "evidence": dict(cell.evidence) if cell.evidence is not None else None,
        **side.statement.plain(),
    }


def _summary(diff: Diff) -> str:
    kinds = Counter(change.kind for change in diff.changes)
    counts = ", ".join(f"{kinds[kind]} {WORDS[kind]}" for kind in KINDS if kinds[kind])
    unseen = f", {diff.unseen} not measured on both" if diff.unseen else ""
    cells = forms.counted(len(diff.changes) + diff.same, "clause", "clauses")
    return (
        forms.counted(len(diff.changes), f"of {cells} differs", f"of {cells} differ")
        + f" ({counts})" * bool(counts)
        + unseen
    )


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = add_verb(
        sub,
        "diff",
        run,
        "what an upgrade changes, worst first",
        EPILOG,
        "Show what is different between two torches, worst first, with both statements and since when.",
    )
    parser.add_argument("before", nargs="?", metavar="A", help="a recorded minor version or a run file")
    parser.add_argument("after", nargs="?", metavar="B", help="a recorded minor version or a run file")
    parser.add_argument("--target", metavar="NAME", help=on_target.HELP % "compare its release with")
    add_choice(parser)
    parser.add_argument("--mode", help="the mode of execution (default: that of a run file, or eager)")
    parser.add_argument("--to-mode", metavar="MODE", help="the mode of the second one, if it is another")
    parser.add_argument(
        "--min-effect",
        choices=EFFECTS,
        help=f"show and count only what does this or worse (default: show all, count from {USUAL} on)",
    )
    forms.add_format(parser, FORMS)
    parser.add_argument("--verdicts", type=Path, default=VERDICTS, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Print the difference; 1 when something in it breaks code, 2 where nothing could be compared."""
    if args.target is not None:
        return on_target.diff(args)
    if args.after is None:
        raise BadInput(READERS, "diff", "two torches are compared, A and B", f"see {REPORTS} diff --help")
    table, recorded = read_table(args.verdicts), read_recorded(args.verdicts)
    found = compare(
        args.before, args.after, table, recorded, args.mode, args.to_mode, lambda clauses: choose(clauses, args)
    )
    forms.show(above(found, args.min_effect) if args.min_effect else found, FORMS, args.format)
    if found.unseen and not (found.changes or found.same):
        return 2
    return 1 if any(bad(change, args.min_effect or USUAL) for change in found.changes) else 0
