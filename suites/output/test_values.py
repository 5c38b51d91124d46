"""Outputs as tensors with a shape, a dtype and a layout: a forward hook may return any other."""

from hypothesis import given

from fixtures.clause.clause import clause
from fixtures.draw.plans import plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan, hooks_of
from suites.tensors import in_some_mode, is_recast

ABOUT = "register_forward_hook"
MODIFIED = 'docs: torch.nn.Module.register_forward_hook "hook(module, args, output) -> None or modified output"'


@clause(
    "output.values.any_form",
    says="A forward hook may return a tensor of another shape, dtype or layout: that is the output then.",
    where=("there is no backward hook", "no later hook replaces it"),
    source=(MODIFIED, "measured"),
    asked="hook pools flattens casts to half or sparse activation size changed permitted next layer mismatch",
    level="observed",
)
@given(
    plan=in_some_mode(
        plans(kinds=("forward",), does=("scale",), ops=("scale", "affine", "same"), depth=0, least=2, values=True)
    )
)
def test_any_form(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    outs = [event.seen[-1] for event in trace if event.what in (*trace.calls(), "returns")]
    for hook, before, after in zip(hooks_of(plan), outs, outs[1:]):
        assert all(is_recast(action, before, after) for action in hook.do)
