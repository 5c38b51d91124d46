"""What the failures of a run share, and where to start looking: the same groups as at the end of the run itself."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fixtures.judge import triage as shared
from fixtures.judge.in_words import in_words
from fixtures.judge.triage import Cluster
from fixtures.run.naming import REPORTS, script_of
from reports.data import forms
from reports.data.runfile import Run, read_run
from reports.data.strict import ANSWERS_FORMAT
from reports.verbs.own_run import add_runs, named_or_last, say_which
from reports.verbs.verb import add_verb

EPILOG = """exit status: 0 nothing failed, 1 something did, 2 the file cannot be read.
example: python -m reports triage mine.jsonl"""
WIDTH = 120


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
        return f"{forms.torch_of(self.run.measured)}: {shared.summary(list(self.run.lines.values())) or 'no cells'}"


def plan_of(one: Cluster) -> str:
    """Return the smallest plan of the clause to start with, nothing where its test plays none."""
    return (one.start["evidence"] or {}).get("plan", "")


def script(run: Run, cell: Mapping[str, Any]) -> str:
    """Return the line that names the script of a failure: the one that its run has written, else how to have it."""
    code = (cell["evidence"] or {}).get("reproducer")
    path = Path(script_of(str(run.path), cell["clause"], cell["mode"]))
    try:
        written = path.read_text("utf-8") == code
    except (OSError, UnicodeDecodeError):
        written = False
    if not code:
        return ""
    return f"script: {path}" if written else f"the script: {REPORTS} explain {cell['clause']} --run {run.path}"


def as_text(answer: Triage) -> str:
    """Return the clusters for a terminal, with the clauses in each."""
    clauses = answer.run.header["clauses"]
    found = shared.as_lines(answer.clusters, clauses, lambda cell: script(answer.run, cell))
    lines = [answer.summary, *(found or ["nothing failed"])]
    for one in answer.clusters:
        if len(one.cells) > 1:
            names = ", ".join(f"{cell['clause']} [{cell['mode']}]".replace(" [eager]", "") for cell in one.cells)
            lines += ["", f"the {len(one.cells)} with: {shared.words(one)}"]
            lines += textwrap.wrap(names, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
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
    return forms.as_json({"format": ANSWERS_FORMAT, "torch": answer.run.measured, "clusters": clusters})


def as_markdown(answer: Triage) -> str:
    """Return the clusters as a table for an issue, with the plan to start with."""
    lines = [f"**{forms.escaped(answer.summary)}**", ""]
    if not answer.clusters:
        return "\n".join([*lines, "Nothing failed."]) + "\n"
    lines += ["| failures | share | start here | first difference |", "|---|---|---|---|"]
    for one in answer.clusters:
        words = [forms.escaped(each) for each in (shared.words(one), in_words(one.start))]
        lines.append(f"| {len(one.cells)} | {words[0]} | `{one.start['clause']}` | {words[1]} |")
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
