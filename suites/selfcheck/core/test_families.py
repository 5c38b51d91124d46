"""Every kind of hook is drawn by the whole grammar, is what its chapters speak of, and has a fault that is caught."""

import functools
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from fixtures.clause.about import about
from fixtures.clause.clause import CLAUSES
from fixtures.draw.plans import available
from fixtures.families import FAMILIES, KINDS, TOGETHER
from fixtures.graph.errors import TooLarge
from fixtures.model.contract import contract_for, installed_version
from fixtures.model.module import expect
from fixtures.plan.grammar import Add, Hook, Plan, Retain
from fixtures.play.packing import spread
from fixtures.stages.stage import Torch, perform
from suites.selfcheck.all_clauses import drawn, import_suites
from suites.selfcheck.faults import FAULTS, Fault
from suites.timing.kinds import KINDS as TIMED

import_suites()
ROOT = str(Path(__file__).resolve().parents[3])
CONTRACT = contract_for(installed_version())
HERE = available(CONTRACT, tuple(KINDS))
#: The clauses that draw whatever there is; and the kinds of families that are apart, which they leave out.
WHOLE = ("together.grammar.everything", "together.meeting.of_every_kind")
APART = {kind.name for family in FAMILIES if family not in TOGETHER for kind in family.kinds}
#: What else a plan must have for a kind to have an effect.
ALONG = {"saved_off": ("saved",)}
PLANS = 150
LIB = Torch()


@functools.cache
def plans_of(name: str) -> Sequence[Plan]:
    """Some plans of a clause."""
    return drawn(name, PLANS)


def kind_of(step: object) -> str:
    """The kind that a step of a plan registers."""
    return step.kind if isinstance(step, Hook) else "retain_grad" if isinstance(step, Retain) else ""


def kinds_in(plan: Plan) -> set[str]:
    added = [act.hook for step in plan.steps if isinstance(step, Hook) for act in step.do if isinstance(act, Add)]
    return {*map(kind_of, [*plan.steps, *added])} - {""}


def only(plan: Plan, *kinds: str) -> Plan:
    """A plan without what registers other kinds."""
    return replace(plan, steps=tuple(step for step in plan.steps if kind_of(step) in ("", *kinds)))


def whole_of(kind: str) -> Sequence[str]:
    """The clauses that draw whatever there is, this kind among it."""
    if kind not in APART:
        return WHOLE
    whole = (".any_hooks", ".of_one")
    named = [name for name, one in CLAUSES.items() if name.endswith(whole) and KINDS[kind].api in about(one)]
    assert named, f"no clause of the whole grammar is about {kind} hooks"
    return named


@functools.cache
def apis_of(chapter: str) -> set[str]:
    """The hook APIs that the clauses of a chapter are about."""
    clauses = [one for name, one in CLAUSES.items() if name.startswith(f"{chapter}.")]
    return {api.partition("(")[0] for one in clauses for api in about(one)}


def shows(fault: Fault, cases: Sequence[tuple[Plan, Plan]]) -> bool:
    """Whether a plan is played wrongly with its hooks and rightly without: then the fault is one of these hooks."""
    # A fault of handles can end the play itself, which removes all hooks at its end.
    with fault.on(), suppress(KeyError):
        for plan, bare in cases:
            if perform(plan, LIB) != expect(plan, CONTRACT) and perform(bare, LIB) == expect(bare, CONTRACT):
                return True
    return False


def fits(plan: Plan) -> bool:
    try:
        expect(plan, CONTRACT)
    except TooLarge:
        return False
    return True


@pytest.mark.parametrize("kind", HERE)
def test_the_whole_grammar_draws_it(kind: str) -> None:
    assert [name for name in whole_of(kind) if not any(kind in kinds_in(plan) for plan in plans_of(name))] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_chapters_that_it_names_speak_of_it(kind: str) -> None:
    names = {KINDS[kind].api, KINDS[kind].everywhere}
    assert [chapter for chapter in KINDS[kind].chapters if not names & apis_of(chapter)] == []


@pytest.mark.parametrize("kind", HERE)
def test_a_fault_of_it_is_caught(kind: str) -> None:
    """In plans of the whole grammar, less all other kinds."""
    along = ALONG.get(kind, ())
    plans = [only(plan, kind, *along) for plan in plans_of(whole_of(kind)[0]) if kind in kinds_in(plan)]
    cases = [(plan, only(plan, *along)) for plan in plans if fits(plan) and fits(only(plan, *along))]
    faults = [one for one in FAULTS.values() if one.applies and not one.control]
    faults.sort(key=lambda one: not set(KINDS[kind].chapters) & {near.partition(".")[0] for near in one.near})
    caught = next((one.name for one in faults if shows(one, cases)), "")
    assert caught, f"no fault in suites/selfcheck/faults/ is one of {kind} hooks alone, or no plan shows it"
    print(f"{kind}: {caught}")


def test_a_plan_says_only_what_its_kinds_have() -> None:
    """What is declared of a kind is what `Hook` can say, and what the contract can answer."""
    facts = vars(CONTRACT)
    options = {field.name for field in fields(Hook)}
    for kind in KINDS.values():
        doors = {kind.door, kind.changing, *(door for each in kind.options for door in (each.own, each.everywhere))}
        assert doors - {""} <= set(facts), kind.name
        assert {each.name for each in kind.options} <= options, kind.name
        assert kind.on, kind.name
    assert len(KINDS) == sum(len(family.kinds) for family in FAMILIES)


def test_each_kind_is_counted_and_timed() -> None:
    """Under its own name, and once more where it can be on all modules."""
    other = {"backward": "legacy_backward", "saved": "saved_tensors"}
    other.update(multi_all="multi_grad", multi_any="multi_grad_any")
    names = {name: other.get(name, name) for name in KINDS}
    wanted = {*names.values(), *(f"global_{names[name]}" for name, kind in KINDS.items() if kind.everywhere)}
    assert wanted - set(TIMED) == set(), "add a line for each in suites/timing/kinds.py"


def tensor_kept(right: Any) -> Any:
    """What a tensor hook is called by refers to the tensor."""
    return lambda self, hook: right(self, lambda grad, own=self: hook(grad))


def tensors_kept(right: Any) -> Any:
    """What a multi-grad hook is called by refers to its tensors."""
    return lambda tensors, fn, **options: right(tensors, lambda grads, own=tensors: fn(grads), **options)


def output_kept(right: Any) -> Any:
    """A module with a forward hook has a hook on each tensor that it returns, which refers to both."""

    def register(self: Any, hook: Any, **options: Any) -> Any:
        def keeps(module: Any, *given: Any) -> Any:
            for out in [one for one in spread(given[-1]) if one.requires_grad]:
                out.register_hook(lambda grad, own=(module, out): None)
            return hook(module, *given)

        return right(self, keeps, **options)

    return register


LEAKS = {
    tensor_kept: (torch.Tensor, "register_hook"),
    tensors_kept: (torch.autograd.graph, "register_multi_grad_hook"),
    output_kept: (torch.nn.Module, "register_forward_hook"),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_rejected(leak: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what lives on, where all else is as it was."""
    plans = [plan for plan in plans_of("together.lifetime.never_freed") if fits(plan)]
    right = [perform(plan, LIB) for plan in plans]
    assert right == [expect(plan, CONTRACT) for plan in plans]
    owner, name = LEAKS[leak]
    monkeypatch.setattr(owner, name, leak(getattr(owner, name)))
    pairs = list(zip(right, [perform(plan, LIB) for plan in plans], strict=True))
    more = [(one[-1], other[-1]) for one, other in pairs if one != other and one[:-1] == other[:-1]]
    print(f"{leak.__name__}: {len(more)} of {len(plans)}")
    assert more
    assert [one for one, other in more if Counter(one.seen) - Counter(other.seen)] == []


def test_saved_tensors_hooks_that_are_left_entered_are_reported_once() -> None:
    """A torch whose context does not leave fails in the plays that use it, and in no later one."""
    for _ in range(2):
        torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x).__enter__()
    with pytest.raises(AssertionError, match="left something behind: hooks of saved tensors"):
        LIB.reset()
    LIB.reset()
