"""A badge: how one torch does, as an SVG that needs no network and says its words to a screen reader."""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path
from typing import Any

from reports.data import forms
from reports.data.atlas import Atlas, Column
from reports.data.cell import BROKEN
from reports.data.names import column_named, read_atlas, recorded_as
from reports.data.statements import statement
from reports.data.strict import one_line, write_atomic
from reports.data.verdicts import VERDICTS
from reports.verbs.verb import add_verb

APPLIES_NOT = ("absent", "unseen", "refused")
#: all is true; torch does as recorded and some sentences are not true; something is wrong or not known
GOOD, OTHER, BAD = "#2b6a30", "#1f5f8b", "#9d2129"  # white on each of them has a contrast above 6
LABEL = "#3f3f3f"
CHARACTER, MARGIN, HEIGHT = 7, 8, 20
SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-labelledby="t">
<title id="t">{title}</title>
<rect width="{left}" height="{height}" fill="{label_color}"/>
<rect x="{left}" width="{right}" height="{height}" fill="{color}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle" aria-hidden="true">
<text x="{left_middle}" y="14" textLength="{left_text}" lengthAdjust="spacingAndGlyphs">{label}</text>
<text x="{right_middle}" y="14" textLength="{right_text}" lengthAdjust="spacingAndGlyphs">{message}</text>
</g>
</svg>
"""
PICTURE = "hooks.svg"
EPILOG = """json is what shields.io reads from an endpoint; markdown is the line that shows a hooks.svg next to it.
exit status: 0 written, 2 no such release or run file.
example: python -m reports badge mine.jsonl --out hooks.svg"""


def badge(atlas: Atlas, column: Column) -> dict[str, Any]:
    """Return label, message and colour: how many sentences are true there, and claims of tutorials."""
    found = {(clause, mode): atlas.cell(clause, column, mode) for clause in atlas.clauses for mode in atlas.modes}
    eager = atlas.modes[0]  # other modes have no cells of some clauses
    sentences = {name: one for name, one in atlas.clauses.items() if not one.checks_model}
    cells = [(one.is_claim, name, found[name, eager]) for name, one in sentences.items()]
    statements = [(claim, statement(atlas.clauses[clause], cell)) for claim, clause, cell in cells]
    own, claims = ([each for claim, each in statements if claim == asked] for asked in (False, True))
    apply, judged = ([each for each in every if each.answer not in APPLIES_NOT] for every in (own, claims))
    others = [each for each in apply if each.answer == "otherwise"]
    new = sum(cell.verdict in BROKEN and not cell.declared for cell in found.values())
    unseen = sum(cell.verdict == "unseen" for *_, cell in cells)
    parts = [f"{sum(each.good for each in apply)} of {len(apply)} hold"] if apply else []
    parts += [f"{len(others)} otherwise"] if others else []
    parts += [f"{sum(each.good for each in judged)} of {len(judged)} claims true"] if judged else []
    parts += [f"{new} not declared"] if new else []
    parts += [f"{unseen} not measured"] if unseen and parts else []
    color = BAD if new or unseen or not parts else OTHER if others else GOOD
    label = f"hooks on {forms.torch_of(column.measured)}"
    return {"schemaVersion": 1, "label": label, "message": ", ".join(parts) or "not measured", "color": color}


def as_svg(shield: dict[str, Any]) -> str:
    """Return the badge as a picture."""
    left_text, right_text = (len(shield[key]) * CHARACTER for key in ("label", "message"))
    left, right = left_text + 2 * MARGIN, right_text + 2 * MARGIN
    return SVG.format(
        width=left + right,
        height=HEIGHT,
        left=left,
        right=right,
        left_text=left_text,
        right_text=right_text,
        left_middle=left / 2,
        right_middle=left + right / 2,
        title=escape(f"{shield['label']}: {shield['message']}"),
        label=escape(shield["label"]),
        message=escape(shield["message"]),
        label_color=LABEL,
        color=shield["color"],
    )


def as_text(shield: dict[str, Any]) -> str:
    """Return the words of the badge."""
    return f"{shield['label']}: {shield['message']}\n"


def as_markdown(shield: dict[str, Any]) -> str:
    """Return the line that shows the picture, and its words to who cannot see it."""
    return f"![{forms.escaped(as_text(shield))}]({PICTURE})\n"


FORMS = {"svg": as_svg, "json": forms.as_json, "text": as_text, "markdown": as_markdown}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = add_verb(sub, "badge", run, "an SVG that says how one torch does", EPILOG, __doc__)
    parser.add_argument(
        "runs", nargs="*", type=Path, metavar="RUNFILE", help="runs to show instead of what is recorded"
    )
    parser.add_argument("--torch", metavar="A", help="which torch (default: the newest of the runs, or of all)")
    forms.add_out(parser)
    forms.add_format(parser, FORMS, "svg")
    parser.add_argument("--verdicts", type=Path, default=VERDICTS, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Write the badge."""
    atlas = read_atlas(args, failing=True)
    runs = [column for column in atlas.columns if column.this_run]
    named = (column for column in runs if recorded_as(args.torch or "", [(column.head, column.measured)]) is not None)
    column = next(named, None) or (column_named(atlas.columns, args.torch) if args.torch else atlas.focus)
    shield = badge(atlas, column)
    if args.out is None:
        forms.show(shield, FORMS, args.format)
    else:
        write_atomic(args.out, FORMS[args.format](shield))
        print(one_line(str(args.out)))
    return 0
