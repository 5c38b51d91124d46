"""Hooks in line around forward, whatever the form of what they are given."""

from hypothesis import given

from fixtures.clause.about import apis
from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan, hooks_of
from suites.names import FORWARD, GLOBAL_FORWARD
from suites.shapes import in_line, plans_with


@clause(
    "ordering.values.global_first",
    says="In each call of a module global forward hooks run before its own, whatever shape or dtype tensors have.",
    source='docs: torch.nn.modules.module.register_module_forward_hook "executed before specific module hooks"',
    asked="does order of register_module_forward_hook depend on float16 int scalar empty inputs batch size",
    about=apis(FORWARD, everywhere=True),
    needs=GLOBAL_FORWARD,
)
@given(plan=plans_with("everywhere", "modes", "values", kinds=FORWARD, depth=0, least=2, most=5, backward=False))
def test_global_first(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    for kind in FORWARD:
        labels = [hook.label for hook in in_line(hooks_of(plan, kind))]
        calls = [label for label in trace.calls() if label in labels]
        assert calls == labels * (len(calls) // max(len(labels), 1))
