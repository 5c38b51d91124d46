"""What a backward hook of a module may leave for others: a list for the next hook, None for what comes after it."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import FACTORS, NUMBERS
from fixtures.plan.grammar import Backward, Chain, Forward, Give, Hook, Input, Leaf, Plan, Scale

FULL = "torch.nn.Module.register_full_backward_hook"


@st.composite
def after_a_list(draw) -> Plan:
    """A module whose full hooks return lists, multiplied gradients or nothing, the first of them a list."""
    does = draw(st.lists(st.just((Give("list"),)) | FACTORS.map(lambda by: (Scale(by),)) | st.just(()), max_size=3))
    hooks = [Hook("full_backward", "m0", f"h{place}", do) for place, do in enumerate([(Give("list"),), *does, ()])]
    net = Leaf("m0", "scale", (draw(NUMBERS),))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward((draw(NUMBERS),))))


@clause(
    "backward.returns.list_stays",
    says="Where a full hook returns a list, the next full hook is given a list as its grad_input.",
    source="measured",
    concern="full_backward returns",
    needs=FULL,
    readings=(
        Reading(
            "list",
            ">=1.13",
            "A list that a full hook returns is the grad_input of the next full hook, as it is.",
            {"full_list_stays": True},
        ),
        Reading(
            "tuple",
            "<1.13",
            "A list that a full hook returns is made a tuple before the next full hook is given it.",
            {"full_list_stays": False},
            headline=False,
            harm="error",
        ),
    ),
    witness=Plan(
        Leaf("m0", "scale", (3,)),
        (Input(2),),
        (
            Hook("full_backward", "m0", "first", (Give("list"),)),
            Hook("full_backward", "m0", "next"),
            Forward(),
            Backward((1,)),
        ),
    ),
)
@given(plan=after_a_list())
def test_list_stays(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


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
    says="Where a legacy hook returns None for each gradient, backward() goes on, with None upstream.",
    source="measured",
    concern="backward returns",
    readings=(
        Reading(
            "goes on",
            ">=1.6",
            "None that a legacy hook returns for a gradient goes on as an undefined gradient to every node upstream.",
            {"undefined_passes": True},
        ),
        Reading(
            "RuntimeError",
            "<1.6",
            "After a legacy hook made a gradient None, the next operation upstream raises, unless it is an addition.",
            {"undefined_passes": False},
            headline=False,
            harm="error",
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
    subject.holds(plan)
