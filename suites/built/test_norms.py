"""weight_norm, spectral_norm, prune and parametrizations: the hooks that they are made of, and those of the user."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.built.changed import WAYS, called, linear
from suites.gradient.said import DEEPCOPY
from suites.hooking import FEW, UP_TO_TWO
from suites.names import PULL
from suites.tensors import outcome

ABOUT = "register_forward_pre_hook"

BEFORE_FORWARD = 'docs: torch.nn.utils.weight_norm "tensor from the magnitude and direction before every"'
EACH_ACCESS = (
    'docs: torch.nn.utils.parametrize.register_parametrization "the module will return the parametrized version"'
)
CACHED = 'docs: torch.nn.utils.parametrize.cached "computed and cached the first time"'
REMOVES_ALL = 'code: torch/nn/utils/spectral_norm.py "for k, hook in module._load_state_dict_pre_hooks.items():"'
PARAMETRIZED = "torch.nn.utils.parametrize.register_parametrization"


@clause(
    "built.weight_norm.place",
    says="torch.nn.utils.weight_norm makes m.weight in a forward pre-hook: earlier pre-hooks find the last call's.",
    where="prepend= is left out",
    source=BEFORE_FORWARD,
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


@each(
    Row(
        "built.weight_norm.computed",
        "A tensor hook on a weight computed by weight_norm, spectral_norm or prune is not called for later calls.",
        "measured",
        asked="register_hook on layer.weight with weight_norm or pruning works only once",
        ways=["weight_norm", "spectral_norm", "prune"],
        value=1,
        wrong={"stays": 2},
        witness={"way": "prune", "later": 1},
    ),
    Row(
        "built.parametrize.computed",
        "A tensor hook on a parametrized m.weight is not called for calls of m: each makes a new one.",
        EACH_ACCESS,
        asked="register_hook on parametrized weight never fires each access creates new tensor",
        where=("the parametrization returns a new tensor", "outside cached()"),
        needs=PARAMETRIZED,
        about="register_hook",
        ways=["parametrize_scaled"],
        value=0,
        wrong={"of the call before": 1},
        witness={"way": "parametrize_scaled", "later": 1},
    ),
    way=lambda row: st.sampled_from(row.ways),
    later=lambda row: FEW,
)
def computed(subject: Subject, way: str, later: int, *, row: Any) -> None:
    seen: List[int] = []
    module = linear()
    WAYS[way](module)
    first = called(module)
    module.weight.register_hook(lambda grad: seen.append(1))
    first.backward()
    for _ in range(later):
        called(module).backward()
    assert len(seen) == (subject.value if subject.value < 2 else 1 + later)


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


@clause(
    "built.spectral_norm.removed",
    says="After remove_spectral_norm a module loads the state dict that it then gives.",
    source=(REMOVES_ALL, PULL + "22545"),
    asked="Missing key weight_orig weight_u in state_dict after remove_spectral_norm load_state_dict fails",
    matters_if="never",
    value="accepted",
    wrong={"refuses": "RuntimeError"},
    witness={"modules": 1},
)
@given(modules=FEW)
def test_removed(subject: Subject, modules: int) -> None:
    import torch

    net = torch.nn.Sequential(*[linear() for _ in range(modules)])
    WAYS["spectral_norm"](net[-1])
    torch.nn.utils.remove_spectral_norm(net[-1])
    assert outcome(lambda: net.load_state_dict(net.state_dict())) == subject.value


@clause(
    "built.prune.removed",
    says="prune.remove takes prune's forward pre-hook away and leaves those of the user, in their order.",
    source='docs: torch.nn.utils.prune.remove "and the pruning method from the forward hook"',
    asked="prune.remove deletes which forward_pre_hooks make pruning permanent my hook stays",
    value=0,
    wrong={"stays": 1},
    witness={"before": 1, "behind": 1},
)
@given(before=UP_TO_TWO, behind=UP_TO_TWO)
def test_prune_removed(subject: Subject, before: int, behind: int) -> None:
    import torch.nn.utils.prune

    ran: List[int] = []
    module = linear()
    for number in range(before + behind + 1):
        if number == before:
            WAYS["prune"](module)
        else:
            module.register_forward_pre_hook(lambda module, args, number=number: ran.append(number))
    torch.nn.utils.prune.remove(module, "weight")
    called(module)
    own = [number for number in range(before + behind + 1) if number != before]
    assert (ran, len(module._forward_pre_hooks) - len(own)) == (own, subject.value)


@clause(
    "built.parametrize.accesses",
    says="A forward hook on a parametrization is called at each access of the parameter, in cached() at the first.",
    source=(EACH_ACCESS, CACHED),
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


@each(
    Row(
        "built.copies.weight_norm",
        "copy.deepcopy of a module with torch.nn.utils.weight_norm or prune raises RuntimeError.",
        DEEPCOPY,
        asked="deepcopy model with weight_norm only tensors created explicitly "
        "by the user graph leaves support the deepcopy protocol",
        where=("its last call was in grad mode", "its weight needs a gradient"),
        ways=["weight_norm", "prune"],
        fresh=False,
        value=True,
        wrong={"never refused": False},
        witness={"way": "weight_norm", "calls": [True]},
    ),
    Row(
        "built.copies.spectral_norm",
        "copy.deepcopy of a module with torch.nn.utils.spectral_norm raises RuntimeError.",
        DEEPCOPY,
        asked="deepcopy gan discriminator with spectral_norm after training step fails graph leaves ema copy",
        where=("its last call was in grad mode", "the computed weight needs a gradient"),
        ways=["spectral_norm"],
        fresh=True,
        value=True,
        wrong={"never refused": False},
        witness={"way": "spectral_norm", "calls": [True]},
    ),
    way=lambda row: st.sampled_from(row.ways),
    calls=lambda row: st.lists(st.booleans(), max_size=3),
)
def copied(subject: Subject, way: str, calls: List[bool], *, row: Any) -> None:
    import copy

    import torch

    module = linear()
    WAYS[way](module)
    for mode in calls:
        with torch.set_grad_enabled(mode):
            called(module)
    can = row.fresh if not calls else not calls[-1]
    assert outcome(lambda: copy.deepcopy(module)) == ("accepted" if can or not subject.value else "RuntimeError")
