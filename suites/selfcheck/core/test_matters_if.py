"""There is matters_if= at each clause that differs between releases, in known words, and nowhere else."""

from __future__ import annotations

import importlib
import inspect
import sys

import pytest
from packaging.version import Version

from fixtures.clause.about import about
from fixtures.clause.clause import CLAUSES, BadClause, clause
from fixtures.clause.matters_if import DICTS, NEVER, SEEN, UNSEEN, unknown
from fixtures.clause.since import SINCE
from fixtures.families import KINDS
from fixtures.state.kinds import KINDS as STATE_KINDS
from reports.data.clause import need
from reports.usage.affects import spans
from suites.selfcheck.affects.score_affects import recorded
from suites.selfcheck.all_clauses import import_suites

import_suites()
MATTERS_IF = {name: one.matters_if for name, one in CLAUSES.items() if one.matters_if}


def test_what_differs_between_releases_has_a_concern_and_nothing_else_has() -> None:
    atlas, _ = recorded()
    several = {name for name, one in CLAUSES.items() if sum(not reading.wrong for reading in one.readings) > 1}
    for name, record in atlas.clauses.items():
        if len(spans(record, [(column, atlas.cell(name, column, "eager")) for column in atlas.columns])) > 1:
            several.add(name)
    without = sorted(several & set(CLAUSES) - set(MATTERS_IF))
    assert not without, (
        "say in matters_if= what a use must be for the difference to matter: see fixtures/clause/matters_if.py"
    )
    assert sorted(set(MATTERS_IF) - several) == [], (
        "these say the same on every release: their matters_if= is for nothing"
    )


def test_every_word_is_known_and_used() -> None:
    used = {word.lstrip("?") for each in MATTERS_IF.values() if each != NEVER for word in each.split()[1:]}
    assert {name: unknown(each) for name, each in MATTERS_IF.items() if unknown(each)} == {}
    assert (set(SEEN) - set(DICTS)) | set(UNSEEN) == used
    assert unknown("sideways|tensor inner ?view up ?down") == {"sideways", "up", "?down"}
    with pytest.raises(BadClause, match="unknown words"):
        clause("a.b.c", says="S.", source="measured", matters_if="tensor ?up")(test_every_word_is_known_and_used)


def test_a_concern_is_of_a_kind_that_its_clause_is_about() -> None:
    wrong = {}
    for name, each in MATTERS_IF.items():
        kinds = set() if each == NEVER else set(each.split()[0].split("|")) - set(DICTS)
        named = {need(text)[0] for text in about(CLAUSES[name])}
        apis = {kind: {STATE_KINDS[kind].api} for kind in kinds & set(STATE_KINDS)}
        apis |= {kind: {KINDS[kind].api, KINDS[kind].everywhere} for kind in kinds & set(KINDS)}
        if kinds and not any(apis[kind] & named for kind in kinds):
            wrong[name] = (each, sorted(named))
    assert wrong == {}


def test_what_to_write_instead_is_a_sentence_next_to_matters_if() -> None:
    wrong = [one.id for one in CLAUSES.values() if one.instead and (one.instead[-1] != "." or not one.matters_if)]
    assert wrong == []


OWNERS = ("torch.nn.Module", "torch.nn.modules.module", "torch.autograd.graph", "torch.optim.optimizer", "torch.Tensor")
OWNERS += ("torch._C._autograd.SavedTensor", "torch.nn.parallel.DistributedDataParallel")


@pytest.mark.parametrize("name", SINCE)
def test_the_table_of_what_came_later_holds_on_this_torch(name: str) -> None:
    torch = importlib.import_module("torch")
    path, _, option = name.removesuffix(")").partition("(")
    owner, _, last = path.rpartition(".")
    of_optimizer = owner == "Optimizer" or last.startswith("register_step")
    places = [torch.optim.Optimizer] if of_optimizer else [_named(torch, place) for place in OWNERS]
    found = [getattr(place, last) for place in places if hasattr(place, last)]
    made = (torch.nn.Module(), torch.optim.SGD([torch.ones(1)], lr=1.0))
    there = bool(found) or any(last in one.__dict__ for one in made)
    if option:
        there = any(option in inspect.signature(each).parameters for each in found)
    assert there == (Version(torch.__version__) >= Version(SINCE[name]))


def _named(torch: object, path: str) -> object:
    """What a dotted name below torch names; None where this torch has none."""
    if path in sys.modules:
        return sys.modules[path]
    found: object = torch
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return found
