"""Inputs as tensors with a shape, a dtype and a layout: a forward pre-hook may return any other."""

from hypothesis import given

from fixtures.clause.clause import clause
from fixtures.draw.plans import plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan, hooks_of
from suites.tensors import in_some_mode, is_recast

ABOUT = "register_forward_pre_hook"


@clause(
    "input.values.any_form",
    says="A tensor that a forward pre-hook returns replaces the only input, whatever its shape, dtype or strides.",
    where="inputs are positional",
    see="input.keywords.only_a_pair",
    source=('docs: torch.nn.Module.register_forward_pre_hook "The hook can modify the input"', "measured"),
    asked="can pre hook resize cast half or transpose data before conv layer change batch size noncontiguous",
    level="observed",
)
@given(plan=in_some_mode(plans(kinds=("forward_pre",), does=("scale",), ops=("same",), depth=0, least=2, values=True)))
def test_any_form(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    given = [event.seen[-1][0] for event in trace if event.what in trace.calls()]
    left = trace.returns() if plan.net.op == "same" else []
    for hook, before, after in zip(hooks_of(plan), given, [*given, *left][1:]):
        assert all(is_recast(action, before, after) for action in hook.do)
