"""Many calls of a module, many modules in each other, and many entries in what a forward hook returns."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Forward, Hook, Input, Leaf, Plan, ReturnMore, Scale, hooks_of
from suites.names import FORWARD
from suites.shapes import called_around

ABOUT = ("register_forward_hook", "register_forward_pre_hook")


@clause(
    "output.many.calls",
    says="Each successful call of a module runs all its forward hooks and pre-hooks, however deep the module is.",
    source="measured",
    asked="big nested network hundreds of layers are hooks on deep submodules triggered at every batch",
)
@given(plan=plans(kinds=FORWARD, depth=2, everywhere=True, runs=3, backward=False, many=4))
def test_calls(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == called_around(plan)


@st.composite
def longer_and_longer(draw) -> Plan:
    """A module that returns up to three tensors, and forward hooks that return them multiplied, or up to 12 more."""
    actions = st.builds(Scale, FACTORS) | st.builds(ReturnMore, st.integers(0, 12))
    hooks = [Hook("forward", "m0", f"h{number}", (draw(actions),)) for number in range(draw(st.integers(1, 4)))]
    net = Leaf("m0", "many", (draw(NUMBERS),), outputs=draw(st.integers(1, 3)))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward()))


@clause(
    "output.many.entries",
    says="A forward hook may return a tuple of any length: the next hook, or the caller, is given all its entries.",
    source="measured",
    asked="return more outputs than original layer gives add extra tensor to result unpack too many values",
    where="there is no backward hook",
    see=("backward.structures.legacy_first",),
    about="register_forward_hook",
)
@given(plan=longer_and_longer())
def test_entries(subject: Subject, plan: Plan) -> None:
    trace, outs = subject.holds(plan), []
    for hook in hooks_of(plan):
        ((_, _, out),) = trace.seen_by(hook.label)
        outs.append(out)
    for (action,), before, after in zip([hook.do for hook in hooks_of(plan)], outs, [*outs[1:], *trace.returns()]):
        entries = before if isinstance(before, tuple) else (before,)
        if isinstance(action, ReturnMore):
            assert after == tuple(entries[place % len(entries)] for place in range(len(entries) + action.more))
        else:
            assert (after if isinstance(before, tuple) else (after,)) == tuple(one * action.by for one in entries)
