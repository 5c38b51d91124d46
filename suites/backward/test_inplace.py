"""In-place changes of what goes into a hooked module and what comes out of it: both are views made by the hook."""

from math import prod
from typing import Any, Callable, Dict, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.backward.modules import module_of
from suites.backward.sources import DOCS, IN_PLACE, PRE_DOCS, TESTS
from suites.names import FULL, PRE

ERRORS = "https://github.com/pytorch/pytorch/pull/56093"
#: Ways to change a tensor in place: whole, through one row, through a view of all.
EDITS: Dict[str, Callable[[Any], Any]] = {
    "scaled": lambda out: out.mul_(2),
    "shifted": lambda out: out.add_(1),
    "zeroed": lambda out: out.zero_(),
    "copied": lambda out: out.copy_(out.detach() * 2),
    "a row": lambda out: out[0].fill_(5),
    "a view": lambda out: out.view(-1).mul_(2),
}
EDIT, FEW = st.sampled_from(sorted(EDITS)), st.integers(1, 3)
VIEW = "RuntimeError: a view"


def hooked(module: Any, hooks: int = 1, kind: str = "full_backward") -> Any:
    """The module, with backward hooks that only look."""
    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(lambda *arguments: None)
    return module


def ends(module: Any, edit: Callable[[Any], Any], grad: bool = True, which: int = 0) -> Tuple[str, ...]:
    """Where it raises, and what, when an output of a module is edited and goes backward; or ("fine",).

    An error that speaks of a change of a view is no other error.
    """

    step = "forward"
    try:
        out = module(make.ones(2, 2, requires_grad=grad) * 1)
        out = out[which] if isinstance(out, tuple) else out
        step = "edit"
        edit(out)
        step = "backward"
        if out.requires_grad:
            out.sum().backward()
    except RuntimeError as error:
        return step, VIEW if "is a view" in str(error) else "RuntimeError"
    return ("fine",)


def nothing(out: Any) -> None:
    """Leave the output as it is."""


def changing(edit: str) -> Any:
    """A module that changes its input in place and returns something made from it."""

    def function(x: Any) -> Any:
        EDITS[edit](x)
        return x * 3

    return module_of(function, hooks=0)[0]


@clause(
    "backward.inplace.without_hook",
    says="Without hooks the lines y = nn.Linear(2, 2)(x); y.mul_(2); y.sum().backward() raise nothing.",
    where="y requires grad",
    source="note: autograd.html#in-place-operations-with-autograd",
    asked="inplace op after linear layer works fine normally is it the hook that breaks training "
    "baseline BackwardHookFunctionBackward view modified inplace relu after full backward hook",
    value="fine",
    wrong={"refused": "edit"},
    witness={"edit": "scaled"},
)
@given(edit=EDIT)
def test_without_hook(subject: Subject, edit: str) -> None:

    seen = [ends(make.Linear(2, 2), EDITS[edit]), ends(changing(edit), nothing)]
    assert seen == [(subject.value,), ("fine",)]


@clause(
    "backward.inplace.output",
    says="If m has a full backward hook, y = m(x); y.mul_(2) raises RuntimeError.",
    where="y is a tensor that requires grad",
    see="backward.inplace.output_under_no_grad",
    source=(IN_PLACE, ERRORS),
    asked="multiply layer result after call crashes relu_ following conv error view modified inplace custom "
    "function forbidden BackwardHookFunctionBackward view modified inplace relu after full backward hook",
    matters_if="full_backward ?output_edited",
    needs=FULL,
    readings=by_release(
        ("error", "error"),
        ("1.9", "at once", ("edit", VIEW)),
        "Changing in place the output of a module with a full backward hook raises RuntimeError.",
        ("", "late", ("backward", "RuntimeError")),
        "With a full backward hook backward() raises RuntimeError if the output was changed in place.",
    ),
    witness={"edit": "scaled", "hooks": 1, "grad": True},
)
@given(edit=EDIT, hooks=FEW, grad=st.booleans())
def test_output(subject: Subject, edit: str, hooks: int, grad: bool) -> None:
    import torch

    layer = make.Linear(2, 2) if grad else torch.nn.Softplus()
    assert ends(hooked(layer, hooks), EDITS[edit], grad) == (subject.value if grad else ("fine",))


@clause(
    "backward.inplace.output_without_input",
    says="If x needs no gradient and m has a full backward hook, y = m(x); y.mul_(2) raises RuntimeError.",
    where="y is a tensor that requires grad",
    see="backward.inplace.output_under_no_grad",
    source=(IN_PLACE, ERRORS),
    asked="inplace relu after first conv on raw images crashes with hook backwardhookfunctionbackward "
    "view BackwardHookFunctionBackward view modified inplace relu after full backward hook",
    matters_if="full_backward ?output_edited ?inputs_need_no_grad",
    note="For an output that needs a gradient, because a parameter does.",
    needs=FULL,
    readings=by_release(
        ("error", "none"),
        ("1.9", "refused", ("edit", VIEW)),
        "If no input needs a gradient, changing the output of a hooked module raises RuntimeError.",
        ("", "accepted", ("fine",)),
        "If no input needs a gradient, the output of a hooked module may be changed in place.",
    ),
    witness={"edit": "scaled", "hooks": 1},
)
@given(edit=EDIT, hooks=FEW)
def test_output_without_input(subject: Subject, edit: str, hooks: int) -> None:

    assert ends(hooked(make.Linear(2, 2), hooks), EDITS[edit], grad=False) == subject.value


@clause(
    "backward.inplace.output_of_two",
    says="If m has a full backward hook, a, b = m(x); a.mul_(2) raises RuntimeError.",
    where="m returns a tuple of tensors that require grad",
    see="backward.structures.other_outputs",
    source=IN_PLACE,
    asked="tuple result one element edited with inplace op crash multi output view modified inplace "
    "with hook BackwardHookFunctionBackward view modified inplace relu after full backward hook",
    needs=FULL,
    value=("edit", VIEW),
    wrong={"accepted": ("fine",)},
    witness={"edit": "scaled", "hooks": 1, "count": 2, "which": 0},
)
@given(edit=EDIT, hooks=FEW, count=st.integers(2, 4), which=st.integers(0, 3))
def test_output_of_two(subject: Subject, edit: str, hooks: int, count: int, which: int) -> None:
    module, _ = module_of(lambda x: tuple((number + 2) * x for number in range(count)), hooks=0)
    assert ends(hooked(module, hooks), EDITS[edit], which=which % count) == subject.value


@clause(
    "backward.inplace.output_under_no_grad",
    says="If m has a full backward hook, y = m(x); y.mul_(2) under no_grad makes y.sum() raise RuntimeError.",
    where="tensor y requires grad",
    source=(IN_PLACE, ERRORS),
    asked="silently edited activation without tracking then later op crashes view created by custom function "
    "with hook BackwardHookFunctionBackward view modified inplace relu after full backward hook",
    matters_if="full_backward ?output_edited",
    needs=FULL,
    readings=by_release(
        ("error", "error"),
        ("1.9", "the next use", ("backward", VIEW)),
        "With a full backward hook an output changed under no_grad raises RuntimeError as a changed view.",
        ("", "backward()", ("backward", "RuntimeError"), "too"),
        "With a full backward hook backward() raises RuntimeError if the output was changed under no_grad.",
    ),
    witness={"edit": "scaled", "hooks": 1},
)
@given(edit=EDIT, hooks=FEW)
def test_output_under_no_grad(subject: Subject, edit: str, hooks: int) -> None:
    import torch

    assert ends(hooked(make.Linear(2, 2), hooks), torch.no_grad()(EDITS[edit])) == subject.value


@clause(
    "backward.inplace.input",
    says="With a full backward hook a module that changes its input in place raises RuntimeError.",
    where="inputs are positional tensors that require grad",
    see="backward.inplace.input_without_grad",
    source=(IN_PLACE, ERRORS),
    asked="hook on relu inplace true crashes backwardhookfunctionbackward is a view and is being modified "
    "inplace BackwardHookFunctionBackward view modified inplace relu after full backward hook",
    matters_if="full_backward ?edits_its_input",
    note="The usual case is ReLU(inplace=True): hooked itself, first in a hooked container, or after a hooked layer.",
    needs=FULL,
    readings=by_release(
        ("error", "none"),
        ("1.9", "refused", (("forward", VIEW), ("forward", VIEW))),
        "With a full backward hook a call that changes the input raises RuntimeError.",
        ("", "accepted", (("fine",), ("backward", "RuntimeError"))),
        "A module with a full backward hook may change its input in place.",
    ),
    witness={"edit": "scaled", "hooks": 1, "way": "itself"},
)
@given(edit=st.sampled_from(["relu", *sorted(EDITS)]), hooks=FEW, way=st.sampled_from(["itself", "first", "behind"]))
def test_input(subject: Subject, edit: str, hooks: int, way: str) -> None:
    import torch

    line, chain = make.Linear(2, 2), torch.nn.Sequential
    inner = torch.nn.ReLU(inplace=True) if edit == "relu" else changing(edit)
    if way == "behind":
        module = chain(hooked(line, hooks), inner)
    else:
        module = hooked(inner if way == "itself" else chain(inner, line), hooks)
    assert ends(module, nothing) == subject.value[way == "behind"]


@clause(
    "backward.inplace.input_without_grad",
    says="If no input needs a gradient, a full backward hook lets its module change inputs in place.",
    source=(DOCS, "measured"),
    asked="relu inplace with hook on first layer works raw images no crash why only there "
    "BackwardHookFunctionBackward view modified inplace relu after full backward hook",
    docs="contradicts",
    note="The docs warn that in-place changes of inputs or outputs raise an error with a full hook, without exception.",
    needs=FULL,
    value=("fine",),
    wrong={"refused": ("forward", VIEW)},
    witness={"edit": "scaled", "hooks": 1},
)
@given(edit=EDIT, hooks=FEW)
def test_input_without_grad(subject: Subject, edit: str, hooks: int) -> None:
    import torch

    line = make.Linear(2, 2)
    module = torch.nn.Sequential(changing(edit), line)
    assert ends(hooked(module, hooks), nothing, grad=False) == subject.value
    assert line.weight.grad is not None


@clause(
    "backward.inplace.pre_input",
    says="With a full backward pre-hook a module changing its input in place raises RuntimeError.",
    where="inputs are positional tensors that require grad",
    source=f'{PRE_DOCS} "Modifying inputs inplace is not allowed when using backward hooks"',
    asked="register_full_backward_pre_hook with inplace relu crash view modified inplace "
    "BackwardHookFunctionBackward view modified inplace relu after full backward hook",
    needs=PRE,
    value=("forward", VIEW),
    wrong={"accepted": ("fine",)},
    witness={"edit": "scaled", "hooks": 1, "grad": True},
)
@given(edit=EDIT, hooks=FEW, grad=st.booleans())
def test_pre_input(subject: Subject, edit: str, hooks: int, grad: bool) -> None:
    module = hooked(changing(edit), hooks, "full_backward_pre")
    assert ends(module, nothing, grad) == (subject.value if grad else ("fine",))


@clause(
    "backward.inplace.pre_output",
    says="If m has a full backward pre-hook, y = m(x); y.mul_(2) raises RuntimeError.",
    where="y is a tensor that requires grad",
    source=(PRE_DOCS, TESTS + "test_hook_inplace"),
    asked="register_full_backward_pre_hook then inplace add on layer result residual crashes view "
    "error BackwardHookFunctionBackward view modified inplace relu after full backward hook",
    note="An output that needs a gradient. The docs of the pre-hook warn of changes of inputs, not of outputs.",
    needs=PRE,
    value=("edit", VIEW),
    wrong={"accepted": ("fine",)},
    witness={"edit": "scaled", "hooks": 1, "grad": True},
)
@given(edit=EDIT, hooks=FEW, grad=st.booleans())
def test_pre_output(subject: Subject, edit: str, hooks: int, grad: bool) -> None:

    assert ends(hooked(make.Linear(2, 2), hooks, "full_backward_pre"), EDITS[edit], grad) == subject.value


@clause(
    "backward.inplace.callers_gradient",
    says="For y = m(x) grad_output[0].mul_(5) in a full backward pre-hook of m changes g of y.backward(g).",
    where=("g has y's dtype, y is used once", "there is no other hook"),
    source="measured",
    asked="modifying grad_output in place corrupts the tensor i passed to backward side effect on external "
    "gradient BackwardHookFunctionBackward view modified inplace relu after full backward hook",
    note="At the root: backward() begins at the output of the module.",
    needs=PRE,
    value=True,
    wrong={"unchanged": False},
    witness={"edits": [5], "shape": (), "grad": 1},
)
@given(
    edits=st.lists(FACTORS, min_size=1, max_size=3), shape=st.sampled_from([(), (3,), (2, 3)]), grad=st.integers(1, 5)
)
def test_callers_gradient(subject: Subject, edits: List[int], shape: Tuple[int, ...], grad: int) -> None:

    (module, _), x = module_of(lambda x: 2 * x, hooks=0), make.ones(shape, requires_grad=True)
    given = make.full(shape, float(grad))
    for by in edits:

        def hook(module: Any, grads: Any, by: int = by) -> None:
            grads[0].mul_(by)

        module.register_full_backward_pre_hook(hook)
    module(x).backward(given)
    assert x.grad.eq(2 * grad * prod(edits)).all()
    assert given.eq(grad * (prod(edits) if subject.value else 1)).all()
