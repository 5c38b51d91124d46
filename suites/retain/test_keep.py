"""retain_grad() asks that the gradient of a non-leaf tensor be kept in its .grad, as if it were a leaf."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Chain, Forward, Hook, Input, Leaf, Plan, Retain
from fixtures.stages.make import make
from suites.names import KEPT, RETAIN_DOCS, RETAIN_IN_ENGINE
from suites.tensors import item, leaf

ABOUT = "retain_grad"

REFUSED = "https://github.com/pytorch/pytorch/blob/main/torch/csrc/autograd/VariableTypeManual.cpp"


@st.composite
def kept(draw: Any, passes: int = 1, fewest: int = 1, hook: bool = False) -> Plan:
    """y = m1.weight * x and z = m2.weight * y, retain_grad() on y or on z, and some backward passes from z."""
    on = draw(st.sampled_from(["m1>0", "m2>0"]))
    hooks = (Hook("tensor", on, "h0"),) if hook else ()
    backwards = tuple(Backward((draw(NUMBERS),)) for _ in range(draw(st.integers(fewest, passes))))
    net = Chain("m0", (Leaf("m1", "scale", (draw(NUMBERS),)), Leaf("m2", "scale", (draw(NUMBERS),))))
    return Plan(net, (Input(draw(NUMBERS)),), (Forward(),) + hooks + (Retain(on),) + backwards)


def kept_on(plan: Plan) -> str:
    """The tensor that a plan of `kept` keeps the gradient of."""
    return next(step.on for step in plan.steps if isinstance(step, Retain))


def reaching(plan: Plan) -> List[int]:
    """The gradients that the passes of a plan of `kept` bring to that tensor."""
    by = plan.net.children[1].values[0] if kept_on(plan) == "m1>0" else 1
    return [by * step.grads[0] for step in plan.steps if isinstance(step, Backward)]


@clause(
    "retain.keep.inner_tensor",
    says="After y.retain_grad() a backward that reaches the non-leaf tensor y leaves the gradient of y in y.grad.",
    where=("one backward()", "y.grad was None"),
    see=("retain.keep.adds_up", "retain.place.after_every_hook"),
    source=KEPT,
    asked="how to get gradient of intermediate activation feature map non-leaf "
    "grad-cam stored after loss gradient of an intermediate tensor activation",
)
@given(plan=kept())
def test_inner_tensor(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [trace.grads()[0][kept_on(plan)]] == reaching(plan)


@clause(
    "retain.keep.what_hooks_see",
    says="If no tensor hook of y changes the gradient, each is given the gradient that retain_grad() keeps for y.",
    where="one backward()",
    source=(KEPT, "measured"),
    asked="is register_hook printed grad identical to stored activation.grad compare values unmodified",
    level="observed",
)
@given(plan=kept(hook=True))
def test_what_hooks_see(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.seen_by("h0") == [(trace.grads()[0][kept_on(plan)],)]


@clause(
    "retain.keep.changes_nothing_else",
    says="retain_grad() on a tensor that gets a gradient changes no other gradient and no call of tensor hooks.",
    source=(RETAIN_DOCS, "measured"),
    asked="is keeping activation gradients for debugging safe does it affect training weights or other callbacks",
)
@given(plan=plans(kinds=("tensor",), does=("scale",), inputs=(1, 2), outputs=(1, 2), depth=2, retain=True, runs=2))
def test_changes_nothing_else(subject: Subject, plan: Plan) -> None:
    trace, plain = subject.holds(plan), subject.play(plan.without(Retain))
    assert trace.calls() == plain.calls()
    kept_too = [{name: grads[name] for name in fewer} for grads, fewer in zip(trace.grads(), plain.grads())]
    assert kept_too == plain.grads()


@clause(
    "retain.keep.adds_up",
    says="Over several backward() calls the gradients kept for one tensor add up in its .grad.",
    source='docs: torch.Tensor.grad "will accumulate (add) gradients into it"',
    asked="retained activation gradient doubles when backprop twice retain_graph accumulate zero it between losses",
)
@given(plan=kept(passes=4, fewest=2))
def test_adds_up(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    gradients = reaching(plan)
    sums = [sum(gradients[: end + 1]) for end in range(len(gradients))]
    assert [grads[kept_on(plan)] for grads in trace.grads()] == sums


@clause(
    "retain.keep.once_is_enough",
    says="Calling retain_grad() again on the same tensor changes nothing.",
    source="test: test/test_autograd.py TestAutograd.test_retain_grad",
    asked="retain grad twice by accident doubled gradient idempotent repeated in loop",
)
@given(plan=plans(kinds=("tensor",), does=(), inputs=(1, 2), outputs=(1, 2), retain=True, runs=2))
def test_once_is_enough(subject: Subject, plan: Plan) -> None:
    again: List[Any] = []
    for step in plan.steps:
        again += [step, step] if isinstance(step, Retain) else [step]
    doubled = Plan(plan.net, plan.inputs, tuple(again))
    assert subject.holds(doubled).grads() == subject.holds(plan).grads()


@clause(
    "retain.keep.nothing_for_leaves",
    says="retain_grad() on a leaf that requires grad does nothing: a backward adds to its .grad once.",
    source='docs: torch.Tensor.retain_grad "This is a no-op for leaf tensors"',
    asked="call retain grad on parameter or input image no-op double count harmless",
)
@given(
    plan=st.builds(
        lambda value, on, grads: Plan(
            Leaf("m0", "affine", (2, 5)),
            (Input(value),),
            (Forward(),) + tuple(Retain(name) for name in on) + tuple(Backward((grad,)) for grad in grads),
        ),
        NUMBERS,
        st.lists(st.sampled_from(["x0", "m0.weight", "m0.bias"]), min_size=1, max_size=3),
        st.lists(NUMBERS, min_size=1, max_size=3),
    )
)
def test_nothing_for_leaves(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).grads() == subject.play(plan.without(Retain)).grads()


@clause(
    "retain.keep.needs_grad",
    says="retain_grad() on a tensor that does not require grad raises RuntimeError.",
    source=(RETAIN_DOCS, REFUSED + ' "can\'t retain_grad on Tensor that has requires_grad=False"'),
    asked="can't retain_grad on tensor that has requires_grad=false error under no_grad frozen detached activation",
    matters_if="retain_grad ?no_grad",
    docs="contradicts",
    note="The docs say that it does nothing for a leaf, and what requires no gradient is a leaf.",
    readings=by_release(
        ("error", "none"),
        ("1.5", "raises", {"retain_needs_grad": True}),
        "retain_grad() on a tensor that does not require grad raises RuntimeError.",
        ("", "is silent", {"retain_needs_grad": False}),
        "retain_grad() on a tensor that does not require grad returns and does nothing.",
    ),
    witness=Plan(Leaf("m0", "scale", (2,)), (Input(1, grad=False),), (Retain("x0"), Forward(), Backward())),
)
@given(
    plan=st.builds(
        lambda spec, early: Plan(
            Leaf("m0", "scale", (2,)),
            (spec,),
            (Retain("x0"), Forward(), Backward()) if early else (Forward(), Retain("x0"), Backward()),
        ),
        st.builds(Input, NUMBERS, st.booleans(), st.booleans()),
        st.booleans(),
    )
)
def test_needs_grad(subject: Subject, plan: Plan) -> None:
    trace, frozen = subject.holds(plan), not plan.inputs[0].grad
    raises = frozen and subject.reading.facts["retain_needs_grad"]
    assert trace.raised() == [("retain", "RuntimeError")] * raises
    assert not frozen or trace.grads()[0].get("x0") is None


@clause(
    "retain.keep.too_late",
    says="retain_grad() on a non-leaf tensor after a backward keeps the gradients of later backwards only.",
    source="measured",
    asked="forgot to ask before backprop activation.grad is none "
    "afterwards retroactive get gradient again retain_graph",
)
@given(
    plan=st.builds(
        lambda first, second: Plan(
            Leaf("m0", "scale", (2,)), (Input(3),), (Forward(), Backward((first,)), Retain("m0>0"), Backward((second,)))
        ),
        NUMBERS,
        NUMBERS,
    )
)
def test_too_late(subject: Subject, plan: Plan) -> None:
    first, second = subject.holds(plan).grads()
    assert "m0>0" not in first
    assert second["m0>0"] == plan.steps[-1].grads[0]


@clause(
    "retain.keep.not_by_itself",
    says="Without retain_grad() a non-leaf tensor has .grad None after backward(), and reading it warns.",
    where="no .grad assigned",
    source=(
        'docs: torch.Tensor.is_leaf "Only leaf Tensors will have their :attr:`grad` populated"',
        'code: torch/include/ATen/core/TensorBody.h "attribute won\'t be populated during autograd.backward()"',
        "release 1.5: reading .grad of a non-leaf tensor warns",
    ),
    asked="activation gradient is none userwarning the .grad attribute of a tensor "
    "that is not a leaf intermediate gradient is None non-leaf .grad warning",
    level="implied",
    matters_if="never",
    readings=by_release(
        ("warning", "none"),
        ("1.5", "warns", ["UserWarning"]),
        "Reading the .grad of a non-leaf tensor without retain_grad() gives None and a UserWarning.",
        ("", "is silent", []),
        "Reading the .grad of a non-leaf tensor without retain_grad() gives None and no warning.",
    ),
    witness={"row": [False], "hooks": 0},
)
@given(row=st.lists(st.booleans(), min_size=1, max_size=4), hooks=st.integers(0, 1))
def test_not_by_itself(subject: Subject, row: List[bool], hooks: int) -> None:
    import warnings

    tensors = [leaf(1)]
    for keep in row:
        tensors.append(2 * tensors[-1])
        if keep:
            tensors[-1].retain_grad()
        for _ in range(hooks):
            tensors[-1].register_hook(lambda grad: None)
    tensors[-1].backward()
    found = []
    for tensor in tensors:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found.append((item(tensor.grad), [warning.category.__name__ for warning in caught]))
    grads = [2.0 ** (len(row) - place) for place in range(len(row) + 1)]
    quiet = [True, *row]
    assert found == [(grad, []) if keep else (None, subject.value) for grad, keep in zip(grads, quiet)]


@clause(
    "retain.keep.attribute",
    says="retains_grad is True once retain_grad() was called on a non-leaf tensor, and False otherwise.",
    source=(
        'docs: torch.Tensor.retains_grad "if this Tensor is non-leaf and its :attr:`grad` is enabled"',
        RETAIN_IN_ENGINE,
    ),
    asked="how to check if intermediate activation will store gradient flag boolean leaf parameter says false",
    matters_if="retain_grad ?attribute_read",
    note="It stays True when detach_() makes the tensor a leaf: retain.versions.detached.",
    readings=by_release(
        "error",
        ("1.10", "always there", False),
        "Every tensor has retains_grad, also before retain_grad().",
        ("", "only when kept", "absent"),
        "Only a non-leaf tensor has retains_grad, and only after retain_grad(): reading it elsewhere raises.",
    ),
    witness={"calls": [0], "detached": []},
)
@given(calls=st.lists(st.integers(0, 3), max_size=5), detached=st.lists(st.integers(1, 3), max_size=2))
def test_attribute(subject: Subject, calls: List[int], detached: List[int]) -> None:
    x = leaf(1)
    y = 2 * x
    tensors = [x, y, 3 * y, 1 * x, leaf(1).detach()]
    kept = set()
    for place in [None, *calls]:
        if place is not None:
            tensors[place].retain_grad()
            kept |= {place} - {0}
        seen = [getattr(tensor, "retains_grad", "absent") for tensor in tensors]
        assert seen == [True if at in kept else subject.value for at in range(len(tensors))]
    for place in detached:
        tensors[place].detach_()
    assert [getattr(tensor, "retains_grad", "absent") for tensor in tensors] == seen


@clause(
    "retain.keep.attribute_is_read_only",
    says="Assigning to the retains_grad of a tensor raises AttributeError.",
    source=("docs: torch.Tensor.retains_grad", RETAIN_IN_ENGINE, "measured"),
    asked="set retains_grad = true by hand not writable crash attribute of tensor objects",
    level="observed",
    matters_if="never",
    readings=by_release(
        ("error", "none"),
        ("1.10", "read-only", "AttributeError"),
        "Assigning to the retains_grad of a tensor raises AttributeError.",
        ("", "an attribute like any other", "assigned"),
        "The retains_grad of a tensor can be assigned like any attribute.",
    ),
    witness={"kept": True, "value": False},
)
@given(kept=st.booleans(), value=st.sampled_from([False, True, None]))
def test_attribute_is_read_only(subject: Subject, kept: bool, value: Any) -> None:
    y = 2 * leaf(1)
    if kept:
        y.retain_grad()
    try:
        y.retains_grad = value
        result = "assigned"
    except AttributeError as error:
        result = type(error).__name__
    assert result == subject.value
    assert y.retains_grad is (value if result == "assigned" else kept)


@clause(
    "retain.keep.no_hook_of_its_own",
    says="retain_grad() adds nothing to the _backward_hooks of the tensor.",
    source=RETAIN_IN_ENGINE,
    asked="count or list hooks of activation is retain grad visible in private dict still none",
    matters_if="retain_grad ?dict_read",
    readings=by_release(
        "silent",
        ("1.10", "no entry", 0),
        "retain_grad() adds nothing to the _backward_hooks of the tensor.",
        ("", "one entry", 1),
        "retain_grad() adds one entry to the _backward_hooks of the tensor.",
    ),
    witness={"calls": ["retain"]},
)
@given(calls=st.lists(st.sampled_from(["retain", "hook"]), max_size=5))
def test_no_hook_of_its_own(subject: Subject, calls: List[str]) -> None:
    y = 2 * leaf(1)
    for what in calls:
        if what == "retain":
            y.retain_grad()
        else:
            y.register_hook(lambda grad: None)
    hooks = y._backward_hooks
    count = calls.count("hook") + (subject.value if "retain" in calls else 0)
    assert (0 if hooks is None else len(hooks)) == count


@clause(
    "retain.keep.own_memory",
    says="A kept gradient has its own memory: changing it in place changes no other gradient.",
    source="measured",
    asked="clip or zero_ activation.grad afterwards corrupts parameter gradients shared storage aliasing",
    value=0,
    wrong={"shared": 1},
    witness={"adds": [(True, 2)], "size": 1},
)
@given(adds=st.lists(st.tuples(st.booleans(), NUMBERS), max_size=4), size=st.integers(1, 3))
def test_own_memory(subject: Subject, adds: List[Any], size: int) -> None:
    import torch

    seen: List[Any] = []
    x = make.ones(size, dtype=torch.float64, requires_grad=True)
    y = x.view(size)
    y.register_hook(seen.append)
    y.retain_grad()
    # One number, seen from all places: what is kept has a place for each.
    y.backward(make.tensor([2.0], dtype=torch.float64).expand(size))
    at_y = at_x = 2
    for kept, by in adds:
        (y if kept else x).grad.add_(by)
        at_y += by if kept else by * subject.value
        at_x += by * subject.value if kept else by
    assert (y.grad.tolist(), x.grad.tolist()) == ([at_y] * size, [at_x] * size)
    if all(kept for kept, _ in adds):  # x.grad may be the gradient that came
        assert [grad.tolist() for grad in seen] == [[at_y if subject.value else 2] * size]
