"""Copies of a module after use: a hook stored a tensor on it, and now it is copied, pickled, converted or saved."""

import pickle
from typing import Any, Callable, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.built.modules import called, linear
from suites.hooking import FEW
from suites.names import DEEPCOPY, FULL
from suites.tensors import outcome

ABOUT = "register_forward_hook"
#: Where a hook keeps a tensor on its module.
PLACES = st.sampled_from(["attribute", "list", "dict"])


def keep(module: Any, args: Any, output: Any) -> None:
    """A forward hook, found by pickle, that keeps the output on its module."""
    module.kept = output


def keeping(place: str, detach: bool) -> Callable[..., None]:
    """A forward hook that keeps the output, or what is detached from it, in a place on its module."""

    def hook(module: Any, args: Any, output: Any) -> None:
        tensor = output.detach() if detach else output
        module.kept = {"attribute": tensor, "list": [tensor], "dict": {"output": tensor}}[place]

    return hook


@clause(
    "built.used.deepcopy",
    says="copy.deepcopy of m raises RuntimeError while an output that a forward hook stored on m has a grad_fn.",
    source=DEEPCOPY,
    asked="deepcopy model fails after forward hook saved activation on module only graph leaves support deepcopy",
    value=True,
    wrong={"never refused": False},
    witness={"place": "attribute", "detach": False, "modes": [True]},
)
@given(place=PLACES, detach=st.booleans(), modes=st.lists(st.booleans(), max_size=3))
def test_deepcopy(subject: Subject, place: str, detach: bool, modes: List[bool]) -> None:
    import copy

    import torch

    module = linear()
    module.register_forward_hook(keeping(place, detach))
    for mode in modes:
        with torch.set_grad_enabled(mode):
            called(module)
    fails = bool(modes) and modes[-1] and not detach and subject.value
    for copied in (module, torch.nn.Sequential(module)):
        assert outcome(lambda copied=copied: copy.deepcopy(copied)) == ("RuntimeError" if fails else "accepted")


@clause(
    "built.used.pickled",
    says="A module on which a forward hook keeps its output can be pickled: the loaded output is a leaf.",
    where="the hook is a function that pickle finds by name",
    source="measured",
    asked="torch.save whole model with activations stored by hook non leaf tensor pickled",
    value=True,
    wrong={"inner": False},
    witness={"calls": 1},
)
@given(calls=FEW)
def test_pickled(subject: Subject, calls: int) -> None:
    module = linear()
    module.register_forward_hook(keep)
    for _ in range(calls):
        called(module)
    there = pickle.loads(pickle.dumps(module))
    facts = (there.kept.is_leaf, there.kept.requires_grad, module.kept.is_leaf)
    assert facts == (subject.value, True, False)
    assert there.kept.tolist() == module.kept.tolist()


@clause(
    "built.used.left_out",
    says="double() and state_dict() leave out a tensor that a forward hook has stored on its module.",
    where="it is no Parameter and no buffer",
    source="measured",
    asked="activation saved by hook as attribute not moved by model.to not in state_dict",
    value=False,
    wrong={"converted": True},
    witness={"place": "attribute", "detach": True},
)
@given(place=PLACES, detach=st.booleans())
def test_left_out(subject: Subject, place: str, detach: bool) -> None:
    import torch

    module = linear()
    module.register_forward_hook(keeping(place, detach))
    called(module)
    module.double()
    kept = {"attribute": lambda: module.kept, "list": lambda: module.kept[0], "dict": lambda: module.kept["output"]}
    assert (kept[place]().dtype == torch.float64) == subject.value
    assert sorted(module.state_dict()) == ["bias", "weight"]


@clause(
    "built.used.gradients",
    says="A module on which a full backward hook keeps grad_input can be deep-copied, unless create_graph=True.",
    where="the input requires grad",
    source=DEEPCOPY,
    asked="deepcopy module after backward hook stored grad_input create_graph gradient penalty error",
    needs=FULL,
    value=True,
    wrong={"never refused": False},
    witness={"create_graph": True},
)
@given(create_graph=st.booleans())
def test_gradients(subject: Subject, create_graph: bool) -> None:
    import copy

    module = linear()
    module.register_full_backward_hook(lambda module, grad_input, grad_output: setattr(module, "kept", grad_input))
    called(module).pow(2).backward(create_graph=create_graph)
    module.zero_grad()
    fails = create_graph and subject.value
    assert outcome(lambda: copy.deepcopy(module)) == ("RuntimeError" if fails else "accepted")
