"""Copies of a hooked tensor have no hooks: by deepcopy without a word, by pickle and torch.save with a warning."""

from typing import Any, Callable, List, Tuple

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

PICKLE = "docs: torch.save"


def hooked(make: Callable[[], Any]) -> Any:
    """A tensor with one hook."""
    tensor = make()
    tensor.register_hook(lambda grad: grad * 10)
    return tensor


def told(action: Callable[[], Any]) -> Tuple[Any, List[str]]:
    """What `action` returns, and the UserWarnings it gave, by their first words."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = action()
    about = [str(warning.message) for warning in caught if warning.category is UserWarning]
    return result, [text[:13] for text in about]


def leaf() -> Any:
    import torch

    return torch.ones((), requires_grad=True)


def inner() -> Any:
    return 1 * leaf()


def parameter() -> Any:
    import torch

    return torch.nn.Parameter(torch.ones(()))


@clause(
    "gradient.copies.deepcopy",
    says="deepcopy of a hooked leaf or parameter drops the hooks without a warning; the original keeps them.",
    source="measured",
    readings=(
        Reading("dropped", "", "The copy has gradient 1, the original 10.", value=[([], 1.0, 10.0)] * 2),
        Reading("copied", "never", "The hook is part of the copy.", value=[([], 10.0, 10.0)] * 2),
    ),
    covers=("tensor.ser.deepcopy_leaf", "tensor.ser.deepcopy_param", "tensor.ser.original_intact"),
)
def test_deepcopy(subject: Subject) -> None:
    import copy

    results = []
    for make in (leaf, parameter):
        original = hooked(make)
        copied, warned = told(lambda original=original: copy.deepcopy(original))
        copied.backward()
        original.backward()
        results.append((warned, copied.grad.item(), original.grad.item()))
    assert results == subject.value


@clause(
    "gradient.copies.deepcopy_of_inner",
    says="deepcopy of an inner tensor raises RuntimeError, hooked or not.",
    source="measured",
    readings=(
        Reading("raises", "", "Only leaves can be copied.", value=["RuntimeError"] * 2),
        Reading("copies", "never", "A copy of the graph is made.", value=["copied"] * 2),
    ),
    covers=("tensor.ser.deepcopy_nonleaf",),
)
def test_deepcopy_of_inner(subject: Subject) -> None:
    import copy

    results = []
    for tensor in (inner(), hooked(inner)):
        try:
            copy.deepcopy(tensor)
            results.append("copied")
        except RuntimeError as error:
            results.append(type(error).__name__)
    assert results == subject.value


@clause(
    "gradient.copies.pickle",
    says="A pickled tensor has lost its hooks, with a warning; a hook that cannot be pickled does not matter.",
    source=PICKLE,
    readings=(
        Reading(
            "lost, warned",
            "",
            "pickle and torch.save, leaf and inner tensor: the copy is a leaf without hooks.",
            value=[(["backward hook"], True, 1.0)] * 3,
        ),
        Reading("lost in silence", "never", "Without a warning.", value=[([], True, 1.0)] * 3),
    ),
    covers=("tensor.ser.pickle_leaf", "tensor.ser.pickle_lambda", "tensor.ser.pickle_nonleaf", "tensor.ser.torch_save"),
)
def test_pickle(subject: Subject) -> None:
    import io

    import torch

    def saved(tensor: Any) -> Any:
        file = io.BytesIO()
        torch.save(tensor, file)
        file.seek(0)
        return torch.load(file)

    results = []
    ways = ((leaf, pickled), (inner, pickled), (leaf, saved))
    for make, way in ways:
        tensor = hooked(make)
        again, warned = told(lambda tensor=tensor, way=way: way(tensor))
        again.backward()
        results.append((warned, again.is_leaf, again.grad.item()))
    assert results == subject.value


def pickled(tensor: Any) -> Any:
    """The tensor after a trip through pickle."""
    import pickle

    return pickle.loads(pickle.dumps(tensor))


@clause(
    "gradient.copies.pickled_parameter",
    says="A pickled parameter loses its hooks without the warning that other tensors get.",
    source="measured",
    readings=(
        Reading("in silence", "", "No warning; the copy has gradient 1.", value=([], 1.0)),
        Reading("warned", "never", "Like any tensor.", value=(["backward hook"], 1.0)),
    ),
    covers=("tensor.ser.pickle_param",),
)
def test_pickled_parameter(subject: Subject) -> None:
    tensor = hooked(parameter)
    again, warned = told(lambda: pickled(tensor))
    again.backward()
    assert (warned, again.grad.item()) == subject.value


@clause(
    "gradient.copies.nothing_to_lose",
    says="Pickling does not warn about a removed hook.",
    source=PICKLE,
    readings=(
        Reading("silent", "", "An empty dict of hooks is nothing to lose.", value=[]),
        Reading("warns", "never", "Once hooked is enough for the warning.", value=["backward hook"]),
    ),
    covers=("tensor.ser.removed_no_warn",),
)
def test_nothing_to_lose(subject: Subject) -> None:
    tensor = leaf()
    tensor.register_hook(print).remove()
    assert told(lambda: pickled(tensor))[1] == subject.value


@clause(
    "gradient.copies.unserializable_hook",
    says="A hook marked by torch.utils.hooks.unserializable_hook is dropped without the warning.",
    source="docs: torch.utils.hooks.unserializable_hook",
    readings=(
        Reading("in silence", ">=2.4", "The mark says that the loss is known.", value=([], 1.0)),
        Reading(
            "warned all the same",
            "<2.4",
            "The mark is for modules; a tensor's hook is warned about.",
            value=(["backward hook"], 1.0),
        ),
    ),
    needs="torch.utils.hooks.unserializable_hook",
    covers=("tensor.ser.unserializable",),
)
def test_unserializable_hook(subject: Subject) -> None:
    import torch

    def ten_times(grad: Any) -> Any:
        return grad * 10

    tensor = leaf()
    tensor.register_hook(torch.utils.hooks.unserializable_hook(ten_times))
    again, warned = told(lambda: pickled(tensor))
    again.backward()
    assert (warned, again.grad.item()) == subject.value


@clause(
    "gradient.copies.retain_grad",
    says="Pickling a tensor that keeps its gradient does not warn; the copy is a leaf.",
    source="https://github.com/pytorch/pytorch/pull/59362",
    readings=(
        Reading("silent", ">=1.10", "retain_grad() is no hook that could be lost.", value=([], True)),
        Reading("warns", "<1.10", "The hook of retain_grad() is warned about.", value=(["backward hook"], True)),
    ),
    covers=("tensor.ser.retain_grad_pickle",),
)
def test_retain_grad(subject: Subject) -> None:
    tensor = inner()
    tensor.retain_grad()
    again, warned = told(lambda: pickled(tensor))
    assert (warned, again.is_leaf) == subject.value
