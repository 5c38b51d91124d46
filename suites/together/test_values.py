"""Tensors of every shape, dtype and layout: hooks meet them, and return them, as the contract predicts.

What is compared is the numbers, the dtype, the strides, and which known object a tensor is.
"""

from hypothesis import given

from fixtures.families import HOOK_KINDS
from fixtures.judge.about import apis
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import plans
from fixtures.plan.grammar import Plan
from suites.together.test_grammar import EVERY_ACTION


@clause(
    "together.values.forward",
    says="Every plan with hooks around forward that meet tensors of any form leaves the trace of the model.",
    source="measured",
    about=apis(("forward_pre", "forward"), everywhere=True),
)
@given(
    plan=plans(
        kinds=("forward_pre", "forward"),
        # What replaces may be of another form, so it comes three times.
        does=("scale",) * 3 + ("bare", "single", "drop", "add", "repack", "entries", "blank", "keywords", "edit"),
        inputs=(1, 2),
        outputs=(1, 2),
        everywhere=True,
        options=True,
        remove=True,
        runs=2,
        by=True,
        frozen=True,
        backward=False,
        many=1,
        functions=True,
        modes=True,
        values=True,
        structures=True,
    )
)
def test_forward(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.values.tensor",
    says="Every plan with tensor hooks that meet gradients of any form leaves the trace of the model.",
    source="measured",
    about=("register_hook", "register_post_accumulate_grad_hook", "retain_grad"),
)
@given(
    plan=plans(
        kinds=("tensor", *("post_accumulate",) * 3),  # fewer places have the second
        does=("scale", "edit") * 2 + ("drop", "add"),
        inputs=(1, 2),
        outputs=(1, 2),
        least=4,
        most=8,
        retain=True,
        remove=True,
        runs=3,
        copies=True,
        ask=True,
        many=1,
        functions=True,
        modes=True,
        values=True,
        no_grad=True,
        edits=1,
        structures=True,
    )
)
def test_tensor(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.values.backward",
    says="Every plan with module backward hooks that meet gradients of any form leaves the trace of the model.",
    source="measured",
    about=apis(("backward", "full_backward", "full_backward_pre"), everywhere=True),
)
@given(
    plan=plans(
        kinds=("backward", "full_backward", "full_backward_pre"),
        does=("scale", "edit") * 2 + ("drop", "add", "blank"),
        inputs=(1, 2),
        outputs=(1, 2),
        least=2,
        most=6,
        everywhere=True,
        options=True,
        frozen=True,
        runs=2,
        many=1,
        functions=True,
        modes=True,
        values=True,
        structures=True,
    )
)
def test_backward(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.values.node",
    says="Every plan with node hooks that meet gradients of any form leaves the trace of the model.",
    source="measured",
    about=apis(("node", "node_pre")),
)
@given(
    plan=plans(
        kinds=("node", "node_pre"),
        does=("scale", "edit") * 2 + ("drop", "add", "blank"),
        inputs=(1, 2),
        outputs=(1, 2),
        least=3,
        most=7,
        remove=True,
        runs=2,
        ask=True,
        values=True,
        no_grad=True,
        edits=1,
        structures=True,
    )
)
def test_node(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.values.everything",
    says="Every plan of the grammar on tensors of any shape, dtype and layout leaves the trace of the model.",
    source="measured",
    note="fixtures/plan/draw_forms.py says which; what a dtype would round, and what shared memory does, is set aside.",
    about=(*apis(HOOK_KINDS, everywhere=True), "retain_grad"),
)
@given(
    plan=plans(
        kinds=HOOK_KINDS,
        does=EVERY_ACTION,
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
        copies=True,
        ask=True,
        many=1,
        functions=True,
        modes=True,
        values=True,
        no_grad=True,
        edits=1,
        structures=True,
    )
)
def test_everything(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
