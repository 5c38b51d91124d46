"""What is nearest to some words: clauses, an answer that is no clause, usual causes of what people see."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fixtures.run.naming import READERS, REPORTS
from reports.data import forms
from reports.data.atlas import Atlas
from reports.data.names import add_mode, add_sources, mode_named, read_atlas
from reports.data.scope import LINE, SCOPE
from reports.data.strict import ANSWERS_FORMAT, BadInput
from reports.search.answers import Answer
from reports.search.ask import search
from reports.symptoms.symptom import Symptom
from reports.verbs.rely import Status, more, otherwise, status_of
from reports.verbs.verb import add_verb

MOST = 5
EPILOG = """exit status: 0 some are close, 1 nothing is close, 2 there are no words.
example: python -m reports find why is my backward hook not called"""
USUAL = "eager"
NOTHING_CLOSE = "Nothing is close."


@dataclass(frozen=True)
class Nearest:
    """The clauses for some words, as they are on the newest release; what is said of parts of torch without clauses.

    Where they fit: an answer that is no clause, and what people see.
    """

    words: str
    torch: str
    mode: str
    clauses: tuple[Status, ...]
    close: bool
    notes: tuple[str, ...]
    answer: Answer | None
    symptoms: tuple[Symptom, ...]
    #: What older releases do otherwise, by clause.
    before: Mapping[str, list[str]]


def find(atlas: Atlas, words: str, most: int = MOST, mode: str = USUAL) -> Nearest:
    """Return the clauses that these words are nearest to, the nearest first, as they are in a mode."""
    found, newest = search(atlas.clauses).find(words), atlas.columns[-1]
    statuses = [status_of(atlas, name, mode, (newest,)) for name in found.clauses[:most]]
    before = {one.clause: otherwise(status_of(atlas, one.clause, mode, atlas.columns)) for one in statuses}
    fitting = (found.answer, found.symptoms)
    return Nearest(words, newest.measured, mode, tuple(statuses), found.close, found.notes, *fitting, before)


def told(nearest: Nearest) -> list[str]:
    """Return what stands before the clauses: an answer with its program, the command that lists causes, and notes."""
    answer = [nearest.answer.says, f"    {nearest.answer.script}"] if nearest.answer else []
    causes = [f"usual causes: {REPORTS} why {one.name}" for one in nearest.symptoms]
    return [*answer, *causes, *nearest.notes]


def as_text(nearest: Nearest) -> str:
    """Return the answer for a terminal."""
    lines = told(nearest)
    if not nearest.close:
        lines.append(NOTHING_CLOSE + (" The nearest clauses:" if nearest.clauses else ""))
    for one in nearest.clauses:
        lines += [*([""] if lines else []), f"{one.clause}  {one.sentence or one.says}"]
        lines += [f"    {line}" for line in (*more(one), *nearest.before.get(one.clause, ()))]
    hint = f"{REPORTS} explain CLAUSE says more of one; {REPORTS} why lists usual causes"
    where = forms.torch_of(nearest.torch) + f", {nearest.mode}" * (nearest.mode != USUAL)
    return "\n".join([*lines, "", f"on {where}; {SCOPE}", hint]) + "\n"


def as_json(nearest: Nearest) -> str:
    """Return the answer as JSON: the clauses in order."""
    return forms.as_json(
        {
            "format": ANSWERS_FORMAT,
            "words": nearest.words,
            "torch": nearest.torch,
            "mode": nearest.mode,
            "scope": LINE,
            "close": nearest.close,
            "notes": list(nearest.notes),
            "answer": nearest.answer.plain if nearest.answer else None,
            "symptoms": [one.name for one in nearest.symptoms],
            "clauses": [
                {"clause": one.clause, "says": one.says, "status": one.status, **one.record.limited}
                for one in nearest.clauses
            ],
        }
    )


def as_markdown(nearest: Nearest) -> str:
    """Return the answer as a table."""
    lines = [forms.escaped(line.strip()) for line in told(nearest)]
    lines += [] if nearest.close else [NOTHING_CLOSE]
    lines += ["", f"| clause | on {forms.torch_of(nearest.torch)} |", "|---|---|"] if nearest.clauses else []
    for one in nearest.clauses:
        texts = [one.sentence or one.says, *more(one), *nearest.before.get(one.clause, ())]
        lines.append(f"| `{one.clause}` | {'<br>'.join(map(forms.escaped, texts))} |")
    return "\n".join([*lines, "", SCOPE]) + "\n"


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = add_verb(sub, "find", run, "which clauses are nearest to some words", EPILOG, __doc__)
    parser.add_argument(
        "words", nargs="+", metavar="WORDS", help="a question, an API or a text that torch printed; - reads it"
    )
    parser.add_argument("--most", type=int, default=MOST, metavar="N", help="how many clauses (default: %(default)s)")
    add_mode(parser)
    forms.add_format(parser, FORMS)
    add_sources(parser)


def run(args: argparse.Namespace) -> int:
    """Print the nearest clauses; 1 when nothing is close."""
    words = sys.stdin.read() if args.words == ["-"] else " ".join(args.words)
    if args.most < 1:
        raise BadInput(READERS, "--most", f"{args.most} is not a number of clauses", "take 1 or more")
    if not words.strip():
        raise BadInput(READERS, "", "there are no words to look for", f"{REPORTS} rely lists all clauses")
    atlas = read_atlas(args)
    nearest = find(atlas, words, args.most, mode_named(atlas, args.mode))
    forms.show(nearest, FORMS, args.format)
    return 0 if nearest.close else 1
