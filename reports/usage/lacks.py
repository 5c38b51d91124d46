"""Which releases have a hook API or an option: measured where clauses speak of it, else from a table."""

from __future__ import annotations

from collections.abc import Mapping

from packaging.version import Version

from fixtures.judge.unstated import SINCE
from reports.data.about import about, need
from reports.data.atlas import Atlas
from reports.usage.uses import Use

Api = tuple[str, str]


class Table:
    """Hook APIs and options with the releases that lack them."""

    def __init__(self, atlas: Atlas) -> None:
        """Read what was measured: a clause that needs one API alone is absent where a release lacks it."""
        self.lacking: dict[Api, set[tuple[int, ...]]] = {}
        mode = atlas.modes[0]
        for clause, record in atlas.clauses.items():
            needed = {need(text) for text in record["needs"]}
            if len(needed) == 1 and needed <= about(record):
                verdicts = {column: atlas.cell(clause, column, mode).verdict for column in atlas.columns}
                absent = {_minor(column.version) for column, verdict in verdicts.items() if verdict == "absent"}
                unseen = {_minor(column.version) for column, verdict in verdicts.items() if verdict == "unseen"}
                if not unseen:
                    self.lacking.setdefault(needed.pop(), absent).intersection_update(absent)
        for text, first in SINCE.items():
            before = {_minor(each.version) for each in atlas.columns if _minor(each.version) < Version(first).release}
            name, _, option = text.removesuffix(")").partition("(")
            self.lacking.setdefault((name, option), before)

    def has(self, api: str, option: str, release: Version) -> bool | None:
        """Say whether a release has an API, or one of its options; None where nothing is known of it."""
        lacking = self.lacking.get((api, option))
        return None if lacking is None else _minor(release) not in lacking

    def name(self, use: Use) -> str:
        """Return what an API goes by here: those of optimizers share names with those of modules, and are older."""
        of_optimizer = f"Optimizer.{use.api}"
        return of_optimizer if use.hooked.words.get("optimizer") and (of_optimizer, "") in self.lacking else use.api

    def options(self) -> Mapping[str, list[str]]:
        """Return the options of each API that some release lacks; the empty one is the API."""
        found: dict[str, list[str]] = {}
        for api, option in sorted(self.lacking):
            found.setdefault(api, []).append(option)
        return found


def _minor(version: Version) -> tuple[int, ...]:
    return version.release[:2]
