"""Answers that are no clause: a sentence, the everyday words for it, and the program in reports/why that does it."""

from __future__ import annotations

from dataclasses import dataclass

from fixtures.run.naming import REPORTS


@dataclass(frozen=True)
class Answer:
    """What is so, or what to do, with what people type, and a program that runs on every release."""

    says: str
    asked: str
    program: str

    @property
    def script(self) -> str:
        """The command that prints the program."""
        return f"{REPORTS} why --program {self.program}"

    @property
    def plain(self) -> dict[str, str]:
        """The answer as plain data."""
        return {"says": self.says, "program": self.program, "script": self.script}


ANSWERS = (
    Answer(
        "torch has no switch that turns hooks off: this takes them out of all modules, and puts them back in order.",
        "turn hooks off and on again, disable hooks temporarily, suspend, skip, run the model without its hooks",
        "hooks-off-for-a-while.py",
    ),
    Answer(
        "torch has no call that removes all hooks of a model: keep the handles, or empty the private dicts.",
        "remove all hooks from a model, clear every hook, take a hook away without its handle, handle is lost",
        "remove-all-hooks.py",
    ),
    Answer(
        "A hook is not told the name of its layer, and gets no arguments of your own: bind them, as to keep outputs.",
        "collect activations of all layers by name, layer name inside the hook, save the output of each layer, get "
        "features of a layer, pass extra arguments to a hook",
        "outputs-by-name.py",
    ),
    Answer(
        "A hook on each parameter is given its gradient in every backward(): this keeps them under the names.",
        "print gradients of all parameters, log gradient norm of each layer, hook for every parameter, monitor, watch",
        "gradients-by-name.py",
    ),
    Answer(
        "torch has no hook that runs only once: let it remove itself by its handle.",
        "run a hook only once, call it once, one time, one shot, only for the first batch, remove after the first call",
        "called-once.py",
    ),
    Answer(
        "torch has no call that lists hooks: this finds those of modules and parameters in their private dicts.",
        "list all hooks of a model, which hooks are registered, check whether a module has hooks, inspect, count",
        "hooks-of-a-model.py",
    ),
    Answer(
        "The hooks of accelerate and diffusers replace module.forward: they are no hooks of torch.",
        "accelerate hooks, diffusers hooks, add_hook_to_module, ModelHook, patched forward, monkey patch, overwritten",
        "replaced-forward.py",
    ),
)
