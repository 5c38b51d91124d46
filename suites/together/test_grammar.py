"""Everything at once: plans from the whole grammar, and from three large parts of it; torch's trace is the model's."""

from hypothesis import given

from fixtures.families import HOOK_KINDS
from fixtures.judge.about import apis
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import plans
from fixtures.plan.grammar import Plan

EVERY_HOOK = HOOK_KINDS
EVERY_ACTION = (
    "scale",
    "bare",
    "raise",
    "drop",
    "give",
    "add",
    "single",
    "edit",
    "repack",
    "blank",
    "entries",
    "keywords",
)
EVERY_OP = ("scale", "affine", "same", "both", "add", "mul", "first", "split", "cross", "named")


@clause(
    "together.forward.any_hooks",
    says="Every plan of the grammar with forward hooks and pre-hooks leaves the trace that the model predicts.",
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
        depth=2,
        most=6,
        everywhere=True,
        options=True,
        remove=True,
        runs=3,
        structures=True,
        many=1,
        functions=True,
        modes=True,
        by=True,
    )
)
def test_any_forward_hooks(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.backward.any_hooks",
    says="Every plan of the grammar with backward hooks on modules leaves the trace that the model predicts.",
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
        depth=2,
        most=6,
        everywhere=True,
        options=True,
        remove=True,
        runs=3,
        structures=True,
        many=2,
        functions=True,
        modes=True,
        frozen=True,
    )
)
def test_any_backward_hooks(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.tensor.any_hooks",
    says="Every plan of the grammar with tensor hooks or retain_grad leaves the trace that the model predicts.",
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
        depth=2,
        most=5,
        retain=True,
        remove=True,
        runs=3,
        structures=True,
        many=2,
        functions=True,
        modes=True,
        frozen=True,
        ask=True,
        edits=1,
    )
)
def test_any_tensor_hooks(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.node.any_hooks",
    says="Every plan of the grammar with hooks of autograd nodes or of tensors leaves the trace of the model.",
    source="measured",
    about=apis(("node", "node_pre", "tensor")),
)
@given(
    plan=plans(
        kinds=("node", "node_pre", "tensor"),
        does=EVERY_ACTION,
        ops=EVERY_OP,
        inputs=(1, 2),
        outputs=(1, 2),
        depth=2,
        most=5,
        retain=True,
        remove=True,
        runs=3,
        structures=True,
        many=2,
        functions=True,
        modes=True,
        frozen=True,
        no_grad=True,
        ask=True,
        edits=1,
    )
)
def test_any_node_hooks(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "together.grammar.everything",
    says="Every plan of the grammar leaves the trace that the model predicts.",
    source="measured",
    note="These plans are of single numbers; fixtures/plan/draw.py says which nets, hooks and scripts it draws.",
    about=(*apis(HOOK_KINDS, everywhere=True), "retain_grad"),
)
@given(
    plan=plans(
        kinds=EVERY_HOOK,
        does=EVERY_ACTION,
        ops=EVERY_OP,
        inputs=(1, 2),
        outputs=(1, 2),
        depth=2,
        most=5,
        everywhere=True,
        options=True,
        retain=True,
        remove=True,
        runs=3,
        structures=True,
        many=1,
        functions=True,
        modes=True,
        by=True,
        frozen=True,
        copies=True,
        no_grad=True,
        ask=True,
        edits=1,
    )
)
def test_everything(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
