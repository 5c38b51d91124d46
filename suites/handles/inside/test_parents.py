"""Hooks that a child's hook registers on the module around it, whose call goes on."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.clause import Reading, clause
from fixtures.draw.contract import contract_drawn_for
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Add, Backward, Chain, Forward, Hook, Input, Leaf, Plan, Reuse, Scale
from suites.handles.inside.traces import news
from suites.names import SKIP_PULL, SKIPS
from suites.shapes import one_leaf

ABOUT = apis(("forward", "forward_pre"), everywhere=True)


@st.composite
def from_below(draw, hooked: bool) -> Plan:
    """A child whose hook registers a forward hook on the container around it, which has one, maybe global, or none."""
    kind = draw(st.sampled_from(["forward_pre", "forward"]))
    adds = Hook(kind, "m1", "adds", (Add(Hook("forward", "m0", "new", (Scale(draw(FACTORS)),))),))
    places = ["m0", "*"] if contract_drawn_for().global_forward_hooks else ["m0"]
    own = [Hook(draw(st.sampled_from(["forward_pre", "forward"])), draw(st.sampled_from(places)), "own")]
    net = Chain("m0", (one_leaf(draw, "m1"),) + ((Reuse("m1"),) if draw(st.booleans()) else ()))
    run = (Forward(), Backward((draw(NUMBERS),)))
    return Plan(net, (Input(draw(NUMBERS)),), (*draw(st.permutations([adds, *own] if hooked else [adds])), *run * 2))


@clause(
    "handles.inside.parent_with_hooks",
    says="A forward hook that a child's forward hook registers on the parent runs in the parent's call already.",
    where="the parent had a forward hook when it was called",
    source="measured",
    asked="inner layer adds callback to container that already has some fires "
    "for same run add a hook while the model is running inside forward",
)
@given(plan=from_below(hooked=True))
def test_parent_with_hooks(subject: Subject, plan: Plan) -> None:
    calls = len(plan.net.children)
    assert news(subject.holds(plan)) == [calls, 2 * calls]


@clause(
    "handles.inside.bare_parent",
    says="A forward hook that a child's forward hook registers on the parent runs from the parent's next call on.",
    where="the parent has no hook, and none is global",
    source=(SKIPS, SKIP_PULL),
    asked="inner layer adds callback to container without any existing ones "
    "ignored first time add a hook while the model is running inside forward",
    matters_if="forward ?registers_inside",
    readings=(
        Reading(
            "next call",
            ">=1.9",
            "A forward hook that a child's forward hook registers on the parent runs from the parent's next call on.",
            {"bare_is_skipped": True},
        ),
        Reading(
            "same call",
            "<1.9",
            "A forward hook that a child's forward hook registers on the parent runs in that call already.",
            {"bare_is_skipped": False},
            says_the_same=False,
            effect="silent",
        ),
    ),
    witness=Plan(
        Chain("m0", (Leaf("m1", "scale", (2,)),)),
        (Input(1),),
        (Hook("forward", "m1", "adds", (Add(Hook("forward", "m0", "new")),)), Forward()),
    ),
)
@given(plan=from_below(hooked=False))
def test_bare_parent(subject: Subject, plan: Plan) -> None:
    calls, later = len(plan.net.children), subject.reading.facts["bare_is_skipped"]
    found = news(subject.holds(plan))
    assert found == [run * calls - calls * (later and run == 1) for run in range(1, len(found) + 1)]
