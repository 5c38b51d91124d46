"""What study notes teach about hooks on the forward of a module, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

from typing import Any, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import NUMBERS, plans
from fixtures.plan.grammar import Forward, Hook, Input, Leaf, Plan, Scale, hooks_of
from suites.tensors import outcome

NOTES = "tutorials: widely read study notes, 2019-2022"
FORWARD = "docs: torch.nn.Module.register_forward_hook"
PARAMETERS = FORWARD + ' "hook(module, args, output) -> None or modified output"'


def given_to(plan: Plan) -> Tuple[int, ...]:
    """The inputs that the network of a plan is called with."""
    return tuple(x.value if x.leaf else 2 * x.value for x in plan.inputs)


def factor(hook: Hook) -> int:
    """What a hook multiplies its argument by; 1 when it only looks."""
    return hook.do[0].by if hook.do else 1


@clause(
    "tutorial.forward.t02_arguments",
    says="After every forward, a forward hook is called with the module, the tuple of inputs and the output.",
    source=(NOTES, PARAMETERS),
    readings=(
        Reading(
            "true",
            "",
            "Every forward is followed by one call of each forward hook with module, inputs and output.",
            value=("module", "inputs", "output"),
        ),
        Reading("false", "never", "The output comes before the inputs.", value=("module", "output", "inputs")),
    ),
    witness=Plan(Leaf("m0", "scale", (2,)), (Input(3),), (Hook("forward", "m0", "h0"), Forward(), Forward())),
)
@given(plan=plans(kinds=("forward",), does=(), inputs=(1, 2), outputs=(1, 2), depth=0, runs=3, backward=False))
def test_t02_arguments(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    expected, registered, returns = [], [], iter(trace.returns())
    for step in plan.steps:
        if isinstance(step, Hook):
            registered.append(step.label)
        if isinstance(step, Forward):
            told = {"module": "m0", "inputs": given_to(plan), "output": next(returns)}
            expected += [(label, tuple(told[name] for name in subject.value)) for label in registered]
            expected.append(("returns", (told["output"],)))
    assert list(trace) == expected


@clause(
    "tutorial.forward.t04_replaces",
    says="What a forward hook returns takes the place of the output: the caller gets it.",
    source=(
        NOTES,
        'docs: torch.nn.modules.module.register_module_forward_hook "will replace the output from the"',
    ),
    readings=(
        Reading("true", "", "The caller gets what the forward hook returned.", value="hook"),
        Reading("false", "never", "The caller gets what forward returned.", value="forward"),
    ),
    witness=Plan(Leaf("m0", "scale", (2,)), (Input(3),), (Hook("forward", "m0", "h0", (Scale(10),)), Forward())),
)
@given(
    plan=plans(
        kinds=("forward",),
        does=("scale",),
        ops=("scale", "affine", "add", "mul"),
        inputs=(1, 2),
        depth=0,
        most=1,
        backward=False,
    )
)
def test_t04_replaces(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    output = trace.seen_by("h0")[0][2]
    results = {"forward": output, "hook": output * factor(hooks_of(plan)[0])}
    assert trace.returns() == [results[subject.value]]


@clause(
    "tutorial.forward.t17_chain",
    says="What a forward hook returns is the output that the next forward hook sees, and at last the caller.",
    source=(NOTES, "measured"),
    readings=(
        Reading("true", "", "The output is handed from forward hook to forward hook.", value="one before"),
        Reading("false", "never", "Every hook is given what forward returned.", value="forward"),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)),
        (Input(3),),
        (Hook("forward", "m0", "h0", (Scale(10),)), Hook("forward", "m0", "h1", (Scale(3),)), Forward()),
    ),
)
@given(
    plan=plans(
        kinds=("forward",),
        does=("scale",),
        ops=("scale", "affine", "add", "mul"),
        inputs=(1, 2),
        depth=0,
        least=2,
        backward=False,
    )
)
def test_t17_chain(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    first = output = trace.seen_by("h0")[0][2]
    for hook in hooks_of(plan):
        handed = {"one before": output, "forward": first}
        assert [seen[2] for seen in trace.seen_by(hook.label)] == [handed[subject.value]]
        output *= factor(hook)
    assert trace.returns() == [output]


@clause(
    "tutorial.forward.t13_output_in_place",
    says="A forward hook that edits the output in place and returns nothing changes the result as well.",
    source=(NOTES, FORWARD, "measured"),
    readings=(
        Reading("true", "", "The next hook and the caller get the output as edited in place.", value=True),
        Reading("false", "never", "They get the output as forward left it.", value=False),
    ),
    witness={"x": 3, "added": [5]},
)
@given(x=NUMBERS, added=st.lists(NUMBERS, min_size=1, max_size=4))
def test_t13_output_in_place(subject: Subject, x: int, added: Any) -> None:
    import torch

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    def edit(module: Any, inputs: Any, output: Any) -> None:
        seen.append(output.item())
        output.add_(added[len(seen) - 1])

    double, seen = Double(), []
    for _ in added:
        double.register_forward_hook(edit)
    seen.append(double(torch.tensor(float(x))).item())
    assert seen == [2 * x + (sum(added[:number]) if subject.value else 0) for number in range(len(added) + 1)]


@clause(
    "tutorial.forward.t03_inputs_come_too_late",
    says="Changing the inputs inside a forward hook never changes the result: forward has used them already.",
    source=(NOTES, FORWARD, "measured"),
    readings=(
        Reading("true", "never", "No change of the inputs reaches the result.", value=False),
        Reading(
            "false",
            "",
            "Where the output is the input itself, editing the input in place in a forward hook edits both.",
            value=True,
            headline=False,
            harm="silent",
        ),
    ),
    witness={"x": 3, "same": True, "edits": [5]},
    note="True for a name bound anew, and for an edit in place when the output has its own memory.",
)
@given(x=NUMBERS, same=st.booleans(), edits=st.lists(st.one_of(st.none(), NUMBERS), min_size=1, max_size=4))
def test_t03_inputs_come_too_late(subject: Subject, x: int, same: bool, edits: Any) -> None:
    import torch

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x if same else x * 2

    def edit_of(by: Any) -> Any:
        def rebind(module: Any, inputs: Any, output: Any) -> None:
            inputs = (inputs[0] + 5,)

        def edit(module: Any, inputs: Any, output: Any) -> None:
            inputs[0].add_(by)

        return rebind if by is None else edit

    double = Double()
    for by in edits:
        double.register_forward_hook(edit_of(by))
    added = sum(by for by in edits if by is not None)
    result = x + (added if subject.value else 0) if same else 2 * x
    given_to_double = torch.tensor(float(x))
    assert (double(given_to_double).item(), given_to_double.item()) == (result, x + added)


#: How a hook may be written -> the numbers of arguments that it can be called with, of those from 1 to 4.
TAKES = {
    "module": {1},
    "module, output": {2},
    "module, inputs, output=None": {2, 3},
    "module, inputs, output": {3},
    "module, inputs, output, more": {4},
    "module, *others": {1, 2, 3, 4},
}


@clause(
    "tutorial.forward.t12_two_parameters",
    says="A forward hook may be written with the two parameters module and output.",
    source=(NOTES, PARAMETERS),
    readings=(
        Reading("true", "never", "A forward hook with two parameters is called with module and output.", value=(2, 3)),
        Reading(
            "false",
            "",
            "A forward hook with two parameters can be registered, but the call of the module raises TypeError.",
            value=(3,),
            headline=False,
            harm="error",
        ),
    ),
    witness={"written": "module, output"},
)
@given(written=st.sampled_from(sorted(TAKES)))
def test_t12_two_parameters(subject: Subject, written: str) -> None:
    import torch

    hooks = {
        "module, output": lambda module, output: None,
        "module, inputs, output": lambda module, inputs, output: None,
        "module, inputs, output, more": lambda module, inputs, output, more: None,
        "module, inputs, output=None": lambda module, inputs, output=None: None,
        "module, *others": lambda module, *others: None,
        "module": lambda module: None,
    }
    linear = torch.nn.Linear(1, 1)
    linear.register_forward_hook(hooks[written])
    result = outcome(lambda: linear(torch.ones(1)), (TypeError,))
    assert result == ("accepted" if TAKES[written].intersection(subject.value) else "TypeError")
