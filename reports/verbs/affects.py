"""What differs between the releases of torch that a project supports, for just the hooks that its code uses.

The code is parsed, never run. Without --from and --to the releases are those that the project's own metadata admit, and
every release between counts. Printed is what the code alone decides; what it does not show is counted, and listed by
--unsure. With --mode it is said what was assumed of the mode, and what of the code was not measured in it. A comment
`# hook-conformance: NAME` on a line of the call accepts what is printed as [NAME] there, and `# hook-conformance: all`
accepts all. Files are named from the root of the git repository, where there is one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from fixtures.clause.clause import EFFECTS
from reports.data import forms
from reports.data.atlas import Atlas, Column
from reports.data.names import add_range, add_sources, between, mode_named, read_atlas
from reports.data.strict import BadInput, one_line, parse, read_bytes, write_atomic
from reports.usage.affects import Affected, Finding, affects, unread_options
from reports.usage.answer import FORMS, as_json
from reports.usage.bounds import read_bounds
from reports.usage.files import repository
from reports.usage.in_mode import affects_in_mode
from reports.usage.lacks import Lacking
from reports.usage.uses import read_code
from reports.verbs.verb import add_verb

EPILOG = """exit status: 0 nothing differs that does this or worse, 1 something does, 2 the code cannot be read,
3 with --mode: nothing that was measured differs, and some uses were not measured.
example: python -m reports affects src/mylib --from 1.13 --to 2.15"""


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    says = "what differs between the releases that someone's code supports"
    parser = add_verb(sub, "affects", run, says, EPILOG, __doc__)
    parser.add_argument("path", type=Path, metavar="PATH", help="a Python file, a notebook, or a folder of them")
    add_range(parser)
    says = "what is otherwise in this mode of execution than in eager, in place of releases"
    parser.add_argument("--mode", metavar="MODE", help=says)
    least = "only what does this or worse (default: none, all)"
    parser.add_argument("--min-effect", choices=EFFECTS, default="none", help=least)
    parser.add_argument("--unsure", action="store_true", help="list what may concern the code, and is counted")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="leave out what this answer in JSON has already")
    parser.add_argument("--write-baseline", type=Path, metavar="FILE", help="write this answer in JSON, for --baseline")
    forms.add_format(parser, FORMS)
    add_sources(parser)


def run(args: argparse.Namespace) -> int:
    """Print the answer; 1 when something differs."""
    atlas = read_atlas(args)
    columns, why, unread = releases(atlas, args)
    table = Lacking(atlas)
    code = read_code(args.path, table.has, repository(args.path))
    code.sources.skipped[:0] = unread
    mode = mode_named(atlas, args.mode)
    code.sources.skipped += unread_options(columns, code, table) if mode == atlas.modes[0] else []
    for fault in code.sources.skipped:
        print(one_line(f"left out: {fault}"), file=sys.stderr)
    if mode == atlas.modes[0]:
        answer = affects(atlas, columns, code, table, str(args.path), why)
    else:
        answer = affects_in_mode(atlas, columns, code, table, mode, str(args.path), why)
    least = EFFECTS.index(args.min_effect)
    found, unsure = (tuple(one for one in some if one.rank <= least) for some in (answer.findings, answer.unsure))
    answer = replace(answer, findings=found, unsure=unsure, listed=args.unsure)
    if args.write_baseline:
        write_atomic(args.write_baseline, as_json(answer))
    if args.baseline:
        answer = _without(answer, args.baseline)
    forms.show(answer, FORMS, args.format)
    return 1 if answer.findings else 3 if answer.unmeasured else 0


def releases(atlas: Atlas, args: argparse.Namespace) -> tuple[tuple[Column, ...], str, list[str]]:
    """Return the releases that are asked for, why these, and what metadata say in a way that is not understood."""
    if args.first is not None or args.last is not None or args.runs:
        return between(atlas, args.first, args.last), "as asked", []
    bounds = read_bounds(args.path)
    unread = [f"{each}; name the releases with --from and --to" for each in bounds.unread]
    columns = tuple(column for column in atlas.columns if bounds.admits(column.version))
    if not bounds.bind:
        fewer = 0 < len(columns) < len(atlas.columns)
        which = f"that have a wheel for Python {bounds.python}" if fewer else "that are recorded"
        why = f"all {which}: no bound on torch was found in metadata (--from and --to name others)"
        return columns or atlas.columns, why, unread
    if not columns:
        raise BadInput(args.path, "", f"no recorded release is in {bounds}", "name others with --from and --to")
    return columns, f"as {bounds} admits", unread


def _without(answer: Affected, baseline: Path) -> Affected:
    """Return what a baseline does not hold: by clause, file and API, for lines move; as often, on these releases."""
    try:
        held = parse(read_bytes(baseline), baseline, "")
        known = Counter(key for keys in _said(held) for key in keys)
        missed = {(one["api"], one["on"], use["file"]) for one in held.get("unmeasured", ()) for use in one["uses"]}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadInput(baseline, "", "is no answer of affects", "write one with --write-baseline") from None
    new = ((one, [use for use in one.uses if (one.api, one.on, use.file) not in missed]) for one in answer.unmeasured)
    unmeasured = tuple(replace(one, uses=tuple(uses)) for one, uses in new if uses)
    return replace(answer, findings=tuple(_new(answer, known)), unmeasured=unmeasured)


def _new(answer: Affected, known: Counter[tuple[str, ...]]) -> Iterator[Finding]:
    """Yield findings with the uses that are not known."""
    said = _said(json.loads(as_json(answer)))
    for one in answer.findings:
        uses = []
        for use, keys in zip(one.uses, said, strict=False):
            if all(known[key] > 0 for key in keys):
                known.subtract(keys)
            else:
                uses.append(use)
        if uses:
            yield replace(one, uses=tuple(uses))


def _said(answer: Any) -> Iterator[list[tuple[str, ...]]]:
    """Yield what an answer says of each use of each finding: (clause, file, API, release, what is said of it)."""
    labels = answer["releases"]
    for one in answer["findings"]:
        ends = [(labels.index(span["from"]), labels.index(span["to"]), span["says"]) for span in one["spans"]]
        said = [(label, says) for first, last, says in ends for label in labels[first : last + 1]]
        yield from ([(one["clause"], use["file"], use["api"], *each) for each in said] for use in one["uses"])
