"""What the failures of a run share, and where to start looking: the same clusters as at the end of the run itself."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from fixtures.judge import triage as shared
from fixtures.judge.triage import Cluster
from fixtures.run.naming import REPORTS
from reports.data import forms
from reports.data.runfile import Run, read_run
from reports.data.strict import ANSWERS_FORMAT
from reports.verbs.own_run import add_runs, named_or_last, say_which
from reports.verbs.verb import add_verb

EPILOG = """exit status: 0 nothing failed, 1 something did, 2 the file cannot be read.
example: python -m reports triage mine.jsonl"""


@dataclass(frozen=True)
class Triage:
    """The clusters of one run, the largest first."""

    run: Run
    clusters: tuple[Cluster, ...]

    @property
    def failures(self) -> int:
        """How many cells failed the run."""
        return sum(len(one.cells) for one in self.clusters)

    @property
    def summary(self) -> str:
        """The verdicts in words."""
        return f"torch {self.run.header['torch']}: {shared.summary(list(self.run.lines.values())) or 'no cells'}"


def plan_of(one: Cluster) -> str:
    """Return the smallest plan of the clause to start with, nothing where its test plays none."""
    return (one.start["evidence"] or {}).get("plan", "")


def as_text(answer: Triage) -> str:
    """Return the clusters for a terminal, with the clauses in each."""
    lines = [answer.summary, *(shared.as_lines(answer.clusters) or ["nothing failed"])]
    for one in answer.clusters:
        lines += ["", f"the {len(one.cells)} with: {shared.words(one)}"]
        lines += [f"  {cell['clause']} [{cell['mode']}]" for cell in one.cells]
        if (one.start["evidence"] or {}).get("reproducer"):
            start = one.start["clause"]
            lines.append(f"  a script that shows {start}: {REPORTS} explain {start} --run {answer.run.path}")
    return "\n".join(lines) + "\n"


def as_json(answer: Triage) -> str:
    """Return the clusters as JSON."""
    clusters = [
        {
            "signs": [{"sign": sign, "count": count} for sign, count in one.signs.items()],
            "start": {"clause": one.start["clause"], "mode": one.start["mode"], "plan": plan_of(one)},
            "cells": [{"clause": cell["clause"], "mode": cell["mode"]} for cell in one.cells],
        }
        for one in answer.clusters
    ]
    return forms.as_json({"format": ANSWERS_FORMAT, "torch": answer.run.header["torch"], "clusters": clusters})


def as_markdown(answer: Triage) -> str:
    """Return the clusters as a table for an issue, with the plan to start with."""
    lines = [f"**{forms.escaped(answer.summary)}**", ""]
    if not answer.clusters:
        return "\n".join([*lines, "Nothing failed."]) + "\n"
    lines += ["| failures | share | start here |", "|---|---|---|"]
    for one in answer.clusters:
        lines.append(f"| {len(one.cells)} | {forms.escaped(shared.words(one))} | `{one.start['clause']}` |")
    for one in answer.clusters[: shared.MOST]:
        if plan_of(one):
            lines += ["", f"`{one.start['clause']}`:", "", *forms.fenced(plan_of(one))]
    return "\n".join(lines) + "\n"


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = add_verb(sub, "triage", run, "what the failures of a run share, and where to start", EPILOG, __doc__)
    add_runs(parser, several=False)
    forms.add_format(parser, FORMS)


def run(args: argparse.Namespace) -> int:
    """Print the clusters; 1 when there are any."""
    given = [args.runs] if args.runs else []
    (path,) = named_or_last(given)
    found = read_run(path, partial=True)
    say_which(given, [found])
    answer = Triage(found, tuple(shared.triage(list(found.lines.values()))))
    forms.show(answer, FORMS, args.format)
    return 1 if answer.clusters else 0
