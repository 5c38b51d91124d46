"""The atlas as one JSON document: every clause, every release and run, each cell between them, and what hooks cost."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reports.costs import recorded as costs_recorded
from reports.costs.recorded import NOTHING, Record
from reports.data import forms
from reports.data.atlas import Atlas
from reports.data.cell import Cell
from reports.data.clause import Clause
from reports.data.names import read_atlas
from reports.data.statements import statement
from reports.data.strict import FORMAT, one_line, write_atomic
from reports.data.verdicts import COSTS_NAME, VERDICTS
from reports.verbs.verb import add_verb

EPILOG = """Its schema is reports/schemas/atlas.schema.json.
exit status: 0 written, 2 a file cannot be read.
example: python -m reports atlas mine.jsonl --out atlas.json"""


def document(atlas: Atlas, costs: Record = NOTHING) -> dict[str, Any]:
    """Return the atlas as plain data; cells are keyed clause, mode, column. The costs are as they are recorded."""
    cells: dict[str, dict[str, dict[str, Any]]] = {}
    clauses = atlas.measured
    for (clause, column, mode), cell in sorted(atlas.cells.items()):
        cells.setdefault(clause, {}).setdefault(mode, {})[column] = _cell(clauses[clause], cell)
    columns = [
        {
            "key": column.key,
            "torch": column.torch,
            "python": column.python,
            "platform": column.platform,
            "device": column.device,
            **({"target": column.target} if column.target else {}),
            "run": column.this_run,
            "unfinished": column.unfinished,
        }
        for column in atlas.columns
    ]
    return {
        "format": FORMAT,
        "suite": atlas.suite,
        "modes": list(atlas.modes),
        "columns": columns,
        "clauses": {name: dict(clause.record) for name, clause in clauses.items()},
        "cells": cells,
        "costs": costs_recorded.document(costs) if costs.costs else None,
    }


def as_json(answer: Mapping[str, Any]) -> str:
    """Return the document as JSON with a line for each cell: there are thousands, and all their keys are alike."""
    rest = json.dumps({key: value for key, value in answer.items() if key != "cells"}, indent=1)
    cells = {
        clause: {mode: _object(columns, json.dumps, 4) for mode, columns in modes.items()}
        for clause, modes in answer["cells"].items()
    }
    every = _object(cells, lambda modes: _object(modes, str, 3), 2)
    return rest.removesuffix("\n}") + f',\n "cells": {every}\n}}\n'


def _object(answer: Mapping[str, Any], write: Callable[[Any], str], depth: int) -> str:
    """Return an object as JSON, a line for each of its keys."""
    lines = [" " * depth + f"{json.dumps(key)}: {write(value)}" for key, value in answer.items()]
    return "{\n" + ",\n".join(lines) + "\n" + " " * (depth - 1) + "}"


def _cell(clause: Clause, cell: Cell) -> dict[str, Any]:
    return {
        **cell.plain,
        "note": cell.note,
        "evidence": None if cell.evidence is None else dict(cell.evidence),
        **({"deviation": cell.deviation} if cell.deviation else {}),
        **statement(clause, cell).plain(),
    }


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = add_verb(sub, "atlas", run, "all verdicts and these runs as one JSON document", EPILOG, __doc__)
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUNFILE")
    forms.add_out(parser, required=True)
    parser.add_argument("--verdicts", type=Path, default=VERDICTS, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Write the atlas."""
    costs = costs_recorded.read_record(args.verdicts / COSTS_NAME)
    write_atomic(args.out, as_json(document(read_atlas(args), costs)))
    print(one_line(str(args.out)))
    return 0
