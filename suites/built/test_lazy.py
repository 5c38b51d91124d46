"""Lazy modules: what hooks meet in the first call, which makes the parameters, and after it."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.hooking import FEW, UP_TO_TWO
from suites.names import ISSUE
from suites.tensors import outcome

LAZY = "torch.nn.LazyLinear"
#: What a pre-hook may see of the weight of a lazy module.
MADE, NOT_MADE = "Parameter", "UninitializedParameter"


@clause(
    "built.lazy.prepended",
    says="A forward pre-hook with prepend=True on a LazyLinear runs before the first call makes the weight.",
    where="no state dict was loaded before",
    source=("measured", ISSUE + "60132"),
    asked="LazyLinear prepend pre-hook uninitialized parameter in first forward",
    needs="torch.nn.Module.register_forward_pre_hook(prepend)",
    see="input.returns.lazy_module",
    value=NOT_MADE,
    wrong={"behind": MADE},
    witness={"hooks": 1, "calls": 2},
)
@given(hooks=FEW, calls=FEW)
def test_prepended(subject: Subject, hooks: int, calls: int) -> None:

    seen: List[str] = []
    module = make.LazyLinear(2)
    for _ in range(hooks):
        module.register_forward_pre_hook(lambda module, args: seen.append(type(module.weight).__name__), prepend=True)
    for _ in range(calls):
        module(make.ones(1, 3))
    assert seen == [subject.value] * hooks + [MADE] * hooks * (calls - 1)


@clause(
    "built.lazy.around",
    says="A forward pre-hook on a Sequential runs before the first call makes the weight of a LazyLinear in it.",
    where="no state dict was loaded before",
    source="measured",
    asked="pre-hook on model with lazy layers parameters uninitialized at first forward summary",
    needs=LAZY,
    about="register_forward_pre_hook",
    value=NOT_MADE,
    wrong={"made": MADE},
    witness={"depth": 1, "calls": 2},
)
@given(depth=st.integers(1, 3), calls=FEW)
def test_around(subject: Subject, depth: int, calls: int) -> None:
    import torch

    seen: List[str] = []
    lazy: Any = make.LazyLinear(2)
    net = lazy
    for _ in range(depth):
        net = torch.nn.Sequential(net)
        net.register_forward_pre_hook(lambda module, args: seen.append(type(lazy.weight).__name__))
    for _ in range(calls):
        net(make.ones(1, 3))
    assert seen == [subject.value] * depth + [MADE] * depth * (calls - 1)


@clause(
    "built.lazy.gone",
    says="After its first call a LazyLinear has no hook of its own left; forward hooks of the user stay.",
    source='docs: torch.nn.modules.lazy.LazyModuleMixin "afterward they contain regular"',
    asked="LazyLinear becomes Linear after first forward hooks left initialize hook removed",
    needs=LAZY,
    about="register_forward_hook",
    value=0,
    wrong={"stays": 1},
    witness={"hooks": 1, "calls": 1},
)
@given(hooks=UP_TO_TWO, calls=FEW)
def test_gone(subject: Subject, hooks: int, calls: int) -> None:

    seen: List[int] = []
    module = make.LazyLinear(2)
    for number in range(hooks):
        module.register_forward_hook(lambda module, args, output, number=number: seen.append(number))
    for _ in range(calls):
        module(make.ones(1, 3))
    left = [len(module._forward_pre_hooks), len(module._load_state_dict_pre_hooks), len(module._state_dict_hooks)]
    assert (left, seen) == ([subject.value, 0, 0], list(range(hooks)) * calls)


@clause(
    "built.lazy.parameter",
    says="register_hook on a parameter of a LazyLinear raises ValueError while the parameter is uninitialized.",
    source='docs: torch.nn.modules.lazy.LazyModuleMixin "that should not be accessed"',
    asked="Attempted to use an uninitialized parameter register_hook on LazyLinear weight ValueError",
    needs=LAZY,
    about="register_hook",
    value="ValueError",
    wrong={"accepted": "accepted"},
    witness={"calls": 1},
)
@given(calls=UP_TO_TWO)
def test_parameter(subject: Subject, calls: int) -> None:

    seen: List[int] = []
    module = make.LazyLinear(2)
    for number in range(calls + 1):
        ended = outcome(lambda: module.weight.register_hook(lambda grad: seen.append(1)), (ValueError,))
        assert ended == ("accepted" if number else subject.value)
        module(make.ones(1, 3)).sum().backward()
    assert len(seen) == sum(range(calls + 1))
