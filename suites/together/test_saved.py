"""Hooks of saved tensors among others: torch's trace is the model's. What plans save are factors of products."""

from functools import partial
from typing import Any

from fixtures.clause.about import apis
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan
from suites.shapes import wider

PAIRS = ("saved", "save_on_cpu", "saved_off")
DOES = ("scale", "edit", "give", "raise", "drop", "add", "single")
#: Most of these save something.
OPS = ("mul", "scale", "affine", "split", "cross", "add")

#: All of these do.
OF_FACTORS = ("mul", "scale", "split", "cross")

saving = partial(wider, "retain", "remove", "ask", "functions", does=DOES, ops=OPS, least=2, most=4, runs=3, edits=1)


@each(
    Row(
        "together.saved.any_hooks",
        "Every plan of the grammar with hooks of saved tensors or of tensors leaves the trace of the model.",
        "measured",
        checks_model=True,
        needs="torch.autograd.graph.saved_tensors_hooks",
        about=apis((*PAIRS, "tensor")),
        draws=lambda: saving("structures", kinds=(*("saved",) * 8, *PAIRS, *PAIRS[1:], "tensor"), depth=2),
    ),
    Row(
        "together.saved.of_one",
        "Every plan of the grammar with hooks of one saved tensor leaves the trace of the model.",
        "measured",
        checks_model=True,
        needs="torch._C._autograd.SavedTensor.register_hooks",
        about=apis(("saved_one", "saved", "tensor")),
        draws=lambda: saving(ops=OF_FACTORS, kinds=(*("saved_one",) * 4, "saved", "tensor"), depth=1),
    ),
    plan=lambda row: row.draws(),
)
def predicted(subject: Subject, plan: Plan, *, row: Any) -> None:
    subject.holds(plan)
