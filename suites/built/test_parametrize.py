"""Parametrizations: which hooks of the user live on, and which are called when the parameter is read."""

from typing import List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.built.modules import WAYS, called, calls_of_late_weight_hook, linear, module_hooks_live, weight_hooks_live
from suites.hooking import FEW, PRE_OR_NOT, UP_TO_TWO

EACH_ACCESS = (
    'docs: torch.nn.utils.parametrize.register_parametrization "the module will return the parametrized version"'
)
PARAMETRIZED = "torch.nn.utils.parametrize.register_parametrization"


@clause(
    "built.parametrize.weight",
    says="After register_parametrization a tensor hook that the parameter had before is still called.",
    source="measured",
    asked="register_parametrization gradient hook on original parameter survives",
    where="the parametrization has no right_inverse",
    needs=PARAMETRIZED,
    about="register_hook",
    value=True,
    wrong={"lost": False},
    witness={"hooks": 1, "passes": 1},
)
@given(hooks=FEW, passes=FEW)
def test_weight(subject: Subject, hooks: int, passes: int) -> None:
    assert weight_hooks_live(["parametrize"], hooks, passes) == subject.value


@clause(
    "built.parametrize.weight_norm",
    says="After parametrizations.weight_norm a tensor hook on the old weight is not called for calls of the module.",
    source="measured",
    asked="parametrizations.weight_norm original0 original1 my weight hook is gone",
    needs="torch.nn.utils.parametrizations.weight_norm",
    about="register_hook",
    value=False,
    wrong={"kept": True},
    witness={"hooks": 1, "passes": 1},
)
@given(hooks=FEW, passes=FEW)
def test_weight_norm(subject: Subject, hooks: int, passes: int) -> None:
    assert weight_hooks_live(["parametrizations.weight_norm"], hooks, passes) == subject.value


@clause(
    "built.parametrize.module",
    says="A parametrization keeps the forward hooks and pre-hooks that its module had before.",
    source="measured",
    asked="forward hooks after register_parametrization class changed ParametrizedLinear still called",
    needs=PARAMETRIZED,
    about=("register_forward_hook", "register_forward_pre_hook"),
    value=True,
    wrong={"lost": False},
    witness={"pres": [True, False], "calls": 1},
)
@given(pres=PRE_OR_NOT, calls=FEW)
def test_module(subject: Subject, pres: List[bool], calls: int) -> None:
    assert module_hooks_live("parametrize", pres, calls) == subject.value


@clause(
    "built.parametrize.computed",
    says="A tensor hook on a parametrized m.weight is not called for calls of m: each makes a new one.",
    source=EACH_ACCESS,
    asked="register_hook on parametrized weight never fires each access creates new tensor",
    where=("the parametrization returns a new tensor", "outside cached()"),
    needs=PARAMETRIZED,
    about="register_hook",
    value=0,
    wrong={"of the call before": 1},
    witness={"later": 1},
)
@given(later=FEW)
def test_computed(subject: Subject, later: int) -> None:
    assert calls_of_late_weight_hook("parametrize_scaled", later) == subject.value


@clause(
    "built.parametrize.accesses",
    says="A forward hook on a parametrization is called at each access of the parameter, in cached() at the first.",
    source=(EACH_ACCESS, 'docs: torch.nn.utils.parametrize.cached "computed and cached the first time"'),
    asked="parametrization forward called many times per step cached how often is my hook on parametrization run",
    needs="torch.nn.utils.parametrize.cached",
    about="register_forward_hook",
    value=True,
    wrong={"once": False},
    witness={"accesses": 2, "calls": 0, "cached": False},
)
@given(accesses=st.integers(1, 3), calls=UP_TO_TWO, cached=st.booleans())
def test_accesses(subject: Subject, accesses: int, calls: int, cached: bool) -> None:
    import contextlib

    import torch.nn.utils.parametrize as parametrize

    seen: List[int] = []
    module = linear()
    WAYS["parametrize"](module)
    module.parametrizations.weight[0].register_forward_hook(lambda module, args, output: seen.append(1))
    with parametrize.cached() if cached else contextlib.ExitStack():
        for _ in range(accesses):
            assert module.weight.requires_grad
        for _ in range(calls):
            called(module)
    assert len(seen) == (accesses + calls if subject.value and not cached else 1)
