"""Hooks that return what they may not, or that cannot be called: what backward() says to them, and when."""

from math import prod
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Like, Of, Plan, Recast, Remove, Scale, hooks_of
from fixtures.stages.make import make
from suites.names import TENSOR_DOCS
from suites.tensors import item, leaf, multiplies, outcome

ABOUT = "register_hook"


@clause(
    "gradient.errors.wrong_type",
    says="A tensor hook that returns anything but a tensor or None ends backward() with TypeError.",
    where="it is given a gradient, not None",
    source=TENSOR_DOCS,
    asked="returned numpy array or python number or tuple from hook expected variable but got",
    matters_if="tensor returns ?returns_wrong",
    effect="error",
    value=("TypeError", "TypeError"),
    wrong={"falsy is None": ("TypeError", "accepted")},
    witness={"wrong": False, "inner": False, "before": [], "had": None},
)
@given(
    wrong=st.sampled_from([3, 0, True, False, 1.0, "", "grad", [], [1.0, 1.0], (), {}, "a tuple with the gradient"]),
    inner=st.booleans(),
    before=st.lists(FACTORS, max_size=2),
    had=st.none() | NUMBERS,
)
def test_wrong_type(subject: Subject, wrong: Any, inner: bool, before: List[int], had: Any) -> None:
    calls: List[Any] = []
    x = leaf(1)
    x.grad = None if had is None else leaf(had).detach()
    y = 1 * x
    for by in before:
        (y if inner else x).register_hook(multiplies(by))
    (y if inner else x).register_hook(lambda grad: (grad,) if wrong == "a tuple with the gradient" else wrong)
    (y if inner else x).register_hook(lambda grad: calls.append(grad.item()))
    expected = subject.value[0 if wrong else 1]
    grad = had if expected != "accepted" else prod(before) + (had or 0)
    seen = [float(prod(before))] if expected == "accepted" else []
    assert (outcome(y.backward), calls, item(x.grad)) == (expected, seen, grad)


@clause(
    "gradient.errors.wrong_dtype",
    says="A tensor hook that returns another dtype, or a sparse tensor for a dense one, ends backward(): RuntimeError.",
    source="measured",
    asked="return half or float64 from hook crash mixed precision cast gradient sparse versus dense mismatch",
    value="RuntimeError",
    wrong={"converted": "accepted"},
    witness={"dtype": "float64", "returned": "float32", "sparse": False, "inner": False},
)
@given(
    dtype=st.sampled_from(["float64", "float32"]),
    returned=st.sampled_from(["float64", "float32", "float16", "int64", "bool"]),
    sparse=st.booleans(),
    inner=st.booleans(),
)
def test_wrong_dtype(subject: Subject, dtype: str, returned: str, sparse: bool, inner: bool) -> None:
    import torch

    x = make.ones(2, dtype=getattr(torch, dtype), requires_grad=True)
    y = 1 * x
    other = make.full((2,), 5.0, dtype=torch.float64)
    other = (other.to_sparse() if sparse else other).to(getattr(torch, returned))
    (y if inner else x).register_hook(lambda grad: other)
    result = outcome(lambda: y.backward(make.ones(2, dtype=x.dtype)))
    expected = "accepted" if returned == dtype and not sparse else subject.value
    assert (result, item(x.grad)) == (expected, [5.0, 5.0] if expected == "accepted" else None)


@st.composite
def refused_or_not(draw: Any) -> Plan:
    """Passes over y = weight * x with a hook each on x: one that is refused, or one that multiplies by 10."""
    steps = [Forward()] + [Backward((Like(draw(NUMBERS)),))] * draw(st.integers(0, 1))
    for place, refused in enumerate(draw(st.lists(st.booleans(), min_size=1, max_size=4))):
        do = Recast(shape=draw(st.sampled_from(["longer", "scalar"]))) if refused else Scale(10)
        steps += [Hook("tensor", "x0", f"h{place}", (do,)), Backward((Like(1),)), Remove(f"h{place}")]
    return Plan(Leaf("m0", "scale", (Of(1, (2,)),)), (Input(Of(1, (2,))),), tuple(steps))


@clause(
    "gradient.errors.refused_leaves_grad",
    says="A leaf whose tensor hook returns another shape keeps its .grad, and the next backward() adds to it.",
    where=("the hook is gone by then", "the graph was kept"),
    source="measured",
    asked="wrong size gradient for parameter rejected then training loop continues is accumulated gradient corrupted",
)
@given(plan=refused_or_not())
def test_refused_leaves_grad(subject: Subject, plan: Plan) -> None:
    trace, before = subject.holds(plan), None
    hooks = [None] * sum(isinstance(step, Backward) for step in plan.steps[:2]) + hooks_of(plan)
    refused = [hook is not None and hook.do != (Scale(10),) for hook in hooks]
    assert trace.raised() == [("backward", "RuntimeError")] * sum(refused)
    for left, no in zip([grads["x0"] and grads["x0"].numbers for grads in trace.grads()], refused):
        assert (left == before) == no
        before = left


@clause(
    "gradient.errors.not_callable",
    says="register_hook takes what is not callable; a backward() that reaches it raises TypeError.",
    where="the tensor requires grad",
    source="measured",
    asked="passed none or a string instead of function no error at registration crashes later",
    matters_if="never",
    effect="error",
    value=["registered", "TypeError"],
    wrong={"at registration": ["TypeError"]},
    witness={"hook": 3, "before": [], "inner": False},
)
@given(
    hook=st.sampled_from([3, None, False, "hook", [], (print,), {}]),
    before=st.lists(FACTORS, max_size=2),
    inner=st.booleans(),
)
def test_not_callable(subject: Subject, hook: Any, before: List[int], inner: bool) -> None:
    seen, calls = [], []
    handle: Any = None
    x = leaf(1)
    y = 1 * x
    for by in before:
        (y if inner else x).register_hook(multiplies(by, lambda grad: calls.append(grad.item())))
    try:
        handle = (y if inner else x).register_hook(hook)
        seen.append("registered")
        y.backward()
    except (TypeError, RuntimeError) as error:
        seen.append(type(error).__name__)
    assert seen == subject.value
    assert (calls, x.grad) == ([prod(before[:place]) for place in range(len(before))], None)
    # Once it is removed the others go on as ever.
    handle.remove()
    (y if inner else x).backward()
    assert x.grad.item() == prod(before)


@clause(
    "gradient.errors.argument_returned",
    says="A tensor hook that returns its argument changes nothing, like one that returns None.",
    see="gradient.edits.own_gradient",
    source=TENSOR_DOCS,
    asked="register_hook lambda returning same grad unchanged noop identity print and return harmless",
)
@given(
    plan=st.builds(
        lambda on, does, grad: Plan(
            Leaf("m0", "scale", (Of(1),)),
            (Input(Of(3)),),
            (Forward(), *(Hook("tensor", on, f"h{place}", do) for place, do in enumerate(does)), Backward((grad,))),
        ),
        st.sampled_from(["x0", "m0.weight", "m0>0"]),
        # Recast into what it is: the very argument.
        st.lists(st.sampled_from([(Recast(),), ()]) | FACTORS.map(lambda by: (Scale(by),)), min_size=1, max_size=5),
        NUMBERS.map(Like),
    )
)
def test_argument_returned(subject: Subject, plan: Plan) -> None:
    trace, hooks = subject.holds(plan), hooks_of(plan)
    seen = [trace.seen_by(hook.label)[0][0].numbers for hook in hooks]
    # What the last one leaves is in .grad, of x0 where y is hooked: the weight is 1.
    seen.append(trace.grads()[-1]["x0" if hooks[0].on == "m0>0" else hooks[0].on].numbers)
    for hook, before, after in zip(hooks, seen, seen[1:]):
        assert after == (before * hook.do[0].by if hook.do and hook.do != (Recast(),) else before)


#: Hooks by the number of arguments that they can be called with.
ARITIES = {
    "none": lambda: None,
    "one": lambda grad: None,
    "two": lambda tensor, grad: None,
    "any": lambda *grads: None,
    "one or two": lambda grad, more=None: None,
    "keywords": lambda **grads: None,
}


@clause(
    "gradient.errors.arity",
    says="register_hook takes functions of any arity; backward() fails unless one argument can be passed.",
    where="the pass reaches the tensor",
    source="measured",
    asked="why typeerror missing positional parameter callback signature "
    "wrong number of parameters only noticed during training",
    value="backward",
    wrong={"at registration": "registration"},
    witness={"hooks": ["none"], "inner": False},
)
@given(hooks=st.lists(st.sampled_from(sorted(ARITIES)), min_size=1, max_size=3), inner=st.booleans())
def test_arity(subject: Subject, hooks: List[str], inner: bool) -> None:
    x = leaf(1)
    y = 1 * x
    took = [outcome(lambda name=name: (y if inner else x).register_hook(ARITIES[name])) for name in hooks]
    # Whether it is a TypeError or, before 1.7, a RuntimeError is not asked here.
    done = outcome(y.backward) == "accepted"
    good = [name in ("one", "any", "one or two") for name in hooks]
    refused = subject.value == "registration"
    assert [one == "accepted" for one in took] == [fits or not refused for fits in good]
    assert (done, item(x.grad)) == ((True, 1.0) if refused or all(good) else (False, None))
