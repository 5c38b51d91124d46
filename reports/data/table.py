"""The clause table: what the suites say of all clauses, and of the rules of modes.

Its only home is the suites: `python -m suites.table` writes it, in a process of its own, since no reader imports them.
It is kept until a source changes; in a wheel it was made by the build.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fixtures.run.naming import READERS
from reports.data.clause import Clauses
from reports.data.strict import BadInput, parse, read_bytes, write_atomic

ROOT = Path(__file__).parents[2]
#: What it is called where it lies next to the folder of the verdicts: in a wheel, and in tests.
NAME = "table.json"
SOURCES = ("suites", "fixtures", "suites/within.json")
NOT_MEASURED = ("suites/selfcheck/", "suites/timing/")
#: How the deviation of a cell begins that a rule of its mode explains.
RULE = "rule "


@dataclass(frozen=True)
class Table:
    """The clauses, and of each mode its rules and exclusions, as plain data."""

    suite: str
    clauses: Clauses
    modes: Mapping[str, Mapping[str, list[dict[str, str]]]] = field(default_factory=dict)
    #: What modes do otherwise within what clauses promise: clause -> [its digest, mode -> rows], see `within.py`.
    within: Mapping[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def rules(self) -> dict[tuple[str, str], str]:
        """The sentences of rules, by the mode and by what a cell calls its deviation."""
        return {(mode, RULE + one["name"]): one["says"] for mode, found in self.modes.items() for one in found["rules"]}

    @functools.cached_property
    def exclusions(self) -> dict[str, str]:
        """What plans need that fall into a exclusion, by its name: a mode may have had one that others have still."""
        return {one["name"]: one["needs"] for found in self.modes.values() for one in found["exclusions"]}


def document(folder: Path) -> Any:
    """Return the table that belongs to a folder of verdicts: the one next to it, or that of the suites here."""
    next_to, ours = folder.parent / NAME, ROOT / "reports" / "out" / NAME
    if next_to.exists():
        return parse(read_bytes(next_to), next_to, "")
    digest = source_digest(ROOT, SOURCES)
    try:
        found = json.loads(ours.read_bytes())
        if found["made_from"] == digest:
            return found
    except (OSError, ValueError, LookupError, TypeError):  # there is none, or it is damaged
        pass
    made = {"made_from": digest, **_made()}
    with suppress(BadInput):  # where nothing can be written, it is made each time
        write_atomic(ours, json.dumps(made))
    return made


def _made() -> dict[str, Any]:
    if find_spec("hypothesis") is None:
        raise ModuleNotFoundError(name="hypothesis")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    given: Any = {"cwd": ROOT, "env": {**os.environ, "PYTHONPATH": path}}
    done = subprocess.run([sys.executable, "-m", "suites.table"], capture_output=True, text=True, check=False, **given)
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        raise BadInput(READERS, "", f"the suites cannot be read ({last})", "see python -m suites.table")
    return json.loads(done.stdout)


def source_digest(root: Path, names: tuple[str, ...], without: tuple[str, ...] = NOT_MEASURED) -> str:
    """Return the digest of files, and of all Python files in folders."""
    files = {
        path for name in names for path in ((root / name).rglob("*.py") if (root / name).is_dir() else [root / name])
    }
    digest = hashlib.sha256()
    for path in sorted(files):
        name = path.relative_to(root).as_posix()
        if path.exists() and not name.startswith(without):
            digest.update(f"{name}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]
