"""Hooks that register hooks: when the new one is called for the first time."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.families import MODULE_KINDS
from fixtures.judge.about import apis
from fixtures.judge.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.model.contract import contract_for, installed_version
from fixtures.plan.draw import FACTORS, NUMBERS, available, plans
from fixtures.plan.grammar import (
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

ABOUT = ("register_forward_hook", "register_forward_pre_hook")

SNAPSHOT_PULL = "https://github.com/pytorch/pytorch/pull/60517"
GLOBAL_FORWARD = "torch.nn.modules.module.register_module_forward_hook"
ALWAYS_CALL = "torch.nn.Module.register_forward_hook(always_call)"
FULL = "torch.nn.Module.register_full_backward_hook"


#: How many hooks of its kind may come after the one that registers.
LAST, ANY = st.just(0), st.integers(0, 3)


@st.composite
def leaves(draw) -> Leaf:
    """A module of one multiplication."""
    return Leaf("m0", "scale", (draw(NUMBERS),))


@st.composite
def chains(draw) -> Chain:
    """The same in a container, before up to two more calls."""
    inside = (draw(leaves()), Leaf("m2", "scale", (draw(NUMBERS),)), Again("m0"))
    return Chain("m1", inside[: draw(st.integers(1, 3))])


@st.composite
def adding(
    draw, kind: str, new: str, place, on: str = "m0", new_on: str = "m0", once: bool = False, nets=leaves
) -> Plan:
    """A module with some hooks of one kind, one of which registers a hook of the kind `new`; two runs."""
    hooks = [Hook(kind, on, f"h{number}") for number in range(draw(st.integers(0, 3)))]
    does = (Scale(draw(FACTORS)),) if draw(st.booleans()) else ()
    adds = Hook(kind, on, "adds", (Add(Hook(new, new_on, "new", does)),) + ((Drop("adds"),) if once else ()))
    hooks.insert(len(hooks) - draw(place) if hooks else 0, adds)
    if kind != new and draw(st.booleans()):
        hooks.append(Hook(new, new_on, "old"))
    run = (Forward(), Backward((draw(NUMBERS),)))
    return Plan(draw(nets()), (Input(draw(NUMBERS)),), (*hooks, *run, *run))


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
    says="The last forward pre-hook of a module may replace itself: the new one runs from the next call on.",
    source="measured",
    about="register_forward_pre_hook",
)
@given(plan=adding("forward_pre", "forward_pre", LAST, once=True))
def test_pre_by_last_pre(subject: Subject, plan: Plan) -> None:
    assert news(subject.holds(plan)) == [0, 1]


@clause(
    "handles.inside.forward_by_last_forward",
    says="The last forward hook of a module may replace itself: the new one runs from the next call on.",
    source="measured",
    about="register_forward_hook",
)
@given(plan=adding("forward", "forward", LAST, once=True))
def test_forward_by_last_forward(subject: Subject, plan: Plan) -> None:
    assert news(subject.holds(plan)) == [0, 1]


def in_the_middle(kind: str, on: str = "m0") -> Plan:
    """The smallest plan that tells a snapshot from the live list."""
    hooks = (Hook(kind, on, "adds", (Add(Hook(kind, on, "new")),)), Hook(kind, on, "h0"))
    return Plan(Leaf("m0", "scale", (2,)), (Input(1),), (*hooks, Forward()))


def loop(hook: str):
    """The two readings of a loop around forward over hooks of a sort, one of which registers another."""
    return (
        Reading(
            "snapshot",
            ">=1.10",
            f"When a {hook} registers another, that call runs only those that it began with.",
            {"hooks_iterate": "snapshot"},
        ),
        Reading(
            "live",
            "<1.10",
            f"RuntimeError ends a call in which a {hook} registers another, unless it is the last.",
            {"hooks_iterate": "live"},
            headline=False,
            harm="error",
        ),
    )


@clause(
    "handles.inside.pre_by_pre",
    says="A forward pre-hook may register another on its module: the new one runs from the next call on.",
    source=("measured", SNAPSHOT_PULL),
    level="observed",
    concern="forward_pre ?registers_inside",
    readings=loop("forward pre-hook"),
    witness=in_the_middle("forward_pre"),
)
@given(plan=adding("forward_pre", "forward_pre", ANY))
def test_pre_by_pre(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "handles.inside.forward_by_forward",
    says="A forward hook may register another on its module: the new one runs from the next call on.",
    source=("measured", SNAPSHOT_PULL),
    level="observed",
    concern="forward ?registers_inside",
    readings=loop("forward hook"),
    witness=in_the_middle("forward"),
)
@given(plan=adding("forward", "forward", ANY))
def test_forward_by_forward(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "handles.inside.global_by_global",
    says="A global forward hook may register another: it runs for the modules that end their forward later.",
    source=("measured", SNAPSHOT_PULL),
    level="observed",
    concern="forward everywhere ?registers_inside",
    needs=GLOBAL_FORWARD,
    readings=loop("global forward hook"),
    witness=in_the_middle("forward", "*"),
)
@given(plan=adding("forward", "forward", ANY, on="*", new_on="*", nets=chains))
def test_global_by_global(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "handles.inside.forward_by_pre",
    says="A forward hook that a pre-hook registers on its module runs in the same call already.",
    source="measured",
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
)
@given(plan=adding("forward_pre", "forward", ANY, on="*", new_on="*"))
def test_global_forward_by_global_pre(subject: Subject, plan: Plan) -> None:
    assert news(subject.holds(plan)) == [1, 2]


@clause(
    "handles.inside.pre_by_forward",
    says="A forward pre-hook that a forward hook registers on its module runs from the next call on.",
    source="measured",
)
@given(plan=adding("forward", "forward_pre", ANY))
def test_pre_by_forward(subject: Subject, plan: Plan) -> None:
    assert news(subject.holds(plan)) == [0, 1]


@clause(
    "handles.inside.full_by_pre",
    says="A full backward hook that a forward pre-hook registers is first called for the next forward.",
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
    says="A legacy backward hook that a forward pre-hook registers is first called for the next forward.",
    source="measured",
    concern="backward ?registers_inside",
    readings=(
        Reading(
            "next call",
            ">=1.8",
            "The legacy backward hooks of a call are those that its module had when it began.",
            {"legacy_taken": "start"},
        ),
        Reading(
            "same call",
            "<1.8",
            "A legacy backward hook that a forward pre-hook registers is called for that forward already.",
            {"legacy_taken": "end"},
            headline=False,
            harm="silent",
        ),
    ),
    witness=LEGACY_BY_PRE,
)
@given(plan=adding("forward_pre", "backward", ANY))
def test_legacy_by_pre(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "handles.inside.full_by_full",
    says="A full backward hook that another one registers is first called for the next forward.",
    source="measured",
    needs=FULL,
)
@given(plan=adding("full_backward", "full_backward", ANY))
def test_full_by_full(subject: Subject, plan: Plan) -> None:
    assert news(subject.holds(plan)) == [0, 1]


@st.composite
def rescued(draw) -> Plan:
    """A pre-hook registers an always_call hook, and a later one raises."""
    adds = Hook("forward_pre", "m0", "adds", (Add(Hook("forward", "m0", "new", always_call=True)),))
    fails = Hook("forward_pre", "m0", "fails", (Raise(),))
    between = [Hook("forward_pre", "m0", f"h{number}") for number in range(draw(st.integers(0, 2)))]
    return Plan(Leaf("m0", "scale", (draw(NUMBERS),)), (Input(draw(NUMBERS)),), (adds, *between, fails, Forward()))


@clause(
    "handles.inside.always_by_pre",
    says="An always_call hook that a pre-hook registers on its module runs even when that call fails later.",
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
    says="A hook may register another of its kind at each call: all of them run in the later calls.",
    source="measured",
    concern="forward|forward_pre ?registers_inside",
    readings=(
        Reading(
            "snapshot",
            ">=1.10",
            "Where a hook registers another of its kind at each call, each call runs one hook more than the last.",
            {"hooks_iterate": "snapshot"},
        ),
        Reading(
            "live",
            "<1.10",
            "RuntimeError ends the second call whose forward hook or pre-hook registers another of its kind.",
            {"hooks_iterate": "live"},
            headline=False,
            harm="error",
        ),
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
    says="Every plan of the grammar with hooks that add and drop hooks leaves the trace of the model.",
    source="measured",
    about=apis(MODULE_KINDS, everywhere=True),
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
