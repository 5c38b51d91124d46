"""Hooks around forward in train and eval mode, and after a call that failed."""

from hypothesis import given

from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import plans
from fixtures.plan.grammar import Plan

ABOUT = ("register_forward_hook", "register_forward_pre_hook")
KINDS = ("forward_pre", "forward")
CALLED = 'docs: torch.nn.Module.register_forward_hook "called every time after :func:`forward` has computed"'


@clause(
    "output.switched.any_mode",
    says="Hooks around forward run in train and in eval mode, with and without gradients, also when switched.",
    source=CALLED,
)
@given(
    plan=plans(
        kinds=KINDS, everywhere=True, options=True, runs=3, copies=True, backward=False, no_grad=True, modes=True
    )
)
def test_any_mode(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "output.switched.after_failure",
    says="After a call that a hook made fail, the next call runs all hooks anew.",
    source="measured",
)
@given(
    plan=plans(
        kinds=KINDS,
        does=("raise", "scale"),
        everywhere=True,
        options=True,
        least=2,
        most=5,
        runs=3,
        backward=False,
        modes=True,
    )
)
def test_after_failure(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
