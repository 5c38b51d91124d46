"""What registering leaves in a module, and which modules a hook is for."""

from typing import Dict, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.hooking import AROUND, UP_TO_THREE, numbered, raised
from suites.names import GLOBAL_FORWARD, KWARGS

ABOUT = ("register_forward_hook", "register_forward_pre_hook")


@clause(
    "handles.handle.nothing_left",
    says="handle.remove() of a forward hook or pre-hook removes all its entries from the dicts of its module.",
    source="test: test/nn/test_module_hooks.py TestModuleHooks.test_remove_kwarg_hooks",
    asked="check private _forward_hooks_with_kwargs leftover flags after unregister leak clean up",
    device="none",
    needs=KWARGS,
    value=True,
    wrong={"never the options": False},
    witness={"hooks": [("forward", True, True, True)], "removed": [0]},
)
@given(
    hooks=st.lists(st.tuples(AROUND, st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=4),
    removed=st.lists(UP_TO_THREE, max_size=5),
)
def test_nothing_left(subject: Subject, hooks: List[Tuple[str, bool, bool, bool]], removed: List[int]) -> None:
    import torch

    module, handles, options = torch.nn.Identity(), [], []
    for kind, prepend, with_kwargs, always_call in hooks:
        flags = {"with_kwargs"} if with_kwargs else set()
        if always_call and kind == "forward" and subject.contract.always_call:
            flags.add("always_call")
        register = getattr(module, f"register_{kind}_hook")
        handles.append(register(print, prepend=prepend, **dict.fromkeys(flags, True)))
        options.append(flags)
    for place in removed:
        if place < len(handles):
            handles[place].remove()
    expected: Dict[str, List[int]] = {}
    for place, (handle, hook) in enumerate(zip(handles, hooks)):
        store, prepend = f"_{hook[0]}_hooks", hook[1]
        if place not in removed:
            order = expected.setdefault(store, [])
            order.insert(0 if prepend else len(order), handle.id)
        if place not in removed or not subject.value:
            for flag in options[place]:
                name = {"with_kwargs": "_with_kwargs", "always_call": "_always_called"}[flag]
                expected.setdefault(store + name, []).append(handle.id)
    assert {name: list(ids) for name, ids in vars(module).items() if "_hooks" in name and ids} == expected


@clause(
    "handles.handle.before_init",
    says="Registering a forward hook on self before super().__init__() raises AttributeError.",
    source="measured",
    asked="cannot register in constructor subclass layer object has no attribute _forward_hooks",
    device="none",
    about="register_forward_hook",
    matters_if="never",
    readings=(
        Reading(
            "AttributeError",
            "!=1.6.*,!=1.7.*",
            "Registering a forward hook on self before super().__init__() raises AttributeError.",
            value="AttributeError",
            effect="error",
        ),
        Reading(
            "ModuleAttributeError",
            ">=1.6,<1.8",
            "A forward hook registered on self before super().__init__() raises ModuleAttributeError (AttributeError).",
            value="ModuleAttributeError",
            effect="error",
        ),
        Reading("never accepted", "never", "The hook waits for its module.", value="none"),
    ),
)
def test_before_init(subject: Subject) -> None:
    import torch

    class Early(torch.nn.Module):
        def __init__(self):
            self.register_forward_hook(print)
            super().__init__()

    assert raised(Early, AttributeError) == subject.value


@clause(
    "handles.handle.later_modules",
    says="A global forward hook also runs when a module that was built after its registration is called.",
    source='docs: torch.nn.modules.module.register_module_forward_hook "global forward hook for all the modules"',
    asked="register_module_forward_hook does it apply to layers created afterwards new models",
    device="none",
    needs=GLOBAL_FORWARD,
    value=True,
    wrong={"never only older": False},
    witness={"does": ["add", "build", "call"]},
)
@given(does=st.lists(st.sampled_from(["add", "build", "call", "remove"]), min_size=1, max_size=8))
def test_later_modules(subject: Subject, does: List[str]) -> None:
    import torch
    from torch.nn.modules.module import register_module_forward_hook

    seen, handles, modules = [], [], [torch.nn.Identity()]
    expected, live, built = [], [], [0]
    try:
        for moment, what in enumerate(does):
            if what == "add":
                handles.append(
                    register_module_forward_hook(
                        lambda module, args, output, moment=moment: seen.append((moment, output))
                    )
                )
                live.append(moment)
            elif what == "build":
                modules.append(torch.nn.Identity())
                built.append(moment)
            elif what == "remove" and handles:
                handles.pop(0).remove()
                live.pop(0)
            elif what == "call":
                for number, module in enumerate(modules):
                    module(number)
                    expected += [(at, number) for at in live if subject.value or built[number] < at]
    finally:
        for handle in handles:
            handle.remove()
    assert seen == expected


#: What walks over a module, or shows it, and calls nothing.
WALKS = {
    "apply": lambda module: module.apply(lambda inner: inner),
    "train": lambda module: module.train(),
    "eval": lambda module: module.eval(),
    "to": lambda module: module.to(make.device),
    "double": lambda module: module.double(),
    "zero_grad": lambda module: module.zero_grad(),
    "load": lambda module: module.load_state_dict(module.state_dict()),
    "requires_grad_": lambda module: module.requires_grad_(False),
    "repr": repr,
}


@clause(
    "handles.handle.walks",
    says="apply, train, to, zero_grad, load_state_dict and repr neither call nor remove forward hooks or pre-hooks.",
    source="measured",
    asked="does model eval cuda half or loading checkpoint delete or trigger my callbacks",
    value=False,
    wrong={"never called": True},
    witness={"walks": ["apply"], "hooks": [("forward", 0)]},
)
@given(
    walks=st.lists(st.sampled_from(sorted(WALKS)), min_size=1, max_size=4),
    hooks=st.lists(st.tuples(AROUND, st.integers(0, 1)), min_size=1, max_size=4),
)
def test_walks(subject: Subject, walks: List[str], hooks: List[Tuple[str, int]]) -> None:
    import torch

    seen = []
    modules = [torch.nn.Sequential(make.Linear(1, 1))]
    modules.append(modules[0][0])
    for number, (kind, place) in enumerate(hooks):
        numbered(modules[place], [kind], seen, first=number)
    for name in walks:
        WALKS[name](modules[0])
    before = len(seen)
    modules[0].double()(make.ones(1, dtype=torch.float64))
    turns = [("forward_pre", 0), ("forward_pre", 1), ("forward", 1), ("forward", 0)]
    order = [number for turn in turns for number, hook in enumerate(hooks) if hook == turn]
    assert (before, seen) == (len(hooks) * len(walks) if subject.value else 0, order)
