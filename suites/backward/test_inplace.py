"""In-place changes of what goes into a hooked module and what comes out of it: both are views made by the hook."""

from typing import Any, Callable, Tuple

from fixtures.clause import Reading, clause
from fixtures.subject import Subject
from suites.backward.sources import DOCS, IN_PLACE, PRE_DOCS, PRE_IN_PLACE, TESTS

FULL = "torch.nn.Module.register_full_backward_hook"
PRE = "torch.nn.Module.register_full_backward_pre_hook"
ERRORS = "https://github.com/pytorch/pytorch/pull/56093"


def hooked(module: Any, kind: str = "full_backward") -> Any:
    """The module, with a backward hook that only looks."""
    getattr(module, f"register_{kind}_hook")(lambda *arguments: None)
    return module


def ends(module: Any, edit: Callable[[Any], Any], grad: bool = True) -> Tuple[str, ...]:
    """Where it raises, and what, when the output of a module is edited and goes backward; or ("fine",)."""
    import torch

    step = "forward"
    try:
        out = module(torch.ones(2, 2, requires_grad=grad) * 1)
        step = "edit"
        edit(out)
        step = "backward"
        (out[0] if isinstance(out, tuple) else out).sum().backward()
    except RuntimeError as error:
        return step, type(error).__name__
    return ("fine",)


def nothing(out: Any) -> None:
    """Leave the output as it is."""


@clause(
    "backward.inplace.without_hook",
    says="Without a hook the output of a module may be changed in place, if its operation does not need it.",
    source="note: notes/autograd.html#in-place-operations-with-autograd",
    level="observed",
    readings=(
        Reading("allowed", "", "Output and input.", value=[("fine",), ("fine",)]),
        Reading("refused", "never", "Outputs are not for editing.", value=[("edit", "RuntimeError")] * 2),
    ),
)
def test_without_hook(subject: Subject) -> None:
    import torch

    line, relu = torch.nn.Linear(2, 2), torch.nn.ReLU(inplace=True)
    assert [ends(line, lambda out: out.mul_(2)), ends(relu, nothing)] == subject.value


@clause(
    "backward.inplace.output",
    says="With a full hook the caller cannot change an output in place that needs a gradient: RuntimeError.",
    source=(
        IN_PLACE,
        ERRORS,
    ),
    level="documented",
    needs=FULL,
    readings=(
        Reading("at once", ">=1.9", "Whole, through an index, through a view.", value=[("edit", "RuntimeError")] * 3),
        Reading("late", "<1.9", "A warning; then backward() raises.", value=[("backward", "RuntimeError")] * 3),
    ),
    covers=(
        "module_backward.inplace.full.output_after",
        "module_backward.inplace.full.output_slice",
        "module_backward.inplace.full.output_view",
        "graph.full.inplace_on_output",
    ),
)
def test_output(subject: Subject) -> None:
    import torch

    edits = (lambda out: out.mul_(2), lambda out: out[0].fill_(5), lambda out: out.view(-1).mul_(2))
    assert [ends(hooked(torch.nn.Linear(2, 2)), edit) for edit in edits] == subject.value


@clause(
    "backward.inplace.output_without_input",
    says="Where no input needs a gradient, changing the output of a hooked module in place raises as well.",
    source=(
        IN_PLACE,
        ERRORS,
    ),
    level="documented",
    needs=FULL,
    readings=(
        Reading("refused", ">=1.9", "RuntimeError at the change.", value=("edit", "RuntimeError")),
        Reading("accepted", "<1.9", "Nothing is raised.", value=("fine",)),
    ),
    covers=("module_backward.inplace.full.output_after_no_input_rg",),
)
def test_output_without_input(subject: Subject) -> None:
    import torch

    assert ends(hooked(torch.nn.Linear(2, 2)), lambda out: out.mul_(2), grad=False) == subject.value


@clause(
    "backward.inplace.output_of_two",
    says="None of several outputs of a hooked module can be changed in place: the change raises RuntimeError.",
    source=IN_PLACE,
    level="documented",
    needs=FULL,
    readings=(
        Reading("refused", "", "RuntimeError at the change.", value=("edit", "RuntimeError")),
        Reading("accepted", "never", "Nothing is raised.", value=("fine",)),
    ),
    covers=("module_backward.inplace.full.two_outputs", "graph.full.inplace_one_of_two_outputs"),
)
def test_output_of_two(subject: Subject) -> None:
    import torch

    class Two(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return 2 * x, 3 * x

    assert ends(hooked(Two()), lambda out: out[0].mul_(2)) == subject.value


@clause(
    "backward.inplace.output_under_no_grad",
    says="An output changed in place under no_grad raises RuntimeError at its next use that needs gradients.",
    source=(
        IN_PLACE,
        ERRORS,
    ),
    level="documented",
    needs=FULL,
    readings=(
        Reading("refused", "", "RuntimeError after the change.", value=("backward", "RuntimeError")),
        Reading("accepted", "never", "no_grad allows every change.", value=("fine",)),
    ),
    covers=("module_backward.inplace.full.output_under_no_grad", "graph.full.inplace_on_output_single_under_no_grad"),
)
def test_output_under_no_grad(subject: Subject) -> None:
    import torch

    assert ends(hooked(torch.nn.Linear(2, 2)), torch.no_grad()(lambda out: out.mul_(2))) == subject.value


@clause(
    "backward.inplace.input",
    says="A hooked module cannot change an input that needs a gradient in place, nor a hooked module's output.",
    source=(
        IN_PLACE,
        ERRORS,
    ),
    level="documented",
    note="The usual case is ReLU(inplace=True): hooked itself, first in a hooked container, or after a hooked layer.",
    needs=FULL,
    readings=(
        Reading("refused", ">=1.9", "RuntimeError in the forward.", value=[("forward", "RuntimeError")] * 4),
        Reading(
            "accepted",
            "<1.9",
            "A warning; only behind a hooked layer backward() raises.",
            value=[("fine",)] * 3 + [("backward", "RuntimeError")],
        ),
    ),
    covers=(
        "module_backward.inplace.full.input_leaf_in_forward",
        "module_backward.inplace.full.relu_inplace_self",
        "module_backward.inplace.full.relu_first_of_container",
        "module_backward.inplace.full.relu_after_hooked",
        "module_backward.issue.61519_inplace_relu_message",
        "graph.full.inplace_on_input_inside",
        "graph.full.inplace_seq_relu",
        "graph.full.hook_changes_inference_of_inplace",
    ),
)
def test_input(subject: Subject) -> None:
    import torch

    class AddOne(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.add_(1)

    line, relu, chain = torch.nn.Linear(2, 2), torch.nn.ReLU(inplace=True), torch.nn.Sequential
    modules = (
        hooked(AddOne()),
        hooked(torch.nn.ReLU(inplace=True)),
        hooked(chain(relu, line)),
        chain(hooked(line), relu),
    )
    assert [ends(module, nothing) for module in modules] == subject.value


@clause(
    "backward.inplace.input_without_grad",
    says="A hooked module may change an input in place that needs no gradient.",
    source=(
        DOCS,
        "measured",
    ),
    level="observed",
    docs="contradicts",
    note="The docs warn that in-place changes of inputs or outputs raise an error with a full hook, without exception.",
    needs=FULL,
    readings=(
        Reading("accepted", "", "Nothing is raised.", value=("fine",)),
        Reading("refused", "never", "RuntimeError in the forward.", value=("forward", "RuntimeError")),
    ),
    covers=("module_backward.inplace.full.input_not_rg",),
)
def test_input_without_grad(subject: Subject) -> None:
    import torch

    class AddOne(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.line = torch.nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.line(x.add_(1))

    assert ends(hooked(AddOne()), nothing, grad=False) == subject.value


@clause(
    "backward.inplace.pre_input",
    says="A module with a pre-hook alone cannot change an input in place that needs a gradient either.",
    source=PRE_IN_PLACE,
    level="documented",
    needs=PRE,
    readings=(
        Reading("refused", "", "RuntimeError in the forward.", value=("forward", "RuntimeError")),
        Reading("accepted", "never", "Nothing is raised.", value=("fine",)),
    ),
    covers=("module_backward.inplace.pre.input",),
)
def test_pre_input(subject: Subject) -> None:
    import torch

    assert ends(hooked(torch.nn.ReLU(inplace=True), "full_backward_pre"), nothing) == subject.value


@clause(
    "backward.inplace.pre_output",
    says="The output of a module with a pre-hook alone cannot be changed in place: RuntimeError.",
    source=(
        PRE_DOCS,
        TESTS + "test_hook_inplace",
    ),
    level="implied",
    note="The docs of the pre-hook warn of changes of inputs, and do not speak of outputs.",
    needs=PRE,
    readings=(
        Reading("refused", "", "RuntimeError at the change.", value=("edit", "RuntimeError")),
        Reading("accepted", "never", "Nothing is raised.", value=("fine",)),
    ),
    covers=("module_backward.inplace.pre.output_after",),
)
def test_pre_output(subject: Subject) -> None:
    import torch

    assert ends(hooked(torch.nn.Linear(2, 2), "full_backward_pre"), lambda out: out.mul_(2)) == subject.value
