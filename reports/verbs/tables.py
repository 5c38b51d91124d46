"""The tables that `record` writes into pages of a clone, each between two marks: <!-- name --> and <!-- /name -->.

The chapters in README.md, the rules of modes in docs/, and where torch and its documentation disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from reports.data.atlas import Atlas
from reports.data.disagreements import Disagreement, known, versions
from reports.data.order import CHAPTERS, chapter_order
from reports.data.strict import BadInput, write_atomic
from reports.data.table import Table
from reports.page.matrix import answers

PAGES = ("README.md", "docs/cheap.md", "docs/compiled.md", "reports/upstream/README.md")
MARKED = re.compile(r"(?<=<!-- )(?P<name>[a-z_ ]+)(?P<head> -->\n)(?P<rows>.*?)(?=<!-- /(?P=name) -->)", re.DOTALL)


def write(root: Path, atlas: Atlas, table: Table) -> list[Path]:
    """Write the tables of a clone; return the pages that have changed."""
    pages = changed(root, made(atlas, table, known(atlas, root / "reports" / "upstream")))
    for path, text in pages.items():
        write_atomic(path, text)
    return list(pages)


def changed(root: Path, tables: Mapping[str, str]) -> dict[Path, str]:
    """Return the pages that are out of date, as they should be. Raises BadInput where a table has no place."""
    found, places = {}, set()
    for path in (root / name for name in PAGES):
        text = path.read_text("utf-8")
        places |= {one["name"] for one in MARKED.finditer(text)}
        fresh = MARKED.sub(lambda one: one["name"] + one["head"] + tables.get(one["name"], ""), text)
        if fresh != text:
            found[path] = fresh
    for name in sorted(tables.keys() - places):
        raise BadInput(root, "", f"no page has a table of {name}", f"put <!-- {name} --> and <!-- /{name} --> in one")
    return found


def made(atlas: Atlas, table: Table, scripts: Iterable[Disagreement]) -> dict[str, str]:
    """Return every table as markdown, by its name."""
    rules = {f"rules of {mode}": _rules(found["rules"]) for mode, found in table.modes.items()}
    return {
        "chapters": _text(_chapters(atlas)),
        "disagreements": _text(_disagreements(atlas, scripts)),
        "left out": _text(_left_out(table)),
        **{name: _text(rows) for name, rows in rules.items()},
    }


def _text(rows: Iterable[str]) -> str:
    return "\n".join(rows) + "\n"


def _chapters(atlas: Atlas) -> Iterator[str]:
    """Yield the chapters, each with what its clauses are on the newest torch."""
    newest = atlas.columns[-1]
    yield f"| chapter | about | clauses | on torch {newest.label} |"
    yield "|---|---|---|---|"
    for chapter in sorted({clause.chapter for clause in atlas.clauses.values()}, key=chapter_order):
        counts = answers(atlas, chapter, newest)
        words = ", ".join(f"{count} {_plural(each, count)}" for each, count in counts.items())
        yield f"| `{chapter}` | {CHAPTERS.get(chapter, '')} | {sum(counts.values())} | {words} |"


def _plural(answer: str, count: int) -> str:
    return answer.removesuffix("s") if answer in ("holds", "deviates") and count > 1 else answer


def _disagreements(atlas: Atlas, scripts: Iterable[Disagreement]) -> Iterator[str]:
    yield "| script | the documentation says | torch does | on torch |"
    yield "|---|---|---|---|"
    for one in scripts:
        script = f"[`{one.clause}`]({one.clause}.py): {one.sentence}"
        yield f"| {script} | {one.documentation} [page]({one.address}) | {one.torch} | {versions(atlas, one)} |"


def _rules(rules: Iterable[Mapping[str, str]]) -> Iterator[str]:
    yield "| rule | what differs from eager | torch | source |"
    yield "|---|---|---|---|"
    for rule in rules:
        source = f"[source]({rule['ref']})" if rule["ref"].startswith("https:") else rule["ref"]
        yield f"| `{rule['name']}` | {rule['says']} | {rule['torch'] or 'all'} | {source} |"


def _left_out(table: Table) -> Iterator[str]:
    """Yield what plans are left out of modes on some releases."""
    yield "| left out are plans that need | because | torch | modes |"
    yield "|---|---|---|---|"
    where: dict[tuple[str, str, str], list[str]] = {}
    for mode, found in table.modes.items():
        for exclusion in found["exclusions"]:
            where.setdefault((exclusion["needs"], exclusion["why"], exclusion["torch"]), []).append(f"`{mode}`")
    for row, modes in where.items():
        yield f"| {' | '.join(row)} | {', '.join(modes)} |"
