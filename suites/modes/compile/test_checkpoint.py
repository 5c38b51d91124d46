"""torch.utils.checkpoint inside of what torch.compile compiles: where the two are not the sum of what each does."""

import warnings
from collections import namedtuple
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from suites.hooking import SOME
from suites.modes.compile.networks import scale
from suites.modes.networks import ones
from suites.modes.sources import COMPILE, EAGER, FORMS

Pair = namedtuple("Pair", ("first", "second"))


def recomputed(module: Any, reentrant: bool) -> Any:
    """The module inside of one that calls it through checkpoint."""
    import torch
    from torch.utils.checkpoint import checkpoint

    class Recomputed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inside = module

        def forward(self, x: Any) -> Any:
            return checkpoint(self.inside, x, use_reentrant=reentrant)

    return Recomputed()


def compiled(module: Any) -> Any:
    """The module, compiled from its next call on."""
    import torch

    torch.compiler.reset()
    return torch.compile(module, backend="eager")


@clause(
    "modes.compile.checkpoint_packs",
    says="Pack hooks around a compiled module with checkpoint() in it are given the parameters used there.",
    where=("no graph break and no effects inside", EAGER),
    source="measured",
    asked="saved_tensors_hooks pack called for weights activation checkpointing inside torch.compile offload",
    matters_if="saved ?compiled ?checkpoint",
    needs=(COMPILE, FORMS),
    about="torch.autograd.graph.saved_tensors_hooks",
    readings=by_release(
        "silent",
        ("2.12", "input and parameters", "inputs"),
        "Pack hooks around a compiled module that calls checkpoint() get the input and the parameters used in there.",
        ("2.5", "as without checkpoint", "all"),
        "Pack hooks around a compiled module that calls checkpoint() are given all that is saved without checkpoint().",
        ("", "twice", "twice"),
        "Pack hooks around a compiled module that calls checkpoint() are given twice what is saved without it.",
    ),
    witness={"layers": 2, "reentrant": False, "doubles": False},
)
@given(layers=SOME, reentrant=st.booleans(), doubles=st.booleans())
def test_checkpoint_packs(subject: Subject, layers: int, reentrant: bool, doubles: bool) -> None:
    import torch

    net = torch.nn.Sequential(*(scale(2) for _ in range(layers)))
    if doubles:
        net.register_forward_hook(lambda module, args, output: output * 2)
    packed: List[Any] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda one: packed.append(one) or one, lambda one: one):
        compiled(recomputed(net, reentrant))(ones())
    # Each layer saves its input and its weight.
    assert len(packed) == {"inputs": 1 + layers, "all": 2 * layers, "twice": 4 * layers}[subject.value]


@clause(
    "modes.compile.checkpoint_named_tuple",
    says="Compiled, checkpoint(use_reentrant=True) leaves a named tuple as it is; eager makes a plain one.",
    where=("it alone is returned, no graph break", EAGER),
    source="measured",
    asked="forward hook output namedtuple becomes tuple activation checkpointing torch.compile",
    matters_if="forward ?compiled ?checkpoint ?output_tuple_class",
    needs=(COMPILE, FORMS),
    about="register_forward_hook",
    readings=by_release(
        ("none", "silent", "error"),
        ("2.3", "a named tuple", "Pair"),
        "A compiled checkpoint(use_reentrant=True) leaves a named tuple as it is; in eager it makes it a plain one.",
        ("2.2", "a plain tuple", "tuple"),
        "Compiled or not, checkpoint(use_reentrant=True) makes a plain tuple of a named one.",
        ("", "InternalTorchDynamoError", "InternalTorchDynamoError"),
        "A compiled checkpoint(use_reentrant=True) of what returns a named tuple raises InternalTorchDynamoError.",
    ),
    witness={"by": 2},
)
@given(by=st.integers(2, 4))
def test_checkpoint_named_tuple(subject: Subject, by: int) -> None:
    import torch
    from torch._dynamo.exc import InternalTorchDynamoError

    class Both(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return Pair(x * by, x)

    net = recomputed(Both(), True)
    seen: List[str] = []
    net.register_forward_hook(lambda module, args, output: seen.append(type(output).__name__))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net(ones())
        try:
            compiled(net)(ones())
        except InternalTorchDynamoError:
            seen.append("InternalTorchDynamoError")
    assert seen == ["tuple", subject.value]
