"""Which tensor a pack hook is given by which operation, and in which grad mode it runs."""

from typing import Any, Callable, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.hooking import FEW, UP_TO_THREE
from suites.saved.plans import BOOLEANS
from suites.saved.sources import CONTEXT_NOTE, HAS, HOOKS, PACKS
from suites.tensors import leaf

ABOUT = "saved_tensors_hooks"


@clause(
    "saved.pack.same_object",
    says="The pack hook for x * y is given x and y themselves, leaves or not.",
    where="both require grad",
    source=f'{CONTEXT_NOTE} "the input to ``pack_hook`` is a live tensor that still carries its ``grad_fn``"',
    asked="identify parameter in pack hook is tensor same object skip weights when offloading activations data_ptr id",
    needs=HAS,
    value=True,
    wrong={"others": False},
    witness={"inner": [True, False]},
)
@given(inner=st.lists(BOOLEANS, min_size=2, max_size=2))
def test_same_object(subject: Subject, inner: List[bool]) -> None:
    import torch

    seen: List[Any] = []
    x, y = (leaf(2) * 1 if one else leaf(3) for one in inner)
    with torch.autograd.graph.saved_tensors_hooks(seen.append, lambda packed: packed):
        assert (x * y).requires_grad
    assert (sorted(map(id, seen)) == sorted([id(x), id(y)])) is subject.value


def packed_by(act: Callable[[], Any]) -> List[Any]:
    """What is packed while something is done, as plain data."""
    import torch

    seen: List[Any] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: seen.append(tensor.tolist()), lambda packed: packed):
        act()
    return seen


@clause(
    "saved.pack.result",
    says="exp, sqrt, tanh and sigmoid pack their result; sin, log and cos pack their argument.",
    source="measured",
    asked="sigmoid tanh exp save their output not input for backward which activation is stored",
    needs=HAS,
    value=("exp", "sqrt", "tanh", "sigmoid"),
    wrong={"all pack the argument": (), "sin packs its result": ("exp", "sqrt", "tanh", "sigmoid", "sin")},
    witness={"names": ["exp", "sin"], "x": 2},
)
@given(
    names=st.lists(st.sampled_from(["exp", "sqrt", "tanh", "sigmoid", "sin", "log", "cos"]), min_size=1, max_size=4),
    x=st.integers(2, 5),
)
def test_result(subject: Subject, names: List[str], x: int) -> None:
    import torch

    packed = [packed_by(lambda name=name: getattr(torch, name)(leaf(x))) for name in names]
    results = [getattr(torch, name)(leaf(x)).tolist() if name in subject.value else float(x) for name in names]
    assert packed == [[one] for one in results]


@clause(
    "saved.pack.integers",
    says="A pack hook is given integer tensors, too: x[i] packs the index tensor i.",
    where="i has one dimension or more",
    source=PACKS,
    asked="pack hook gets int64 index tensor quantizing activations breaks on integer dtype embedding indices",
    needs=HAS,
    value="i",
    wrong={"nothing": "nothing", "x": "x"},
    witness={"indices": [0, 1, 1]},
)
@given(indices=st.lists(st.integers(0, 2), min_size=1, max_size=4))
def test_integers(subject: Subject, indices: List[int]) -> None:

    x = make.ones(3, requires_grad=True)
    expected = {"i": [indices], "nothing": [], "x": [[1.0] * 3]}
    assert packed_by(lambda: x[make.tensor(indices)]) == expected[subject.value]


@clause(
    "saved.pack.function",
    says="What a Function gives to save_for_backward is packed; a tensor that it keeps as ctx.name is not.",
    where="an input of the Function requires grad",
    source=f'{HOOKS} "intermediary results saved using :func:`~torch.autograd.function._ContextMethodMixin.save_for"',
    asked="custom autograd Function ctx.save_for_backward pack hook ctx attribute not offloaded",
    needs=HAS,
    value="given",
    wrong={"both": "both"},
    witness={"given": 1, "kept": 2},
)
@given(given=UP_TO_THREE, kept=UP_TO_THREE)
def test_function(subject: Subject, given: int, kept: int) -> None:
    import torch

    class Saving(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(*(x.new_full((), number) for number in range(given)))
            ctx.kept = [x.new_full((), -1 - number) for number in range(kept)]
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    expected = [*range(given), *(-1 - number for number in range(kept if subject.value == "both" else 0))]
    assert packed_by(lambda: Saving.apply(leaf(1))) == expected


@clause(
    "saved.pack.recording",
    says="A pack hook runs with gradients switched off: a new tensor that it computes has no grad_fn.",
    source=f'{CONTEXT_NOTE} "pack hooks run with gradient tracking disabled"',
    asked="is grad enabled inside pack hook does computing in pack build graph",
    needs=HAS,
    value=False,
    wrong={"on": True},
    witness={"calls": 1},
)
@given(calls=FEW)
def test_recording(subject: Subject, calls: int) -> None:
    import torch

    seen: List[Any] = []

    def pack(tensor: Any) -> Any:
        seen.append((torch.is_grad_enabled(), (tensor * 2).requires_grad))
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        for _ in range(calls):
            leaf(2).sin()
        assert torch.is_grad_enabled()
    assert seen == [(subject.value, subject.value)] * calls


@clause(
    "saved.pack.enabled",
    says="If a pack hook calls sin() on its argument with gradients on, the pack hook is called for that sin(), too.",
    where="its argument requires grad",
    source="measured",
    asked="RecursionError maximum recursion depth exceeded in pack hook enable_grad inside",
    needs=HAS,
    value=True,
    wrong={"only for the operation": False},
    witness={"depth": 1},
    note="Without an end of its own such a hook recurses without one; torch 1.10 crashes then.",
)
@given(depth=UP_TO_THREE)
def test_enabled(subject: Subject, depth: int) -> None:
    import torch

    seen: List[Any] = []

    def pack(tensor: Any) -> Any:
        seen.append(tensor.item())
        if len(seen) <= depth:
            with torch.enable_grad():
                tensor.sin()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        leaf(2).sin()
    assert seen == [2.0] * (depth + 1 if subject.value else 1)
