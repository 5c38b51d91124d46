"""The verdicts as compatibility data, in the words of browser-compat-data: version_added, version_removed, "≤1.4".

Every clause is a feature, supported where its own sentence is true; where torch changed on purpose each reading is a
feature below it. Where a clause deviates, crashes or hangs, the implementation is partial. Notes say what torch does
where the sentence is not true.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.data.atlas import Atlas, Cell, Column, varies
from reports.data.names import read_atlas
from reports.data.neighbours import from_to, neighbours
from reports.data.runfile import minor
from reports.data.sources import link
from reports.data.statements import BROKEN, statement
from reports.data.strict import FORMAT, BadInput, one_line, write_atomic
from reports.data.verdicts import VERDICTS
from reports.verbs import forms

SCHEMA = "compat.schema.json"
EPILOG = """exit status: 0 written, 2 a run file cannot be read, or is of no release.
example: python -m reports compat mine.jsonl --out compat.json"""


@dataclass(frozen=True)
class _Stretch:
    """Neighbouring releases with the same support, and what torch does there where that is not full."""

    kind: str  # full, partial, none or unknown
    notes: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def aside(self) -> list[str]:
        """What a note next to the statement of other releases says of these."""
        if self.kind == "unknown":
            return [f"not measured on torch {self.releases}"]
        return [f"torch {self.releases}: {note}" for note in self.notes]

    @property
    def first(self) -> str:
        return self.columns[0].key

    @property
    def releases(self) -> str:
        return from_to(self.first, self.columns[-1].key)


def document(atlas: Atlas) -> dict[str, Any]:
    """Return the compatibility data of all releases, in the place of a recorded one its run. Raises BadInput."""
    for column in atlas.columns:
        if column.key != minor(column.version):  # there is no place for it in the line of releases
            fault = f"the run of torch {column.key} is of no release on the platform of the recorded ones"
            raise BadInput("reports", "", fault, "give it to page or diff")
    platforms = {_platform(mode): _releases(atlas, mode) for mode in atlas.modes}
    hooks: dict[str, Any] = {}
    for clause in atlas.clauses:
        chapter, topic, point = clause.split(".")
        hooks.setdefault(chapter, {}).setdefault(topic, {})[point] = _feature(atlas, clause)
    meta = {"format": FORMAT, "schema": SCHEMA, "version": atlas.suite}
    return {"__meta": meta, "platforms": platforms, "hooks": hooks}


def _platform(mode: str) -> str:
    return "torch" if mode == "eager" else f"torch_{mode}"


def _releases(atlas: Atlas, mode: str) -> dict[str, Any]:
    newest = atlas.columns[-1]
    name = "PyTorch" if mode == "eager" else f"PyTorch, {mode}"
    releases = {
        column.key: {"release": column.torch, "status": "current" if column is newest else "retired"}
        for column in atlas.columns
    }
    return {"name": name, "mode": mode, "releases": releases}


def _feature(atlas: Atlas, clause: str) -> dict[str, Any]:
    record = atlas.clauses[clause]
    compat: dict[str, Any] = {"description": record["says"]}
    urls = [target for source in record["source"] if (target := link(source))]
    if urls:
        compat["spec_url"] = urls[0] if len(urls) == 1 else urls
    compat["source_file"] = record["file"]
    compat["support"] = _support(atlas, clause, None)
    feature: dict[str, Any] = {"__compat": compat}
    if varies(record):
        for reading in record["readings"]:
            name = reading["name"]
            support = _support(atlas, clause, name)
            text = f"{name}: {reading['says']}" if reading["says"] else name
            feature[_key(name, feature)] = {"__compat": {"description": text, "support": support}}
    return feature


def _key(name: str, taken: Iterable[str]) -> str:
    """Return the name of a reading as an identifier that is not taken."""
    key = base = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "reading"
    number = 2
    while key in taken:
        key, number = f"{base}_{number}", number + 1
    return key


def _support(atlas: Atlas, clause: str, reading: str | None) -> dict[str, Any]:
    """Return where the sentence of the clause is true, or where this reading is in force."""
    measured = [mode for mode in atlas.modes if any((clause, one.key, mode) in atlas.cells for one in atlas.columns)]
    return {_platform(mode): _statements(_stretches(atlas, clause, mode, reading)) for mode in measured}


def _stretches(atlas: Atlas, clause: str, mode: str, reading: str | None) -> list[_Stretch]:
    def look(column: Column) -> tuple[str, tuple[str, ...]]:
        return _kind(atlas.clauses[clause], atlas.cell(clause, column, mode), reading)

    return _bridged([_Stretch(*kind, columns) for kind, columns in neighbours(atlas.columns, look)])


def _kind(clause: Mapping[str, Any], cell: Cell, reading: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the support in one cell, and the note that belongs to it."""
    if cell.verdict == "unseen":
        return "unknown", ()
    if reading is not None and cell.reading != reading:
        return "none", ()
    said = statement(clause, cell)
    if said.good or (reading is not None and cell.verdict == "conforms"):
        return "full", ()
    return "partial" if said.answer in BROKEN else "none", () if said.answer == "absent" else (said.words,)


def _bridged(found: list[_Stretch]) -> list[_Stretch]:
    """Join two stretches of one kind over releases that were not measured, and say so."""
    joined: list[_Stretch] = []
    for stretch in found:
        if len(joined) > 1 and joined[-1].kind == "unknown" and _alike(joined[-2], stretch):
            gap, before = joined.pop(), joined.pop()
            notes = (*before.notes, f"not measured on torch {gap.releases}")
            stretch = _Stretch(before.kind, notes, (*before.columns, *gap.columns, *stretch.columns))
        joined.append(stretch)
    return joined


def _alike(one: _Stretch, other: _Stretch) -> bool:
    data = tuple(note for note in one.notes if not note.startswith("not measured"))
    return (one.kind, data) == (other.kind, other.notes)


def _statements(stretches: list[_Stretch]) -> Any:
    """Return the support statements, newest first: one alone as an object, several as a list."""
    if all(stretch.kind == "unknown" for stretch in stretches):
        return {"version_added": None}
    supported = [stretch.kind in ("full", "partial") for stretch in stretches]
    first = supported.index(True) if any(supported) else len(stretches)
    data = [note for one in stretches[:first] if one.kind == "none" or not any(supported) for note in one.aside]
    made = [] if any(supported) else [{"version_added": False, "notes": data}]
    for place, stretch in list(enumerate(stretches))[first:]:
        after = stretches[place + 1 :]
        if not supported[place]:
            made[-1]["notes"] += stretch.aside if stretch.kind == "none" or not after else []
            continue
        unsure = place == 0 or stretches[place - 1].kind == "unknown"
        statement: dict[str, Any] = {"version_added": "≤" * unsure + stretch.first, "notes": [*stretch.notes, *data]}
        data = []
        if after and after[0].kind != "unknown":
            statement["version_removed"] = after[0].first
        elif len(after) > 1:
            statement["version_removed"] = "≤" + after[1].first
        if stretch.kind == "partial":
            statement["partial_implementation"] = True
        made.append(statement)
    for statement in made:
        notes = statement.pop("notes")
        if notes:
            statement["notes"] = notes[0] if len(notes) == 1 else notes
    return made[0] if len(made) == 1 else made[::-1]


def as_json(data: Mapping[str, Any]) -> str:
    """Return the document itself."""
    return json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def as_text(data: Mapping[str, Any]) -> str:
    """Return a line for each clause and reading."""
    return "".join(f"{name}  {support}\n" for name, _, support in _rows(data))


def as_markdown(data: Mapping[str, Any]) -> str:
    """Return a table of all clauses and readings."""
    lines = ["| clause | says | support |", "|---|---|---|"]
    lines += [f"| `{name}` | {forms.escaped(says)} | {forms.escaped(support)} |" for name, says, support in _rows(data)]
    return "\n".join(lines) + "\n"


def _rows(data: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield name, description and support in words of every feature."""
    for chapter, topics in data["hooks"].items():
        for topic, points in topics.items():
            for point, feature in points.items():
                for key, part in [("", feature), *((key, each) for key, each in feature.items() if key != "__compat")]:
                    compat = part["__compat"]
                    support = "; ".join(f"{on}: {_words(each)}" for on, each in compat["support"].items())
                    yield ".".join(filter(None, (chapter, topic, point, key))), compat["description"], support


def _words(statements: Any) -> str:
    return " / ".join(map(_statement, statements if isinstance(statements, list) else [statements]))


def _statement(statement: Mapping[str, Any]) -> str:
    added = statement["version_added"]
    words = {False: "no support", None: "not measured"}.get(added, f"added {added}")
    if "version_removed" in statement:
        words += f", removed {statement['version_removed']}"
    if "partial_implementation" in statement:
        words += ", partial"
    notes = statement.get("notes", [])
    return words + (f" ({'; '.join([notes] if isinstance(notes, str) else notes)})" if notes else "")


FORMS = {"json": as_json, "text": as_text, "markdown": as_markdown}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = sub.add_parser(
        "compat",
        help="the verdicts in the words of browser-compat-data",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "runs", nargs="*", type=Path, metavar="RUNFILE", help="runs to show instead of what is recorded"
    )
    forms.add_out(parser)
    forms.add_format(parser, FORMS, "json")
    parser.add_argument("--verdicts", type=Path, default=VERDICTS, help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the compatibility data."""
    data = document(read_atlas(args))
    if args.out is None:
        forms.show(data, FORMS, args.format)
    else:
        write_atomic(args.out, FORMS[args.format](data))
        print(one_line(str(args.out)))
    return 0
