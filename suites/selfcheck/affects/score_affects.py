"""What `affects` says of labelled code, and how much of it is right.

`python -m suites.selfcheck.affects.score_affects` scores the labelled forms. With a folder it scores the packages of
`packages/` too; those that the folder lacks are put there by pip.
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reports.data.atlas import Atlas, Column, build
from reports.data.names import column_named
from reports.data.verdicts import read_recorded, read_table
from reports.usage.affects import MISSING, Affected, Finding, affects, spans
from reports.usage.answer import spelling
from reports.usage.bounds import read_bounds
from reports.usage.lacks import Lacking
from reports.usage.uses import read_code

LABELLED = Path(__file__).with_name("labelled")
PACKAGES = Path(__file__).with_name("packages")
FIRST, LAST = "1.13", "2.15"
Labels = set[tuple[int, str]]
Place = tuple[str, int]


@dataclass(frozen=True)
class Form:
    """One form: its name, the code, and (line, use) and (line, what is to be said)."""

    name: str
    code: str
    uses: Labels
    said: Labels


@dataclass
class Package:
    """A published package as it was judged by reading it: its uses of hooks, and what concerns them, by place."""

    name: str
    version: str
    group: str
    uses: dict[Place, set[str]] = field(default_factory=dict)
    said: dict[Place, set[str]] = field(default_factory=dict)
    open: dict[Place, set[str]] = field(default_factory=dict)  # what concerns them, but hangs on data


@dataclass
class Score:
    """Sums over packages."""

    places: int = 0
    found: int = 0
    listed: int = 0
    statements: int = 0  # what is printed once for each package, at all its places
    matter: int = 0
    printed: int = 0
    concern: int = 0
    wrong: int = 0
    reported: int = 0
    counted: int = 0
    due: int = 0

    def add(self, other: Score) -> None:
        """Add another."""
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def __str__(self) -> str:
        """Return the figures in one line."""
        return (
            f"places: {_of(self.found, self.places)} found, {_of(self.found, self.listed)} listed are right; "
            f"printed: {_of(self.matter, self.statements)} concern the code, {self.wrong} wrong, "
            f"{_of(self.concern, self.printed)} at each place; "
            f"to be said: {_of(self.reported, self.due)} printed, {_of(self.counted, self.due)} counted"
        )


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({100 * part / whole:.0f} %)" if whole else "")


def forms() -> Iterator[Form]:
    """Yield the labelled forms."""
    for block in (block for file in sorted(LABELLED.iterdir()) for block in file.read_text("utf-8").split("\n## ")[1:]):
        name, _, code = block.strip("\n").partition("\n")
        lines = [line.partition("  #: ") for line in code.split("\n")]
        labels = [(number, *label.partition(" -> ")) for number, (_, _, label) in enumerate(lines, 1)]
        uses = {(number, one) for number, found, _, _ in labels for one in re.split(r", (?![^(]*\))", found) if one}
        said = {(number, one) for number, _, _, found in labels for one in found.split(", ") if one}
        yield Form(name, "\n".join(line for line, _, _ in lines), uses, said)


def packages() -> list[Package]:
    """Return the packages with what was judged of them."""
    read: list[Package] = []
    group, file = "", ""
    for line in (line for each in sorted(PACKAGES.iterdir()) for line in each.read_text("utf-8").splitlines()):
        if found := re.fullmatch(r"## (\S+) (\S+)", line):
            read.append(Package(found[1], found[2], group))
        elif found := re.fullmatch(r"=== (.+)", line):
            group = found[1]
        elif found := re.fullmatch(r"(\S*\.py|) +([\d ]+) (.+?)(?: -> (.+))?", line):
            file, said = found[1] or file, (found[4] or "").split(", ")
            for place in ((file, int(number)) for number in found[2].split()):
                read[-1].uses[place] = set(found[3].split("; "))
                read[-1].said[place] = {each for each in said if each and each[0] != "?"}
                read[-1].open[place] = {each[1:] for each in said if each[:1] == "?"}
    return read


@functools.cache
def recorded() -> tuple[Atlas, Lacking]:
    """Return the committed verdicts."""
    atlas = build(read_table(), read_recorded())
    return atlas, Lacking(atlas)


def columns(first: str = FIRST, last: str = LAST) -> tuple[Column, ...]:
    """Return the releases from one to another."""
    atlas, _ = recorded()
    low, high = (atlas.columns.index(column_named(atlas.columns, each)) for each in (first, last))
    return atlas.columns[low : high + 1]


def effect(path: Path, releases: tuple[Column, ...] | None = None) -> Affected:
    """Return the answer about a file or a folder."""
    atlas, table = recorded()
    return affects(atlas, releases or columns(), read_code(path, table.has), table, str(path), "as asked")


def answer(code: str) -> tuple[Labels, Labels]:
    """Return what is found in a piece of code, and what is said of it, by line; behind "?" what it could show."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "them.py")
        file.write_text(code, encoding="utf-8")
        found = effect(file)
    uses = {(use.line, spelling(use, unsure=False)) for use in found.code.uses}
    could = [one for one in found.unsure if not any(word.startswith("?") for word in one.open)]
    said = {(use.line, _label(one)) for one in found.findings for use in one.uses}
    return uses, said | {(use.line, f"?{one.clause}") for one in could for use in one.uses}


def _label(one: Finding) -> str:
    return one.clause.replace(MISSING, "no ")


def _differs(name: str, releases: tuple[Column, ...]) -> bool:
    """Say whether there is something to say of a clause, or of what is missing, on these releases."""
    atlas, table = recorded()
    if name.startswith("no "):
        api, _, option = name[3:].removesuffix("=)").partition("(")
        return any(table.has(api, option, column.version) is False for column in releases)
    cells = [(column, atlas.cell(name, column, "eager")) for column in releases]
    return len(spans(atlas.clauses[name], cells)) > 1


def score(package: Package, path: Path, releases: tuple[Column, ...]) -> tuple[Score, list[str]]:
    """Return how much is right of what is said of a package, and what is not."""
    found = effect(path, releases)
    mine: dict[Place, set[str]] = {}
    said: dict[Place, set[str]] = {}
    may: dict[Place, set[str]] = {}
    for use in found.code.uses:
        mine.setdefault((use.file, use.line), set()).add(spelling(use, unsure=False))
    for one in found.findings:
        for use in one.uses:
            said.setdefault((use.file, use.line), set()).add(_label(one))
    for one in found.unsure:
        for use in one.uses:
            may.setdefault((use.file, use.line), set()).add(one.clause)
    sums, odd = Score(), []
    reported: dict[str, bool] = {}
    for place in sorted({*package.uses, *mine}):
        at = f"{package.name} {place[0]}:{place[1]}"
        uses, listed = package.uses.get(place, set()), mine.get(place, set())
        due = {each for each in package.said.get(place, set()) if _differs(each, releases)}
        open_ = {each for each in package.open.get(place, set()) if _differs(each, releases)}
        printed, maybe = said.get(place, set()), may.get(place, set())
        reported |= {each: reported.get(each, False) or each in due | open_ for each in printed}
        wrong = {each for each in printed - due - open_ if each.startswith("no ") or not uses}
        sums.add(
            Score(
                places=len(uses),
                found=len(uses & listed),
                listed=len(listed),
                printed=len(printed),
                concern=len(printed & (due | open_)),
                wrong=len(wrong),
                reported=len(printed & (due | open_)),
                counted=len((due | open_) & maybe),
                due=len(due | open_),
            )
        )
        odd += [f"{at} {one}: {what}" for what, which in (
            ("not found", uses - listed), ("no hook", listed - uses), ("wrong", wrong),
            ("does not concern it", printed - due - open_ - wrong), ("only counted", (due & maybe) - printed),
            ("not said", due - printed - maybe), ("not counted", open_ - printed - maybe),
        ) for one in sorted(which)]  # fmt: skip
    sums.statements, sums.matter = len(reported), sum(reported.values())
    return sums, odd


def fetch(package: Package, folder: Path) -> Path:
    """Return where a package lies, and have pip put it there if need be; nothing of it is run."""
    path = folder / f"{package.name}-{package.version}"
    if not path.is_dir():
        what = ["--no-deps", "--no-compile", "--only-binary", ":all:", "--target", str(path)]
        name = f"{package.name}=={package.version}"
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *what, name], check=True)
    return path


def score_packages(folder: Path) -> None:
    """Print the figures of each package, and of each group, for 1.13 to 2.15 and for the package's own releases."""
    sums: dict[tuple[str, str], Score] = {}
    for package in packages():
        path = fetch(package, folder)
        bounds = read_bounds(path)
        own = tuple(column for column in columns() if bounds is None or bounds.admits(column.version))
        for what, releases in ((f"{FIRST} to {LAST}", columns()), ("its own releases of these", own)):
            one, odd = score(package, path, releases)
            sums.setdefault((package.group, what), Score()).add(one)
            print(f"{package.name} {package.version}, {what} ({releases[0].label} to {releases[-1].label}): {one}")
            print("\n".join(f"  {each}" for each in odd), end="\n" if odd else "")
    for (group, what), total in sums.items():
        print(f"\n{group}, {what}\n  " + str(total).replace("; ", "\n  "))


def main(arguments: Iterable[str]) -> int:
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
    for folder in arguments:
        score_packages(Path(folder))
    return 1 if any(wrong or missed for _, wrong, missed in sums.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
