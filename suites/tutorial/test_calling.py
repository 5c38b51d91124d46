"""What study notes teach about how a module keeps and calls its hooks, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

import contextlib
import functools
import inspect
import re
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.families import MODULE_KINDS
from fixtures.judge.about import apis
from fixtures.judge.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.model.contract import contract_for, installed_version
from fixtures.plan.draw import NUMBERS, available, plans
from fixtures.plan.grammar import Again, Backward, Chain, Forward, Hook, Input, Leaf, Plan, hooks_of

NOTES = "tutorials: widely read study notes, 2019-2022"
MODULE = "docs: torch.nn.Module"
GLOBAL = "docs: torch.nn.modules.module.register_module_forward_hook"

CONTRACT = contract_for(installed_version())
OWN_1_4 = ["register_backward_hook", "register_forward_hook", "register_forward_pre_hook"]
OWN_1_8 = OWN_1_4 + ["register_full_backward_hook"]
OWN_2_0 = OWN_1_8 + ["register_full_backward_pre_hook"]


def for_all(names: Any) -> Any:
    """The names of the global twins of a module's functions."""
    return [name.replace("register_", "register_module_") for name in names]


def called(plan: Plan) -> Any:
    """The names of the modules that one forward of a plan made by `rounds` calls, each as often as it is called."""
    return [plan.net.name] + [child.name for child in plan.net.children]


@st.composite
def rounds(draw: Any) -> Plan:
    """Hooks on a chain that may call one module twice; then forwards, with any number of backwards after each."""
    children = [Leaf("m1", "scale", (draw(NUMBERS),))]
    for number in range(2, 2 + draw(st.integers(0, 2))):
        again = Again(draw(st.sampled_from([child.name for child in children])))
        children.append(again if draw(st.booleans()) else Leaf(f"m{number}", "scale", (draw(NUMBERS),)))
    plan = Plan(Chain("m0", tuple(children)), (Input(draw(NUMBERS)),), ())
    kinds = available(CONTRACT, ("forward_pre", "forward", "full_backward", "tensor"))
    steps = []
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(kinds))
        steps.append(Hook(kind, "x0" if kind == "tensor" else draw(st.sampled_from(called(plan))), f"h{number}"))
    for _ in range(draw(st.integers(1, 3))):
        steps += [Forward()] + [Backward((draw(NUMBERS),)) for _ in range(draw(st.integers(0, 2)))]
    return replace(plan, steps=tuple(steps))


#: Where the hooks of t29 may be: on a module, on the module that it calls, or, forward ones, on all.
PLACES = [(on, kind) for on in ("outer", "inner") for kind in ("forward_pre", "forward", "backward")]
PLACES += [("*", kind) for kind in ("forward_pre", "forward") if CONTRACT.global_forward_hooks]


@clause(
    "tutorial.calling.t29_only_call",
    says="module(x) runs the hooks of a module; module.forward(x) only those of the modules that it calls.",
    source=(NOTES, 'docs: torch.nn.Module.forward "the former takes care of running the registered hooks"'),
    about=apis(MODULE_KINDS, everywhere=True),
    readings=(
        Reading(
            "true",
            "",
            "module.forward(x) runs no hook of that module, and global hooks only for the modules that it calls.",
            value=("module(x)",),
        ),
        Reading("false", "never", "Both run the hooks.", value=("module(x)", "module.forward(x)")),
    ),
    witness={"hooks": [("outer", "forward")], "backward": "backward", "ways": ["module.forward(x)"]},
)
@given(
    hooks=st.lists(st.sampled_from(PLACES), min_size=1, max_size=5),
    backward=st.sampled_from(available(CONTRACT, ("backward", "full_backward"))),
    ways=st.lists(st.sampled_from(["module(x)", "module.forward(x)"]), min_size=1, max_size=3),
)
def test_t29_only_call(subject: Subject, hooks: Any, backward: str, ways: Any) -> None:
    import torch
    from torch.nn.modules import module

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    outer, seen = torch.nn.Sequential(Double(), Double()), []
    names = {outer: "outer", outer[0]: "inner", outer[1]: "other"}
    with contextlib.ExitStack() as stack:
        for number, (on, kind) in enumerate(hooks):
            name = f"register_{'module_' if on == '*' else ''}{backward if kind == 'backward' else kind}_hook"
            owner = {"outer": outer, "inner": outer[0], "*": module}[on]
            register = getattr(owner, name)
            stack.enter_context(register(lambda own, *_, number=number: seen.append((number, names[own]))))
        for way in ways:
            seen.clear()
            run = outer if way == "module(x)" else outer.forward
            run(torch.tensor(3.0, requires_grad=True)).backward()
            called = ["outer", "inner", "other"] if way in subject.value else ["inner", "other"]
            assert sorted(seen) == sorted(
                (number, name) for number, (on, _) in enumerate(hooks) for name in called if on in ("*", name)
            )


@clause(
    "tutorial.calling.t30_three_kinds",
    says="The call of a module knows forward pre-hooks, forward hooks and backward hooks of its own, no more.",
    source=(NOTES, MODULE, GLOBAL + ' "Register a global forward hook for all the modules"'),
    about=("register_forward_pre_hook", "register_forward_hook", "register_backward_hook"),
    concern="never",
    readings=(
        Reading(
            "true",
            "<1.6",
            "The call of a module knows three kinds of hook, all its own.",
            value=(OWN_1_4, [], False),
        ),
        Reading(
            "false since 1.6",
            ">=1.6,<1.8",
            "The call of a module also runs global hooks, of the same three kinds.",
            value=(OWN_1_4, for_all(OWN_1_4), False),
            headline=False,
            harm="silent",
        ),
        Reading(
            "false since 1.8",
            ">=1.8,<2.0",
            "The call of a module also runs full backward hooks, and global hooks of each kind.",
            value=(OWN_1_8, for_all(OWN_1_8), False),
            headline=False,
            harm="silent",
        ),
        Reading(
            "false",
            ">=2.0",
            "The call of a module also runs full backward hooks and pre-hooks, and global hooks of each kind.",
            value=(OWN_2_0, for_all(OWN_2_0), True),
            headline=False,
            harm="silent",
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
            harm="silent",
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


@clause(
    "tutorial.calling.t15_global_first",
    says="Of every kind of hook, the global ones run before the module's own.",
    source=(
        NOTES,
        GLOBAL + ' "This hook will be executed before specific module hooks"',
        'docs: torch.nn.modules.module.register_module_full_backward_hook "will be called before hooks registered"',
    ),
    readings=(
        Reading(
            "true",
            "",
            "Global hooks run before a module's own of the same kind, whatever was registered first.",
            value="global",
        ),
        Reading("false", "never", "A module's own hooks come first.", value="own"),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)), (Input(3),), (Hook("forward", "m0", "h0"), Hook("forward", "*", "h1"), Forward())
    ),
    needs="torch.nn.modules.module.register_module_forward_pre_hook",
)
@given(plan=plans(kinds=MODULE_KINDS, inputs=(1, 2), depth=0, least=2, most=6, everywhere=True, options=True))
def test_t15_global_first(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    for kind in MODULE_KINDS:
        place = {hook.label: "global" if hook.on == "*" else "own" for hook in hooks_of(plan, kind)}
        order = [place[label] for label in trace.calls() if label in place]
        assert order == sorted(order, key=lambda one: one != subject.value)


@clause(
    "tutorial.calling.t32_every_time",
    says="A hook runs every time: at each forward call of its module, at each backward through it.",
    source=(
        NOTES,
        'docs: torch.nn.Module.register_forward_hook "The hook will be called every time after"',
        'docs: torch.Tensor.register_hook "will be called every time a gradient"',
    ),
    readings=(
        Reading(
            "true",
            "",
            "A hook runs once for each call of its module, also of a module that one forward calls twice.",
            value="every time",
        ),
        Reading("false", "never", "Only the first time.", value="first time"),
    ),
    witness=Plan(
        Chain("m0", (Leaf("m1", "scale", (2,)), Again("m1"))),
        (Input(3),),
        (Hook("forward", "m1", "h0"), Hook("tensor", "x0", "h1"), Forward(), Backward(), Backward()),
    ),
    note="So activation checkpointing, which calls forward again during backward, runs forward hooks twice.",
)
@given(plan=rounds())
def test_t32_every_time(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    forwards = len([step for step in plan.steps if isinstance(step, Forward)])
    backwards = len([step for step in plan.steps if isinstance(step, Backward)])
    for hook in hooks_of(plan):
        passes = forwards if hook.kind in ("forward_pre", "forward") else backwards
        times = passes * (1 if hook.on == "x0" else called(plan).count(hook.on))
        expected = {"every time": times, "first time": min(times, 1)}
        assert len(trace.seen_by(hook.label)) == expected[subject.value]


@clause(
    "tutorial.calling.t31_any_callable",
    says="Lambdas, closures, partials and bound methods are all fine as hooks.",
    source=(
        NOTES,
        "test: test/test_autograd.py TestAutograd.test_hook_with_no_name",
        "https://github.com/pytorch/pytorch/pull/37785",
    ),
    about=("register_forward_hook", "register_hook"),
    concern="tensor returns ?without_name",
    readings=(
        Reading(
            "true",
            ">=1.6",
            "Lambdas, closures, partials and bound methods are called as hooks of modules and of tensors.",
            value={
                "lambda": [60.0, 20.0, "fine"],
                "closure": [60.0, 20.0, "fine"],
                "partial": [60.0, 20.0, "fine"],
                "bound method": [60.0, 20.0, "fine"],
            },
        ),
        Reading(
            "false",
            "<1.6",
            "After a tensor hook without __name__, such as a partial, replaced a gradient, the next backward raises.",
            headline=False,
            harm="error",
            value={
                "lambda": [60.0, 20.0, "fine"],
                "closure": [60.0, 20.0, "fine"],
                "partial": [60.0, 20.0, "raises"],
                "bound method": [60.0, 20.0, "fine"],
            },
        ),
    ),
    note="Being called is all that is said: a module with a lambda for a hook cannot be pickled.",
)
def test_t31_any_callable(subject: Subject) -> None:
    import torch

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    class Scaler:
        by = 10

        def scale(self, *arguments: Any) -> Any:
            return arguments[-1] * self.by

    def closure(by: int) -> Any:
        return lambda *arguments: arguments[-1] * by

    def scale(by: int, *arguments: Any) -> Any:
        return arguments[-1] * by

    def gradient(function: Any) -> float:
        weight = torch.tensor(1.0, requires_grad=True)
        weight.register_hook(function)
        (weight * 2).backward()
        return weight.grad.item()

    ten = {
        "lambda": lambda *arguments: arguments[-1] * 10,
        "closure": closure(10),
        "partial": functools.partial(scale, 10),
        "bound method": Scaler().scale,
    }
    results = {}
    for name, function in ten.items():
        double = Double()
        double.register_forward_hook(function)
        results[name] = [double(torch.tensor(3.0)).item(), gradient(function)]
        try:
            gradient(lambda grad: grad * 3)
            results[name].append("fine")
        # An error is pending then, and who meets it first makes another one of it.
        except (AttributeError, RuntimeError, SystemError, TypeError):
            results[name].append("raises")
    assert results == subject.value
