"""Conversions, loading and moving: which hooks of a module and of its parameters live on.

What sets a flag of the process has a process of its own.
"""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.built.modules import WAYS, called, linear, module_hooks_live, weight_hooks_live
from suites.hooking import FEW, PRE_OR_NOT, UP_TO_TWO, kinds_of, numbered, raised
from suites.saving import ASSIGN

ABOUT = "register_hook"

META = ("torch.nn.Module.to_empty", "torch.nn.Linear(device)")
MODULE_HOOKS = ("register_forward_hook", "register_forward_pre_hook")
SWAP = "torch.__future__.set_swap_module_params_on_conversion"
KEPT = {"value": True, "wrong": {"lost": False}}
LOST = {"value": False, "wrong": {"kept": True}}


@each(
    Row(
        "built.conversions.weight",
        "double(), half(), float(), share_memory() and to() on the same device keep the tensor hooks of parameters.",
        "measured",
        asked="does model.half or model.double or model.to remove gradient hooks on parameters",
        where="no flag of torch.__future__ is set",
        ways=["double", "half", "cpu", "share_memory"],
        witness={"ways": ["double", "half"], "hooks": 1, "passes": 1},
        **KEPT,
    ),
    Row(
        "built.conversions.load",
        "load_state_dict without assign= keeps the tensor hooks of the parameters.",
        "measured",
        asked="load_state_dict loses parameter hooks checkpoint loading register_hook kept",
        where="no flag of torch.__future__ is set",
        ways=["load"],
        witness={"ways": ["load"], "hooks": 1, "passes": 1},
        **KEPT,
    ),
    Row(
        "built.conversions.assign",
        "After load_state_dict(assign=True) passes through the module call no tensor hook of its old parameters.",
        "measured",
        asked="load_state_dict assign=True parameter hooks gone gradient clipping hook not called after loading",
        where="the dict holds another tensor for each of them",
        needs=ASSIGN,
        ways=["assign"],
        witness={"ways": ["assign"], "hooks": 1, "passes": 1},
        **LOST,
    ),
    Row(
        "built.conversions.to_empty",
        'to_empty(device="cpu") drops the tensor hooks of parameters that are on the meta device.',
        "measured",
        asked="meta device init to_empty parameter hooks lost fsdp deferred initialization register_hook",
        needs=META,
        ways=["to_empty"],
        before="meta",
        witness={"ways": ["to_empty"], "hooks": 1, "passes": 1},
        **LOST,
    ),
    ways=lambda row: st.lists(st.sampled_from(row.ways), min_size=1, max_size=3 if len(row.ways) > 1 else 1),
    hooks=lambda row: FEW,
    passes=lambda row: FEW,
)
def weight_hooks(subject: Subject, ways: List[str], hooks: int, passes: int, *, row: Any) -> None:
    assert weight_hooks_live(ways, hooks, passes, getattr(row, "before", "")) == subject.value


@each(
    Row(
        "built.conversions.module",
        "double(), half(), share_memory() and load_state_dict keep the forward hooks and pre-hooks of a module.",
        "measured",
        asked="are forward hooks kept when I call model.half model.float model.to or load weights",
        about=MODULE_HOOKS,
        ways=["double", "half", "cpu", "share_memory", "load"],
        witness={"way": "double", "pres": [True, False], "calls": 1},
        **KEPT,
    ),
    Row(
        "built.conversions.module_emptied",
        "load_state_dict(assign=True) and to_empty() keep the forward hooks and pre-hooks of a module.",
        "measured",
        asked="forward hooks after to_empty or load_state_dict assign=True kept",
        needs=(ASSIGN, *META),
        about=MODULE_HOOKS,
        ways=["assign", "to_empty"],
        witness={"way": "assign", "pres": [True, False], "calls": 1},
        **KEPT,
    ),
    way=lambda row: st.sampled_from(row.ways),
    pres=lambda row: PRE_OR_NOT,
    calls=lambda row: FEW,
)
def module_hooks(subject: Subject, way: str, pres: List[bool], calls: int, *, row: Any) -> None:
    assert module_hooks_live(way, pres, calls) == subject.value


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
    says="If swap_module_params_on_conversion swapped a parameter with a tensor hook, new ones of its sort never run.",
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
    about=MODULE_HOOKS,
    value=False,
    wrong={"kept": True},
    witness={"pres": [True]},
)
@given(pres=PRE_OR_NOT)
def test_sync_batchnorm(subject: Subject, pres: List[bool]) -> None:
    import torch

    seen: List[Any] = []
    net = torch.nn.Sequential(make.BatchNorm1d(2))
    numbered(net[0], kinds_of(pres), seen)
    net.register_forward_pre_hook(lambda module, args: seen.append("around"))
    net = torch.nn.SyncBatchNorm.convert_sync_batchnorm(net).eval()
    # Some releases run a SyncBatchNorm on a GPU only: pre-hooks are called all the same.
    raised(lambda: net(make.ones(2, 2)), ValueError)
    assert (seen == ["around"]) == (not subject.value)
    assert [len(net[0]._forward_pre_hooks), len(net[0]._forward_hooks)] == [0, 0]
