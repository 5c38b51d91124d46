"""What can be a hook of a tensor or of a node: anything that can be called, and one function several times."""

from hypothesis import given

from fixtures.judge.about import apis
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import plans
from fixtures.plan.grammar import Plan

NAMES = "https://github.com/pytorch/pytorch/pull/37785"


@clause(
    "gradient.functions.any_callable",
    says="Whatever is called as a hook of a tensor or a node is given and may return what a function may.",
    source=("measured", NAMES),
    note="Before torch 1.6 a tensor hook without a name may not return a gradient: tutorial.calling.t31_any_callable.",
    level="observed",
    about=(*apis(("tensor", "post_accumulate", "node", "node_pre")), "retain_grad"),
)
@given(
    plan=plans(
        kinds=("tensor", "post_accumulate", "node", "node_pre"),
        does=("scale",),
        depth=0,
        least=3,
        most=6,
        retain=True,
        runs=2,
        functions=True,
    )
)
def test_any_callable(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
