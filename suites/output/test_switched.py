"""Hooks around forward in train and eval mode, and after a call that failed."""

from functools import partial
from typing import Any

from fixtures.judge.subject import Subject
from fixtures.judge.table import Row, each
from fixtures.plan.grammar import Plan
from suites.names import FORWARD, FORWARD_HOOK
from suites.shapes import plans_with

ABOUT = ("register_forward_hook", "register_forward_pre_hook")
CALLED = f'{FORWARD_HOOK} "called every time after :func:`forward` has computed"'
switched = partial(plans_with, "everywhere", "options", "modes", kinds=FORWARD, runs=3, backward=False)


@each(
    Row(
        "output.switched.any_mode",
        "A successful call runs the module's forward hooks and pre-hooks in train and eval mode, also under no_grad.",
        CALLED,
        see=("output.layers.fast_path_global",),
        draws=lambda: switched("copies", "no_grad"),
    ),
    Row(
        "output.switched.after_failure",
        "After a call that a forward hook or pre-hook made fail, the next call runs the hooks from the first one on.",
        "measured",
        draws=lambda: switched(does=("raise", "scale"), least=2, most=5),
    ),
    plan=lambda row: row.draws(),
)
def predicted(subject: Subject, plan: Plan, *, row: Any) -> None:
    subject.holds(plan)
