"""What a run says of the clauses that code relies on: which are not as stated, and at which lines that matters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fixtures.families import KINDS
from fixtures.judge.in_words import FIRST_AT, in_words
from fixtures.judge.triage import fails, triage
from fixtures.plan.grammar import OPTIONS
from fixtures.state.kinds import KINDS as STATE_KINDS
from reports.data.clause import Clause
from reports.data.forms import torch_of
from reports.data.runfile import Run
from reports.record.comparing import LEVELS
from reports.relied.choice import Relied
from reports.usage.lacks import Lacking
from reports.usage.uses import Use

#: What hooks in the smallest plan that fails do, and the words of `fixtures/clause/matters_if.py` for it.
DOES = {"replaces": "returns", "returns something else": "returns", "raises": "raises", "edits in place": "edits"}
GLOBAL = "global hook"
ORDER = "first difference: other order"
#: How signs name kinds of hook: those of plans, of programs of layers, and of plans of saving and loading.
NAMES = {name.replace("_", " "): {name} for name in KINDS} | {name: {name} for name in KINDS}
for _name, _kind in STATE_KINDS.items():
    NAMES.setdefault(_kind.words, set()).add(_name)
ALL = set().union(*NAMES.values())


@dataclass(frozen=True)
class Alarm:
    """A clause that is not as stated on the torch of a run, and the uses that it concerns."""

    clause: Clause
    mode: str
    uses: tuple[Use, ...]
    does: str  # what torch does in its place
    changed: bool = False  # another statement of the clause is true: torch may have changed it on purpose
    script: str = ""

    @property
    def words(self) -> str:
        """What torch does, and who promises what it should do."""
        who = LEVELS.get(self.clause.level, "")
        mode = f" in {self.mode}" if self.mode != "eager" else ""
        how = "does now" if self.changed else "does otherwise"
        return f"torch {how}{mode}: {self.does}" + (f" ({who})" if who else "")


@dataclass(frozen=True)
class Alarms:
    """The answer: how many clauses were judged, what is missing, what concerns the code, and how many others fail."""

    relied: Relied
    torch: str
    judged: int
    missing: Mapping[str, tuple[Use, ...]]
    alarms: tuple[Alarm, ...]
    others: int

    @property
    def summary(self) -> str:
        """What was asked, and what came of it, in a line."""
        places = len({(use.file, use.cell, use.line) for use in self.relied.code.uses})
        at = "1 place" if places == 1 else f"{places} places"
        bad = len({one.clause.id for one in self.alarms})
        ends = f"; {bad} {'is' if bad == 1 else 'are'} not as stated" if bad else ""
        lacks = f"; torch lacks {', '.join(self.missing)}" if self.missing else ""
        says = f"{torch_of(self.torch)}: {self.judged} clauses that your code relies on at {at}"
        return says + (ends + lacks or " are all as stated")


def alarms(relied: Relied, run: Run, clauses: Mapping[str, Clause], names: Lacking, script: Any) -> Alarms:
    """Return what a run says of these clauses; `script` names the script of a cell, or how to have it."""
    cells: list[Mapping[str, Any]] = []
    bad = [cell for (name, _), cell in run.lines.items() if name in relied.clauses and fails(cell)]
    met = [cell for cell in bad if any(_met(cell, relied))]
    # What shows best what they share comes first.
    for cluster in triage(met):
        cells += [cluster.start, *(cell for cell in cluster.cells if cell is not cluster.start)]
    cells.sort(key=lambda cell: _rank(cell, clauses[cell["clause"]]))
    found = []
    for cell in cells:
        name, uses = cell["clause"], tuple(_met(cell, relied))
        holds = [one for one in clauses[name].readings if one.name in (cell.get("holds") or ()) and one.told]
        does = holds[0].says if holds else in_words(cell) or "the test fails"
        found.append(
            Alarm(clauses[name], cell["mode"], uses, does, bool(holds), script(run, cell).partition("script: ")[2])
        )
    judged = len(
        {name for (name, _), cell in run.lines.items() if name in relied.clauses and cell["verdict"] != "absent"}
    )
    others = {cell["clause"] for cell in bad} - {one.clause.id for one in found}
    return Alarms(relied, run.measured, judged, dict(_missing(relied, run, clauses, names)), (*found,), len(others))


def _rank(cell: Mapping[str, Any], clause: Clause) -> tuple[int, int, bool, int]:
    """Return what comes first: what is promised; a sentence that names what the plan does; the smallest plan."""
    plan = (cell.get("evidence") or {}).get("plan", "")
    named = sum(sign[:6] in clause.says for sign in cell.get("signs", ()) if not _kinds([sign]))
    return [*LEVELS].index(clause.level or "observed"), -named, not plan, len(plan)


def _met(cell: Mapping[str, Any], relied: Relied) -> Iterator[Use]:
    """Yield the uses that a failure concerns: such as the smallest plan that fails has, where all of it is used."""
    uses, signs = relied.clauses[cell["clause"]], cell.get("signs", ())
    kinds = _kinds(signs)
    first = _kinds(sign.removeprefix(FIRST_AT) for sign in signs if sign.startswith(FIRST_AT)) & kinds
    if ORDER in signs:  # any of them may be the one at a wrong place
        first = kinds
    every = [use for use in relied.code.uses if not kinds or use.kinds & kinds]
    if first and any(use.kinds & first for use in uses):  # the hook at which the calls begin to differ
        kinds = first
    same = [use for use in uses if not kinds or not use.kinds & ALL or use.kinds & kinds]
    for option in (each for each in OPTIONS if f"{each}=True" in signs):
        if not any(option in use.options or use.unsure for use in every):
            return
        same = [use for use in same if option in use.options or use.unsure] or same
    if GLOBAL in signs and not any(use.seen.get("everywhere") for use in every):
        return
    for sign, word in DOES.items():
        if sign in signs and every:
            if all(use.seen.get(word) is False for use in every):
                return
            same = [use for use in same if use.seen.get(word) is not False] or same
    yield from same


def _kinds(signs: Iterable[str]) -> set[str]:
    """Return the kinds of hook that signs name."""
    return {kind for sign in signs for kind in NAMES.get(sign.removesuffix(" hook"), ())}


def _missing(
    relied: Relied, run: Run, clauses: Mapping[str, Clause], names: Lacking
) -> Iterator[tuple[str, tuple[Use, ...]]]:
    """Yield what torch does not have, with the uses of it: all clauses about it alone are absent."""
    cells: dict[tuple[str, str], list[str]] = {}
    for (name, _), cell in run.lines.items():
        needed = clauses[name].needed
        if len(needed) == 1 and clauses[name].needs:
            cells.setdefault(next(iter(needed)), []).append(cell["verdict"])
    lacking = [pair for pair, verdicts in cells.items() if {*verdicts} == {"absent"}]
    for api, option in sorted(lacking):
        uses = [use for use in relied.code.uses if names.name(use) == api and option in ("", *use.options)]
        uses = [use for use in uses if not use.caught and not relied.code.guards.shut(use.guards, relied.version)]
        name = f"{api}({option}=)" if option else api
        uses = [use for use in uses if not relied.code.accepts(use, f"missing.{name}")]
        if uses and not (option and (api, "") in lacking):
            yield name, tuple(uses)
