"""What study notes teach about how a module keeps and calls its hooks, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

import functools
import inspect
import re
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.contract import contract_for, installed_version
from fixtures.draw import NUMBERS, available, plans
from fixtures.plan import MODULE_KINDS, Again, Backward, Chain, Forward, Hook, Input, Leaf, Plan, hooks_of
from fixtures.subject import Subject

NOTES = "tutorials: widely read study notes, 2019-2022"
MODULE = "docs: torch.nn.Module"
GLOBAL = "docs: torch.nn.modules.module.register_module_forward_hook"

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
    kinds = available(contract_for(installed_version()), ("forward_pre", "forward", "full_backward", "tensor"))
    steps = []
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(kinds))
        steps.append(Hook(kind, "x0" if kind == "tensor" else draw(st.sampled_from(called(plan))), f"h{number}"))
    for _ in range(draw(st.integers(1, 3))):
        steps += [Forward()] + [Backward((draw(NUMBERS),)) for _ in range(draw(st.integers(0, 2)))]
    return replace(plan, steps=tuple(steps))


@clause(
    "tutorial.calling.t29_only_call",
    says="Hooks belong to the call of a module: module(x) runs them, module.forward(x) runs none.",
    source=(NOTES, MODULE),
    readings=(
        Reading("true", "", "Only the call runs hooks.", value=("module(x)",)),
        Reading("false", "never", "Both run the hooks.", value=("module(x)", "module.forward(x)")),
    ),
    witness={"kinds": ["forward"], "ways": ["module.forward(x)"]},
    covers=("module_forward.call.direct_forward", "module_backward.fire.full.direct_forward"),
)
@given(
    kinds=st.lists(st.sampled_from(["forward_pre", "forward", "backward"]), min_size=1, max_size=5),
    ways=st.lists(st.sampled_from(["module(x)", "module.forward(x)"]), min_size=1, max_size=4),
)
def test_t29_only_call(subject: Subject, kinds: Any, ways: Any) -> None:
    import torch

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    double, seen = Double(), []
    for number, kind in enumerate(kinds):
        register = getattr(double, f"register_{kind}_hook")
        register(lambda *arguments, number=number: seen.append(number))
    order = ("forward_pre", "forward", "backward")
    in_order = sorted(range(len(kinds)), key=lambda number: order.index(kinds[number]))
    for way in ways:
        seen.clear()
        (double if way == "module(x)" else double.forward)(torch.tensor(3.0, requires_grad=True)).backward()
        assert seen == (in_order if way in subject.value else [])


@clause(
    "tutorial.calling.t30_three_kinds",
    says="The call of a module knows forward pre-hooks, forward hooks and backward hooks of its own, no more.",
    source=(NOTES, MODULE, GLOBAL, "release 2.0: forward hooks can ask for the keyword arguments"),
    readings=(
        Reading("true", "<1.6", "Three kinds, no global hooks, no keyword arguments.", value=(OWN_1_4, [], False)),
        Reading(
            "false since 1.6",
            ">=1.6,<1.8",
            "Each kind also exists for all modules at once.",
            value=(OWN_1_4, for_all(OWN_1_4), False),
        ),
        Reading(
            "false since 1.8",
            ">=1.8,<2.0",
            "Full backward hooks are a fourth kind.",
            value=(OWN_1_8, for_all(OWN_1_8), False),
        ),
        Reading(
            "false",
            ">=2.0",
            "Full backward pre-hooks are a fifth, and hooks can see keyword arguments.",
            value=(OWN_2_0, for_all(OWN_2_0), True),
        ),
    ),
    covers=("module_forward.global.namespace", "module_forward.prekw.args"),
)
def test_t30_three_kinds(subject: Subject) -> None:
    import torch
    from torch.nn.modules import module

    kind = re.compile(r"register_(module_)?(full_)?(forward|backward)(_pre)?_hook")
    own = sorted(name for name in dir(torch.nn.Module) if kind.fullmatch(name))
    everywhere = sorted(name for name in dir(module) if kind.fullmatch(name))
    keywords = "with_kwargs" in inspect.signature(torch.nn.Module.register_forward_hook).parameters
    assert (own, everywhere, keywords) == subject.value


@clause(
    "tutorial.calling.t14_three_dicts",
    says="A module keeps forward and backward hooks in three OrderedDicts, each under its handle's id.",
    source=(NOTES, MODULE, "docs: torch.nn.Module.register_full_backward_pre_hook", "measured"),
    readings=(
        Reading(
            "true",
            "<2.0",
            "_forward_pre_hooks, _forward_hooks and _backward_hooks.",
            value=(["RemovableHandle"], ["_backward_hooks", "_forward_hooks", "_forward_pre_hooks"]),
        ),
        Reading(
            "false",
            ">=2.0",
            "Full backward pre-hooks have a fourth, _backward_pre_hooks.",
            value=(
                ["RemovableHandle"],
                ["_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks"],
            ),
        ),
    ),
    covers=("module_forward.handle.type", "module_forward.handle.dict_key", "module_forward.handle.dict_types"),
)
def test_t14_three_dicts(subject: Subject) -> None:
    import torch

    handles, dicts = set(), set()
    for register in dir(torch.nn.Module):
        if re.fullmatch(r"register_(full_)?(forward|backward)(_pre)?_hook", register):
            module = torch.nn.Module()
            handle = getattr(module, register)(print)
            handles.add(type(handle).__name__)
            for name, value in vars(module).items():
                if type(value).__name__ == "OrderedDict" and value.get(handle.id) is print:
                    dicts.add(name)
    assert (sorted(handles), sorted(dicts)) == subject.value


@clause(
    "tutorial.calling.t15_global_first",
    says="Of every kind of hook, the global ones run before the module's own.",
    source=(NOTES, GLOBAL, "docs: torch.nn.modules.module.register_module_forward_pre_hook"),
    readings=(
        Reading("true", "", "Global hooks come first, whatever was registered first.", value="global"),
        Reading("false", "never", "A module's own hooks come first.", value="own"),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)), (Input(3),), (Hook("forward", "m0", "h0"), Hook("forward", "*", "h1"), Forward())
    ),
    needs="torch.nn.modules.module.register_module_forward_pre_hook",
    covers=(
        "module_forward.global.pre_before_local",
        "module_forward.global.fwd_before_local",
        "module_backward.order.full.global_before_local",
        "module_backward.order.legacy.global_before_local",
    ),
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
    source=(NOTES, "docs: torch.nn.Module.register_forward_hook", "docs: torch.Tensor.register_hook"),
    readings=(
        Reading("true", "", "Once for each call, also of a module that one forward calls twice.", value="every time"),
        Reading("false", "never", "Only the first time.", value="first time"),
    ),
    witness=Plan(
        Chain("m0", (Leaf("m1", "scale", (2,)), Again("m1"))),
        (Input(3),),
        (Hook("forward", "m1", "h0"), Hook("tensor", "x0", "h1"), Forward(), Backward(), Backward()),
    ),
    covers=(
        "module_backward.fire.full.two_forwards",
        "module_backward.fire.full.shared_chain",
        "module_backward.fire.full.retain_graph_twice",
        "tensor.sum.two_backwards",
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
    source=(NOTES, MODULE, "https://github.com/pytorch/pytorch/pull/37785"),
    readings=(
        Reading(
            "true",
            ">=1.6",
            "Each of them is called, on a module and on a tensor.",
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
            "After a tensor hook without a __name__ replaced a gradient, the next hook raises.",
            value={
                "lambda": [60.0, 20.0, "fine"],
                "closure": [60.0, 20.0, "fine"],
                "partial": [60.0, 20.0, "raises"],
                "bound method": [60.0, 20.0, "fine"],
            },
        ),
    ),
    covers=(
        "module_forward.callable.lambda",
        "module_forward.callable.partial",
        "module_forward.callable.bound_method",
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
        except (AttributeError, RuntimeError, SystemError):
            results[name].append("raises")
    assert results == subject.value
