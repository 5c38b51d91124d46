"""A registration returns a handle. Removing through it takes one hook out, at once and for good, and nothing else."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.clause import Reading, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.contract import contract_drawn_for
from fixtures.draw.plans import FACTORS, NUMBERS, available
from fixtures.families import MODULE_KINDS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Drop, Forward, Hook, Input, Leaf, Plan, Remove, Scale, hooks_of
from suites.names import FORWARD, GLOBAL_FORWARD, GLOBAL_KWARGS, GLOBAL_KWARGS_PULL, HANDLE, KWARGS, PREPEND
from suites.shapes import alone, dropped, scale_maybe, tower, wider

EVERY_KIND = (*MODULE_KINDS, "tensor", "post_accumulate")
ABOUT = apis(EVERY_KIND)

ADDED = 'docs: torch.nn.{}_hook "a handle that can be used to remove the added hook by calling"'
GLOBAL_REMOVES = tuple(ADDED.format(f"modules.module.register_module_{kind}") for kind in ("forward_pre", "forward"))
MODULE_REMOVES = tuple(
    ADDED.format(f"Module.register_{kind}") for kind in ("forward_pre", "forward", "full_backward", "full_backward_pre")
)
REMOVES = (
    *MODULE_REMOVES,
    ADDED.format("Module.register_backward"),
    'docs: torch.Tensor.register_hook "that removes the hook from the module"',
    'docs: torch.Tensor.register_post_accumulate_grad_hook "that removes the hook from the module"',
)


@st.composite
def lives(draw, kinds=EVERY_KIND, on: str = "m0", times: int = 1, leave: bool = False, prepend: bool = False) -> Plan:
    """Hooks of one kind in one place, and several forwards with a backward each; before any, some hooks are removed."""
    kind = draw(st.sampled_from(available(contract_drawn_for(), kinds)))
    place = on if kind in MODULE_KINDS else "m1.weight"
    labels = [f"h{number}" for number in range(draw(st.integers(2, 4)))]
    steps = [Hook(kind, place, label, scale_maybe(draw), prepend=prepend and draw(st.booleans())) for label in labels]
    run = (Forward(), Backward((draw(NUMBERS),)))
    doomed = draw(st.lists(st.sampled_from(labels), min_size=1, unique=True))
    for label in doomed:
        steps += run if draw(st.booleans()) else ()
        steps += [Remove(label, leave)] * times
    return Plan(tower(draw, 2), (Input(draw(NUMBERS)),), (*steps, *run))


def due(plan: Plan):
    """The labels due in each run, module by module: those not removed before its forward, prepended ones in front."""
    line, calls, modules = [], [], 2 if hooks_of(plan)[0].on == "*" else 1
    for step in plan.steps:
        if isinstance(step, Hook):
            line.insert(0 if step.prepend else len(line), step.label)
        elif isinstance(step, Remove) and step.label in line:
            line.remove(step.label)
        elif isinstance(step, Forward):
            calls += line * modules
    return calls


@each(
    Row(
        "handles.removal.stops",
        "A hook removed before a forward is not called in that forward or its backward.",
        REMOVES,
        asked="disable callback before inference unregister full backward "
        "hook no longer triggers remove unregister a hook handle.remove",
        draws=lambda: lives(EVERY_KIND),
    ),
    Row(
        "handles.removal.with_block",
        "Leaving the with block of a handle removes its hook, as remove() does.",
        ("test: test/nn/test_module_hooks.py TestModuleHookNN.test_hook_inplace", HANDLE),
        asked="context manager exit unregisters automatically temporary "
        "activation capture scope context manager with statement handle",
        draws=lambda: lives(leave=True),
    ),
    Row(
        "handles.removal.prepended",
        "The handle of a hook registered with prepend=True removes that hook alone, wherever it is in the order.",
        MODULE_REMOVES,
        asked="unregister first placed callback does handle delete wrong one put at front",
        needs=PREPEND,
        draws=lambda: lives(kinds=(*FORWARD, "full_backward", "full_backward_pre"), prepend=True),
    ),
    Row(
        "handles.removal.everywhere",
        "A global forward hook or forward pre-hook that is removed runs for no module in later calls.",
        GLOBAL_REMOVES,
        asked="unregister register_module_forward_hook stops for all layers of every model",
        needs=GLOBAL_FORWARD,
        draws=lambda: lives(kinds=FORWARD, on="*"),
    ),
    plan=lambda row: row.draws(),
)
def no_more_calls(subject: Subject, plan: Plan, *, row: Any) -> None:
    assert subject.holds(plan).calls() == due(plan)


@clause(
    "handles.removal.twice",
    says="Calling remove() again on the same handle does nothing.",
    source="measured",
    asked="unregister same callback two times keyerror or safe idempotent cleanup",
)
@given(plan=lives(times=3))
def test_twice(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == due(plan)
    assert trace.raised() == []


@st.composite
def one_shot(draw) -> Plan:
    """Hooks of one kind on a module, the last of which removes itself, and several runs."""
    kind = draw(st.sampled_from(available(contract_drawn_for(), MODULE_KINDS)))
    hooks = [Hook(kind, "m0", f"h{number}") for number in range(draw(st.integers(0, 3)))]
    last = Hook(kind, "m0", "once", (Drop("once"), Scale(draw(FACTORS))))
    run = (Forward(), Backward((draw(NUMBERS),)))
    return Plan(*alone(draw), (*hooks, last, *run * draw(st.integers(2, 3))))


@clause(
    "handles.removal.by_itself",
    says="The last forward or backward hook of a module may remove itself: later calls of the module skip it.",
    source="measured",
    asked="one shot callback unregisters its own handle while running dictionary mutated during iteration error",
    about=apis(MODULE_KINDS),
)
@given(plan=one_shot())
def test_by_itself(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls().count("once") == 1
    assert trace.raised() == []


@st.composite
def from_below(draw) -> Plan:
    """A global forward hook that a child's own hook removes while its parents are still in their forward."""
    depth = draw(st.integers(1, 3))
    net = tower(draw, depth + 1)
    ends = Hook("forward", f"m{depth}", "ends", (Drop("everywhere"),))
    everywhere = Hook("forward", "*", "everywhere", (Scale(draw(FACTORS)),))
    hooks = draw(st.permutations([ends, everywhere]))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Forward()))


@clause(
    "handles.removal.from_below",
    says="A global forward hook that a child's forward hook removes does not run for the modules around the child.",
    source="measured",
    asked="inner layer unregisters all modules callback mid run do outer containers still trigger",
    needs=GLOBAL_FORWARD,
)
@given(plan=from_below())
def test_from_below(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    child = next(hook.on for hook in hooks_of(plan) if hook.label == "ends")
    assert [seen[0] for seen in trace.seen_by("everywhere")] == [child]


@clause(
    "handles.removal.keywords_go_first",
    says="A with_kwargs forward hook removed by an earlier one is still called in that call, without kwargs.",
    source="measured",
    asked="typeerror missing argument output callback unregistered midway loses keyword parameter",
    needs=KWARGS,
    note="The hooks of a call are those it began with, while with_kwargs is looked up when each one's turn comes.",
)
@given(plan=dropped("forward"))
def test_keywords_go_first(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    first, *others = hooks_of(plan)
    for hook in others:
        gone = Drop(hook.label) in first.do
        assert [len(seen) for seen in trace.seen_by(hook.label)] == ([3] if gone else [4, 4])


GLOBAL_DROPPED = Plan(
    Leaf("m0", "scale", (2,)),
    (Input(1),),
    (Hook("forward", "*", "h0", (Drop("h1"),)), Hook("forward", "*", "h1", with_kwargs=True), Forward(3)),
)


@clause(
    "handles.removal.global_keywords_stay",
    says="A global with_kwargs forward hook removed by an earlier global one still runs in that call, with kwargs.",
    source=("measured", GLOBAL_KWARGS_PULL),
    asked="register_module_forward_hook unregisters another during same layer run signature still gets kwargs",
    level="observed",
    needs=GLOBAL_KWARGS,
    readings=(
        Reading(
            "stays",
            "",
            "A global with_kwargs forward hook removed by an earlier global one still runs in that call, with kwargs.",
            {"global_kwargs_flag_stays": True},
        ),
        Reading("never goes", "never", "The entry goes with the hook.", {"global_kwargs_flag_stays": False}),
    ),
    witness=GLOBAL_DROPPED,
    note="The hook itself is removed, as documented; its id stays in torch's dict of the flags.",
)
@given(plan=dropped("forward", "*"))
def test_global_keywords_stay(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    first, *others = hooks_of(plan)
    given_ = 3 + subject.reading.facts["global_kwargs_flag_stays"]
    for hook in others:
        gone = Drop(hook.label) in first.do
        assert [len(seen) for seen in trace.seen_by(hook.label)] == ([given_] if gone else [4, 4])


@st.composite
def undone(draw) -> Plan:
    """Plans in which each other hook is removed as soon as it is registered."""
    plan = draw(wider("everywhere", kinds=(*FORWARD, "full_backward_pre", "tensor")))
    # Later ones would not do: of a node with two outputs, the one that had a hook first has its hooks called first.
    early = plan.steps[: next(place for place, step in enumerate(plan.steps) if isinstance(step, Forward))]
    gone = [step for step in early if isinstance(step, Hook)][::2]
    both = [(step, Remove(step.label)) if step in gone else (step,) for step in plan.steps]
    return replace(plan, steps=tuple(one for each in both for one in each))


@clause(
    "handles.removal.as_if_never_registered",
    says="A forward hook, pre-hook or tensor hook registered and removed before the first call has no effect.",
    where="the tensor is a leaf",
    source="measured",
    asked="leftover side effects after unregistering unused callback slow path or changed results",
    about=apis(("forward", "forward_pre", "full_backward_pre", "tensor"), everywhere=True),
)
@given(plan=undone())
def test_as_if_never_registered(subject: Subject, plan: Plan) -> None:
    gone = [step.label for step in plan.steps if isinstance(step, Remove)]
    bare = tuple(step for step in plan.steps if getattr(step, "label", "") not in gone)
    assert subject.holds(plan) == subject.play(replace(plan, steps=bare))


@clause(
    "handles.removal.anywhere",
    says="Every plan of the grammar that removes hooks at any time leaves the trace of the model.",
    source="measured",
    checks_model=True,
    about=apis(EVERY_KIND, everywhere=True),
)
@given(
    plan=wider(*("everywhere", "options", "remove"), kinds=EVERY_KIND, does=("scale", "drop"), depth=2, most=6, runs=3)
)
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
