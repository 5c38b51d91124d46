"""One clause in full: the sentence, what torch does on the releases and in modes, where it comes from, its test."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from fixtures.rules import RULES
from fixtures.rules.rule import Rule
from fixtures.run.naming import REPORTS
from reports.data import forms
from reports.data.atlas import Atlas, Column
from reports.data.by_mode import in_modes
from reports.data.claims import shown_by
from reports.data.clause import Clause, Reading
from reports.data.history import Span, spans
from reports.data.names import add_sources, clause_named, read_atlas
from reports.data.neighbours import from_to, neighbours
from reports.data.scope import LINE, tested
from reports.data.sources import link
from reports.data.statements import IN_WORDS, statement
from reports.data.strict import ANSWERS_FORMAT
from reports.data.table import RULE
from reports.data.within import EAGER
from reports.page.programs import asked_by, example
from reports.verbs.verb import add_verb

EPILOG = """exit status: 0 explained, 2 no such clause.
example: python -m reports explain retain.keep.adds_up --example"""


@dataclass(frozen=True)
class Explanation:
    """All that is known of one clause."""

    clause: Clause
    history: Mapping[str, list[Span]]  # mode -> spans
    related: Mapping[str, str]  # clauses of the same topic -> their sentence
    stated: Mapping[str, str]  # reading -> for which torch it is stated
    now: str  # what the torch in focus does
    in_modes: str  # what it does in all modes, in one line


def explain(atlas: Atlas, name: str) -> Explanation:
    """Return what is known of a clause."""
    measured = [mode for mode in atlas.modes if any((name, one.key, mode) in atlas.cells for one in atlas.columns)]
    topic = name.rpartition(".")[0] + "."
    related = {each: one.says for each, one in atlas.clauses.items() if each.startswith(topic) and each != name}
    history = {mode: spans(atlas, name, mode) for mode in measured}
    clause = atlas.clauses[name]
    stated = {one.name: _range(atlas, clause, one) for one in clause.readings if not one.never}
    return Explanation(clause, history, related, stated, _now(atlas, clause), in_modes(atlas, name))


def _now(atlas: Atlas, clause: Clause) -> str:
    """Return what the torch in focus does: a run, where it has the clause, else the newest release."""
    mode = atlas.modes[0]
    column = next((one for one in atlas.newest if (clause.id, one.key, mode) in atlas.cells), atlas.newest[-1])
    words = statement(clause, atlas.cell(clause.id, column, mode)).words
    return f"{forms.torch_of(column.label)}: {words.removesuffix(f': {clause.says}')}"


#: who says it, in words
LEVELS = {
    "documented": "documented: torch promises it in its documentation or release notes",
    "implied": "implied: torch's own tests, comments or pull requests rely on it",
    "observed": "observed: measured only, nobody promises it; a torch that differs is different, not wrong",
}
#: said of a clause that is so although a page of the documentation says it is not
CONTRADICTS = "The documentation of torch says something else."

#: said of a clause that is new in the suite
NOT_RECORDED = "not recorded yet: the suite has this clause, and no release was measured with it"


def _range(atlas: Atlas, clause: Clause, reading: Reading) -> str:
    """Return for which torch a reading is stated: its range, or what another reading and a missing API leave of it."""
    admitted = [column for column in atlas.columns if reading.admits(column.version)]
    there = [column for column in admitted if _stated(atlas, clause, reading, column)]
    if there == admitted:
        return f"torch {reading.torch}" if reading.torch else "every torch"
    if not there:
        return f"torch {reading.torch}, where it is not measured"
    ranges = neighbours(atlas.columns, there.__contains__)
    return "torch " + ", ".join(from_to(found[0].label, found[-1].label) for inside, found in ranges if inside)


def _stated(atlas: Atlas, clause: Clause, reading: Reading, column: Column) -> bool:
    first = clause.in_force(column.version) == reading.name
    return first and atlas.cell(clause.id, column, atlas.modes[0]).verdict != "absent"


def _reading(answer: Explanation, reading: Reading) -> str:
    """Return for which torch a reading is stated, and that the clause's own sentence is not true there."""
    stated = answer.stated[reading.name]
    if reading.says_the_same:
        return stated
    return f"{stated}; there the sentence is not true" + f" ({IN_WORDS[reading.effect]})" * (reading.effect != "none")


def _measured(clause: Clause, span: Span) -> str:
    """Return the statement, and by which reading, where the clause has several."""
    reading = span.cell.reading if clause.varies else None
    return span.statement.words + (f" (reading: {reading})" if reading is not None else "")


def _refuted(clause: Clause) -> list[Reading]:
    """Return the readings that are there to be refuted, and say something to a reader."""
    return [one for one in clause.readings if one.never and one.told]


def _evidence(answer: Explanation, modes: bool = True) -> list[tuple[Span, Mapping[str, Any]]]:
    every = [span for mode, history in answer.history.items() if modes or mode == EAGER for span in history]
    return [(span, span.cell.evidence) for span in every if span.cell.evidence is not None]


def _history(answer: Explanation, modes: bool) -> list[str]:
    """Return what was measured in eager, and of the other modes one line, or all."""
    lines = []
    for mode, history in answer.history.items():
        if mode != EAGER and not modes:
            continue
        lines += ["", f"measured, {mode}"]
        found = [
            (from_to(together[0].columns[0].label, together[-1].columns[-1].label), words)
            for words, together in neighbours(history, partial(_measured, answer.clause))
        ]
        width = max(len(releases) for releases, _ in found)
        lines += [f"  {releases:<{width}}  {words}" for releases, words in found]
    if answer.in_modes and not modes:
        lines += ["", f"in other modes: {answer.in_modes} ({REPORTS} explain {answer.clause.id} --modes)"]
    return lines


def as_text(answer: Explanation, modes: bool = False) -> str:
    """Return the explanation for a terminal; with `modes` each mode on each release."""
    clause = answer.clause
    lines = [f"{clause.id}  {clause.says}", *(f"  {line}" for line in clause.hints)]
    if clause.docs == "contradicts":
        lines.append(CONTRADICTS)
    if clause.note:
        lines.append(clause.note)
    lines += [
        "",
        f"an example that needs torch only: {asked_by(clause.id)}",
        "",
        answer.now if answer.history else NOT_RECORDED,
    ]
    lines += _history(answer, modes)
    for span, evidence in _evidence(answer, modes):
        lines += ["", forms.torch_of(span.releases), *_indented(evidence["message"])]
        if not (evidence["plan"] and evidence["plan"] in evidence["message"]):  # a message has both traces next to it
            lines += _indented(evidence["plan"])
            lines += ["  expected", *_indented("\n".join(evidence["expected"]), 4)]
            lines += ["  observed", *_indented("\n".join(evidence["observed"]), 4)]
        if evidence["reproducer"]:
            lines += ["  reproducer", *_indented(evidence["reproducer"], 4)]
    lines += ["", "readings, each stated for"]
    lines += [f"  {one.name} ({_reading(answer, one)}): {one.says}" for one in clause.readings if not one.never]
    lines += [f"  the test refutes: {one.says}" for one in _refuted(clause)]
    lines += ["", *([LEVELS[clause.level]] if clause.level else []), f"{tested(clause.beyond)} ({REPORTS} scope)"]
    lines += ["", "source"]
    lines += [
        f"  {source}" + (f"  {link(source)}" if link(source) not in (None, source) else "") for source in clause.source
    ]
    if clause.needs:
        lines += ["", "needs", *(f"  {need}" for need in clause.needs)]
    lines += ["", f"checked by {clause.file}:{clause.line}", *_indented(clause.code)]
    if answer.related:
        lines += ["", "related", *(f"  {name}  {says}" for name, says in answer.related.items())]
    return "\n".join(lines) + "\n"


def _indented(text: str, by: int = 2) -> list[str]:
    return [" " * by + line for line in text.rstrip("\n").split("\n")] if text else []


def as_json(answer: Explanation) -> str:
    """Return the explanation as JSON."""
    return forms.as_json(
        {
            "format": ANSWERS_FORMAT,
            "clause": answer.clause.id,
            "record": dict(answer.clause.record),
            "links": [link(source) for source in answer.clause.source],
            "history": {
                mode: [{**span.plain(), "evidence": span.cell.evidence} for span in history]
                for mode, history in answer.history.items()
            },
            "related": list(answer.related),
            "scope": LINE,
            "tested": tested(answer.clause.beyond),
        }
    )


def as_markdown(answer: Explanation) -> str:
    """Return the explanation for an issue."""
    clause = answer.clause
    lines = [f"### `{clause.id}`", "", forms.escaped(clause.says), ""]
    lines += [f"- {forms.escaped(line)}" for line in clause.hints] + [""] * bool(clause.hints)
    if clause.docs == "contradicts":
        lines += [CONTRADICTS, ""]
    if clause.note:
        lines += [forms.escaped(clause.note), ""]
    lines += [f"An example that needs torch only: `{asked_by(clause.id)}`", ""]
    lines += [forms.escaped(answer.now) if answer.history else NOT_RECORDED, ""]
    lines += ["| torch | mode | measured |", "|---|---|---|"]
    for mode, history in answer.history.items():
        lines += [f"| {span.releases} | {mode} | {forms.escaped(_measured(clause, span))} |" for span in history]
    lines += ["", "| reading | stated for | says |", "|---|---|---|"]
    for one in clause.readings:
        if not one.never:
            lines.append(f"| {' | '.join(map(forms.escaped, (one.name, _reading(answer, one), one.says)))} |")
    lines += [""] + [f"The test refutes: {forms.escaped(one.says)}" for one in _refuted(clause)]
    if clause.level:
        lines += [forms.escaped(LEVELS[clause.level]), ""]
    lines += [forms.escaped(tested(clause.beyond)), ""]
    lines += ["Source: " + ", ".join(_linked(source) for source in clause.source), ""]
    lines += [f"Checked by {forms.escaped(clause.file)}:", "", *forms.fenced(clause.code)]
    for span, evidence in _evidence(answer):
        if evidence["reproducer"]:
            lines += [
                "",
                f"On {forms.torch_of(span.releases)}, this shows it:",
                "",
                *forms.fenced(evidence["reproducer"]),
            ]
    return "\n".join(lines) + "\n"


def _linked(source: str) -> str:
    target = link(source)
    return f"[{forms.escaped(source)}](<{target}>)" if target else forms.escaped(source)


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def rule_as_text(atlas: Atlas, mode: str, rule: Rule) -> str:
    """Return what `affects --mode` names MODE.RULE: what a mode does otherwise than eager, and in which clauses."""
    newest = atlas.columns[-1]
    cells = ((name, atlas.cell(name, newest, mode)) for name in atlas.clauses)
    those = [name for name, cell in cells if cell.deviation == RULE + rule.name]
    clauses = forms.counted(len(those), "clause", "clauses")
    lines = [f"{mode}.{rule.name}  {rule.says}", "", f"what the mode {mode} does otherwise than eager"]
    lines += [f"torch: {rule.torch or 'all that have the mode'}", f"source: {rule.ref}"]
    lines += ["", f"on torch {newest.label} plans of {clauses} show it", *(f"  {name}" for name in those)]
    return "\n".join([*lines, "", f"the smallest plan that shows it: {rule.witness!r}"]) + "\n"


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = add_verb(sub, "explain", run, "one clause in full: readings, releases, source, test", EPILOG, __doc__)
    parser.add_argument(
        "clause",
        metavar="CLAUSE",
        help="the id of a clause, chapter.topic.point, or of what a mode does otherwise, mode.name",
    )
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--example", action="store_true", help="only its example: a program that needs torch only")
    forms.add_format(only, FORMS)
    parser.add_argument("--modes", action="store_true", help="each mode on each release, not one line for all")
    add_sources(parser)


def run(args: argparse.Namespace) -> int:
    """Print the explanation, or the example."""
    atlas = read_atlas(args)
    mode, _, name = args.clause.partition(".")
    rule = next((one for one in RULES.get(mode, ()) if one.name == name), None)
    if rule is not None:
        sys.stdout.write(rule_as_text(atlas, mode, rule))
        return 0
    clause = clause_named(atlas, args.clause)
    if args.example:
        sys.stdout.write(example(shown_by(clause)))
    else:
        forms.show(explain(atlas, clause), {**FORMS, "text": partial(as_text, modes=args.modes)}, args.format)
    return 0
