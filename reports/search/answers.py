"""Answers that are no clause: a sentence, the everyday words for it, and the program in reports/why that does it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """What is so, or what to do, with what people type, the program, and the first release on which that runs."""

    says: str
    asked: str
    program: str
    since: str = ""


ANSWERS = (
    Answer(
        "torch has no switch that turns hooks off: this takes those of all modules out, and puts them back in their order.",
        "disable hooks temporarily, turn hooks off and on again, switch off, suspend, pause, skip, deactivate, bypass hooks"
        " for one forward pass, run the model without its hooks, enable hooks later",
        "hooks-off-for-a-while.py",
    ),
    Answer(
        "torch has no call that removes all hooks of a model: keep the handles, or empty the private dicts.",
        "remove all hooks from a model, clear every hook, delete hooks without the handle, handle is lost, take a hook away"
        " without its handle, clean up, reset hooks, unregister everything",
        "remove-all-hooks.py",
    ),
    Answer(
        "A hook is not told the name of its layer, and gets no arguments of your own: bind them, as this does to keep outputs.",
        "save the output of each layer, collect activations of all layers by name, which layer called the hook, layer name"
        " inside the hook, get features of a layer, feature extraction, feature maps, intermediate outputs, embeddings of"
        " layer n, pass extra arguments to a hook, closure in a loop, dict of activations",
        "outputs-by-name.py",
    ),
    Answer(
        "A hook on each parameter is given its gradient in every backward(): this keeps them under the parameters' names.",
        "print, log or monitor gradients of all parameters, gradient norm of each layer, hook for every parameter of the"
        " model, watch gradients by name, vanishing gradients",
        "gradients-by-name.py",
    ),
    Answer(
        "torch has no hook that runs only once: let it remove itself by its handle.",
        "run a hook only once, call it once, one time hook, one shot, only the first batch, remove after first call",
        "called-once.py",
    ),
    Answer(
        "torch has no call that lists hooks: this finds those of modules and parameters in their private dicts.",
        "list all hooks of a model, which hooks are registered, check whether a module has hooks, count, inspect, find,"
        " print registered hooks, is there a hook on this layer",
        "hooks-of-a-model.py",
    ),
    Answer(
        "The hooks of accelerate and diffusers replace module.forward: they are no hooks of torch.",
        "accelerate hooks, diffusers hooks, add_hook_to_module, ModelHook, replaced forward, patched forward, monkey patch"
        " forward in place of a hook, forward was overwritten",
        "replaced-forward.py",
    ),
)
