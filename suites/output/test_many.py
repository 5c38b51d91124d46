"""Many calls of a module, many modules in each other, and many entries in what a forward hook returns."""

from typing import Any

from fixtures.draw.plans import plans
from fixtures.judge.subject import Subject
from fixtures.judge.table import Row, each
from fixtures.plan.grammar import Plan
from suites.names import FORWARD

ABOUT = ("register_forward_hook", "register_forward_pre_hook")


@each(
    Row(
        "output.many.calls",
        "Each successful call of a module runs all its forward hooks and pre-hooks, however deep the module is.",
        "measured",
        draws=lambda: plans(kinds=FORWARD, depth=2, everywhere=True, runs=3, backward=False, many=4),
    ),
    Row(
        "output.many.entries",
        "A forward hook may return a tuple of any length: the next hook, or the caller, is given all its entries.",
        "measured",
        where="no backward hook is there",
        see=("backward.structures.legacy_first",),
        about="register_forward_hook",
        draws=lambda: plans(
            kinds=("forward",), does=("entries", "scale"), ops=("many",), outputs=(1, 3), depth=1, most=3, many=4
        ),
    ),
    plan=lambda row: row.draws(),
)
def predicted(subject: Subject, plan: Plan, *, row: Any) -> None:
    subject.holds(plan)
