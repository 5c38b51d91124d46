"""What a full backward hook sees of inputs and outputs that are no plain tensors: containers, None, sparse ones."""

import collections
import warnings
from typing import Any, Callable, List, Tuple

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

DOCS = "docs: torch.nn.Module.register_full_backward_hook"
FULL = "torch.nn.Module.register_full_backward_hook"
PRE = "torch.nn.Module.register_full_backward_pre_hook"
FROM_OUTPUT = "https://github.com/pytorch/pytorch/pull/56693"
KEPT = "https://github.com/pytorch/pytorch/pull/112433"
RULE = "The docs promise a call whenever gradients for the module's inputs are computed; here they are."

Fields = collections.namedtuple("Fields", "first second")


class Pair(tuple):
    """A tuple made from one iterable, as tuples are."""


def show(grads: Any) -> List[Any]:
    return [None if grad is None else grad.tolist() for grad in grads]


def module_of(function: Callable[..., Any], kind: str = "full_backward") -> Tuple[Any, List[Any]]:
    """A hooked module that computes `function`, and what its hook was given: grad_input (if any) and grad_output."""
    import torch

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(2.0))

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

    module: Any = Module()
    calls: List[Any] = []
    getattr(module, f"register_{kind}_hook")(lambda module, *grads: calls.append([show(one) for one in grads]))
    return module, calls


def run(function: Callable[..., Any], take: Callable[[Any], Any], kind: str = "full_backward") -> Any:
    """Type of the output, calls, x.grad and warnings when the loss is what `take` takes; or what raised."""
    import torch

    module, calls = module_of(function, kind)
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


@clause(
    "backward.structures.places",
    says="Inputs and outputs that are no tensors keep their place in grad_input and grad_output, with None.",
    source=DOCS,
    needs=FULL,
    readings=(
        Reading(
            "None",
            "",
            "A number and a text go in; None, a number and a text come out.",
            value=([[None, [2.0, 2.0], None], [None, [1.0, 1.0], None, None]], (None, 7, "s")),
        ),
        Reading("left out", "never", "Tensors only.", value=([[[2.0, 2.0]], [[1.0, 1.0]]], (None, 7, "s"))),
    ),
    covers=("module_backward.arg.full.nontensor_args", "module_backward.arg.full.output_none_entries"),
)
def test_places(subject: Subject) -> None:
    import torch

    module, calls = module_of(lambda number, x, text: (None, 2 * x, number, text))
    out = module(7, torch.ones(2, requires_grad=True), "s")
    out[1].sum().backward()
    assert (calls[0], (out[0], *out[2:])) == subject.value


@clause(
    "backward.structures.detached_output",
    says="A detached tensor among the outputs has None in grad_output, and stays without gradient.",
    source="https://github.com/pytorch/pytorch/pull/59204",
    needs=FULL,
    readings=(
        Reading("None", ">=1.9", "Whichever comes first.", value=[([False, True], [[[2.0, 2.0], [None, [1.0, 1.0]]]])]),
        Reading("refused", "<1.9", "AttributeError in the forward.", value=["AttributeError"]),
    ),
    covers=("module_backward.arg.full.output_mixed_rg", "module_backward.issue.59203_mixed_rg_outputs"),
)
def test_detached_output(subject: Subject) -> None:
    import torch

    module, calls = module_of(lambda x: (x.detach(), 2 * x))
    try:
        out = module(torch.ones(2, requires_grad=True))
        out[1].sum().backward()
        seen: Any = ([one.requires_grad for one in out], [[*call[0], call[1]] for call in calls])
    except AttributeError as error:
        seen = type(error).__name__
    assert [seen] == subject.value


@clause(
    "backward.structures.unseen_inputs",
    says="Tensors in a list, a named tuple or keywords are no inputs to a full hook: it runs at the output.",
    source=(DOCS, FROM_OUTPUT),
    needs=FULL,
    readings=(
        Reading(
            "at the output",
            ">=1.9",
            "None for a list or tuple, no entry for keywords.",
            value=[[[None], [[1.0, 1.0]]], [[None], [[1.0, 1.0]]], [[], [[1.0, 1.0]]], [[None], [[1.0, 1.0]]]],
        ),
        Reading("silent", "<1.9", "The hook does not run.", value=[]),
    ),
    covers=(
        "module_backward.fire.full.input_in_list",
        "module_backward.outtype.full.namedtuple_arg",
        "module_backward.fire.full.kwargs_only",
        "module_backward.fire.full.module_arg_reassigned_requires_grad",
    ),
)
def test_unseen_inputs(subject: Subject) -> None:
    import torch

    x, later = torch.ones(2, requires_grad=True), torch.ones(2)
    seen: List[Any] = []
    module, calls = module_of(lambda values: 2 * values[0])
    module([x]).sum().backward()
    module(Fields(x, None)).sum().backward()
    named, named_calls = module_of(lambda x: 2 * x)
    named(x=x).sum().backward()
    weighted, late_calls = module_of(lambda x: weighted.weight * x)
    out = weighted(later)
    later.requires_grad_()
    out.sum().backward()
    seen = calls + named_calls + late_calls
    assert seen == subject.value


@clause(
    "backward.structures.other_outputs",
    says="The full hook of a module that returns a list, an iterator or another object does not run.",
    source=(DOCS, "https://github.com/pytorch/pytorch/pull/87547"),
    docs="contradicts",
    note=RULE + " Only a warning while running tells so.",
    needs=FULL,
    readings=(
        Reading(
            "with a warning",
            ">=2.0",
            "UserWarning in the forward.",
            value=[(name, [], [2.0, 2.0], ["UserWarning"]) for name in ("list", "list_iterator", "Holder")],
        ),
        Reading(
            "in silence",
            ">=1.13,<2.0",
            "Without a warning.",
            value=[(name, [], [2.0, 2.0], []) for name in ("list", "list_iterator", "Holder")],
        ),
        Reading("refused", "<1.13", "backward() raises RuntimeError.", value=["RuntimeError"] * 3),
    ),
    covers=(
        "module_backward.outtype.full.list",
        "module_backward.outtype.full.generator",
        "module_backward.outtype.full.dataclass",
    ),
)
def test_other_outputs(subject: Subject) -> None:
    class Holder:
        def __init__(self, y: Any) -> None:
            self.y = y

    assert [
        run(lambda x: [2 * x], lambda out: out[0]),
        run(lambda x: iter([2 * x]), next),
        run(lambda x: Holder(2 * x), lambda out: out.y),
    ] == subject.value


@clause(
    "backward.structures.pre_other_outputs",
    says="The pre-hook of a module that returns a dict does not run; a UserWarning says so.",
    source="docs: torch.nn.Module.register_full_backward_pre_hook",
    docs="contradicts",
    note="The docs promise a call each time the gradients for the module are computed.",
    needs=PRE,
    readings=(
        Reading("silent", "", "The gradient is right.", value=("dict", [], [2.0, 2.0], ["UserWarning"])),
        Reading("called", "never", "With the gradient of the value.", value=("dict", [[[1.0, 1.0]]], [2.0, 2.0], [])),
    ),
    covers=("module_backward.outtype.pre.dict",),
)
def test_pre_other_outputs(subject: Subject) -> None:
    assert run(lambda x: {"y": 2 * x}, lambda out: out["y"], "full_backward_pre") == subject.value


@clause(
    "backward.structures.no_output",
    says="A hooked module may return None; since 2.0 a UserWarning says that backward hooks will not run.",
    source="https://github.com/pytorch/pytorch/pull/87547",
    needs=FULL,
    readings=(
        Reading("warned", ">=2.0", "One UserWarning.", value=(None, ["UserWarning"])),
        Reading("in silence", "<2.0", "No warning.", value=(None, [])),
    ),
    covers=("module_backward.outtype.full.none",),
)
def test_no_output(subject: Subject) -> None:
    import torch

    module, _ = module_of(lambda x: None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = module(torch.ones(2, requires_grad=True))
    assert (out, [one.category.__name__ for one in caught]) == subject.value


@clause(
    "backward.structures.types_kept",
    says="A full hook keeps the type of a named tuple that the module returns; its other fields have None.",
    source=KEPT,
    needs=FULL,
    readings=(
        Reading(
            "kept",
            ">=2.2",
            "It stays a named tuple.",
            value=("Fields", [[[[2.0, 2.0]], [[1.0, 1.0], None]]], [2.0, 2.0], []),
        ),
        Reading(
            "a tuple",
            "<2.2",
            "It becomes a plain tuple.",
            value=("tuple", [[[[2.0, 2.0]], [[1.0, 1.0], None]]], [2.0, 2.0], []),
        ),
    ),
    covers=("module_backward.outtype.full.namedtuple",),
)
def test_types_kept(subject: Subject) -> None:
    assert run(lambda x: Fields(2 * x, "text"), lambda out: out[0]) == subject.value


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
