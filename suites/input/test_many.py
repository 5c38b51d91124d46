"""Many arguments: given by the caller, by name, or returned by a pre-hook."""

from typing import Any

from hypothesis import given

from fixtures.draw.plans import plans
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.judge.table import Row, each
from fixtures.plan.grammar import Forward, Plan, hooks_of
from suites.names import FORWARD, PRE_HOOK, PRE_KWARGS


@clause(
    "input.many.keywords",
    says="A with_kwargs forward pre-hook or forward hook is given all keyword arguments, however many.",
    where=("no earlier hook changes them", "no hook is removed"),
    source=f'{PRE_HOOK} "the forward pre-hook will be passed the kwargs given to the forward function"',
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


@each(
    Row(
        "input.many.replaced_keywords",
        "The keyword arguments that the last with_kwargs forward pre-hook returns reach forward, however many.",
        f'{PRE_HOOK} "both the args and kwargs should be returned"',
        needs=PRE_KWARGS,
        draws=lambda: plans(
            kinds=("forward_pre",), does=("keywords",), depth=0, least=2, options=True, by=True, many=8
        ),
    ),
    Row(
        "input.many.arguments",
        "A tuple that the last forward pre-hook returns gives forward all its positional arguments, however long.",
        f'{PRE_HOOK} "We will wrap the value into a tuple if a single value is returned"',
        where=("with_kwargs= is left out", "it is a plain tuple"),
        see="input.keywords.pair_of_inputs",
        draws=lambda: plans(
            kinds=("forward_pre",), does=("entries", "scale"), ops=("many",), inputs=(1, 3), depth=1, most=3, many=4
        ),
    ),
    plan=lambda row: row.draws(),
)
def predicted(subject: Subject, plan: Plan, *, row: Any) -> None:
    subject.holds(plan)
