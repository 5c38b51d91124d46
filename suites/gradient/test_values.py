"""Gradients as tensors: the shape, dtype, layout and identity of what a tensor hook is given, returns and leaves.

Plans with `values=True`: a tensor in a trace has its shape, its dtype, its strides and the name of the known object.
"""

from dataclasses import replace
from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.contract import by_contract
from fixtures.draw.plans import NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.model.contract import Contract
from fixtures.plan.grammar import OPS, Backward, Forward, Hook, Input, Leaf, Like, Of, Plan, Recast, hooks_of, walk
from fixtures.play.objects import Seen
from fixtures.play.trace import Trace
from fixtures.stages.make import make
from suites.gradient.sources import LAYOUT, REPLACES, SIGNATURE
from suites.names import BACKWARD_DOCS, POST_ACCUMULATE

ABOUT = "register_hook"

MOVED = (
    "code: torch/include/torch/csrc/autograd/functions/accumulate_grad.h "
    '"tries to stash strided (non-sparse) grads with memory layout"'
)
#: All rows of .grad are one row in memory.
EXPANDED = (Recast(layout="expanded"),)
MATRICES = st.sampled_from([(2, 3), (3, 2), (2, 2)])


def form_of(plan: Plan, target: str) -> Tuple[Any, str]:
    """The shape and dtype of an input or a parameter of a plan."""
    found = {f"x{index}": spec.value for index, spec in enumerate(plan.inputs)}
    for leaf in walk(plan.net):
        if isinstance(leaf, Leaf):
            found.update((f"{leaf.name}.{name}", value) for name, value in zip(OPS[leaf.op][2], leaf.values))
    return found[target].shape, found[target].dtype


def reals(contract: Contract) -> Any:
    """The dtypes of real numbers that a torch computes with."""
    return st.sampled_from([one for one in contract.dtypes if not one.startswith("complex")])


def strides(shape: Tuple[int, int], turned: bool) -> Tuple[int, int]:
    """Those of a matrix that lies in memory row by row or, where it is turned, column by column."""
    return (1, shape[0]) if turned else (shape[1], 1)


def uncast(plan: Plan) -> Plan:
    """The plan with gradients of the dtype of the output: one of another dtype is cast first, to another tensor."""
    steps = [
        replace(one, grads=(replace(one.grads[0], dtype=""),)) if isinstance(one, Backward) else one
        for one in plan.steps
    ]
    return replace(plan, steps=tuple(steps))


def seen_of(trace: Trace) -> List[Tuple[str, Any]]:
    """What each hook was given, call by call, with its label."""
    return [(event.what, event.seen[0]) for event in trace if event.what in trace.calls()]


def refused(trace: Trace) -> List[str]:
    """The types of the errors that steps ended with."""
    return [error for _, error in trace.raised()]


@clause(
    "gradient.values.given",
    says="A tensor hook of an input or parameter is given None, or a gradient of its tensor's shape and dtype.",
    where="the tensor is not converted after the forward",
    see="gradient.kinds.dtype",
    source=(SIGNATURE, "measured"),
    asked="can i rely on grad size matching weight in callback check for nonetype first",
    level="observed",
)
@given(
    plan=plans(
        kinds=("tensor",), inputs=(1, 2), outputs=(1, 2), on=("input", "parameter"), values=True, recasts=("layout",)
    )
)
def test_given(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    on = {hook.label: hook.on for hook in hooks_of(plan)}
    for label, grad in seen_of(trace):
        assert grad is None or (grad.shape, grad.dtype) == form_of(plan, on[label])


@clause(
    "gradient.values.any_layout",
    says="A tensor hook may return a gradient with other strides; the next hook is given that very tensor.",
    see="gradient.errors.wrong_dtype",
    source=(REPLACES, "measured"),
    asked="return transposed noncontiguous or channels_last gradient from callback is it copied or made contiguous",
    level="observed",
)
@given(plan=plans(kinds=("tensor",), does=("scale",), least=2, alike=True, values=True, recasts=("layout",)))
def test_any_layout(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    actions = {hook.label: hook.do for hook in hooks_of(plan)}
    calls = seen_of(trace)
    for (before, seen), (_, grad) in zip(calls, calls[1:]):
        # A tensor that is no matrix is its own transposed.
        made = [one for one in actions[before] if one != Recast(layout="transposed") or len(seen.shape) == 2]
        assert grad.name == f"{before}!" or not made


@clause(
    "gradient.values.very_tensor",
    says="y.backward(g) gives the very tensor g to the first tensor hook of y.",
    where=("g has the dtype of y", "y has no other use and is not changed in place"),
    see="gradient.values.cast_layout",
    source=(BACKWARD_DOCS, "measured"),
    asked="seed gradient identity same object or copy in output callback modifying inplace changes mine",
)
@given(
    plan=plans(kinds=("tensor",), does=("scale",), on=("output",), depth=0, ops=("scale", "affine"), values=True)
    .filter(hooks_of)
    .map(uncast)
)
def test_very_tensor(subject: Subject, plan: Plan) -> None:
    (_, first), *_ = seen_of(subject.holds(plan))
    assert first.name == "given"


def changes(action: Any, grad: Seen) -> bool:
    """Whether what a hook returns has another shape or dtype than it was given."""
    if not isinstance(action, Recast):
        return False
    return (
        action.dtype not in ("", grad.dtype)
        or action.shape == "longer"
        or (action.shape == "scalar" and grad.shape != ())
    )


@clause(
    "gradient.values.other_form",
    says="A tensor hook that returns another dtype or shape, even one that broadcasts, ends backward(): RuntimeError.",
    source=(REPLACES, "measured"),
    asked="returned scalar or mean or summed reduced size from callback invalid gradient expected shape",
    level="observed",
)
@given(plan=plans(kinds=("tensor",), does=("scale",), values=True, recasts=("shape", "dtype")))
def test_other_form(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    actions = {hook.label: hook.do for hook in hooks_of(plan)}
    other = [label for label, grad in seen_of(trace) if any(changes(action, grad) for action in actions[label])]
    assert not other or refused(trace) == ["RuntimeError"]


@clause(
    "gradient.values.own_grad",
    says="A leaf's new .grad is no object that backward() or a tensor hook was given or returned; it may share memory.",
    where=".grad was None",
    see="gradient.values.given_changes",
    source=MOVED,
    asked="saved gradient in callback is it same as param grad alias identity clone before storing",
)
@given(plan=plans(kinds=("tensor",), inputs=(1, 2), outputs=(1, 2), depth=0, values=True, recasts=("layout",)))
def test_own_grad(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert {grad.name for grad in trace.grads()[0].values() if grad is not None} <= {""}


@clause(
    "gradient.values.grad_layout",
    says="The .grad of a contiguous or transposed leaf has its strides, whatever its tensor hooks returned.",
    where=(".grad was None", "the leaf has no gaps, no size 1"),
    source=LAYOUT,
    asked="parameter gradient memory format contiguous after returning transposed from callback fused optimizer",
    matters_if="tensor ?strided",
    readings=by_release(
        "silent",
        ("1.6", "the leaf's", {"grad_follows_leaf": True}),
        "A contiguous or transposed leaf has a .grad with the leaf's strides, whatever its tensor hooks returned.",
        ("", "row by row", {"grad_follows_leaf": False}),
        "The .grad of a leaf is contiguous, whatever strides the leaf has or its tensor hooks returned.",
    ),
    witness=Plan(Leaf("m0", "same"), (Input(Of(1, (2, 3), layout="transposed")),), (Forward(), Backward((Like(1),)))),
)
@given(
    plan=st.builds(
        lambda net, x, returned, grad: Plan(
            net,
            (Input(x),),
            (
                *(Hook("tensor", "x0", f"h{place}", (Recast(layout=one),)) for place, one in enumerate(returned)),
                Forward(),
                Backward((grad,)),
            ),
        ),
        st.sampled_from([Leaf("m0", "same"), Leaf("m0", "scale", (Of(2),))]),
        st.builds(Of, NUMBERS, MATRICES, layout=st.sampled_from(["plain", "transposed"])),
        st.lists(st.sampled_from(["transposed", "expanded", "offset"]), max_size=2),
        st.builds(Like, NUMBERS, layout=st.sampled_from(["plain", "transposed", "expanded"])),
    )
)
def test_grad_layout(subject: Subject, plan: Plan) -> None:
    (grads,), leaf = subject.holds(plan).grads(), plan.inputs[0].value
    turned = leaf.layout == "transposed" and subject.reading.facts["grad_follows_leaf"]
    assert grads["x0"].strides == strides(leaf.shape, turned)


@clause(
    "gradient.values.cast_layout",
    says="y.backward(g.t()) gives y's first tensor hook g.t() cast to the dtype of y, still transposed.",
    where=("g is contiguous, real", "y is real, with no other use"),
    source="measured",
    asked="seed gradient in double or half noncontiguous converted automatically for float output",
    matters_if="tensor ?strided",
    readings=by_release(
        "silent",
        ("1.5", "kept", {"cast_keeps_layout": True}),
        "A transposed gradient of another dtype that backward() is given is cast, and stays transposed.",
        ("", "row by row", {"cast_keeps_layout": False}),
        "A transposed gradient of another dtype that backward() is given is cast, and is contiguous then.",
    ),
    witness=Plan(
        Leaf("m0", "same"),
        (Input(Of(1, (2, 3))),),
        (Hook("tensor", "x0", "h0"), Forward(), Backward((Like(1, "float32", "transposed"),))),
    ),
)
@given(
    plan=by_contract(
        lambda contract: st.builds(
            lambda x, dtype, value: Plan(
                Leaf("m0", "scale", (Of(2),)),
                (Input(x),),
                (Forward(), Hook("tensor", "m0>0", "h0"), Backward((Like(value, dtype, "transposed"),))),
            ),
            st.builds(Of, NUMBERS, MATRICES, reals(contract)),
            reals(contract),
            NUMBERS,
        )
    )
)
def test_cast_layout(subject: Subject, plan: Plan) -> None:
    ((grad,),) = subject.holds(plan).seen_by("h0")
    y, start = plan.inputs[0].value, plan.steps[-1].grads[0]
    rows, columns = y.shape
    kept = start.dtype == y.dtype or subject.reading.facts["cast_keeps_layout"]
    assert (grad.dtype, grad.strides) == (y.dtype, strides(y.shape, turned=kept))
    # In memory the numbers lie column by column.
    assert grad.numbers == [[start.value + (rows * at + row) % 3 for at in range(columns)] for row in range(rows)]


@st.composite
def put_in_grad(draw: Any) -> Plan:
    """A hook that puts an expanded tensor in the .grad of the input, and a second pass that adds to it."""
    plan = draw(plans(kinds=(), ops=("scale", "same"), depth=0, values=True))
    hook, leaf = Hook("post_accumulate", "x0", "h0", EXPANDED), replace(plan.inputs[0], grad=True, leaf=True)
    backward = replace(plan.steps[-1], retain_graph=True)
    return replace(plan, inputs=(leaf,), steps=(hook, *plan.steps[:-1], backward, backward))


@clause(
    "gradient.values.expanded_grad",
    says="After w.grad = torch.ones(3).expand(2, 3) the next backward() that reaches w raises RuntimeError.",
    where="w still requires grad",
    source="measured",
    asked="manually set parameter gradient broadcast unsupported operation "
    "more than one element refers to single memory location",
    needs=POST_ACCUMULATE,
)
@given(plan=put_in_grad())
def test_expanded_grad(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    shared = [grads["x0"] for grads in trace.grads() if grads["x0"] is not None and 0 in (grads["x0"].strides or ())]
    assert not shared or refused(trace) == ["RuntimeError"]


@clause(
    "gradient.values.given_changes",
    says="A later backward() can change in place the gradient that was passed to an earlier backward().",
    source=MOVED,
    asked="seed gradient tensor silently overwritten accumulated reused buffer clone before keeping aliasing",
    level="observed",
    value=True,
    wrong={"as it was": False},
    witness={"first": 1, "second": 2, "hooks": 0},
)
@given(first=st.integers(1, 9), second=st.integers(1, 9), hooks=st.integers(0, 2))
def test_given_changes(subject: Subject, first: int, second: int, hooks: int) -> None:
    import torch

    x = make.ones((2, 3), dtype=torch.float64, requires_grad=True)
    y = x.t().t()
    for _ in range(hooks):
        y.register_hook(lambda grad: None)
    given = make.full((2, 3), float(first), dtype=torch.float64)
    y.backward(given, retain_graph=True)
    assert given.tolist() == [[first] * 3] * 2
    y.backward(make.full((2, 3), float(second), dtype=torch.float64))
    assert given.tolist() == [[first + (second if subject.value else 0)] * 3] * 2
