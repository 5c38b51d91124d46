"""Forward hooks registered with `always_call=True`: they run also when the call fails."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Add, Drop, Forward, Hook, Input, Plan, Raise, ReturnWrong, Scale, hooks_of
from suites.names import ALWAYS_CALL, ALWAYS_TEST, CODE, FORWARD_HOOK, GLOBAL_KWARGS, GLOBAL_KWARGS_PULL
from suites.shapes import alone, in_line, product, tower

PULL = "https://github.com/pytorch/pytorch/pull/104278"


@st.composite
def lines(draw, *acts: str, fails: str = "", everywhere: bool = False, with_kwargs: bool = False) -> Plan:
    """A multiplication with two to five forward hooks, most of them always called, and up to one pre-hook before them.

    A hook does one of `acts`: "scale", or "give" (return a number). What makes the call fail is a pre-hook or a
    forward hook without always_call (`fails`: "pre", "hook"); with "" nothing does.
    """
    count = draw(st.integers(2, 5))
    raising = draw(st.integers(0, count - 1)) if fails == "hook" else -1
    hooks = [Hook("forward_pre", "m0", "first", (Scale(draw(FACTORS)),))] if draw(st.booleans()) else []
    hooks += [Hook("forward_pre", "m0", "pre", (Raise(),))] if fails == "pre" else []
    for number in range(count):
        act, always = draw(st.sampled_from((*acts, "observe"))), draw(st.sampled_from((True, True, False)))
        do = ()
        if number == raising:
            do, always = (Raise(),), draw(st.booleans())
        elif act == "scale":
            do = (Scale(draw(FACTORS)),)
        elif act == "give":
            do = (ReturnWrong("number"),)
        on = draw(st.sampled_from(["*", "m0"])) if everywhere else "m0"
        front = on == "m0" and draw(st.booleans())
        hooks.append(Hook("forward", on, f"h{number}", do, prepend=front, with_kwargs=with_kwargs, always_call=always))
    return Plan(*alone(draw), (*hooks, Forward(draw(NUMBERS) if with_kwargs else None)))


BEFORE = (Hook("forward_pre", "m0", "pre", (Raise(),)),)


def given_input(plan: Plan):
    """The input as the pre-hooks leave it."""
    scaling = [hook for hook in hooks_of(plan, "forward_pre") if hook.do != (Raise(),)]
    return plan.inputs[0].value * product(scaling)


def due(plan: Plan):
    """The labels due in the call: up to the first failure every hook, after it the always_call ones still to come."""
    called, failed = [], False
    for hook in hooks_of(plan, "forward_pre") + in_line(hooks_of(plan, "forward")):
        if not failed or hook.always_call:
            called.append(hook.label)
        failed = failed or hook.do == (Raise(),)
    return called


@each(
    Row(
        "output.always.in_line",
        "In a call that succeeds an always_call hook runs as other forward hooks do, and may replace the output.",
        ALWAYS_TEST,
        asked="does always_call=true change anything without exception normal run modify "
        "activations order same always_call cleanup finally exception in forward",
        see=("ordering.changes.forward_registers_hook",),
        needs=ALWAYS_CALL,
        draws=lambda: lines("scale"),
    ),
    Row(
        "output.always.after_a_hook",
        "After a forward hook raised, each always_call hook of the module that did not run in that call runs once.",
        (f'{CODE} "run always called hooks if they have not already been run"', ALWAYS_TEST),
        asked="cleanup callback when another activation callback crashes is it called "
        "twice or skipped finally always_call cleanup finally exception in forward",
        see=("output.always.changed_under_way", "output.always.only_exceptions"),
        needs=ALWAYS_CALL,
        draws=lambda: lines("scale", "scale", fails="hook"),
    ),
    Row(
        "output.always.global_first",
        "In a failing call of a module the global always_call hooks run before its own, prepended or not.",
        "measured",
        asked="crash handling callback for all modules versus layer specific cleanup which "
        "fires earlier prepend always_call cleanup finally exception in forward",
        needs=(ALWAYS_CALL, "torch.nn.modules.module.register_module_forward_hook(always_call)"),
        draws=lambda: lines("scale", fails="pre", everywhere=True),
    ),
    plan=lambda row: row.draws(),
)
def in_turn(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == due(plan)
    if any(hook.do == (Raise(),) for hook in hooks_of(plan)):
        assert trace.raised() == [("forward", "Boom")]
    else:
        assert trace.returns() == [plan.net.values[0] * plan.inputs[0].value * product(hooks_of(plan))]


@clause(
    "output.always.before_output",
    says="If a module's forward pre-hook raises, its always_call hooks get output None, or what earlier ones returned.",
    see=("output.places.forward_raises",),
    source=(PULL, "measured"),
    asked="cleanup callback receives none instead of activations because input stage "
    "crashed attributeerror nonetype always_call cleanup finally exception in forward",
    level="observed",
    needs=ALWAYS_CALL,
)
@given(plan=lines("give", fails="pre"))
def test_before_output(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == due(plan)
    output = None
    for hook in in_line(hooks_of(plan, "forward")):
        if hook.always_call:
            assert trace.seen_by(hook.label) == [("m0", (given_input(plan),), output)]
            # A number is no tensor: the trace holds its repr.
            output = "3" if hook.do else output


@clause(
    "output.always.keywords",
    says="If a call raises an Exception, the module's always_call hooks with with_kwargs=True get its kwargs.",
    where="no hook changes the kwargs",
    see=("output.always.global_keywords_lost", "output.always.only_exceptions", "output.always.changed_under_way"),
    source=(f'{FORWARD_HOOK} "the ``hook`` will be passed the kwargs given to the forward function"', PULL),
    asked="crash report callback log attention_mask keyword inputs of layer "
    "that failed debug always_call cleanup finally exception in forward",
    needs=ALWAYS_CALL,
)
@given(plan=lines("scale", fails="pre", with_kwargs=True))
def test_keywords(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    for label in set(due(plan)) - {"first", "pre"}:
        (seen,) = trace.seen_by(label)
        assert seen[:3] == ("m0", (given_input(plan),), {"by": plan.steps[-1].by})


@st.composite
def towers(draw) -> Plan:
    """Modules in modules; the innermost fails before its forward. Every level, or "*", has an always_call hook."""
    depth = draw(st.integers(2, 4))
    net = tower(draw, depth)
    names = ["*"] if draw(st.booleans()) else [f"m{level}" for level in range(depth)]
    hooks = [
        Hook("forward", name, f"h{number}", always_call=True)
        for number, name in enumerate(draw(st.permutations(names)))
    ]
    fails = Hook("forward_pre", f"m{depth - 1}", "pre", (Raise(),))
    return Plan(net, (Input(draw(NUMBERS)),), (fails, *hooks, Forward()))


@clause(
    "output.always.innermost_first",
    says="When an Exception leaves nested module calls, their always_call hooks run from the innermost out.",
    where="no hook calls a module",
    see=("output.always.only_exceptions",),
    source="measured",
    asked="exception propagates through submodules which layer cleanup fires earlier child "
    "or parent unwinding traceback always_call cleanup finally exception in forward",
    needs=(ALWAYS_CALL, "torch.nn.modules.module.register_module_forward_hook(always_call)"),
)
@given(plan=towers())
def test_innermost_first(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    inner = int(hooks_of(plan, "forward_pre")[0].on[1:])
    visited = [event.seen[0] for event in trace if event.what in {hook.label for hook in hooks_of(plan, "forward")}]
    assert visited == [f"m{level}" for level in reversed(range(inner + 1))]


@st.composite
def global_keywords(draw) -> Plan:
    """A failing call under one global always_call hook with with_kwargs=True."""
    hook = Hook("forward", "*", "everywhere", with_kwargs=True, always_call=True)
    return Plan(*alone(draw), (*BEFORE, hook, Forward(draw(NUMBERS))))


@clause(
    "output.always.global_keywords_lost",
    says="A global always_call hook that is called because the call failed gets no kwargs, even with with_kwargs=True.",
    source=(GLOBAL_KWARGS_PULL, "measured"),
    asked="cleanup callback for all modules missing 1 required positional argument on crash "
    "keyword arguments dropped always_call cleanup finally exception in forward",
    level="observed",
    needs=GLOBAL_KWARGS,
    docs="contradicts",
    note="A hook written with four parameters ends in a TypeError that is turned into a warning: it never runs.",
)
@given(plan=global_keywords())
def test_global_keywords_lost(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).seen_by("everywhere") == [("m0", (plan.inputs[0].value,), None)]


@st.composite
def changed_under_way(draw) -> Plan:
    """A call that fails under always_call hooks, one of which removes itself or registers another."""
    hooks = [Hook("forward", "m0", f"h{number}", always_call=True) for number in range(draw(st.integers(1, 3)))]
    does = draw(st.sampled_from([Drop("changes"), Add(Hook("forward", "m0", "new"))]))
    hooks.insert(draw(st.integers(0, len(hooks))), Hook("forward", "m0", "changes", (does,), always_call=True))
    return Plan(*alone(draw), (*BEFORE, *hooks, Forward()))


@clause(
    "output.always.changed_under_way",
    says="A module's always_call hook that adds or removes its forward hooks causes RuntimeError.",
    where=("the hook runs after an error", "another of its forward hooks follows"),
    source="measured",
    asked="self removing cleanup callback handle remove ordereddict mutated during "
    "iteration crash one shot always_call cleanup finally exception in forward",
    needs=ALWAYS_CALL,
    note="The loop runs over the dict itself; a change that the last hook makes goes unnoticed.",
)
@given(plan=changed_under_way())
def test_changed_under_way(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    last = hooks_of(plan)[-1].label == "changes"
    assert trace.raised() == [("forward", "Boom" if last else "RuntimeError")]
    assert trace.calls()[-1] == "changes"


@st.composite
def removed_in_time(draw) -> Plan:
    """A pre-hook removes some always_call hooks and raises."""
    labels = [f"h{number}" for number in range(draw(st.integers(1, 4)))]
    victims = draw(st.lists(st.sampled_from(labels), min_size=1, unique=True))
    hooks = [Hook("forward", "m0", label, always_call=True) for label in labels]
    fails = Hook("forward_pre", "m0", "pre", (*(Drop(label) for label in victims), Raise()))
    return Plan(*alone(draw), (*hooks, fails, Forward()))


@clause(
    "output.always.removed_in_time",
    says="In a call whose forward pre-hook removes an always_call hook and then raises, that hook does not run.",
    source="measured",
    asked="unregister cleanup callback from input stage just before crash does "
    "it still fire always_call cleanup finally exception in forward",
    needs=ALWAYS_CALL,
)
@given(plan=removed_in_time())
def test_removed_in_time(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    gone = [act.label for act in hooks_of(plan, "forward_pre")[0].do if isinstance(act, Drop)]
    assert trace.calls() == ["pre"] + [hook.label for hook in hooks_of(plan, "forward") if hook.label not in gone]
