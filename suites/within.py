"""What each mode does otherwise within what a clause promises: python -m suites.within asks the models of the modes.

The verdict of a cell says that torch does in a mode what the model of the mode predicts, on every plan that was drawn.
So it is asked without torch for which of a clause's plans its own test fails in the place of torch. It is made for the
newest of neighbouring releases that have the same rules, and kept with the digest of the clause and those of the rules.
"""

import argparse
import hashlib
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, Dict, FrozenSet, Iterator, List, Optional, Sequence, Tuple

from hypothesis.errors import UnsatisfiedAssumption

from fixtures.clause.about import used
from fixtures.clause.cause import in_force
from fixtures.clause.clause import CLAUSES, Clause, Reading
from fixtures.clause.usual import WORDS
from fixtures.clause.within import Within
from fixtures.draw.contract import drawing_for
from fixtures.graph.errors import TooLarge
from fixtures.judge.corpus import NEWEST, plans_of
from fixtures.judge.subject import UNEXPECTED, Subject
from fixtures.model.contract import Contract, applies, contract_for, with_facts
from fixtures.model.module import Model, expect
from fixtures.plan.grammar import Plan
from fixtures.play.trace import Trace
from fixtures.rules import EXCLUSIONS, RULES
from fixtures.rules.compiled import COMPILED
from fixtures.run.recorded import FOLDER, read
from suites.deviations import CAUSES
from suites.examples import import_for_newest
from suites.table import ROOT, WITHIN

#: How many plans are drawn: what a run plays of the newest torch, what it plays where a play costs much, and where few
#: of those are inside.
DRAWN, OF_CORPUS, MORE = 100, 30, 400
#: So many different plans inside are enough; where fewer were drawn, more are.
ENOUGH = 10
CHUNK, BATCH = 4, 40

#: Rules about global hooks, and about hooks that a frame was compiled without.
OF_FRAMES = frozenset(rule.name for rule in COMPILED)

everywhere, frozen, trained, copied = (
    next(word.beyond for word in WORDS if word.name == name)
    for name in ("global hooks", "frozen weights", "eval()", "copies")
)
#: Rules of frames that change nothing without such a hook or step.
ONLY_WITH = {
    "wrapper": everywhere,
    "everywhere": everywhere,
    "training": trained,
    "training_inside": trained,
    "parameters": frozen,
    "thawed": frozen,
    "copies": copied,
}

#: What is kept of a mode: the first release, and what is to be said from there on.
Rows = List[Tuple[str, Dict[str, Any]]]


@lru_cache(maxsize=None)
def recorded() -> Dict[str, Dict[str, Dict[str, Dict[str, Any]]]]:
    """The recorded cells: minor version -> clause -> mode -> cell, oldest version first."""
    return read(str(ROOT / FOLDER))[1]


def digest_of_rules(mode: str) -> str:
    """Which rules and exclusions a mode has, whatever their words are."""
    found = [(one.name, one.torch, one.witness) for one in (*RULES.get(mode, ()), *EXCLUSIONS.get(mode, ()))]
    return hashlib.sha256(repr(found).encode()).hexdigest()[:12]


class Asked:
    """The plans of a clause, and what becomes of them in each mode."""

    def __init__(self, clause: Clause, plans: Optional[Sequence[Plan]] = None) -> None:
        self.clause = clause
        few = list(dict.fromkeys([*plans_of(clause, DRAWN), *plans_of(clause, OF_CORPUS), *self.witnesses()]))
        self.within = Within(clause, few)
        if plans is None and sum(not self.within.outside(plan) for plan in few) < ENOUGH < len(few):
            few = list(dict.fromkeys([*few, *plans_of(clause, MORE)]))
        plans = sorted(few if plans is None else plans, key=lambda plan: len(repr(plan)))
        self.inside = [plan for plan in plans if not self.within.outside(plan)]
        self.others = [plan for plan in plans if self.within.outside(plan)]
        self.traces: Dict[Any, Optional[Trace]] = {}

    def witnesses(self) -> List[Plan]:
        """The plans that tell readings apart."""
        found = [self.clause.witness, *(one.witness for one in self.clause.readings)]
        return [one for one in found if isinstance(one, Plan)]

    def rows(self, mode: Any) -> Rows:
        """What is to be said of the clause in a mode where it was measured; neighbours alike as one."""
        found: Rows = []
        for minors in self.alike(mode):
            said = self.said(mode, minors)
            if not found or found[-1][1] != said:
                found.append((minors[0], said))
        return found if any(said for _, said in found) else []

    def alike(self, mode: Any) -> Iterator[List[str]]:
        """The releases with a verdict, in groups of neighbours with the same rules of the mode, reading and cause."""
        measured = [
            minor
            for minor, cells in recorded().items()
            if cells.get(self.clause.id, {}).get(mode.name, {}).get("verdict") in ("conforms", "deviates")
        ]

        def same(minor: str) -> Any:
            here = [one.name for one in (*mode.rules, *mode.exclusions) if applies(one.torch, minor)]
            return here, self.states(mode, minor)

        return (list(minors) for _, minors in groupby(measured, same))

    def states(self, mode: Any, minor: str) -> Tuple[str, str]:
        """The reading that is stated for a release, and the one that holds there."""
        held = in_force(CAUSES, self.clause, minor, mode.name)
        stated = self.clause.reading_for(minor).name
        return stated, held.name if held and held.verdict == "deviates" else stated

    def contract(self, mode: Any, minor: str) -> Contract:
        """That of the newest release with the same reading: what else differs is not what the clause speaks of."""
        alike = [one for one in recorded() if one == minor or self.stated_there(mode, one) == self.states(mode, minor)]
        return contract_for(alike[-1])

    def stated_there(self, mode: Any, minor: str) -> Tuple[str, str]:
        """The same, of a release that may be older than the clause's API."""
        return self.states(mode, minor) if any(applies(one.torch, minor) for one in self.clause.readings) else ("", "")

    def said(self, mode: Any, minors: Sequence[str]) -> Dict[str, Any]:
        """What there is to say of the clause on these releases; nothing where all is as in eager."""
        cells = [recorded()[minor][self.clause.id][mode.name] for minor in minors]
        ruled = any(cell.get("deviation", "").startswith("rule ") for cell in cells)
        there = InMode(self, mode, minors[-1])
        # A run that played many plans has asked the models of each.
        there.asked_before = not mode.costly and all(cell["verdict"] == "conforms" for cell in cells)
        return there.said(ruled)


class InMode:
    """A clause in a mode on one release, as the models say it."""

    def __init__(self, asked: Asked, mode: Any, version: str) -> None:
        self.asked, self.mode, self.version = asked, mode, version
        self.clause, self.contract = asked.clause, asked.contract(mode, version)
        self.stated = self.clause.reading_for(version)
        declared = in_force(CAUSES, self.clause, version, mode.name)
        #: What torch does in eager, too: a mode inherits what causes make of a clause.
        self.held: Reading = declared if declared and declared.verdict == "deviates" else self.stated
        self.demanded = with_facts(self.contract, dict(self.held.facts))
        self.asked_before = False
        self.exclusions = [one for one in mode.exclusions if applies(one.torch, version)]
        mode.expect = lambda plan, _: self.trace(plan, mode.rules_of(version)) or ()

    def keeps(self, plan: Plan) -> bool:
        """Whether the mode plays a plan on this release."""
        return self.mode.keeps(plan) and not any(one.covers(self.mode, plan, self.version) for one in self.exclusions)

    def said(self, ruled: bool) -> Dict[str, Any]:
        """By what a plan inside is otherwise; else what too few of them show, and where a rule shows what others do."""
        played, inherited = [], ""
        for plan in self.asked.inside:
            by = self.by(plan) if self.keeps(plan) else None
            if by is None:
                continue
            if by.startswith("rule "):
                return {"by": by}
            played.append(plan)
            inherited = inherited or by
        found: Dict[str, Any] = {"by": inherited} if inherited else {}
        if len(played) < ENOUGH:
            found["plans"] = len(played)
        named = [set().union(*map(used, plans)) & self.asked.within.about for plans in (self.asked.inside, played)]
        if named[0] - named[1]:
            found["without"] = sorted(named[0] - named[1])
        if named[0] and not named[1]:
            found["plans"] = 0
        outside = self.outside() if ruled else []
        return {**found, "outside": outside} if outside else found

    def outside(self) -> List[List[Any]]:
        """By which rules plans outside are otherwise, each with the words that all these plans go beyond.

        Where they have none in common, with those of the plans that go least beyond.
        """
        words: Dict[str, List[FrozenSet[str]]] = {}
        for plan in self.asked.others:
            by = self.by(plan) if self.keeps(plan) else None
            if by and by.startswith("rule "):
                words.setdefault(by, []).append(frozenset(self.asked.within.outside(plan)))
        found = []
        for by, each in sorted(words.items()):
            common = frozenset.intersection(*each)
            least = {common} if common else {one for one in each if not any(other < one for other in each)}
            found.append([by, sorted(sorted(one) for one in least)])
        return found

    def by(self, plan: Plan) -> Optional[str]:
        """By what the sentence does not hold as in eager on a plan: "" where it does, None where it does not say."""
        eager = self.trace(plan)
        if eager is None:
            return None
        if (self.asked_before or self.unconcerned(plan)) and self.held is self.stated:
            return ""
        rules = self.mode.rules_of(self.version)
        fails = self.fails(plan, self.held, rules)
        if fails is None or self.fails(plan, self.held, None):  # the plan is for another release
            return None
        if fails:
            alone = [[one for one in rules if one is not rule] for rule in reversed(rules)]
            found = [rule for rule, rest in zip(reversed(rules), alone) if not self.fails(plan, self.held, rest)]
            return f"rule {(found or rules)[0].name}"
        return self.held.name if self.held is not self.stated and self.fails(plan, self.stated, rules) else ""

    def fails(self, plan: Plan, reading: Reading, rules: Optional[Sequence[Any]]) -> Optional[bool]:
        """Whether the test fails where the mode with these rules is in the place of torch, or eager where None are.

        What its own assertions say counts, not what else is in the trace. Where the mode raises, a hook that is not
        called for that reason makes it fail: what is said of no call would be true. None: the test says nothing.
        """
        there, eager = self.trace(plan, rules), self.trace(plan)
        if there is None:
            return None
        if there == eager and reading is self.held and rules is not None:
            return False
        with drawing_for(self.contract):
            try:
                self.clause.test()(subject=self.subject(reading, rules), plan=plan)
            except (UnsatisfiedAssumption, TooLarge):
                return None
            except UNEXPECTED:
                return True
        called = set(eager.calls())
        return there.raised() != eager.raised() and not (called and called <= set(there.calls()))

    def subject(self, reading: Reading, rules: Optional[Sequence[Any]]) -> Subject:
        """What the test is given: its `holds` compares nothing."""

        def played(plan: Any) -> Trace:
            found = self.trace(plan, rules)
            if found is None:
                raise TooLarge
            return found

        return Alone(self.mode.name, "cpu", self.version, self.contract, reading, played)

    def trace(self, plan: Plan, rules: Optional[Sequence[Any]] = None) -> Any:
        """What the model leaves, that of the mode with these rules, or that of eager; nothing where it does not say."""
        names = None if rules is None else frozenset(rule.name for rule in rules if self.concerns(rule, plan))
        key = plan, self.demanded, None if names is None else (self.mode.model, names)
        if key not in self.asked.traces:
            lib = Model if names is None else partial(self.mode.model, rules=names)
            try:
                self.asked.traces[key] = expect(plan, self.demanded, lib)
            except TooLarge:
                self.asked.traces[key] = None
        return self.asked.traces[key]

    def concerns(self, rule: Any, plan: Plan) -> bool:
        """Whether a rule has to do with a plan: one of the modes that compile frames may need a step or a hook."""
        return not hasattr(self.mode, "may_miss") or ONLY_WITH.get(rule.name, bool)(plan)

    def unconcerned(self, plan: Plan) -> bool:
        """Whether no rule of a mode that compiles frames has to do with a plan: each frame sees all hooks."""
        frames = hasattr(self.mode, "may_miss") and all(rule.name in OF_FRAMES for rule in self.mode.rules)
        return frames and not (self.mode.may_miss(plan) or everywhere(plan))


class Alone(Subject):
    """A subject that leaves it to the test's own assertions what is right."""

    def holds(self, plan: Any) -> Trace:
        return self.play(plan)


@lru_cache(maxsize=None)
def modes() -> List[Any]:
    """The modes, of which no stage is made: torch is not asked."""
    from fixtures.stages.modes import MODES  # torch is loaded here: who only reads what is kept needs none

    return [made.__new__(made) for name, made in MODES.items() if name != "eager"]


def of_clause(name: str) -> Dict[str, Rows]:
    """What is to be said of a clause in each mode; of a mode in which all is as in eager nothing is."""
    with drawing_for(NEWEST):
        asked = Asked(CLAUSES[name])
        rows = {mode.name: asked.rows(mode) for mode in modes()}
    return {mode: found for mode, found in rows.items() if found}


def asked_of(clause: Clause) -> bool:
    """Whether modes are asked what a clause says: it draws plans, and does not only compare them with the model."""
    return clause.plays and not clause.checks_model


def kept() -> Any:
    """What was made before."""
    return json.loads(WITHIN.read_text(encoding="utf-8")) if WITHIN.exists() else {"modes": {}, "clauses": {}}


def said_on(rows: Rows, minor: str) -> Dict[str, Any]:
    """What the last row says that begins with a release or an older one."""
    order = list(recorded())
    return next((said for first, said in reversed(rows) if order.index(first) <= order.index(minor)), {})


def stale() -> List[str]:
    """The clauses of which what is kept is not of their text, or of the rules of the modes."""
    found = kept()
    rules = {mode: digest_of_rules(mode) for mode in {**RULES, **EXCLUSIONS}}
    asked = [clause for clause in CLAUSES.values() if asked_of(clause)]
    if found["modes"] != rules:
        return sorted(clause.id for clause in asked)
    return sorted(one.id for one in asked if found["clauses"].get(one.id, [""])[0] != one.digest())


def make(names: Sequence[str]) -> Iterator[Tuple[str, Dict[str, Rows]]]:
    """What is to be said of these clauses, by a process for each processor."""
    with ProcessPoolExecutor(initializer=import_for_newest) as pool:
        yield from zip(names, pool.map(of_clause, names, chunksize=CHUNK))


def write(made: Dict[str, Dict[str, Rows]]) -> None:
    """Keep it, with what is kept of other clauses."""
    known = {name: one for name, one in kept()["clauses"].items() if name in CLAUSES and asked_of(CLAUSES[name])}
    known.update((name, [CLAUSES[name].digest(), found]) for name, found in made.items())
    lines = ",\n".join(f' "{name}": {json.dumps(one)}' for name, one in sorted(known.items()))
    rules = json.dumps({mode: digest_of_rules(mode) for mode in sorted({**RULES, **EXCLUSIONS})})
    WITHIN.write_text(f'{{"modes": {rules},\n"clauses": {{\n{lines}\n}}}}\n', encoding="utf-8")


def main() -> int:
    """Make what is stale, or check what is kept; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m suites.within",
        description="Ask the models what each mode does otherwise within what clauses promise, and keep it.",
        epilog="exit status: 0 made (or as kept), 1 another one is kept, 2 no such clause.",
    )
    parser.add_argument("--all", action="store_true", help="make all anew, not only what is stale (10 minutes)")
    parser.add_argument("--check", action="store_true", help="compare with what is kept, and write nothing")
    parser.add_argument("clauses", nargs="*", metavar="PREFIX", help="clauses by the beginning of their ids")
    options = parser.parse_args()
    import_for_newest()
    every = sorted(clause.id for clause in CLAUSES.values() if asked_of(clause))
    names = [name for name in every if name.startswith(tuple(options.clauses or [""]))]
    if not names:
        print(f"suites.within: no clause that draws plans begins with {options.clauses[0]!r}", file=sys.stderr)
        return 2
    if not (options.all or options.check or options.clauses):
        names = stale()
    made = {}
    for name, found in make(names):
        made[name] = found
        if not options.check and len(made) % BATCH == 0:
            write(made)  # what was made is kept where the rest is interrupted
            print(f"{len(made)} of {len(names)} are made", flush=True)
    if not options.check:
        write(made)
        return 0
    before = kept()["clauses"]
    other = [name for name, found in made.items() if before.get(name, ["", {}])[1] != json.loads(json.dumps(found))]
    print("\n".join([*other, f"{len(made) - len(other)} of {len(made)} are as kept"]))
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
