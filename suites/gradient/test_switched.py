"""Leaves that are frozen and thawed between passes, and passes after one that failed."""

from hypothesis import given

from fixtures.draw.plans import plans
from fixtures.judge.about import apis
from fixtures.judge.clause import by_release, clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Freeze, Hook, Input, Leaf, Plan
from suites.names import HOOKS_IN_ORDER

LEAF = ("tensor", "post_accumulate")
KINDS = ("tensor", "post_accumulate", "node", "node_pre")


@clause(
    "gradient.switched.frozen",
    says="A leaf that is frozen between forward and backward has its tensor hooks called; its .grad stays as it was.",
    where="the pass reaches the leaf",
    source=HOOKS_IN_ORDER,
    note="Once it requires grad again it gets its .grad, and has all the hooks that it had.",
    about=(*apis(LEAF), "retain_grad"),
    concern="tensor ?switched_off",
    readings=by_release(
        "other",
        ("2.0", "called", {"frozen_leaf_hooks": True}),
        "A leaf that is frozen between forward and backward has its tensor hooks called, and its .grad stays.",
        ("", "not called", {"frozen_leaf_hooks": False}),
        "A leaf that is frozen between forward and backward has no tensor hook called, and its .grad stays.",
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)), (Input(3),), (Hook("tensor", "x0", "h0"), Forward(), Freeze("x0"), Backward())
    ),
)
@given(plan=plans(kinds=LEAF, does=("scale",), depth=1, runs=3, retain=True, on=("input", "parameter"), modes=True))
def test_frozen(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.switched.after_failure",
    says="If a hook raised in one pass, a backward() in which none raises calls a leaf's hooks and adds to its .grad.",
    where=("it reaches the leaf", "its graph was not freed"),
    see="gradient.passes.failed_pass_frees",
    source="measured",
    about=apis(KINDS),
)
@given(plan=plans(kinds=KINDS, does=("raise", "scale"), depth=0, least=3, most=6, runs=6, modes=True))
def test_after_failure(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
