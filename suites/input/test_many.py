"""Many arguments: given by the caller, by name, or returned by a pre-hook."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Keywords, Leaf, Plan, ReturnMore, Scale, hooks_of
from suites.names import FORWARD, PRE_HOOK, PRE_KWARGS
from suites.shapes import alone, product


@clause(
    "input.many.keywords",
    says="A with_kwargs forward pre-hook or forward hook is given all keyword arguments, however many.",
    where=("no earlier hook changes them", "no hook is removed"),
    source=f'{PRE_HOOK} "the forward pre-hook will be passed the kwargs given to the forward function"',
    asked="lots of named parameters huggingface model config all passed to callback dropped any limit",
    about=("register_forward_hook", "register_forward_pre_hook"),
    needs=PRE_KWARGS,
)
@given(plan=plans(kinds=FORWARD, does=(), depth=0, options=True, by=True, backward=False, many=4))
def test_keywords(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (call,) = [step for step in plan.steps if isinstance(step, Forward)]
    names = [] if call.by is None else ["by", *(f"by{place}" for place in range(1, len(call.more) + 1))]
    for hook in hooks_of(plan):
        if hook.with_kwargs:
            assert all(list(seen[2]) == names for seen in trace.seen_by(hook.label))


@st.composite
def with_keywords(draw) -> Plan:
    """A multiplication that is called with one to twelve keyword arguments, and pre-hooks that multiply them all."""
    hooks = [
        Hook("forward_pre", "m0", f"h{number}", (Keywords(draw(FACTORS)),), with_kwargs=True)
        for number in range(draw(st.integers(1, 3)))
    ]
    by, *more = draw(st.lists(NUMBERS, min_size=1, max_size=12))
    return Plan(*alone(draw), (*hooks, Forward(by, more=tuple(more))))


@clause(
    "input.many.replaced_keywords",
    says="The keyword arguments that the last with_kwargs forward pre-hook returns reach forward, however many.",
    source=f'{PRE_HOOK} "both the args and kwargs should be returned"',
    asked="override dozens of named parameters before layer add extra ones does it lose any",
    needs=PRE_KWARGS,
)
@given(plan=with_keywords())
def test_replaced_keywords(subject: Subject, plan: Plan) -> None:
    call, made = plan.steps[-1], plan.net.values[0] * plan.inputs[0].value
    by, *more = (keyword * product(hooks_of(plan)) for keyword in (call.by, *call.more))
    assert subject.holds(plan).returns() == [made * by + sum(more)]


@st.composite
def longer_and_longer(draw) -> Plan:
    """A sum of any number of inputs, and pre-hooks that return them multiplied, or up to twelve more."""
    actions = st.builds(Scale, FACTORS) | st.builds(ReturnMore, st.integers(0, 12))
    hooks = [Hook("forward_pre", "m0", f"h{number}", (draw(actions),)) for number in range(draw(st.integers(1, 3)))]
    inputs = tuple(Input(draw(NUMBERS)) for _ in range(draw(st.integers(1, 2))))
    return Plan(Leaf("m0", "many", (draw(NUMBERS),), outputs=1), inputs, (*hooks, Forward(), Backward()))


@clause(
    "input.many.arguments",
    says="A tuple that the last forward pre-hook returns gives forward all its positional arguments, however long.",
    source=f'{PRE_HOOK} "We will wrap the value into a tuple if a single value is returned"',
    asked="layer with many inputs change number of parameters long tuple hundreds limit",
    where="it is a plain tuple",
    see="input.keywords.pair_of_inputs",
)
@given(plan=longer_and_longer())
def test_arguments(subject: Subject, plan: Plan) -> None:
    xs = [one.value for one in plan.inputs]
    for (action,) in [hook.do for hook in hooks_of(plan)]:
        if isinstance(action, Scale):
            xs = [x * action.by for x in xs]
        else:
            xs = [xs[place % len(xs)] for place in range(len(xs) + action.more)]
    assert subject.holds(plan).returns() == [plan.net.values[0] * xs[0] + sum(xs[1:])]
