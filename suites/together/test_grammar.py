"""Everything at once: plans from the whole grammar, and from large parts of it; torch's trace is the model's."""

from functools import partial
from typing import Any

from fixtures.families import HOOK_KINDS
from fixtures.judge.about import apis
from fixtures.judge.subject import Subject
from fixtures.judge.table import Row, each
from fixtures.plan.grammar import Plan
from suites.names import BACKWARD, FORWARD
from suites.shapes import wider

#: What hooks return, and what they do besides.
RETURNED = ("bare", "raise", "drop", "give", "add", "single", "edit", "repack", "blank", "entries", "keywords")
EVERY_ACTION = ("scale", *RETURNED)
EVERY_OP = ("scale", "affine", "same", "both", "add", "mul", "first", "split", "cross", "named")
AROUND = apis(FORWARD, everywhere=True)
BACK = apis(BACKWARD, everywhere=True)
ON_TENSORS = ("register_hook", "register_post_accumulate_grad_hook", "retain_grad")
EVERYTHING = (*apis(HOOK_KINDS, everywhere=True), "retain_grad")
#: What plans of everything may have besides.
ALSO = ("everywhere", "options", "retain", "by", "frozen", "copies", "ask")

#: Any networks, anything that hooks may do in them, and several runs.
whole = partial(wider, "remove", does=EVERY_ACTION, ops=EVERY_OP, runs=3)
#: The same with modules in each other, structures, anything that can be called, and other modes.
nested = partial(whole, "structures", "functions", "modes", depth=2)


@each(
    Row(
        "together.forward.any_hooks",
        "Every plan of the grammar with forward hooks and pre-hooks leaves the trace of the model.",
        "measured",
        about=AROUND,
        draws=lambda: nested("everywhere", "options", "by", kinds=FORWARD, most=6, many=1),
    ),
    Row(
        "together.backward.any_hooks",
        "Every plan of the grammar with backward hooks on modules leaves the trace of the model.",
        "measured",
        about=BACK,
        draws=lambda: nested("everywhere", "options", "frozen", kinds=BACKWARD, most=6, many=2),
    ),
    Row(
        "together.tensor.any_hooks",
        "Every plan of the grammar with tensor hooks or retain_grad leaves the trace of the model.",
        "measured",
        about=ON_TENSORS,
        draws=lambda: nested("retain", "frozen", "ask", kinds=("tensor", "post_accumulate"), most=5, many=2, edits=1),
    ),
    Row(
        "together.node.any_hooks",
        "Every plan of the grammar with hooks of autograd nodes or of tensors leaves the trace of the model.",
        "measured",
        about=apis(("node", "node_pre", "tensor")),
        draws=lambda: nested(
            "retain", "frozen", "ask", "no_grad", kinds=("node", "node_pre", "tensor"), most=5, many=2, edits=1
        ),
    ),
    Row(
        "together.grammar.everything",
        "Every plan of the grammar leaves the trace of the model.",
        "measured",
        note="These plans are of single numbers; fixtures/draw/plans.py says which nets, hooks and scripts it draws.",
        about=EVERYTHING,
        draws=lambda: nested(*ALSO, "no_grad", kinds=HOOK_KINDS, most=5, many=1, edits=1),
    ),
    plan=lambda row: row.draws(),
)
def predicted(subject: Subject, plan: Plan, *, row: Any) -> None:
    subject.holds(plan)
