"""weight_norm: which hook it is made of, and which hooks of the user live on."""

from typing import List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.built.modules import WAYS, called, calls_of_late_weight_hook, linear, module_hooks_live, weight_hooks_live
from suites.hooking import FEW, PRE_OR_NOT, UP_TO_TWO

ABOUT = "register_forward_pre_hook"
#: They compute the weight anew in each call.
COMPUTE = ["weight_norm", "spectral_norm", "prune"]


@clause(
    "built.weight_norm.weight",
    says="After weight_norm a tensor hook that the weight had before is not called for calls of the module.",
    source='docs: torch.nn.utils.weight_norm "replaces the parameter specified"',
    asked="hook on weight no longer called after weight_norm register_hook on conv weight silent",
    about="register_hook",
    value=False,
    wrong={"kept": True},
    witness={"hooks": 1, "passes": 1},
)
@given(hooks=FEW, passes=FEW)
def test_weight(subject: Subject, hooks: int, passes: int) -> None:
    assert weight_hooks_live(["weight_norm"], hooks, passes) == subject.value


@clause(
    "built.weight_norm.module",
    says="weight_norm, spectral_norm and prune keep the forward hooks and pre-hooks that a module had before.",
    source="measured",
    asked="forward hooks after weight_norm spectral_norm prune still registered on layer",
    about=("register_forward_hook", "register_forward_pre_hook"),
    value=True,
    wrong={"lost": False},
    witness={"way": "prune", "pres": [True, False], "calls": 1},
)
@given(way=st.sampled_from(COMPUTE), pres=PRE_OR_NOT, calls=FEW)
def test_module(subject: Subject, way: str, pres: List[bool], calls: int) -> None:
    assert module_hooks_live(way, pres, calls) == subject.value


@clause(
    "built.weight_norm.computed",
    says="A tensor hook on a weight computed by weight_norm, spectral_norm or prune is not called for later calls.",
    where="its module is called, not in parametrize.cached()",
    source="measured",
    asked="register_hook on layer.weight with weight_norm or pruning works only once",
    value=1,
    wrong={"stays": 2},
    witness={"way": "prune", "later": 1},
)
@given(way=st.sampled_from(COMPUTE), later=FEW)
def test_computed(subject: Subject, way: str, later: int) -> None:
    assert calls_of_late_weight_hook(way, later) == subject.value


@clause(
    "built.weight_norm.place",
    says="torch.nn.utils.weight_norm makes m.weight in a forward pre-hook: earlier pre-hooks find the last call's.",
    source='docs: torch.nn.utils.weight_norm "tensor from the magnitude and direction before every"',
    asked="forward_pre_hook sees stale weight with weight_norm order of hooks weight not updated yet",
    value=True,
    wrong={"first of all": False},
    witness={"before": 1, "behind": 1, "calls": 1},
)
@given(before=UP_TO_TWO, behind=UP_TO_TWO, calls=FEW)
def test_place(subject: Subject, before: int, behind: int, calls: int) -> None:
    seen: List[float] = []
    module = linear()
    for number in range(before + 1 + behind):
        if number == before:
            WAYS["weight_norm"](module)
        else:
            module.register_forward_pre_hook(lambda module, args: seen.append(round(module.weight[0].norm().item(), 3)))
    module.weight_g.data.fill_(1)
    called(module)
    del seen[:]
    for scale in range(2, 2 + calls):
        module.weight_g.data.fill_(scale)
        called(module)
    found = [[scale - 1.0 if subject.value else scale] * before + [scale] * behind for scale in range(2, 2 + calls)]
    assert seen == [norm for norms in found for norm in norms]


@clause(
    "built.weight_norm.loaded",
    says="A forward pre-hook on an unpickled module may take the place of its torch.nn.utils.weight_norm.",
    source="measured",
    asked="loaded pickled model weight_norm stops working after register_forward_pre_hook weights frozen",
    value="lost",
    wrong={"both": "there"},
    see="handles.copies.unpickled_id",
    note="Ids count from 0 in each process, and only an unpickled handle moves the count on; set back here by hand.",
)
def test_loaded(subject: Subject) -> None:
    import pickle

    import torch
    from torch.utils.hooks import RemovableHandle

    module = linear()
    WAYS["weight_norm"](module)
    with torch.no_grad():
        called(module)
    (stored,) = module._forward_pre_hooks
    there, count = pickle.loads(pickle.dumps(module)), RemovableHandle.next_id
    RemovableHandle.next_id = stored
    try:
        there.register_forward_pre_hook(lambda module, args: None)
    finally:
        RemovableHandle.next_id = count
    before = there.weight.tolist()
    there.weight_g.data.fill_(100)
    called(there)
    assert ("lost" if there.weight.tolist() == before else "there") == subject.value
