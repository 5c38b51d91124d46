"""The steps of a clause on its way into the suite: each says what it found, and what is missing."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from fixtures.clause.clause import Clause
from fixtures.run.naming import REPORTS
from fixtures.show.bundle import Unfit
from fixtures.show.example import program, span
from fixtures.show.typical import shows_none, shows_typical
from fixtures.stages.stage import missing
from reports.data.cell import Cell
from reports.record.torches import PARTS
from suites.examples import known_of, recorded, typical_of, wrong
from suites.selfcheck.author import measured
from suites.selfcheck.author.about import faults_of_about, not_drawn
from suites.selfcheck.author.asserted import EXCEPT, reported
from suites.selfcheck.author.matters_if import faults_of_matters_if
from suites.selfcheck.author.sources import fault_of_level, fault_of_source, faults_of_clause
from suites.selfcheck.core.counterexamples import MANY, tried
from suites.selfcheck.mutants.record import known_by, reached, rejected_by

#: Plans that break the sentence are shown, and seconds for which a mutant is looked for.
SHOWN, PATIENCE = 3, 60.0
SEED = 5
MUTANTS = "python -m suites.selfcheck.mutants --record"


@dataclass
class Found:
    """What a step found: in short, what is missing, and what a person has to read."""

    says: str
    missing: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)

    def lines(self, name: str, seconds: float) -> Iterator[str]:
        """Yield the step in one line, and what is to be done or to be read below it."""
        verdict = "missing" if self.missing else "read" if self.read else "ok"
        yield f"{verdict:<8} {name:<15} {seconds:5.1f} s  {self.says}"
        yield from (f"{'':11}{line}" for line in self.missing + self.read)


class Author:
    """A clause, and what was measured of it."""

    def __init__(self, clause: Clause) -> None:
        self.clause = clause
        self.known = measured.known(clause)
        self.cells: Mapping[str, Cell] = self.known

    @property
    def here(self) -> bool:
        """Whether the torch that is here has what the clause needs."""
        return not missing(self.clause.needs)

    def mark(self) -> Found:
        """The rules of clauses hold, or importing would have failed; sources, what it is about, words of users."""
        one, newest, here = self.clause, [*recorded()][-1], measured.minor_here()
        faults = [fault_of_level(one), *faults_of_clause(one), *faults_of_about(one)]
        if here == newest:
            faults += [f"{source}: {fault}" for source in one.source if (fault := fault_of_source(source))]
        if self.here and one.played and (undrawn := not_drawn(one)):
            faults.append(f"no plan registers {', '.join(sorted(undrawn))}: draw it, or correct about=")
        if not one.asked and not one.checks_model:
            faults.append("asked= is missing: what people type who have the problem and do not know the sentence")
        unread = "" if here == newest else f"; source= is looked for with torch {newest} only, here is {here}"
        return Found(f"level {one.level}{unread}", [fault for fault in faults if fault])

    def counterexamples(self) -> Found:
        """Plans with more in them that break its sentence: whether they are inside it only a reader can tell."""
        if not self.clause.plays or self.clause.checks_model or not self.here:
            return Found("not searched: " + self.why_not())
        found = sorted(tried(self.clause, MANY, SEED).items(), key=lambda one: len(repr(one[1][0])))
        lines = [f"{f'with {words[0]}: ' if words else ''}{plan!r}" for words, (plan, _) in found[:SHOWN]]
        says = f"{len(found)} of {MANY} plans with additions break it"
        return Found(
            says
            + "; where one of these is inside says= and where=, say less, or assert no more than is said" * bool(lines),
            read=lines,
        )

    def why_not(self) -> str:
        """Why a clause is not played on the model."""
        if self.clause.checks_model:
            return "it compares whole plans with the model"
        return "torch here lacks what it needs" if not self.here else "it draws no plan of the whole grammar"

    def assertion(self) -> Found:
        """Its test alone refuses other traces, or there is a value to refute."""
        one = self.clause
        if not one.played:
            others = [reading.name for reading in one.readings[1:]]
            fault = 'wrong={"a name": value} is missing: what the test must refute'
            return Found(f"to be refuted: {', '.join(others)}", [] if others else [fault])
        if one.checks_model or not self.here:
            return Found("not tried: " + self.why_not())
        passed = reported(one) - {(name, what) for name, (what, _) in EXCEPT.items()}
        faults = [f"it accepts traces that are changed in {what}: assert what says= says of it" for _, what in passed]
        return Found("its test alone refuses changed traces" if not faults else "its test asserts too little", faults)

    def mutant(self) -> Found:
        """A mutant of the model fails it."""
        name = self.clause.id
        if not self.clause.played or not self.here:
            return Found("not tried: " + ("it draws nothing that the model plays" if self.here else self.why_not()))
        if mutant := known_by(name):
            return Found(f"fails on {mutant.name}")
        if mutant := rejected_by(name, reached([name])[name], PATIENCE):
            return Found("no recorded mutant fails it, another does", [f"{MUTANTS} {name} keeps {mutant.name}"])
        tells = f"none was found in {PATIENCE:g} s: {MUTANTS} {name} tries all; where none fails it, it cannot fail"
        return Found("no mutant fails it", [tells])

    def torch(self) -> Found:
        """What torch does here, in the oldest environment and in the newest."""
        pythons = measured.chosen(measured.environments())
        cells = {minor: measured.measure(self.clause, minor, python) for minor, python in pythons.items()}
        self.cells = self.known or cells
        faults = [f"torch {minor}: {fault}" for minor, cell in cells.items() if (fault := measured.fault(cell))]
        if faults:
            script = f"{REPORTS} explain {self.clause.id} --run {measured.folder(self.clause)}/torchX.Y.jsonl"
            faults.append(f"torch is right? correct the test, or write readings= or a Cause; a script: {script}")
        says = "; ".join(f"torch {minor} {measured.what(cell)}" for minor, cell in cells.items())
        oldest = next(iter(recorded()))
        return Found(says + f"; for an older one: tox -e torch{oldest} --notest" * (oldest not in cells), faults)

    def matters_if(self) -> Found:
        """Where releases differ, it says when that matters."""
        faults = [*faults_of_matters_if(self.clause, self.cells.values())]
        return Found(self.clause.matters_if or "the same on all releases that are known", faults)

    def example(self) -> Found:
        """Its example, of what is recorded, or else of what was measured just now, run on the torch that is here."""
        one = self.clause
        if shows_none(one):
            return Found("none: it compares whole programs with the definition of a hook")
        cells = {minor: {one.id: {"verdict": cell.verdict}} for minor, cell in self.cells.items()}
        known = known_of(one, cells)
        try:
            text = program(one, known)
        except Unfit as why:
            return Found("cannot be made", [str(why)])
        path = measured.folder(one) / f"{one.id}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        said = wrong(one, known, measured.minor_here(), path.parent)
        says = f"{len(text.splitlines())} lines: {os.path.relpath(path, measured.ROOT)}"
        return Found(says, [f"does not say on torch here what is known: {said}"] if said is not None else [])

    def record(self) -> Found:
        """Which releases are recorded with the clause as it is."""
        name, releases = self.clause.id, [*recorded()]
        unseen = [minor for minor in releases if minor not in self.known]
        faults = []
        if unseen:
            files = f"{PARTS / name}/torch*.jsonl".replace("\\", "/")
            faults += [
                f"tox -e sweep -- --clauses {name}",
                f"tox -e reports -- record {files}; then read the diff of reports/verdicts/",
            ]
        if shows_typical(self.clause) and typical_of(self.clause) is None:
            faults.append(f"python -m suites.examples --draw {name}, once recorded, keeps the plan of its example")
        where = f"not on {span(unseen, releases)}" if unseen else f"on all {len(releases)} releases"
        return Found(f"recorded with this text {where}", faults)

    def attack(self) -> Found:
        """What nobody but a fresh reader can do."""
        shown = [*self.clause.stated.splitlines(), f"see {', '.join(self.clause.see)}" if self.clause.see else ""]
        return Found("give somebody these words alone, to find a program that breaks them", read=[*filter(None, shown)])

    def steps(self) -> dict[str, Callable[[], Found]]:
        """The steps in their order."""
        return {
            "mark": self.mark,
            "counterexamples": self.counterexamples,
            "assertion": self.assertion,
            "mutant": self.mutant,
            "torch": self.torch,
            "matters_if": self.matters_if,
            "example": self.example,
            "record": self.record,
            "attack": self.attack,
        }


def report(clause: Clause) -> int:
    """Print each step as soon as it is done; return 1 where something is missing."""
    lacking = []
    for name, step in Author(clause).steps().items():
        began = time.monotonic()
        try:
            found = step()
        except Exception as error:  # noqa: BLE001 - whatever a test raises, the next step tells more
            where = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__}: {error}".partition("\n")[0]
            found = Found("does not end", [f"{what} ({os.path.relpath(where.filename, measured.ROOT)}:{where.lineno})"])
        lacking += [name] * bool(found.missing)
        print(*found.lines(name, time.monotonic() - began), sep="\n", flush=True)
    print(f"{clause.id}: " + (f"missing in {', '.join(lacking)}" if lacking else "nothing is missing"))
    return 1 if lacking else 0
