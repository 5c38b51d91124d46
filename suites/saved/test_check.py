"""What hooks for saved tensors do to the check of changes in place."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, MulInPlace, Plan
from suites.saved.plans import ON_CPU_HOOK, pair, product, starts
from suites.saved.sources import CHECKED, HAS, HAS_CPU, NOTE
from suites.shapes import SCALES


def edited(hooks: st.SearchStrategy) -> st.SearchStrategy:
    """Plans in which the first factor is changed in place between the product and the pass."""
    return product(
        hooks,
        after=st.builds(lambda by, grad: (MulInPlace("x0", by), Backward((grad,))), FACTORS, NUMBERS),
        leaf=st.just(False),
    )


@clause(
    "saved.check.off",
    says="For y = w * x in saved_tensors_hooks, changing w in place later gives x a wrong gradient, with no error.",
    where=("the hooks copy nothing", "w is a non-leaf tensor"),
    see="saved.check.copies",
    source=CHECKED,
    asked="saved_tensors_hooks silently wrong gradient after inplace op no "
    "error modified by an inplace operation check missing version counter",
    level="observed",
    docs="contradicts",
    needs=HAS,
)
@given(plan=edited(pair()))
def test_off(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert not trace.raised()
    assert trace.grads()[-1]["x1"] == 2 * plan.inputs[0].value * plan.steps[-2].by * starts(plan)[0]


@clause(
    "saved.check.save_on_cpu",
    says="For y = w * x in save_on_cpu, changing w in place later gives x a wrong gradient, with no error.",
    where=("w is on the CPU and a non-leaf", "pin_memory= is left out"),
    source=CHECKED,
    asked="save_on_cpu inplace modification wrong gradient no RuntimeError activation offloading relu_ inplace",
    level="observed",
    docs="contradicts",
    device="cpu",
    needs=HAS_CPU,
)
@given(plan=edited(st.just((ON_CPU_HOOK,))))
def test_save_on_cpu(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert not trace.raised()
    assert trace.grads()[-1]["x1"] == 2 * plan.inputs[0].value * plan.steps[-2].by * starts(plan)[0]


@clause(
    "saved.check.copies",
    says="For y = w * x with a pack hook that copies, changing w in place later does not change the gradient of x.",
    where="w is a non-leaf tensor",
    source="measured",
    asked="offload activations clone in pack hook safe against later inplace modification gradient still correct",
    needs=HAS,
)
@given(plan=edited(pair(do=SCALES)))
def test_copies(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (pack,) = plan.steps[0].do
    assert trace.grads()[-1]["x1"] == 2 * plan.inputs[0].value * pack.by * starts(plan)[0]


@clause(
    "saved.check.apply",
    says="For y = w * x, a pack hook that changes w by w.apply_(f) meets no error, and x gets f(w) as gradient.",
    where=("real, on the CPU", "it returns w; w needs no gradient"),
    see="saved.pack.edits",
    source=f'{NOTE} "will throw an error if the input to a pack hook is modified inplace"',
    asked="pack hook apply_ map_ changes saved tensor silently wrong gradient no error",
    level="observed",
    docs="contradicts",
    device="cpu",
    needs=HAS,
    value="wrong",
    wrong={"it raises": "RuntimeError"},
    witness={"w": 3, "by": 10},
)
@given(w=NUMBERS, by=FACTORS)
def test_apply(subject: Subject, w: int, by: int) -> None:
    import torch

    def pack(kept: Any) -> Any:
        return kept.apply_(lambda value: value * by)

    x = torch.ones(1, requires_grad=True)
    try:
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept):
            y = torch.full((1,), float(w)) * x
        y.backward()
        found = "wrong" if x.grad.item() == w * by else x.grad.item()
    except RuntimeError as error:
        found = type(error).__name__
    assert found == subject.value
