"""What happens to the order when a hook removes or registers hooks while the call goes on."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Chain, Drop, Forward, Hook, Input, Leaf, Plan, Reuse, hooks_of
from suites.hooking import in_turn, kinds_of, numbered
from suites.names import FULL, GLOBAL_FORWARD, POST_ACCUMULATE, SKIP_PULL, SKIPS, SNAPSHOT_PULL

REMOVABLE = "test: test/nn/test_module_hooks.py TestModuleGlobalHooks.test_module_forward_{}_hook_removable"


@st.composite
def interrupted(draw, kind: str, on: str = "m0") -> Plan:
    """Two to four hooks of one kind in one place, at least one of which removes one of them, maybe itself."""
    labels = [f"h{number}" for number in range(draw(st.integers(2, 4)))]
    droppers = draw(st.lists(st.sampled_from(labels), min_size=1, max_size=2, unique=True))
    hooks = [
        Hook(kind, on, label, (Drop(draw(st.sampled_from(labels))),) if label in droppers else ()) for label in labels
    ]
    run = (Forward(), Backward((draw(NUMBERS),)))
    net = Leaf("m0", "scale", (draw(NUMBERS),))
    if on == "*":  # what is removed in one module's call is gone in those that end later
        net = Chain("m1", (net, *[Leaf("m2", "scale", (draw(NUMBERS),)), Reuse("m0")][: draw(st.integers(0, 2))]))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, *run, *run))


def left_by(hooks):
    """The labels of the hooks that none of them removes."""
    gone = {action.label for hook in hooks for action in hook.do}
    return [hook.label for hook in hooks if hook.label not in gone]


def iteration(hook: str):
    """The two readings of a loop around forward over hooks of a sort, one of which removes another."""
    return (
        Reading(
            "snapshot",
            ">=1.10",
            f"A {hook} that an earlier one of the same call removes still runs in that call.",
            {"hooks_iterate": "snapshot"},
        ),
        Reading(
            "live",
            "<1.10",
            f"A call in which a {hook} that is not the last one removes itself or another raises RuntimeError.",
            {"hooks_iterate": "live"},
            says_the_same=False,
            effect="error",
        ),
    )


def first_drops_second(kind: str, on: str = "m0") -> Plan:
    """The smallest plan that tells a snapshot from the live list."""
    hooks = (Hook(kind, on, "h0", (Drop("h1"),)), Hook(kind, on, "h1"))
    return Plan(Leaf("m0", "scale", (2,)), (Input(1),), (*hooks, Forward(), Backward()))


@each(
    Row(
        "ordering.changes.forward_pre_removed",
        "A forward pre-hook may remove forward pre-hooks of its module, also itself: that call still runs them all.",
        (SNAPSHOT_PULL, REMOVABLE.format("preforward")),
        asked="unregister handle inside its own pre hook one shot run once only mutated during iteration skip",
        see="input.keywords.removed_meanwhile",
        matters_if="forward_pre ?removes_inside",
        readings=iteration("forward pre-hook"),
        witness=first_drops_second("forward_pre"),
        draws=lambda: interrupted("forward_pre"),
    ),
    Row(
        "ordering.changes.forward_removed",
        "A forward hook may remove forward hooks of its module, also itself: that call still runs them all.",
        (SNAPSHOT_PULL, REMOVABLE.format("forward")),
        asked="one shot activation capture handle remove within callback safe or ordereddict "
        "mutated during iteration remove a handle inside a hook while hooks run",
        see="handles.removal.keywords_go_first",
        matters_if="forward ?removes_inside",
        readings=iteration("forward hook"),
        witness=first_drops_second("forward"),
        draws=lambda: interrupted("forward"),
    ),
    Row(
        "ordering.changes.global_forward_removed",
        "A global forward hook may remove global forward hooks: the module call that ran it still runs them all.",
        ("measured", SNAPSHOT_PULL),
        asked="one shot register_module_forward_hook unregister handle "
        "from inside callback safe while iterating others skipped",
        level="observed",
        matters_if="forward everywhere ?removes_inside",
        needs=GLOBAL_FORWARD,
        readings=iteration("global forward hook"),
        witness=first_drops_second("forward", "*"),
        draws=lambda: interrupted("forward", "*"),
        where="the module calls no other module",
    ),
    plan=lambda row: row.draws(),
)
def runs_them_all(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace, hooks = subject.holds(plan), hooks_of(plan)
    labels = [hook.label for hook in hooks]
    upto = next(place for place, hook in enumerate(hooks, 1) if hook.do)
    if subject.reading.facts["hooks_iterate"] == "live" and upto < len(hooks):
        assert [event.what for event in trace][: upto + 1] == [*labels[:upto], "raises"]
        assert trace.raised()[0] == ("forward", "RuntimeError")
    else:
        calls = plan.steps.count(Forward()) * (1 + len(getattr(plan.net, "children", ())))
        assert trace.calls() == labels + left_by(hooks) * (calls - 1)


@clause(
    "ordering.changes.tensor_removed",
    says="A tensor hook removed by an earlier one of the same tensor still runs in that backward.",
    source="measured",
    asked="handle remove inside register_hook callback deletes the next one yet it still fires safe unregister",
    matters_if="tensor ?removes_inside",
    readings=(
        Reading(
            "snapshot",
            ">=1.10",
            "All tensor hooks that a tensor has when its gradient comes run, also one that another removes.",
            {"tensor_hooks_iterate": "snapshot"},
        ),
        Reading(
            "live",
            "<1.10",
            "A tensor hook removed by an earlier one of the same tensor does not run in that backward.",
            {"tensor_hooks_iterate": "live"},
            says_the_same=False,
            effect="silent",
        ),
    ),
    witness=first_drops_second("tensor", "x0"),
)
@given(plan=interrupted("tensor", "x0"))
def test_tensor_removed(subject: Subject, plan: Plan) -> None:
    ran, gone, passes = [], set(), plan.steps.count(Forward())
    for hook in hooks_of(plan):
        if hook.label not in gone or subject.reading.facts["tensor_hooks_iterate"] == "snapshot":
            ran.append(hook)
            gone |= {action.label for action in hook.do}
    assert subject.holds(plan).calls() == [hook.label for hook in ran] + left_by(ran) * (passes - 1)


@clause(
    "ordering.changes.post_accumulate_removed",
    says="A post-accumulate-grad hook removed by itself or by an earlier one of its tensor still runs in that pass.",
    source="measured",
    asked="optimizer step in backward callback unregister itself handle "
    "remove fires anyway one shot register_post_accumulate_grad_hook",
    needs=POST_ACCUMULATE,
)
@given(plan=interrupted("post_accumulate", "x0"))
def test_post_accumulate_removed(subject: Subject, plan: Plan) -> None:
    first = [hook.label for hook in hooks_of(plan)]
    assert subject.holds(plan).calls() == first + left_by(hooks_of(plan))


@clause(
    "ordering.changes.full_backward_removed",
    says="A full backward hook removed by itself or another one of its module is still called in that backward().",
    source="measured",
    asked="delete grad_input callback from within backprop one time only still fires after unregister handle",
    needs=FULL,
)
@given(plan=interrupted("full_backward"))
def test_full_backward_removed(subject: Subject, plan: Plan) -> None:
    labels = [hook.label for hook in hooks_of(plan)]
    assert subject.holds(plan).calls() == labels + left_by(hooks_of(plan))


@clause(
    "ordering.changes.forward_registers_hook",
    says="A forward hook that forward registers on self does not run in that call.",
    where="self had no forward or backward hook or pre-hook before",
    source=(SKIPS, SKIP_PULL),
    asked="add hook while layer is executing never triggered first time only from next batch",
    device="none",
    about=("register_forward_hook", "register_forward_pre_hook", "register_module_forward_pre_hook"),
    matters_if="forward ?registers_inside",
    readings=(
        Reading(
            "next call",
            ">=1.9",
            "If self had no hook or pre-hook before, a forward hook that forward registers runs from the next call.",
            value=False,
        ),
        Reading(
            "same call",
            "<1.9",
            "A forward hook that forward registers runs in that call, whether the module had hooks or not.",
            value=True,
            says_the_same=False,
            effect="silent",
        ),
    ),
    witness={"pres": [], "everywhere": False, "adds": [1], "calls": 2},
)
@given(
    pres=st.lists(st.booleans(), max_size=2),
    everywhere=st.booleans(),
    adds=st.lists(st.integers(0, 2), min_size=1, max_size=3),
    calls=st.integers(1, 4),
)
def test_forward_registers_hook(subject: Subject, pres, everywhere, adds, calls) -> None:
    import torch
    from torch.nn.modules import module as of_all

    ran, left = [], list(adds)

    class Late(torch.nn.Module):
        def forward(self, x):
            for _ in range(left.pop(0) if left else 0):
                self.register_forward_hook(lambda *given: ran.append("new"))
            return x

    module, due, new = Late(), [], 0
    numbered(module, kinds_of(pres), ran)
    everywhere = everywhere and subject.contract.global_forward_hooks
    handle = of_all.register_module_forward_pre_hook(lambda *given: None) if everywhere else None
    for call in range(calls):
        module("x")
        added = adds[call] if call < len(adds) else 0
        seen = subject.value or bool(pres) or everywhere or new > 0
        due += in_turn(kinds_of(pres))
        due += ["new"] * (new + added if seen else new)
        new += added
    if handle:
        handle.remove()
    assert ran == due
