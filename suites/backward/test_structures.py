"""What a full backward hook sees of inputs and outputs that are no plain tensors: containers, None, sparse ones."""

import collections
import warnings
from typing import Any, Callable, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import NUMBERS
from fixtures.subject import Subject

DOCS = "docs: torch.nn.Module.register_full_backward_hook"
FULL = "torch.nn.Module.register_full_backward_hook"
PRE = "torch.nn.Module.register_full_backward_pre_hook"
FROM_OUTPUT = "https://github.com/pytorch/pytorch/pull/56693"
KEPT = "https://github.com/pytorch/pytorch/pull/112433"
RULE = "The docs promise a call whenever gradients for the module's inputs are computed; here they are."

FEW = st.integers(1, 3)
#: Some arguments or outputs: "x" stands for a tensor, and there is at least one.
PLACES = (
    st.lists(st.sampled_from(["x", "x", 7, "text", None, (1,), [2]]), max_size=3)
    .map(lambda others: ["x", *others])
    .flatmap(st.permutations)
)

Fields = collections.namedtuple("Fields", "first second")


class Pair(tuple):
    """A tuple made from one iterable, as tuples are."""


def show(grads: Any) -> List[Any]:
    return [None if grad is None else grad.tolist() for grad in grads]


def module_of(function: Callable[..., Any], kind: str = "full_backward", hooks: int = 1) -> Tuple[Any, List[Any]]:
    """A hooked module that computes `function`, and what its hook was given: grad_input (if any) and grad_output."""
    import torch

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(2.0))
            self.child = torch.nn.Identity()

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

    module: Any = Module()
    calls: List[Any] = []

    def hook(owner: Any, *grads: Any) -> None:
        assert owner is module
        calls.append([show(one) for one in grads])

    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(hook)
    return module, calls


def run(function: Callable[..., Any], take: Callable[[Any], Any], kind: str = "full_backward", hooks: int = 1) -> Any:
    """Type of the output, calls, x.grad and warnings when the loss is what `take` takes; or what raised."""
    import torch

    module, calls = module_of(function, kind, hooks)
    x = torch.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            out = module(x)
            take(out).sum().backward()
        except (RuntimeError, TypeError) as error:
            return type(error).__name__
    assert x.grad is not None
    return type(out).__name__, calls, x.grad.tolist(), [one.category.__name__ for one in caught]


class Holder:
    """An object of no kind that torch knows."""

    def __init__(self, values: Any) -> None:
        self.values = values


#: name -> how to put tensors into it, and how to get them out again.
CONTAINERS = {
    "list": (list, list),
    "list_iterator": (iter, list),
    "dict": (lambda values: dict(enumerate(values)), lambda out: list(out.values())),
    "Holder": (Holder, lambda out: out.values),
}


@clause(
    "backward.structures.places",
    says="Inputs and outputs that are no tensors keep their place in grad_input and grad_output, with None.",
    source=DOCS,
    needs=FULL,
    readings=(
        Reading("None", "", "Before, between and behind the tensors.", value=True),
        Reading("left out", "never", "Tensors only.", value=False),
    ),
    witness={"ins": [7, "x", "text"], "outs": [None, "x", 7], "by": 2, "hooks": 1},
    covers=(
        "module_backward.arg.full.nontensor_args",
        "module_backward.arg.full.output_none_entries",
        "graph.full.doc_none_for_non_tensor",
        "graph.full.non_tensor_args",
        "graph.full.output_tuple_with_non_tensor",
    ),
)
@given(ins=PLACES, outs=PLACES, by=NUMBERS, hooks=FEW)
def test_places(subject: Subject, ins: List[Any], outs: List[Any], by: int, hooks: int) -> None:
    import torch

    def forward(*args: Any) -> Any:
        taken.extend(arg for arg, one in zip(args, ins) if one != "x")
        total = by * sum(arg for arg, one in zip(args, ins) if one == "x")
        return tuple((number + 1) * total if one == "x" else one for number, one in enumerate(outs))

    taken: List[Any] = []
    module, calls = module_of(forward, hooks=hooks)
    out = module(*(torch.ones(2, requires_grad=True) if one == "x" else one for one in ins))
    sum(part for part, one in zip(out, outs) if one == "x").sum().backward()
    grad = float(by * sum(number + 1 for number, one in enumerate(outs) if one == "x"))
    places = [[[grad] * 2 if one == "x" else None for one in ins], [[1.0] * 2 if one == "x" else None for one in outs]]
    if not subject.value:
        places = [[one for one in side if one is not None] for side in places]
    assert calls == [places] * hooks
    assert taken == [one for one in ins if one != "x"]
    assert [part for part, one in zip(out, outs) if one != "x"] == [one for one in outs if one != "x"]


@clause(
    "backward.structures.detached_output",
    says="A detached tensor among the outputs has None in grad_output, and stays without gradient.",
    source="https://github.com/pytorch/pytorch/pull/59204",
    needs=FULL,
    readings=(
        Reading("None", ">=1.9", "Whichever comes first.", value="None"),
        Reading("refused", "<1.9", "AttributeError in the forward when it comes first.", value="AttributeError"),
    ),
    witness={"needs_grad": [False, True], "hooks": 1},
    covers=("module_backward.arg.full.output_mixed_rg", "module_backward.issue.59203_mixed_rg_outputs"),
)
@given(needs_grad=st.lists(st.booleans(), min_size=1, max_size=4).filter(any), hooks=FEW)
def test_detached_output(subject: Subject, needs_grad: List[bool], hooks: int) -> None:
    import torch

    module, calls = module_of(lambda x: tuple(2 * x if one else x.detach() for one in needs_grad), hooks=hooks)
    try:
        out = module(torch.ones(2, requires_grad=True))
        sum(out).sum().backward()
        seen: Any = [one.requires_grad for one in out]
    except AttributeError as error:
        seen = type(error).__name__
    if subject.value == "AttributeError" and not needs_grad[0]:
        assert (seen, calls) == ("AttributeError", [])
    else:
        grads = [[[2.0 * sum(needs_grad)] * 2], [[1.0] * 2 if one else None for one in needs_grad]]
        assert (seen, calls) == (needs_grad, [grads] * hooks)


@clause(
    "backward.structures.unseen_inputs",
    says="Tensors in a container or keywords are no inputs to a full hook: it runs at the output.",
    source=(DOCS, FROM_OUTPUT),
    needs=FULL,
    readings=(
        Reading("at the output", ">=1.9", "None for a container, no entry for keywords.", value=True),
        Reading("silent", "<1.9", "The hook does not run.", value=False),
    ),
    witness={"ways": ["list"], "keyword": False, "hooks": 1},
    covers=(
        "module_backward.fire.full.input_in_list",
        "module_backward.outtype.full.namedtuple_arg",
        "module_backward.fire.full.kwargs_only",
        "module_backward.fire.full.module_arg_reassigned_requires_grad",
        "graph.full.list_input",
        "graph.full.only_kwargs",
    ),
)
@given(
    # "later" is a tensor that comes to require grad after the call.
    ways=st.lists(st.sampled_from(["list", "tuple", "Fields", "dict", "later"]), max_size=3),
    keyword=st.booleans(),
    hooks=FEW,
)
def test_unseen_inputs(subject: Subject, ways: List[str], keyword: bool, hooks: int) -> None:
    import torch

    def forward(*args: Any, **kwargs: Any) -> Any:
        return module.weight * sum([*xs, torch.zeros(2)])

    xs = [torch.ones(2, requires_grad=way != "later") for way in [*ways, *["keyword"] * keyword]]
    module, calls = module_of(forward, hooks=hooks)
    hidden = {"list": lambda x: [x], "tuple": lambda x: (x,), "Fields": lambda x: Fields(x, None)}
    hidden.update(dict=lambda x: {"x": x}, later=lambda x: x)
    out = module(*(hidden[way](x) for way, x in zip(ways, xs)), **({"x": xs[-1]} if keyword else {}))
    for x in xs:
        x.requires_grad_()
    out.sum().backward()
    assert calls == [[[None] * len(ways), [[1.0, 1.0]]]] * hooks * subject.value
    assert [x.grad is None for x in xs] == [way == "later" for way in ways] + [False] * keyword


@clause(
    "backward.structures.other_outputs",
    says="The full hook of a module that returns a list, an iterator or another object does not run.",
    source=(DOCS, "https://github.com/pytorch/pytorch/pull/87547"),
    docs="contradicts",
    note=RULE + " Only a warning while running tells so.",
    needs=FULL,
    readings=(
        Reading("with a warning", ">=2.0", "UserWarning in the forward.", value=["UserWarning"]),
        Reading("in silence", ">=1.13,<2.0", "Without a warning.", value=[]),
        Reading("refused", "<1.13", "backward() raises RuntimeError.", value="RuntimeError"),
    ),
    witness={"name": "list", "by": [2], "hooks": 1},
    covers=(
        "module_backward.outtype.full.list",
        "module_backward.outtype.full.generator",
        "module_backward.outtype.full.dataclass",
        "graph.full.list_output",
    ),
)
@given(name=st.sampled_from(sorted(CONTAINERS)), by=st.lists(NUMBERS, min_size=1, max_size=3), hooks=FEW)
def test_other_outputs(subject: Subject, name: str, by: List[int], hooks: int) -> None:
    put, take = CONTAINERS[name]
    seen = run(lambda x: put([one * x for one in by]), lambda out: sum(take(out)), hooks=hooks)
    due = (name, [], [float(sum(by))] * 2, subject.value)
    assert seen == ("RuntimeError" if subject.value == "RuntimeError" else due)


@clause(
    "backward.structures.pre_other_outputs",
    says="The pre-hook of a module that returns a list, dict or the like does not run; a warning says so.",
    source="docs: torch.nn.Module.register_full_backward_pre_hook",
    docs="contradicts",
    note="The docs promise a call each time the gradients for the module are computed.",
    needs=PRE,
    readings=(
        Reading("silent", "", "The gradient is right.", value=False),
        Reading("called", "never", "With the gradients of the values.", value=True),
    ),
    witness={"name": "dict", "by": [2], "hooks": 1},
    covers=("module_backward.outtype.pre.dict",),
)
@given(name=st.sampled_from(sorted(CONTAINERS)), by=st.lists(NUMBERS, min_size=1, max_size=3), hooks=FEW)
def test_pre_other_outputs(subject: Subject, name: str, by: List[int], hooks: int) -> None:
    put, take = CONTAINERS[name]
    seen = run(lambda x: put([one * x for one in by]), lambda out: sum(take(out)), "full_backward_pre", hooks)
    calls = [[[[1.0, 1.0]] * len(by)]] * hooks
    assert seen == (name, calls if subject.value else [], [float(sum(by))] * 2, ["UserWarning"])


@clause(
    "backward.structures.no_output",
    says="A hooked module may return None; since 2.0 a UserWarning says that backward hooks will not run.",
    source="https://github.com/pytorch/pytorch/pull/87547",
    needs=FULL,
    readings=(
        Reading("warned", ">=2.0", "One UserWarning in each call.", value=["UserWarning"]),
        Reading("in silence", "<2.0", "No warning.", value=[]),
    ),
    witness={"hooks": 1, "calls": 1},
    covers=("module_backward.outtype.full.none",),
)
@given(hooks=FEW, calls=FEW)
def test_no_output(subject: Subject, hooks: int, calls: int) -> None:
    import torch

    module, _ = module_of(lambda x: None, hooks=hooks)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outs = [module(torch.ones(2, requires_grad=True)) for _ in range(calls)]
    assert (outs, [one.category.__name__ for one in caught]) == ([None] * calls, subject.value * calls)


@clause(
    "backward.structures.types_kept",
    says="A full hook keeps the type of a named tuple that the module returns; its other fields have None.",
    source=KEPT,
    needs=FULL,
    readings=(
        Reading("kept", ">=2.2", "It stays a named tuple.", value="Fields"),
        Reading("a tuple", "<2.2", "It becomes a plain tuple.", value="tuple"),
    ),
    witness={"outs": ["x", "text"], "hooks": 1},
    covers=("module_backward.outtype.full.namedtuple", "graph.full.namedtuple_output"),
)
@given(outs=PLACES, hooks=FEW)
def test_types_kept(subject: Subject, outs: List[Any], hooks: int) -> None:
    def forward(x: Any) -> Any:
        return made(*((number + 1) * x if one == "x" else one for number, one in enumerate(outs)))

    def take(out: Any) -> Any:
        kept.extend(part for part, one in zip(out, outs) if one != "x")
        return sum(part for part, one in zip(out, outs) if one == "x")

    kept: List[Any] = []
    made = collections.namedtuple("Fields", [f"f{number}" for number in range(len(outs))])
    total = [float(sum(number + 1 for number, one in enumerate(outs) if one == "x"))] * 2
    calls = [[[total], [[1.0, 1.0] if one == "x" else None for one in outs]]] * hooks
    assert run(forward, take, hooks=hooks) == (subject.value, calls, total, [])
    assert kept == [one for one in outs if one != "x"]


@clause(
    "backward.structures.subclass_kept",
    says="A full hook keeps the class of a tensor that the module returns.",
    source="measured",
    needs=FULL,
    readings=(
        Reading("kept", ">=2.2", "The subclass.", value="Special"),
        Reading("lost", "<2.2", "A plain tensor.", value="Tensor"),
    ),
    covers=("module_backward.outtype.full.tensor_subclass",),
)
def test_subclass_kept(subject: Subject) -> None:
    import torch

    class Special(torch.Tensor):
        pass

    module, _ = module_of(lambda x: (2 * x).as_subclass(Special))
    assert type(module(torch.ones(2, requires_grad=True))).__name__ == subject.value


@clause(
    "backward.structures.rebuilt",
    says="A full hook rebuilds an output of a tuple class from its tensors, which most tuple classes refuse.",
    source=(KEPT, DOCS),
    note="Since 2.2: torch.return_types cannot be made so, nor a tuple class that takes one iterable. A class of that "
    "sort that holds one tensor is made by iterating over it: the output of the module changes without a word.",
    needs=FULL,
    readings=(
        Reading(
            "rebuilt",
            ">=2.2",
            "TypeError in the forward, or a wrong output.",
            value=["TypeError", "TypeError", ("Pair", [[[[2.0, 0.0]], [[1.0, 0.0]]]], [2.0, 0.0], [])],
        ),
        Reading(
            "a tuple",
            "<2.2",
            "The output becomes a plain tuple.",
            value=[("tuple", [[[[2.0, 2.0]], [[1.0, 1.0], None]]], [2.0, 2.0], [])] * 2
            + [("tuple", [[[[2.0, 2.0]], [[1.0, 1.0]]]], [2.0, 2.0], [])],
        ),
    ),
    covers=(
        "module_backward.outtype.full.return_types",
        "module_backward.outtype.full.tuple_subclass",
        "module_backward.outtype.full.tuple_subclass_one",
    ),
)
def test_rebuilt(subject: Subject) -> None:
    import torch

    assert [
        run(lambda x: torch.max(2 * x.view(2, 1), 1), lambda out: out[0]),
        run(lambda x: Pair((2 * x, 3 * x)), lambda out: out[0]),
        run(lambda x: Pair((2 * x,)), lambda out: out[0]),
    ] == subject.value


@clause(
    "backward.structures.sparse",
    says="A sparse input that needs a gradient cannot pass a module with a full hook.",
    source="measured",
    needs=FULL,
    readings=(
        Reading("NotImplementedError", ">=1.9", "There is no view of a sparse tensor.", value="NotImplementedError"),
        Reading("RuntimeError", "<1.9", "The same, as RuntimeError.", value="RuntimeError"),
    ),
    covers=("module_backward.arg.full.sparse_input",),
)
def test_sparse(subject: Subject) -> None:
    import torch

    module, _ = module_of(lambda x: x.to_dense())
    seen = "accepted"
    try:
        module(torch.ones(2, 2).to_sparse().requires_grad_())
    except (NotImplementedError, RuntimeError) as error:
        seen = type(error).__name__
    assert seen == subject.value
