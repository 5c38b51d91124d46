"""Hooks that register hooks on their own module: when the new one is called for the first time."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.clause import Reading, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import NUMBERS
from fixtures.families import MODULE_KINDS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Add, Backward, Chain, Drop, Forward, Hook, Input, Leaf, Plan, Raise, Reuse, hooks_of
from suites.handles.inside.traces import news
from suites.names import ALWAYS_CALL, FORWARD, FULL, GLOBAL_FORWARD, SNAPSHOT_PULL
from suites.shapes import alone, one_leaf, scale_maybe, wider

ABOUT = ("register_forward_hook", "register_forward_pre_hook")

#: How many hooks of its kind may come after the one that registers.
LAST, ANY = st.just(0), st.integers(0, 3)


@st.composite
def leaves(draw) -> Leaf:
    """A module of one multiplication."""
    return one_leaf(draw)


@st.composite
def chains(draw) -> Chain:
    """The same in a container, before up to two more calls."""
    inside = (draw(leaves()), one_leaf(draw, "m2"), Reuse("m0"))
    return Chain("m1", inside[: draw(st.integers(1, 3))])


@st.composite
def adding(draw, kind: str, new: str, place, on: str = "m0", once: bool = False, nets=leaves) -> Plan:
    """A module with some hooks of one kind, one of which registers a hook of the kind `new`; two runs."""
    hooks = [Hook(kind, on, f"h{number}") for number in range(draw(st.integers(0, 3)))]
    does = scale_maybe(draw)
    adds = Hook(kind, on, "adds", (Add(Hook(new, on, "new", does)),) + ((Drop("adds"),) if once else ()))
    hooks.insert(len(hooks) - draw(place) if hooks else 0, adds)
    if kind != new and draw(st.booleans()):
        hooks.append(Hook(new, on, "old"))
    run = (Forward(), Backward((draw(NUMBERS),)))
    return Plan(draw(nets()), (Input(draw(NUMBERS)),), (*hooks, *run, *run))


@each(
    Row(
        "handles.inside.pre_by_last_pre",
        "The last forward pre-hook of a module may remove itself and add a new one, which runs from the next call.",
        "measured",
        asked="input callback swaps itself for another one shot replace skip this "
        "iteration add a hook while the model is running inside forward",
        about="register_forward_pre_hook",
        news=[0, 1],
        adds=1,
        draws=lambda: adding("forward_pre", "forward_pre", LAST, once=True),
    ),
    Row(
        "handles.inside.forward_by_last_forward",
        "The last forward hook of a module may remove itself and add a new one, which runs from the next call.",
        "measured",
        asked="swap callback one shot replaces itself with another on same layer skip "
        "this iteration add a hook while the model is running inside forward",
        about="register_forward_hook",
        news=[0, 1],
        adds=1,
        draws=lambda: adding("forward", "forward", LAST, once=True),
    ),
    Row(
        "handles.inside.forward_by_pre",
        "A forward hook that a forward pre-hook registers on its own module runs in the same call already.",
        "measured",
        asked="register output capture dynamically just before layer executes works "
        "same iteration add a hook while the model is running inside forward",
        news=[1, 2],
        draws=lambda: adding("forward_pre", "forward", ANY),
    ),
    Row(
        "handles.inside.global_forward_by_global_pre",
        "A global forward hook that a global forward pre-hook registers runs in the same call already.",
        "measured",
        asked="register_module_forward_hook inside register_module_forward_pre_hook fires "
        "immediately for same layer add a hook while the model is running inside forward",
        needs=GLOBAL_FORWARD,
        news=[1, 2],
        draws=lambda: adding("forward_pre", "forward", ANY, on="*"),
    ),
    Row(
        "handles.inside.pre_by_forward",
        "A forward pre-hook that a forward hook registers on its own module runs from the next call on.",
        "measured",
        asked="register_forward_pre_hook after layer finished output callback adds input "
        "callback when effective add a hook while the model is running inside forward",
        news=[0, 1],
        draws=lambda: adding("forward", "forward_pre", ANY),
    ),
    Row(
        "handles.inside.full_by_pre",
        "A full backward hook that a forward pre-hook registers on its own module is for later calls only.",
        "measured",
        asked="register_full_backward_hook lazily just before layer executes silently "
        "missed first iteration add a hook while the model is running inside forward",
        needs=FULL,
        news=[0, 1],
        draws=lambda: adding("forward_pre", "full_backward", ANY),
    ),
    Row(
        "handles.inside.full_by_full",
        "A full backward hook that a full backward hook registers on its own module is for later calls only.",
        "measured",
        asked="register_full_backward_hook during backpropagation on same layer fires now "
        "or next iteration add a hook while the model is running inside forward",
        needs=FULL,
        news=[0, 1],
        draws=lambda: adding("full_backward", "full_backward", ANY),
    ),
    plan=lambda row: row.draws(),
)
def called_from_then_on(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace = subject.holds(plan)
    # Where the new hook runs in the same call, each call registers one more.
    assert news(trace) == row.news
    assert trace.calls().count("adds") == getattr(row, "adds", 2)


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
            f"A call does not run a {hook} that is registered while its {hook}s run.",
            {"hooks_iterate": "snapshot"},
        ),
        Reading(
            "live",
            "<1.10",
            f"RuntimeError ends a call in which a {hook} that is not the last registers another.",
            {"hooks_iterate": "live"},
            says_the_same=False,
            effect="error",
        ),
    )


LEGACY_BY_PRE = Plan(
    Leaf("m0", "scale", (2,)),
    (Input(1),),
    (Hook("forward_pre", "m0", "adds", (Add(Hook("backward", "m0", "new")),)), Forward(), Backward()),
)


@st.composite
def rescued(draw) -> Plan:
    """A pre-hook registers an always_call hook, and a later one raises."""
    adds = Hook("forward_pre", "m0", "adds", (Add(Hook("forward", "m0", "new", always_call=True)),))
    fails = Hook("forward_pre", "m0", "fails", (Raise(),))
    between = [Hook("forward_pre", "m0", f"h{number}") for number in range(draw(st.integers(0, 2)))]
    return Plan(*alone(draw), (adds, *between, fails, Forward()))


@clause(
    "handles.inside.always_by_pre",
    says="An always_call hook that a forward pre-hook registers on its own module runs even if that call fails.",
    see=("output.always.only_exceptions",),
    source="measured",
    asked="register always_call cleanup from pre hook forward crashes exception "
    "does it still fire add a hook while the model is running inside forward",
    needs=ALWAYS_CALL,
)
@given(plan=rescued())
def test_always_by_pre(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == [hook.label for hook in hooks_of(plan)] + ["new"]
    assert trace.raised() == [("forward", "Boom")]


@st.composite
def once_more(draw) -> Plan:
    """A hook around forward that registers another of its own kind behind itself at every call; several runs."""
    kind = draw(st.sampled_from(FORWARD))
    adds = Hook(kind, "m0", "adds", (Add(Hook(kind, "m0", "new")),))
    run = (Forward(), Backward((draw(NUMBERS),)))
    return Plan(*alone(draw), (adds, *run * draw(st.integers(2, 3))))


@each(
    Row(
        "handles.inside.pre_by_pre",
        "A forward pre-hook may register another on its module: the new one runs from the next call on.",
        ("measured", SNAPSHOT_PULL),
        asked="register_forward_pre_hook inside a running one fires immediately or delayed "
        "to next iteration add a hook while the model is running inside forward",
        level="observed",
        matters_if="forward_pre ?registers_inside",
        readings=loop("forward pre-hook"),
        witness=in_the_middle("forward_pre"),
        draws=lambda: adding("forward_pre", "forward_pre", ANY),
    ),
    Row(
        "handles.inside.forward_by_forward",
        "A forward hook may register another on its module: the new one runs from the next call on.",
        ("measured", SNAPSHOT_PULL),
        asked="add callback while callback is running on same layer fires immediately "
        "or next iteration add a hook while the model is running inside forward",
        level="observed",
        matters_if="forward ?registers_inside",
        readings=loop("forward hook"),
        witness=in_the_middle("forward"),
        draws=lambda: adding("forward", "forward", ANY),
    ),
    Row(
        "handles.inside.global_by_global",
        "A global forward hook registered by another one is first called for the next module that ends its forward.",
        ("measured", SNAPSHOT_PULL),
        asked="register_module_forward_hook from within itself when does new one start "
        "during model run add a hook while the model is running inside forward",
        level="observed",
        matters_if="forward everywhere ?registers_inside",
        needs=GLOBAL_FORWARD,
        readings=loop("global forward hook"),
        witness=in_the_middle("forward", "*"),
        draws=lambda: adding("forward", "forward", ANY, on="*", nets=chains),
    ),
    Row(
        "handles.inside.no_guard",
        "If a forward hook or pre-hook registers another in each call, later calls run all of them.",
        "measured",
        asked="callbacks pile up every iteration training slows down memory grows duplicates "
        "registering repeatedly add a hook while the model is running inside forward",
        where="both are hooks of one module",
        matters_if="forward|forward_pre ?registers_inside",
        readings=(
            Reading(
                "snapshot",
                ">=1.10",
                "If a forward hook or pre-hook registers another in each call, later calls run all of them.",
                {"hooks_iterate": "snapshot"},
            ),
            Reading(
                "live",
                "<1.10",
                "RuntimeError ends the second call in which a forward hook or pre-hook registers another of its kind.",
                {"hooks_iterate": "live"},
                says_the_same=False,
                effect="error",
            ),
        ),
        witness=Plan(
            Leaf("m0", "scale", (2,)),
            (Input(1),),
            (Hook("forward", "m0", "adds", (Add(Hook("forward", "m0", "new")),)), Forward(), Forward()),
        ),
        draws=lambda: once_more(),  # noqa: PLW0108 - the strategy itself has no source that can be read
    ),
    plan=lambda row: row.draws(),
)
def from_the_next_turn_on(subject: Subject, plan: Plan, *, row: Any) -> None:
    """In each turn, a call of one module with its hooks, one hook more is registered behind the others."""
    trace, every = subject.holds(plan), [hook.label for hook in hooks_of(plan)]
    forwards = sum(isinstance(step, Forward) for step in plan.steps)
    turns = forwards * (1 + len(getattr(plan.net, "children", ())))
    if subject.reading.facts["hooks_iterate"] == "snapshot":
        assert trace.calls() == [one for turn in range(turns) for one in [*every, *["new"] * turn]]
        assert trace.raised() == []
    else:
        # The first turn alone may go well: of the last hook, where the first forward has no other turn.
        well = every[-1] == "adds" and turns == forwards
        assert trace.raised() == [("forward", "RuntimeError")] * (forwards - well)
        assert "new" not in trace.calls()


@clause(
    "handles.inside.legacy_by_pre",
    says="A legacy backward hook that a forward pre-hook registers is for later calls of the module only.",
    source="measured",
    asked="deprecated register_backward_hook added just before layer executes not "
    "called first iteration add a hook while the model is running inside forward",
    where="both are hooks of one module",
    matters_if="backward ?registers_inside",
    readings=(
        Reading(
            "next call",
            ">=1.8",
            "A legacy backward hook that a forward pre-hook registers is for later calls of the module only.",
            {"legacy_taken": "start"},
        ),
        Reading(
            "same call",
            "<1.8",
            "A legacy backward hook that a forward pre-hook registers is called for that forward already.",
            {"legacy_taken": "end"},
            says_the_same=False,
            effect="silent",
        ),
    ),
    witness=LEGACY_BY_PRE,
)
@given(plan=adding("forward_pre", "backward", ANY))
def test_legacy_by_pre(subject: Subject, plan: Plan) -> None:
    later = subject.reading.facts["legacy_taken"] == "start"
    found = news(subject.holds(plan))
    assert found == [run - later for run in range(1, len(found) + 1)]


@clause(
    "handles.inside.anywhere",
    says="Every plan of the grammar with hooks that add and drop hooks leaves the trace of the model.",
    source="measured",
    checks_model=True,
    about=apis(MODULE_KINDS, everywhere=True),
)
@given(
    plan=wider(
        *("everywhere", "options", "remove"),
        kinds=MODULE_KINDS,
        does=("add", "drop", "scale"),
        depth=2,
        most=6,
        runs=3,
    )
)
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
