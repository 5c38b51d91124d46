"""Tensors of every shape, dtype and layout: hooks meet them, and return them, as the contract predicts.

What is compared is the numbers, the dtype, the strides, and which known object a tensor is.
"""

from functools import partial
from typing import Any

from fixtures.clause.about import apis
from fixtures.clause.rows import Row, each
from fixtures.families import HOOK_KINDS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan
from suites.names import BACKWARD, FORWARD
from suites.shapes import wider
from suites.together.plans import ALSO, AROUND, BACK, EVERY_ACTION, EVERYTHING, ON_TENSORS, STEP, STEPS

WHICH = "fixtures/draw/shapes.py says which; what a dtype would round, and what shared memory does, is set aside."
#: What hooks around forward do: what replaces may be of another form, so it comes three times.
REPLACE = ("scale",) * 3 + ("bare", "single", "drop", "add", "repack", "entries", "blank", "keywords", "edit")
#: What hooks on gradients do.
EDITS = ("scale", "edit") * 2 + ("drop", "add")
#: Fewer places have the second.
ON_LEAVES = ("tensor", *("post_accumulate",) * 3)
LATE = ("retain", "remove", "copies", "ask", "no_grad")
NODES = ("node", "node_pre")

#: Any networks on tensors of any form, in structures.
formed = partial(wider, "values", "structures")
#: The same with many of a thing, anything that can be called, and other modes.
many = partial(formed, "functions", "modes", many=1)


@each(
    Row(
        "together.values.forward",
        "Every plan of the grammar with hooks around forward on tensors of any form leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=AROUND,
        draws=lambda: many(
            *("everywhere", "options", "remove", "by", "frozen"), kinds=FORWARD, does=REPLACE, runs=2, backward=False
        ),
    ),
    Row(
        "together.values.tensor",
        "Every plan of the grammar with tensor hooks that meet gradients of any form leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=ON_TENSORS,
        draws=lambda: many(*LATE, kinds=ON_LEAVES, does=EDITS, least=4, most=8, runs=3, edits=1),
    ),
    Row(
        "together.values.backward",
        "Every plan of the grammar with module backward hooks on tensors of any form leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=BACK,
        draws=lambda: many(
            "everywhere", "options", "frozen", kinds=BACKWARD, does=(*EDITS, "blank"), least=2, most=6, runs=2
        ),
    ),
    Row(
        "together.values.node",
        "Every plan of the grammar with node hooks that meet gradients of any form leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=apis(NODES),
        draws=lambda: formed(
            "remove", "ask", "no_grad", kinds=NODES, does=(*EDITS, "blank"), least=3, most=7, runs=2, edits=1
        ),
    ),
    Row(
        "together.values.optimizer",
        "Every plan of the grammar with step hooks of optimizers of any tensors leaves the trace of the model.",
        "measured",
        checks_model=True,
        needs=STEP,
        about=apis(STEPS, everywhere=True),
        draws=lambda: formed("remove", "ask", kinds=STEPS, does=EDITS, least=2, most=6, runs=3),
    ),
    Row(
        "together.values.everything",
        "Every plan of the grammar on tensors of any shape, dtype and layout leaves the trace of the model.",
        "measured",
        checks_model=True,
        note=WHICH,
        about=EVERYTHING,
        draws=lambda: many(
            *ALSO, "no_grad", "remove", kinds=HOOK_KINDS, does=EVERY_ACTION, depth=2, most=5, runs=3, edits=1
        ),
    ),
    plan=lambda row: row.draws(),
)
def predicted(subject: Subject, plan: Plan, *, row: Any) -> None:
    subject.holds(plan)
