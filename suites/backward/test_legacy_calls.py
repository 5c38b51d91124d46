"""What only legacy backward hooks do: warnings, what cannot be called, and modules that are gone."""

import gc
import warnings
import weakref
from typing import Any, List, Tuple

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from suites.backward.sources import DEAD, LEGACY, OTHER_NODES
from suites.names import FUTURE

ABOUT = "register_backward_hook"


@clause(
    "backward.legacy.warnings",
    says="For y = x.exp().exp() a call with a legacy backward hook gives a warning.",
    where=("y needs a gradient", "no warning filter hides it, nor Python's default one"),
    source=(OTHER_NODES, LEGACY, FUTURE, "release 1.8: full backward hooks"),
    asked="using a non full backward hook when forward contains multiple autograd nodes "
    "is deprecated message deprecated non-full register_backward_hook warning",
    matters_if="backward",
    instead="register_full_backward_hook, from torch 1.8 on.",
    note="Also for a leaf input and for a factor that is a constant: the check looks at the nodes behind the output's.",
    readings=by_release(
        ("warning", "warning", "none"),
        ("2.4", "FutureWarning", ["FutureWarning"] * 7 + [None]),
        "For y = x.exp().exp() a call with a legacy backward hook gives a FutureWarning.",
        ("1.8", "UserWarning", ["UserWarning"] * 7 + [None], "too"),
        "For y = x.exp().exp() a call with a legacy backward hook gives a UserWarning.",
        ("", "no warning", [None] * 8),
        "A call with a legacy backward hook gives no warning.",
    ),
)
def test_warnings(subject: Subject) -> None:
    import torch

    class Module(torch.nn.Module):
        def __init__(self, function: Any) -> None:
            super().__init__()
            self.function = function

        def forward(self, *args: Any) -> Any:
            return self.function(*args)

    def category(module: Any, *args: Any) -> Any:
        module.register_backward_hook(lambda *arguments: None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module(*args)
        (name,) = {one.category.__name__ for one in caught} or {None}
        return name

    leaf = torch.ones(2, requires_grad=True)
    inner = leaf * 1
    assert [
        category(Module(lambda x: x * 2), inner),
        category(Module(lambda x: {"y": x.exp()}), inner),
        category(torch.nn.ReLU(), leaf),
        category(torch.nn.Linear(2, 2), inner),
        category(Module(lambda x: x.exp().exp()), inner),
        category(Module(lambda x, number: x.exp()), inner, 3),
        category(Module(lambda x: (x.exp(), x.sin())), inner),
        category(torch.nn.ReLU(), inner),
    ] == subject.value


@clause(
    "backward.legacy.dead_module",
    says="A legacy backward hook does not keep its module alive; if that is gone, backward() raises RuntimeError.",
    where="the hook does not refer to the module",
    source=(DEAD, "https://github.com/pytorch/pytorch/pull/80139"),
    asked="deleted model del layer garbage collected then backprop crashes weakref old register_backward_hook",
    matters_if="backward ?module_gone",
    readings=by_release(
        "silent",
        ("1.13", "RuntimeError", (False, "RuntimeError", 0)),
        "A legacy backward hook does not keep its module alive.",
        ("", "kept", (True, "called", 1)),
        "A module with a legacy backward hook lives as long as its output, and the hook runs.",
    ),
)
def test_dead_module(subject: Subject) -> None:
    import torch

    calls: List[Any] = []

    def call() -> Tuple[Any, Any]:
        module = torch.nn.Linear(2, 2)
        module.register_backward_hook(lambda module, grad_input, grad_output: calls.append(1))
        return module(torch.ones(1, 2)), weakref.ref(module)

    out, module = call()
    gc.collect()
    alive, seen = module() is not None, "called"
    try:
        out.sum().backward()
    except RuntimeError as error:
        seen = type(error).__name__
    assert (alive, seen, len(calls)) == subject.value


@clause(
    "backward.legacy.not_callable",
    says="register_backward_hook() accepts what cannot be called, for example a number.",
    source="measured",
    asked="old register function takes wrong object silently no type check typo passing integer",
    matters_if="never",
    readings=by_release(
        ("error", "error"),
        ("1.13", "until backward", ["registered", "called", "TypeError"]),
        "backward() raises TypeError for a legacy backward hook that cannot be called.",
        ("", "until forward", ["registered", "TypeError"], "too"),
        "The call raises TypeError for a legacy backward hook that cannot be called.",
    ),
)
def test_not_callable(subject: Subject) -> None:
    import torch

    module, seen = torch.nn.Linear(2, 2), []
    try:
        module.register_backward_hook(3)
        seen.append("registered")
        out = module(torch.ones(1, 2, requires_grad=True))
        seen.append("called")
        out.sum().backward()
        seen.append("done")
    except (TypeError, RuntimeError) as error:
        seen.append(type(error).__name__)
    assert seen == subject.value
