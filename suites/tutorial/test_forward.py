"""What study notes teach about hooks around the forward of a module, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.draw.plans import NUMBERS
from fixtures.judge.claim import ABSENT, claims
from fixtures.judge.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.judge.table import Row

NOTES = "tutorials: widely read study notes, 2019-2022"
FORWARD = "docs: torch.nn.Module.register_forward_hook"
PARAMETERS = FORWARD + ' "hook(module, args, output) -> None or modified output"'
PRE = "docs: torch.nn.Module.register_forward_pre_hook"


@clause(
    "tutorial.forward.t06_collects_inputs",
    says="A pre-hook on an adder can collect all inputs in order, and they are the caller's own objects.",
    source=(NOTES, PRE, "measured"),
    readings=(
        Reading(
            "true",
            "",
            "A pre-hook is given the caller's own tensors in order, also where there is a backward hook.",
            value=True,
        ),
        Reading("false", "never", "Where there is a backward hook the pre-hook is given other tensors.", value=False),
    ),
    witness={"inputs": [2, 3], "pres": 1, "watched": True},
    note="A full backward hook does give forward and the forward hooks other tensors, but only after the pre-hooks.",
)
@given(inputs=st.lists(NUMBERS, min_size=1, max_size=4), pres=st.integers(1, 3), watched=st.booleans())
def test_t06_collects_inputs(subject: Subject, inputs: Any, pres: int, watched: bool) -> None:
    import torch

    class Adder(torch.nn.Module):
        def forward(self, *given: Any) -> Any:
            return sum(given)

    adder, seen = Adder(), []
    # The backward hook of this torch: the full one, or the only one there is.
    register = getattr(adder, "register_full_backward_hook", adder.register_backward_hook)
    for _ in range(pres if watched else 0):
        register(lambda module, grad_input, grad_output: None)
    for _ in range(pres):
        adder.register_forward_pre_hook(lambda module, given: seen.append(given))
    xs = tuple(torch.tensor(float(value), requires_grad=True) for value in inputs)
    assert adder(*xs).item() == sum(inputs)
    own = subject.value or not watched
    assert [[one is x for one, x in zip(given, xs)] for given in seen] == [[own] * len(xs)] * pres


@claims(
    Row(
        "tutorial.forward.t02_arguments",
        "After every forward, a forward hook is called with the module, the tuple of inputs and the output.",
        (NOTES, PARAMETERS),
        readings=(
            Reading(
                "true",
                "",
                "Every forward is followed by one call of each forward hook with module, inputs and output.",
                by={"output.replacement.hook_is_given": "always", "ordering.nested.every_forward": "always"},
            ),
            Reading("false", "never", "The output comes before the inputs."),
        ),
    ),
    Row(
        "tutorial.forward.t04_replaces",
        "What a forward hook returns takes the place of the output: the caller gets it.",
        (NOTES, 'docs: torch.nn.modules.module.register_module_forward_hook "will replace the output from the"'),
        readings=(
            Reading(
                "true",
                "",
                "The caller gets what the forward hook returned.",
                by={"output.replacement.value_replaces": "always"},
            ),
            Reading("false", "never", "The caller gets what forward returned."),
        ),
        about="register_forward_hook",
    ),
    Row(
        "tutorial.forward.t17_chain",
        "What a forward hook returns is the output that the next forward hook sees, and at last the caller.",
        (NOTES, "measured"),
        readings=(
            Reading(
                "true",
                "",
                "The output is handed from forward hook to forward hook.",
                by={"output.replacement.chain": "always", "output.replacement.value_replaces": "always"},
            ),
            Reading("false", "never", "Every hook is given what forward returned."),
        ),
        about="register_forward_hook",
    ),
    Row(
        "tutorial.forward.t13_output_in_place",
        "A forward hook that edits the output in place and returns nothing changes the result as well.",
        (NOTES, FORWARD, "measured"),
        readings=(
            Reading(
                "true",
                "",
                "The next hook and the caller get the output as edited in place.",
                by={"output.calls.edited_in_place": "always"},
            ),
            Reading("false", "never", "They get the output as forward left it."),
        ),
    ),
    Row(
        "tutorial.forward.t03_inputs_come_too_late",
        "Changing the inputs inside a forward hook never changes the result: forward has used them already.",
        (NOTES, FORWARD, "measured"),
        readings=(
            Reading("true", "never", "No change of the inputs reaches the result."),
            Reading(
                "false",
                "",
                "Where the output is the input itself, editing the input in place in a forward hook edits both.",
                by={"output.calls.input_edited_late": "always"},
                headline=False,
                effect="other",
            ),
        ),
        note="True for a name bound anew, and for an edit in place when the output has its own memory.",
    ),
    Row(
        "tutorial.forward.t12_two_parameters",
        "A forward hook may be written with the two parameters module and output.",
        (NOTES, PARAMETERS),
        readings=(
            Reading("true", "never", "A forward hook with two parameters is called with module and output."),
            Reading(
                "false",
                "",
                "A forward hook with two parameters can be registered, but the call of the module raises TypeError.",
                by={"output.calls.arity": "always"},
                headline=False,
                effect="raises",
            ),
        ),
    ),
    Row(
        "tutorial.forward.t05_pre_arguments",
        "A forward pre-hook is given two things only: the module and the tuple of inputs.",
        (
            NOTES,
            PRE + ' "hook(module, args, kwargs) -> None or a tuple of modified input and kwargs"',
            "release 2.0: forward hooks can ask for the keyword arguments",
        ),
        readings=(
            Reading(
                "true",
                "<2.0",
                "Every forward pre-hook is given the module and the tuple of inputs.",
                by={"input.keywords.hidden": "always", "input.keywords.given": ABSENT},
            ),
            Reading(
                "false",
                ">=2.0",
                "A forward pre-hook registered with with_kwargs=True is given the keyword arguments as a third.",
                by={"input.keywords.hidden": "always", "input.keywords.given": "always"},
                headline=False,
            ),
        ),
        concern="never",
    ),
    Row(
        "tutorial.forward.t07_pre_returns_tuple",
        "A tuple that a pre-hook returns becomes the inputs; a pre-hook that returns nothing keeps them.",
        (NOTES, PRE + ' "User can either return a tuple or a single modified value"'),
        readings=(
            Reading(
                "true",
                "",
                "Later hooks and forward get the tuple that a pre-hook returned.",
                by={
                    "input.replacement.tuple_replaces": "always",
                    "input.replacement.chain": "always",
                    "input.replacement.forward_hook_sees_it": "always",
                    "input.replacement.none_keeps": "always",
                },
            ),
            Reading("false", "never", "Later hooks and forward get what the caller gave."),
        ),
        about=("register_forward_hook", "register_forward_pre_hook"),
    ),
    Row(
        "tutorial.forward.t16_pre_returns_bare",
        "What a plain pre-hook returns without a tuple is wrapped in one, for the next pre-hook and forward.",
        (NOTES, PRE + ' "We will wrap the value into a tuple if a single value is returned"'),
        readings=(
            Reading(
                "true",
                "",
                "The next pre-hook is given a tuple of the one value that a pre-hook returned.",
                by={"input.replacement.bare_is_wrapped": "always"},
            ),
            Reading("false", "never", "The next pre-hook is given the bare value."),
        ),
        note="Since 2.0 this is not so for a pre-hook registered with with_kwargs=True: it returns (args, kwargs).",
    ),
)
def decided(subject: Subject) -> None:
    """What each of them says follows from the clauses that its readings name."""
    raise NotImplementedError
