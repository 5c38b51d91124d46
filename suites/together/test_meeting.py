"""Where hooks meet: many on one module, and many of one kind in one place; torch's trace is the model's."""

from functools import partial
from typing import Any

from fixtures.clause.about import apis
from fixtures.clause.rows import Row, each
from fixtures.families import HOOK_KINDS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan
from suites.names import BACKWARD, FORWARD
from suites.together.plans import ALSO, AROUND, BACK, EVERYTHING, ON_TENSORS, whole

#: At least three hooks, which do what lets the pass go on.
gentle = partial(whole, does=("scale", "bare", "drop", "add", "single", "edit"), least=3)


@each(
    Row(
        "together.meeting.forward",
        "Every plan of the grammar with many hooks around one forward leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=AROUND,
        draws=lambda: whole("everywhere", "options", "by", kinds=FORWARD, depth=0, least=2, most=6, backward=False),
    ),
    Row(
        "together.meeting.backward",
        "Every plan of the grammar with many backward hooks on one module leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=BACK,
        draws=lambda: whole("everywhere", "options", "frozen", kinds=BACKWARD, depth=0, least=2, most=6),
    ),
    Row(
        "together.meeting.tensor",
        "Every plan of the grammar with many hooks on tensors of one module leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=ON_TENSORS,
        draws=lambda: whole("retain", "frozen", "ask", kinds=("tensor", "post_accumulate"), depth=0, least=2, most=5),
    ),
    Row(
        "together.meeting.failing",
        "Every plan of the grammar in which a hook around forward raises leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=AROUND,
        draws=lambda: gentle("everywhere", "options", "by", "fails", kinds=FORWARD, most=6, backward=False),
    ),
    Row(
        "together.meeting.of_a_kind",
        "Every plan of the grammar with many hooks of one kind in one place leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=apis(HOOK_KINDS, everywhere=True),
        draws=lambda: gentle("everywhere", "options", "by", "alike", kinds=HOOK_KINDS, most=5),
    ),
    Row(
        "together.meeting.of_every_kind",
        "Every plan of the grammar with any hooks on one module or its tensors leaves the trace of the model.",
        "measured",
        checks_model=True,
        about=EVERYTHING,
        draws=lambda: gentle(*ALSO, kinds=HOOK_KINDS, depth=0, most=6),
    ),
    plan=lambda row: row.draws(),
)
def predicted(subject: Subject, plan: Plan, *, row: Any) -> None:
    subject.holds(plan)
