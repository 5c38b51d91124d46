"""retain_grad() on what goes into and comes out of a module that has backward hooks, and on undefined gradients."""

from itertools import accumulate
from math import prod
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Retain, Scale
from fixtures.stages.make import make
from suites.names import FULL, HOOKS_IN_ORDER, PRE, RETAIN_UNDEFINED
from suites.retain.plans import among_hooks, kept_of, left_by_hooks
from suites.shapes import scale_maybe
from suites.tensors import item, leaf, outcome

ABOUT = "retain_grad"

FULL_DOCS = "docs: torch.nn.Module.register_full_backward_hook"


@st.composite
def around(draw: Any, kind: str, keep: str, act: bool = True, inner: bool = True) -> Plan:
    """y = weight * x with one backward hook on the module, and retain_grad() on its input or its output."""
    do = (Scale(draw(FACTORS)),) if act else ()
    net = Leaf("m0", "scale", (draw(NUMBERS),))
    steps = (Hook(kind, "m0", "h0", do), Forward(), Retain(keep), Backward((draw(NUMBERS),)))
    return Plan(net, (Input(draw(NUMBERS), leaf=not inner),), steps)


@st.composite
def hooked_output(draw: Any) -> Plan:
    """y = weight * x with a full backward hook on the module, and retain_grad() among tensor hooks of the output."""
    full, late = Hook("full_backward", "m0", "f0", scale_maybe(draw)), among_hooks(draw, "m0>0")
    net = Leaf("m0", "scale", (draw(NUMBERS),))
    return Plan(net, (Input(draw(NUMBERS)),), (full, Forward(), *late, Backward((draw(NUMBERS),))))


@clause(
    "retain.modules.output_is_grad_output",
    says="For y = m(x), grad_output[0] of a full backward hook of m is the gradient that y.retain_grad() keeps.",
    where=("there is no full backward pre-hook", "one backward()"),
    source=(FULL_DOCS, HOOKS_IN_ORDER),
    asked="is grad_output equal to stored activation gradient compare backward callback versus grad-cam",
    matters_if="retain_grad ?module_output ?changing_hook",
    readings=by_release(
        "silent",
        ("2.0", "the same", {"retain_grad": "last"}),
        "For y = m(x), grad_output[0] of a full backward hook of m is the gradient that y.retain_grad() keeps.",
        ("1.10", "before or after tensor hooks", {"retain_grad": "slot"}),
        "An output's kept gradient lacks what its tensor hooks changed if retain_grad() came before all of them.",
        ("", "without later tensor hooks", {"retain_grad": "hook", "retain_follows": False}),
        "An output's kept gradient lacks what tensor hooks registered after retain_grad() changed.",
    ),
    # As in suites/retain/test_place.py, under a full hook.
    witness=Plan(
        Leaf("m0", "split", (1, 1)),
        (Input(1),),
        (
            Hook("full_backward", "m0", "f0"),
            Forward(),
            Hook("tensor", "m0>0", "h0", (Scale(2),)),
            Retain("m0>0"),
            Hook("tensor", "m0>0", "h1", (Scale(3),)),
            Retain("m0>1"),
            Hook("tensor", "m0>1", "h2", (Scale(2),)),
            Backward((1, 1)),
        ),
    ),
    needs=FULL,
)
@given(plan=hooked_output())
def test_output_is_grad_output(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    left = tuple(left_by_hooks(plan, "last").values())
    assert [grad_output for _, _, grad_output in trace.seen_by("f0")] == [left]
    assert kept_of(trace, plan) == left_by_hooks(plan, subject.reading.facts["retain_grad"])


@clause(
    "retain.modules.output_before_pre_hook",
    says="After y = m(x) and y.retain_grad(), y.grad is the gradient before full backward pre-hooks of m ran.",
    where="one backward()",
    source="measured",
    asked="scaled grad_output in register_full_backward_pre_hook not visible in stored activation gradient unmodified",
    needs=PRE,
)
@given(plan=around("full_backward_pre", "m0>0"))
def test_output_before_pre_hook(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.grads()[0]["m0>0"] == plan.steps[-1].grads[0]


@each(
    Row(
        "retain.modules.input_after_full_hook",
        "For y = m(x), what the last full backward hook of m returns for x counts in the gradient kept for x.",
        FULL_DOCS + ' "will be used in place of :attr:`grad_input` in subsequent computations"',
        asked="modified grad_input returned from register_full_backward_hook "
        "visible in stored gradient of layer input previous activation",
        where="x has no tensor hook",
        see=("retain.modules.input_inside_forward",),
        needs=FULL,
        kind="full_backward",
        entry=0,
    ),
    Row(
        "retain.modules.input_after_legacy_hook",
        "For y = m(x), what the last legacy backward hook of m returns for x counts in the gradient kept for x.",
        "measured",
        asked="modified grad_input returned from deprecated "
        "register_backward_hook visible in stored gradient of layer input",
        where=("forward returns weight * x", "x has no tensor hook"),
        about=("retain_grad", "register_backward_hook"),
        kind="backward",
        entry=1,
    ),
    plan=lambda row: around(row.kind, "x0"),
)
def input_after(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace = subject.holds(plan)
    ((_, grad_input, _),) = trace.seen_by("h0")
    assert trace.grads()[0]["x0"] == grad_input[row.entry] * plan.steps[0].do[0].by


@clause(
    "retain.modules.any_mixture",
    says="Every plan of the grammar with kept gradients next to hooks of modules leaves the trace of the model.",
    source="measured",
    checks_model=True,
    needs=FULL,
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
    says="For a, b = m(x), a backward from a alone leaves the .grad kept for b as it was.",
    where="m has a full backward hook and returns a tuple of tensors",
    source=RETAIN_UNDEFINED,
    asked="layer with two results unused one gradient filled with zeros or none unchanged after second loss",
    matters_if="retain_grad ?module_output ?gradient_undefined",
    needs=FULL,
    readings=(
        Reading(
            "as it was",
            "",
            "For a, b = m(x), a backward from a alone leaves the .grad kept for b as it was.",
            {"retain_of_none": "kept"},
        ),
    ),
    witness=Plan(
        Leaf("m0", "both"),
        (Input(1), Input(2)),
        (Hook("full_backward", "m0", "h0"), Forward(), Retain("m0>1"), Backward((1, None))),
    ),
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
    trace, passes = subject.holds(plan), [step.grads for step in plan.steps if isinstance(step, Backward)]
    places = [int(step.on[-1]) for step in plan.steps if isinstance(step, Retain)]
    if subject.reading.facts["retain_of_none"] == "kept":
        assert trace.raised() == []
        for place in places:
            totals = accumulate(grads[place] or 0 for grads in passes)
            assert [grads[f"m0>{place}"] for grads in trace.grads()] == [total or None for total in totals]
    else:
        assert len(trace.raised()) == sum(any(grads[place] is None for place in places) for grads in passes)


@clause(
    "retain.modules.unused_output",
    says="After a, b = x.unbind() and b.retain_grad(), a backward from a alone leaves b.grad None.",
    where="b.grad was None",
    source=RETAIN_UNDEFINED,
    asked="chunk of unbind split not used in loss its gradient is nonetype not zeros",
    matters_if="retain_grad ?gradient_undefined",
    value=None,
    wrong={"zero": 0.0},
    witness={"uses": [2, 0], "kept": [False, True, False, False]},
)
@given(
    uses=st.lists(st.just(0) | NUMBERS, min_size=2, max_size=4).filter(any),
    kept=st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_unused_output(subject: Subject, uses: List[int], kept: List[bool]) -> None:
    import torch

    x = make.ones(len(uses), dtype=torch.float64, requires_grad=True)
    tensors = x.unbind(0)
    for tensor, keep in zip(tensors, kept):
        if keep:
            tensor.retain_grad()
    root = sum(by * tensor for by, tensor in zip(uses, tensors) if by)
    result = outcome(root.backward, (RuntimeError, AttributeError, TypeError))
    # In the deviations the value is an error, which comes where an unused output is to be kept.
    fails = isinstance(subject.value, str) and any(keep and not by for by, keep in zip(uses, kept))
    assert (result, item(x.grad)) == ((subject.value, None) if fails else ("accepted", uses))
    if not fails:
        grads = [item(tensor.grad) for tensor, keep in zip(tensors, kept) if keep]
        assert grads == [by or subject.value for by, keep in zip(uses, kept) if keep]


@clause(
    "retain.modules.input_inside_forward",
    says="x.retain_grad() inside forward(x) keeps the gradient before the module's full backward hooks ran.",
    where="x is a positional tensor that requires grad",
    source=FULL_DOCS + ' "receive a view of each Tensor passed to the Module"',
    asked="retain grad on argument inside layer code differs from outside original x modified grad_input not seen",
    needs=FULL,
    value=False,
    wrong={"of the caller's tensor": True},
    witness={"factors": [10], "times": [2]},
)
@given(factors=st.lists(FACTORS, min_size=1, max_size=3), times=st.lists(NUMBERS, min_size=1, max_size=2))
def test_input_inside_forward(subject: Subject, factors: List[int], times: List[int]) -> None:
    import torch

    inside = []

    class Times(torch.nn.Module):
        def forward(self, *xs: Any) -> Any:
            for x in xs:
                x.retain_grad()
                inside.append(x)
            return sum(by * x for by, x in zip(times, xs))

    module = Times()
    for by in factors:
        module.register_full_backward_hook(lambda module, sent, got, by=by: tuple(grad * by for grad in sent))
    xs = [leaf(1) for _ in times]
    module(*[1 * x for x in xs]).backward()
    own = prod(factors) if subject.value else 1
    assert [x.grad.item() for x in inside] == [by * own for by in times]
    assert [x.grad.item() for x in xs] == [by * prod(factors) for by in times]
