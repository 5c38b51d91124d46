"""Nothing of a play outlives it: neither what torch made, whose nodes no collector of Python sees, nor the model."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections import Counter

import pytest
import torch

from fixtures.clause.clause import CLAUSES
from fixtures.graph import graph
from fixtures.graph.errors import TooLarge
from fixtures.judge.corpus import corpus
from fixtures.model import module
from fixtures.model.contract import contract_for, installed_version
from fixtures.model.module import expect
from fixtures.play.player import Player
from fixtures.play.trace import Event
from fixtures.stages.modes import MODES
from suites.selfcheck.all_clauses import drawn, import_suites
from suites.selfcheck.tiny_suites import ROOT

import_suites()
CONTRACT = contract_for(installed_version())
#: Clauses whose plans have hooks that nodes of torch hold.
DRAWN = ("together.values.backward", "together.grammar.everything")
HELD = (torch.Tensor, torch.nn.Module, torch.utils.hooks.RemovableHandle, Player, Event)
#: What torch.compile makes, and does not let go: 0.4 MB for each play that it compiles.
DYNAMO = ("FakeTensor", "GraphModule.__new__.<locals>.GraphModuleImpl")
MADE = (graph.Tensor, graph.Node, graph.Handle, module.Model, module.ModelModule)


def alive() -> Counter[str]:
    """How many objects there are of each type that a play makes."""
    gc.collect()
    kinds = (*HELD, *MADE)
    found = Counter(type(one).__qualname__ for one in gc.get_objects() if issubclass(type(one), kinds))
    found.update(type(one).__name__ for one in gc.get_objects() if type(one).__name__.endswith("Backward"))
    for name in DYNAMO:
        found.pop(name, None)
    return found


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("mode", MODES)
def test_nothing_of_a_play_outlives_it(mode: str, name: str) -> None:
    here = MODES[mode]()
    plans = [plan for plan in drawn(name, 60) if here.keeps(plan)]
    if here.costly:
        plans = corpus(CLAUSES[name], here.keeps)[:3]
    lib = here.lib(installed_version())

    def both() -> None:
        for plan in plans:
            here.play(plan)
            try:
                expect(plan, CONTRACT, lib)
            except TooLarge:  # the model refuses it in the middle of a play
                continue

    both()  # what is made once and kept
    before = alive()
    both()
    assert alive() - before == Counter()


def test_the_suite_stays_small() -> None:
    """The chapter that grew most, in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--quick"]
    command += ["-p", "suites.timing.memory", "--clauses=backward.", "--profile=recorded"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if " MB " in line]
    assert rows, done.stdout
    assert int(rows[-1][0]) < 500, done.stdout


def test_garbage_is_collected_again_after_a_play_whatever_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt may come at any time, also where a play tidies up."""
    during = []

    def interrupted(player: Player) -> None:
        during.append(gc.isenabled())
        raise KeyboardInterrupt

    monkeypatch.setattr(Player, "let_go", interrupted)
    with pytest.raises(KeyboardInterrupt):
        expect(drawn(DRAWN[0], 1)[0], CONTRACT)
    assert (during, gc.isenabled()) == ([False], True)
