"""What becomes of the hooks when a module is copied: `copy.deepcopy` takes them along, the handles stay behind."""

import copy
import functools
import pickle
from typing import List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.contract import contract_for, installed_version
from fixtures.draw import FACTORS, NUMBERS, available, plans
from fixtures.plan import MODULE_KINDS, Backward, Chain, Copy, Forward, Hook, Input, Leaf, Plan, Remove, Scale, hooks_of
from fixtures.subject import Subject

COPIES = ("measured", "https://docs.python.org/3/library/copy.html")
FORWARD_HOOK = "docs: torch.nn.Module.register_forward_hook"
FULL = "torch.nn.Module.register_full_backward_hook"


@st.composite
def hooked(draw, kinds=MODULE_KINDS, least: int = 1) -> Plan:
    """A module in a container, with hooks of one kind on either, and one run. It is left to the clause to copy."""
    kind = draw(st.sampled_from(available(contract_for(installed_version()), kinds)))
    places = draw(st.lists(st.sampled_from(["m0", "m1"]), min_size=least, max_size=4))
    hooks = [
        Hook(kind, place, f"h{number}", (Scale(draw(FACTORS)),) if draw(st.booleans()) else ())
        for number, place in enumerate(places)
    ]
    net = Chain("m0", (Leaf("m1", "scale", (draw(NUMBERS),)),))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward((draw(NUMBERS),))))


@st.composite
def copied(draw, *steps, **options) -> Plan:
    """A hooked module that is copied once or twice before it is called; `steps` come after the copy."""
    plan = draw(hooked(**options))
    hooks = hooks_of(plan)
    copies = [Copy()] * draw(st.integers(1, 2))
    return Plan(plan.net, plan.inputs, (*hooks, *copies, *steps, *plan.steps[len(hooks) :]))


@clause(
    "handles.copies.hooks_go_along",
    says="A deep copy of a module calls the hooks of the original, in the same order and to the same effect.",
    source=COPIES,
    covers=("module_forward.copy.deepcopy_keeps",),
)
@given(plan=copied())
def test_hooks_go_along(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan) == subject.expect(plan.without(Copy))


@clause(
    "handles.copies.handle_stays",
    says="The handle of the original removes nothing from the copy.",
    source=COPIES,
    covers=("module_forward.copy.deepcopy_independent",),
)
@given(plan=copied(Remove("h0"), Remove("h1")))
def test_handle_stays(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan) == subject.expect(plan.without(Copy, Remove))


@clause(
    "handles.copies.new_hooks_behind",
    says="A hook that the copy is given runs behind those it brought along.",
    source=COPIES,
)
@given(plan=copied(Hook("forward", "m1", "new"), kinds=("forward",)))
def test_new_hooks_behind(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    inner = [hook.label for hook in hooks_of(plan) if hook.on == "m1"]
    assert [label for label in trace.calls() if label in inner] == inner
    assert inner[-1] == "new"


@st.composite
def with_options(draw) -> Plan:
    """Forward hooks with options on a module that is copied, called with a keyword."""
    hooks = []
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["forward_pre", "forward"]))
        flags = {name: True for name in ("prepend", "with_kwargs") if draw(st.booleans())}
        hooks.append(Hook(kind, "m0", f"h{number}", (Scale(draw(FACTORS)),), **flags))
    net = Leaf("m0", "scale", (draw(NUMBERS),))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Copy(), Forward(draw(NUMBERS))))


@clause(
    "handles.copies.options_go_along",
    says="The copy's hooks keep the options that they were registered with.",
    source=COPIES,
    needs="torch.nn.Module.register_forward_hook(with_kwargs)",
    covers=("module_forward.copy.deepcopy_flags",),
)
@given(plan=with_options())
def test_options_go_along(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace == subject.expect(plan.without(Copy))
    for hook in hooks_of(plan):
        usual = 3 if hook.kind == "forward" else 2
        assert [len(seen) for seen in trace.seen_by(hook.label)] == [usual + hook.with_kwargs]


@clause(
    "handles.copies.sort_goes_along",
    says="A copy of a module with full backward hooks refuses legacy ones, as the original does.",
    source="measured",
    needs=FULL,
)
@given(plan=copied(Hook("backward", "m0", "legacy0"), Hook("backward", "m1", "legacy1"), kinds=("full_backward",)))
def test_sort_goes_along(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    taken = {hook.on for hook in hooks_of(plan, "full_backward")}
    assert trace.raised() == [("hook", "RuntimeError")] * len(taken)


@st.composite
def in_between(draw) -> Plan:
    """A copy taken between a forward and its backward."""
    plan = draw(hooked(("full_backward", "backward")))
    return Plan(plan.net, plan.inputs, (*plan.steps[:-1], Copy(), plan.steps[-1]))


@clause(
    "handles.copies.graph_stays",
    says="A backward belongs to the modules of its forward: a copy taken meanwhile gets no gradient.",
    source=COPIES,
)
@given(plan=in_between())
def test_graph_stays(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [grads["m1.weight"] for grads in trace.grads()] == [None]
    assert sorted(trace.calls()) == sorted(hook.label for hook in hooks_of(plan))


@clause(
    "handles.copies.anywhere",
    says="In any network and script, going on with deep copies does what the contract predicts.",
    source="measured",
)
@given(
    plan=plans(
        kinds=(*MODULE_KINDS, "tensor"),
        inputs=(1, 2),
        outputs=(1, 2),
        depth=2,
        everywhere=True,
        options=True,
        remove=True,
        runs=3,
        copies=True,
    )
)
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "handles.copies.shallow_shares",
    says="copy.copy(module) shares the hooks: one that any of the two is given runs for the other too.",
    source=COPIES,
    readings=(
        Reading("shared", "", "All have the same dict, as DataParallel's replicas have.", value=True),
        Reading("never its own", "never", "Each copy has a dict of its own.", value=False),
    ),
    witness={"on": [1], "removed": []},
    covers=("module_forward.copy.shallow_shares",),
)
@given(
    on=st.lists(st.integers(0, 2), min_size=1, max_size=4),
    removed=st.lists(st.integers(0, 3), max_size=2),
)
def test_shallow_shares(subject: Subject, on: List[int], removed: List[int]) -> None:
    import torch

    seen, module = [], torch.nn.Identity()
    # A replica has the dict of hooks of its module too.
    modules = [module, copy.copy(module), module._replicate_for_data_parallel()]
    handles = [
        modules[place].register_forward_hook(lambda module, args, output, number=number: seen.append((output, number)))
        for number, place in enumerate(on)
    ]
    for number in removed:
        if number < len(handles):
            handles[number].remove()
    for place, one in enumerate(modules):
        one(place)
    left = [(number, place) for number, place in enumerate(on) if number not in removed]
    assert seen == [(at, number) for at in range(3) for number, place in left if place == at or subject.value]


@clause(
    "handles.copies.what_is_copied",
    says="A deep copy's function is the original's; its bound method, partial and object are copies.",
    source=COPIES,
    readings=(
        Reading(
            "as deepcopy does",
            "",
            "Only what a function closes over is still the original's.",
            value={"closure": "original", "bound method": "copy", "partial": "copy", "object": "copy"},
        ),
        Reading(
            "never all shared",
            "never",
            "The copy calls the very same objects.",
            value={"closure": "original", "bound method": "original", "partial": "original", "object": "original"},
        ),
    ),
    witness={"names": ["closure", "bound method", "partial", "object"], "copies": 1},
    covers=(
        "module_forward.copy.deepcopy_own_method",
        "module_forward.copy.deepcopy_closure",
        "module_forward.copy.deepcopy_partial",
        "module_forward.copy.deepcopy_callable_state",
    ),
)
@given(
    names=st.lists(st.sampled_from(["closure", "bound method", "partial", "object"]), min_size=1, max_size=5),
    copies=st.integers(1, 2),
)
def test_what_is_copied(subject: Subject, names: List[str], copies: int) -> None:
    import torch

    seen = []

    class Keeps(torch.nn.Identity):
        def hook(self, module, args, output):
            seen.append("copy" if self is module else "original")

    class Object:
        def __init__(self, module):
            self.module = module

        def __call__(self, module, args, output):
            seen.append("copy" if self.module is module else "original")

    module = Keeps()
    hooks = {
        "closure": lambda given, args, output: seen.append("copy" if module is given else "original"),
        "bound method": module.hook,
        "partial": functools.partial(Keeps.hook, module),
        "object": Object(module),
    }
    for name in names:
        module.register_forward_hook(hooks[name])
    copied = module
    for _ in range(copies):
        copied = copy.deepcopy(copied)
    copied("x")
    assert seen == [subject.value[name] for name in names]


def double(module, args, output):
    """A hook that pickle finds by its name."""
    return output * 2


def tail(module, args, output):
    """Another one."""
    return output + "."


@clause(
    "handles.copies.pickled",
    says="Pickling a module takes along hooks that pickle can name; a lambda makes it fail.",
    source=("measured", "https://docs.python.org/3/library/pickle.html"),
    readings=(
        Reading("taken along", "", "In their order; the state dict knows nothing of hooks.", value=True),
        Reading("never left out", "never", "Hooks are not pickled.", value=False),
    ),
    witness={"hooks": ["double"]},
    covers=(
        "module_forward.copy.pickle_function",
        "module_forward.copy.pickle_lambda",
        "module_forward.copy.state_dict_no_hooks",
    ),
)
@given(hooks=st.lists(st.sampled_from(["double", "tail", "lambda"]), max_size=4))
def test_pickled(subject: Subject, hooks: List[str]) -> None:
    import torch

    known = {"double": double, "tail": tail, "lambda": lambda module, args, output: output}
    module, linear, text = torch.nn.Identity(), torch.nn.Linear(1, 1, bias=False), "x"
    for name in hooks:
        for one in (module, linear):
            one.register_forward_hook(known[name])
        text = {"double": text * 2, "tail": text + ".", "lambda": text}[name]
    try:
        seen = pickle.loads(pickle.dumps(module))("x")
    except (pickle.PicklingError, AttributeError):
        seen = "fails"
    expected = "x" if not subject.value else "fails" if "lambda" in hooks else text
    assert (module("x"), seen, list(linear.state_dict())) == (text, expected, ["weight"])


@clause(
    "handles.copies.unpickled_id",
    says="Loading a pickled module reserves no ids: a later registration may take a loaded hook's place.",
    source="measured",
    readings=(
        Reading("takes its place", "", "The new hook got the id of the loaded one.", value="new"),
        Reading("never both", "never", "The two hooks run one after the other.", value="xx new"),
    ),
    covers=("module_forward.copy.unpickle_id_collision",),
    note="Ids count from 0 in each process, and only an unpickled handle moves the count on; set back here by hand.",
)
def test_unpickled_id(subject: Subject) -> None:
    import torch
    from torch.utils.hooks import RemovableHandle

    module = torch.nn.Identity()
    stored = module.register_forward_hook(double).id
    there, count = pickle.loads(pickle.dumps(module)), RemovableHandle.next_id
    RemovableHandle.next_id = stored
    try:
        there.register_forward_hook(
            lambda module, args, output: (output + " new").replace("x new", "new", output == "x")
        )
    finally:
        RemovableHandle.next_id = count
    assert there("x") == subject.value


@clause(
    "handles.copies.older_state",
    says="A state that lacks the dict of forward hooks is accepted, and fails at the call.",
    source="measured",
    readings=(
        Reading(
            "AttributeError",
            "!=1.6.*,!=1.7.*",
            "The dicts of options are made up for, this one is not.",
            value="AttributeError",
        ),
        Reading(
            "ModuleAttributeError",
            ">=1.6,<1.8",
            "A subclass of it, which two releases had.",
            value="ModuleAttributeError",
        ),
        Reading("never made up for", "never", "A module without that dict has no hooks.", value="none"),
    ),
    covers=("module_forward.copy.setstate_missing_forward_hooks", "module_forward.copy.setstate_missing_flags"),
)
def test_older_state(subject: Subject) -> None:
    import torch

    module, raised = torch.nn.Identity(), "none"
    missing = ("_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called")
    for left in missing[1:], missing:
        older = torch.nn.Identity.__new__(torch.nn.Identity)
        older.__setstate__({name: value for name, value in vars(module).items() if name not in left})
        try:
            older("x")
            raised = "none"
        except AttributeError as error:
            raised = type(error).__name__
    assert raised == subject.value
