"""Programs of real layers in a training loop do with torch's hooks what they do on a definition of hooks in Python.

The definition is `fixtures/stages/programs/oracle.py`. What is compared: who is called, in which order, with which
objects and values, in which mode; outputs, gradients, parameters, buffers, the random state and errors, to the bit.
"""

from typing import Any

from fixtures.clause.rows import Row, each
from fixtures.draw.programs import CIRCUMSTANCES, SORTS, net_programs
from fixtures.judge.subject import Subject
from fixtures.programs.grammar import Attach, TrainStep, Update
from fixtures.programs.plan import NetProgram
from suites.programs.plans import NEEDED, shown

AROUND_FORWARD = ("register_forward_hook", "register_forward_pre_hook")
OF_GRADIENTS = ("register_full_backward_hook", "register_full_backward_pre_hook", "register_hook")
WITNESS = shown("definition", Attach("forward", "h0", each=True), Attach("full_backward", "h1"), TrainStep(), Update())


@each(
    Row(
        "programs.calls.forward",
        "Hooks around forward in programs of real layers are called by their definition.",
        "measured",
        needs=NEEDED,
        witness=WITNESS,
        checks_model=True,
        about=AROUND_FORWARD,
        sorts=("forward",),
        circumstances="thread copy fails raises inside options crowd eval call nested outputs",
    ),
    Row(
        "programs.calls.gradients",
        "Hooks of gradients in programs of real layers are called by their definition.",
        "measured",
        needs=NEEDED,
        witness=WITNESS,
        checks_model=True,
        about=OF_GRADIENTS,
        sorts=("backward", "tensor", "leaf"),
        circumstances="thread second again freeze convert checkpoint crowd inside outputs raises",
    ),
    Row(
        "programs.calls.loop",
        "Hooks of optimizers, state dicts and registration in a training loop are called by their definition.",
        "measured",
        needs=NEEDED,
        witness=WITNESS,
        checks_model=True,
        about=AROUND_FORWARD,
        sorts=("state", "optimizer", "registration", "forward", "leaf"),
        circumstances="state optimizer replace assign copy convert late",
    ),
    Row(
        "programs.calls.moved",
        "Hooks in programs whose net is copied, converted, loaded, frozen or changed are called by their definition.",
        "measured",
        needs=NEEDED,
        witness=WITNESS,
        checks_model=True,
        sorts=("forward", "backward", "leaf", "tensor"),
        circumstances="copy convert state replace assign freeze eval late",
    ),
    Row(
        "programs.calls.passes",
        "Hooks in programs with passes of every kind are called by their definition.",
        "measured",
        needs=NEEDED,
        witness=WITNESS,
        checks_model=True,
        sorts=("forward", "backward", "tensor", "leaf"),
        circumstances="thread second again call checkpoint predict everywhere nested fails",
    ),
    Row(
        "programs.calls.together",
        "Hooks of all kinds in programs of real layers are called by their definition.",
        "measured",
        needs=NEEDED,
        witness=WITNESS,
        checks_model=True,
        sorts=tuple(SORTS),
        circumstances=" ".join(CIRCUMSTANCES),
    ),
    program=lambda row: net_programs(row.sorts, about=row.circumstances.split()),
)
def by_definition(subject: Subject, program: NetProgram, *, row: Any) -> None:
    assert subject.holds(program).calls() == ["same"]
