"""What study notes teach about hooks on the forward of a module, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

import inspect
from typing import Any, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import NUMBERS, plans
from fixtures.plan import Bare, Forward, Hook, Input, Leaf, Plan, Scale, hooks_of
from fixtures.subject import Subject
from fixtures.values import SIGNATURES, function_of, takes

NOTES = "tutorials: widely read study notes, 2019-2022"
FORWARD = "docs: torch.nn.Module.register_forward_hook"
PRE = "docs: torch.nn.Module.register_forward_pre_hook"


def given_to(plan: Plan) -> Tuple[int, ...]:
    """The inputs that the network of a plan is called with."""
    return tuple(x.value if x.leaf else 2 * x.value for x in plan.inputs)


def factor(hook: Hook) -> int:
    """What a hook multiplies its argument by; 1 when it only looks."""
    return hook.do[0].by if hook.do else 1


@clause(
    "tutorial.forward.t02_arguments",
    says="After every forward, a forward hook is called with the module, the tuple of inputs and the output.",
    source=(NOTES, FORWARD),
    readings=(
        Reading("true", "", "Every forward is followed by one such call.", value=("module", "inputs", "output")),
        Reading("false", "never", "The output comes before the inputs.", value=("module", "output", "inputs")),
    ),
    witness=Plan(Leaf("m0", "scale", (2,)), (Input(3),), (Hook("forward", "m0", "h0"), Forward(), Forward())),
    covers=("module_forward.fwd.after_forward", "module_forward.fwd.args"),
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
    source=(NOTES, FORWARD),
    readings=(
        Reading("true", "", "The caller gets what the hook returned.", value="hook"),
        Reading("false", "never", "The caller gets what forward returned.", value="forward"),
    ),
    witness=Plan(Leaf("m0", "scale", (2,)), (Input(3),), (Hook("forward", "m0", "h0", (Scale(10),)), Forward())),
    covers=("module_forward.fwd.replace",),
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
        Reading("true", "", "The output is handed from hook to hook.", value="one before"),
        Reading("false", "never", "Every hook is given what forward returned.", value="forward"),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)),
        (Input(3),),
        (Hook("forward", "m0", "h0", (Scale(10),)), Hook("forward", "m0", "h1", (Scale(3),)), Forward()),
    ),
    covers=("module_forward.fwd.chain",),
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
    source=(NOTES, FORWARD),
    readings=(
        Reading("true", "", "The next hook and the caller get the edited tensor.", value=True),
        Reading("false", "never", "They get the output as forward left it.", value=False),
    ),
    witness={"x": 3, "added": [5]},
    covers=("module_forward.fwd.output_inplace",),
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
    source=(NOTES, FORWARD),
    readings=(
        Reading("true", "never", "No change of the inputs reaches the result.", value=False),
        Reading("false", "", "It does when the output is the input: an edit in place then edits both.", value=True),
    ),
    witness={"x": 3, "same": True, "edits": [5]},
    covers=("module_forward.fwd.input_mutation_late", "module_forward.fwd.input_mutation_aliased"),
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


@clause(
    "tutorial.forward.t12_two_parameters",
    says="A forward hook may be written with the two parameters module and output.",
    source=(NOTES, FORWARD),
    readings=(
        Reading("true", "never", "The hook is called with module and output.", value=(2, 3)),
        Reading("false", "", "It can be registered, but the call of the module raises TypeError.", value=(3,)),
    ),
    witness={"signature": (2, 0, False)},
    covers=("module_forward.fwd.arity_short",),
)
@given(signature=SIGNATURES)
def test_t12_two_parameters(subject: Subject, signature: Any) -> None:
    import torch

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    double = Double()
    double.register_forward_hook(function_of(signature))
    try:
        seen = double(torch.tensor(3.0)).item()
    except TypeError as error:
        seen = type(error).__name__
    assert seen == (6.0 if any(takes(signature, count) for count in subject.value) else "TypeError")


@clause(
    "tutorial.forward.t05_pre_arguments",
    says="A forward pre-hook is given two things only: the module and the tuple of inputs.",
    source=(NOTES, PRE, "release 2.0: forward hooks can ask for the keyword arguments"),
    readings=(
        Reading("true", "<2.0", "No pre-hook is given more.", value=[("Double", "tuple")]),
        Reading(
            "false",
            ">=2.0",
            "One registered with with_kwargs=True is given the keyword arguments too.",
            value=[("Double", "tuple"), ("Double", "tuple", "dict")],
        ),
    ),
    covers=("module_forward.pre.args", "module_forward.prekw.args"),
)
def test_t05_pre_arguments(subject: Subject) -> None:
    import torch

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    double, seen = Double(), []
    parameters = inspect.signature(double.register_forward_pre_hook).parameters
    for options in [{}] + [{name: True} for name in parameters if name == "with_kwargs"]:
        double.register_forward_pre_hook(
            lambda *arguments: seen.append(tuple(type(one).__name__ for one in arguments)), **options
        )
    double(torch.tensor(3.0))
    assert seen == subject.value


@clause(
    "tutorial.forward.t06_collects_inputs",
    says="A pre-hook on an adder can collect all inputs in order, and they are the caller's own objects.",
    source=(NOTES, PRE, "measured"),
    readings=(
        Reading("true", "", "The pre-hook is given a, then b, even when a backward hook is there too.", value=True),
        Reading("false", "never", "Beside a backward hook the pre-hook is given other tensors.", value=False),
    ),
    witness={"inputs": [2, 3], "pres": 1, "watched": True},
    covers=("module_forward.pre.tensor_identity",),
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


@clause(
    "tutorial.forward.t07_pre_returns_tuple",
    says="A tuple that a pre-hook returns becomes the inputs; a pre-hook that returns nothing keeps them.",
    source=(NOTES, PRE),
    readings=(
        Reading("true", "", "Later hooks and forward get the tuple.", value="the tuple"),
        Reading("false", "never", "Later hooks and forward get what the caller gave.", value="the caller's"),
    ),
    witness=Plan(
        Leaf("m0", "add"),
        (Input(1), Input(3)),
        (
            Hook("forward_pre", "m0", "h0", (Scale(10),)),
            Hook("forward_pre", "m0", "h1"),
            Hook("forward", "m0", "h2"),
            Forward(),
        ),
    ),
    covers=("module_forward.pre.tuple_is_args", "module_forward.pre.none"),
)
@given(
    plan=plans(
        kinds=("forward_pre", "forward"),
        does=("scale",),
        inputs=(1, 2),
        outputs=(1, 2),
        depth=0,
        least=2,
        backward=False,
    )
)
def test_t07_pre_returns_tuple(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    caller = inputs = given_to(plan)
    for hook in hooks_of(plan, "forward_pre") + hooks_of(plan, "forward"):
        handed = {"the tuple": inputs, "the caller's": caller}
        assert [seen[1] for seen in trace.seen_by(hook.label)] == [handed[subject.value]]
        if hook.kind == "forward_pre":
            inputs = tuple(x * factor(hook) for x in inputs)


@clause(
    "tutorial.forward.t16_pre_returns_bare",
    says="What a plain pre-hook returns without a tuple is wrapped in one, for the next pre-hook and forward.",
    source=(NOTES, PRE),
    readings=(
        Reading("true", "", "The next pre-hook is given a tuple of one.", value="wrapped"),
        Reading("false", "never", "The next pre-hook is given the bare value.", value="bare"),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)),
        (Input(3),),
        (Hook("forward_pre", "m0", "h0", (Bare(10),)), Hook("forward_pre", "m0", "h1"), Forward()),
    ),
    covers=("module_forward.pre.single_wrapped", "module_forward.pre.chain"),
    note="Since 2.0 this is not so for a pre-hook registered with with_kwargs=True: it returns (args, kwargs).",
)
@given(
    plan=plans(
        kinds=("forward_pre", "forward"), does=("bare",), ops=("scale", "affine"), depth=0, least=2, backward=False
    )
)
def test_t16_pre_returns_bare(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (x,) = given_to(plan)
    for hook in hooks_of(plan, "forward_pre") + hooks_of(plan, "forward"):
        handed = {"wrapped": (x,), "bare": x}
        assert [seen[1] for seen in trace.seen_by(hook.label)] == [handed[subject.value]]
        x *= factor(hook)
