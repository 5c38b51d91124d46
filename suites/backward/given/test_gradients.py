"""What backward hooks of modules are given: grad_input and grad_output.

A full hook (torch 1.8) is given the gradients of the module's inputs and outputs. The legacy hook it replaced sits on
the last operation of the module, and is given what that operation is given.
"""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Chain, Forward, Hook, Input, Leaf, Plan, Reuse, Scale
from suites.backward.sources import (
    DOCS,
    GRADIENTS,
    MODULE,
    OBSERVES,
    OTHER_NODES,
    PRE_CALLED,
    PRE_DOCS,
    RULE_2,
    TENSORS_ONLY,
    TESTS,
)
from suites.names import FROM_OUTPUT, FULL, PRE

ABOUT = "register_backward_hook"


@st.composite
def single(draw: Any, kind: str, op: str, inner: bool = False, after: bool = False) -> Plan:
    """One module with one parameter or two, one observing backward hook, one backward pass."""
    net = Leaf("m0", op, tuple(draw(NUMBERS) for _ in range(2 if op in ("affine", "split") else 1)))
    tensor = (Hook("tensor", "m0>0", "t0", (Scale(draw(FACTORS)),)),) if after else ()
    steps = (Hook(kind, "m0", "h0"), Forward()) + tensor + (Backward((draw(NUMBERS),)),)
    return Plan(net, (Input(draw(NUMBERS), leaf=not inner),), steps)


@clause(
    "backward.given.full_line",
    says="With y = m(x) = weight * x a full backward hook is given m, (gradient of x,), (gradient of y,).",
    where=("x requires grad and is used once", "there is no other hook"),
    see=("backward.given.kwargs_left_out", "backward.given.no_input"),
    source=GRADIENTS,
    asked="register_full_backward_hook signature arguments module grad_input grad_output what are they tuples example",
    needs=FULL,
)
@given(plan=single("full_backward", "scale"))
def test_full_line(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (grad,) = plan.steps[-1].grads
    assert trace.seen_by("h0") == [("m0", (plan.net.values[0] * grad,), (grad,))]


@clause(
    "backward.given.legacy_line",
    says="For y = weight * x grad_input of a legacy backward hook is (weight's gradient, x's gradient).",
    where=("both get a gradient and are used once", "there is no other hook"),
    see="backward.around.frozen_factor",
    source="measured",
    asked="old register_backward_hook what is in grad_input order of parameter and data multiplication",
)
@given(plan=single("backward", "scale"))
def test_legacy_line(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (grad,) = plan.steps[-1].grads
    weight, x = plan.net.values[0], plan.inputs[0].value
    assert trace.seen_by("h0") == [("m0", (x * grad, weight * grad), (grad,))]


@clause(
    "backward.given.legacy_last_operation",
    says="For w * x + b a legacy backward hook has in grad_input the gradients of the product and of b.",
    where=("both get a gradient, b is used once", "there is no other hook"),
    see="backward.legacy.linear",
    source=f'{MODULE} "Using a non-full backward hook when the forward contains multiple autograd Nodes"',
    asked="register_backward_hook grad_input wrong shows addition not layer input affine only final op",
)
@given(plan=single("backward", "affine"))
def test_legacy_last_operation(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (grad,) = plan.steps[-1].grads
    assert trace.seen_by("h0") == [("m0", (grad, grad), (grad,))]


@clause(
    "backward.given.pre_output",
    says="If y = m(x) is a tensor, a full backward pre-hook is given m and (gradient of y,).",
    where="there is no other hook",
    see="backward.structures.pre_other_outputs",
    source=(f'{PRE_DOCS} "hook(module, grad_output) -> tuple[Tensor, ...], Tensor or None"', PRE_CALLED),
    asked="register_full_backward_pre_hook signature arguments what does it receive grad_output tuple",
    needs=PRE,
)
@given(plan=single("full_backward_pre", "affine"))
def test_pre_output(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).seen_by("h0") == [("m0", plan.steps[-1].grads)]


@clause(
    "backward.given.after_tensor_hooks",
    says="A full backward hook has as grad_output what the caller's tensor hooks on the output left.",
    where=("the module returns a tensor", "there is no other backward hook"),
    see="backward.around.inside_forward",
    source=OBSERVES,
    asked="register_hook on layer result clips gradient does module hook get clipped or raw value outside code",
    needs=FULL,
)
@given(plan=single("full_backward", "scale", after=True))
def test_after_tensor_hooks(subject: Subject, plan: Plan) -> None:
    left = (plan.steps[-1].grads[0] * plan.steps[2].do[0].by,)
    assert [grad_output for _, _, grad_output in subject.holds(plan).seen_by("h0")] == [left]


@clause(
    "backward.given.unused_output",
    says="A full backward hook has None in grad_output for an output that the loss does not use.",
    where=("the module returns a tuple of tensors", "there is no other hook"),
    see="backward.structures.other_outputs",
    source="measured",
    asked="grad_output contains none nonetype error multi head layer second head not in objective",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda values, grads: Plan(
            Leaf("m0", "split", values), (Input(3),), (Hook("full_backward", "m0", "h0"), Forward(), Backward(grads))
        ),
        st.tuples(NUMBERS, NUMBERS),
        st.sampled_from([(1, None), (None, 2), (3, 2)]),
    )
)
def test_unused_output(subject: Subject, plan: Plan) -> None:
    assert [grad_output for _, _, grad_output in subject.holds(plan).seen_by("h0")] == [plan.steps[-1].grads]


def all_zero(numbers: Any) -> bool:
    """Whether a tensor's numbers, in rows and complex ones in pairs, are all zero."""
    return all(map(all_zero, numbers)) if isinstance(numbers, (list, tuple)) else numbers == 0


@clause(
    "backward.given.unused_input",
    says="If m(x, z) = weight * x, a full backward hook that returns None gives z a gradient of zeros.",
    where=("both require grad, z is used once", "there is no other hook"),
    see="backward.given.kwargs_left_out",
    source="measured",
    asked="ignored argument gets zero grad rather than none after adding module hook changes result",
    note="A hook that only looks does so, too: an optimizer with momentum or weight decay then moves the tensor.",
    needs=FULL,
)
@given(plan=plans(kinds=("full_backward",), does=(), ops=("first",), inputs=(2, 2), depth=0, least=0, values=True))
def test_unused_input(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    given = [event.seen[1][1] for event in trace if event.what in trace.calls()]
    (gradients,) = trace.grads()
    gradient = gradients["x1" if plan.inputs[1].leaf else "x1.base"]
    if given:
        assert all(all_zero(grad.numbers) for grad in (*given, gradient))
        assert {grad.shape for grad in given} == {gradient.shape}
    else:
        assert gradient is None


@clause(
    "backward.given.frozen_input",
    says="A full backward hook is given zeros for an input that needs no gradient.",
    where=("inputs are positional tensors, another requires grad", "there is no other hook"),
    see=("backward.given.kwargs_left_out", "backward.given.no_input"),
    source="measured",
    asked="grad_input all zero instead of none for argument with "
    "requires_grad false why not missing grad_input is None",
    matters_if="full_backward ?first_needs_no_grad",
    needs=FULL,
    readings=(
        Reading(
            "zero",
            "",
            "A full backward hook runs, whichever of two used inputs needs a gradient.",
            {"full_first_must_need_grad": False},
        ),
    ),
    witness=Plan(
        Leaf("m0", "add"), (Input(1, grad=False), Input(2)), (Hook("full_backward", "m0", "h0"), Forward(), Backward())
    ),
)
@given(
    plan=st.builds(
        lambda op, first, grad: Plan(
            Leaf("m0", op),
            (Input(3, grad=first), Input(4, grad=not first)),
            (Hook("full_backward", "m0", "h0"), Forward(), Backward((grad,))),
        ),
        st.sampled_from(["add", "mul"]),
        st.booleans(),
        NUMBERS,
    )
)
def test_frozen_input(subject: Subject, plan: Plan) -> None:
    trace, frozen = subject.holds(plan), 1 if plan.inputs[0].grad else 0
    refused = subject.reading.facts["full_first_must_need_grad"] and frozen == 0
    assert trace.raised() == [("forward", "AttributeError")] * refused
    assert [grad_input[frozen] for _, grad_input, _ in trace.seen_by("h0")] == ([] if refused else [0])


@clause(
    "backward.given.no_input",
    says="If no input needs a gradient, the full backward hook still runs, with None for every positional input.",
    where="the output is a tensor that requires grad",
    see="backward.given.kwargs_left_out",
    source=(RULE_2, TESTS + "test_hook_no_requires_grad", FROM_OUTPUT),
    asked="why is grad_input none in the first layer hook on raw "
    "images requires_grad false first layer grad_input is None",
    matters_if="full_backward ?inputs_need_no_grad",
    needs=FULL,
    readings=(
        Reading(
            "at the output",
            "",
            "If no input needs a gradient, the full backward hook runs when the output has its gradient.",
            {"full_without_input": "output"},
        ),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)), (Input(1, grad=False),), (Hook("full_backward", "m0", "h0"), Forward(), Backward())
    ),
)
@given(
    plan=st.builds(
        lambda op, value, grad: Plan(
            Leaf("m0", op, (value,)),
            tuple(Input(3, grad=False) for _ in range(1 if op == "scale" else 2)),
            (Hook("full_backward", "m0", "h0"), Forward(), Backward((grad,))),
        ),
        st.sampled_from(["scale", "first"]),
        NUMBERS,
        NUMBERS,
    )
)
def test_no_input(subject: Subject, plan: Plan) -> None:
    silent = subject.reading.facts["full_without_input"] == "silent"
    due = [] if silent else [("m0", (None,) * len(plan.inputs), plan.steps[-1].grads)]
    assert subject.holds(plan).seen_by("h0") == due


@clause(
    "backward.given.legacy_first_output",
    says="If m(x) is (w1 * x, w2 * x), a legacy backward hook does not run if the loss uses the second alone.",
    source=OTHER_NODES,
    asked="old register_backward_hook on multi output layer silent when loss takes only second element",
)
@given(
    plan=st.builds(
        lambda values, grads: Plan(
            Leaf("m0", "split", values), (Input(3),), (Hook("backward", "m0", "h0"), Forward(), Backward(grads))
        ),
        st.tuples(NUMBERS, NUMBERS),
        st.sampled_from([(1, None), (None, 2), (3, 2)]),
    )
)
def test_legacy_first_output(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == (["h0"] if plan.steps[-1].grads[0] is not None else [])


@clause(
    "backward.given.each_call",
    says="If a module that returns a tensor is called twice, its full backward hook runs for the later call first.",
    where=("one backward()", "every output is in the loss"),
    source="measured",
    asked="shared layer reused in siamese network hook fires twice in "
    "which order reverse of forward backward hook called twice",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda value, grad: Plan(
            Chain("m0", (Leaf("m1", "scale", (value,)), Reuse("m1"))),
            (Input(3),),
            (Hook("full_backward", "m1", "h0"), Forward(), Backward((grad,))),
        ),
        NUMBERS,
        NUMBERS,
    )
)
def test_each_call(subject: Subject, plan: Plan) -> None:
    (grad,), (weight,) = plan.steps[-1].grads, plan.net.children[0].values
    later = ("m1", (weight * grad,), (grad,))
    earlier = ("m1", (weight * weight * grad,), (weight * grad,))
    assert subject.holds(plan).seen_by("h0") == [later, earlier]


@clause(
    "backward.given.dict_output",
    says="A full backward hook of a module that returns a dict is not called.",
    where="there is no other hook",
    source=(TENSORS_ONLY, DOCS, "release 2.0: a module warns that backward hooks need tensor outputs"),
    asked="huggingface modeloutput register_full_backward_hook never fires "
    "silent on dictionary result backward hook uncalled dict output",
    matters_if="full_backward ?output_other",
    docs="contradicts",
    note="The docs promise a call whenever gradients for the module's inputs are computed; here they are.",
    needs=FULL,
    readings=by_release(
        "error",
        ("1.13", "not called", {"full_without_output": "skipped"}),
        "A full backward hook of a module that returns a dict is not called.",
        ("", "refused", {"full_without_output": "raises"}),
        "If a module with a full backward hook returns a dict, backward() raises RuntimeError.",
    ),
    witness=Plan(
        Chain("m0", (Leaf("m1", "named", (2,)), Leaf("m2", "scale", (1,)))),
        (Input(3),),
        (Hook("full_backward", "m1", "of the dict"), Hook("full_backward", "m2", "behind it"), Forward(), Backward()),
    ),
)
@given(
    plan=st.builds(
        lambda values, by, grad: Plan(
            Chain("m0", (Leaf("m1", "named", values[:1]), Leaf("m2", "scale", values[1:]))),
            (Input(3),),
            (
                Hook("full_backward", "m1", "of the dict"),
                Hook("full_backward", "m2", "behind it", (Scale(by),)),
                Forward(),
                Backward((grad,)),
            ),
        ),
        st.tuples(NUMBERS, NUMBERS),
        FACTORS,
        NUMBERS,
    )
)
def test_dict_output(subject: Subject, plan: Plan) -> None:
    trace, raises = subject.holds(plan), subject.reading.facts["full_without_output"] == "raises"
    assert (trace.calls(), trace.raised()) == (["behind it"], [("backward", "RuntimeError")] * raises)
