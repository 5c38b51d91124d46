"""What torch does against its documentation, in bundles: each ready to be pasted into an issue."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fixtures.run.naming import REPORTS
from reports.data import forms
from reports.data.atlas import Atlas, build
from reports.data.bundles import STRENGTH, Bundle, Said, program, read_bundles
from reports.data.disagreements import Disagreement, versions
from reports.data.names import unknown
from reports.data.strict import ANSWERS_FORMAT
from reports.data.verdicts import VERDICTS, read_recorded, read_table
from reports.verbs.verb import add_verb

EPILOG = """exit status: 0 shown, 2 no such bundle.
example: python -m reports upstream asked-gradient --format markdown"""
BEFORE = "Before you send it: read the page as it is today, and search once more for what was said."
Answer = tuple[Sequence[Bundle], Atlas, bool]


def as_text(answer: Answer) -> str:
    """Return a table of the bundles, or one of them."""
    bundles, _, one = answer
    if one:
        return as_markdown(answer)
    width = max(len(bundle.name) for bundle in bundles)
    lines = [f"{bundle.name:<{width}}  {bundle.strength:<13}  {bundle.title}" for bundle in bundles]
    return "\n".join([*lines, "", f"{REPORTS} upstream NAME prints one, ready to be pasted"]) + "\n"


def as_json(answer: Answer) -> str:
    """Return the bundles as JSON."""
    bundles, atlas, _ = answer
    found = [
        {
            "name": bundle.name,
            "strength": bundle.strength,
            "title": bundle.title,
            "text": bundle.text,
            "said": [{"address": said.address, "what": said.what} for said in bundle.said],
            "scripts": [_script(atlas, script) for script in bundle.scripts],
        }
        for bundle in bundles
    ]
    return forms.as_json({"format": ANSWERS_FORMAT, "bundles": found})


def _script(atlas: Atlas, one: Disagreement) -> dict[str, str]:
    return {
        "clause": one.clause,
        "says": one.sentence,
        "documented": one.documentation,
        "page": one.address,
        "observed": one.torch,
        "torch": versions(atlas, one),
        "program": program(one),
    }


def as_markdown(answer: Answer) -> str:
    """Return each bundle as the text of an issue."""
    bundles, atlas, _ = answer
    return "\n\n".join(_issue(bundle, atlas) for bundle in bundles) + "\n"


def _issue(bundle: Bundle, atlas: Atlas) -> str:
    parts = [f"# {bundle.title}", bundle.text, f"How strong this is: {bundle.strength}, {STRENGTH[bundle.strength]}."]
    for place, script in enumerate(bundle.scripts):
        parts += _proof(script, atlas, "Reproduce" if not place else "The same, seen otherwise")
    said = [_said(one) for one in bundle.said]
    return "\n\n".join([*parts, "## What was said before", "\n".join(said), f"_{BEFORE}_"])


def _proof(script: Disagreement, atlas: Atlas, title: str) -> list[str]:
    return [
        f"## {title}: {script.sentence}",
        f"```python\n{program(script)}```",
        f"* Expected, by [the documentation]({script.address}): {script.documentation}\n"
        f"* Observed: torch {script.torch}\n"
        f"* Measured so on torch {versions(atlas, script)}." + f"\n* Doubt: {script.doubt}" * bool(script.doubt),
    ]


def _said(one: Said) -> str:
    return f"* {one.address}: {one.what}"


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    says = "what one could report to PyTorch: each bundle as the text of an issue"
    parser = add_verb(sub, "upstream", run, says, EPILOG, __doc__, listed=False)
    parser.add_argument("bundle", nargs="?", metavar="BUNDLE", help="print this one alone")
    parser.add_argument("--verdicts", type=Path, default=VERDICTS, help=argparse.SUPPRESS)
    forms.add_format(parser, FORMS)


def run(args: argparse.Namespace) -> int:
    """Print the bundles, or one."""
    bundles = {bundle.name: bundle for bundle in read_bundles()}
    if args.bundle is not None and args.bundle not in bundles:
        raise unknown("bundle", args.bundle, bundles, f"{REPORTS} upstream lists them")
    chosen = list(bundles.values()) if args.bundle is None else [bundles[args.bundle]]
    atlas = build(read_table(args.verdicts), read_recorded(args.verdicts))
    forms.show((chosen, atlas, args.bundle is not None), FORMS, args.format)
    return 0
