"""Copies of a hooked tensor have no hooks: by deepcopy without a word, by pickle and torch.save with a warning."""

from math import prod
from typing import Any, Callable, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS
from fixtures.judge.subject import Subject
from suites.names import DEEPCOPY, RETAIN_IN_ENGINE
from suites.tensors import leaf, multiplies, outcome

ABOUT = "register_hook"

#: What `with_warnings` gives for the warning that a hook is lost.
WARNED = ["backward hook"]


def made(kind: str) -> Any:
    """A scalar tensor with the value 1: a leaf, a non-leaf tensor or a parameter."""
    import torch

    if kind == "parameter":
        return torch.nn.Parameter(leaf(1).detach())
    return 1 * leaf(1) if kind == "inner" else leaf(1)


def hooked(kind: str, factors: List[int]) -> Any:
    """Such a tensor with a hook for each factor."""
    tensor = made(kind)
    for by in factors:
        tensor.register_hook(multiplies(by))
    return tensor


def stored(tensor: Any, way: str) -> Any:
    """The tensor after a trip through pickle or torch.save."""
    import io
    import pickle

    import torch

    if way == "pickle":
        return pickle.loads(pickle.dumps(tensor))
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    return torch.load(file)


def with_warnings(action: Callable[[], Any]) -> Tuple[Any, List[str]]:
    """What `action` returns, and the UserWarnings it gave, by their first words."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = action()
    about = [str(warning.message) for warning in caught if warning.category is UserWarning]
    return result, [text[:13] for text in about]


@clause(
    "gradient.copies.deepcopy",
    says="copy.deepcopy() of a leaf or parameter drops its tensor hooks without a warning; the original keeps them.",
    source="measured",
    asked="copy model ema clone weights hooks missing silent gradient clipping mask lost after duplication",
    value=False,
    wrong={"copied": True},
    witness={"make": "leaf", "factors": [10], "copies": 1},
)
@given(make=st.sampled_from(["leaf", "parameter"]), factors=st.lists(FACTORS, max_size=3), copies=st.integers(1, 2))
def test_deepcopy(subject: Subject, make: str, factors: List[int], copies: int) -> None:
    import copy

    original = hooked(make, factors)
    copied, warned = original, []
    for _ in range(copies):
        copied, said_now = with_warnings(lambda copied=copied: copy.deepcopy(copied))
        warned += said_now
    for tensor in (copied, original):
        tensor.backward()
    grads = (copied.grad.item(), original.grad.item())
    assert (warned, *grads) == ([], prod(factors) if subject.value else 1, prod(factors))


@clause(
    "gradient.copies.deepcopy_of_inner",
    says="copy.deepcopy() of a tensor with a grad_fn raises RuntimeError, with and without hooks.",
    source=DEEPCOPY,
    asked="only tensors created explicitly by the user support the deepcopy protocol activation copy model crash",
    value="RuntimeError",
    wrong={"copies": "accepted"},
    witness={"row": ["times"], "factors": []},
)
@given(
    row=st.lists(st.sampled_from(["times", "view", "detach"]), min_size=1, max_size=3),
    factors=st.lists(FACTORS, max_size=2),
)
def test_deepcopy_of_inner(subject: Subject, row: List[str], factors: List[int]) -> None:
    import copy

    tensor = made("leaf")
    for way in row:
        tensor = {"times": lambda t: 2 * t, "view": lambda t: t.view(()), "detach": lambda t: t.detach()}[way](tensor)
    inner = "detach" not in row
    # After a detach() nothing requires grad: no hook can be registered, and the tensor is a leaf.
    for by in factors if inner else []:
        tensor.register_hook(multiplies(by))
    assert outcome(lambda: copy.deepcopy(tensor)) == (subject.value if inner else "accepted")


@clause(
    "gradient.copies.pickle",
    says="Pickling a tensor drops its tensor hooks and warns of each of them.",
    where="it is no Parameter, no hook is unserializable",
    see=("gradient.copies.pickled_parameter", "gradient.copies.unserializable_hook"),
    source="docs: torch.utils.hooks.unserializable_hook "
    '"would otherwise arise if you attempt to serialize a tensor that has a hook"',
    asked="torch save backward hooks will not be serialized userwarning lost after load multiprocessing",
    value=True,
    wrong={"lost in silence": False},
    witness={"make": "leaf", "way": "pickle", "factors": [10]},
)
@given(
    make=st.sampled_from(["leaf", "inner"]),
    way=st.sampled_from(["pickle", "save"]),
    factors=st.lists(FACTORS, max_size=3),
)
def test_pickle(subject: Subject, make: str, way: str, factors: List[int]) -> None:
    tensor = hooked(make, factors)
    again, warned = with_warnings(lambda: stored(tensor, way))
    again.backward()
    assert (warned, again.is_leaf, again.grad.item()) == (WARNED * len(factors) if subject.value else [], True, 1)
    seen: List[float] = []
    tensor.register_hook(lambda grad: seen.append(grad.item()))
    tensor.backward()
    # The original has kept its own.
    assert seen == [prod(factors)]


@clause(
    "gradient.copies.pickled_parameter",
    says="Pickling a parameter drops its tensor hooks without a warning.",
    where="by pickle or torch.save",
    source="measured",
    asked="torch save whole model loses register_hook on weights silent after load no message",
    value=[],
    wrong={"warned": WARNED},
    witness={"way": "pickle", "factors": [10]},
)
@given(way=st.sampled_from(["pickle", "save"]), factors=st.lists(FACTORS, min_size=1, max_size=3))
def test_pickled_parameter(subject: Subject, way: str, factors: List[int]) -> None:
    tensor = hooked("parameter", factors)
    again, warned = with_warnings(lambda: stored(tensor, way))
    for one in (again, tensor):
        one.backward()
    assert (warned, again.grad.item(), tensor.grad.item()) == (subject.value, 1, prod(factors))


@clause(
    "gradient.copies.nothing_to_lose",
    says="Pickling a tensor does not warn of tensor hooks that were removed before.",
    source="measured",
    asked="save tensor after unregister handle does torch save still give userwarning quiet",
    value=[],
    wrong={"warns": WARNED},
    witness={"make": "leaf", "way": "pickle", "order": [0, 1, 2]},
)
@given(
    make=st.sampled_from(["leaf", "inner"]), way=st.sampled_from(["pickle", "save"]), order=st.permutations([0, 1, 2])
)
def test_nothing_to_lose(subject: Subject, make: str, way: str, order: List[int]) -> None:
    tensor = made(make)
    handles = [tensor.register_hook(print) for _ in order]
    for removed, place in enumerate(order):
        assert with_warnings(lambda: stored(tensor, way))[1] == WARNED * (len(order) - removed)
        handles[place].remove()
    assert with_warnings(lambda: stored(tensor, way))[1] == subject.value


@clause(
    "gradient.copies.unserializable_hook",
    says="Pickling a tensor does not warn of hooks marked by torch.utils.hooks.unserializable_hook.",
    where="each is given to x.register_hook itself",
    source='docs: torch.utils.hooks.unserializable_hook "suppresses warnings that would otherwise arise"',
    asked="silence backward hooks will not be serialized message decorator wrapper for torch save ddp",
    matters_if="tensor ?marked_unserializable ?pickled",
    readings=by_release(
        "warning",
        ("2.4", "in silence", []),
        "Pickling a tensor does not warn of its tensor hooks that are marked as unserializable.",
        ("", "warned all the same", WARNED),
        "Pickling a tensor warns of each of its tensor hooks, also of those marked as unserializable.",
    ),
    needs="torch.utils.hooks.unserializable_hook",
    witness={"marked": [True]},
)
@given(marked=st.lists(st.booleans(), min_size=1, max_size=3))
def test_unserializable_hook(subject: Subject, marked: List[bool]) -> None:
    import torch

    tensor = made("leaf")
    for mark in marked:
        hook: Any = lambda grad: grad * 10  # noqa: E731
        tensor.register_hook(torch.utils.hooks.unserializable_hook(hook) if mark else hook)
    again, warned = with_warnings(lambda: stored(tensor, "pickle"))
    again.backward()
    assert (warned, again.grad.item()) == (WARNED * marked.count(False) + subject.value * marked.count(True), 1)


@clause(
    "gradient.copies.retain_grad",
    says="Pickling a non-leaf tensor after retain_grad() does not warn, and the copy is a leaf.",
    where="no tensor hook is on it",
    see="gradient.copies.pickle",
    source=RETAIN_IN_ENGINE,
    asked="save activation to disk non leaf torch save load is_leaf grad_fn lost quiet",
    about="retain_grad",
    matters_if="retain_grad ?pickled",
    readings=by_release(
        "warning",
        ("1.10", "silent", []),
        "Pickling a non-leaf tensor after retain_grad() does not warn, and the copy is a leaf.",
        ("", "warns", WARNED),
        "Pickling a non-leaf tensor after retain_grad() warns of a lost hook, and the copy is a leaf.",
    ),
    witness={"calls": ["retain"], "way": "pickle"},
)
@given(calls=st.lists(st.sampled_from(["retain", "hook"]), max_size=3), way=st.sampled_from(["pickle", "save"]))
def test_retain_grad(subject: Subject, calls: List[str], way: str) -> None:
    tensor = made("inner")
    for what in calls:
        if what == "retain":
            tensor.retain_grad()
        else:
            tensor.register_hook(print)
    again, warned = with_warnings(lambda: stored(tensor, way))
    expected = WARNED * calls.count("hook") + (subject.value if "retain" in calls else [])
    assert (warned, again.is_leaf) == (expected, True)
