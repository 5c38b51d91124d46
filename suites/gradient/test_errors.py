"""What happens when a tensor hook raises, or returns what it may not: the backward pass ends with an exception."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS, plans
from fixtures.plan import Backward, Forward, Give, Hook, Input, Leaf, Plan, Raise, Remove, Scale, hooks_of
from fixtures.subject import Subject

DOCS = "docs: torch.Tensor.register_hook"
TYPE_IS_LOST = "https://github.com/pytorch/pytorch/pull/43684"
ACTIONS = st.one_of(st.just(()), st.just((Raise(),)), st.builds(lambda by: (Scale(by),), FACTORS))


@st.composite
def failing(draw: Any, on: str) -> Plan:
    """y = weight * x with hooks on one tensor of which at least one raises."""
    does = draw(st.lists(ACTIONS, min_size=0, max_size=2)) + [(Raise(),)] + draw(st.lists(ACTIONS, max_size=2))
    hooks = tuple(Hook("tensor", on, f"h{index}", do) for index, do in enumerate(does))
    return Plan(Leaf("m0", "scale", (draw(NUMBERS),)), (Input(3),), (Forward(),) + hooks + (Backward(),))


def until_raise(plan: Plan) -> Any:
    """The labels of the hooks up to the first that raises."""
    labels = []
    for step in plan.steps:
        if isinstance(step, Hook):
            labels.append(step.label)
            if step.do == (Raise(),):
                return labels
    raise AssertionError("no hook of this plan raises")


WITNESS = Plan(Leaf("m0", "scale", (2,)), (Input(3),), (Hook("tensor", "x0", "h0", (Raise(),)), Forward(), Backward()))


@clause(
    "gradient.errors.own_type",
    says="An exception raised in a tensor hook leaves backward() with its own type.",
    source=(TYPE_IS_LOST, "https://github.com/pytorch/pytorch/issues/42560"),
    readings=(Reading("own type", "", "Boom arrives as Boom.", {"engine_keeps_error_type": True}),),
    witness=WITNESS,
    covers=("tensor.exc.type", "tensor.exc.nonleaf"),
)
@given(plan=plans(kinds=("tensor",), does=("raise", "scale"), inputs=(1, 2), outputs=(1, 2)))
def test_own_type(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.errors.same_object",
    says="It is the very exception object that the hook raised, with its attributes and its traceback.",
    source=TYPE_IS_LOST,
    readings=(
        Reading("the same object", "", "`caught is raised`.", value=True),
        Reading("another one", "never", "A new exception is made.", value=False),
    ),
    covers=("tensor.exc.identity", "tensor.exc.traceback"),
)
def test_same_object(subject: Subject) -> None:
    import torch

    raised = ValueError("a hook may raise")

    def hook(grad: Any) -> None:
        raise raised

    x = torch.ones((), requires_grad=True)
    x.register_hook(hook)
    try:
        (2 * x).backward()
    except (ValueError, RuntimeError) as caught:
        seen = caught is raised
    assert seen == subject.value


@clause(
    "gradient.errors.ends_the_chain",
    says="After a hook raised, the later hooks of the tensor are not called.",
    source="measured",
    covers=("tensor.exc.later_not_called",),
)
@given(plan=st.sampled_from(["x0", "m0.weight", "m0>0"]).flatmap(failing))
def test_ends_the_chain(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == until_raise(plan)


@clause(
    "gradient.errors.grad_untouched",
    says="A leaf whose hook raised keeps the .grad it had.",
    source="measured",
    covers=("tensor.exc.grad_untouched",),
)
@given(
    plan=failing("m0.weight").map(lambda plan: Plan(plan.net, plan.inputs, (Forward(), Backward((5,))) + plan.steps))
)
def test_grad_untouched(subject: Subject, plan: Plan) -> None:
    before, after = subject.holds(plan).grads()
    assert after["m0.weight"] == before["m0.weight"]


@clause(
    "gradient.errors.no_rollback",
    says="Gradients that were accumulated before the failure stay: nothing is rolled back.",
    source="measured",
    covers=("tensor.exc.partial",),
)
@given(plan=plans(kinds=("tensor",), does=("raise",), inputs=(1, 2), outputs=(1, 2), depth=2, runs=2, least=1))
def test_no_rollback(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.errors.usable_again",
    says="With retain_graph the graph is usable again after a hook raised.",
    source="docs: torch.autograd.backward",
    covers=("tensor.exc.graph_usable_retain", "tensor.exc.engine_alive"),
)
@given(
    plan=st.builds(
        lambda on, grad: Plan(
            Leaf("m0", "scale", (2,)),
            (Input(3),),
            (Forward(), Hook("tensor", on, "h0", (Raise(),)), Backward(), Remove("h0"), Backward((grad,))),
        ),
        st.sampled_from(["x0", "m0>0"]),
        NUMBERS,
    )
)
def test_usable_again(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.grads()[-1]["x0"] == 2 * plan.steps[-1].grads[0]


def outcome(replacement: Any, leaf: bool = True, before: Any = None) -> Any:
    """The exception type that a hook returning `replacement` ends backward() with, and .grad afterwards."""
    import torch

    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    x.grad = before
    y = 1 * x
    (x if leaf else y).register_hook(lambda grad: replacement)
    try:
        y.backward(torch.ones(2, dtype=torch.float64))
    except (TypeError, RuntimeError) as error:
        return type(error).__name__, None if x.grad is None else x.grad.tolist()
    return "accepted", None if x.grad is None else x.grad.tolist()


@clause(
    "gradient.errors.wrong_type",
    says="A hook that returns anything but a tensor or None ends backward() with TypeError.",
    source=DOCS,
    readings=(
        Reading(
            "TypeError",
            "",
            "An int, False, a list and a tuple with a tensor are all refused.",
            value=[("TypeError", None)] * 8,
        ),
        Reading(
            "falsy is None", "never", "False counts as None.", value=[("TypeError", None), ("accepted", [1.0, 1.0])] * 4
        ),
    ),
    covers=("tensor.ret.int", "tensor.ret.false", "tensor.ret.tuple", "tensor.ret.nonleaf_int"),
)
def test_wrong_type(subject: Subject) -> None:
    import torch

    wrong = [3, False, [1.0, 1.0], (torch.ones(2, dtype=torch.float64),)]
    assert [outcome(value, leaf) for leaf in (True, False) for value in wrong] == subject.value


@clause(
    "gradient.errors.wrong_shape",
    says="A replacement of another shape ends backward() with RuntimeError, even if it would broadcast.",
    source="measured",
    readings=(
        Reading("refused", "", "No shape but the gradient's own is taken.", value=[("RuntimeError", None)] * 8),
        Reading("broadcast", "never", "What broadcasts is taken.", value=[("accepted", [1.0, 1.0])] * 8),
    ),
    covers=(
        "tensor.ret.shape_leaf",
        "tensor.ret.shape_nonleaf",
        "tensor.ret.shape_broadcastable",
        "tensor.ret.shape_unsqueezed",
        "tensor.ret.shape_scalar_tensor",
    ),
)
def test_wrong_shape(subject: Subject) -> None:
    import torch

    shapes = [(), (1,), (1, 2), (3,)]
    wrong = [torch.ones(shape, dtype=torch.float64) for shape in shapes]
    assert [outcome(value, leaf) for leaf in (True, False) for value in wrong] == subject.value


@clause(
    "gradient.errors.wrong_dtype",
    says="A replacement of another dtype or layout ends backward() with RuntimeError: it is not converted.",
    source="measured",
    readings=(
        Reading(
            "refused",
            "",
            "float32, int64 and sparse are refused for a dense float64 gradient.",
            value=[("RuntimeError", None)] * 6,
        ),
        Reading("converted", "never", "It is converted.", value=[("accepted", [1.0, 1.0])] * 6),
    ),
    covers=("tensor.ret.dtype_leaf", "tensor.ret.dtype_nonleaf", "tensor.ret.dtype_int_tensor", "tensor.ret.layout"),
)
def test_wrong_dtype(subject: Subject) -> None:
    import torch

    wrong = [torch.ones(2), torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.float64).to_sparse()]
    assert [outcome(value, leaf) for leaf in (True, False) for value in wrong] == subject.value


@clause(
    "gradient.errors.refused_leaves_grad",
    says="A replacement that is refused leaves .grad as it was.",
    source="measured",
    readings=(
        Reading("untouched", "", "The old 7 is still there.", value=("RuntimeError", [7.0, 7.0])),
        Reading(
            "unreplaced gradient added", "never", "The gradient goes in as it came.", value=("RuntimeError", [8.0, 8.0])
        ),
    ),
    covers=("tensor.ret.shape_leaf",),
)
def test_refused_leaves_grad(subject: Subject) -> None:
    import torch

    assert outcome(torch.ones(3, dtype=torch.float64), before=torch.full((2,), 7.0).double()) == subject.value


@clause(
    "gradient.errors.not_callable",
    says="Registering does not look whether the hook is callable: backward() raises TypeError.",
    source="measured",
    readings=(
        Reading("at backward", "", "register_hook(3) returns a handle.", value=["registered", "TypeError"]),
        Reading("at registration", "never", "register_hook(3) raises.", value=["TypeError"]),
    ),
    covers=("tensor.reg.noncallable",),
)
def test_not_callable(subject: Subject) -> None:
    import torch

    seen = []
    x = torch.ones((), requires_grad=True)
    try:
        x.register_hook(3)
        seen.append("registered")
        (2 * x).backward()
    except (TypeError, RuntimeError) as error:
        seen.append(type(error).__name__)
    assert seen == subject.value


@clause(
    "gradient.errors.bad_value_ends_the_chain",
    says="After a hook returned what it may not, no later hook of the tensor is called.",
    source=DOCS,
    readings=(Reading("TypeError", "", "The check comes right after the call.", {"engine_keeps_error_type": True}),),
    witness=Plan(
        Leaf("m0", "scale", (2,)), (Input(3),), (Hook("tensor", "x0", "h0", (Give("number"),)), Forward(), Backward())
    ),
    covers=("tensor.ret.bad_stops_chain", "tensor.ret.int", "tensor.ret.nonleaf_int"),
)
@given(
    plan=st.builds(
        lambda on, do, grad: Plan(
            Leaf("m0", "scale", (2,)),
            (Input(3),),
            (
                Forward(),
                Hook("tensor", on, "h0", do),
                Hook("tensor", on, "h1", (Give("number"),)),
                Hook("tensor", on, "h2"),
                Backward((grad,)),
            ),
        ),
        st.sampled_from(["x0", "m0.weight", "m0>0"]),
        ACTIONS.filter(lambda do: do != (Raise(),)),
        NUMBERS,
    )
)
def test_bad_value_ends_the_chain(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    labels = [hook.label for hook in hooks_of(plan)]
    bad = [hook.do == (Give("number"),) for hook in hooks_of(plan)].index(True)
    assert trace.calls() == labels[: bad + 1]


@clause(
    "gradient.errors.argument_returned",
    says="A hook that returns its argument changes nothing, like one that returns None.",
    source=DOCS,
    readings=(
        Reading("accepted", "", "x.grad is [1, 1].", value=("accepted", [1.0, 1.0])),
        Reading("refused", "never", "A replacement must be another tensor.", value=("RuntimeError", None)),
    ),
    covers=("tensor.ret.same_object",),
)
def test_argument_returned(subject: Subject) -> None:
    import torch

    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda grad: grad)
    try:
        (1 * x).backward(torch.ones(2))
        result = "accepted"
    except RuntimeError as error:
        result = type(error).__name__
    assert (result, None if x.grad is None else x.grad.tolist()) == subject.value


@clause(
    "gradient.errors.arity",
    says="How many arguments a hook takes is not looked at when it is registered: backward() raises.",
    source="measured",
    readings=(
        Reading("at backward", "", "A hook without arguments is registered; the pass fails.", value=[True, False]),
        Reading("at registration", "never", "register_hook refuses it.", value=[False, False]),
    ),
    covers=("tensor.reg.arity",),
)
def test_arity(subject: Subject) -> None:
    import torch

    done = [True]
    x = torch.ones((), requires_grad=True)
    x.register_hook(lambda: None)
    try:
        (2 * x).backward()
        done.append(True)
    except (TypeError, RuntimeError):
        done.append(False)
    assert done == subject.value


@clause(
    "gradient.errors.any_exception",
    says="KeyboardInterrupt and SystemExit leave backward() with their own type, too.",
    source=TYPE_IS_LOST,
    readings=(
        Reading(
            "own type",
            "",
            "Also StopIteration, and all of them under detect_anomaly.",
            value=["KeyboardInterrupt", "SystemExit", "StopIteration"] * 2,
        ),
        Reading("swallowed", "never", "Only errors count.", value=["accepted"] * 6),
    ),
    covers=("tensor.exc.base_exception", "tensor.exc.anomaly"),
)
def test_any_exception(subject: Subject) -> None:
    import warnings

    import torch

    def outcome_of(kind: Any) -> str:
        def hook(grad: Any) -> None:
            raise kind("a hook may raise")

        x = torch.ones((), requires_grad=True)
        x.register_hook(hook)
        try:
            (2 * x).backward()
        except (KeyboardInterrupt, SystemExit, StopIteration, RuntimeError) as error:
            return type(error).__name__
        return "accepted"

    kinds = (KeyboardInterrupt, SystemExit, StopIteration)
    results = [outcome_of(kind) for kind in kinds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            results += [outcome_of(kind) for kind in kinds]
    assert results == subject.value
