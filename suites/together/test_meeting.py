"""Where hooks meet: many on one module, and many of one kind in one place; torch's trace is the model's."""

from hypothesis import given

from fixtures.families import HOOK_KINDS
from fixtures.judge.about import apis
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import plans
from fixtures.plan.grammar import Plan
from suites.together.test_grammar import EVERY_ACTION, EVERY_HOOK, EVERY_OP

#: What a hook may do and still let the pass go on.
GENTLE = ("scale", "bare", "drop", "add", "single", "edit")


@clause(
    "together.meeting.forward",
    says="Every plan of the grammar with many hooks around one forward leaves the trace of the model.",
    source="measured",
    about=apis(("forward_pre", "forward"), everywhere=True),
)
@given(
    plan=plans(
        kinds=("forward_pre", "forward"),
        does=EVERY_ACTION,
        ops=EVERY_OP,
        inputs=(1, 2),
        outputs=(1, 2),
        depth=0,
        least=2,
        most=6,
        everywhere=True,
        options=True,
        remove=True,
        runs=3,
        by=True,
        backward=False,
    )
)
def test_forward(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.meeting.backward",
    says="Every plan of the grammar with many backward hooks on one module leaves the trace of the model.",
    source="measured",
    about=apis(("backward", "full_backward", "full_backward_pre"), everywhere=True),
)
@given(
    plan=plans(
        kinds=("backward", "full_backward", "full_backward_pre"),
        does=EVERY_ACTION,
        ops=EVERY_OP,
        inputs=(1, 2),
        outputs=(1, 2),
        depth=0,
        least=2,
        most=6,
        everywhere=True,
        options=True,
        remove=True,
        runs=3,
        frozen=True,
    )
)
def test_backward(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.meeting.tensor",
    says="Every plan of the grammar with many hooks on tensors of one module leaves the trace of the model.",
    source="measured",
    about=("register_hook", "register_post_accumulate_grad_hook", "retain_grad"),
)
@given(
    plan=plans(
        kinds=("tensor", "post_accumulate"),
        does=EVERY_ACTION,
        ops=EVERY_OP,
        inputs=(1, 2),
        outputs=(1, 2),
        depth=0,
        least=2,
        most=5,
        retain=True,
        remove=True,
        runs=3,
        frozen=True,
        ask=True,
    )
)
def test_tensor(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.meeting.failing",
    says="Every plan of the grammar in which a hook around forward raises leaves the trace of the model.",
    source="measured",
    about=apis(("forward_pre", "forward"), everywhere=True),
)
@given(
    plan=plans(
        kinds=("forward_pre", "forward"),
        does=GENTLE,
        ops=EVERY_OP,
        inputs=(1, 2),
        outputs=(1, 2),
        depth=1,
        least=3,
        most=6,
        everywhere=True,
        options=True,
        remove=True,
        runs=3,
        by=True,
        backward=False,
        fails=True,
    )
)
def test_failing(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.meeting.of_a_kind",
    says="Every plan of the grammar with many hooks of one kind in one place leaves the trace of the model.",
    source="measured",
    about=apis(HOOK_KINDS, everywhere=True),
)
@given(
    plan=plans(
        kinds=EVERY_HOOK,
        does=GENTLE,
        ops=EVERY_OP,
        inputs=(1, 2),
        outputs=(1, 2),
        depth=1,
        least=3,
        most=5,
        everywhere=True,
        options=True,
        remove=True,
        runs=3,
        by=True,
        alike=True,
    )
)
def test_of_a_kind(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.meeting.of_every_kind",
    says="Every plan of the grammar with any hooks on one module or its tensors leaves the trace of the model.",
    source="measured",
    about=(*apis(HOOK_KINDS, everywhere=True), "retain_grad"),
)
@given(
    plan=plans(
        kinds=EVERY_HOOK,
        does=GENTLE,
        ops=EVERY_OP,
        inputs=(1, 2),
        outputs=(1, 2),
        depth=0,
        least=3,
        most=6,
        everywhere=True,
        options=True,
        retain=True,
        remove=True,
        runs=3,
        by=True,
        frozen=True,
        copies=True,
        ask=True,
    )
)
def test_of_every_kind(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
