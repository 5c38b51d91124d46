"""Plans with random additions of the grammar: what the narrow strategy of a clause leaves out."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fixtures.families import KINDS
from fixtures.plan.grammar import (
    OPS,
    Add,
    AutogradGrad,
    Backward,
    Call,
    Chain,
    ClearGrads,
    Copy,
    Forward,
    Hook,
    InPlace,
    Keywords,
    Leaf,
    MulInPlace,
    Pack,
    Plan,
    Raise,
    Remove,
    Retain,
    ReturnMore,
    ReturnNoneAt,
    ReturnWrong,
    Reuse,
    Scale,
    hooks_of,
    walk,
)

AROUND = ("forward_pre", "forward")
PREPENDED = (*AROUND, "full_backward", "full_backward_pre")
TRIED = (*PREPENDED, "backward", "tensor", "post_accumulate", "node")


class Adder:
    """Adds to plans; makes the same plans from the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ways: tuple[Callable[[Plan], Plan], ...] = (
            *(self.hook,) * 6, self.repeat, self.freeze, self.keyword, self.takes, self.packs, self.shares, self.copy,
            self.remove, self.only, self.edit, self.clear, self.unrecorded, self.leave_out, self.late, self.does,
            self.retain,
        )  # fmt: skip

    def added(self, plan: Plan, most: int) -> Plan:
        """Return the plan with so many additions at most; one that has no place there is left out."""
        for _ in range(self.random.randint(1, most)):
            try:
                plan = self.random.choice(self.ways)(plan)
            except (AttributeError, LookupError, TypeError, ValueError):
                continue
        return plan

    def at(self, plan: Plan, *kinds: type) -> int:
        """Return the place of one of the steps of these kinds."""
        return self.random.choice([place for place, step in enumerate(plan.steps) if isinstance(step, kinds)])

    @staticmethod
    def put(plan: Plan, at: int, *steps: Any, instead: int = 0) -> Plan:
        """Return the plan with more steps there, or with others."""
        return replace(plan, steps=(*plan.steps[:at], *steps, *plan.steps[at + instead :]))

    def action(self, kind: str) -> tuple[Any, ...]:
        """Return what a hook of this kind may do."""
        may: list[tuple[Any, ...]] = [(), (), (Scale(2),), (Raise(1),), (Add(Hook(kind, "m0", "more")),)]
        may += [(InPlace(2),)] if "edit" in KINDS[kind].does else []
        may += [(ReturnMore(1),)] if "entries" in KINDS[kind].does and kind in AROUND else []
        may += [(ReturnNoneAt(0),)] if "blank" in KINDS[kind].does else []
        return self.random.choice([*may, *((ReturnWrong(what),) for what in KINDS[kind].wrong)])

    def place(self, plan: Plan, kind: str) -> str:
        """Return where a hook of this kind may be put."""
        modules = [module.name for module in walk(plan.net)]
        if "module" in KINDS[kind].on:
            return self.random.choice([*modules, "*"])
        found = [f"x{number}" for number in range(len(plan.inputs))] if "leaf" in KINDS[kind].on else []
        for module in walk(plan.net) if found else ():
            names = OPS[module.op][2][: len(module.values)] if isinstance(module, Leaf) else ()
            found += [f"{module.name}.{name}" for name in names]
        return self.random.choice(found + ([f"{name}>0" for name in modules] if "result" in KINDS[kind].on else []))

    def hook(self, plan: Plan) -> Plan:
        """Another hook, as likely as not of a kind that is there."""
        own = [hook.kind for hook in hooks_of(plan) if hook.kind in TRIED]
        kind = self.random.choice(own if own and self.random.random() < 0.5 else TRIED)
        on = self.place(plan, kind)
        flags: dict[str, Any] = {
            "with_kwargs": kind in AROUND and (on != "*" or kind == "forward") and self.random.random() < 0.3,
            "always_call": kind == "forward" and self.random.random() < 0.2,
            "prepend": kind in PREPENDED and on != "*" and self.random.random() < 0.3,
        }
        do = self.action(kind)
        if kind == "forward_pre" and flags["with_kwargs"]:
            do = (Keywords(2),)
        first = self.at(plan, Forward) + 1 if ">" in on else self.random.randrange(len(plan.steps) + 1)
        return self.put(plan, first, Hook(kind, on, f"z{self.random.randrange(10**6)}", do, **flags))

    def repeat(self, plan: Plan) -> Plan:
        """A forward or a pass once more."""
        at = self.at(plan, Forward, Backward, AutogradGrad)
        return self.put(plan, at, plan.steps[at])

    def freeze(self, plan: Plan) -> Plan:
        """An input that needs no gradient, or needs one."""
        at = self.random.randrange(len(plan.inputs))
        changed = [replace(one, grad=one.grad is (place != at)) for place, one in enumerate(plan.inputs)]
        return replace(plan, inputs=tuple(changed))

    def keyword(self, plan: Plan) -> Plan:
        """A keyword argument for every module."""
        at = self.at(plan, Forward)
        return self.put(plan, at, replace(plan.steps[at], by=2), instead=1)

    def takes(self, plan: Plan) -> Plan:
        """Inputs by keyword, in a list, or with a number."""
        every = tuple(range(len(plan.inputs)))
        calls = (Call(every, tuple("abcdef"[: len(every)])), Call((Pack("list", every),)), Call((*every, 2.5)))
        return replace(plan, net=replace(plan.net, takes=self.random.choice(calls)))

    def packs(self, plan: Plan) -> Plan:
        """Outputs in a structure."""
        every = tuple(range(len(plan.steps[self.at(plan, Backward, AutogradGrad)].grads)))
        packs = (Pack("dict", every), Pack("list", every), Pack("tuple", (Pack("list", every),)))
        return replace(plan, net=replace(plan.net, out=self.random.choice(packs)))

    def shares(self, plan: Plan) -> Plan:
        """A module that is called again on what it returned."""
        return replace(plan, net=Chain(plan.net.name + "z", (plan.net, Reuse(plan.net.name))))

    def copy(self, plan: Plan) -> Plan:
        """A deep copy before a forward."""
        return self.put(plan, self.at(plan, Forward), Copy())

    def remove(self, plan: Plan) -> Plan:
        """A hook is removed, at any time."""
        label = self.random.choice(hooks_of(plan)).label
        return self.put(plan, self.random.randrange(len(plan.steps) + 1), Remove(label))

    def only(self, plan: Plan) -> Plan:
        """A pass for one tensor."""
        at = self.at(plan, Backward)
        names = [f"{one.name}.weight" for one in walk(plan.net) if isinstance(one, Leaf) and one.values]
        target = (self.random.choice([*names, "x0", *(f"{one.name}>0" for one in walk(plan.net))]),)
        ways = (replace(plan.steps[at], inputs=target), AutogradGrad(target, plan.steps[at].grads))
        return self.put(plan, at, self.random.choice(ways), instead=1)

    def edit(self, plan: Plan) -> Plan:
        """A tensor is changed in place after a forward."""
        names = [f"{one.name}>0" for one in walk(plan.net)] + ["x0"]
        return self.put(plan, self.at(plan, Forward) + 1, MulInPlace(self.random.choice(names), 2))

    def clear(self, plan: Plan) -> Plan:
        """Gradients are set to None before a pass."""
        return self.put(plan, self.at(plan, Backward, AutogradGrad), ClearGrads())

    def unrecorded(self, plan: Plan) -> Plan:
        """A forward under no_grad."""
        at = self.at(plan, Forward)
        return self.put(plan, at, replace(plan.steps[at], grad=False), instead=1)

    def leave_out(self, plan: Plan) -> Plan:
        """A pass without the first output."""
        at = self.at(plan, Backward)
        grads = (None, *plan.steps[at].grads[1:])
        return self.put(plan, at, replace(plan.steps[at], grads=grads), instead=1)

    def late(self, plan: Plan) -> Plan:
        """A hook is registered after a forward."""
        at, forward = self.at(plan, Hook), self.at(plan, Forward)
        return self.put(self.put(plan, forward + 1, plan.steps[at]), at, instead=1)

    def does(self, plan: Plan) -> Plan:
        """A hook does something else."""
        at = self.at(plan, Hook)
        return self.put(plan, at, replace(plan.steps[at], do=self.action(plan.steps[at].kind)), instead=1)

    def retain(self, plan: Plan) -> Plan:
        """An output keeps its gradient."""
        name = self.random.choice([one.name for one in walk(plan.net)])
        return self.put(plan, self.at(plan, Forward) + 1, Retain(f"{name}>0"))
