"""The page: one offline HTML file, a view of the atlas."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from reports.atlas import VERDICTS, Atlas, undeclared
from reports.costs import Costs
from reports.costs_page import chapter
from reports.details import island
from reports.disagreements import Disagreement
from reports.entrances import entrances
from reports.matrix import CLAIM_SIGNS, MEANINGS, SIGNS, chapters, claims

TEMPLATES = Path(__file__).parent / "templates"
STYLES = ("tokens", "page", "matrix", "drawer", "views", "disagreements", "costs", "print")
SCRIPTS = (
    "data", "state", "bars", "filter", "drawer", "highlight", "evidence", "disagreements", "versions", "runfile",
    "rely", "upgrade", "check", "triage", "build", "views", "main",
)  # fmt: skip


def render(atlas: Atlas, disagreements: Sequence[Disagreement] = (), costs: Sequence[Costs] = ()) -> str:
    """Return the page as HTML."""
    script = _joined("js", SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    found = chapters(atlas)
    return _template().render(
        atlas=atlas,
        chapters=found,
        focus=atlas.focus,
        counts=atlas.counts(atlas.focus),
        undeclared=undeclared(atlas, atlas.focus),
        verdicts=VERDICTS,
        present=_present(atlas),
        signs=SIGNS,
        claim_signs=CLAIM_SIGNS,
        meanings=MEANINGS,
        known=len(atlas.columns),
        span=_span(atlas),
        style=Markup(_joined("css", STYLES)),
        script=Markup(script),
        script_digest=digest,
        island=island(atlas, disagreements),
        disagreements=len(disagreements),
        claims=claims(atlas),
        costs=chapter(costs),
        choices=entrances(atlas),
    )


def _span(atlas: Atlas) -> str:
    """Return "1.4 to 2.15"."""
    keys = [column.key for column in atlas.columns]
    return keys[0] if len(keys) == 1 else f"{keys[0]} to {keys[-1]}"


def _present(atlas: Atlas) -> list[str]:
    """Return the verdicts that stand anywhere on the page."""
    seen = {cell.verdict for cell in atlas.cells.values()}
    if len(atlas.cells) < len(atlas.clauses) * len(atlas.columns) * len(atlas.modes):
        seen.add("unseen")
    return [verdict for verdict in VERDICTS if verdict in seen]


@functools.cache
def _template() -> Template:
    loader = FileSystemLoader(TEMPLATES)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("page.html")


def _joined(kind: str, names: tuple[str, ...]) -> str:
    return "\n".join((TEMPLATES / kind / f"{name}.{kind}").read_text("utf-8").strip() for name in names)
