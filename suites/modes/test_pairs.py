"""Two modes at once, one inside the other: what they do together is the composition of their rules."""

from dataclasses import replace
from typing import Any, List, Sequence, Tuple

from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.rows import Row, each
from fixtures.graph.errors import TooLarge
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Like, MulInPlace, Plan, Remove
from fixtures.play.player import Refused
from fixtures.rules import RULES
from fixtures.stages.pairs import pair
from suites.modes.sources import CALL, FORMS, STOPS
from suites.saved.sources import HAS
from suites.together.plans import whole

#: Where a hook is in any plan, and what else may happen.
KINDS = ("forward", "forward_pre", "full_backward", "tensor", "saved")
HOOKS = (
    ("forward", "*"),
    ("forward_pre", "m0"),
    ("forward", "m0"),
    ("full_backward", "m0"),
    ("tensor", "x0"),
    ("saved", ""),
)
AFTER = (Forward(), Forward(), Backward(), Backward(), Forward(grad=False), Remove("a0"))
INFERENCE = "torch.inference_mode"
#: What all rows say. In the witness each mode does something that the other one does not.
BOTH = {
    "checks_model": True,
    "about": apis(KINDS, everywhere=True),
    "value": "both",
    "wrong": {"the outer mode alone": "outer", "the inner mode alone": "inner"},
    "witness": {
        "met": [
            Plan(
                Leaf("m0", "scale", (2,)),
                (Input(3),),
                (
                    Hook("forward_pre", "m0", "h0"),
                    Hook("forward", "*", "h1"),
                    Hook("tensor", "m0.weight", "h2"),
                    Hook("saved", "", "h3"),
                    Forward(),
                    Backward(),
                    Remove("h0"),
                    Forward(),
                ),
            )
        ]
    },
}


def met(outer: str, inner: str, in_place: bool) -> Any:
    """Three plans in which a rule of either mode counts, with hooks before and steps behind; and any others."""
    witnesses = [rule.witness for rule in (*RULES[outer], *RULES[inner])]
    witnesses = [one for one in witnesses if in_place or not any(isinstance(step, MulInPlace) for step in one.steps)]
    hooks = st.lists(st.sampled_from(HOOKS), max_size=2, unique=True)
    after = st.lists(st.sampled_from(AFTER), max_size=4)
    around = [st.builds(extended, st.just(one), hooks, after) for one in witnesses]
    options = ("everywhere", "options", "by", "copies", "no_grad", "frozen", "structures", "modes")
    limits = {"kinds": ("forward", *KINDS), "depth": 2, "most": 4, "many": 0, "edits": int(in_place)}
    return st.lists(st.one_of(*around, whole(*options, **limits)), min_size=3, max_size=3)


def extended(plan: Plan, hooks: Sequence[Tuple[str, str]], after: Sequence[Any]) -> Plan:
    """A plan with hooks before its steps, and steps behind."""
    before = [Hook(kind, on, f"a{number}") for number, (kind, on) in enumerate(hooks)]
    behind = [Backward((Like(1),)) if plan.formed and isinstance(step, Backward) else step for step in after]
    return replace(plan, steps=(*before, *plan.steps, *behind))


@each(
    Row(
        "modes.pairs.checkpoint_parallel",
        "In checkpoint(use_reentrant=False) around DataParallel hooks do what the rules of both say.",
        "measured",
        needs=STOPS,
        outer="checkpoint",
        inner="parallel",
        **BOTH,
    ),
    Row(
        "modes.pairs.checkpoint_functional",
        "In checkpoint(use_reentrant=False) around functional_call hooks do what the rules of both say.",
        "measured",
        needs=(STOPS, CALL),
        outer="checkpoint",
        inner="functional",
        **BOTH,
    ),
    Row(
        "modes.pairs.checkpoint_copy",
        "In checkpoint(use_reentrant=False) around a copy hooks do what the rules of both say.",
        "measured",
        needs=STOPS,
        outer="checkpoint",
        inner="copy",
        **BOTH,
    ),
    Row(
        "modes.pairs.checkpoint_inference",
        "In checkpoint(use_reentrant=False) around inference_mode hooks do what the rules of both say.",
        "measured",
        needs=STOPS,
        outer="checkpoint",
        inner="inference",
        **BOTH,
    ),
    Row(
        "modes.pairs.reentrant_parallel",
        "In checkpoint(use_reentrant=True) around DataParallel hooks do what the rules of both say.",
        "measured",
        needs=FORMS,
        outer="reentrant",
        inner="parallel",
        **BOTH,
    ),
    Row(
        "modes.pairs.reentrant_functional",
        "In checkpoint(use_reentrant=True) around functional_call hooks do what the rules of both say.",
        "measured",
        needs=(FORMS, CALL),
        outer="reentrant",
        inner="functional",
        **BOTH,
    ),
    Row(
        "modes.pairs.reentrant_copy",
        "In checkpoint(use_reentrant=True) around a copy hooks do what the rules of both say.",
        "measured",
        needs=FORMS,
        outer="reentrant",
        inner="copy",
        **BOTH,
    ),
    Row(
        "modes.pairs.reentrant_inference",
        "In checkpoint(use_reentrant=True) around inference_mode hooks do what the rules of both say.",
        "measured",
        needs=FORMS,
        where="nothing is changed in place",
        outer="reentrant",
        inner="inference",
        in_place=False,
        **BOTH,
    ),
    Row(
        "modes.pairs.inference_parallel",
        "In inference_mode around DataParallel hooks do what the rules of both say.",
        "measured",
        needs=(INFERENCE, HAS),
        outer="inference",
        inner="parallel",
        **BOTH,
    ),
    Row(
        "modes.pairs.inference_functional",
        "In inference_mode around functional_call hooks do what the rules of both say.",
        "measured",
        needs=(INFERENCE, CALL),
        outer="inference",
        inner="functional",
        **BOTH,
    ),
    Row(
        "modes.pairs.inference_copy",
        "In inference_mode around a copy hooks do what the rules of both say.",
        "measured",
        needs=(INFERENCE, HAS),
        outer="inference",
        inner="copy",
        **BOTH,
    ),
    met=lambda row: met(row.outer, row.inner, getattr(row, "in_place", True)),
)
def composition(subject: Subject, met: List[Plan], *, row: Any) -> None:
    modes = pair(row.outer, row.inner)
    for plan in met:
        if modes["both"].keeps(plan) and not modes["both"].lacks(plan, subject.version):
            try:
                expected = modes[subject.value].expect(plan, subject.version)
                found = modes["both"].play(plan)
            except (TooLarge, Refused):
                continue  # the model does not say, or the mode declines
            assert found.lines() == expected.lines()
