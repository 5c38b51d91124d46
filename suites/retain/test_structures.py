"""Tensors that modules return in lists, dicts and objects keep their gradients too."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Input, Leaf, Pack, Plan, Retain
from suites.names import KEPT
from suites.retain.plans import kept_of

#: Ways to put two tensors into a structure.
ITEMS = [(0, 1), (1, None, 0), (0, Pack("list", (1,))), (Pack("dict", (1, 0)),), (Pack("data", (0,)), 1)]


@clause(
    "retain.structures.in_any",
    says="retain_grad() keeps the gradient of a non-leaf tensor that a module returns in a list, a dict or an object.",
    where="the loss uses that tensor",
    source=KEPT,
    asked="lstm or huggingface output nested hidden_states non-leaf get gradients of entries in tuple",
)
@given(
    plan=st.builds(
        lambda kind, items, on, values, grads: Plan(
            Leaf("m0", "split", values, out=Pack(kind, items)),
            (Input(3),),
            (Forward(), *(Retain(name) for name in on), Backward(grads)),
        ),
        st.sampled_from(["list", "dict", "data"]),
        st.sampled_from(ITEMS),
        st.sampled_from([("m0>0",), ("m0>1",), ("m0>1", "m0>0")]),
        st.tuples(NUMBERS, NUMBERS),
        st.tuples(NUMBERS, NUMBERS),
    )
)
def test_in_any(subject: Subject, plan: Plan) -> None:
    kept = kept_of(subject.holds(plan), plan)
    assert kept == {on: plan.steps[-1].grads[int(on[-1])] for on in kept}
