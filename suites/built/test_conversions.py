"""Conversions that replace parameters or modules: by a flag of torch.__future__, and to SyncBatchNorm.

What sets a flag of the process has a process of its own.
"""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.built.changed import WAYS, called, linear
from suites.hooking import FEW, PRE_OR_NOT, UP_TO_TWO, kinds_of, numbered, raised

ABOUT = "register_hook"

SWAP = "torch.__future__.set_swap_module_params_on_conversion"


@clause(
    "built.conversions.swapped",
    says="With swap_module_params_on_conversion double(), to() and load_state_dict drop a parameter's tensor hooks.",
    source="measured",
    asked="swap_module_params_on_conversion parameter hooks dropped swap_tensors",
    needs=SWAP,
    value=False,
    wrong={"kept": True},
    witness={"way": "double", "hooks": 1},
    isolated=True,
)
@given(way=st.sampled_from(["double", "half", "cpu", "load"]), hooks=FEW)
def test_swapped(subject: Subject, way: str, hooks: int) -> None:
    import torch

    seen: List[int] = []
    module = linear()
    weight = module.weight
    for _ in range(hooks):
        weight.register_hook(lambda grad: seen.append(1))
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        WAYS[way](module)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
    called(module).backward()
    assert (module.weight is weight, len(seen)) == (True, hooks if subject.value else 0)


@clause(
    "built.conversions.swapped_later",
    says="A parameter that had a tensor hook never calls new ones after swap_module_params_on_conversion swapped it.",
    source="measured",
    asked="after swap_tensors conversion new register_hook on parameter never fires dead hook",
    docs="contradicts",
    needs=SWAP,
    value=False,
    wrong={"called": True},
    witness={"before": 1, "later": 1},
    note="Without a hook before the swap the new ones are called.",
    isolated=True,
)
@given(before=UP_TO_TWO, later=FEW)
def test_swapped_later(subject: Subject, before: int, later: int) -> None:
    import torch

    seen: List[int] = []
    module = linear()
    for _ in range(before):
        module.weight.register_hook(lambda grad: None).remove()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        module.double()
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
    for _ in range(later):
        module.weight.register_hook(lambda grad: seen.append(1))
    called(module).backward()
    assert len(seen) == (later if subject.value or not before else 0)


@clause(
    "built.conversions.overwritten",
    says="With overwrite_module_params_on_conversion double() and to() make new parameters, without tensor hooks.",
    source=(
        "docs: torch.__future__.set_overwrite_module_params_on_conversion "
        '"whether to assign new tensors to the parameters instead of changing the"'
    ),
    asked="set_overwrite_module_params_on_conversion True hooks on parameters disappear after model.to",
    value=False,
    wrong={"kept": True},
    witness={"way": "double", "hooks": 1},
    isolated=True,
)
@given(way=st.sampled_from(["double", "half", "cpu"]), hooks=FEW)
def test_overwritten(subject: Subject, way: str, hooks: int) -> None:
    import torch

    seen: List[str] = []
    module = linear()
    weight = module.weight
    for _ in range(hooks):
        weight.register_hook(lambda grad: seen.append("before"))
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        WAYS[way](module)
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
    module.weight.register_hook(lambda grad: seen.append("behind"))
    called(module).backward()
    assert (module.weight is weight) == subject.value
    assert seen == ["before"] * (hooks if subject.value else 0) + ["behind"]


@clause(
    "built.conversions.sync_batchnorm",
    says="convert_sync_batchnorm drops forward hooks and pre-hooks of each BatchNorm, and keeps those around it.",
    source=("measured", "https://github.com/pytorch/pytorch/issues/187298"),
    asked="convert_sync_batchnorm removes my forward hooks batchnorm layers distributed",
    about=("register_forward_hook", "register_forward_pre_hook"),
    value=False,
    wrong={"kept": True},
    witness={"pres": [True]},
)
@given(pres=PRE_OR_NOT)
def test_sync_batchnorm(subject: Subject, pres: List[bool]) -> None:
    import torch

    seen: List[Any] = []
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    numbered(net[0], kinds_of(pres), seen)
    net.register_forward_pre_hook(lambda module, args: seen.append("around"))
    net = torch.nn.SyncBatchNorm.convert_sync_batchnorm(net).eval()
    # Some releases run a SyncBatchNorm on a GPU only: pre-hooks are called all the same.
    raised(lambda: net(torch.ones(2, 2)), ValueError)
    assert (seen == ["around"]) == (not subject.value)
    assert [len(net[0]._forward_pre_hooks), len(net[0]._forward_hooks)] == [0, 0]
