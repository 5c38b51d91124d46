"""Which of the user's hooks live on when torch changes a module: those of the module, and those of its weight."""

from typing import Any, List

from hypothesis import strategies as st

from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.built.changed import WAYS, called, linear
from suites.hooking import FEW, PRE_OR_NOT, in_turn, kinds_of, numbered
from suites.tensors import multiplies

ABOUT = "register_hook"
MODULE_HOOKS = ("register_forward_hook", "register_forward_pre_hook")

NORM_DOCS = 'docs: torch.nn.utils.weight_norm "replaces the parameter specified"'
PARAMETRIZED = "torch.nn.utils.parametrize.register_parametrization"
META = ("torch.nn.Module.to_empty", "torch.nn.Linear(device)")
ASSIGN = "torch.nn.Module.load_state_dict(assign)"
KEPT = {"value": True, "wrong": {"lost": False}}
LOST = {"value": False, "wrong": {"kept": True}}


@each(
    Row(
        "built.weight_norm.weight",
        "After weight_norm a tensor hook that the weight had before is not called for calls of the module.",
        NORM_DOCS,
        asked="hook on weight no longer called after weight_norm register_hook on conv weight silent",
        ways=["weight_norm"],
        witness={"ways": ["weight_norm"], "hooks": 1, "passes": 1},
        **LOST,
    ),
    Row(
        "built.spectral_norm.weight",
        "After torch.nn.utils.spectral_norm a tensor hook that the weight had before is still called.",
        "measured",
        asked="spectral_norm weight_orig gradient hook registered before still fires",
        ways=["spectral_norm"],
        witness={"ways": ["spectral_norm"], "hooks": 1, "passes": 1},
        **KEPT,
    ),
    Row(
        "built.prune.weight",
        "After torch.nn.utils.prune a tensor hook that the weight had before is still called.",
        "measured",
        asked="gradient hook on pruned weight_orig does it survive torch.nn.utils.prune",
        ways=["prune"],
        witness={"ways": ["prune"], "hooks": 1, "passes": 1},
        **KEPT,
    ),
    Row(
        "built.parametrize.weight",
        "After register_parametrization a tensor hook that the parameter had before is still called.",
        "measured",
        asked="register_parametrization gradient hook on original parameter survives",
        where="the parametrization has no right_inverse",
        needs=PARAMETRIZED,
        ways=["parametrize"],
        witness={"ways": ["parametrize"], "hooks": 1, "passes": 1},
        **KEPT,
    ),
    Row(
        "built.parametrize.weight_norm",
        "After parametrizations.weight_norm a tensor hook on the old weight is not called for calls of the module.",
        "measured",
        asked="parametrizations.weight_norm original0 original1 my weight hook is gone",
        needs="torch.nn.utils.parametrizations.weight_norm",
        ways=["parametrizations.weight_norm"],
        witness={"ways": ["parametrizations.weight_norm"], "hooks": 1, "passes": 1},
        **LOST,
    ),
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
        device="meta",
        witness={"ways": ["to_empty"], "hooks": 1, "passes": 1},
        **LOST,
    ),
    ways=lambda row: st.lists(st.sampled_from(row.ways), min_size=1, max_size=3 if len(row.ways) > 1 else 1),
    hooks=lambda row: FEW,
    passes=lambda row: FEW,
)
def weight_hooks(subject: Subject, ways: List[str], hooks: int, passes: int, *, row: Any) -> None:
    seen: List[int] = []
    module = linear(getattr(row, "device", "cpu"))
    for number in range(hooks):
        module.weight.register_hook(multiplies(1, lambda grad, number=number: seen.append(number)))
    for way in ways:
        WAYS[way](module)
    for _ in range(passes):
        called(module).backward()
    assert seen == list(range(hooks)) * (passes if subject.value else 0)


@each(
    Row(
        "built.weight_norm.module",
        "weight_norm, spectral_norm and prune keep the forward hooks and pre-hooks that a module had before.",
        "measured",
        asked="forward hooks after weight_norm spectral_norm prune still registered on layer",
        about=MODULE_HOOKS,
        ways=["weight_norm", "spectral_norm", "prune"],
        witness={"way": "prune", "pres": [True, False], "calls": 1},
        **KEPT,
    ),
    Row(
        "built.parametrize.module",
        "A parametrization keeps the forward hooks and pre-hooks that its module had before.",
        "measured",
        asked="forward hooks after register_parametrization class changed ParametrizedLinear still called",
        needs=PARAMETRIZED,
        about=MODULE_HOOKS,
        ways=["parametrize"],
        witness={"way": "parametrize", "pres": [True, False], "calls": 1},
        **KEPT,
    ),
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
    seen: List[Any] = []
    module, kinds = linear(), kinds_of(pres)
    numbered(module, kinds, seen)
    WAYS[way](module)
    for _ in range(calls):
        called(module)
    assert seen == in_turn(kinds) * (calls if subject.value else 0)
