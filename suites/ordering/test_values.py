"""Hooks in line around forward, whatever the form of what they are given."""

from hypothesis import given

from fixtures.judge.about import apis
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import plans
from fixtures.plan.grammar import Plan, hooks_of

FORWARD = ("forward_pre", "forward")


@clause(
    "ordering.values.global_first",
    says="Around forward global hooks run before those of the module, whatever form the tensors have.",
    source='docs: torch.nn.modules.module.register_module_forward_hook "executed before specific module hooks"',
    about=apis(FORWARD, everywhere=True),
    needs="torch.nn.modules.module.register_module_forward_hook",
)
@given(
    plan=plans(
        kinds=FORWARD,
        does=("scale",),
        depth=0,
        least=2,
        most=5,
        everywhere=True,
        backward=False,
        modes=True,
        values=True,
    )
)
def test_global_first(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    for kind in FORWARD:
        line = sorted((hook for hook in hooks_of(plan) if hook.kind == kind), key=lambda hook: hook.on != "*")
        labels = [hook.label for hook in line]
        calls = [label for label in trace.calls() if label in labels]
        assert calls == labels * (len(calls) // max(len(labels), 1))
