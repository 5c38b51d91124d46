"""Recorded targets: what was measured where that is more than a release on the CPU, a file each.

A file is written from one complete run, and nothing in it is typed by hand: who, what is not there and what differs,
each with the reason and the link of the target's own file, and by verdict the clauses with the beginnings of the
digests of their texts; of those that conform, which are most, the digests alone. A clause with another text now was
not measured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from fixtures.judge.triage import NO_MATTER, fails
from fixtures.run.naming import READERS, REPORTS
from fixtures.target.features import FEATURES
from fixtures.target.target import KNOWN
from reports.data.clause import Clauses
from reports.data.layout import laid_out
from reports.data.runfile import Run, minor
from reports.data.strict import BadInput, foreign_format, parse, read_bytes, shown, validate, write_atomic
from reports.data.verdicts import VERDICTS

FOLDER, EAGER = "targets", "eager"
NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
#: How many signs of a digest tell two texts of one clause apart, and the longest script that is kept.
DIGEST, LONGEST = 6, 6_000
HINT = f"record it again: {REPORTS} record --target NAME RUN"
NEEDS, CONFORMS, REFUSED = "needs ", "conforms", "refused"


@dataclass(frozen=True)
class Target:
    """A recorded target: what is in its file, and for each clause that does not conform its verdict and digest."""

    name: str
    record: Mapping[str, Any]
    clauses: Mapping[str, tuple[str, str]]
    #: Clause -> why it was refused.
    notes: Mapping[str, str]
    #: Chapter and digest of the clauses that conform.
    conforms: Set[tuple[str, str]]

    @property
    def words(self) -> str:
        """Who was measured, in one line."""
        return str(self.record["words"])

    @property
    def release(self) -> str:
        """The minor version of its torch."""
        return minor(Version(self.record["torch"]))

    @property
    def known(self) -> Mapping[str, Mapping[str, str]]:
        """Clause -> verdict, reason and script of what differs as the target's file says."""
        found: Mapping[str, Mapping[str, str]] = self.record["known"]
        return found

    @property
    def without(self) -> str:
        """What was left out, plans as well as clauses, as the end of a sentence; nothing where nothing was."""
        words = ", ".join(one["words"] for one in self.record["lacks"].values())
        return f"; what needs {words} was left out" if words else ""

    def measured(self, clauses: Clauses) -> dict[str, str]:
        """Return the verdict of each of these clauses that was measured with the text that it has now."""
        found = {}
        for name, clause in clauses.items():
            verdict, digest = self.clauses.get(name, (CONFORMS, ""))
            now = clause.digest[:DIGEST]
            if digest == now or (not digest and (clause.chapter, now) in self.conforms):
                found[name] = verdict
        return found

    def lacks(self, note: str) -> list[str]:
        """Return the features that a note says are needed, of those that are not there."""
        needed = note.removeprefix(NEEDS).split(", ") if note.startswith(NEEDS) else []
        return [name for name, one in self.record["lacks"].items() if one["words"] in needed]


def read_targets(folder: Path = VERDICTS) -> list[Target]:
    """Return all recorded targets, by name. Raises BadInput for a file that is damaged."""
    return [_read(path) for path in sorted((folder / FOLDER).glob("*.json"))]


def target_named(name: str, folder: Path = VERDICTS) -> Target:
    """Return the recorded target of this name. Raises BadInput with those that exist."""
    found = {one.name: one for one in read_targets(folder)}
    if name not in found:
        known = f"recorded are {', '.join(found)}" if found else "none is recorded"
        raise BadInput(READERS, "", f"no target {shown(name)} is recorded", known)
    return found[name]


def _read(path: Path) -> Target:
    found = parse(read_bytes(path), path, "", HINT)
    foreign_format(found, path, "")
    validate(found, "target.schema.json", path, "", HINT)
    clauses, notes = {}, {}
    refused = ((REFUSED, note, digests) for note, digests in found["refused"].items())
    for verdict, note, digests in (*((verdict, "", one) for verdict, one in found["verdicts"].items()), *refused):
        clauses.update((name, (verdict, digest)) for name, digest in digests.items())
        notes.update(dict.fromkeys(digests if verdict == REFUSED else (), note))
    conforms = {
        (chapter, digests[at : at + DIGEST])
        for chapter, digests in found[CONFORMS].items()
        for at in range(0, len(digests), DIGEST)
    }
    missing = found["known"].keys() - clauses.keys()
    if missing:
        raise BadInput(path, "known", f"{min(missing)} has no verdict", HINT)
    return Target(path.stem, found, clauses, notes, conforms)


def record_target(name: str, runs: list[Run], folder: Path = VERDICTS) -> Path:
    """Write the file of a target from its one run; return its path."""
    if not NAME.fullmatch(name):
        fault = f"{shown(name)} is no name for a target"
        raise BadInput("record", "--target", fault, "take small letters, digits, - and _, such as torch_xla")
    if len(runs) != 1:
        raise BadInput("record", "--target", f"a target is recorded from one run, not {len(runs)}", "name one run file")
    document = made(runs[0])
    path = folder / FOLDER / f"{name}.json"
    validate(document, "target.schema.json", path, "", HINT)
    write_atomic(path, as_written(document))
    return path


def as_written(document: Mapping[str, Any]) -> str:
    """Return the text of a file."""
    return "{" + ",\n".join(f'"{key}": {laid_out(value, " ")}' for key, value in document.items()) + "}\n"


def made(run: Run) -> dict[str, Any]:
    """Return what is recorded of a run. Raises BadInput for one that is no complete run of a target."""
    header, target = run.header, run.target
    lines = {clause: line for (clause, mode), line in run.lines.items() if mode == EAGER}
    failed = [clause for (clause, _), line in run.lines.items() if fails(line)]
    if target is None:
        raise BadInput(run.path, "", f"is a run of torch {run.measured}, no target", f"{REPORTS} record {run.path}")
    fault, hint = "", "run all clauses with --target FILE --profile recorded"
    if header["profile"] != "recorded":
        fault = f"was run with the profile {header['profile']}, whose plans are others each time"
    elif not (header.get("whole") and header["shard"][1] == 1) or not run.footer:
        fault = "is no run of all clauses"
    elif failed:
        fault = f"{failed[0]} fails" + f", and {len(failed) - 1} more" * (len(failed) > 1)
        hint = f"name what is known in the target's file, {REPORTS} known {run.path} drafts it, and run again"
    if fault:
        raise BadInput(run.path, "", fault, hint)
    verdicts: dict[str, dict[str, str]] = {}
    refused: dict[str, dict[str, str]] = {}
    conforms: dict[str, str] = {}
    for clause, line in sorted(lines.items()):
        verdict, chapter = line["verdict"], run.clauses[clause].chapter
        digest = run.clauses[clause].digest[:DIGEST]
        if verdict == CONFORMS:
            conforms[chapter] = conforms.get(chapter, "") + digest
        elif verdict == REFUSED:
            refused.setdefault(line["note"], {})[clause] = digest
        else:
            verdicts.setdefault(verdict, {})[clause] = digest
    known = {clause: _known(line) for clause, line in sorted(lines.items()) if line.get("deviation") == KNOWN}
    plain = ("torch", "build", "device", "suite", "python", "platform", "instruments", "hypothesis", "began")
    return {
        "format": 1,
        **{name: target[name] for name in ("words", "title", "dtype", "wrap", "setup", "imports")},
        **{name: header[name] for name in plain if header.get(name)},
        "lacks": {
            name: {"words": FEATURES[name].words if name in FEATURES else name, "why": why}
            for name, why in target["lacks"].items()
        },
        "known": known,
        "refused": refused,
        "verdicts": verdicts,
        "conforms": conforms,
    }


def _known(line: Mapping[str, Any]) -> dict[str, str]:
    """Return what is kept of a known difference: the script where it is small."""
    script = (line["evidence"] or {}).get("reproducer", "")
    return {
        "verdict": line["verdict"],
        "why": line["note"],
        **({"apart": NO_MATTER} if NO_MATTER in line.get("signs", ()) else {}),
        **({"script": script} if 0 < len(script) <= LONGEST else {}),
    }
