"""autograd.grad of a tensor that leads to nothing of what is asked for."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Ask, Forward, Hook, Input, Leaf, Plan, Retain, Scale, hooks_of


@st.composite
def of_the_other_output(draw) -> Plan:
    """A module with two outputs, each with a weight of its own; asked is for the weight of the output not used."""
    hooks = [
        Hook("tensor", "m0>0", f"h{place}", do)
        for place, do in enumerate(
            draw(st.lists(st.just(()) | FACTORS.map(lambda by: (Scale(by),)), min_size=1, max_size=3))
        )
    ]
    more = draw(st.lists(st.sampled_from([Retain("m0>0"), Hook("node", "m0>0", "of the node")]), unique=True))
    asked = draw(st.sampled_from([("m0.other",), ("x0",)]))
    last = Ask(asked, (draw(NUMBERS), None))
    return Plan(
        Leaf("m0", "split", (draw(NUMBERS), draw(NUMBERS))), (Input(draw(NUMBERS)),), (Forward(), *hooks, *more, last)
    )


@clause(
    "gradient.asked.root_to_nothing",
    says="autograd.grad(y, x) calls the tensor hooks of the inner tensor y even where y is not made from x.",
    where=("no tensor is changed in place", "x needs a gradient"),
    source="measured",
    asked="register_hook on loss triggers though requested variable "
    "unrelated allow_unused none result disconnected autograd.grad",
    matters_if="tensor inner ?root",
    readings=(
        Reading(
            "called",
            ">=2.0",
            "autograd.grad(y, x) calls the tensor hooks of the inner tensor y even where y is not made from x.",
            {"unasked_root": "hooks"},
        ),
        Reading(
            "not called",
            "<2.0,!=1.8.*",
            "autograd.grad(y, x) calls no tensor hook of the inner tensor y where y is not made from x.",
            {"unasked_root": "nothing"},
            says_the_same=False,
            effect="silent",
        ),
        Reading(
            "runs",
            ">=1.8,<1.9",
            "autograd.grad(y, x) calls the tensor hooks of y and runs its node even where y is not made from x.",
            {"unasked_root": "runs"},
        ),
    ),
    witness=Plan(
        Leaf("m0", "split", (3, 1)),
        (Input(2),),
        (
            Forward(),
            Hook("tensor", "m0>0", "of the tensor"),
            Hook("node", "m0>0", "of the node"),
            Ask(("m0.other",), (2, None)),
        ),
    ),
)
@given(plan=of_the_other_output())
def test_root_to_nothing(subject: Subject, plan: Plan) -> None:
    # Of x0 the tensor is made, and its node runs.
    does = "runs" if plan.steps[-1].inputs == ("x0",) else subject.reading.facts["unasked_root"]
    kinds = {"runs": ("tensor", "node"), "hooks": ("tensor",), "nothing": ()}[does]
    called = [hook.label for kind in kinds for hook in hooks_of(plan, kind)]
    assert subject.holds(plan).calls() == called
