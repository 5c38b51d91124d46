"""The torch versions of tox.ini, and what is on the disk about each of them."""

from __future__ import annotations

import configparser
import contextlib
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fixtures.run.naming import named
from fixtures.run.progress import clock
from reports.data.names import version_hint
from reports.data.runfile import Follower
from reports.data.strict import BadInput

RUNS = Path("reports/out/runs")
PARTS = Path("reports/out/parts")
COUNTS = Path("reports/out/counts")
WORK = Path("reports/out/sweep")
PIN = re.compile(r"^torch(?P<minor>\d+\.\d+)\b[^:]*:\s*torch==(?P<patch>\S+)$")
MEASURED = ("suites", "fixtures", "conftest.py", "pyproject.toml")  # what a run depends on
COUNTED = ("suites/timing", "fixtures")  # what counting depends on
LONGEST_NAME = 60  # characters of the folder of a part
# A prefix of clause ids, and the name of a mode, as the suite knows them.
PREFIX = re.compile(r"[a-z][a-z0-9_.]*")
MODE = re.compile(r"[a-z][a-z0-9_-]*")
# The lines of a tox log that say why it failed, the clearest first.
REASONS = (
    re.compile(r"^ERROR: --(clauses|mode) \S+: no "),  # said by the suite: no torch will know it
    re.compile(r"^suites\.timing: "),
    re.compile(r": no python\S* here"),
    re.compile(r"\b(error|no solution|not found)\b", re.IGNORECASE),
)
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def known_versions(tox_ini: Path) -> dict[str, str]:
    """Return the exact torch of each minor version, in the order of tox.ini."""
    read = configparser.ConfigParser(interpolation=None)
    read.read_string(tox_ini.read_text(encoding="utf-8"))
    pins = (PIN.match(line.strip()) for line in read["testenv"]["deps"].splitlines())
    return {pin["minor"]: pin["patch"] for pin in pins if pin}


def pick(asked: Iterable[str], known: dict[str, str]) -> list[str]:
    """Return the minor versions asked for, in the order of tox.ini; all when none is named."""
    named = {patch: minor for minor, patch in known.items()} | {minor: minor for minor in known}
    chosen = set()
    for word in asked:
        plain = word.removeprefix("torch")
        if plain not in named:
            raise BadInput("tox.ini", "", f"no torch version {word!r} there", version_hint(plain, list(known)))
        chosen.add(named[plain])
    return [minor for minor in known if minor in chosen or not chosen]


def disk_usage(folder: Path) -> int:
    """Return the bytes that a folder takes on the disk, a file with several names counted once."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # tox and uv move files meanwhile
                entry = os.lstat(os.path.join(parent, name))
                if (entry.st_dev, entry.st_ino) not in seen:
                    seen.add((entry.st_dev, entry.st_ino))
                    total += entry.st_blocks * 512
    return total


@dataclass(frozen=True)
class Asked:
    """What is asked of each torch: the whole suite in eager mode, or some clauses, or other modes."""

    clauses: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for option, words, fits in (("--clauses", self.clauses, PREFIX), ("--mode", self.modes, MODE)):
            for word in words:
                if not fits.fullmatch(word):
                    hint = "the beginning of a clause id, as in gradient.errors." if option == "--clauses" else "a name"
                    raise BadInput("sweep", "", f"{option} {word!r} cannot be one", f"give {hint}")

    @property
    def folder(self) -> Path:
        """Where its run files lie: those of the whole suite are not replaced by others."""
        if not (self.clauses or self.modes):
            return RUNS
        name = "+".join(sorted({one.rstrip(".") for one in self.clauses})) or "all"
        name += "".join(f"@{mode}" for mode in sorted(set(self.modes)))
        if len(name) > LONGEST_NAME:
            name = f"{name[:LONGEST_NAME]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
        return PARTS / name

    @property
    def words(self) -> list[str]:
        """The options of the suite that choose it."""
        chosen = [("--clauses", one) for one in self.clauses] + [("--mode", one) for one in self.modes]
        return [word for pair in chosen for word in pair]


@dataclass
class Release:
    """One torch version on its way through the sweep."""

    minor: str
    patch: str
    root: Path
    counting: bool = False  # what hooks cost, instead of the verdicts
    part: Asked = field(default_factory=Asked)
    state: str = "waiting"  # waiting, kept, running, measured, incomplete, not installed
    says: str = ""
    seconds: float = 0.0
    installing: float = 0.0  # how much of that
    follower: Follower = field(init=False)

    def __post_init__(self) -> None:
        self.follower = Follower(self.run_file)

    @property
    def env(self) -> str:
        return f"torch{self.minor}"

    @property
    def folder(self) -> Path:
        return self.root / (COUNTS if self.counting else self.part.folder)

    @property
    def run_file(self) -> Path:
        if self.counting:
            return self.folder / f"{self.env}.json"
        return self.folder / named(self.asked.name, self.part.modes)

    @property
    def asked(self) -> Path:
        """The run file that the suite is given: it adds the modes to the name."""
        return self.folder / f"{self.env}.jsonl"

    @property
    def note_file(self) -> Path:
        return self.folder / f"{self.env}.sweep.json"

    @property
    def tox_log(self) -> Path:
        return self.folder / f"{self.env}.tox.log"

    @property
    def env_folder(self) -> Path:
        return self.root / WORK / "tox" / self.env

    @property
    def complete(self) -> bool:
        return self.state in ("kept", "measured")

    @property
    def begun(self) -> bool:
        """Whether there is something to go on with. What is counted is written at the end, and never in part."""
        return not self.counting and self.follower.header is not None

    @property
    def ended(self) -> bool:
        """Whether all is measured, and written."""
        return self.run_file.exists() if self.counting else self.follower.finished

    def update(self) -> None:
        """Read on in the run file; a damaged one counts as none."""
        if self.counting:
            return
        try:
            self.follower.read()
        except BadInput:
            self.follower = Follower(self.run_file)

    def far(self) -> str:
        """Say how far the measuring is."""
        if self.counting:
            lines = (
                self.tox_log.read_text(encoding="utf-8", errors="replace").splitlines() if self.tox_log.exists() else []
            )
            return next((line for line in reversed(lines) if line.startswith("seed ")), "installing")
        return self.follower.progress or "installing"

    def counts(self) -> str:
        """Say how many cells got which verdict, and how many deviations nobody has declared."""
        if self.counting:
            return "counted"
        cells = self.follower.cells.values()
        counts = Counter(cell.verdict for cell in cells)
        text = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
        undeclared = sum(cell.new for cell in cells)
        return f"{text} ({undeclared} not declared)" if undeclared else text


def has_note(version: Release, note: dict[str, Any]) -> bool:
    """Tell whether the run file of a version belongs to this note."""
    try:
        return json.loads(version.note_file.read_text(encoding="utf-8")) == note
    except (OSError, ValueError):
        return False


def reason(log: Path) -> str:
    """Return the line of a tox log that says best why it failed."""
    lines = [ANSI.sub("", line).strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    telling = [line for pattern in REASONS for line in lines if pattern.search(line)]
    said = (telling or [line for line in lines if line] or ["tox said nothing"])[0]
    return f"{said[:200]} (all of it: {log.name})"


def line_of(version: Release) -> str:
    """Say in one line what became of a version."""
    times = f"{clock(version.installing):>7} {clock(version.seconds):>6}"
    return f"{version.env:<10} {version.state:<12} {times}  {version.says}"
