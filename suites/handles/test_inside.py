"""Hooks that register hooks: when the new one is called for the first time."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.contract import contract_for, installed_version
from fixtures.draw import FACTORS, NUMBERS, available, plans
from fixtures.plan import (
    MODULE_KINDS,
    Add,
    Again,
    Backward,
    Chain,
    Drop,
    Forward,
    Hook,
    Input,
    Leaf,
    Plan,
    Raise,
    Scale,
    hooks_of,
)
from fixtures.subject import Subject

SNAPSHOT_PULL = "https://github.com/pytorch/pytorch/pull/60517"
SKIP_PULL = "https://github.com/pytorch/pytorch/pull/52576"
GLOBAL_FORWARD = "torch.nn.modules.module.register_module_forward_hook"
ALWAYS_CALL = "torch.nn.Module.register_forward_hook(always_call)"
FULL = "torch.nn.Module.register_full_backward_hook"


#: How many hooks of its kind may come after the one that registers.
LAST, ANY = st.just(0), st.integers(0, 3)


@st.composite
def adding(draw, kind: str, new: str, place, on: str = "m0", new_on: str = "m0", once: bool = False) -> Plan:
    """A module with some hooks of one kind, one of which registers a hook of the kind `new`; two runs."""
    hooks = [Hook(kind, on, f"h{number}") for number in range(draw(st.integers(0, 3)))]
    does = (Scale(draw(FACTORS)),) if draw(st.booleans()) else ()
    adds = Hook(kind, on, "adds", (Add(Hook(new, new_on, "new", does)),) + ((Drop("adds"),) if once else ()))
    hooks.insert(len(hooks) - draw(place) if hooks else 0, adds)
    if kind != new and draw(st.booleans()):
        hooks.append(Hook(new, new_on, "old"))
    run = (Forward(), Backward((draw(NUMBERS),)))
    return Plan(Leaf("m0", "scale", (draw(NUMBERS),)), (Input(draw(NUMBERS)),), (*hooks, *run, *run))


def news(trace):
    """How often the new hook was called in each run; a run ends with the gradients."""
    counts = [0]
    for event in trace:
        counts[-1] += event.what == "new"
        if event.what == "grads":
            counts.append(0)
    return counts[:-1]


@clause(
    "handles.inside.pre_by_last_pre",
    says="The last pre-hook of a module may put another in its place: that one runs from the next call on.",
    source="measured",
    covers=("module_forward.dyn.pre_registers_pre",),
)
@given(plan=adding("forward_pre", "forward_pre", LAST, once=True))
def test_pre_by_last_pre(subject: Subject, plan: Plan) -> None:
    assert news(subject.holds(plan)) == [0, 1]


@clause(
    "handles.inside.forward_by_last_forward",
    says="The last forward hook of a module may put another in its place: it runs from the next call on.",
    source="measured",
    covers=("module_forward.dyn.fwd_registers_fwd",),
)
@given(plan=adding("forward", "forward", LAST, once=True))
def test_forward_by_last_forward(subject: Subject, plan: Plan) -> None:
    assert news(subject.holds(plan)) == [0, 1]


def in_the_middle(kind: str, on: str = "m0") -> Plan:
    """The smallest plan that tells a snapshot from the live list."""
    hooks = (Hook(kind, on, "adds", (Add(Hook(kind, on, "new")),)), Hook(kind, on, "h0"))
    return Plan(Leaf("m0", "scale", (2,)), (Input(1),), (*hooks, Forward()))


LOOPS = (
    Reading("snapshot", ">=1.10", "The hooks of a call are those it began with.", {"hooks_iterate": "snapshot"}),
    Reading("live", "<1.10", "RuntimeError, because the dict changes in the loop.", {"hooks_iterate": "live"}),
)


@clause(
    "handles.inside.pre_by_pre",
    says="Any pre-hook may register another one on its module: the new one runs from the next call on.",
    source=("measured", SNAPSHOT_PULL),
    readings=LOOPS,
    witness=in_the_middle("forward_pre"),
    covers=("module_forward.dyn.pre_registers_pre_two",),
)
@given(plan=adding("forward_pre", "forward_pre", ANY))
def test_pre_by_pre(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "handles.inside.forward_by_forward",
    says="Any forward hook may register another one on its module: the new one runs from the next call on.",
    source=("measured", SNAPSHOT_PULL),
    readings=LOOPS,
    witness=in_the_middle("forward"),
)
@given(plan=adding("forward", "forward", ANY))
def test_forward_by_forward(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "handles.inside.global_by_global",
    says="A global forward hook may register another one: it runs for the modules that come after.",
    source=("measured", SNAPSHOT_PULL),
    needs=GLOBAL_FORWARD,
    readings=LOOPS,
    witness=in_the_middle("forward", "*"),
)
@given(plan=adding("forward", "forward", ANY, on="*", new_on="*"))
def test_global_by_global(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "handles.inside.forward_by_pre",
    says="A forward hook that a pre-hook registers runs in the same call already.",
    source="measured",
    covers=("module_forward.dyn.pre_registers_fwd",),
)
@given(plan=adding("forward_pre", "forward", ANY))
def test_forward_by_pre(subject: Subject, plan: Plan) -> None:
    # The pre-hook registers one more at each call.
    assert news(subject.holds(plan)) == [1, 2]


@clause(
    "handles.inside.global_forward_by_global_pre",
    says="A global forward hook that a global pre-hook registers runs in the same call already.",
    source="measured",
    needs=GLOBAL_FORWARD,
    covers=("module_forward.global.pre_in_force_fwd_added",),
)
@given(plan=adding("forward_pre", "forward", ANY, on="*", new_on="*"))
def test_global_forward_by_global_pre(subject: Subject, plan: Plan) -> None:
    assert news(subject.holds(plan)) == [1, 2]


@clause(
    "handles.inside.pre_by_forward",
    says="A pre-hook that a forward hook registers runs from the next call on.",
    source="measured",
)
@given(plan=adding("forward", "forward_pre", ANY))
def test_pre_by_forward(subject: Subject, plan: Plan) -> None:
    assert news(subject.holds(plan)) == [0, 1]


@clause(
    "handles.inside.full_by_pre",
    says="A full backward hook that a pre-hook registers does not belong to the call that goes on.",
    source="measured",
    needs=FULL,
)
@given(plan=adding("forward_pre", "full_backward", ANY))
def test_full_by_pre(subject: Subject, plan: Plan) -> None:
    assert news(subject.holds(plan)) == [0, 1]


LEGACY_BY_PRE = Plan(
    Leaf("m0", "scale", (2,)),
    (Input(1),),
    (Hook("forward_pre", "m0", "adds", (Add(Hook("backward", "m0", "new")),)), Forward(), Backward()),
)


@clause(
    "handles.inside.legacy_by_pre",
    says="A legacy backward hook that a pre-hook registers does not belong to the call that goes on.",
    source="measured",
    readings=(
        Reading("next call", ">=1.8", "The legacy hooks of a call are those it began with.", {"legacy_taken": "start"}),
        Reading("same call", "<1.8", "They are looked up when the output is there.", {"legacy_taken": "end"}),
    ),
    witness=LEGACY_BY_PRE,
)
@given(plan=adding("forward_pre", "backward", ANY))
def test_legacy_by_pre(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "handles.inside.full_by_full",
    says="A full backward hook that another one registers runs from the backward of the next forward on.",
    source="measured",
    needs=FULL,
)
@given(plan=adding("full_backward", "full_backward", ANY))
def test_full_by_full(subject: Subject, plan: Plan) -> None:
    assert news(subject.holds(plan)) == [0, 1]


@st.composite
def from_below(draw, hooked: bool) -> Plan:
    """A child whose hook registers a forward hook on the container around it, which has a hook of its own or none."""
    kind = draw(st.sampled_from(["forward_pre", "forward"]))
    adds = Hook(kind, "m1", "adds", (Add(Hook("forward", "m0", "new", (Scale(draw(FACTORS)),))),))
    own = [Hook(draw(st.sampled_from(["forward_pre", "forward"])), "m0", "own")] if hooked else []
    net = Chain("m0", (Leaf("m1", "scale", (draw(NUMBERS),)),) + ((Again("m1"),) if draw(st.booleans()) else ()))
    run = (Forward(), Backward((draw(NUMBERS),)))
    return Plan(net, (Input(draw(NUMBERS)),), (*draw(st.permutations([adds, *own])), *run * 2))


@clause(
    "handles.inside.parent_with_hooks",
    says="A forward hook that a child's hook puts on its parent runs in the parent's call that goes on.",
    source="measured",
    covers=("module_forward.dyn.child_registers_on_parent", "module_forward.dyn.forward_registers_fwd_hooked"),
)
@given(plan=from_below(hooked=True))
def test_parent_with_hooks(subject: Subject, plan: Plan) -> None:
    calls = len(plan.net.children)
    assert news(subject.holds(plan)) == [calls, 2 * calls]


@clause(
    "handles.inside.bare_parent",
    says="A parent that had no hook when it was called does not run what a child's hook puts on it meanwhile.",
    source=("measured", SKIP_PULL),
    readings=(
        Reading("next call", ">=1.9", "A call that begins without hooks is forward alone.", {"bare_is_skipped": True}),
        Reading("same call", "<1.9", "The forward hooks are looked up after forward.", {"bare_is_skipped": False}),
    ),
    witness=Plan(
        Chain("m0", (Leaf("m1", "scale", (2,)),)),
        (Input(1),),
        (Hook("forward", "m1", "adds", (Add(Hook("forward", "m0", "new")),)), Forward()),
    ),
    covers=("module_forward.dyn.forward_registers_fwd_bare",),
)
@given(plan=from_below(hooked=False))
def test_bare_parent(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@st.composite
def rescued(draw) -> Plan:
    """A pre-hook registers an always_call hook, and a later one raises."""
    adds = Hook("forward_pre", "m0", "adds", (Add(Hook("forward", "m0", "new", always_call=True)),))
    fails = Hook("forward_pre", "m0", "fails", (Raise(),))
    between = [Hook("forward_pre", "m0", f"h{number}") for number in range(draw(st.integers(0, 2)))]
    return Plan(Leaf("m0", "scale", (draw(NUMBERS),)), (Input(draw(NUMBERS)),), (adds, *between, fails, Forward()))


@clause(
    "handles.inside.always_by_pre",
    says="An always_call hook that a pre-hook registers runs although the same call fails afterwards.",
    source="measured",
    needs=ALWAYS_CALL,
)
@given(plan=rescued())
def test_always_by_pre(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == [hook.label for hook in hooks_of(plan)] + ["new"]


@st.composite
def once_more(draw) -> Plan:
    """A hook of any kind that registers another of its own kind behind itself at every call; several runs."""
    kind = draw(st.sampled_from(available(contract_for(installed_version()), MODULE_KINDS)))
    adds = Hook(kind, "m0", "adds", (Add(Hook(kind, "m0", "new")),))
    run = (Forward(), Backward((draw(NUMBERS),)))
    net = Leaf("m0", "scale", (draw(NUMBERS),))
    return Plan(net, (Input(draw(NUMBERS)),), (adds, *run * draw(st.integers(2, 3))))


@clause(
    "handles.inside.no_guard",
    says="Nothing keeps a hook from registering again: what each call adds runs in all the later ones.",
    source="measured",
    readings=(
        Reading("snapshot", ">=1.10", "One more at each run.", {"hooks_iterate": "snapshot"}),
        Reading("live", "<1.10", "RuntimeError from the second call on around forward.", {"hooks_iterate": "live"}),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)),
        (Input(1),),
        (Hook("forward", "m0", "adds", (Add(Hook("forward", "m0", "new")),)), Forward(), Forward()),
    ),
)
@given(plan=once_more())
def test_no_guard(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "handles.inside.anywhere",
    says="In any network, hooks that register and remove hooks do what the contract predicts.",
    source="measured",
)
@given(
    plan=plans(
        kinds=MODULE_KINDS,
        does=("add", "drop", "scale"),
        inputs=(1, 2),
        outputs=(1, 2),
        depth=2,
        most=6,
        everywhere=True,
        options=True,
        remove=True,
        runs=3,
    )
)
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
