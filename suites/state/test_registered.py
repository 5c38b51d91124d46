"""Hooks of saving and loading: which functions may be registered, and what a registration leaves behind."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from suites.hooking import SOME, raised
from suites.saving import NEEDS

MARK = "https://github.com/pytorch/pytorch/pull/131690"
NEED = NEEDS["save_post"]


class Saver:
    """An object whose method is a hook, and that is one itself."""

    def hook(self, *given: Any) -> None:
        """Do nothing."""

    def __call__(self, *given: Any) -> None:
        """Do nothing."""


def returning(*given: Any) -> Any:
    """A new hook that returns the dict that it is given."""

    def hook(module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> Any:
        return state_dict

    return hook


@clause(
    "state.registered.method",
    says="register_state_dict_post_hook() refuses a bound method: it raises AttributeError.",
    source=(MARK, "measured"),
    asked="AttributeError method object has no attribute _from_public_api register_state_dict_post_hook self method",
    device="none",
    needs=NEED,
    docs="contradicts",
    value="AttributeError",
    wrong={"it is taken, as by all others": "none"},
)
def test_method(subject: Subject) -> None:
    import torch

    module = torch.nn.Module()
    assert raised(lambda: module.register_state_dict_post_hook(Saver().hook), AttributeError) == subject.value


@clause(
    "state.registered.callables",
    says="register_state_dict_post_hook() takes a functools.partial, and an object of a class with `def __call__`.",
    where="the class has no __slots__",
    source="measured",
    asked="functools partial or callable object as register_state_dict_post_hook",
    device="none",
    needs=NEED,
    value=[],
    wrong={"it refuses them, as a bound method": ["AttributeError", "AttributeError"]},
)
def test_callables(subject: Subject) -> None:
    import functools

    import torch

    module = torch.nn.Module()
    hooks = (functools.partial(Saver().hook), Saver())
    found = [raised(lambda hook=hook: module.register_state_dict_post_hook(hook), AttributeError) for hook in hooks]
    assert [one for one in found if one != "none"] == subject.value


@clause(
    "state.registered.marks",
    says="A private state-dict hook that is registered as a public one elsewhere, too, must return None from then on.",
    source=(MARK, "measured"),
    asked="state_dict post-hook must return None but I registered with _register_state_dict_hook",
    where="its private registration came first",
    device="none",
    needs=NEED,
    docs="contradicts",
    value="RuntimeError",
    wrong={"its private registration is left alone": "none"},
    witness={"number": 2},
)
@given(number=SOME)
def test_marks(subject: Subject, number: int) -> None:
    import torch

    modules = [torch.nn.Module() for _ in range(number)]
    hook = returning()
    for module in modules:
        module._register_state_dict_hook(hook)
        module.state_dict()
    torch.nn.Module().register_state_dict_post_hook(hook)
    assert {raised(module.state_dict, RuntimeError) for module in modules} == {subject.value}


@clause(
    "state.registered.public_then_private",
    says="_register_state_dict_hook() refuses a function once registered by register_state_dict_post_hook().",
    source=MARK,
    asked="Cannot register the same function as the state dict post hook "
    "that was previously registered via register_state_dict_post_hook",
    device="none",
    needs=NEED,
    value="RuntimeError",
    wrong={"the private method takes it": "none"},
    witness={"removed": True},
)
@given(removed=st.booleans())
def test_public_then_private(subject: Subject, removed: bool) -> None:
    import torch

    hook = returning()
    handle = torch.nn.Module().register_state_dict_post_hook(hook)
    if removed:
        handle.remove()
    assert raised(lambda: torch.nn.Module()._register_state_dict_hook(hook), RuntimeError) == subject.value


@clause(
    "state.registered.weak",
    says="A load pre-hook that is given its module does not keep the module alive, not even in a cycle.",
    where="the hook has no reference to the module",
    source=("https://github.com/pytorch/pytorch/pull/80139", "https://github.com/pytorch/pytorch/issues/78580"),
    asked="memory leak module not freed after load state dict hook with_module reference cycle",
    device="none",
    needs=NEEDS["load_with"],
    readings=by_release(
        "silent",
        ("1.13", "it is gone", True),
        "A load pre-hook that is given its module does not keep the module alive, not even in a cycle.",
        ("", "it waits for the collector", False),
        "A module with a load pre-hook that is given its module is freed by the garbage collector alone.",
    ),
    witness={"number": 2},
    matters_if="load_with ?module_gone",
)
@given(number=SOME)
def test_weak(subject: Subject, number: int) -> None:
    import gc
    import weakref

    import torch

    module = torch.nn.Module()
    for _ in range(number):
        module._register_load_state_dict_pre_hook(print, with_module=True)
    seen = weakref.ref(module)
    gc.disable()
    try:
        del module
        assert (seen() is None) == subject.value
        gc.collect()
        assert seen() is None
    finally:
        gc.enable()


@clause(
    "state.registered.own_loading",
    says="A load pre-hook does not run if its module overrides _load_from_state_dict.",
    where="the method does not call that of torch.nn.Module",
    source="measured",
    asked="load pre hook never called custom _load_from_state_dict quantized layer",
    device="none",
    about="_register_load_state_dict_pre_hook",
    value=0,
    wrong={"it runs, as load post-hooks do": 1},
    witness={"number": 2},
)
@given(number=SOME)
def test_own_loading(subject: Subject, number: int) -> None:
    import torch

    class Own(torch.nn.Module):
        def _load_from_state_dict(self, *given: Any) -> None:
            """Load nothing."""

    module, ran = Own(), []
    for _ in range(number):
        module._register_load_state_dict_pre_hook(lambda *given: ran.append(1))
    module.load_state_dict(module.state_dict())
    assert len(ran) == number * subject.value


@clause(
    "state.registered.pickled",
    says="A load pre-hook that is given its module is pickled with the module, and then given the one that is read.",
    where="pickle takes the hook itself",
    source="measured",
    asked="torch save whole model pickle load state dict hook refers to old module",
    device="none",
    needs=NEEDS["load_with"],
    about="_register_load_state_dict_pre_hook",
    value=["read"],
    wrong={"the hooks stay behind": [], "they are given the module that was written": ["written"]},
)
def test_pickled(subject: Subject) -> None:
    import pickle

    import torch

    module = torch.nn.Module()
    module.label, module.seen = "written", []
    module._register_load_state_dict_pre_hook(noted, with_module=True)
    read = pickle.loads(pickle.dumps(module))
    read.label = "read"
    read.load_state_dict(read.state_dict())
    assert [*module.seen, *read.seen] == subject.value


def noted(module: Any, *given: Any) -> None:
    """A hook that notes which module it is given."""
    module.seen.append(module.label)
