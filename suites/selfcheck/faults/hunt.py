"""Which clause rejects a torch with a fault, and how soon."""

import contextlib
import itertools
import json
import pathlib
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import Phase, settings

from fixtures.clause.clause import CLAUSES, Clause
from fixtures.draw.only import ONLY_DRAWS
from fixtures.judge.subject import Subject, TracesDiffer
from fixtures.judge.verdict import judge
from fixtures.model.contract import contract_for, installed_version
from fixtures.run.options import PROFILES
from fixtures.stages.eager import Eager
from fixtures.stages.stage import missing
from suites.deviations import CAUSES
from suites.selfcheck.all_clauses import import_suites
from suites.selfcheck.faults.base import FAULTS, Fault

QUICK, FULL = PROFILES["quick"][0], PROFILES["recorded"][0]
#: The whole grammar first: it is the quickest to catch anything.
FIRST = "together."

RECORD = pathlib.Path(__file__).with_name("caught.json")
#: fault -> a clause that caught it in a quick search, tried first; the rest of the suite is tried all the same.
RECORDED: dict[str, str] = json.loads(RECORD.read_text("utf-8"))

#: Faults that no clause catches yet -> what is missing.
OPEN = {"retain_expanded": "of a hundred plans of a clause none keeps the gradient of an expanded tensor"}

import_suites()
#: Each fault shows in eager. Clauses of torch.compile take minutes, and no fault needs them to be caught.
CHAPTERS = tuple(sorted({name.partition(".")[0] + "." for name in CLAUSES} - {"modes."}))
CONTROLS = [one for one in FAULTS.values() if one.control and one.applies]


@dataclass(frozen=True)
class Catch:
    """What a search for one fault came to: the clauses that reject it, and the processor seconds to the first."""

    clauses: tuple[str, ...]
    seconds: float
    why: str = ""

    def __bool__(self) -> bool:
        return bool(self.clauses)


@contextlib.contextmanager
def search_of(clause: Clause, examples: int, number: int) -> Iterator[None]:
    """Have a clause search so many plans from one seed, without an interest in small witnesses."""
    function: Any = clause.function
    if not clause.draws:
        yield
        return
    names = ("_hypothesis_internal_use_settings", "_hypothesis_internal_use_seed")
    before = [getattr(function, name, None) for name in names]
    function._hypothesis_internal_use_seed = number
    function._hypothesis_internal_use_settings = settings(
        ONLY_DRAWS,
        max_examples=examples,
        phases=(Phase.explicit, Phase.generate),
        report_multiple_bugs=False,
        print_blob=False,
    )
    try:
        yield
    finally:
        for name, value in zip(names, before, strict=True):
            setattr(function, name, value)


def explain(failure: BaseException | None) -> str:
    """The first difference of two traces in one line; of another failure its first lines."""
    if isinstance(failure, TracesDiffer):
        pairs = itertools.zip_longest(failure.expected.lines(), failure.observed.lines(), fillvalue="-")
        return next(f"{expected} / {observed}" for expected, observed in pairs if expected != observed)
    return f"{type(failure).__name__}: {failure}".replace("\n", " ")[:150]


class Hunter:
    """Runs clauses on the running torch, with and without faults."""

    def __init__(self, examples: int = QUICK, number: int = 0, prefixes: tuple[str, ...] = ("",)) -> None:
        self.examples, self.number = examples, number
        self.version = installed_version()
        self.contract = contract_for(self.version)
        self.eager = Eager()
        # A clause that may end the process runs in one of its own, where the fault is not.
        chosen = [CLAUSES[name] for name in sorted(CLAUSES) if name.startswith(prefixes)]
        self.clauses = [one for one in chosen if not one.isolated and not missing(one.needs)]
        self.sound: dict[str, bool] = {}

    def fails(self, clause: Clause) -> bool:
        """Whether the suite would report this clause on torch as it is now."""
        subject = Subject("eager", "cpu", self.version, self.contract, clause.readings[0], self.eager.play)
        try:
            with search_of(clause, self.examples, self.number), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.failure: BaseException | None = judge(clause, subject, (), CAUSES)[1]
        except Exception as error:  # noqa: BLE001 - a clause that ends in any error is reported, Hypothesis's included
            self.failure = error
        finally:
            self.reset()
        return self.failure is not None

    def reset(self) -> None:
        """Take away what a direct clause that failed in its middle left behind."""
        with contextlib.suppress(Exception):
            self.eager.torch.reset()

    def is_sound(self, clause: Clause) -> bool:
        """Whether the clause passes on torch without a fault, rewritten or not. One that does not proves nothing."""
        if clause.id not in self.sound:
            self.sound[clause.id] = not self.fails(clause) and not any(self.rejects(clause, one) for one in CONTROLS)
        return self.sound[clause.id]

    def rejects(self, clause: Clause, fault: Fault) -> bool:
        """Whether the clause fails on a torch with the fault."""
        with fault.on():
            return self.fails(clause)

    def order(self, fault: Fault) -> list[Clause]:
        """The clause that is known to catch it, the whole grammar, then the clauses near the fault, then all others."""
        near = (RECORDED.get(fault.name, FIRST), FIRST, *fault.near)

        def rank(clause: Clause) -> Any:
            return next((place for place, begin in enumerate(near) if clause.id.startswith(begin)), len(near))

        return sorted(self.clauses, key=rank)

    def hunt(self, fault: Fault, all_of_them: bool = False) -> Catch:
        """The clauses that reject the fault: the first one, or all of them."""
        begin, caught, first, why = time.process_time(), [], 0.0, ""
        for clause in self.order(fault):
            failed, failure = self.rejects(clause, fault), self.failure
            elapsed = time.process_time() - begin
            if failed and (fault.control or self.is_sound(clause)):
                first, why = first or elapsed, why or explain(failure)
                caught.append(clause.id)
                if not all_of_them:
                    break
        return Catch(tuple(caught), first or time.process_time() - begin, why)
