"""What study notes teach about how a module keeps and calls its hooks, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

import inspect
import re
from collections import OrderedDict
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.families import MODULE_KINDS
from fixtures.judge.about import apis
from fixtures.judge.claim import ABSENT, claims
from fixtures.judge.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.judge.table import Row

NOTES = "tutorials: widely read study notes, 2019-2022"
MODULE = "docs: torch.nn.Module"
GLOBAL = "docs: torch.nn.modules.module.register_module_forward_hook"

OWN_1_4 = ["register_backward_hook", "register_forward_hook", "register_forward_pre_hook"]
OWN_1_8 = OWN_1_4 + ["register_full_backward_hook"]
OWN_2_0 = OWN_1_8 + ["register_full_backward_pre_hook"]


def for_all(names: Any) -> Any:
    """The names of the global twins of a module's functions."""
    return [name.replace("register_", "register_module_") for name in names]


@clause(
    "tutorial.calling.t30_three_kinds",
    says="The call of a module knows forward pre-hooks, forward hooks and backward hooks of its own, no more.",
    source=(NOTES, MODULE, GLOBAL + ' "Register a global forward hook for all the modules"'),
    about=("register_forward_pre_hook", "register_forward_hook", "register_backward_hook"),
    concern="never",
    readings=(
        Reading(
            "true", "<1.6", "The call of a module knows three kinds of hook, all its own.", value=(OWN_1_4, [], False)
        ),
        Reading(
            "false since 1.6",
            ">=1.6,<1.8",
            "The call of a module also runs global hooks, of the same three kinds.",
            value=(OWN_1_4, for_all(OWN_1_4), False),
            headline=False,
            effect="other",
        ),
        Reading(
            "false since 1.8",
            ">=1.8,<2.0",
            "The call of a module also runs full backward hooks, and global hooks of each kind.",
            value=(OWN_1_8, for_all(OWN_1_8), False),
            headline=False,
            effect="other",
        ),
        Reading(
            "false",
            ">=2.0",
            "The call of a module also runs full backward hooks and pre-hooks, and global hooks of each kind.",
            value=(OWN_2_0, for_all(OWN_2_0), True),
            headline=False,
            effect="other",
        ),
    ),
)
def test_t30_three_kinds(subject: Subject) -> None:
    import torch
    from torch.nn.modules import module

    class Times(torch.nn.Module):
        def forward(self, x: Any, by: int) -> Any:
            return x * by

    def heard(owner: Any, name: str, **options: bool) -> Any:
        """What a hook that is registered so is given, in one call of a module and its backward."""
        times, seen = Times(), []
        with getattr(owner or times, name)(lambda *given: seen.append(given), **options):
            times(torch.tensor(3.0, requires_grad=True), by=2).backward()
        if hasattr(module, "_global_is_full_backward_hook"):  # it outlives the hook, and refuses the other kind
            module._global_is_full_backward_hook = None
        return seen

    kind = re.compile(r"register_(module_)?(full_)?(forward|backward)(_pre)?_hook")
    own = sorted(name for name in dir(torch.nn.Module) if kind.fullmatch(name) and heard(None, name))
    everywhere = sorted(name for name in dir(module) if kind.fullmatch(name) and heard(module, name))
    parameters = inspect.signature(torch.nn.Module.register_forward_pre_hook).parameters
    options = {name: True for name in parameters if name == "with_kwargs"}
    keywords = [given[2:] for given in heard(None, "register_forward_pre_hook", **options)] == [({"by": 2},)]
    assert (own, everywhere, keywords) == subject.value


@clause(
    "tutorial.calling.t14_three_dicts",
    says="A module keeps forward and backward hooks in three OrderedDicts, each under its handle's id.",
    source=(NOTES, MODULE, "docs: torch.nn.Module.register_full_backward_pre_hook", "measured"),
    concern="module_dicts all_dicts",
    instead="take _backward_pre_hooks too, where the module has it.",
    readings=(
        Reading(
            "true",
            "<2.0",
            "Hooks are in _forward_pre_hooks, _forward_hooks and _backward_hooks, each under its handle's id.",
            value=["_backward_hooks", "_forward_hooks", "_forward_pre_hooks"],
        ),
        Reading(
            "false",
            ">=2.0",
            "Full backward pre-hooks of a module are in a fourth dict, _backward_pre_hooks.",
            value=["_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks"],
            headline=False,
            effect="other",
        ),
    ),
    witness={"times": 1, "removed": False},
)
@given(times=st.integers(1, 3), removed=st.booleans())
def test_t14_three_dicts(subject: Subject, times: int, removed: bool) -> None:
    import torch
    from torch.utils.hooks import RemovableHandle

    dicts = set()
    for register in dir(torch.nn.Module):
        if re.fullmatch(r"register_(full_)?(forward|backward)(_pre)?_hook", register):
            module = torch.nn.Module()
            others = set(vars(module))
            handles = [getattr(module, register)(print) for _ in range(times)]
            assert {type(handle) for handle in handles} == {RemovableHandle}
            if removed:
                handles.pop(0).remove()
            kept = [(handle.id, print) for handle in handles]
            found = [name for name in others if isinstance(vars(module)[name], OrderedDict) and vars(module)[name]]
            assert [list(vars(module)[name].items()) for name in found] == [kept] * bool(kept)
            dicts.update(found)
    assert sorted(dicts) == (subject.value if times > removed else [])


@claims(
    Row(
        "tutorial.calling.t29_only_call",
        "module(x) runs the hooks of a module; module.forward(x) only those of the modules that it calls.",
        (NOTES, 'docs: torch.nn.Module.forward "the former takes care of running the registered hooks"'),
        readings=(
            Reading(
                "true",
                "",
                "module.forward(x) runs no hook of that module, and global hooks only for the modules that it calls.",
                by={"output.calls.forward_runs_none": "always"},
            ),
            Reading("false", "never", "Both run the hooks."),
        ),
        about=apis(MODULE_KINDS, everywhere=True),
    ),
    Row(
        "tutorial.calling.t15_global_first",
        "Of every kind of hook, the global ones run before the module's own.",
        (
            NOTES,
            GLOBAL + ' "This hook will be executed before specific module hooks"',
            'docs: torch.nn.modules.module.register_module_full_backward_hook "will be called before hooks registered"',
        ),
        readings=(
            Reading(
                "true",
                "",
                "Global hooks run before a module's own of the same kind, whatever was registered first.",
                by={
                    "ordering.between.global_forward_first": "always",
                    "ordering.between.global_forward_pre_first": "always",
                    "ordering.between.global_legacy_first": "always",
                    "ordering.between.global_full_backward_first": ("always", ABSENT),
                    "ordering.between.global_full_backward_pre_first": ("always", ABSENT),
                    "ordering.between.global_before_prepended": ("always", ABSENT),
                },
            ),
            Reading("false", "never", "A module's own hooks come first."),
        ),
        needs="torch.nn.modules.module.register_module_forward_pre_hook",
        about=("register_forward_hook", "register_module_forward_hook"),
    ),
    Row(
        "tutorial.calling.t32_every_time",
        "A hook runs every time: at each forward call of its module, at each backward through it.",
        (
            NOTES,
            'docs: torch.nn.Module.register_forward_hook "The hook will be called every time after"',
            'docs: torch.Tensor.register_hook "will be called every time a gradient"',
        ),
        readings=(
            Reading(
                "true",
                "",
                "A hook runs once for each call of its module, also of a module that one forward calls twice.",
                by={
                    "ordering.nested.shared_forward": "always",
                    "output.many.calls": "always",
                    "backward.many.everywhere": "always",
                    "gradient.replace.every_backward": "always",
                },
            ),
            Reading("false", "never", "Only the first time."),
        ),
        note="So activation checkpointing, which calls forward again during backward, runs forward hooks twice.",
    ),
    Row(
        "tutorial.calling.t31_any_callable",
        "Lambdas, closures, partials and bound methods are all fine as hooks.",
        (
            NOTES,
            "test: test/test_autograd.py TestAutograd.test_hook_with_no_name",
            "https://github.com/pytorch/pytorch/pull/37785",
        ),
        readings=(
            Reading(
                "true",
                ">=1.6",
                "Lambdas, closures, partials and bound methods are called as hooks of modules and of tensors.",
                by={"gradient.functions.without_a_name": "may", "handles.functions.on_a_module": "always"},
            ),
            Reading(
                "false",
                "<1.6",
                "After a tensor hook without __name__, such as a partial, replaced a gradient, "
                "the next backward raises.",
                by={"gradient.functions.without_a_name": "next pass raises", "handles.functions.on_a_module": "always"},
                headline=False,
                effect="raises",
            ),
        ),
        about=("register_forward_hook", "register_hook"),
        concern="tensor returns ?without_name",
        note="Being called is all that is said: a module with a lambda for a hook cannot be pickled.",
    ),
)
def decided(subject: Subject) -> None:
    """What each of them says follows from the clauses that its readings name."""
    raise NotImplementedError
