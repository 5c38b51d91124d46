"""What is unpacked where saved tensors are read: by grad_fn, or by the backward of a Function."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from suites.hooking import UP_TO_THREE, raised
from suites.names import ISSUE, PULL
from suites.saved.plans import BOOLEANS
from suites.saved.sources import HAS, NOTE, ONE_NOTE
from suites.tensors import leaf


@clause(
    "saved.unpack.function",
    says="Each time the backward of a Function reads ctx.saved_tensors, all that it saved is unpacked.",
    source=f'{NOTE} "can be called as many times as the backward pass requires it"',
    asked="ctx.saved_tensors accessed twice unpack called twice slow loads file again",
    level="observed",
    needs=HAS,
    value="each",
    wrong={"the first": "first"},
    witness={"saves": 2, "looks": 2},
)
@given(saves=UP_TO_THREE, looks=UP_TO_THREE)
def test_function(subject: Subject, saves: int, looks: int) -> None:
    import torch

    class Saving(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(*(x.new_full((), number) for number in range(saves)))
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            for _ in range(looks):
                assert len(ctx.saved_tensors) == saves
            return grad

    seen: List[Any] = []

    def unpack(packed: Any) -> Any:
        seen.append(packed.item())
        return packed

    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach(), unpack):
        y = Saving.apply(leaf(1))
    y.backward()
    assert seen == list(range(saves)) * (looks if subject.value == "each" else min(looks, 1))


@clause(
    "saved.unpack.attribute",
    says="Reading grad_fn._saved_self calls the unpack hook, each time anew.",
    source=f'{ONE_NOTE} "either by means of ``y.grad_fn._saved_self`` or during the backward pass"',
    asked="accessing grad_fn._saved_self triggers unpack hook debugging visualize graph torchviz",
    needs=HAS,
    value="each",
    wrong={"the first": "first", "never": "never"},
    witness={"looks": 2, "passes": 1},
)
@given(looks=UP_TO_THREE, passes=UP_TO_THREE)
def test_attribute(subject: Subject, looks: int, passes: int) -> None:
    import torch

    seen: List[Any] = []

    def unpack(packed: Any) -> Any:
        seen.append(packed.item())
        return packed

    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach(), unpack):
        y = leaf(3).sin()
    for _ in range(looks):
        assert y.grad_fn._saved_self.item() == 3
    for _ in range(passes):
        y.backward(retain_graph=True)
    counted = {"each": looks, "first": min(looks, 1), "never": 0}[subject.value]
    assert seen == [3.0] * (counted + passes)


@clause(
    "saved.unpack.grad_fn",
    says="What is unpacked has the grad_fn of what was packed, whatever the hooks return, and is another object.",
    where="what was packed requires grad",
    source=f'{NOTE} "any autograd-related metadata can be ignored as they will be overwritten during"',
    asked="unpacked tensor requires_grad and grad_fn restored after detach numpy double backward works",
    needs=HAS,
    value=(True, True, False),
    wrong={"what the hooks return": (False, False, False), "the same object": (True, True, True)},
    witness={"inner": True, "detaches": True},
)
@given(inner=BOOLEANS, detaches=BOOLEANS)
def test_grad_fn(subject: Subject, inner: bool, detaches: bool) -> None:
    import torch

    x = leaf(3)
    x = x * 1 if inner else x
    hooks = (lambda tensor: tensor.detach() if detaches else tensor, lambda packed: packed)
    with torch.autograd.graph.saved_tensors_hooks(*hooks):
        y = x.sin()
    found = y.grad_fn._saved_self
    assert (found.requires_grad, found.grad_fn is x.grad_fn, found is x) == subject.value


@clause(
    "saved.unpack.grad_mode",
    says="An unpack hook runs with gradients on in a pass with create_graph=True, and off in others.",
    where="nothing in the pass sets grad mode",
    source="measured",
    asked="grad mode inside unpack hook create_graph recompute activation in unpack",
    needs=HAS,
    value="of the pass",
    wrong={"off": "off"},
    witness={"creates": [True, False]},
)
@given(creates=st.lists(BOOLEANS, min_size=1, max_size=4))
def test_grad_mode(subject: Subject, creates: List[bool]) -> None:
    import torch

    seen: List[bool] = []

    def unpack(packed: Any) -> Any:
        seen.append(torch.is_grad_enabled())
        return packed

    x = leaf(2)
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach(), unpack):
        y = x.sin()
    for create in creates:
        torch.autograd.grad(y, x, retain_graph=True, create_graph=create)
    assert seen == [create and subject.value == "of the pass" for create in creates]


@clause(
    "saved.unpack.version",
    says="In-place changes of what an unpack hook returned do not count as changes of the tensor that was packed.",
    where="the hook returns a copy",
    source=(PULL + "128545", ISSUE + "128611"),
    asked="one of the variables needed modified by an inplace operation "
    "after editing unpacked tensor version counter shared",
    needs=HAS,
    matters_if="saved ?unpacked_edited",
    readings=by_release(
        "error",
        ("2.5", "does not count", "none"),
        "In-place changes of what an unpack hook returned do not count as changes of the tensor that was packed.",
        ("", "counts", "RuntimeError"),
        "An in-place change of what an unpack hook made counts as one of what was saved: other uses of it raise.",
    ),
    witness={"x": 3, "by": 2},
)
@given(x=NUMBERS, by=NUMBERS)
def test_version(subject: Subject, x: int, by: int) -> None:
    import torch

    inner = leaf(x) * 1
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.clone(), lambda packed: packed.clone()):
        y = inner.sin()
    other = inner.cos()
    with torch.no_grad():
        y.grad_fn._saved_self.mul_(by)
    assert raised(other.backward, RuntimeError) == subject.value


@clause(
    "saved.unpack.leaf",
    says="A leaf keeps its tensor hooks when Python lets go of what an unpack hook gave back for it.",
    where="it was read by ctx.saved_tensors or grad_fn._saved_self",
    source=f'{NOTE} "any autograd-related metadata can be ignored as they will be overwritten during"',
    asked="register_hook on parameter or input stops firing never called silently lost hooks custom "
    "autograd Function save_for_backward with saved_tensors_hooks or save_on_cpu offload",
    needs=HAS,
    about=("saved_tensors_hooks", "register_hook"),
    matters_if="tensor ?unpacked_leaf",
    value="all are called",
    wrong={"none is called": "none is called"},
    witness={"hooks": 1, "passes": 1, "function": True, "detaches": False},
)
@given(hooks=UP_TO_THREE, passes=UP_TO_THREE, function=BOOLEANS, detaches=BOOLEANS)
def test_leaf(subject: Subject, hooks: int, passes: int, function: bool, detaches: bool) -> None:
    import torch

    class Sin(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return ctx.saved_tensors[0].cos() * grad

    x, seen = leaf(3), []
    for number in range(hooks):
        x.register_hook(lambda grad, number=number: seen.append(number))
    pair = (lambda tensor: tensor.detach() if detaches else tensor, lambda packed: packed)
    with torch.autograd.graph.saved_tensors_hooks(*pair):
        y = Sin.apply(x) if function else x.sin()
    if not function:
        assert y.grad_fn._saved_self is not x  # and it is let go of at once
    for _ in range(passes):
        y.backward(retain_graph=True)
    assert seen == (list(range(hooks)) * passes if subject.value == "all are called" else [])
