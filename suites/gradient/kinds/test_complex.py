"""Complex gradients in hooks: conjugate, replaced by complex ones only, and real for real tensors."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.tensors import item, outcome

ABOUT = "register_hook"

COMPLEXES = st.builds(complex, st.integers(-3, 3), st.integers(-3, 3))


@clause(
    "gradient.kinds.complex",
    says="For y = w * z the first tensor hook of a complex z is given the gradient of y times the conjugate of w.",
    where="z is used once and has the shape of w",
    source='note: autograd.html#autograd-for-complex-numbers "note the conjugation of z"',
    asked="fft network imaginary part conjugated gradient wirtinger convention why sign flipped",
    matters_if="tensor ?complex",
    needs="torch.view_as_real",
    readings=by_release(
        "silent",
        ("1.7", "conjugate", "conjugate"),
        "For y = w * z the first tensor hook of a complex z is given the gradient of y times the conjugate of w.",
        ("", "not conjugate", "as it is"),
        "For y = w * z the first tensor hook of a complex z is given the gradient of y times w, not its conjugate.",
    ),
    witness={"z": 1 + 2j, "w": 3 - 1j, "first": 1 + 0j, "by": 1 + 0j},
)
@given(z=COMPLEXES, w=COMPLEXES, first=COMPLEXES, by=COMPLEXES)
def test_complex(subject: Subject, z: complex, w: complex, first: complex, by: complex) -> None:

    seen: List[Any] = []
    tensor = make.tensor([z], requires_grad=True)
    product = make.tensor([w]) * tensor
    tensor.register_hook(lambda grad: seen.append(grad.tolist()[0]))
    tensor.register_hook(lambda grad: grad * by)
    tensor.register_hook(lambda grad: seen.append(grad.tolist()[0]))
    product.backward(make.tensor([first]))
    grad = first * (w.conjugate() if subject.value == "conjugate" else w)
    assert [*seen, tensor.grad.tolist()[0]] == [grad, grad * by, grad * by]


@clause(
    "gradient.kinds.complex_replacement",
    says="A tensor hook may replace a complex gradient by one of its dtype; a real one raises RuntimeError.",
    source="measured",
    asked="return real part from hook of complex64 parameter crash modify fft weight grad",
    needs="torch.view_as_real",
    value="RuntimeError",
    wrong={"real is taken": "accepted"},
    witness={"returned": [1], "inner": False},
)
@given(returned=st.lists(COMPLEXES | st.integers(-3, 3), min_size=1, max_size=3), inner=st.booleans())
def test_complex_replacement(subject: Subject, returned: List[Any], inner: bool) -> None:
    import torch

    z = make.tensor([1 + 2j], requires_grad=True)
    y = make.ones(1, dtype=z.dtype) * z
    for value in returned:
        dtype = torch.float32 if isinstance(value, int) else z.dtype
        (y if inner else z).register_hook(lambda grad, value=value, dtype=dtype: make.tensor([value], dtype=dtype))
    result = outcome(lambda: y.backward(make.ones(1, dtype=z.dtype)))
    expected = subject.value if any(isinstance(value, int) for value in returned) else "accepted"
    assert (result, item(z.grad)) == (expected, [returned[-1]] if expected == "accepted" else None)


@clause(
    "gradient.kinds.real_in_complex",
    says="A tensor hook of a real tensor in a complex calculation is never given a complex gradient.",
    source="note: autograd.html#autograd-for-complex-numbers",
    asked="fft of real input does gradient have imaginary part real weight times complex64",
    matters_if="tensor ?complex",
    needs="torch.view_as_real",
    readings=by_release(
        "error",
        ("1.7", "real", "real"),
        "For y = x * w, x real and w complex, a hook of x is given the real part of the complex gradient.",
        ("", "refused", "RuntimeError"),
        "For y = x * w, x real and w complex, backward() raises RuntimeError.",
    ),
    witness={"w": 1 + 2j, "first": 1 + 1j},
)
@given(w=COMPLEXES, first=COMPLEXES)
def test_real_in_complex(subject: Subject, w: complex, first: complex) -> None:

    seen: List[Any] = []
    x = make.tensor([3.0], requires_grad=True)
    y = x * make.tensor([w])
    x.register_hook(lambda grad: seen.append((str(grad.dtype), grad.tolist())))
    result = outcome(lambda: y.backward(make.tensor([first], dtype=y.dtype)))
    grad = [(first * w.conjugate()).real]
    expected = ("accepted", [("torch.float32", grad)], grad) if subject.value == "real" else (subject.value, [], None)
    assert (result, seen, item(x.grad)) == expected
