"""What `affects` says of labelled code: `python -m suites.selfcheck.scored` prints how much of it is right."""

from __future__ import annotations

import functools
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reports.data.atlas import Atlas, build
from reports.data.names import column_named
from reports.data.verdicts import read_recorded, read_table
from reports.usage.affects import Effect, affects
from reports.usage.answer import spelling
from reports.usage.lacks import Table
from reports.usage.uses import read_code

LABELLED = Path(__file__).with_name("labelled.txt")
Labels = set[tuple[int, str]]


@dataclass(frozen=True)
class Form:
    """One form: its name, the code, and (line, use) and (line, what is to be said)."""

    name: str
    code: str
    uses: Labels
    said: Labels


def forms() -> Iterator[Form]:
    """Yield the labelled forms."""
    for block in LABELLED.read_text(encoding="utf-8").split("\n## ")[1:]:
        name, _, code = block.strip("\n").partition("\n")
        lines = [line.partition("  #: ") for line in code.split("\n")]
        labels = [(number, *label.partition(" -> ")) for number, (_, _, label) in enumerate(lines, 1)]
        uses = {(number, one) for number, found, _, _ in labels for one in found.split(", ") if one}
        said = {(number, one) for number, _, _, found in labels for one in found.split(", ") if one}
        yield Form(name, "\n".join(line for line, _, _ in lines), uses, said)


@functools.cache
def recorded() -> tuple[Atlas, Table]:
    """Return the committed verdicts."""
    atlas = build(read_table(), read_recorded())
    return atlas, Table(atlas)


def effect(path: Path, first: str = "1.13", last: str = "2.15") -> Effect:
    """Return the answer about a file or a folder."""
    atlas, table = recorded()
    low, high = (atlas.columns.index(column_named(atlas.columns, each)) for each in (first, last))
    return affects(atlas, atlas.columns[low : high + 1], read_code(path, table.has), table, str(path), "as asked")


def answer(code: str) -> tuple[Labels, Labels]:
    """Return what is found in a piece of code, and what is said of it, by line."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "them.py")
        file.write_text(code, encoding="utf-8")
        found = effect(file)
    uses = {(use.line, spelling(use, unsure=False)) for use in found.code.uses}
    said = {(use.line, one.clause) for one in found.findings for use in one.uses}
    return uses, said | {(use.line, f"no {one.name}") for one in found.missing for use in one.uses}


def main() -> int:
    """Print what is not as labelled, and the sums."""
    sums = {"uses": [0, 0, 0], "said": [0, 0, 0]}
    for form in forms():
        for what, found, wanted in zip(sums, answer(form.code), (form.uses, form.said), strict=True):
            for place, number in enumerate((len(found & wanted), len(found - wanted), len(wanted - found))):
                sums[what][place] += number
            if found != wanted:
                print(f"{form.name}: {what}: wrong {sorted(found - wanted)}, missed {sorted(wanted - found)}")
    for what, (right, wrong, missed) in sums.items():
        print(f"{what}: {right} right, {wrong} wrong, {missed} missed")
    return 1 if any(wrong or missed for _, wrong, missed in sums.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
