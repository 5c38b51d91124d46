"""A hook on a tensor is given the gradient of that tensor; what it returns takes the gradient's place.

`Tensor.register_hook` is the oldest hook and the simplest: one argument, one value to return, None to leave things be.
"""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS, plans
from fixtures.plan import Backward, Forward, Hook, Input, Leaf, Plan, Scale
from fixtures.subject import Subject

DOCS = "docs: torch.Tensor.register_hook"


@st.composite
def line(draw: Any, on: str, fewest: int = 1, most: int = 4, passes: int = 1, act: bool = True) -> Plan:
    """One module y = weight * x with hooks on one of its tensors, and one or more backward passes."""
    hooks = tuple(
        Hook("tensor", on, f"h{index}", (Scale(draw(FACTORS)),) if act and draw(st.booleans()) else ())
        for index in range(draw(st.integers(fewest, most)))
    )
    backwards = tuple(Backward((draw(NUMBERS),)) for _ in range(draw(st.integers(1, passes))))
    script = (Forward(),) + hooks if ">" in on else hooks + (Forward(),)
    return Plan(Leaf("m0", "scale", (draw(NUMBERS),)), (Input(draw(NUMBERS)),), script + backwards)


def factor(hook: Hook) -> int:
    """What a hook multiplies the gradient by; 1 when it only looks."""
    return hook.do[0].by if hook.do else 1


def hooks_of(plan: Plan) -> Any:
    return [step for step in plan.steps if isinstance(step, Hook)]


@clause(
    "gradient.replace.none_keeps",
    says="A tensor hook that returns None changes no gradient anywhere.",
    source=DOCS,
    covers=("tensor.ret.none",),
)
@given(plan=plans(kinds=("tensor",), does=(), inputs=(1, 2), outputs=(1, 2), depth=2, runs=2))
def test_none_keeps(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.grads() == subject.play(plan.without(Hook)).grads()


@clause(
    "gradient.replace.root_gradient",
    says="A hook on the tensor that backward starts from is given the gradient that backward was given.",
    source=DOCS,
    covers=("tensor.root.arg", "graph.order.tensor_hook_on_root", "tensor.root.gradient_arg"),
)
@given(plan=line("m0>0", most=1, act=False))
def test_root_gradient(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.seen_by("h0") == [plan.steps[-1].grads]


@clause(
    "gradient.replace.into_leaf",
    says="What the hook of a leaf returns is what goes into its .grad.",
    source=DOCS,
    covers=("tensor.ret.tensor_leaf", "tensor.reg.parameter"),
)
@given(plan=line("m0.weight", most=1))
def test_into_leaf(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    ((given_gradient,),) = trace.seen_by("h0")
    assert trace.grads()[-1]["m0.weight"] == given_gradient * factor(plan.steps[0])


@clause(
    "gradient.replace.reaches_upstream",
    says="What the hook of an inner tensor returns is what every gradient upstream of it is made from.",
    source=(DOCS, "note: notes/autograd.html#backward-hooks-execution"),
    covers=("tensor.ret.tensor_upstream", "tensor.root.replace"),
)
@given(plan=line("m0>0", most=1))
def test_reaches_upstream(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hookless = subject.play(plan.without(Hook)).grads()[-1]
    scaled = {name: grad * factor(hooks_of(plan)[0]) for name, grad in hookless.items()}
    assert trace.grads()[-1] == scaled


@clause(
    "gradient.replace.anywhere",
    says="A replacement has the same effect at any tensor of any network: upstream changes, the rest does not.",
    source=DOCS,
    covers=("tensor.ret.tensor_upstream", "tensor.chain.topological"),
)
@given(plan=plans(kinds=("tensor",), inputs=(1, 2), outputs=(1, 2), depth=2, most=5))
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.replace.chains_in_order",
    says="Hooks of one tensor run in order of registration, each given what the one before it left.",
    source="note: notes/autograd.html#whether-tensor-hooks-fire",
    covers=(
        "tensor.chain.order",
        "graph.order.tensor_hooks_leaf_order",
        "tensor.chain.order_nonleaf",
        "tensor.chain.replacement_seen",
    ),
)
@given(plan=st.sampled_from(["m0.weight", "x0", "m0>0"]).flatmap(lambda on: line(on, fewest=2)))
def test_chains_in_order(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks = hooks_of(plan)
    assert trace.calls() == [hook.label for hook in hooks]
    for earlier, later in zip(hooks, hooks[1:]):
        assert trace.seen_by(later.label)[0][0] == trace.seen_by(earlier.label)[0][0] * factor(earlier)


@clause(
    "gradient.replace.sees_the_sum",
    says="The hook of a tensor with several consumers is called once a backward, with the summed gradient.",
    source="note: notes/autograd.html#whether-tensor-hooks-fire",
    covers=(
        "tensor.sum.leaf",
        "tensor.sum.nonleaf",
        "tensor.sum.same_op",
        "tensor.sum.roots",
        "graph.order.accumulated_before_hook_called",
    ),
)
@given(plan=plans(kinds=("tensor",), ops=("cross", "add", "mul", "scale"), inputs=(2, 2), outputs=(1, 2), depth=2))
def test_sees_the_sum(subject: Subject, plan: Plan) -> None:
    calls = subject.holds(plan).calls()
    assert len(set(calls)) == len(calls)


@clause(
    "gradient.replace.after_the_sum",
    says="A replacement is made once from the sum, not once for each part of it.",
    source="note: notes/autograd.html#whether-tensor-hooks-fire",
    readings=(
        Reading("once", "", "2 + 3 = 5 arrives, the hook adds 100, and 105 is kept.", value=([5.0], 105.0)),
        Reading("for each part", "never", "Each of the two parts gets its own 100.", value=([2.0, 3.0], 205.0)),
    ),
    covers=("tensor.sum.replace_after_sum",),
)
def test_after_the_sum(subject: Subject) -> None:
    import torch

    given_gradients = []
    x = torch.ones((), requires_grad=True)
    x.register_hook(lambda grad: given_gradients.append(grad.item()) or grad + 100)
    (2 * x + 3 * x).backward()
    assert (given_gradients, x.grad.item()) == subject.value


@clause(
    "gradient.replace.every_backward",
    says="A hook runs in every backward, with that pass's gradient alone; .grad adds up what it returns.",
    source=DOCS,
    covers=("tensor.sum.two_backwards", "tensor.leaf.replacement_added", "tensor.dbl.retain_twice"),
)
@given(plan=line("m0.weight", most=1, passes=3))
def test_every_backward(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    kept = [seen * factor(plan.steps[0]) for (seen,) in trace.seen_by("h0")]
    assert [grads["m0.weight"] for grads in trace.grads()] == [sum(kept[: end + 1]) for end in range(len(kept))]


@clause(
    "gradient.replace.before_accumulation",
    says="While the hook of a leaf runs, .grad still holds what it held before.",
    source="note: notes/autograd.html#backward-hooks-execution",
    readings=(
        Reading("before", "", "The old 5 is seen beside the new 2; 7 is there afterwards.", value=(2.0, 5.0, 7.0)),
        Reading("after", "never", "The hook sees the sum.", value=(2.0, 7.0, 7.0)),
    ),
    covers=("tensor.leaf.before_accumulate", "tensor.leaf.existing_grad"),
)
def test_before_accumulation(subject: Subject) -> None:
    import torch

    seen = []
    x = torch.ones((), requires_grad=True)
    x.grad = torch.tensor(5.0)
    x.register_hook(lambda grad: seen.extend([grad.item(), x.grad.item()]))
    (2 * x).backward()
    assert (seen[0], seen[1], x.grad.item()) == subject.value


@clause(
    "gradient.replace.grad_mode_is_off",
    says="A hook runs with grad mode off, unless the backward pass builds a graph.",
    source="docs: torch.autograd.backward",
    readings=(
        Reading(
            "off unless create_graph", "", "False in a plain pass, True in one with create_graph.", value=[False, True]
        ),
        Reading("as the caller has it", "never", "The caller's grad mode is on in both.", value=[True, True]),
    ),
    covers=("tensor.mode.default", "graph.mode.hook_grad_enabled_by_default", "tensor.mode.create_graph"),
)
def test_grad_mode_is_off(subject: Subject) -> None:
    import torch

    seen = []
    x = torch.ones((), requires_grad=True)
    x.register_hook(lambda grad: seen.append(torch.is_grad_enabled()))
    y = x * x
    torch.autograd.backward([y], retain_graph=True)
    torch.autograd.backward([y], create_graph=True)
    x.grad = None
    assert seen == subject.value
