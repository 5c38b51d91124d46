"""Copies of a module whose weight torch computes."""

from typing import Any, List

from hypothesis import strategies as st

from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.built.modules import WAYS, called, linear
from suites.names import DEEPCOPY
from suites.tensors import outcome

ABOUT = "register_forward_pre_hook"


@each(
    Row(
        "built.copies.weight_norm",
        "copy.deepcopy of a module with torch.nn.utils.weight_norm or prune raises RuntimeError.",
        DEEPCOPY,
        asked="deepcopy model with weight_norm only tensors created explicitly "
        "by the user graph leaves support the deepcopy protocol cannot deep copy",
        where=("its last call was in grad mode", "its weight requires grad"),
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
        where=("its last call was in grad mode", "the computed weight requires grad"),
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
