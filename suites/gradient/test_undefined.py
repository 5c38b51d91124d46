"""An undefined gradient is None: no path leads from the loss to the tensor, though a node above it runs.

What the hooks of such a tensor see changed more often than anything else about tensor hooks.
"""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS
from fixtures.plan import Backward, Forward, Hook, Input, Leaf, Plan, Scale
from fixtures.subject import Subject

UNDEFINED = "https://github.com/pytorch/pytorch/issues/60796"
SINCE_2_0 = "https://github.com/pytorch/pytorch/pull/85849"


def through_silent_function(x: Any) -> Any:
    """x * 1, by a custom Function whose backward returns None."""
    import torch

    class Silent(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> None:
            return None

    return Silent.apply(x)


def shown(grad: Any) -> Any:
    return None if grad is None else grad.tolist()


@clause(
    "gradient.undefined.unreached",
    says="The hook of a tensor that the backward pass does not reach is not called.",
    source="docs: torch.Tensor.register_hook",
    covers=("tensor.sum.unreached", "graph.api.backward_with_unused_registered_hooks"),
)
@given(
    plan=st.builds(
        lambda grads, by: Plan(
            Leaf("m0", "split", (2, 3)),
            (Input(1),),
            (
                Hook("tensor", "m0.weight", "first", (Scale(by),)),
                Hook("tensor", "m0.other", "second", (Scale(by),)),
                Forward(),
                Backward(grads),
            ),
        ),
        st.sampled_from([(1, None), (None, 1), (2, 3)]),
        FACTORS,
    )
)
def test_unreached(subject: Subject, plan: Plan) -> None:
    calls = subject.holds(plan).calls()
    first, second = plan.steps[-1].grads
    assert ("first" in calls) == (first is not None)
    assert ("second" in calls) == (second is not None)


@clause(
    "gradient.undefined.unused_output",
    says="The hook of an unused output of a node that runs is called with None.",
    source="measured",
    readings=(
        Reading(
            "called with None",
            "",
            "unbind gives two tensors, one is used: the other's hook gets None.",
            value=([None], [2.0, 0.0]),
        ),
        Reading("called with zero", "never", "The gradient is made zeros before the hook.", value=([0.0], [2.0, 0.0])),
        Reading("not called", "never", "Only tensors with a gradient have their hooks called.", value=([], [2.0, 0.0])),
    ),
    covers=("tensor.kind.unused_output",),
)
def test_unused_output(subject: Subject) -> None:
    import torch

    seen = []
    x = torch.ones(2, requires_grad=True)
    used, unused = x.unbind(0)
    unused.register_hook(lambda grad: seen.append(shown(grad)))
    (2 * used).backward()
    assert (seen, x.grad.tolist()) == subject.value


@clause(
    "gradient.undefined.inner_tensor",
    says="The hook of an inner tensor whose gradient is undefined is called with None.",
    source=("release 1.7: a custom Function may return None and it stays None", UNDEFINED),
    readings=(
        Reading("called with None", ">=1.7", "What the Function left undefined stays so.", value=([None], None)),
        Reading("made zero", "<1.7", "A None from a custom Function becomes zero.", value=([0.0], 0.0)),
    ),
    covers=("tensor.kind.undefined_nonleaf", "graph.fn.return_none_propagation"),
)
def test_inner_tensor(subject: Subject) -> None:
    import torch

    seen = []
    x = torch.ones((), requires_grad=True)
    y = 2 * x
    y.register_hook(lambda grad: seen.append(shown(grad)))
    through_silent_function(y).backward()
    assert (seen, shown(x.grad)) == subject.value


@clause(
    "gradient.undefined.leaf",
    says="The hook of a leaf whose gradient is undefined is called with None.",
    source=(SINCE_2_0, UNDEFINED),
    readings=(
        Reading("called with None", ">=2.0", "The hook runs although nothing is accumulated.", value=([None], None)),
        Reading("not called", ">=1.7,<2.0", "The accumulation is skipped, its hooks too.", value=([], None)),
        Reading("made zero", "<1.7", "A None from a custom Function becomes zero.", value=([0.0], 0.0)),
    ),
    covers=("tensor.kind.undefined_leaf", "graph.accgrad.hook_when_grad_undefined"),
)
def test_leaf(subject: Subject) -> None:
    import torch

    seen = []
    x = torch.ones((), requires_grad=True)
    x.register_hook(lambda grad: seen.append(shown(grad)))
    through_silent_function(x).backward()
    assert (seen, shown(x.grad)) == subject.value


@clause(
    "gradient.undefined.no_replacement",
    says="A tensor that a hook returns for an undefined gradient ends backward() with RuntimeError.",
    source="measured",
    readings=(
        Reading("refused", "", "None is not to be replaced by something.", value=("RuntimeError", None)),
        Reading("taken", "never", "The tensor becomes the gradient.", value=("accepted", [2.0, 7.0])),
    ),
    covers=("tensor.kind.unused_output_return",),
)
def test_no_replacement(subject: Subject) -> None:
    import torch

    x = torch.ones(2, requires_grad=True)
    used, unused = x.unbind(0)
    unused.register_hook(lambda grad: torch.tensor(7.0))
    try:
        (2 * used).backward()
        result = "accepted"
    except RuntimeError as error:
        result = type(error).__name__
    assert (result, shown(x.grad)) == subject.value


@clause(
    "gradient.undefined.dropped_output",
    says="A leaf reached only by an undefined gradient has its hooks called with None and keeps its .grad.",
    source=SINCE_2_0,
    readings=(
        Reading("called", ">=2.0", "The hook of the leaf sees None.", {"leaf_hook_sees_none": True}),
        Reading("skipped", "never", "The hook is left out, as it was before 2.0.", {"leaf_hook_sees_none": False}),
    ),
    needs=("torch.nn.Module.register_full_backward_pre_hook",),
    witness=Plan(
        Leaf("m0", "split", (2, 3)),
        (Input(1),),
        (
            Hook("full_backward_pre", "m0", "pre"),
            Hook("tensor", "m0.other", "leaf"),
            Forward(),
            Backward((1, None)),
        ),
    ),
    covers=("tensor.kind.undefined_leaf",),
)
@given(
    plan=st.builds(
        lambda grads, value: Plan(
            Leaf("m0", "split", (2, value)),
            (Input(1),),
            (
                Hook("full_backward_pre", "m0", "pre"),
                Hook("tensor", "m0.weight", "first"),
                Hook("tensor", "m0.other", "second"),
                Forward(),
                Backward((1, 1)),
                Backward(grads),
            ),
        ),
        st.sampled_from([(1, None), (None, 2), (2, 3)]),
        NUMBERS,
    )
)
def test_dropped_output(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.undefined.example_fails",
    says="The documentation's own hook, grad * 2, ends backward() with TypeError on an unused output.",
    source=("docs: torch.Tensor.register_hook", UNDEFINED),
    readings=(
        Reading("fails", "", "The hook is given None.", value=(False, None)),
        Reading("works", "never", "Hooks are given gradients only.", value=(True, [2.0, 0.0])),
    ),
    covers=("tensor.kind.unused_output_math",),
    docs="contradicts",
    note="The documentation says that the hook is called with the gradient, a tensor; None is not mentioned.",
)
def test_example_fails(subject: Subject) -> None:
    import torch

    x = torch.ones(2, requires_grad=True)
    used, unused = x.unbind(0)
    unused.register_hook(lambda grad: grad * 2)
    try:
        (2 * used).backward()
        done = True
    except (TypeError, RuntimeError):
        done = False
    assert (done, shown(x.grad)) == subject.value


@clause(
    "gradient.undefined.example_fails_after_a_function",
    says="So does it on a tensor before a custom Function whose backward returns None.",
    source=("docs: torch.Tensor.register_hook", UNDEFINED),
    readings=(
        Reading("fails", ">=1.7", "The hook is given None.", value=(False, None)),
        Reading("works", "<1.7", "A None from a custom Function becomes zero.", value=(True, 0.0)),
    ),
    covers=("graph.fn.return_none_hook_maths_raises",),
    docs="contradicts",
    note="The documentation says that the hook is called with the gradient, a tensor; None is not mentioned.",
)
def test_example_fails_after_a_function(subject: Subject) -> None:
    import torch

    x = torch.ones((), requires_grad=True)
    y = 2 * x
    y.register_hook(lambda grad: grad * 2)
    try:
        through_silent_function(y).backward()
        done = True
    except (TypeError, RuntimeError):
        done = False
    assert (done, shown(x.grad)) == subject.value


@clause(
    "gradient.undefined.replaced",
    says="What a hook returns for an undefined gradient of a leaf or an inner tensor is refused.",
    source=(SINCE_2_0, UNDEFINED),
    readings=(
        Reading("refused", ">=2.0", "RuntimeError for both.", value=[("RuntimeError", None), ("RuntimeError", None)]),
        Reading(
            "leaf not asked",
            ">=1.7,<2.0",
            "The hook of the leaf is not called.",
            value=[("accepted", None), ("RuntimeError", None)],
        ),
        Reading(
            "taken",
            "<1.7",
            "None is zero by then: 7 at the leaf, 2 * 7 from the inner tensor.",
            value=[("accepted", 7.0), ("accepted", 14.0)],
        ),
    ),
    covers=(
        "tensor.kind.undefined_leaf_return",
        "tensor.kind.undefined_nonleaf_return",
        "graph.fn.return_none_tensor_hook_replaces",
    ),
)
def test_replaced(subject: Subject) -> None:
    import torch

    results = []
    for leaf in (True, False):
        x = torch.ones((), requires_grad=True)
        y = x if leaf else 2 * x
        y.register_hook(lambda grad: torch.tensor(7.0))
        try:
            through_silent_function(y).backward()
            result = "accepted"
        except RuntimeError as error:
            result = type(error).__name__
        results.append((result, shown(x.grad)))
    assert results == subject.value


@clause(
    "gradient.undefined.asked",
    says="autograd.grad calls the hook of an input whose gradient is undefined with None, and returns None.",
    source=(SINCE_2_0, UNDEFINED),
    readings=(
        Reading("called", ">=2.0", "One call, None.", value=([None], None)),
        Reading("not called", ">=1.7,<2.0", "None is returned.", value=([], None)),
        Reading("zero", "<1.7", "A None from a custom Function becomes zero.", value=([], 0.0)),
    ),
    covers=("tensor.kind.undefined_grad_api",),
)
def test_asked(subject: Subject) -> None:
    import torch

    seen = []
    x = torch.ones((), requires_grad=True)
    x.register_hook(lambda grad: seen.append(shown(grad)))
    (grad,) = torch.autograd.grad(through_silent_function(x), [x], allow_unused=True)
    assert (seen, shown(grad)) == subject.value
