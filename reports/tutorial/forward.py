"""Claims about hooks around the forward of a module."""

from reports.tutorial.claim import ABSENT, Answer, Claim

CLAIMS = (
    Claim(
        "tutorial.forward.t06_collects_inputs",
        "A pre-hook on an adder can collect all inputs in order, and they are the caller's own objects.",
        source=("docs: torch.nn.Module.register_forward_pre_hook", "measured"),
        answers=(
            Answer(
                "true",
                "",
                "A pre-hook is given the caller's own tensors in order, also where there is a backward hook.",
                {
                    "input.places.all_together": "always",
                    "input.structures.given": "always",
                    "input.returns.in_place": "always",
                },
            ),
        ),
        about=("register_forward_pre_hook",),
        note="A full backward hook does give forward and the forward hooks other "
        "tensors, but only after the pre-hooks.",
        asked="save layer arguments before execution append to array same identity not copies debug",
    ),
    Claim(
        "tutorial.forward.t02_arguments",
        "After every forward, a forward hook is called with the module, the tuple of inputs and the output.",
        source=('docs: torch.nn.Module.register_forward_hook "hook(module, args, output) -> None or modified output"',),
        answers=(
            Answer(
                "true",
                "",
                "Every forward is followed by one call of each forward hook with module, inputs and output.",
                {"output.replacement.hook_is_given": "always", "ordering.nested.every_forward": "always"},
            ),
        ),
        about=("register_forward_hook",),
        asked="activation hook signature feature extraction parameters received why is x wrapped inside parentheses",
    ),
    Claim(
        "tutorial.forward.t04_replaces",
        "What a forward hook returns takes the place of the output: the caller gets it.",
        source=('docs: torch.nn.modules.module.register_module_forward_hook "will replace the output from the"',),
        answers=(
            Answer(
                "true",
                "",
                "The caller gets what the forward hook returned.",
                {"output.replacement.value_replaces": "always"},
            ),
        ),
        about=("register_forward_hook",),
        asked="return modified activation from hook does model use it override layer result",
    ),
    Claim(
        "tutorial.forward.t17_chain",
        "What a forward hook returns is the output that the next forward hook sees, and at last the caller.",
        source=("measured",),
        answers=(
            Answer(
                "true",
                "",
                "The output is handed from forward hook to forward hook.",
                {"output.replacement.chain": "always", "output.replacement.value_replaces": "always"},
            ),
        ),
        about=("register_forward_hook",),
        asked="several activation modifiers stacked on one layer second sees modified version final result",
    ),
    Claim(
        "tutorial.forward.t13_output_in_place",
        "A forward hook that edits the output in place and returns nothing changes the result as well.",
        source=("docs: torch.nn.Module.register_forward_hook", "measured"),
        answers=(
            Answer(
                "true",
                "",
                "The next hook and the caller get the output as edited in place.",
                {"output.calls.edited_in_place": "always"},
            ),
        ),
        about=("register_forward_hook",),
        asked="zero_ or mul_ activation without return does it affect prediction ablate neurons silently mutated",
    ),
    Claim(
        "tutorial.forward.t03_inputs_come_too_late",
        "Changing the inputs inside a forward hook never changes the result: forward has used them already.",
        source=("docs: torch.nn.Module.register_forward_hook", "measured"),
        answers=(
            Answer(
                "false",
                "",
                "Where the output is the input itself, editing the input in place in a forward hook edits both.",
                {"output.calls.input_edited_late": "always"},
                effect="silent",
            ),
        ),
        about=("register_forward_hook",),
        note="True for a name bound anew, and for an edit in place when the output has its own memory.",
        asked="modify x in activation hook has no effect on prediction should i use pre hook",
    ),
    Claim(
        "tutorial.forward.t12_two_parameters",
        "A forward hook may be written with the two parameters module and output.",
        source=('docs: torch.nn.Module.register_forward_hook "hook(module, args, output) -> None or modified output"',),
        answers=(
            Answer(
                "false",
                "",
                "A forward hook with two parameters can be registered, but the call of the module raises TypeError.",
                {"output.calls.arity": "always"},
                effect="error",
            ),
        ),
        about=("register_forward_hook",),
        asked="activation callback without input argument takes 2 positional arguments but 3 were given lambda m o",
    ),
    Claim(
        "tutorial.forward.t05_pre_arguments",
        "A forward pre-hook is given two things only: the module and the tuple of inputs.",
        source=(
            (
                "docs: torch.nn.Module.register_forward_pre_hook"
                ' "hook(module, args, kwargs) -> None or a tuple of modified input and kwargs"'
            ),
            "release 2.0: forward hooks can ask for the keyword arguments",
        ),
        answers=(
            Answer(
                "true",
                "<2.0",
                "Every forward pre-hook is given the module and the tuple of inputs.",
                {"input.keywords.hidden": "always", "input.keywords.given": ABSENT},
            ),
            Answer(
                "false",
                ">=2.0",
                "A forward pre-hook registered with with_kwargs=True is given the keyword arguments as a third.",
                {"input.keywords.hidden": "always", "input.keywords.given": "always"},
            ),
        ),
        about=("register_forward_pre_hook",),
        asked="register_forward_pre_hook signature how many parameters kwargs output missing",
    ),
    Claim(
        "tutorial.forward.t07_pre_returns_tuple",
        "A tuple that a pre-hook returns becomes the inputs; a pre-hook that returns nothing keeps them.",
        source=(
            (
                "docs: torch.nn.Module.register_forward_pre_hook"
                ' "User can either return a tuple or a single modified value"'
            ),
        ),
        answers=(
            Answer(
                "true",
                "",
                "Later hooks and forward get the tuple that a pre-hook returned.",
                {
                    "input.replacement.tuple_replaces": "always",
                    "input.replacement.chain": "always",
                    "input.replacement.forward_hook_sees_it": "always",
                    "input.replacement.none_keeps": "always",
                },
            ),
        ),
        about=("register_forward_hook", "register_forward_pre_hook"),
        asked="override layer arguments before execution return new values or nothing to leave unchanged",
    ),
    Claim(
        "tutorial.forward.t16_pre_returns_bare",
        "What a plain pre-hook returns without a tuple is wrapped in one, for the next pre-hook and forward.",
        source=(
            (
                "docs: torch.nn.Module.register_forward_pre_hook"
                ' "We will wrap the value into a tuple if a single value is returned"'
            ),
        ),
        answers=(
            Answer(
                "true",
                "",
                "The next pre-hook is given a tuple of the one value that a pre-hook returned.",
                {"input.replacement.bare_is_wrapped": "always"},
            ),
        ),
        about=("register_forward_pre_hook",),
        note="Since 2.0 this is not so for a pre-hook registered with with_kwargs=True: it returns (args, kwargs).",
        asked="return single tensor from pre hook instead of x comma automatically packed next callback sees",
    ),
)
