"""Which releases have a hook API or an option: measured where clauses speak of it, else from a table."""

from __future__ import annotations

from packaging.version import Version

from fixtures.clause.since import SINCE
from reports.data.atlas import Atlas
from reports.data.clause import need
from reports.usage.uses import Use


class Lacking:
    """Hook APIs and options with the releases that lack them."""

    def __init__(self, atlas: Atlas) -> None:
        """Read what was measured: a clause that needs one API alone is absent where a release lacks it."""
        self.lacking: dict[tuple[str, str], set[tuple[int, ...]]] = {}
        self.releases = [_minor(each.version) for each in atlas.columns]
        for name, clause in atlas.clauses.items():
            needed = {need(text) for text in clause.needs}
            cells = ((each, atlas.cell(name, each, atlas.modes[0])) for each in atlas.columns)
            verdicts = [(_minor(each.version), cell.verdict) for each, cell in cells]
            if len(needed) == 1 and needed <= clause.needed and all(verdict != "unseen" for _, verdict in verdicts):
                absent = {release for release, verdict in verdicts if verdict == "absent"}
                self.lacking.setdefault(needed.pop(), absent).intersection_update(absent)
        for text, first in SINCE.items():
            name, _, option = text.removesuffix(")").partition("(")
            self.lacking.setdefault((name, option), {each for each in self.releases if each < Version(first).release})

    def has(self, api: str, option: str, release: Version) -> bool | None:
        """Say whether a release has an API, or one of its options; None where nothing is known of it."""
        lacking = self.lacking.get((api, option))
        return None if lacking is None else _minor(release) not in lacking

    def since(self, api: str, option: str) -> str:
        """Return the release from which on all have an API or an option; nothing where the newest lacks it."""
        after = [each for each in self.releases if each > max(self.lacking[api, option], default=(0, 0))]
        return ".".join(map(str, after[0])) if after else ""

    def name(self, use: Use) -> str:
        """Return what an API goes by here: those of optimizers share names with those of modules, and are older."""
        of_optimizer = f"Optimizer.{use.api}"
        return of_optimizer if use.seen.get("optimizer") and (of_optimizer, "") in self.lacking else use.api


def _minor(version: Version) -> tuple[int, ...]:
    return version.release[:2]
