"""What backward hooks of modules may return: new gradients for the inputs, or, before the module runs, for outputs."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS, plans
from fixtures.plan import Backward, Forward, Hook, Input, Leaf, Plan, Scale
from fixtures.subject import Subject

DOCS = "docs: torch.nn.Module.register_full_backward_hook"
PRE_DOCS = "docs: torch.nn.Module.register_full_backward_pre_hook"
FULL = "torch.nn.Module.register_full_backward_hook"
PRE = "torch.nn.Module.register_full_backward_pre_hook"


@st.composite
def scaling(draw: Any, kind: str, fewest: int = 1, most: int = 1, grad: bool = True) -> Plan:
    """y = weight * x with backward hooks on the module that multiply what they may replace."""
    hooks = tuple(
        Hook(kind, "m0", f"h{index}", (Scale(draw(FACTORS)),)) for index in range(draw(st.integers(fewest, most)))
    )
    net = Leaf("m0", "scale", (draw(NUMBERS),))
    return Plan(net, (Input(draw(NUMBERS), grad=grad),), hooks + (Forward(), Backward((draw(NUMBERS),))))


def factors(plan: Plan) -> Any:
    return [step.do[0].by for step in plan.steps if isinstance(step, Hook)]


@clause(
    "backward.returns.none_keeps",
    says="A backward hook of any kind that returns None changes no gradient.",
    source=DOCS,
    needs=FULL,
    covers=("module_backward.ret.full.none", "module_backward.eff.none.numerics"),
)
@given(
    plan=plans(
        kinds=("full_backward", "full_backward_pre"),
        does=(),
        depth=2,
        inputs=(1, 2),
        ops=("scale", "affine", "add", "mul"),
    )
)
def test_none_keeps(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).grads() == subject.play(plan.without(Hook)).grads()


@clause(
    "backward.returns.full_replaces_input",
    says="What a full hook returns replaces the gradient of the input, and of the input alone.",
    source=DOCS,
    needs=FULL,
    covers=("module_backward.ret.full.tuple", "module_backward.eff.full.scope"),
)
@given(plan=scaling("full_backward"))
def test_full_replaces_input(subject: Subject, plan: Plan) -> None:
    grads, plain = subject.holds(plan).grads()[0], subject.play(plan.without(Hook)).grads()[0]
    (by,) = factors(plan)
    assert grads == {"x0": plain["x0"] * by, "m0.weight": plain["m0.weight"]}


@clause(
    "backward.returns.pre_replaces_all",
    says="What a full backward pre-hook returns is what all gradients of the module are made from.",
    source=PRE_DOCS,
    needs=PRE,
    covers=("module_backward.ret.pre.tuple", "module_backward.eff.pre.scope"),
)
@given(plan=scaling("full_backward_pre"))
def test_pre_replaces_all(subject: Subject, plan: Plan) -> None:
    grads, plain = subject.holds(plan).grads()[0], subject.play(plan.without(Hook)).grads()[0]
    (by,) = factors(plan)
    assert grads == {name: grad * by for name, grad in plain.items()}


@clause(
    "backward.returns.legacy_replaces_parameters",
    says="What a legacy hook returns replaces the gradients of the last operation's inputs, parameters too.",
    source="docs: torch.nn.Module.register_backward_hook",
    covers=("module_backward.ret.legacy.tuple", "module_backward.ret.legacy.linear_by_position"),
)
@given(plan=scaling("backward"))
def test_legacy_replaces_parameters(subject: Subject, plan: Plan) -> None:
    grads, plain = subject.holds(plan).grads()[0], subject.play(plan.without(Hook)).grads()[0]
    (by,) = factors(plan)
    assert grads == {name: grad * by for name, grad in plain.items()}


@clause(
    "backward.returns.full_chain",
    says="Full hooks run in order, each given the grad_input that the one before left, and one grad_output.",
    source=DOCS,
    needs=FULL,
    covers=("module_backward.ret.full.chain", "module_backward.order.full.registration"),
)
@given(plan=scaling("full_backward", fewest=2, most=4))
def test_full_chain(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    by = factors(plan)
    assert trace.calls() == [f"h{index}" for index in range(len(by))]
    seen = [trace.seen_by(label)[0] for label in trace.calls()]
    for index in range(len(by) - 1):
        assert seen[index + 1] == ("m0", (seen[index][1][0] * by[index],), seen[index][2])


@clause(
    "backward.returns.pre_chain",
    says="Pre-hooks run in order, each given the grad_output that the one before left.",
    source=PRE_DOCS,
    needs=PRE,
    covers=("module_backward.ret.pre.chain", "module_backward.order.pre.registration"),
)
@given(plan=scaling("full_backward_pre", fewest=2, most=4))
def test_pre_chain(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    by, seen = factors(plan), [trace.seen_by(label)[0][1][0] for label in trace.calls()]
    assert seen[1:] == [value * factor for value, factor in zip(seen, by)][:-1]


@clause(
    "backward.returns.pre_without_input",
    says="A pre-hook's replacement counts also in a module whose inputs need no gradient.",
    source=(PRE_DOCS, "https://github.com/pytorch/pytorch/pull/116454"),
    needs=PRE,
    readings=(
        Reading("counts", "", "The gradients of the parameters are made from it.", {"full_output_returns": "none"}),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)),
        (Input(3, grad=False),),
        (Hook("full_backward_pre", "m0", "h0", (Scale(10),)), Forward(), Backward()),
    ),
    covers=("module_backward.ret.pre.no_input_rg",),
)
@given(plan=scaling("full_backward_pre", grad=False, most=2))
def test_pre_without_input(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "backward.returns.anywhere",
    says="Replacements compose in any network: the module upstream is given what the one downstream left.",
    source=DOCS,
    needs=FULL,
    covers=("module_backward.eff.full.upstream_grad_output", "module_backward.eff.full.container_vs_child"),
)
@given(plan=plans(kinds=("full_backward", "full_backward_pre"), inputs=(1, 2), outputs=(1, 2), depth=2, most=5, runs=2))
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "backward.returns.legacy_anywhere",
    says="Replacements of legacy hooks compose in any network too.",
    source="measured",
    covers=("module_backward.ret.legacy.tuple",),
)
@given(plan=plans(kinds=("backward",), inputs=(1, 2), outputs=(1, 2), depth=2, most=5, runs=2))
def test_legacy_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "backward.returns.raising",
    says="An exception raised in a full hook leaves backward() as it is, and the later hooks are not called.",
    source="measured",
    needs=FULL,
    covers=("module_backward.err.full.raise", "module_backward.err.full.later_hooks_skipped"),
)
@given(
    plan=plans(
        kinds=("full_backward", "full_backward_pre"), does=("raise", "scale"), depth=1, most=4, ops=("scale", "affine")
    )
)
def test_raising(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert set(trace.raised()) <= {("backward", "Boom")}


def outcome(kind: str, returned: Any, grad: bool = True) -> Any:
    """How backward() ends when a hook of a doubling module returns this, and x.grad (or weight.grad) afterwards."""
    import torch

    class Line(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.full((2,), 2.0))

        def forward(self, x: Any) -> Any:
            return self.weight * x

    module, x = Line(), torch.ones(2, requires_grad=grad)
    getattr(module, f"register_{kind}_hook")(lambda *arguments: returned)
    out = module(x)
    try:
        out.backward(torch.ones(2))
        result = "accepted"
    except (RuntimeError, TypeError) as error:
        result = type(error).__name__
    target = x if grad else module.weight
    return result, None if target.grad is None else target.grad.tolist()


@clause(
    "backward.returns.full_wrong",
    says="A full hook that returns a wrong number of gradients, or none at all, ends backward() with an error.",
    source=DOCS,
    needs=FULL,
    readings=(
        Reading(
            "by kind of mistake",
            "",
            "Too many, too few, a bare tensor: RuntimeError; a number, False: TypeError.",
            value=[("RuntimeError", None)] * 3 + [("TypeError", None)] * 2,
        ),
        Reading("lenient", "never", "What does not fit is ignored.", value=[("accepted", [2.0, 2.0])] * 5),
    ),
    covers=(
        "module_backward.ret.full.too_long",
        "module_backward.ret.full.empty_tuple",
        "module_backward.ret.full.bare_tensor_len2",
        "module_backward.ret.full.number",
        "module_backward.ret.full.false",
    ),
)
def test_full_wrong(subject: Subject) -> None:
    import torch

    one = torch.ones(2)
    assert [outcome("full_backward", value) for value in ((one, one), (), one, 3, False)] == subject.value


@clause(
    "backward.returns.full_wrong_tensor",
    says="A full hook that returns a tensor of another shape or dtype ends backward() with RuntimeError.",
    source="measured",
    needs=FULL,
    readings=(
        Reading("refused", "", "Scalar, three numbers, float64, int64.", value=[("RuntimeError", None)] * 4),
        Reading("converted", "never", "What can be converted is.", value=[("accepted", [1.0, 1.0])] * 4),
    ),
    covers=(
        "module_backward.ret.full.wrong_shape",
        "module_backward.ret.full.scalar_for_vector",
        "module_backward.ret.full.wrong_dtype",
        "module_backward.ret.full.int_dtype",
    ),
)
def test_full_wrong_tensor(subject: Subject) -> None:
    import torch

    wrong = [torch.ones(()), torch.ones(3), torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.int64)]
    assert [outcome("full_backward", (value,)) for value in wrong] == subject.value


@clause(
    "backward.returns.full_containers",
    says="A full hook may return a list in place of a tuple, and None for a gradient that is dropped.",
    source="measured",
    needs=FULL,
    readings=(
        Reading(
            "both",
            "",
            "[g] counts as (g,); after (None,) x.grad is None.",
            value=[("accepted", [7.0, 7.0]), ("accepted", None)],
        ),
        Reading("neither", "never", "Only a tuple of tensors.", value=[("TypeError", None), ("TypeError", None)]),
    ),
    covers=("module_backward.ret.full.list", "module_backward.ret.full.none_in_tuple"),
)
def test_full_containers(subject: Subject) -> None:
    import torch

    seven = torch.full((2,), 7.0)
    assert [outcome("full_backward", value) for value in ([seven], (None,))] == subject.value


@clause(
    "backward.returns.full_without_input",
    says="A full hook that returns a gradient where no input needs one ends backward() with RuntimeError.",
    source=(DOCS, "https://github.com/pytorch/pytorch/pull/56693"),
    needs=FULL,
    readings=(
        Reading(
            "refused",
            "",
            "(gradient,) is refused, (None,) and None are taken.",
            value=[("RuntimeError", None), ("accepted", [1.0, 1.0]), ("accepted", [1.0, 1.0])],
        ),
        Reading("ignored", "never", "There is nothing to replace.", value=[("accepted", [1.0, 1.0])] * 3),
    ),
    covers=("module_backward.ret.full.noin_tuple", "module_backward.ret.full.noin_none_tuple"),
)
def test_full_without_input(subject: Subject) -> None:
    import torch

    returned = [(torch.ones(2),), (None,), None]
    assert [outcome("full_backward", value, grad=False) for value in returned] == subject.value


@clause(
    "backward.returns.pre_wrong",
    says="A pre-hook that returns a wrong number of gradients, or none at all, ends backward() with an error.",
    source=PRE_DOCS,
    docs="contradicts",
    note="Since 2.10 the docs list a bare Tensor as a value to return; it is refused all the same.",
    needs=PRE,
    readings=(
        Reading(
            "by kind of mistake",
            "",
            "Too many, a bare tensor: RuntimeError; a number: TypeError.",
            value=[("RuntimeError", None)] * 2 + [("TypeError", None)],
        ),
        Reading(
            "a bare tensor will do",
            "never",
            "One tensor counts as a tuple of one.",
            value=[("RuntimeError", None), ("accepted", [2.0, 2.0]), ("TypeError", None)],
        ),
    ),
    covers=(
        "module_backward.ret.pre.too_long",
        "module_backward.ret.pre.bare_tensor",
        "module_backward.ret.pre.number",
    ),
)
def test_pre_wrong(subject: Subject) -> None:
    import torch

    one = torch.ones(2)
    assert [outcome("full_backward_pre", value) for value in ((one, one), one, 3)] == subject.value


@clause(
    "backward.returns.legacy_not_a_tuple",
    says="A legacy hook that returns a bare tensor or a list ends backward() with TypeError.",
    source="measured",
    readings=(
        Reading("refused", "", "A tuple is required.", value=[("TypeError", None)] * 2),
        Reading("taken", "never", "One tensor counts as a tuple of one.", value=[("accepted", [1.0, 1.0])] * 2),
    ),
    covers=("module_backward.ret.legacy.bare_tensor", "module_backward.ret.legacy.list"),
)
def test_legacy_not_a_tuple(subject: Subject) -> None:
    import torch

    one = torch.ones(2)
    assert [outcome("backward", value) for value in (one, [one, one])] == subject.value


@clause(
    "backward.returns.legacy_wrong_length",
    says="A legacy hook that returns a tuple of another length or shape ends backward() with RuntimeError.",
    source="measured",
    readings=(
        Reading(
            "refused",
            "",
            "One and three gradients for two inputs; a scalar for a vector.",
            value=[("RuntimeError", None)] * 3,
        ),
        Reading("taken", "never", "What is missing stays.", value=[("accepted", [1.0, 1.0])] * 3),
    ),
    covers=("module_backward.ret.legacy.wrong_len", "module_backward.ret.legacy.wrong_shape"),
)
def test_legacy_wrong_length(subject: Subject) -> None:
    import torch

    one, scalar = torch.ones(2), torch.ones(())
    assert [outcome("backward", value) for value in ((one,), (one, one, one), (scalar, scalar))] == subject.value
