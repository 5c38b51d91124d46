"""The gradient that a hook is given has the shape, the dtype and the layout of the tensor it is registered on."""

from typing import Any, Callable, List

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

DOCS = "docs: torch.Tensor.register_hook"
COMPLEX = "note: notes/autograd.html#autograd-for-complex-numbers"


def given_to(tensor: Any, use: Callable[[Any], Any]) -> List[Any]:
    """What a hook of `tensor` is given in the backward of `use(tensor)`."""
    seen: List[Any] = []
    tensor.register_hook(seen.append)
    use(tensor).backward()
    return seen


@clause(
    "gradient.kinds.argument",
    says="A hook is called with one positional argument, the gradient: a tensor.",
    source=DOCS,
    readings=(
        Reading("one tensor", "", "No more arguments and no keywords.", value=[(1, 0, True)]),
        Reading("tensor and gradient", "never", "The tensor comes first.", value=[(2, 0, True)]),
    ),
    covers=("tensor.reg.args",),
)
def test_argument(subject: Subject) -> None:
    import torch

    seen = []
    x = torch.ones((), requires_grad=True)
    x.register_hook(lambda *args, **kwargs: seen.append((len(args), len(kwargs), isinstance(args[-1], torch.Tensor))))
    (2 * x).backward()
    assert seen == subject.value


@clause(
    "gradient.kinds.example",
    says="The example of the documentation holds: a hook that doubles the gradient doubles .grad.",
    source=DOCS,
    readings=(
        Reading("doubled", "", "[1, 2, 3] becomes [2, 4, 6].", value=[2.0, 4.0, 6.0]),
        Reading("not doubled", "never", "What the hook returns is ignored.", value=[1.0, 2.0, 3.0]),
    ),
    covers=("tensor.reg.doc_example",),
)
def test_example(subject: Subject) -> None:
    import torch

    v = torch.tensor([0.0, 0.0, 0.0], requires_grad=True)
    handle = v.register_hook(lambda grad: grad * 2)
    v.backward(torch.tensor([1.0, 2.0, 3.0]))
    handle.remove()
    assert v.grad.tolist() == subject.value


@clause(
    "gradient.kinds.shape",
    says="The gradient has the shape of the tensor, also of one that is expanded or has no dimension.",
    source=DOCS,
    readings=(
        Reading(
            "the tensor's",
            "",
            "A pair used three times over sees the sum; a scalar sees a scalar.",
            value=[((2,), [3.0, 3.0]), ((), 2.0)],
        ),
        Reading(
            "the use's",
            "never",
            "The shape in which the tensor was used.",
            value=[((3, 2), [[1.0, 1.0]] * 3), ((1,), [2.0])],
        ),
    ),
    covers=("tensor.kind.expand_input", "tensor.kind.zero_dim"),
)
def test_shape(subject: Subject) -> None:
    import torch

    seen = given_to(torch.ones(2, requires_grad=True), lambda x: x.expand(3, 2).sum())
    seen += given_to(torch.ones((), requires_grad=True), lambda x: (2 * x).view(1))
    assert [(tuple(grad.shape), grad.tolist()) for grad in seen] == subject.value


@clause(
    "gradient.kinds.dtype",
    says="On both sides of a cast the gradient has the dtype of the tensor that is hooked.",
    source=DOCS,
    readings=(
        Reading(
            "the tensor's", "", "float64 after the cast, float32 before it.", value=["torch.float64", "torch.float32"]
        ),
        Reading("the loss's", "never", "float64 on both sides.", value=["torch.float64", "torch.float64"]),
    ),
    covers=("tensor.kind.double",),
)
def test_dtype(subject: Subject) -> None:
    import torch

    seen: List[str] = []
    x = torch.ones((), requires_grad=True)
    wide = x.double()
    for tensor in (x, wide):
        tensor.register_hook(lambda grad: seen.append(str(grad.dtype)))
    (2 * wide).backward()
    assert seen == subject.value


@clause(
    "gradient.kinds.strides",
    says="The .grad of a transposed leaf has the strides of the leaf, the gradient in its hook need not.",
    source="docs: torch.Tensor.grad",
    readings=(
        Reading("the leaf's", ">=1.6", "(1, 3) in .grad, (2, 1) in the hook.", value=[(2, 1), (1, 3)]),
        Reading("the gradient's", "<1.6", "(2, 1) in both.", value=[(2, 1), (2, 1)]),
    ),
    covers=("tensor.kind.noncontiguous_leaf",),
)
def test_strides(subject: Subject) -> None:
    import torch

    x = torch.ones(2, 3).t().requires_grad_()
    (grad,) = given_to(x, lambda x: (torch.ones(3, 2) * x * torch.ones(3, 2)).sum())
    assert [grad.stride(), x.grad.stride()] == subject.value


@clause(
    "gradient.kinds.complex",
    says="The hook of a complex tensor is given a complex gradient, conjugate as .grad has it.",
    source=COMPLEX,
    needs="torch.view_as_real",
    readings=(
        Reading(
            "conjugate",
            ">=1.7",
            "The real part of z * z at 1+2j: 2-4j, in the hook and in .grad.",
            value=[2 - 4j, 2 - 4j],
        ),
        Reading("not conjugate", "<1.7", "Complex gradients were a draft: 2+4j.", value=[2 + 4j, 2 + 4j]),
    ),
    covers=("tensor.kind.complex",),
)
def test_complex(subject: Subject) -> None:
    import torch

    z = torch.tensor([1 + 2j], requires_grad=True)
    seen: List[Any] = []
    z.register_hook(seen.append)
    (z * z).backward(torch.ones(1, dtype=z.dtype))
    assert [tensor.tolist()[0] for tensor in (*seen, z.grad)] == subject.value


@clause(
    "gradient.kinds.complex_replacement",
    says="A complex replacement is accumulated as it is; a real one raises RuntimeError.",
    source="measured",
    needs="torch.view_as_real",
    readings=(
        Reading(
            "as it is",
            ">=1.7",
            "(2-4j) * 1j = 4+2j; the real gradient of the same shape is refused.",
            value=[4 + 2j, "RuntimeError"],
        ),
        Reading("as it is, not conjugate", "<1.7", "(2+4j) * 1j = -4+2j.", value=[-4 + 2j, "RuntimeError"]),
    ),
    covers=("tensor.kind.complex_replace", "tensor.kind.complex_return_real"),
)
def test_complex_replacement(subject: Subject) -> None:
    import torch

    results: List[Any] = []
    for change in (lambda grad: grad * 1j, lambda grad: torch.ones(1)):
        z = torch.tensor([1 + 2j], requires_grad=True)
        z.register_hook(change)
        try:
            (z * z).backward(torch.ones(1, dtype=z.dtype))
            results.append(z.grad.tolist()[0])
        except RuntimeError as error:
            results.append(type(error).__name__)
    assert results == subject.value


@clause(
    "gradient.kinds.real_in_complex",
    says="A real tensor in a complex calculation has a real gradient.",
    source=COMPLEX,
    needs="torch.view_as_real",
    readings=(
        Reading("real", ">=1.7", "float32.", value="torch.float32"),
        Reading("refused", "<1.7", "Complex gradients were a draft: RuntimeError.", value="RuntimeError"),
    ),
    covers=("tensor.kind.real_leaf_complex_fn",),
)
def test_real_in_complex(subject: Subject) -> None:
    import torch

    x = torch.tensor([3.0], requires_grad=True)
    y = x * torch.tensor([1 + 2j])
    seen: List[Any] = []
    x.register_hook(seen.append)
    try:
        y.backward(torch.ones(1, dtype=y.dtype))
        result = str(seen[0].dtype)
    except RuntimeError as error:
        result = type(error).__name__
    assert result == subject.value


@clause(
    "gradient.kinds.sparse",
    says="The hook of a weight that is used sparsely is given a sparse gradient.",
    source="docs: torch.nn.Embedding",
    readings=(
        Reading("sparse", "", "Row 1 of three is used twice.", value=(True, [[0.0], [2.0], [0.0]], True)),
        Reading("dense", "never", "It is made dense for the hook.", value=(False, [[0.0], [2.0], [0.0]], True)),
    ),
    covers=("tensor.kind.sparse",),
)
def test_sparse(subject: Subject) -> None:
    import torch

    table = torch.nn.Embedding(3, 1, sparse=True)
    (grad,) = given_to(table.weight, lambda weight: table(torch.tensor([1, 1])).sum())
    assert (grad.is_sparse, grad.to_dense().tolist(), table.weight.grad.is_sparse) == subject.value


@clause(
    "gradient.kinds.sparse_and_dense",
    says="The hook of a weight that is used sparsely and densely is called once, with one dense gradient.",
    source="measured",
    readings=(
        Reading("once, dense", "", "One call, no sparse tensor.", value=[False]),
        Reading("for each use", "never", "Once with a sparse and once with a dense gradient.", value=[True, False]),
    ),
    covers=("tensor.kind.sparse_plus_dense",),
)
def test_sparse_and_dense(subject: Subject) -> None:
    import torch

    table = torch.nn.Embedding(3, 1, sparse=True)
    seen = given_to(table.weight, lambda weight: table(torch.tensor([1, 2])).sum() + (2 * weight).sum())
    assert [grad.is_sparse for grad in seen] == subject.value


@clause(
    "gradient.kinds.custom_function",
    says="A hook on the output of a custom Function runs before its backward, which is given the replacement.",
    source=("docs: torch.autograd.Function", DOCS),
    readings=(
        Reading("before", "", "backward() of the Function is given 10, x.grad is 20.", value=([10.0], 20.0)),
        Reading("after", "never", "It is given 1, and the hook's factor comes later.", value=([1.0], 20.0)),
    ),
    covers=("tensor.kind.custom_function_output",),
)
def test_custom_function(subject: Subject) -> None:
    import torch

    seen: List[float] = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            seen.append(grad.item())
            return grad * 2

    x = torch.ones((), requires_grad=True)
    y = Double.apply(x)
    y.register_hook(lambda grad: grad * 10)
    y.backward()
    assert (seen, x.grad.item()) == subject.value


@clause(
    "gradient.kinds.subclass",
    says="register_hook on a subclass that defines __torch_function__ goes through it.",
    source="docs: torch.overrides.get_overridable_functions",
    needs="torch.overrides",
    readings=(
        Reading("goes through it", ">=1.7", "register_hook is among the functions seen.", value=True),
        Reading("does not", "<1.7", "Methods were not overridable.", value=False),
    ),
    covers=("tensor.reg.torch_function",),
)
def test_subclass(subject: Subject) -> None:
    import torch

    names: List[str] = []

    class Traced(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            names.append(getattr(func, "__name__", ""))
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(()).as_subclass(Traced).requires_grad_()
    x.register_hook(lambda grad: None)
    assert ("register_hook" in names) == subject.value
