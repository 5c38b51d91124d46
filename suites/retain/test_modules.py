"""retain_grad() on what goes into and comes out of a module that has backward hooks, and on undefined gradients."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS, plans
from fixtures.plan import Backward, Forward, Hook, Input, Leaf, Plan, Retain, Scale
from fixtures.subject import Subject

FULL = "torch.nn.Module.register_full_backward_hook"
PRE = "torch.nn.Module.register_full_backward_pre_hook"


@st.composite
def around(draw: Any, kind: str, keep: str, act: bool = True, inner: bool = True) -> Plan:
    """y = weight * x with one backward hook on the module, and retain_grad() on its input or its output."""
    do = (Scale(draw(FACTORS)),) if act else ()
    net = Leaf("m0", "scale", (draw(NUMBERS),))
    steps = (Hook(kind, "m0", "h0", do), Forward(), Retain(keep), Backward((draw(NUMBERS),)))
    return Plan(net, (Input(draw(NUMBERS), leaf=not inner),), steps)


@clause(
    "retain.modules.output_is_grad_output",
    says="The gradient kept for a module's output is the grad_output that its full backward hook is given.",
    source="docs: torch.nn.Module.register_full_backward_hook",
    needs=FULL,
    covers=("module_backward.fire.full.leaf_input", "graph.full.retain_grad_on_output_vs_fullhook"),
)
@given(plan=around("full_backward", "m0>0"))
def test_output_is_grad_output(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    ((_, _, grad_output),) = trace.seen_by("h0")
    assert grad_output == (trace.grads()[0]["m0>0"],)


@clause(
    "retain.modules.output_before_pre_hook",
    says="The gradient kept for a module's output is the one before any backward pre-hook replaced it.",
    source="measured",
    needs=PRE,
    covers=("module_backward.eff.pre.out_retain_grad", "graph.full.retain_grad_on_output_vs_prehook"),
)
@given(plan=around("full_backward_pre", "m0>0"))
def test_output_before_pre_hook(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.grads()[0]["m0>0"] == plan.steps[-1].grads[0]


@clause(
    "retain.modules.input_after_full_hook",
    says="The gradient kept for a module's input is the one that its full backward hooks left.",
    source="measured",
    needs=FULL,
    covers=("module_backward.eff.full.in_retain_grad",),
)
@given(plan=around("full_backward", "x0"))
def test_input_after_full_hook(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    ((_, grad_input, _),) = trace.seen_by("h0")
    assert trace.grads()[0]["x0"] == grad_input[0] * plan.steps[0].do[0].by


@clause(
    "retain.modules.input_after_legacy_hook",
    says="The gradient kept for the input of a one-operation module is the one that legacy hooks left.",
    source="measured",
    covers=("module_backward.ret.legacy.tuple",),
)
@given(plan=around("backward", "x0"))
def test_input_after_legacy_hook(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    ((_, grad_input, _),) = trace.seen_by("h0")
    assert trace.grads()[0]["x0"] == grad_input[1] * plan.steps[0].do[0].by


@clause(
    "retain.modules.any_mixture",
    says="Kept gradients are predictable in any network with any mixture of backward hooks.",
    source="measured",
    needs=FULL,
    covers=("module_backward.eff.full.in_retain_grad",),
)
@given(
    plan=plans(
        kinds=("full_backward", "full_backward_pre", "tensor"),
        inputs=(1, 2),
        outputs=(1, 1),
        depth=2,
        retain=True,
        runs=2,
    )
)
def test_any_mixture(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "retain.modules.undefined",
    says="retain_grad() on an output that got no gradient leaves its .grad as it was.",
    source="https://github.com/pytorch/pytorch/pull/92604",
    needs=FULL,
    readings=(Reading("as it was", "", "None stays None, and a sum stays the sum.", {"retain_of_none": "kept"}),),
    witness=Plan(
        Leaf("m0", "both"),
        (Input(1), Input(2)),
        (Hook("full_backward", "m0", "h0"), Forward(), Retain("m0>1"), Backward((1, None))),
    ),
    covers=("tensor.rg.undefined", "tensor.kind.unused_output_retain"),
)
@given(
    plan=st.builds(
        lambda op, on, passes: Plan(
            Leaf("m0", op, (3,) if op == "cross" else ()),
            (Input(1), Input(2)),
            (Hook("full_backward", "m0", "h0"), Forward())
            + tuple(Retain(name) for name in on)
            + tuple(Backward(grads) for grads in passes),
        ),
        st.sampled_from(["both", "cross"]),
        st.sampled_from([("m0>0",), ("m0>1",), ("m0>0", "m0>1")]),
        st.lists(st.sampled_from([(1, None), (None, 2), (3, 1)]), min_size=1, max_size=3),
    )
)
def test_undefined(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "retain.modules.unused_output",
    says="retain_grad() on an unused output of a node that runs leaves its .grad None.",
    source="https://github.com/pytorch/pytorch/pull/92604",
    readings=(
        Reading(
            "None",
            "",
            "unbind gives two tensors, one is used: the other's .grad is None.",
            value=("done", None, [2.0, 0.0]),
        ),
        Reading("zero", "never", "An undefined gradient is kept as zero.", value=("done", 0.0, [2.0, 0.0])),
    ),
    covers=("tensor.kind.unused_output_retain", "graph.order.multi_output_retain_unused"),
)
def test_unused_output(subject: Subject) -> None:
    import torch

    x = torch.ones(2, requires_grad=True)
    used, unused = x.unbind(0)
    unused.retain_grad()
    try:
        (2 * used).backward()
        result = "done"
    except (RuntimeError, AttributeError, TypeError) as error:
        result = type(error).__name__
    assert (result, unused.grad, None if x.grad is None else x.grad.tolist()) == subject.value


@clause(
    "retain.modules.input_inside_forward",
    says="Under a full backward hook, retain_grad() inside forward keeps the gradient of forward's own view.",
    source="docs: torch.nn.Module.register_full_backward_hook",
    needs=FULL,
    readings=(
        Reading(
            "of the view",
            "",
            "The hook's factor 10 reaches the caller's x, not the view in forward.",
            value=(2.0, 20.0),
        ),
        Reading("of the caller's tensor", "never", "forward is given the caller's tensor.", value=(20.0, 20.0)),
    ),
    covers=("module_backward.ident.full.retain_grad_in_forward",),
)
def test_input_inside_forward(subject: Subject) -> None:
    import torch

    inside = []

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            x.retain_grad()
            inside.append(x)
            return 2 * x

    module = Double()
    module.register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] * 10,))
    x = torch.ones((), requires_grad=True)
    module(x).backward()
    assert (inside[0].grad.item(), x.grad.item()) == subject.value
