"""When kept gradients appear: seen from hooks, under autograd.grad, backward(inputs=…) and create_graph."""

from itertools import accumulate
from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import AutogradGrad, Backward, Chain, Forward, Input, Leaf, Plan, Retain, hooks_of
from suites.names import BACKWARD_INPUTS, GRAD_DOCS, HOOKS_IN_ORDER, INNER_INPUTS
from suites.retain.plans import among_hooks
from suites.shapes import product
from suites.tensors import item, leaf

ABOUT = "retain_grad"

NET = Chain("m0", (Leaf("m1", "scale", (2,)), Leaf("m2", "scale", (5,))))
INNER = "m1>0"


@st.composite
def keeping(draw: Any, *steps: Any, act: bool = False) -> Plan:
    """y = m1.weight * x keeps its gradient and has some hooks; one or two of the steps, as a function of a gradient."""
    asks = [draw(st.sampled_from(steps))(draw(NUMBERS)) for _ in range(draw(st.integers(1, 2)))]
    return Plan(NET, (Input(draw(NUMBERS)),), (Forward(), *among_hooks(draw, INNER, act), *asks))


@clause(
    "retain.asked.seen_upstream",
    says="When a tensor hook of x runs, gradients kept for tensors between x and the loss are already in their .grad.",
    source='note: autograd.html#backward-hooks-execution "field is updated for Tensors that retain_grad"',
    asked="inside input register_hook can i read activation.grad of later layers already available grad-cam",
    about=("retain_grad", "register_hook"),
    value=True,
    wrong={"at the end": False},
    witness={"kept": [False, True], "hooks": 1},
)
@given(kept=st.lists(st.booleans(), min_size=2, max_size=5), hooks=st.integers(1, 2))
def test_seen_upstream(subject: Subject, kept: List[bool], hooks: int) -> None:
    seen: List[Any] = []
    row = [1 * leaf(1)]
    for _ in kept[1:]:
        row.append(2 * row[-1])
    for place, (tensor, keep) in enumerate(zip(row, kept)):
        if keep:
            tensor.retain_grad()
            continue
        for _ in range(hooks):
            # Of the tensors that keep nothing .grad is not read: it would warn.
            tensor.register_hook(
                lambda grad, place=place: seen.append((place, [item(t.grad) for t, keep in zip(row, kept) if keep]))
            )
    row[-1].backward()
    last = len(row) - 1
    expected = []
    for place in range(last, -1, -1):
        there = [2.0 ** (last - at) if at > place and subject.value else None for at, keep in enumerate(kept) if keep]
        expected += [(place, there)] * (0 if kept[place] else hooks)
    assert seen == expected


#: By reading: whether hook number `index` finds the gradient of its own pass, retain_grad() being called at `place`.
FINDS = {
    "none": lambda index, place: False,
    "all or none": lambda index, place: place == 0,
    "later ones": lambda index, place: index >= place,
}


@clause(
    "retain.asked.not_in_its_own_hook",
    says="In a tensor hook of y, which keeps its gradient, y.grad is still as it was before this backward.",
    source=(
        'note: autograd.html#backward-hooks-execution "field is updated for Tensors that retain_grad"',
        HOOKS_IN_ORDER,
    ),
    asked="read activation .grad inside register_hook callback is none or stale old value not yet updated",
    about=("retain_grad", "register_hook"),
    matters_if="retain_grad ?reading_hook",
    readings=by_release(
        "silent",
        ("2.0", "not yet", "none"),
        "In a tensor hook of y, which keeps its gradient, y.grad is still as it was before this backward.",
        ("1.10", "by what came first", "all or none"),
        "Tensor hooks of y find the gradient of this backward in y.grad if y.retain_grad() came before all of them.",
        ("", "later hooks find it", "later ones"),
        "Tensor hooks of y registered after y.retain_grad() find the gradient of this backward in y.grad.",
    ),
    witness={"piles": [(2, 1), (1, 0)], "passes": 1},
)
@given(
    piles=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=2), passes=st.integers(1, 2)
)
def test_not_in_its_own_hook(subject: Subject, piles: List[Tuple[int, int]], passes: int) -> None:
    for hooks, place in piles:
        seen: List[Any] = []
        y = 3 * leaf(1)
        for index in range(hooks):
            if index == place:
                y.retain_grad()
            y.register_hook(lambda grad, y=y, seen=seen: seen.append(item(y.grad)))
        place = min(place, hooks)
        if place == hooks:
            y.retain_grad()
        for _ in range(passes):
            (2 * y).backward(retain_graph=True)
        totals = [None, *(2 * number for number in range(1, passes + 1))]
        finds = FINDS[subject.value]
        assert seen == [totals[number + finds(at, place)] for number in range(passes) for at in range(hooks)]


@clause(
    "retain.asked.input_of_grad",
    says="autograd.grad(loss, y) after y.retain_grad() also adds the gradient to y.grad.",
    where="the loss was computed from the non-leaf tensor y",
    source=(GRAD_DOCS, HOOKS_IN_ORDER),
    asked="torch.autograd.grad with respect to retained activation "
    "also populates .grad side effect unexpected accumulate",
    matters_if="retain_grad ?asked",
    readings=by_release(
        "silent",
        ("2.0", "added to .grad", {"hooks_when_asked": True}),
        "autograd.grad(loss, y) after y.retain_grad() also adds the gradient to y.grad.",
        ("", "returned only", {"hooks_when_asked": False}),
        "autograd.grad(loss, y) after y.retain_grad() does not change y.grad.",
    ),
    witness=Plan(NET, (Input(3),), (Forward(), Retain(INNER), AutogradGrad((INNER,)))),
    docs="contradicts",
    note="The docs say that the gradient of an input is returned and not accumulated into .grad.",
)
@given(plan=keeping(lambda grad: AutogradGrad((INNER,), (grad,)), act=True))
def test_input_of_grad(subject: Subject, plan: Plan) -> None:
    trace, adds = subject.holds(plan), subject.reading.facts["hooks_when_asked"]
    by = 5 * product(hooks_of(plan) if adds else ())
    returned = [by * step.grads[0] for step in plan.steps if isinstance(step, AutogradGrad)]
    assert [event.seen for event in trace if event.what == "asked"] == [(grad,) for grad in returned]
    assert [grads[INNER] for grads in trace.grads()] == (list(accumulate(returned)) if adds else [None] * len(returned))


@clause(
    "retain.asked.on_the_way_of_grad",
    says="autograd.grad(loss, x) adds to the .grad of a non-leaf tensor between x and loss that keeps its gradient.",
    source="measured",
    asked="torch.autograd.grad should not touch .grad but retained intermediate activation got filled side effect",
    about=("retain_grad", "autograd.grad"),
)
@given(
    plan=keeping(
        lambda grad: AutogradGrad(("x0",), (grad,)), lambda grad: AutogradGrad(("m1.weight", "m2.weight"), (grad,))
    )
)
def test_on_the_way_of_grad(subject: Subject, plan: Plan) -> None:
    sums = accumulate(5 * step.grads[0] for step in plan.steps if isinstance(step, AutogradGrad))
    others = dict.fromkeys(("x0", "m1.weight", "m2.weight"))
    assert subject.holds(plan).grads() == [{**others, INNER: total} for total in sums]


@clause(
    "retain.asked.backward_inputs",
    says="backward(inputs=[y]) after y.retain_grad() adds the gradient to y.grad once, not twice.",
    where="the loss was computed from the non-leaf tensor y",
    source=INNER_INPUTS,
    asked="intermediate listed in inputs argument and retained gradient doubled accumulate double count",
    matters_if="retain_grad ?asked",
    readings=by_release(
        "error",
        ("1.10", "once", {"backward_inputs": "any"}),
        "backward(inputs=[y]) after y.retain_grad() adds the gradient to y.grad once, not twice.",
        ("", "refused", {"backward_inputs": "leaves"}),
        "backward(inputs=[y]) raises RuntimeError for a non-leaf tensor y: inputs= takes leaves only.",
    ),
    needs=(BACKWARD_INPUTS,),
    witness=Plan(NET, (Input(3),), (Forward(), Retain(INNER), Backward(inputs=(INNER,)))),
)
@given(plan=keeping(lambda grad: Backward((grad,), inputs=(INNER,)), lambda grad: Backward((grad,))))
def test_backward_inputs(subject: Subject, plan: Plan) -> None:
    trace, refuses = subject.holds(plan), subject.reading.facts["backward_inputs"] == "leaves"
    passes = [step for step in plan.steps if isinstance(step, Backward)]
    done = [not (refuses and step.inputs) for step in passes]
    assert trace.raised() == [("backward", "RuntimeError")] * done.count(False)
    totals = accumulate(5 * step.grads[0] * counts for step, counts in zip(passes, done))
    due = [total if any(done[:end]) else None for end, total in enumerate(totals, 1)]
    assert [grads[INNER] for grads in trace.grads()] == due


@clause(
    "retain.asked.create_graph",
    says="A gradient that retain_grad() keeps can be differentiated again only if create_graph=True was given.",
    source='docs: torch.autograd.backward "allowing to compute higher order derivative"',
    asked="gradient penalty second derivative activation.grad has no grad_fn element 0 does not require grad",
    about=("retain_grad", "autograd.grad"),
    value=True,
    wrong={"detached": False},
    witness={"x": 1, "power": 2, "create_graph": True},
)
@given(x=NUMBERS, power=st.integers(1, 4), create_graph=st.booleans())
def test_create_graph(subject: Subject, x: int, power: int, create_graph: bool) -> None:
    import torch

    tensor = leaf(x)
    y = 3 * tensor
    y.retain_grad()
    product = y
    for _ in range(power - 1):
        product = product * y
    torch.autograd.backward([product], create_graph=create_graph)
    grad, tensor.grad, y.grad = y.grad, None, None
    has_graph = create_graph and power > 1 and subject.value
    assert (grad.item(), grad.requires_grad) == (power * (3 * x) ** (power - 1), has_graph)
    if has_graph:
        (bend,) = torch.autograd.grad(grad, [tensor])
        assert bend.item() == 3 * power * (power - 1) * (3 * x) ** (power - 2)
