"""Inputs in lists, dicts and objects, with None and constants among them, and tensors that go in by keyword."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Call, Forward, Hook, Input, Leaf, Plan, Repack, hooks_of
from suites.names import PRE_HOOK, PRE_KWARGS
from suites.packed import all_fit, parts, positional
from suites.shapes import wider

ABOUT = "register_forward_pre_hook"


@clause(
    "input.structures.given",
    says="A forward pre-hook is given each positional argument in its place, also None, numbers, lists and dicts.",
    where="no earlier hook replaces them",
    source=PRE_HOOK + ' "the input contains only the positional arguments given to the module"',
    asked="what does pre hook receive for mask nested batch nontensor inputs in args",
)
@given(plan=wider("structures", kinds=("forward_pre",), does=(), depth=0))
def test_given(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    wanted = positional(plan.net.takes, len(plan.inputs))
    for event in trace:
        assert event.what not in trace.calls() or all_fit(wanted, event.seen[1])


@st.composite
def called_by_name(draw) -> Plan:
    """A sum that is called with two to four tensors, at least two of them by keyword, with pre-hooks that observe."""
    xs = tuple(Input(draw(NUMBERS)) for _ in range(draw(st.integers(2, 4))))
    names = draw(st.permutations("abcd"))[: draw(st.integers(2, len(xs)))]
    net = Leaf("m0", "many", (draw(NUMBERS),), takes=Call(tuple(range(len(xs))), tuple(names)), outputs=1)
    hooks = [Hook("forward_pre", "m0", f"h{number}", with_kwargs=True) for number in range(draw(st.integers(1, 3)))]
    return Plan(net, xs, (*hooks, Forward()))


@clause(
    "input.structures.keywords",
    says="A with_kwargs forward pre-hook is given the keyword arguments in the order of the call.",
    where="no earlier hook changes the order",
    source=PRE_HOOK + ' "the forward pre-hook will be passed the kwargs given to the forward function"',
    asked="how to see attention_mask kwargs names in pre hook sorted or as passed order",
    needs=PRE_KWARGS,
)
@given(plan=called_by_name())
def test_keywords(subject: Subject, plan: Plan) -> None:
    trace, names = subject.holds(plan), plan.net.takes.names
    numbers = [one.value for one in plan.inputs[-len(names) :]]
    for hook in hooks_of(plan):
        ((_, _, kwargs),) = trace.seen_by(hook.label)
        assert list(kwargs.items()) == list(zip(names, numbers))


@clause(
    "input.structures.none_returned",
    says="None in a tuple that a forward pre-hook returns becomes the argument in that place.",
    see="input.keywords.args_are_spread",
    source="measured",
    asked="drop optional mask by returning none second from pre hook does it mean keep unchanged",
)
@given(plan=wider("structures", kinds=("forward_pre",), does=("blank",), depth=0, least=2))
def test_none_returned(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    for hook, after in zip(hooks_of(plan), hooks_of(plan)[1:]):
        for action in hook.do:
            for before, now in zip(trace.seen_by(hook.label), trace.seen_by(after.label)):
                assert now[1] == tuple(
                    None if place == action.at % len(before[1]) else part for place, part in enumerate(before[1])
                )


@clause(
    "input.structures.repacked",
    says="A tuple or namedtuple that a forward pre-hook returns is all positional arguments; a list or dict is one.",
    see="input.keywords.only_a_pair",
    source=PRE_HOOK + ' "(unless that value is already a tuple)"',
    asked="dataclass or structured batch returned from pre hook gets unpacked into separate parameters how wrap",
)
@given(plan=wider("structures", kinds=("forward_pre",), does=("repack",), depth=0, least=2))
def test_repacked(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    given = [event.seen[1] for event in trace if event.what in trace.calls()]
    for hook, args in zip(hooks_of(plan), given[1:]):
        for action in hook.do:
            assert isinstance(action, Repack)
            spread = action.kind in ("tuple", "named")
            assert parts(args if spread else args[0])[0] == action.kind
            assert spread or len(args) == 1
