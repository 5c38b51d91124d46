"""`rely --target` and `diff --target`: what a recorded target does, by itself, and next to its own torch release."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from fixtures.run.naming import READERS, REPORTS
from reports.data import forms
from reports.data.claims import sentences
from reports.data.order import order
from reports.data.scope import LINE, SCOPE
from reports.data.strict import ANSWERS_FORMAT, BadInput
from reports.data.verdicts import read_recorded, read_table
from reports.record.on_target import GROUPS, Told, from_release, told
from reports.record.targets import target_named
from reports.verbs.choice import choose, left_out

HELP = "%s a recorded target instead: a backend, a device, a dtype or a wrapper, by the name of its file"


@dataclass(frozen=True)
class Answer:
    """What is said of a target: a line, and clauses in groups, each with what its release does where that was asked."""

    target: str
    summary: str
    rows: tuple[tuple[Told, str], ...]
    counts: Mapping[str, int]
    left_out: int

    def groups(self) -> Iterator[tuple[str, list[tuple[Told, str]]]]:
        """Yield the groups that have clauses, the worst first."""
        places = list(GROUPS)
        rows = sorted(self.rows, key=lambda row: places.index(row[0].group))
        for group, found in groupby(rows, key=lambda row: row[0].group):
            one = list(found)
            yield f"{GROUPS[group][len(one) > 1]} ({len(one)})", one


def as_text(answer: Answer) -> str:
    """Return the answer for a terminal."""
    lines = [answer.summary]
    for title, rows in answer.groups():
        lines += ["", title]
        for one, release in rows:
            lines += [f"  {one.clause}  {one.says}", *(f"    {line}" for line in one.record.hints)]
            lines += [f"    its release: {release}"] if release else []
    return "\n".join([*lines, *left_out(answer.left_out), "", SCOPE]) + "\n"


def as_json(answer: Answer) -> str:
    """Return the answer as JSON."""
    clauses = [
        {"clause": one.clause, "group": one.group, "verdict": one.verdict, "says": one.says, "release": release}
        for one, release in answer.rows
    ]
    known = {"format": ANSWERS_FORMAT, "target": answer.target, "says": answer.summary, "counts": dict(answer.counts)}
    return forms.as_json({**known, "left_out": answer.left_out, "scope": LINE, "clauses": clauses})


def as_markdown(answer: Answer) -> str:
    """Return the answer as tables."""
    lines = [f"**{forms.escaped(answer.summary)}**"]
    for title, rows in answer.groups():
        lines += ["", f"### {forms.begun(title)}", "", "| clause | there | its release |", "|---|---|---|"]
        cells = ((one.clause, forms.escaped(one.says), forms.escaped(release)) for one, release in rows)
        lines += [f"| `{clause}` | {says} | {release} |" for clause, says, release in cells]
    return "\n".join([*lines, *left_out(answer.left_out), "", SCOPE]) + "\n"


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def only(args: argparse.Namespace, **options: str) -> None:
    """Raise BadInput for an option that asks for something else than a target has."""
    for name, option in options.items():
        if getattr(args, name):
            fault = f"--target asks about one torch, measured in eager, and {option} about another"
            raise BadInput(READERS, "", fault, f"leave {option} out")


def rely(args: argparse.Namespace) -> int:
    """Print what may be relied on on a target; 1 where something is known not to be so, 2 where nothing is known."""
    only(args, first="--from", last="--to", mode="--mode", words="--with", runs="--run")
    target = target_named(args.target, args.verdicts)
    clauses = sentences(read_table(args.verdicts).clauses)
    choice = choose(clauses, args)
    chosen = sorted(choice.clauses, key=lambda name: order(clauses[name]))
    rows = told(target, clauses, chosen)
    counts = Counter(one.group for one in rows)
    words = ", ".join(forms.counted(counts[group], *GROUPS[group]) for group in reversed(GROUPS) if counts[group])
    summary = f"{target.words}: of {forms.counted(len(rows), 'clause', 'clauses')} {words}{target.without}"
    forms.show(
        Answer(target.name, summary, tuple((one, "") for one in rows), counts, choice.left_out), FORMS, args.format
    )
    if counts["holds"] == len(rows):
        return 0
    return 1 if counts["holds"] + counts["unmeasured"] < len(rows) else 2


def diff(args: argparse.Namespace) -> int:
    """Print what a target does otherwise than its torch release; 1 where it does, 2 where nothing can be compared."""
    only(args, mode="--mode", to_mode="--to-mode", min_effect="--min-effect")
    target = target_named(args.target, args.verdicts)
    table = read_table(args.verdicts)
    clauses = sentences(table.clauses)
    release = next((one for one in read_recorded(args.verdicts) if one.minor == target.release), None)
    if release is None:
        fault = f"torch {target.release}, on which {target.name} was measured, is not recorded"
        raise BadInput(READERS, "", fault, f"{REPORTS} rely --target {target.name} says what it does")
    args.begins = [each for each in (args.before, args.after, *args.begins) if each]
    choice = choose(clauses, args)
    rows, same, unknown = from_release(target, table, clauses, choice.clauses, release)
    differ = forms.counted(len(rows), "clause is", "clauses are")
    summary = f"{forms.torch_of(release.torch)} -> {target.words}: {differ} not as recorded of the release, {same} are"
    summary += f", {unknown} not measured on both" * bool(unknown) + target.without
    counts = {"same": same, "unmeasured": unknown, **Counter(one.group for one, _ in rows)}
    forms.show(Answer(target.name, summary, tuple(rows), counts, choice.left_out), FORMS, args.format)
    return 1 if rows else 0 if same else 2
