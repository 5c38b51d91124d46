"""Everything at once: plans from the whole grammar, and torch's trace is the model's."""

from hypothesis import given

from fixtures.clause import clause
from fixtures.draw import plans
from fixtures.subject import Subject

MODULE_HOOKS = ("forward_pre", "forward", "backward", "full_backward", "full_backward_pre")
EVERY_HOOK = MODULE_HOOKS + ("tensor", "post_accumulate")


@clause(
    "together.grammar.everything",
    says="Any network with any hooks, played through any script, does exactly what the contract predicts.",
    source="measured",
)
@given(
    plan=plans(
        kinds=EVERY_HOOK,
        does=("scale", "bare", "raise", "drop"),
        inputs=(1, 2),
        outputs=(1, 2),
        depth=2,
        most=5,
        everywhere=True,
        options=True,
        retain=True,
        remove=True,
        runs=3,
        by=True,
        frozen=True,
    )
)
def test_everything(subject: Subject, plan) -> None:
    subject.holds(plan)
