"""Wrong definitions of hooks, as edits of `fixtures/stages/programs/oracle.py`, each with what is wrong."""

from __future__ import annotations

from typing import Any

import torch

from fixtures.play.program import compiled
from fixtures.play.trace import Event, Trace
from fixtures.programs.plan import NetProgram

ORDER = "            for key, hook in hooks.entries.items():\n                yield hooks, key, hook"
OUTPUT = '        held["output"] = held["output"] if result is None else result'
#: What is wrong -> (a clause of the chapter that rejects it, text, what takes its place).
MUTANTS: dict[str, tuple[str, str, str]] = {
    "the newest hook is the first": (
        "calls.forward",
        ORDER,
        ORDER.replace("hooks.entries.items()", "[*hooks.entries.items()][::-1]"),
    ),
    "prepend is ignored": ("same.prepended", "        if prepend:", "        if False:"),
    "a result is dropped": ("same.in_forward", OUTPUT, "        pass"),
    "a look changes the output": (
        "same.looking",
        OUTPUT,
        OUTPUT.replace('held["output"] if', 'thrice(held["output"]) if'),
    ),
    "remove() does nothing": ("same.removed", "        self.hooks.entries.pop(id(self), None)", "        pass"),
    "a copy has no hooks": (
        "same.copied",
        "class Handle:",
        "Hooks.__deepcopy__ = lambda self, memo: Hooks()\n\n\nclass Handle:",
    ),
    "hooks of all modules come last": (
        "calls.passes",
        "for hooks in (self.everywhere[kind], self.own(module, kind)):",
        "for hooks in (self.own(module, kind), self.everywhere[kind]):",
    ),
    "hooks of all modules are not called for layers without parameters": (
        "same.everywhere",
        "for hooks in (self.everywhere[kind], self.own(module, kind)):",
        "for hooks in (self.everywhere[kind], self.own(module, kind))[not module._parameters :]:",
    ),
    "always_call is ignored": (
        "calls.forward",
        'if hooks.asks(key, "always_call")',
        'if False and hooks.asks(key, "always_call")',
    ),
    "pre-hooks of gradients are not called": ("calls.moved", "        for hook in one.pre:", "        for hook in ():"),
    "grad_output is seen as it was before pre-hooks": (
        "calls.together",
        "            one.grad_output = one.grad_output if result is None else result\n        passed",
        "            passed_on = one.grad_output if result is None else result\n        passed",
    ),
    "what a gradient hook returns is dropped": (
        "calls.gradients",
        "            given = given if result is None else result",
        "            pass",
    ),
    "a parameter's hooks see each pass twice": (
        "calls.gradients",
        "grad = result_of(hook, grad)\n",
        "grad = result_of(hook, result_of(hook, grad))\n",
    ),
    "hooks of a step come behind it": (
        "calls.loop",
        "            hook(one, (one,), {})\n        original(one)",
        "            pass\n        original(one)",
    ),
    "loading gives each module all keys": ("calls.loop", "if key.startswith(prefix))", "if True)"),
    "state_dict pre-hooks are not called": ("calls.loop", 'self.own(module, "save_pre").entries.values()', "[]"),
    "a retained gradient is that of the last pass": (
        "calls.passes",
        "left[kept_at] if self.grad is None else self.grad + left[kept_at]",
        "left[kept_at]",
    ),
    "with_kwargs is ignored": ("calls.together", 'hooks.asks(key, "with_kwargs"))', "False)"),
}


def definitions() -> str:
    """The definitions, with the facts that they ask for."""
    head = NetProgram().head()
    return head[head.index('"""What a hook is') : head.index("def compare")]


def played(program: NetProgram, wrong: str = "") -> Trace:
    """What a program leaves with definitions, right or wrong, in the place of torch; or next to torch, if it asks so.

    Raises ValueError for an edit of what is not there.
    """
    head, lines = program.head(), "\n".join(program.lines())
    if program.against != "definition":
        head = f"{head}\n{definitions()}"
        lines = lines.replace("(ByTorch())", "(ByDefinition())")
    if wrong:
        _, old, new = MUTANTS[wrong]
        if head.count(old) != 1:
            raise ValueError(f"{wrong}: the text is there {head.count(old)} times")
        head = head.replace(old, new)
    space: dict[str, Any] = {"torch": torch, "device": "cpu", "log": [], "handles": {}}
    exec(compiled(head), space)
    exec(compiled(lines), space)
    return Trace(Event(what, tuple(seen)) for what, *seen in space["log"])
