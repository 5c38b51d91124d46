"""Hooks under autograd.grad and backward(inputs=…), which ask for the gradients of some tensors only."""

from math import prod
from typing import Any, List, Sequence

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS, plans
from fixtures.plan import Ask, Backward, Chain, Forward, Hook, Input, Leaf, Plan, Raise, Retain, Scale, hooks_of
from fixtures.subject import Subject
from fixtures.trace import Trace
from suites.tensors import leaf, outcome

GRAD = "docs: torch.autograd.grad"
INPUTS = "docs: torch.Tensor.backward"
SINCE_2_0 = "https://github.com/pytorch/pytorch/pull/85849"
NEEDS_INPUTS = "torch.Tensor.backward(inputs)"
NET = Chain("m0", (Leaf("m1", "scale", (2,)), Leaf("m2", "scale", (5,))))
INNER, ROOT = "m1>0", "m2>0"


@st.composite
def asking(draw: Any, asked: Sequence[str], hooked: Sequence[str], step: Any = Ask, retain: bool = False) -> Plan:
    """y = m1.weight * x and z = m2.weight * y, one replacing hook on each of `hooked`, and one question."""
    before, after = [], []
    for index, on in enumerate(hooked):
        hook = Hook("tensor", on, f"h{index}", (Scale(draw(FACTORS)),))
        (after if ">" in on else before).append(hook)
    question = step(inputs=tuple(asked), grads=(draw(NUMBERS),))
    kept = [Retain(on) for on in asked if ">" in on and retain]
    return Plan(NET, (Input(draw(NUMBERS)),), (*before, Forward(), *after, *kept, question))


def answer(trace: Trace) -> Any:
    """What autograd.grad returned."""
    (event,) = [event for event in trace if event.what == "asked"]
    return event.seen


def any_tensor(asked: Sequence[str], **options: Any) -> Any:
    """Plans that ask for one tensor and hook it."""
    return st.sampled_from(asked).flatmap(lambda on: asking((on,), (on,), **options))


HOOKED = (Reading("called", ">=2.0", "What the hooks of the tensor leave is returned.", {"hooks_when_asked": True}),)
CAPTURED = (Reading("not called", "<2.0", "The gradient is captured before.", {"hooks_when_asked": False}),)
WITNESS = Plan(NET, (Input(3),), (Hook("tensor", "x0", "h0", (Scale(10),)), Forward(), Ask(("x0",))))


@clause(
    "gradient.asked.inputs",
    says="autograd.grad calls the hooks of the tensor it is asked for, and returns what they leave.",
    source=(
        "release 2.0: Tensor hooks now fire for the inputs of autograd.grad",
        SINCE_2_0,
        "https://github.com/pytorch/pytorch/issues/35802",
    ),
    readings=HOOKED + CAPTURED,
    witness=WITNESS,
    covers=(
        "tensor.inputs.grad_leaf",
        "tensor.inputs.grad_leaf_replaced",
        "tensor.inputs.grad_nonleaf",
        "tensor.node.retained_next_edge",
        "graph.api.grad_leaf",
        "graph.api.grad_nonleaf",
        "graph.order.capture_leaf_tensor_hook",
        "graph.order.capture_nonleaf_tensor_hook_node_not_needed",
    ),
)
@given(plan=any_tensor(("x0", "m1.weight", INNER)))
def test_inputs(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.asked.on_the_way",
    says="autograd.grad uses what the hooks of tensors between root and inputs return, and sets no .grad.",
    source="docs: torch.Tensor.register_hook",
    covers=("tensor.inputs.grad_intermediate", "tensor.inputs.grad_no_accumulate", "tensor.inputs.grad_outputs"),
)
@given(plan=st.sampled_from(["x0", "m1.weight"]).flatmap(lambda on: asking((on,), (INNER, ROOT))))
def test_on_the_way(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (plain,) = answer(subject.play(plan.without(Hook)))
    inner, root = (hook.do[0].by for hook in hooks_of(plan))
    assert answer(trace) == (plain * inner * root,)
    assert trace.seen_by("h1") == [plan.steps[-1].grads]
    assert set(trace.grads()[-1].values()) == {None}


@clause(
    "gradient.asked.root",
    says="autograd.grad of a tensor with respect to itself calls its hooks.",
    source=SINCE_2_0,
    readings=(
        Reading("called", ">=2.0", "What they leave is returned.", value=(True, True)),
        Reading("called in vain", ">=1.8,<1.9", "They run with the node; what came is returned.", value=(True, False)),
        Reading("not called", "<2.0", "Before 1.8, and from 1.9 to 1.13.", value=(False, False)),
    ),
    witness={"factors": [10], "first": 1},
    covers=("tensor.inputs.grad_root", "graph.api.grad_of_root_itself"),
)
@given(factors=st.lists(FACTORS, min_size=1, max_size=3).filter(lambda factors: prod(factors) != 1), first=NUMBERS)
def test_root(subject: Subject, factors: List[int], first: int) -> None:
    import torch

    seen: List[float] = []
    y = 3 * leaf(1)
    for by in factors:
        y.register_hook(lambda grad, by=by: seen.append(grad.item()) or grad * by)
    (grad,) = torch.autograd.grad([y], [y], [leaf(first).detach()])
    called, counts = subject.value
    row = [first * prod(factors[:place]) for place in range(len(factors))]
    assert (seen, grad.item()) == (row if called else [], first * (prod(factors) if counts else 1))


@clause(
    "gradient.asked.together_with_a_leaf",
    says="Asked for an inner tensor and a leaf, autograd.grad returns the former's gradient unhooked.",
    source=(GRAD, "docs: torch.Tensor.register_hook"),
    covers=(
        "tensor.inputs.grad_nonleaf_and_leaf",
        "graph.api.grad_nonleaf_and_leaf",
        "graph.api.hook_on_input_that_is_also_intermediate_consistency",
        "graph.order.capture_nonleaf_tensor_hook_node_needed",
    ),
    docs="contradicts",
    note="A hook's result is to be used in place of the gradient. So it is in the leaf's result, and in that of the "
    "inner tensor when nothing else is asked for: grad(out, m) and grad(out, (m, a))[0] differ.",
)
@given(plan=asking((INNER, "x0"), (INNER,)))
def test_together_with_a_leaf(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    inner, leaf = answer(subject.play(plan.without(Hook)))
    (hook,) = hooks_of(plan)
    assert answer(trace) == (inner, leaf * hook.do[0].by)


@clause(
    "gradient.asked.kept_otherwise",
    says="The gradient kept by retain_grad() is then the hooked one: two values for one gradient.",
    source=(GRAD, SINCE_2_0),
    readings=(
        Reading("the hooked one", ">=2.0", "y.grad is the replacement.", {"retain_grad": "last"}),
        Reading("by registration", "<2.0", "retain_grad() is one of the hooks.", {"retain_grad": "slot"}),
    ),
    witness=Plan(
        NET,
        (Input(3),),
        (Forward(), Retain(INNER), Hook("tensor", INNER, "h0", (Scale(10),)), Ask((INNER, "x0"))),
    ),
    covers=("tensor.rg.with_inputs_root_leaf", "graph.order.capture_vs_retain_grad"),
    docs="contradicts",
    note="A hook's result is to be used in place of the gradient, here it is in .grad and not in what is returned.",
)
@given(
    plan=asking((INNER, "x0"), (INNER,), retain=True).map(
        lambda plan: Plan(plan.net, plan.inputs, (plan.steps[0], plan.steps[2], plan.steps[1], plan.steps[3]))
    )
)
def test_kept_otherwise(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.asked.other_leaf",
    says="autograd.grad calls no hook of a leaf it is not asked for, and none of a tensor it need not reach.",
    source=GRAD,
    covers=(
        "tensor.inputs.grad_other_leaf",
        "tensor.inputs.grad_unused",
        "graph.api.grad_allow_unused",
        "graph.api.grad_branch_not_needed_node_hook",
    ),
)
@given(
    plan=st.builds(
        lambda asked, grads, by: Plan(
            Leaf("m0", "split", (2, 3)),
            (Input(1),),
            (
                Hook("tensor", "m0.weight", "weight", (Scale(by),)),
                Hook("tensor", "m0.other", "other", (Scale(by),)),
                Forward(),
                Ask((asked,), grads),
            ),
        ),
        st.sampled_from(["m0.weight", "m0.other"]),
        st.sampled_from([(1, 2), (3, None), (None, 2)]),
        FACTORS,
    )
)
def test_other_leaf(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    question = plan.steps[-1]
    assert set(trace.calls()) <= {question.inputs[0][3:]}
    reached = dict(zip(("m0.weight", "m0.other"), question.grads))[question.inputs[0]] is not None
    assert (answer(trace) != (None,)) == reached


@clause(
    "gradient.asked.same_input_twice",
    says="A tensor that is asked for twice has its hooks called once, and both results are what they left.",
    source=SINCE_2_0,
    readings=HOOKED + CAPTURED,
    witness=Plan(NET, (Input(3),), (*WITNESS.steps[:2], Ask(("x0", "x0")))),
    covers=("tensor.inputs.grad_dup", "tensor.inputs.grad_dup_nonleaf"),
)
@given(plan=st.sampled_from(["x0", "m1.weight", INNER]).flatmap(lambda on: asking((on, on), (on,))))
def test_same_input_twice(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert len(trace.calls()) <= 1
    assert answer(trace)[0] == answer(trace)[1]


@clause(
    "gradient.asked.errors",
    says="An exception in a hook leaves autograd.grad as it leaves backward().",
    source=SINCE_2_0,
    readings=(
        Reading("raised", ">=2.0", "Also from the hook of an input.", {"hooks_when_asked": True}),
        Reading("not called", "<2.0", "The hook of an input is not called.", {"hooks_when_asked": False}),
    ),
    witness=Plan(NET, (Input(3),), (Hook("tensor", "x0", "h0", (Raise(),)), Forward(), Ask(("x0",)))),
    covers=("tensor.inputs.grad_exception", "tensor.inputs.grad_wrong_return", "tensor.exc.autograd_grad"),
)
@given(
    plan=st.builds(
        lambda on, asked, grad: Plan(
            NET, (Input(3),), (Forward(), Hook("tensor", on, "h0", (Raise(),)), Ask((asked,), (grad,)))
        ),
        st.sampled_from(["x0", INNER, ROOT]),
        st.sampled_from(["x0", INNER]),
        NUMBERS,
    )
)
def test_errors(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.asked.backward_inputs",
    says="backward(inputs=[x]) accumulates what the hooks of x leave, and calls no hook of other leaves.",
    source=INPUTS,
    needs=NEEDS_INPUTS,
    covers=(
        "tensor.inputs.backward_leaf",
        "tensor.inputs.backward_offpath",
        "graph.api.backward_inputs_leaf",
        "graph.api.backward_inputs_other_leaf_hooks",
        "graph.api.backward_inputs_unreachable",
    ),
)
@given(
    plan=st.sampled_from(["x0", "m1.weight", "m2.weight"]).flatmap(
        lambda on: asking((on,), ("x0", "m1.weight", "m2.weight"), Backward)
    )
)
def test_backward_inputs(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (asked,) = plan.steps[-1].inputs
    assert trace.calls() == [hook.label for hook in hooks_of(plan) if hook.on == asked]
    assert [name for name, grad in trace.grads()[-1].items() if grad is not None] == [asked]


@clause(
    "gradient.asked.backward_inner",
    says="backward(inputs=[y]) on an inner tensor sets y.grad to what its hooks leave, and goes no further.",
    source="https://github.com/pytorch/pytorch/pull/60521",
    needs=NEEDS_INPUTS,
    readings=(
        Reading("set", ">=1.10", "As retain_grad() and backward() would, less the leaves.", {"backward_inputs": "any"}),
        Reading("refused", "<1.10", "inputs= takes leaves only: RuntimeError.", {"backward_inputs": "leaves"}),
    ),
    witness=Plan(NET, (Input(3),), (Forward(), Backward((1,), inputs=(INNER,)))),
    covers=(
        "tensor.inputs.backward_nonleaf",
        "graph.api.backward_inputs_nonleaf",
        "graph.api.backward_inputs_nonleaf_sets_retains_grad",
    ),
)
@given(
    plan=st.builds(
        lambda plan, later: Plan(plan.net, plan.inputs, plan.steps + later),
        asking((INNER,), ("x0",), Backward),
        st.sampled_from([(), (Backward((2,)),)]),
    )
)
def test_backward_inner(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.asked.backward_inner_and_leaf",
    says="backward(inputs=) sets .grad to the hooked gradient, whatever else is asked for.",
    source="https://github.com/pytorch/pytorch/pull/60521",
    needs=NEEDS_INPUTS,
    readings=(
        Reading("set", ">=1.10", "Unlike what autograd.grad returns.", {"backward_inputs": "any"}),
        Reading("refused", "<1.10", "inputs= takes leaves only: RuntimeError.", {"backward_inputs": "leaves"}),
    ),
    witness=Plan(NET, (Input(3),), (Forward(), Backward((1,), inputs=(INNER,)))),
    covers=("tensor.inputs.backward_nonleaf_replaced", "graph.api.backward_inputs_vs_grad_hook_modified"),
)
@given(plan=st.sampled_from([(INNER,), (INNER, "x0")]).flatmap(lambda asked: asking(asked, (INNER,), Backward)))
def test_backward_inner_and_leaf(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.asked.backward_nothing",
    says="backward(inputs=[]) raises RuntimeError before any hook is called.",
    source=INPUTS,
    needs=NEEDS_INPUTS,
    readings=(
        Reading("raises", "", "An empty list is no question; the graph is as it was.", value="RuntimeError"),
        Reading("everything", "never", "An empty list counts as none given.", value="accepted"),
    ),
    witness={"on": [0], "before": False},
    covers=("graph.api.backward_inputs_empty",),
)
@given(on=st.lists(st.integers(0, 2), min_size=1, max_size=3), before=st.booleans())
def test_backward_nothing(subject: Subject, on: List[int], before: bool) -> None:
    seen: List[int] = []
    x = leaf(1)
    y = 2 * x
    tensors = (x, y, 3 * y)
    for place in on:
        tensors[place].register_hook(lambda grad, place=place: seen.append(place))
    hooks = sorted(on, reverse=True)
    if before:
        tensors[-1].backward(retain_graph=True)
    result = outcome(lambda: tensors[-1].backward(inputs=[]))
    # The pass that failed changes nothing for the next one.
    again = outcome(tensors[-1].backward)
    passes = 1 + before if subject.value == "RuntimeError" else 2 + before
    assert (result, again, seen, x.grad.item()) == (subject.value, "accepted", hooks * passes, 6 * passes)


@clause(
    "gradient.asked.anything",
    says="Whatever is asked for, every hook on the way and every kept gradient is as predicted.",
    source=GRAD,
    covers=("graph.api.grad_retain_grad_intermediate", "graph.api.several_roots"),
)
@given(plan=plans(kinds=("tensor",), inputs=(1, 2), outputs=(1, 2), depth=2, retain=True, runs=2, ask=True))
def test_anything(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
