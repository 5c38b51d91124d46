"""What registering leaves in a module, and which modules a hook is for."""

from typing import Dict, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

GLOBAL_HOOK = "docs: torch.nn.modules.module.register_module_forward_hook"
GLOBAL_FORWARD = "torch.nn.modules.module.register_module_forward_hook"


@clause(
    "handles.handle.nothing_left",
    says="Removing its hooks leaves the dicts of a module as they were, those of the options included.",
    source="measured",
    needs="torch.nn.Module.register_forward_hook(with_kwargs)",
    readings=(
        Reading("nothing", "", "Each dict has the ids of the hooks that are left, and no other.", value=True),
        Reading("never the options", "never", "with_kwargs stays behind.", value=False),
    ),
    witness={"hooks": [("forward", True, True)], "removed": [0]},
    covers=("module_forward.fwdkw.flags_removed", "module_forward.prekw.flag_dict"),
)
@given(
    hooks=st.lists(
        st.tuples(st.sampled_from(["forward", "forward_pre"]), st.booleans(), st.booleans()), min_size=1, max_size=4
    ),
    removed=st.lists(st.integers(0, 3), max_size=5),
)
def test_nothing_left(subject: Subject, hooks: List[Tuple[str, bool, bool]], removed: List[int]) -> None:
    import torch

    module = torch.nn.Identity()
    handles = [
        getattr(module, f"register_{kind}_hook")(print, prepend=prepend, with_kwargs=with_kwargs)
        for kind, prepend, with_kwargs in hooks
    ]
    for place in removed:
        if place < len(handles):
            handles[place].remove()
    expected: Dict[str, List[int]] = {}
    for place, (handle, (kind, prepend, with_kwargs)) in enumerate(zip(handles, hooks)):
        if place not in removed:
            order = expected.setdefault(f"_{kind}_hooks", [])
            order.insert(0 if prepend else len(order), handle.id)
        if with_kwargs and (place not in removed or not subject.value):
            expected.setdefault(f"_{kind}_hooks_with_kwargs", []).append(handle.id)
    assert {
        name: list(ids) for name, ids in vars(module).items() if name.endswith(("hooks", "kwargs")) and ids
    } == expected


@clause(
    "handles.handle.before_init",
    says="Registering a hook before super().__init__() raises AttributeError.",
    source="measured",
    readings=(
        Reading("AttributeError", "!=1.6.*,!=1.7.*", "There is no dict yet to put it in.", value="AttributeError"),
        Reading(
            "ModuleAttributeError",
            ">=1.6,<1.8",
            "A subclass of it, which two releases had.",
            value="ModuleAttributeError",
        ),
        Reading("never accepted", "never", "The hook waits for its module.", value="none"),
    ),
    covers=("module_forward.misc.before_init",),
)
def test_before_init(subject: Subject) -> None:
    import torch

    raised = "none"

    class Early(torch.nn.Module):
        def __init__(self):
            self.register_forward_hook(print)
            super().__init__()

    try:
        Early()
    except AttributeError as error:
        raised = type(error).__name__
    assert raised == subject.value


@clause(
    "handles.handle.later_modules",
    says="A global hook runs for modules built after its registration too.",
    source=GLOBAL_HOOK,
    needs=GLOBAL_FORWARD,
    readings=(
        Reading("too", "", "It is looked up at each call, whenever the module was built.", value=True),
        Reading("never only older", "never", "It is put on the modules that there are.", value=False),
    ),
    witness={"does": ["add", "build", "call"]},
    covers=("module_forward.global.later_modules",),
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
    "to": lambda module: module.to("cpu"),
    "double": lambda module: module.double(),
    "zero_grad": lambda module: module.zero_grad(),
    "load": lambda module: module.load_state_dict(module.state_dict()),
    "requires_grad_": lambda module: module.requires_grad_(False),
    "repr": repr,
}


@clause(
    "handles.handle.walks",
    says="apply, train, to, zero_grad, state_dict and repr call no hook and drop none.",
    source="measured",
    readings=(
        Reading("neither", "", "Hooks belong to calls.", value=False),
        Reading("never called", "never", "Each of them calls the module.", value=True),
    ),
    witness={"walks": ["apply"], "hooks": [("forward", 0)]},
    covers=("module_forward.misc.apply_no_fire", "module_forward.misc.repr"),
)
@given(
    walks=st.lists(st.sampled_from(sorted(WALKS)), min_size=1, max_size=4),
    hooks=st.lists(st.tuples(st.sampled_from(["forward", "forward_pre"]), st.integers(0, 1)), min_size=1, max_size=4),
)
def test_walks(subject: Subject, walks: List[str], hooks: List[Tuple[str, int]]) -> None:
    import torch

    seen = []
    modules = [torch.nn.Sequential(torch.nn.Linear(1, 1))]
    modules.append(modules[0][0])
    for number, (kind, place) in enumerate(hooks):
        getattr(modules[place], f"register_{kind}_hook")(lambda *given, number=number: seen.append(number))
    for name in walks:
        WALKS[name](modules[0])
    before = len(seen)
    modules[0].double()(torch.ones(1, dtype=torch.float64))
    turns = [("forward_pre", 0), ("forward_pre", 1), ("forward", 1), ("forward", 0)]
    order = [number for turn in turns for number, hook in enumerate(hooks) if hook == turn]
    assert (before, seen) == (len(hooks) * len(walks) if subject.value else 0, order)
