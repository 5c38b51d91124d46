"""What is forgiven is checked: a cause is true of torch, its cells are the recorded ones, and all is met."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fixtures.clause.cause import Cause, Deviating, Deviation, deviations_of, in_force
from fixtures.clause.clause import CLAUSES, BadClause, Clause, Reading
from fixtures.model.contract import applies, contract_for
from fixtures.stages.modes import MODES
from reports.data.verdicts import read_recorded
from reports.record.torches import known_versions
from suites.deviations import CAUSES
from suites.selfcheck.all_clauses import import_suites
from suites.selfcheck.core.test_judge import BLIND, LAST, OLD, by_plan, direct, made

import_suites()
RELEASES = list(known_versions(Path(__file__).resolve().parents[3] / "tox.ini").values())
RECORDED = read_recorded()
#: Cells that a cause says nothing about: there is nothing to call, or nobody has looked.
SILENT = ("absent", "refused", "unseen")
ADDRESSES = "https://github.com/pytorch/pytorch/"


def recorded(clause: Clause) -> dict[str, Any]:
    """Return the eager cells of a clause that a cause could be about, by release."""
    cells = {each.torch: each.cells.get(clause.id, {}).get("eager") for each in RECORDED}
    return {torch: cell for torch, cell in cells.items() if cell and cell.verdict not in SILENT}


def faults_of(cause: Cause) -> list[str]:
    """Return what is wrong with what a cause says of itself."""
    here = [torch for torch in RELEASES if applies(cause.torch, torch)]
    faults = [f"no clause {one.clause}" for one in cause.clauses if one.clause not in CLAUSES]
    faults += [f"no mode {mode}" for mode in cause.modes if mode not in MODES]
    faults += [f"no full stop: {says}" for says in (cause.says, cause.reason) if says and not says.endswith(".")]
    if cause.ref != "measured" and not cause.ref.startswith(ADDRESSES):
        faults.append(f"ref= is an address at {ADDRESSES}, or 'measured'")
    for one in cause.clauses:
        outside = [torch for torch in RELEASES if applies(one.torch, torch) and torch not in here]
        if one.torch and outside:
            faults.append(f"{one.clause}: {one.torch} is more than the range of the cause")
    for name, answer in cause.facts.items():
        there = [torch for torch in RELEASES if getattr(contract_for(torch), name) == answer]
        if there != here:
            faults.append(f"{name} is {answer!r} on torch {', '.join(there)}, and the range says {', '.join(here)}")
    return faults


def unmet(causes: tuple[Cause, ...]) -> list[str]:
    """Return the causes, and the clauses in them, by which no recorded cell deviates."""
    met = set()
    for clause in CLAUSES.values():
        for torch, cell in recorded(clause).items():
            one = in_force(causes, clause, torch, "eager")
            if one and cell.declared and cell.deviation == one.name:
                met |= {(one.cause.name, clause.id, one.name), (one.cause.name, "", "")}
    wanted = [(cause.name, "", "") for cause in causes]
    wanted += [(cause.name, one.clause, one.name or cause.name) for cause in causes for one in cause.clauses]
    return [" ".join(key) for key in wanted if key not in met]


def differing(causes: tuple[Cause, ...]) -> list[str]:
    """Return the recorded cells that do not deviate by the cause that is in force for them."""
    found = []
    for clause in CLAUSES.values():
        for torch, cell in recorded(clause).items():
            one = in_force(causes, clause, torch, "eager")
            wanted = (one.verdict, one.name) if one else (None, None)
            if wanted != ((cell.verdict, cell.deviation) if cell.declared else (None, None)):
                found.append(f"{clause.id} on torch {torch}: {wanted} by the causes, recorded {cell.verdict}")
    return found


def changed(name: str, **changes: Any) -> tuple[Cause, ...]:
    """Return the causes, with changes in one of them."""
    return tuple(Cause(**{**vars(one), **(changes if one.name == name else {})}) for one in CAUSES)


def test_a_cause_says_what_there_is() -> None:
    assert [f"{one.name}: {fault}" for one in CAUSES for fault in faults_of(one)] == []
    assert len({one.name for one in CAUSES}) == len(CAUSES)


def test_the_cells_that_deviate_are_those_that_follow_from_the_causes() -> None:
    assert differing(CAUSES) == []


def test_every_cause_and_every_effect_is_met() -> None:
    assert unmet(CAUSES) == [], "no recorded cell deviates so: remove it, or sweep and record"


def test_what_a_run_file_lists_is_in_force_on_some_release_and_has_one_name() -> None:
    for clause in CLAUSES.values():
        listed = [one.name for one in deviations_of(CAUSES, clause)]
        there = [in_force(CAUSES, clause, torch, "eager") for torch in RELEASES]
        assert sorted(listed) == sorted({one.name for one in there if one}), clause.id


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"torch": ">=1.5,<1.8"}, "engine_keeps_error_type is False on torch 1.5.1, 1.6.0, and the range says"),
        ({"clauses": (Deviating("gradient.errors.none", "So."),)}, "no clause gradient.errors.none"),
        ({"clauses": (Deviating("gradient.errors.own_type", torch="<1.7"),)}, "is more than the range of the cause"),
        ({"modes": ("dreaming",)}, "no mode dreaming"),
        ({"says": "So"}, "no full stop: So"),
        ({"ref": "somewhere"}, "or 'measured'"),
    ],
)
def test_a_cause_that_is_wrong_about_itself_is_found(changes: Any, fault: str) -> None:
    wrong = next(one for one in changed("the type is lost", **changes) if one.name == "the type is lost")
    assert fault in "; ".join(faults_of(wrong))


def test_a_range_that_is_too_short_or_too_long_is_found() -> None:
    short = differing(changed("a row is lost", torch=">=2.0"))
    assert short == ["gradient.kinds.sparse_and_dense on torch 1.13.1: (None, None) by the causes, recorded deviates"]
    long = differing(changed("a row is lost", torch=">=1.12"))
    assert [line.split(": ")[0] for line in long] == ["gradient.kinds.sparse_and_dense on torch 1.12.1"]


def test_what_no_cell_deviates_by_is_found() -> None:
    idle = Deviating("gradient.errors.own_type", "It is late.", 1, "late", ">=1.5,<1.6")
    cause = Cause("idle", ">=1.5,<1.6", reason="None.", ref="measured", effect="error", clauses=(idle,))
    # "the type is lost" is there already: two causes at once would be refused.
    without = changed("the type is lost", torch="<1.4", facts={}, clauses=(idle,))
    assert unmet((*without[1:], cause)) == ["idle  ", "idle gradient.errors.own_type late"]


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"reason": ""}, "fill them"),
        ({"effect": "none"}, "effect= is what"),
        ({"facts": {"nothing": 1}}, "facts= names no field of Contract"),
        ({"says": ""}, "demands another fact"),
        ({"facts": {}}, "no clause can deviate"),
        ({"says": "", "facts": {}, "clauses": (Deviating("a.b.c", value=1),)}, "a clause has a sentence"),
    ],
)
def test_a_cause_that_breaks_the_rules_is_refused(changes: Any, rule: str) -> None:
    words = {"name": "one", "torch": "", "reason": "So.", "ref": "measured", "effect": "error", "says": "So it is."}
    with pytest.raises(BadClause, match=rule):
        Cause(**{**words, "facts": {"retain_grad": "hook"}, **changes})


def cause(**changes: Any) -> Cause:
    words = {"torch": "<2.0", "reason": "So.", "ref": "measured", "effect": "error", "says": "So it is."}
    return Cause(**{"name": "one", "facts": {"retain_grad": "hook"}, **words, **changes})


def follows(clause: Clause, *causes: Cause, torch: str = "1.4.0", mode: str = "eager") -> Deviation | None:
    return in_force(causes, clause, torch, mode)


def test_a_clause_follows_from_the_facts_that_it_demands_otherwise() -> None:
    stated = Reading("last", "", "after all", {"retain_grad": "last", "hooks_when_asked": True})
    found = follows(made(by_plan, (stated,)), cause())
    assert found is not None
    assert (found.name, found.says, found.effect) == ("one", "So it is.", "error")
    # What the cause leaves alone is demanded as before.
    assert found.facts == {"retain_grad": "hook", "hooks_when_asked": True}
    assert follows(made(by_plan, (stated,)), cause(), torch="2.0.0") is None
    assert follows(made(by_plan, (stated,)), cause(modes=("compiled",))) is None
    assert follows(made(by_plan, (stated,)), cause(modes=("compiled",)), mode="compiled") is not None


@pytest.mark.parametrize(
    "clause",
    [
        made(by_plan, (Reading("as it is", "", "in its turn", {"retain_grad": "hook"}),)),
        made(by_plan, (Reading("nothing pinned", "", "as ever"),)),
        made(by_plan, (LAST,)),  # it says nothing before 2.0
        made(direct, (Reading("one", "", "", value=1),), None),
    ],
)
def test_a_clause_that_demands_no_other_fact_does_not_follow(clause: Clause) -> None:
    assert follows(clause, cause()) is None
    assert deviations_of([cause()], clause) == []


def test_a_clause_whose_witness_does_not_show_the_facts_does_not_follow() -> None:
    stated = Reading("last", "", "after all", {"retain_grad": "last"})
    assert follows(made(by_plan, (stated,)), cause()) is not None
    assert follows(made(by_plan, (stated,), witness=BLIND), cause()) is None


def test_an_effect_has_a_value_or_a_sentence_of_its_own_in_a_part_of_the_range() -> None:
    whole, part = made(direct, (Reading("one", "", "", value=1),), None), Deviating("a.b.c", "Two.", 2, "two", "<1.8")
    found = follows(whole, cause(clauses=(part,)))
    assert found is not None
    assert (found.name, found.says, found.value) == ("two", "Two.", 2)
    assert follows(whole, cause(clauses=(part,)), torch="1.9.0") is None
    named = follows(
        made(by_plan, (Reading("last", "", "", {"retain_grad": "last"}),)), cause(clauses=(Deviating("a.b.c"),))
    )
    assert named is not None
    assert named.name == "one"


def test_two_causes_at_once_are_refused() -> None:
    clause = made(by_plan, (Reading("last", "", "", {"retain_grad": "last"}),))
    with pytest.raises(BadClause, match=r"a\.b\.c: two causes on torch 1\.4\.0: 'one' and 'two'"):
        follows(clause, cause(), cause(name="two"))


def test_the_record_of_a_clause_names_the_cause() -> None:
    clause = made(by_plan, (Reading("last", "", "", {"retain_grad": "last"}),))
    assert OLD.retain_grad == "hook"
    assert [one.record() for one in deviations_of([cause()], clause)] == [
        {
            "name": "one", "torch": "<2.0", "verdict": "deviates", "says": "So it is.", "effect": "error",
            "cause": "one", "reason": "So.", "ref": "measured",
        }
    ]  # fmt: skip
