"""The handle itself, and what registering leaves in a module."""

import copy
import gc
import inspect
import pickle
import weakref
from collections import OrderedDict

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

FORWARD_HOOK = "docs: torch.nn.Module.register_forward_hook"
GLOBAL_HOOK = "docs: torch.nn.modules.module.register_module_forward_hook"
HANDLE = "https://github.com/pytorch/pytorch/blob/main/torch/utils/hooks.py"
GLOBAL_FORWARD = "torch.nn.modules.module.register_module_forward_hook"


@clause(
    "handles.handle.signatures",
    says="The functions that register hooks around forward take the hook and, by name, the options they know.",
    source=(FORWARD_HOOK, GLOBAL_HOOK, "docs: torch.nn.Module.register_forward_pre_hook"),
    readings=(
        Reading(
            "the hook alone",
            "<1.6",
            "No global functions yet.",
            value={"register_forward_pre_hook": [], "register_forward_hook": []},
        ),
        Reading(
            "global ones",
            ">=1.6,<2.0",
            "The global functions take the hook alone too.",
            value={
                "register_forward_pre_hook": [],
                "register_forward_hook": [],
                "register_module_forward_pre_hook": [],
                "register_module_forward_hook": [],
            },
        ),
        Reading(
            "prepend and with_kwargs",
            "==2.0.*",
            "The methods have options.",
            value={
                "register_forward_pre_hook": ["prepend", "with_kwargs"],
                "register_forward_hook": ["prepend", "with_kwargs"],
                "register_module_forward_pre_hook": [],
                "register_module_forward_hook": [],
            },
        ),
        Reading(
            "always_call",
            ">=2.1,<2.6",
            "One more for forward hooks, global ones included.",
            value={
                "register_forward_pre_hook": ["prepend", "with_kwargs"],
                "register_forward_hook": ["prepend", "with_kwargs", "always_call"],
                "register_module_forward_pre_hook": [],
                "register_module_forward_hook": ["always_call"],
            },
        ),
        Reading(
            "global with_kwargs",
            ">=2.6",
            "Global forward hooks may ask for keywords; there is no prepend.",
            value={
                "register_forward_pre_hook": ["prepend", "with_kwargs"],
                "register_forward_hook": ["prepend", "with_kwargs", "always_call"],
                "register_module_forward_pre_hook": [],
                "register_module_forward_hook": ["with_kwargs", "always_call"],
            },
        ),
    ),
    covers=(
        "module_forward.api.nn.Module.register_forward_hook",
        "module_forward.api.nn.Module.register_forward_pre_hook",
        "module_forward.api.nn.modules.module.register_module_forward_hook",
        "module_forward.api.nn.modules.module.register_module_forward_pre_hook",
        "module_forward.global.fwd_prepend_rejected",
        "module_forward.fwdkw.keyword_only",
        "module_forward.prekw.keyword_only",
    ),
)
def test_signatures(subject: Subject) -> None:
    import torch
    from torch.nn.modules import module as everywhere

    options = {}
    for place, kind in ((torch.nn.Module, ""), (everywhere, "module_")):
        for name in (f"register_{kind}forward_pre_hook", f"register_{kind}forward_hook"):
            if hasattr(place, name):
                # What is not keyword-only is given with its kind, so that it would be seen.
                parameters = list(inspect.signature(getattr(place, name)).parameters.values())
                first = ["self", "hook"] if place is torch.nn.Module else ["hook"]
                options[name] = [
                    one.name if one.kind is one.KEYWORD_ONLY else f"{one.kind} {one.name}"
                    for one in parameters[len(first) :]
                ]
    assert options == subject.value


@clause(
    "handles.handle.ids",
    says="Ids count on by one over all modules, kinds and tensors, and none is given twice.",
    source=("measured", HANDLE),
    readings=(
        Reading("one count", "", "A removed hook's id is gone for good.", value=([0, 1, 2, 3, 4], False)),
        Reading("never per module", "never", "Each module counts for itself.", value=([0, 0, 1, 0, 1], True)),
    ),
    covers=(
        "module_forward.handle.id_increments",
        "module_forward.handle.id_shared_tensor",
        "module_forward.handle.id_not_reused",
        "module_forward.handle.eq_identity",
    ),
)
def test_ids(subject: Subject) -> None:
    import torch

    one, other, tensor = torch.nn.Identity(), torch.nn.Identity(), torch.ones(1, requires_grad=True)
    handles = [one.register_forward_hook(print), other.register_forward_pre_hook(print)]
    handles.append(other.register_forward_hook(print))
    handles[-1].remove()
    handles += [tensor.register_hook(abs), one.register_forward_hook(print)]
    ids = [handle.id - handles[0].id for handle in handles]
    assert (ids, handles[0] == copy.copy(handles[0])) == subject.value


@clause(
    "handles.handle.block",
    says="A with block on a handle gives the handle, removes the hook also on an error, and lets that out.",
    source=("measured", HANDLE),
    readings=(
        Reading("lets it out", "", "The hook ran once, inside.", value=(True, "KeyError", ["x"])),
        Reading("never swallows", "never", "The error ends at the block.", value=(True, "none", ["x"])),
    ),
    covers=("module_forward.handle.context_manager", "module_forward.handle.context_exception"),
)
def test_block(subject: Subject) -> None:
    import torch

    seen, module, raised = [], torch.nn.Identity(), "none"
    handle = module.register_forward_hook(lambda module, args, output: seen.append(output))
    try:
        with handle as inside:
            module("x")
            raise KeyError
    except KeyError as error:
        raised = type(error).__name__
    module("y")
    assert (inside is handle, raised, seen) == subject.value


@clause(
    "handles.handle.weak",
    says="A handle may be dropped, and the hook stays; it keeps no module alive, and may outlive it.",
    source=("measured", HANDLE),
    readings=(
        Reading("weak", "", "It knows the dict of the hooks through a weak reference.", value=(["x"], True, None)),
        Reading("never owns", "never", "The hook lives as long as its handle.", value=([], False, None)),
    ),
    covers=(
        "module_forward.handle.drop_keeps_hook",
        "module_forward.handle.weak",
        "module_forward.handle.after_death",
    ),
)
def test_weak(subject: Subject) -> None:
    import torch

    seen, module = [], torch.nn.Identity()
    handle = module.register_forward_pre_hook(print)
    handle.remove()
    module.register_forward_hook(lambda module, args, output: seen.append(output))
    gc.collect()
    module("x")
    alive = weakref.ref(module)
    del module
    gc.collect()
    assert (seen, alive() is None, handle.remove()) == subject.value


@clause(
    "handles.handle.plain_dict",
    says="A RemovableHandle of one's own needs a dict that can be referred to weakly, such as an OrderedDict.",
    source=("measured", HANDLE),
    readings=(
        Reading("not a plain dict", "", "A plain one raises TypeError.", value=["TypeError", "none"]),
        Reading("never any dict", "never", "Any mapping will do.", value=["none", "none"]),
    ),
    covers=("module_forward.handle.plain_dict",),
)
def test_plain_dict(subject: Subject) -> None:
    from torch.utils.hooks import RemovableHandle

    raised = []
    for kind in (dict, OrderedDict):
        hooks = kind()
        try:
            RemovableHandle(hooks)
            raised.append("none")
        except TypeError as error:
            raised.append(type(error).__name__)
    assert raised == subject.value


def shout(module, args, output):
    """A hook that pickle finds by its name."""
    return output + "!"


@clause(
    "handles.handle.copies",
    says="A handle copied with its module works on the copied module; one copied alone works on nothing.",
    source=("measured", HANDLE),
    readings=(
        Reading(
            "with its module",
            "",
            "By pickle and by deepcopy: (what the original returns, what the copy returns) after the copy's remove().",
            value=[("x!", "x"), ("x!", "x"), ("x!", "x!")],
        ),
        Reading(
            "never the original",
            "never",
            "A copied handle removes the original hook.",
            value=[("x", "x!"), ("x", "x!"), ("x", "x!")],
        ),
    ),
    covers=(
        "module_forward.handle.pickle_with_module",
        "module_forward.handle.deepcopy_with_module",
        "module_forward.handle.pickle_alone",
    ),
)
def test_copies(subject: Subject) -> None:
    import torch

    def through_pickle(value):
        return pickle.loads(pickle.dumps(value))

    def apart(pair):
        return through_pickle(pair[0]), through_pickle(pair[1])

    seen = []
    for way in (through_pickle, copy.deepcopy, apart):
        module = torch.nn.Identity()
        twin, handle = way((module, module.register_forward_hook(shout)))
        handle.remove()
        seen.append((module("x"), twin("x")))
    assert seen == subject.value


@clause(
    "handles.handle.same_function",
    says="A function registered twice is called twice, and each handle removes one of the two.",
    source="measured",
    readings=(
        Reading("two hooks", "", "A hook is a registration, not a function.", value=["x!!", "x!", "x"]),
        Reading("never one hook", "never", "A function is registered once.", value=["x!", "x", "x"]),
    ),
)
def test_same_function(subject: Subject) -> None:
    import torch

    module = torch.nn.Identity()
    handles = [module.register_forward_hook(shout) for _ in range(2)]
    seen = [module("x")]
    for handle in handles:
        handle.remove()
        seen.append(module("x"))
    assert seen == subject.value


@clause(
    "handles.handle.nothing_left",
    says="Removing its hooks leaves the dicts of a module as they were, those of the options included.",
    source="measured",
    needs="torch.nn.Module.register_forward_hook(with_kwargs)",
    readings=(
        Reading("nothing", "", "Each of the dicts is empty again.", value=([], ["hook"])),
        Reading(
            "never the options",
            "never",
            "with_kwargs stays behind.",
            value=(["_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs"], ["hook"]),
        ),
    ),
    covers=("module_forward.fwdkw.flags_removed", "module_forward.prekw.flag_dict"),
)
def test_nothing_left(subject: Subject) -> None:
    import torch

    module = torch.nn.Identity()
    handles = [
        module.register_forward_pre_hook(print, prepend=True, with_kwargs=True),
        module.register_forward_hook(print, prepend=True, with_kwargs=True),
    ]
    for handle in handles:
        handle.remove()
    left = sorted(name for name, value in vars(module).items() if "hook" in name and value)
    # The same question of a module that has one, to see that the dicts are looked at.
    module.register_forward_hook(print)
    kept = ["hook" for name, value in vars(module).items() if "hook" in name and value]
    assert (left, kept) == subject.value


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
        Reading("too", "", "It is looked up at each call.", value=["x", "y"]),
        Reading("never only older", "never", "It is put on the modules that there are.", value=["x"]),
    ),
    covers=("module_forward.global.later_modules",),
)
def test_later_modules(subject: Subject) -> None:
    import torch
    from torch.nn.modules.module import register_module_forward_hook

    seen, older = [], torch.nn.Identity()
    with register_module_forward_hook(lambda module, args, output: seen.append(output)):
        older("x")
        torch.nn.Identity()("y")
    assert seen == subject.value


@clause(
    "handles.handle.walks",
    says="apply, train, to, zero_grad, state_dict and repr call no hook and drop none.",
    source="measured",
    readings=(
        Reading("neither", "", "Hooks belong to calls.", value=([], ["called"])),
        Reading("never called", "never", "Each of them calls the module.", value=(["called"], ["called"])),
    ),
    covers=("module_forward.misc.apply_no_fire", "module_forward.misc.repr"),
)
def test_walks(subject: Subject) -> None:
    import torch

    seen, module = [], torch.nn.Linear(1, 1)
    module.register_forward_hook(lambda module, args, output: seen.append("called"))
    module.apply(lambda inner: inner).train().eval().to(torch.float64).zero_grad()
    module.load_state_dict(module.state_dict())
    repr(module)
    before = list(seen)
    module(torch.ones(1, dtype=torch.float64))
    assert (before, seen) == subject.value
