"""What comes after a legacy hook that returns None for a gradient."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Chain, Forward, Give, Hook, Input, Leaf, Plan


@st.composite
def dropped_by_a_legacy_hook(draw) -> Plan:
    """Two to four modules one after another; a legacy hook on the last one drops what it is given."""
    ops = [draw(st.sampled_from(["scale", "affine"])) for _ in range(draw(st.integers(2, 4)))]
    leaves = [
        Leaf(f"m{place}", op, tuple(draw(NUMBERS) for _ in range({"scale": 1, "affine": 2}[op])))
        for place, op in enumerate(ops, 1)
    ]
    hooks = [Hook("backward", leaves[-1].name, "drops", (Give("nones"),)), Hook("tensor", "x0", "input")]
    hooks += [Hook("backward", leaf.name, f"of {leaf.name}") for leaf in leaves[:-1] if draw(st.booleans())]
    return Plan(Chain("m0", tuple(leaves)), (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward((draw(NUMBERS),))))


@clause(
    "backward.returns.legacy_none_goes_on",
    says="In a chain of x * w + b, if the last module's legacy backward hook returns Nones, no .grad is set.",
    where="the loss uses nothing but the chain's output",
    source="measured",
    asked="old register_backward_hook returning tuple of none stops "
    "gradient weights never updated whole network grad missing",
    matters_if="backward returns",
    readings=(
        Reading(
            "goes on",
            ">=1.6",
            "In a chain of x * w + b, if a legacy backward hook returns Nones, all gradients before it are None.",
            {"undefined_passes": True},
        ),
        Reading(
            "RuntimeError",
            "<1.6",
            "After a legacy backward hook returned None for each gradient, a multiplication raises RuntimeError.",
            {"undefined_passes": False},
            says_the_same=False,
            effect="error",
        ),
    ),
    witness=Plan(
        Chain("m0", (Leaf("m1", "scale", (3,)), Leaf("m2", "scale", (2,)))),
        (Input(2),),
        (Hook("backward", "m2", "drops", (Give("nones"),)), Forward(), Backward((1,))),
    ),
)
@given(plan=dropped_by_a_legacy_hook())
def test_legacy_none_goes_on(subject: Subject, plan: Plan) -> None:
    trace, passes = subject.holds(plan), subject.reading.facts["undefined_passes"]
    assert trace.raised() == ([] if passes else [("backward", "RuntimeError")])
    assert set(trace.grads()[0].values()) == {None}
