"""What costs much is asked few examples: modes in which a play does, and clauses that compile."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.clause.clause import CLAUSES, Clause, Reading
from fixtures.draw.contract import drawing_for
from fixtures.families import KINDS, every_hook
from fixtures.judge import corpus as module
from fixtures.judge.control import without_hooks
from fixtures.judge.corpus import DEAR, MOST_MODULES, MOST_STEPS, WHOLE, beyond_witness, corpus, drawn_of, features
from fixtures.judge.subject import Subject
from fixtures.judge.verdict import judge
from fixtures.model.contract import applies, contract_for
from fixtures.model.module import expect
from fixtures.plan.grammar import Drop, Forward, Freeze, Hook, Input, Leaf, Pack, Plan, Repack, walk
from fixtures.play.trace import Trace
from fixtures.rules.compiled import COPIES
from fixtures.rules.exclusions import of_step
from fixtures.rules.rule import Exclusion
from fixtures.run.recorder import counted
from fixtures.stages import inductor
from fixtures.stages.copy import CopyMode
from fixtures.stages.deferred import DeferredPlayer
from fixtures.stages.late import Late, LateStage
from fixtures.stages.modes import MODES
from reports.data.by_mode import UNPLAYED
from suites.selfcheck.all_clauses import import_suites
from suites.selfcheck.core.test_modes import CONTRACT, VERSION, judged, made, of_modules, of_tensors

import_suites()
COSTLY = [mode for mode in MODES.values() if mode.costly]
ASKED = ("handles.removal.anywhere", "output.always.before_output", "together.forward.any_hooks")


EXCLUSIONS = [
    pytest.param(mode, exclusion, id=f"{mode.name}-{exclusion.needs}")
    for mode in COSTLY
    for exclusion in mode.exclusions
]


def everything(plan: Plan) -> bool:
    return True


def test_the_plans_are_the_same_whichever_torch_is_there() -> None:
    for name in ASKED:
        assert CLAUSES[name].plays
        found = corpus(CLAUSES[name], everything)
        for version in ("2.1", "2.15"):
            with drawing_for(contract_for(version)):
                assert corpus(CLAUSES[name], everything) == found
        assert len(found) == (25 if name.startswith(WHOLE) else 2)


def test_the_plans_are_small_and_cover_more_than_the_first_ones() -> None:
    name = "together.backward.any_hooks"
    chosen = corpus(CLAUSES[name], everything)
    assert all(len(list(walk(plan.net))) <= MOST_MODULES and len(plan.steps) <= MOST_STEPS for plan in chosen)
    first = [plan for plan in module.plans_of(CLAUSES[name], 100) if module.small(plan)][: len(chosen)]
    assert len(set().union(*map(features, chosen))) > len(set().union(*map(features, first)))


def tried(clause: Clause) -> list[dict[str, Any]]:
    """What a clause that compiles is tried with: its witness, then the few others."""
    return [clause.witness, *beyond_witness(clause, clause.witness)]


@pytest.mark.parametrize("name", sorted(name for name, clause in CLAUSES.items() if clause.costly))
def test_a_clause_that_compiles_is_tried_with_few_examples_that_differ(name: str) -> None:
    clause, most = CLAUSES[name], settings().max_examples // DEAR
    drawn, found = drawn_of(clause, 100, True), tried(clause)
    assert len(found) <= most <= 8
    for argument in clause.arguments:
        every, chosen = ({repr(one[argument]) for one in each} for each in (drawn, found))
        assert len(chosen) == min(len(every | chosen), len(found)), argument


def test_they_show_what_is_otherwise_for_one_value_of_one_argument() -> None:
    @given(number=st.integers(0, 6), late=st.booleans())
    def compiles(subject: Subject, number: int, late: bool) -> None:
        assert number != subject.value

    for value in range(7):
        readings, witness = (Reading("always", "", "", value=value),), {"number": 0, "late": False}
        clause = replace(made(compiles, readings=readings, witness=witness), needs=("torch.compiler.reset",))
        found: Any = judge(clause, Subject("eager", "cpu", VERSION, CONTRACT, readings[0], CopyMode().play), (), ())
        assert (found.cell.verdict, found.shown.arguments["number"]) == ("deviates", value)


class Slow(CopyMode):
    """A cheap mode that says it is not; it notes what it plays."""

    costly = True

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.played: list[Any] = []

    def play(self, plan: Any) -> Trace:
        self.played.append(plan)
        return super().play(plan)

    def counted(self) -> dict[str, int]:
        return {"forward traced": len(self.played)}


def test_a_cell_is_judged_by_the_plans_of_the_corpus() -> None:
    clause, mode = made(of_modules), Slow()
    cell, failure = judged(clause, mode)
    assert (cell.verdict, failure) == ("conforms", None)
    assert mode.played == corpus(clause, everything)
    assert cell.counts == {"plans": 2, "left out": 0, "forward traced": 2}
    assert judged(clause, CopyMode())[0].counts is None


class Poor(Slow):
    """A mode on a torch that lacks hooks of modules."""

    def lacks(self, plan: Plan, version: str) -> list[str]:
        return ["hooks"] if any(step.on == "m0" for step in plan.steps if isinstance(step, Hook)) else []


def test_what_a_torch_cannot_play_is_left_out_and_counted() -> None:
    clause, mode = made(of_modules), Poor()
    cell, failure = judged(clause, mode)
    assert failure is None
    out = [plan for plan in corpus(clause, everything) if mode.lacks(plan, VERSION)]
    assert out
    assert cell.counts["left out"] == len(out)
    assert len(mode.played) == cell.counts["plans"] == 2 - len(out)


class Poorest(Slow):
    """A mode on a torch that lacks all."""

    exclusions = (Exclusion("step hooks", "", "", of_step, CopyMode.rules[0].witness),)

    def lacks(self, plan: Plan, version: str) -> list[str]:
        return ["of_step", "torch.hooks"]


def test_a_witness_that_a_torch_cannot_play_is_not_asked_of_it() -> None:
    mode = Poorest()
    cell, failure = judged(made(of_modules, witness=CopyMode.rules[0].witness), mode)
    assert (cell.verdict, cell.note, failure) == ("refused", "its plans need step hooks, torch.hooks", None)
    assert cell.lacks == ["of_step", "torch.hooks"]
    assert mode.played == []


class Nothing(Slow):
    """A mode that keeps no plan."""

    def keeps(self, plan: Plan) -> bool:
        return False


def test_a_mode_that_keeps_no_plan_refuses_the_clause() -> None:
    mode = Nothing()
    cell, failure = judged(made(of_modules), mode)
    assert (cell.verdict, failure, mode.played) == ("refused", None, [])


class Unruled(Slow):
    rules = CopyMode.rules[1:]


def test_a_failure_is_not_made_smaller() -> None:
    witness = CopyMode.rules[0].witness
    mode = Unruled()
    cell, failure = judged(made(of_tensors, witness=witness), mode)
    assert failure is not None
    assert (cell.verdict, cell.declared) == ("deviates", False)
    assert mode.played == [witness, without_hooks(witness)]  # the second one is the control
    assert cell.evidence["plan"] == repr(witness)


def apis_of(plan: Plan) -> set[str]:
    return {KINDS[hook.kind].everywhere if hook.on == "*" else KINDS[hook.kind].method for hook in every_hook(plan)}


def test_hooks_that_are_in_no_plan_of_a_mode_are_named() -> None:
    """Else a clause about several kinds of hook would speak of one that the mode never met."""
    whole = [clause for name, clause in CLAUSES.items() if name.startswith(WHOLE) and clause.plays]
    plans = [plan for clause in whole for plan in module.plans_of(clause, 100)]
    met = set().union(*map(apis_of, plans))
    assert set(UNPLAYED) <= set(MODES)
    for name, mode in MODES.items():
        keeps = mode().keeps
        kept = set().union(*(apis_of(plan) for plan in plans if keeps(plan)))
        assert met - kept == set(UNPLAYED.get(name, ())), name


@pytest.fixture(params=COSTLY, ids=lambda mode: mode.name)
def mode(request: pytest.FixtureRequest) -> Any:
    return request.param()


def test_hooks_of_modules_are_traced(mode: Any) -> None:
    """Nothing that Python calls is compiled: a mode that says something about hooks counts those that were traced."""
    plans = corpus(CLAUSES["together.forward.any_hooks"], mode.keeps)
    quiet = [plan for plan in plans if not MODES["eager"]().play(plan).raised()]  # after an error Python calls hooks
    mode.counted()
    for plan in quiet[:6]:
        mode.play(plan)
    found = mode.counted()
    assert found.get("forward traced", 0) > 0
    assert "forward not traced" not in found
    assert mode.counted() == {}


class Kept(DeferredPlayer):
    """What is noted of each module lives on, as it does in eager: the length of the list is guarded."""

    def __init__(self, plan: Plan, lib: Any) -> None:
        self.names: list[str] = []
        super().__init__(plan, lib)

    def keep(self, name: str, tensor: Any) -> None:
        self.names.append(name)
        super().keep(name, tensor)


class GuardedStage(LateStage):
    player_class = Kept


class Guarded(Late):
    stage = GuardedStage


def test_a_stage_that_compiles_at_every_call_is_caught_by_the_rule() -> None:
    """No hook is late then."""
    frame = next(rule for rule in Late.rules if rule.name == "frame")
    assert Late().unproven(frame, VERSION) == ""
    assert "is wrong" in Guarded().unproven(frame, VERSION)


@pytest.mark.parametrize("name", ["aot", "inductor"])
def test_what_the_one_node_does_is_not_put_down_to_frames(name: str) -> None:
    frame, node, *_ = MODES[name].rules
    with_frames, without = (
        expect(node.witness, contract_for(VERSION), MODES[name]().lib(VERSION, rules)) for rules in ((), (frame,))
    )
    assert with_frames == without


@pytest.mark.parametrize(
    "steps",
    [
        (Hook("forward_pre", "m0", "h0", do=(Repack("list"),)), Hook("forward", "m1", "h1"), Forward()),
        (Hook("forward", "m1", "h1"), Freeze("x0.base"), Forward()),
    ],
)
def test_the_model_knows_what_of_an_argument_is_guarded(steps: Any) -> None:
    """Its structure, with which a call is compiled anew; not what it was made of."""
    plan = replace(COPIES.witness, inputs=(Input(2, leaf=False),), steps=steps)
    assert Late().play(plan) == expect(plan, contract_for(VERSION), Late().lib(VERSION))


def test_a_global_hook_removed_in_what_is_compiled_leaves_the_plan_out_where_a_frame_may_lack_a_hook() -> None:
    ends, everywhere = Hook("forward", "m1", "h0", do=(Drop("h1"),)), Hook("forward", "*", "h1")
    early, late = (ends, everywhere, Forward()), (Forward(), ends, everywhere, Forward())
    own = (Forward(), replace(ends, do=(Drop("h0"),)), Forward())
    found = {
        (name, at, version): MODES[name]().lacks(replace(COPIES.witness, steps=steps), version)
        for name in ("compiled", "late")
        for at, steps in enumerate((early, late, own))
        for version in ("2.6.0", "2.7.1")
    }
    left_out = {at for at, lacks in found.items() if lacks}
    assert left_out == {("compiled", 1, "2.6.0"), ("late", 0, "2.6.0"), ("late", 1, "2.6.0")}


@pytest.mark.parametrize(
    ("version", "on", "left_out"),
    [("2.6.0", "m1", 0), ("2.7.1", "m1", 1), ("2.11.0", "m1", 1), ("2.11.0", "m0", 0), ("2.12.1", "m1", 0)],
)
def test_a_prepended_hook_next_to_an_unlike_one_is_left_out_where_dynamo_fails(
    version: str, on: str, left_out: int
) -> None:
    hooks = Hook("forward", on, "h0", form="method"), Hook("forward", on, "h1", prepend=True)
    found = MODES["compiled"]().lacks(replace(COPIES.witness, steps=(*hooks, Forward())), version)
    assert len(found) == left_out


@pytest.mark.parametrize(
    ("version", "kind", "left_out"), [("2.2.2", "data", 1), ("2.2.2", "named", 0), ("2.3.1", "data", 0)]
)
@pytest.mark.parametrize("of_net", [True, False])
def test_before_2_3_a_dataclass_leaves_the_plan_out_of_aot(
    version: str, kind: str, left_out: int, of_net: bool
) -> None:
    net = Leaf("m0", "scale", (2,), out=Pack(kind if of_net else "tuple", (0,)))
    hook = Hook("forward", "m0", "h0", do=() if of_net else (Repack(kind),))
    plan = replace(COPIES.witness, net=net, steps=(hook, Forward()))
    assert len(MODES["aot"]().lacks(plan, version)) == left_out


@pytest.mark.parametrize(("mode", "exclusion"), EXCLUSIONS)
def test_a_plan_is_left_out_where_torch_is_otherwise_than_the_model_and_nowhere_else(
    mode: Any, exclusion: Exclusion
) -> None:
    """On each torch that this runs on; what is left out is chosen by releases, so each of them has to be asked."""
    here = mode()
    assert here.keeps(exclusion.witness)
    assert exclusion.covers(here, exclusion.witness, VERSION)
    expected = expect(exclusion.witness, contract_for(VERSION), here.lib(VERSION))
    assert (trace_or_error(here, exclusion.witness) != expected) == applies(exclusion.torch, VERSION)


def trace_or_error(mode: Any, plan: Plan) -> Any:
    """The trace of a plan, or the error that it ends with where a hook sees what it should not."""
    try:
        return mode.play(plan)
    except (AssertionError, RuntimeError) as error:
        return error


def test_the_default_backend_says_what_this_machine_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MODES["inductor"]().lacks(COPIES.witness, VERSION) == []
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setattr(inductor, "find_spec", lambda name: None)
    compiler, setuptools = MODES["inductor"]().lacks(COPIES.witness, VERSION)
    assert "(no-such-compiler)" in compiler
    assert setuptools.startswith("setuptools,")


def test_a_run_says_how_many_calls_were_traced() -> None:
    cells = [
        {"mode": "compiled", "counts": {"plans": 2, "left out": 1, "forward traced": 3}},
        {"mode": "compiled", "counts": {"plans": 3, "left out": 0, "forward traced": 1, "global not traced": 2}},
        {"mode": "copy", "counts": None},
        {"mode": "eager"},
    ]
    says = "compiled: 5 plans, 1 left out; calls of hooks: 4 forward traced, 2 global not traced"
    assert counted(cells) == [says]
