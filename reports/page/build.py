"""The page: one offline HTML file, a view of the atlas."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from fixtures.run.naming import REPORTS
from reports.cards.card import shown
from reports.costs.chapter import chapter
from reports.costs.recorded import NOTHING, Record
from reports.data.atlas import Atlas, undeclared
from reports.data.by_mode import CALLS, by_mode
from reports.data.disagreements import Disagreement
from reports.data.forms import begun, torch_of
from reports.data.neighbours import from_to
from reports.data.scope import HOW, scope
from reports.data.uncovered import UNCOVERED
from reports.page.choices import choices
from reports.page.details import NO_EXAMPLES, embedded
from reports.page.matrix import MANY_COLUMNS, MEANINGS, SIGNS, chapters, claims, present, tally
from reports.page.others import linked, others
from reports.page.own import Own
from reports.record.targets import Target
from reports.symptoms.programs import symptoms

TEMPLATES = Path(__file__).parent / "templates"
STYLES = ("tokens", "page", "matrix", "drawer", "views", "disagreements", "costs", "print")
SCRIPTS = (
    "data", "statements", "state", "find", "bars", "filter", "drawer", "highlight", "evidence", "disagreements",
    "choice", "rely", "upgrade", "card", "why", "views", "main",
)  # fmt: skip


def render(
    atlas: Atlas,
    disagreements: Sequence[Disagreement] = (),
    costs: Record = NOTHING,
    examples: Mapping[str, str] = NO_EXAMPLES,
    answer: Own | None = None,
    targets: Sequence[Target] = (),
) -> str:
    """Return the page as HTML; the answer is about the runs that the atlas holds."""
    script = _joined("js", SCRIPTS).replace("python -m reports", REPORTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    found, counts = chapters(atlas), tally(atlas)
    return _template().render(
        atlas=atlas,
        chapters=found,
        focus=atlas.focus,
        counts=counts[atlas.focus.key],
        counts_of=counts,
        undeclared=undeclared(atlas, atlas.focus),
        present=present(atlas),
        signs=SIGNS,
        many=MANY_COLUMNS,
        meanings=MEANINGS,
        known=sum(not column.this_run for column in atlas.columns) or len(atlas.columns),
        span=_span(atlas),
        style=Markup(_joined("css", STYLES)),
        script=Markup(script),
        script_digest=digest,
        embedded=embedded(atlas, disagreements, examples, answer),
        disagreements=len(disagreements),
        claims=claims(atlas),
        costs=chapter(costs),
        own=answer,
        choices=choices(atlas),
        cards=shown(atlas),
        uncovered=UNCOVERED,
        scope=scope(),
        by_mode=by_mode(atlas, atlas.newest),
        calls=CALLS,
        others=others(atlas, targets),
        why=symptoms(),
        how=HOW,
        reports=REPORTS,
    )


def _span(atlas: Atlas) -> str:
    """Return "1.4 to 2.15"."""
    releases = [column for column in atlas.columns if not column.target] or atlas.columns
    return from_to(releases[0].head, releases[-1].head)


@functools.cache
def _template() -> Template:
    loader = FileSystemLoader(TEMPLATES)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(begun=begun, torch_of=torch_of, linked=linked)
    return environment.get_template("page.html")


def _joined(kind: str, names: tuple[str, ...]) -> str:
    return "\n".join((TEMPLATES / kind / f"{name}.{kind}").read_text("utf-8").strip() for name in names)
