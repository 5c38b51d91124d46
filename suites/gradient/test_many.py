"""Many passes: hooks of tensors and of nodes, and retain_grad()."""

from hypothesis import given

from fixtures.draw.plans import plans
from fixtures.judge.about import apis
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan


@clause(
    "gradient.many.passes",
    says="Tensor hooks, hooks of nodes and retain_grad() act in every backward() that reaches them, not just one.",
    source="measured",
    about=(*apis(("tensor", "post_accumulate", "node", "node_pre")), "retain_grad"),
)
@given(
    plan=plans(kinds=("tensor", "post_accumulate", "node", "node_pre"), does=("scale",), runs=12, retain=True, many=4)
)
def test_passes(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
