"""Everything at once: plans from the whole grammar, and from large parts of it; torch's trace is the model's."""

from functools import partial
from typing import Any

from fixtures.clause.about import apis
from fixtures.clause.rows import Row, each
from fixtures.families import HOOK_KINDS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan
from suites.names import BACKWARD, FORWARD
from suites.together.plans import ALSO, AROUND, BACK, EVERYTHING, ON_TENSORS, STEP, STEPS, whole

SEVERAL = ("multi_all", "multi_any")
#: Contexts; and all kinds but those of optimizers and of one saved tensor.
SAVED = ("saved", "saved_off", "save_on_cpu")
WIDE = (*HOOK_KINDS, *SEVERAL, *SAVED)
#: The same with modules in each other, structures, anything that can be called, and other modes.
nested = partial(whole, "structures", "functions", "modes", depth=2)


@each(
    Row(
        "together.forward.any_hooks",
        "Every plan of the grammar with forward hooks and pre-hooks leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=AROUND,
        draws=lambda: nested("everywhere", "options", "by", kinds=FORWARD, most=6, many=1),
    ),
    Row(
        "together.backward.any_hooks",
        "Every plan of the grammar with backward hooks on modules leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=BACK,
        draws=lambda: nested("everywhere", "options", "frozen", kinds=BACKWARD, most=6, many=2),
    ),
    Row(
        "together.tensor.any_hooks",
        "Every plan of the grammar with tensor hooks or retain_grad leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=ON_TENSORS,
        draws=lambda: nested("retain", "frozen", "ask", kinds=("tensor", "post_accumulate"), most=5, many=2, edits=1),
    ),
    Row(
        "together.node.any_hooks",
        "Every plan of the grammar with hooks of autograd nodes or of tensors leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=apis(("node", "node_pre", "tensor")),
        draws=lambda: nested(
            "retain", "frozen", "ask", "no_grad", kinds=("node", "node_pre", "tensor"), most=5, many=2, edits=1
        ),
    ),
    Row(
        "together.several.any_hooks",
        "Every plan of the grammar with multi-grad hooks or tensor hooks leaves the trace of the model.",
        "measured",
        checks_model=True,
        needs="torch.autograd.graph.register_multi_grad_hook",
        about=(*apis(SEVERAL[:1]), "register_hook"),
        draws=lambda: whole(
            *("retain", "frozen", "ask", "structures", "functions"),
            kinds=(*SEVERAL, *SEVERAL, "tensor"),  # twice: more plans have some
            depth=2,
            most=8,
            edits=1,
        ),
    ),
    Row(
        "together.optimizer.any_hooks",
        "Every plan of the grammar with step hooks of an optimizer or tensor hooks leaves the trace of the model.",
        "measured",
        checks_model=True,
        needs=STEP,
        about=(*apis(STEPS, everywhere=True), *ON_TENSORS),
        draws=lambda: nested(
            "retain", "frozen", "ask", "copies", kinds=(*STEPS, "tensor", "post_accumulate"), most=5, many=1
        ),
    ),
    Row(
        "together.grammar.everything",
        "Every plan of the grammar leaves the trace of the model.",
        "measured",
        checks_model=True,
        note="These plans are of single numbers; fixtures/draw/plans.py says which nets, hooks and scripts it draws.",
        about=EVERYTHING,
        draws=lambda: nested(*ALSO, "no_grad", kinds=HOOK_KINDS, most=5, many=1, edits=1),
    ),
    Row(
        "together.grammar.every_family",
        "Every plan of the grammar with kinds of up to three families leaves the trace of the model.",
        "measured",
        checks_model=True,
        note="A family is a file in fixtures/families. Optimizers and single saved tensors have plans apart.",
        about=(*EVERYTHING, *apis(("multi_all", *SAVED))),
        draws=lambda: nested(*ALSO, "no_grad", kinds=WIDE, families=3, most=5, many=1, edits=1),
    ),
    plan=lambda row: row.draws(),
)
def predicted(subject: Subject, plan: Plan, *, row: Any) -> None:
    subject.holds(plan)
