"""What study notes teach about hooks on the forward of a module, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

import inspect
from typing import Any, Tuple

from hypothesis import given

from fixtures.clause import Reading, clause
from fixtures.draw import plans
from fixtures.plan import Bare, Forward, Hook, Input, Leaf, Plan, Scale, hooks_of
from fixtures.subject import Subject

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
        Reading("true", "", "The caller gets the edited tensor.", value=11.0),
        Reading("false", "never", "The caller gets the output as forward left it.", value=6.0),
    ),
    covers=("module_forward.fwd.output_inplace",),
)
def test_t13_output_in_place(subject: Subject) -> None:
    import torch

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    def edit(module: Any, inputs: Any, output: Any) -> None:
        output.add_(5)

    double = Double()
    double.register_forward_hook(edit)
    assert double(torch.tensor(3.0)).item() == subject.value


@clause(
    "tutorial.forward.t03_inputs_come_too_late",
    says="Changing the inputs inside a forward hook never changes the result: forward has used them already.",
    source=(NOTES, FORWARD),
    readings=(
        Reading("true", "never", "No change of the inputs reaches the result.", value=[6.0, 6.0, 3.0]),
        Reading(
            "false",
            "",
            "It does when the output is the input: an edit in place then edits both.",
            value=[6.0, 6.0, 8.0],
        ),
    ),
    covers=("module_forward.fwd.input_mutation_late", "module_forward.fwd.input_mutation_aliased"),
    note="True for a name bound anew, and for an edit in place when the output has its own memory.",
)
def test_t03_inputs_come_too_late(subject: Subject) -> None:
    import torch

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    class Same(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x

    def rebind(module: Any, inputs: Any, output: Any) -> None:
        inputs = (inputs[0] + 5,)

    def edit(module: Any, inputs: Any, output: Any) -> None:
        inputs[0].add_(5)

    results = []
    for module, hook in ((Double(), rebind), (Double(), edit), (Same(), edit)):
        module.register_forward_hook(hook)
        results.append(module(torch.tensor(3.0)).item())
    assert results == subject.value


@clause(
    "tutorial.forward.t12_two_parameters",
    says="A forward hook may be written with the two parameters module and output.",
    source=(NOTES, FORWARD),
    readings=(
        Reading("true", "never", "The hook is called with module and output.", value=["called", 6.0]),
        Reading("false", "", "It can be registered, but the call of the module raises TypeError.", value=["TypeError"]),
    ),
    covers=("module_forward.fwd.arity_short",),
)
def test_t12_two_parameters(subject: Subject) -> None:
    import torch

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    seen = []
    double = Double()
    double.register_forward_hook(lambda module, output: seen.append("called"))
    try:
        seen.append(double(torch.tensor(3.0)).item())
    except TypeError:
        seen.append("TypeError")
    assert seen == subject.value


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
    says="A pre-hook on an adder can collect both inputs in order, and they are the caller's own objects.",
    source=(NOTES, PRE, "measured"),
    readings=(
        Reading(
            "true",
            "",
            "The pre-hook is given a, then b, even when a backward hook is there too.",
            value=[("a", "b"), ("a", "b")],
        ),
        Reading(
            "false",
            "never",
            "Beside a backward hook the pre-hook is given other tensors.",
            value=[("a", "b"), ("another", "another")],
        ),
    ),
    covers=("module_forward.pre.tensor_identity",),
    note="A full backward hook does give forward and the forward hooks other tensors, but only after the pre-hooks.",
)
def test_t06_collects_inputs(subject: Subject) -> None:
    import torch

    class Adder(torch.nn.Module):
        def forward(self, a: Any, b: Any) -> Any:
            return a + b

    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    names = {id(a): "a", id(b): "b"}
    plain, watched, seen = Adder(), Adder(), []
    # The backward hook of this torch: the full one, or the only one there is.
    register = getattr(watched, "register_full_backward_hook", watched.register_backward_hook)
    register(lambda module, grad_input, grad_output: None)
    for adder in (plain, watched):
        adder.register_forward_pre_hook(
            lambda module, inputs: seen.append(tuple(names.get(id(one), "another") for one in inputs))
        )
        adder(a, b)
    assert seen == subject.value


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
