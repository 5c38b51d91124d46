"""Claims: what is recorded of each follows from what is recorded of its clauses, and how that is done."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fixtures.judge import claim as claim_module
from fixtures.judge.claim import ABSENT, claims, clauses_of, decider, lacking
from fixtures.judge.clause import CLAUSES, BadClause, Reading
from fixtures.judge.decided import decide, judge_claim
from fixtures.judge.subject import Subject
from fixtures.judge.table import Row
from fixtures.judge.verdict import BrokenClause, Cell
from fixtures.run import recorded as stored
from fixtures.show.example import shown_by
from suites.examples import example_of
from suites.selfcheck.claimed import IS_ALONE, IS_NEW, MADE
from suites.selfcheck.everything import import_suites
from suites.selfcheck.tiny import ROOT, Tiny

import_suites()
CLAIMS = [one for _, one in sorted(CLAUSES.items()) if one.claim]
FOLDER = str(ROOT / stored.FOLDER)
TURNS, STAYS = "self.claimed.turns", "self.claimed.stays"
TINY = """
from fixtures.judge.claim import ABSENT, claims
from fixtures.judge.table import Row

@claims(
    Row("tiny.topic.claim", "It is so.", "measured", about="register_hook", readings=(
        Reading("true", "", "It is so.", by={"tiny.topic.one": "so", "tiny.topic.apart": "so"}),
        Reading("false", "never", "It is not."),
    )),
    Row("tiny.topic.second", "It is so.", "measured", about="register_hook", readings=(
        Reading("true", "", "It is so.", by={"tiny.topic.one": "so"}),
        Reading("false", "never", "It is not."),
    )),
    Row("tiny.topic.lost", "It is so.", "measured", about="register_hook", readings=(
        Reading("true", "", "It is so.", by={"tiny.topic.nowhere": "so"}),
        Reading("false", "never", "It is not."),
    )),
)
def decided(subject):
    raise NotImplementedError
"""
#: A clause that says how often it is judged.
COUNTED = "open(f'judged{os.getpid()}', 'a').write('.')"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the made-up clauses known."""
    for name, one in MADE.items():
        monkeypatch.setitem(CLAUSES, name, one)


def cell(name: str, verdict: str = "conforms", reading: str | None = "always", **more: Any) -> Cell:
    return Cell(name, "eager", verdict, reading, **more)


def cells(turns: Cell | None = None, stays: Cell | None = None) -> dict[str, Cell]:
    return {TURNS: turns or cell(TURNS, reading="new"), STAYS: stays or cell(STAYS)}


def place(clause: Any, found: Any) -> tuple[str, int | None]:
    names = [one.name for one in clause.readings]
    return found.verdict, None if found.reading is None else names.index(found.reading)


# --- what is recorded ---


def test_there_are_claims_and_all_is_known_that_decides_them() -> None:
    assert len(CLAIMS) > 20
    for one in CLAIMS:
        assert [decider(one, name).id for name in clauses_of(one)] == clauses_of(one)


def test_what_is_recorded_of_each_claim_follows_from_its_clauses() -> None:
    releases, entries = stored.read(FOLDER)
    names = set(entries[list(releases)[-1]])
    differ, seen = [], 0
    # A clause that is not recorded yet decides nothing here; the claim is recorded together with it.
    chosen = [one for one in CLAIMS if {one.id, *clauses_of(one)} <= names]
    assert len(CLAIMS) - len(chosen) <= 1

    def known(minor: str, name: str) -> Cell:
        found = entries[minor][name]["eager"]
        readings = {place: one.name for place, one in enumerate(CLAUSES[name].readings)}
        more = {key: found[key] for key in ("declared", "deviation") if key in found}
        holds = [readings[place] for place in found.get("holds", ())]
        return cell(name, found["verdict"], readings.get(found["reading"]), holds=holds, **more)

    for minor, release in releases.items():
        for one in chosen:
            due = known(minor, one.id)
            found = decide(one, release["torch"], {name: known(minor, name) for name in clauses_of(one)})
            seen += 1
            if place(one, due) != place(one, found):
                differ.append(f"{one.id} on {minor}: {due.verdict} {due.reading}, not {found.verdict} {found.reading}")
    assert not differ, "\n".join(differ)
    assert seen == len(releases) * len(chosen)


def test_the_text_of_a_claim_is_its_row() -> None:
    found = CLAUSES["tutorial.forward.t04_replaces"].record(str(ROOT))
    assert found["code"].startswith('Row(\n    "tutorial.forward.t04_replaces",\n')
    assert found["code"].endswith("),\n")
    assert found["code"].count("Row(") == 1
    assert found["file"] == "suites/tutorial/test_forward.py"


def test_the_example_of_a_claim_is_that_of_its_first_clause() -> None:
    claim = CLAUSES["tutorial.forward.t04_replaces"]
    shown = shown_by(claim)
    text, why = example_of(claim.id)
    assert (shown.id, why) == ("output.replacement.value_replaces", "")
    assert text.startswith(f'"""{claim.id}: {claim.says}\n\nDecided by {shown.id}: {shown.says}\n')
    assert text.partition("import torch")[2] == example_of(shown.id)[0].partition("import torch")[2]


# --- the cell ---


def test_the_reading_in_force_holds_and_the_others_are_refuted() -> None:
    found = decide(IS_NEW, "2.15.0", cells())
    assert (found.verdict, found.reading, found.refuted) == ("conforms", "true", ["false", "false at all"])
    found = decide(IS_NEW, "1.4.0", cells(cell(TURNS, reading="old")))
    assert (found.verdict, found.reading, found.refuted) == ("conforms", "false", ["true", "false at all"])


def test_a_clause_that_deviates_makes_the_claim_deviate_and_lends_its_evidence() -> None:
    shown = {"plan": "", "expected": ["3"], "observed": ["4"], "message": "3 is 4", "reproducer": "script"}
    bad = cell(STAYS, "deviates", evidence=shown, signs=["sign"], note="a note")
    found = decide(IS_NEW, "2.15.0", cells(stays=bad))
    assert (found.verdict, found.reading, found.holds, found.declared) == ("deviates", "true", [], False)
    assert found.note == f"decided by {STAYS}, which must have 'always' and is deviates: a note"
    assert found.evidence == {**shown, "message": f"{found.note}\n\n3 is 4"}
    assert found.signs == ["sign"]


def test_torch_that_is_as_another_reading_says_deviates_as_that() -> None:
    found = decide(IS_NEW, "2.15.0", cells(cell(TURNS, "deviates", "new", holds=["old"])))
    assert (found.verdict, found.holds) == ("deviates", ["false"])
    found = decide(IS_ALONE, "2.15.0", {STAYS: cell(STAYS, "absent", None)})
    assert (found.verdict, found.holds, found.declared) == ("deviates", ["true"], False)


def test_a_declared_deviation_of_all_that_differ_is_one_of_the_claim() -> None:
    known = cell(STAYS, "deviates", declared=True, deviation="a bug", note="It goes.")
    found = decide(IS_NEW, "2.15.0", cells(stays=known))
    assert (found.verdict, found.declared, found.deviation, found.note) == ("deviates", True, "a bug", "It goes.")
    found = decide(IS_NEW, "2.15.0", cells(cell(TURNS, "deviates", "new"), known))
    assert (found.verdict, found.declared, found.deviation) == ("deviates", False, None)
    assert TURNS in found.note


@pytest.mark.parametrize("verdict", ["crashed", "hung"])
def test_a_process_that_ends_is_a_deviation_of_the_claim(verdict: str) -> None:
    found = decide(IS_NEW, "2.15.0", cells(stays=cell(STAYS, verdict, None, note="SIGSEGV")))
    assert (found.verdict, found.note.endswith(f"is {verdict}: SIGSEGV")) == ("deviates", True)


def test_what_a_clause_lacks_the_claim_lacks_unless_it_names_that() -> None:
    none = cell(STAYS, "absent", None, note="not in this torch: it")
    found = decide(IS_NEW, "2.15.0", cells(stays=none))
    assert (found.verdict, found.reading, found.note) == ("absent", None, none.note)
    found = decide(IS_NEW, "2.15.0", cells(cell(TURNS, "deviates", "new"), none))
    assert found.verdict == "deviates"
    found = decide(IS_ALONE, "1.4.0", {STAYS: none})
    assert (found.verdict, found.reading, found.refuted) == ("conforms", "true", ["false"])


def test_without_all_its_clauses_a_claim_is_unseen() -> None:
    assert decide(IS_NEW, "2.15.0", {TURNS: cell(TURNS, reading="new")}).verdict == "unseen"
    found = decide(IS_NEW, "2.15.0", cells(stays=cell(STAYS, "unseen", None)))
    assert (found.verdict, found.note) == ("unseen", f"decided by {STAYS}, which is unseen")


def test_two_readings_that_hold_are_a_fault_of_the_claim() -> None:
    both = Reading("false", "<2.0", "It stays.", by={STAYS: "always"})
    again = type(IS_NEW)(**{**vars(IS_NEW), "readings": (IS_NEW.readings[0], both)})
    found = decide(again, "2.15.0", cells())
    assert (found.verdict, "is not refuted" in found.note) == ("unseen", True)


# --- the judging ---


def test_each_clause_is_judged_and_the_failure_is_reported(made: None) -> None:
    asked: list[str] = []

    def judged(one: Any) -> Any:
        asked.append(one.id)
        return cells(cell(TURNS, "deviates", "new"))[one.id], AssertionError("no")

    found, failure, _ = judge_claim(IS_NEW, "2.15.0", judged)
    assert (asked, found.verdict, str(failure)) == ([TURNS, STAYS], "deviates", found.note)
    found, failure, _ = judge_claim(IS_NEW, "2.15.0", lambda one: (cells()[one.id], None))
    assert (found.verdict, failure) == ("conforms", None)
    found, failure, _ = judge_claim(IS_NEW, "2.15.0", lambda one: (cell(one.id, "unseen", None), None))
    assert (found.verdict, type(failure)) == ("unseen", BrokenClause)


def test_what_names_no_clause_or_no_reading_is_broken(made: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault() -> str:
        found, failure, _ = judge_claim(IS_ALONE, "2.15.0", lambda one: (cells()[one.id], None))
        assert (found.verdict, type(failure)) == ("unseen", BrokenClause)
        return found.note

    assert fault() == f"{IS_ALONE.id}: {STAYS} has no reading 'other', but 'always'"
    monkeypatch.setitem(CLAUSES, STAYS, IS_NEW)
    assert "no clause with a test of its own" in fault()
    monkeypatch.delitem(CLAUSES, STAYS)
    assert "no clause with a test of its own" in fault()
    assert lacking([None, IS_NEW, MADE[TURNS]]) == [STAYS]


def test_the_digest_is_of_the_clauses_and_the_places_of_their_readings(
    made: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_(**changed: Any) -> str:
        return type(IS_NEW)(**{**vars(IS_NEW), **changed}).digest()

    before = IS_NEW.digest()
    assert with_(says="Other words.") == before
    assert with_(needs=("torch.nope",)) != before
    other = Reading("true", ">=2.0", "It is new.", by={TURNS: ("new", "old"), STAYS: "always"})
    assert with_(readings=(other, *IS_NEW.readings[1:])) != before
    turned = [Reading("fresh", one.torch, one.says, value=one.value) for one in MADE[TURNS].readings[:1]]
    monkeypatch.setitem(
        CLAUSES, TURNS, type(IS_NEW)(**{**vars(MADE[TURNS]), "readings": (*turned, *MADE[TURNS].readings[1:])})
    )
    fresh = Reading("true", ">=2.0", "It is new.", by={TURNS: "fresh", STAYS: "always"})
    assert with_(readings=(fresh, *IS_NEW.readings[1:])) == before, "a reading is known by its place"
    monkeypatch.setitem(CLAUSES, TURNS, type(IS_NEW)(**{**vars(MADE[TURNS]), "needs": ("torch.nope",)}))
    assert with_(readings=(fresh, *IS_NEW.readings[1:])) != before, "another clause is another measurement"


@pytest.mark.parametrize(
    ("readings", "words"),
    [
        ((Reading("true", "", "It is."), Reading("false", "never", "No.", by={STAYS: "always"})), "of no other"),
        ((Reading("true", "", "It is.", value=1, by={STAYS: ABSENT}),), "decided by clauses alone"),
    ],
)
def test_a_claim_names_clauses_and_nothing_else(readings: Any, words: str) -> None:
    def place_of(subject: Subject) -> None:
        raise NotImplementedError

    with pytest.raises(BadClause, match=words):
        claims_of(place_of, Row("self.claimed.wrong", "It is.", "measured", about="register_hook", readings=readings))
    CLAUSES.pop("self.claimed.wrong")


def claims_of(function: Any, *rows: Row) -> None:
    """Mark a function, whose rows are not written in a decorator."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claim_module, "each", marked)
        claims(*rows)(function)


def marked(row: Row) -> Any:
    from fixtures.judge.clause import clause

    return clause(row.id, row=object(), **row.mark)


# --- a run ---


@pytest.mark.parametrize("options", [(), ("-n2",)])
def test_a_claim_is_judged_in_any_order_of_its_clauses(tmp_path: Path, options: tuple[str, ...]) -> None:
    tiny = Tiny(tmp_path)
    tiny.write(TINY, one=COUNTED, apart="")
    status, said = tiny.run(*options)
    assert status == 1, said
    found = {"one": "conforms", "apart": "conforms", "claim": "conforms", "second": "conforms", "lost": "unseen"}
    assert tiny.verdicts() == found, said
    assert "decided by tiny.topic.nowhere, which is no clause" in said
    counted = [path.read_text("utf-8") for path in tmp_path.glob("judged*")]
    # The test and then those of the other reading: no process judges it twice.
    assert len(set(counted)) == 1
    assert options or len(counted) == 1


def test_choosing_a_claim_runs_its_clauses(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path)
    tiny.write(TINY, one="", apart="assert False, 'it is not so'")
    status, said = tiny.run("--clauses", "tiny.topic.claim", "--clauses", "tiny.topic.second")
    assert status == 1, said
    assert tiny.verdicts() == {"claim": "deviates", "second": "conforms"}
    assert tiny.message("claim").startswith("decided by tiny.topic.apart, which must have 'so' and is deviates")
    assert "it is not so" in tiny.message("claim")


def test_a_file_of_claims_finds_clauses_of_other_chapters(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--quick"]
    command += ["suites/tutorial/test_forward.py", "-k", "t04", f"--run-file={path}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [(one["clause"], one["verdict"]) for one in found if one["type"] == "cell"] == [
        ("tutorial.forward.t04_replaces", "conforms")
    ]
