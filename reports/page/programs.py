"""The examples of the clauses: a program each, made by `python -m suites.examples --write`, which needs no torch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fixtures.run.naming import READERS, REPORTS, cache
from fixtures.run.recorded import names
from reports.data.strict import BadInput, write_atomic
from reports.data.table import SOURCES, source_digest
from reports.data.verdicts import VERDICTS

ROOT = Path(__file__).parents[2]
#: All examples, and the digest of what they were made from.
KEPT = Path(cache()) / "examples.json"
STDERR = 2


def examples(kept: Path = KEPT) -> dict[str, str]:
    """Return clause -> example of all clauses that have one; kept ones, where nothing they are made from has changed.

    Raises BadInput where they cannot be made, ModuleNotFoundError without Hypothesis, which the suites draw with.
    """
    found, digest = _kept(kept)
    if found is None:
        print("making the examples of all clauses; they are kept for the next time", file=sys.stderr)
        found = _made()
        with suppress(BadInput):  # where nothing can be written, they are made each time
            write_atomic(kept, json.dumps({"made_from": digest, "examples": found}))
    return found


def example(clause: str, kept: Path = KEPT) -> str:
    """Return the example of one clause. Raises as `examples` does, and BadInput where it has none."""
    found, _ = _kept(kept)
    return (found or {}).get(clause) or _made(clause)[clause]


def asked_by(clause: str) -> str:
    """Return the command that prints the example of a clause."""
    return f"{REPORTS} explain {clause} --example"


def _kept(kept: Path) -> tuple[dict[str, str] | None, str]:
    """Return the kept examples, unless they are of other sources, and the digest of the sources that are there."""
    recorded = [(VERDICTS / name).relative_to(ROOT).as_posix() for name in names(str(VERDICTS))]
    digest = source_digest(ROOT, (*SOURCES, *recorded))
    try:
        found = json.loads(kept.read_text(encoding="utf-8"))
        return (found["examples"] if found["made_from"] == digest else None), digest
    except (OSError, ValueError, LookupError, TypeError):  # there is none, or it is damaged
        return None, digest


def _made(*clauses: str) -> dict[str, str]:
    """Return the examples of these clauses, or of all, made in a process of its own: reports import no suite."""
    if find_spec("hypothesis") is None:
        raise ModuleNotFoundError(name="hypothesis")
    with tempfile.TemporaryDirectory() as room:
        command = [sys.executable, "-m", "suites.examples", "--write", room, *clauses]
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        given: Any = {"cwd": ROOT, "env": {**os.environ, "PYTHONPATH": path}}
        given |= {"stdout": STDERR, "stderr": subprocess.PIPE}  # how many are made is no part of an answer
        done = subprocess.run(command, text=True, errors="replace", check=False, **given)
        found = {path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(room).glob("*.py"))}
    last = done.stderr.strip().rpartition("\n")[2]
    for clause in clauses:
        if clause not in found:
            raise BadInput(READERS, "", f"there is no example of {clause}", last)
    if done.returncode not in (0, 1):
        raise BadInput(READERS, "", "the examples cannot be made", last)
    sys.stderr.write(done.stderr)  # those that have none, each with the reason
    return found


class Lines:
    """Lines stored once: the programs have most of theirs in common."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    @property
    def values(self) -> list[str]:
        """All lines, in the order of their places."""
        return list(self.places)

    def packed(self, text: str) -> list[int]:
        """Return a text as the places of its lines; -n stands for the n lines that follow the one before."""
        found: list[int] = []
        last = -1
        for line in text.split("\n"):
            place = self.places.setdefault(line, len(self.places))
            if not found or place != last + 1:
                found.append(place)
            elif found[-1] < 0:
                found[-1] -= 1
            else:
                found.append(-1)
            last = place
        return found
