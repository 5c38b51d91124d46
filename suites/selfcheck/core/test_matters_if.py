"""There is matters_if= at each clause that differs between releases, in known words, and nowhere else."""

from __future__ import annotations

import importlib
import inspect
import sys

import pytest
from packaging.version import Version

from fixtures.clause.clause import CLAUSES, BadClause, clause
from fixtures.clause.matters_if import DICTS, NEVER, SEEN, UNSEEN, unknown
from fixtures.clause.since import SINCE
from suites.selfcheck.affects.score_affects import recorded
from suites.selfcheck.all_clauses import import_suites
from suites.selfcheck.author.matters_if import faults_of_matters_if

import_suites()
MATTERS_IF = {name: one.matters_if for name, one in CLAUSES.items() if one.matters_if}


def test_what_differs_between_releases_says_when_it_matters_and_nothing_else_does() -> None:
    atlas, _ = recorded()
    found = {}
    for name, one in CLAUSES.items():
        columns = atlas.columns if name in atlas.clauses else ()
        found[name] = list(faults_of_matters_if(one, (atlas.cell(name, column, "eager") for column in columns)))
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_every_word_is_known_and_used() -> None:
    used = {word.lstrip("?") for each in MATTERS_IF.values() if each != NEVER for word in each.split()[1:]}
    assert {name: unknown(each) for name, each in MATTERS_IF.items() if unknown(each)} == {}
    assert (set(SEEN) - set(DICTS)) | set(UNSEEN) == used
    assert unknown("sideways|tensor inner ?view up ?down") == {"sideways", "up", "?down"}
    with pytest.raises(BadClause, match="unknown words"):
        clause("a.b.c", says="S.", source="measured", matters_if="tensor ?up")(test_every_word_is_known_and_used)


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
