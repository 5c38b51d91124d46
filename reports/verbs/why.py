"""The usual causes of what people see when a hook does not do what they meant, each with the clause that states it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fixtures.run.naming import REPORTS
from reports.data import forms
from reports.data.atlas import Atlas
from reports.data.names import add_mode, add_sources, mode_named, read_atlas, unknown
from reports.data.scope import LINE, SCOPE
from reports.data.strict import ANSWERS_FORMAT
from reports.search.answers import Answer
from reports.search.ask import search
from reports.symptoms.programs import PROGRAMS, program
from reports.symptoms.symptom import Symptom, UsualCause
from reports.symptoms.symptoms import SYMPTOMS
from reports.verbs.rely import Status, otherwise, status_of
from reports.verbs.verb import add_verb

PROGRAM = "a program shows it, on every release"
NONE_FITS = "No symptom fits. There are:"
FIND = f"an error text, or anything else: {REPORTS} find WORDS"
EPILOG = """exit status: 0 shown, 1 no symptom fits, 2 no such program.
example: python -m reports why my backward hook is not called"""


@dataclass(frozen=True)
class Explained:
    """A cause with what was measured of its clause on all releases; None where no clause speaks of it."""

    cause: UsualCause
    status: Status | None

    @property
    def releases(self) -> list[str]:
        """On which releases torch does something else, in lines; where it has no such hook at all is left out."""
        return [] if self.status is None else otherwise(self.status)

    @property
    def instead(self) -> list[str]:
        """What to do about it, in a line, where that is known."""
        return [f"instead: {self.cause.instead}"] if self.cause.instead else []

    @property
    def script(self) -> str:
        """The command that prints a program which shows it."""
        if self.status is None:
            return f"{REPORTS} why --program {self.cause.program}"
        return f"{REPORTS} explain {self.cause.clause} --example"


@dataclass(frozen=True)
class Causes:
    """Symptoms, each with its causes in the order in which people meet them."""

    mode: str
    symptoms: tuple[tuple[Symptom, tuple[Explained, ...]], ...]
    answer: Answer | None = None


def explained(atlas: Atlas, symptoms: Iterable[Symptom], mode: str, answer: Answer | None = None) -> Causes:
    """Return the symptoms with what was measured of their causes in a mode."""

    def measured(cause: UsualCause) -> Explained:
        known = cause.clause in atlas.clauses
        return Explained(cause, status_of(atlas, cause.clause, mode, atlas.columns) if known else None)

    return Causes(mode, tuple((one, tuple(map(measured, one.causes))) for one in symptoms), answer)


def as_text(answer: Causes) -> str:
    """Return the answer for a terminal."""
    lines = [*_first(answer), *[""] * bool(answer.symptoms and answer.answer)]
    for symptom, causes in answer.symptoms:
        lines += [f"{symptom.name}:", ""]
        for number, one in enumerate(causes, 1):
            lines.append(f"{number:>2} {one.cause.says}")
            if one.status is None:
                lines.append(f"   {PROGRAM}")
            else:
                lines.append(f"   {one.status.clause}  {one.status.says}")
                lines += [f"   {line}" for line in (*one.status.record.hints, *one.releases)]
            lines += [f"   {line}" for line in (*one.instead, one.script)]
            lines.append("")
    shown = {symptom.name for symptom, _ in answer.symptoms}
    others = [one.name for one in SYMPTOMS if one.name not in shown]
    also = [f"other symptoms: {'; '.join(others)}"] if others and shown else ["", *others]
    return "\n".join([*lines, *also, *[""] * (not shown), FIND, SCOPE]) + "\n"


def _first(answer: Causes) -> list[str]:
    """Return what stands before the causes: an answer that is none, or that nothing fits."""
    if answer.answer:
        return [answer.answer.says, f"   {answer.answer.script}"]
    return [] if answer.symptoms else [NONE_FITS]


def as_json(answer: Causes) -> str:
    """Return the answer as JSON."""
    return forms.as_json(
        {
            "format": ANSWERS_FORMAT,
            "mode": answer.mode,
            "scope": LINE,
            "answer": answer.answer.plain if answer.answer else None,
            "symptoms": [
                {"symptom": symptom.name, "causes": [_cause(one) for one in causes]}
                for symptom, causes in answer.symptoms
            ],
        }
    )


def _cause(one: Explained) -> dict[str, Any]:
    found: dict[str, Any] = {"says": one.cause.says, "script": one.script}
    found |= {"instead": one.cause.instead} if one.cause.instead else {}
    if one.status is None:
        return {**found, "program": one.cause.program}
    return {
        **found,
        "clause": one.status.clause,
        "sentence": one.status.says,
        "status": one.status.status,
        **one.status.record.limited,
        **({"instead": one.cause.instead} if one.cause.instead else {}),
        "history": [span.plain() for span in one.status.spans],
    }


def as_markdown(answer: Causes) -> str:
    """Return the answer as a list for an issue."""
    lines = ["", *(forms.escaped(line.strip()) for line in _first(answer))]
    for symptom, causes in answer.symptoms:
        lines += ["", f"**{forms.escaped(symptom.name)}**", ""]
        for one in causes:
            texts = [PROGRAM] if one.status is None else [f"`{one.status.clause}`", one.status.says, *one.releases]
            says = ". ".join(forms.escaped(text).rstrip(".") if text[0] != "`" else text for text in texts)
            instead = "".join(f" {forms.escaped(line)}." for line in one.instead)
            lines.append(f"1. {forms.escaped(one.cause.says)}: {says}.{instead} `{one.script}`")
    return "\n".join([*lines, "", SCOPE]).lstrip("\n") + "\n"


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    says = "usual causes of what people see when a hook does not do what they meant"
    parser = add_verb(sub, "why", run, says, EPILOG, __doc__)
    parser.add_argument("words", nargs="*", metavar="WORDS", help="what you see; without words all symptoms are listed")
    parser.add_argument("--program", metavar="NAME", help="print the program of a cause or an answer")
    add_mode(parser)
    forms.add_format(parser, FORMS)
    add_sources(parser)


def run(args: argparse.Namespace) -> int:
    """Print the symptoms, the causes of one, or a program."""
    if args.program is not None:
        programs = [path.name for path in PROGRAMS.glob("*.py")]
        if args.program not in programs:
            raise unknown("program", args.program, programs, f"there are {', '.join(sorted(programs))}")
        sys.stdout.write(program(args.program))
        return 0
    if not args.words and args.format == "text":
        print("\n".join([*(one.name for one in SYMPTOMS), "", f"{REPORTS} why WORDS lists the usual causes"]))
        return 0
    atlas = read_atlas(args)
    words, ask = " ".join(args.words), search(atlas.clauses)
    found = ask.fitting(words) if words else SYMPTOMS
    answer = ask.find(words).answer if words else None
    forms.show(explained(atlas, found, mode_named(atlas, args.mode), answer), FORMS, args.format)
    return 0 if found or answer else 1
