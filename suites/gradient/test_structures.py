"""Tensors that modules return in lists, dicts and objects: hooks on them act as on any other."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import PACKS, Backward, Forward, Hook, Input, Leaf, Pack, Plan, Scale, hooks_of
from suites.names import TENSOR_DOCS
from suites.shapes import product

KINDS = st.sampled_from(PACKS)
#: Two tensors in a structure, the second one perhaps in another one inside it.
STRUCTURES = st.builds(Pack, KINDS, st.tuples(st.just(0), st.just(1) | st.builds(Pack, KINDS, st.just((1,)))))


@clause(
    "gradient.structures.in_any",
    says="A tensor hook on a tensor that a module returns in a list, a dict or an object can replace its gradient.",
    where="backward() reaches that tensor",
    source=TENSOR_DOCS,
    asked="huggingface modeloutput dataclass hidden states modify activation gradient from nested output",
)
@given(
    plan=st.builds(
        lambda out, hooks, grads: Plan(
            Leaf("m0", "split", (2, 3), out=out),
            (Input(5),),
            (
                Forward(),
                *(Hook("tensor", f"m0>{slot}", f"h{place}", (Scale(by),)) for place, (slot, by) in enumerate(hooks)),
                Backward(grads),
            ),
        ),
        STRUCTURES,
        st.lists(st.tuples(st.integers(0, 1), FACTORS), min_size=1, max_size=3),
        st.tuples(NUMBERS, NUMBERS),
    )
)
def test_in_any(subject: Subject, plan: Plan) -> None:
    (grads,), starts = subject.holds(plan).grads(), plan.steps[-1].grads
    left = [
        grad * product(hook for hook in hooks_of(plan) if hook.on == f"m0>{slot}") for slot, grad in enumerate(starts)
    ]
    assert grads == {"x0": 2 * left[0] + 3 * left[1], "m0.weight": 5 * left[0], "m0.other": 5 * left[1]}
