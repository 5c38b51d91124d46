"""Every census entry that is documented, contradicts the docs or changed has a clause, or a reason for none."""

import json
import pathlib
from fnmatch import fnmatchcase

from fixtures.judge.clause import CLAUSES
from suites.census import REASONS
from suites.selfcheck.everything import import_suites

import_suites()
#: Entry -> what torch does. The `needed` ones are documented, contradict the docs or changed; `others` may be covered.
CENSUS = json.loads((pathlib.Path(__file__).resolve().parents[1] / "census.json").read_text("utf-8"))
NEEDED = CENSUS["needed"]
COVERED = {census for one in CLAUSES.values() for census in one.covers}


def test_no_entry_is_forgotten() -> None:
    forgotten = [
        name for name in NEEDED if name not in COVERED and not any(fnmatchcase(name, reason) for reason in REASONS)
    ]
    assert not forgotten, f"{len(forgotten)} entries have neither a clause (covers=) nor a reason (suites/census.py)"


def test_every_reason_is_used() -> None:
    left = [name for name in NEEDED if name not in COVERED]
    unused = [reason for reason in REASONS if not any(fnmatchcase(name, reason) for name in left)]
    assert not unused, "these reasons forgive nothing: remove them"


def test_what_is_covered_exists() -> None:
    known = {*NEEDED, *CENSUS["others"]}
    unknown = sorted((one.id, name) for one in CLAUSES.values() for name in one.covers if name not in known)
    assert not unknown, "covers= names entries that are in no census: remove them, or correct the id"
