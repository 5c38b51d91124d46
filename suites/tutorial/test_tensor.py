"""What study notes teach about hooks on tensors, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

from math import prod
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import FACTORS, NUMBERS, plans
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Retain, Scale, hooks_of
from suites.tensors import leaf

ABOUT = "register_hook"

NOTES = "tutorials: widely read study notes, 2019-2022"
HOOK = "docs: torch.Tensor.register_hook"
REPLACES = HOOK + ' "a new gradient which will be used in place of :attr:`grad`"'
ADDS = 'docs: torch.Tensor.grad "will accumulate (add) gradients into it"'
NOTE = "note: autograd.html#backward-hooks-execution"
IN_PLACE = "note: autograd.html#behavior-of-tensor-hooks-when-tensor-is-modified-in-place"
RETAIN = "docs: torch.Tensor.retain_grad"
RETAIN_MOVED = "release 2.0: retain_grad keeps the gradient that every hook of the tensor has left"


@st.composite
def pile(draw: Any, fewest: int) -> Plan:
    """One module y = weight * x with hooks on one tensor: its input, its parameter or its output."""
    on = draw(st.sampled_from(["x0", "m0.weight", "m0>0"]))
    hooks = tuple(
        Hook("tensor", on, f"h{index}", (Scale(draw(FACTORS)),) if draw(st.booleans()) else ())
        for index in range(draw(st.integers(fewest, 4)))
    )
    net = Leaf("m0", "scale", (draw(NUMBERS),))
    return Plan(net, (Input(draw(NUMBERS)),), (Forward(),) + hooks + (Backward((draw(NUMBERS),)),))


def factor(hook: Hook) -> int:
    """What a hook multiplies the gradient by; 1 when it only looks."""
    return hook.do[0].by if hook.do else 1


@clause(
    "tutorial.tensor.t01_one_dict",
    says="Every hook of a tensor is in its _backward_hooks, which is None before the first one.",
    source=(NOTES, HOOK, "docs: torch.Tensor.register_post_accumulate_grad_hook", "measured"),
    concern="tensor_dict",
    instead="look at _post_accumulate_grad_hooks too, where the tensor has it.",
    readings=(
        Reading(
            "true",
            "<2.1",
            "A tensor has one kind of hook, kept in its _backward_hooks.",
            value=(None, ["_backward_hooks"]),
        ),
        Reading(
            "false",
            ">=2.1",
            "Post-accumulate hooks of a tensor are in its _post_accumulate_grad_hooks, not in _backward_hooks.",
            value=(None, ["_backward_hooks", "_post_accumulate_grad_hooks"]),
            headline=False,
            harm="silent",
        ),
    ),
    note="Before 1.10 retain_grad() put its own hook into _backward_hooks as well.",
)
def test_t01_one_dict(subject: Subject) -> None:
    import torch

    x = torch.tensor(2.0, requires_grad=True)
    before, places = x._backward_hooks, []
    for name in sorted(dir(x)):
        if name.startswith("register_") and name.endswith("hook"):
            handle = getattr(x, name)(lambda grad: None)
            dicts = [place for place in dir(x) if place.endswith("_hooks")]
            places += [place for place in dicts if handle.id in (getattr(x, place) or {})]
    assert (before, places) == subject.value


@clause(
    "tutorial.tensor.t28_returns",
    says="A tensor hook that returns None keeps the gradient; one that returns a tensor replaces it.",
    source=(NOTES, REPLACES),
    readings=(
        Reading(
            "true",
            "",
            "What a tensor hook returns goes on, into .grad and to the inputs; None changes nothing.",
            value="returned",
        ),
        Reading("false", "never", "The gradient goes on as it came.", value="kept"),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)),
        (Input(1),),
        (Forward(), Hook("tensor", "m0>0", "h0", (Scale(10),)), Hook("tensor", "m0>0", "h1"), Backward((3,))),
    ),
)
@given(plan=pile(1))
def test_t28_returns(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    weight, x, first = plan.net.values[0], plan.inputs[0].value, plan.steps[-1].grads[0]
    grads = {"x0": weight * first, "m0.weight": x * first}
    product = 1
    for hook in hooks_of(plan):
        product *= factor(hook) if subject.value == "returned" else 1
    on = hooks_of(plan)[0].on
    reached = grads if on == "m0>0" else (on,)
    assert trace.grads() == [{name: grad * (product if name in reached else 1) for name, grad in grads.items()}]


@clause(
    "tutorial.tensor.t22_chain",
    says="The hooks of a tensor run in the order of registration, each on what the one before it returned.",
    source=(
        NOTES,
        NOTE + ' "they are executed in the order in which they are registered"',
        NOTE + ' "observe the modifications to the gradient made by earlier hooks"',
    ),
    readings=(
        Reading("true", "", "A tensor's gradient is handed from hook to hook, oldest first.", value="one before"),
        Reading("false", "never", "Every hook is given the gradient that autograd computed.", value="autograd"),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)),
        (Input(1),),
        (Forward(), Hook("tensor", "x0", "h0", (Scale(10),)), Hook("tensor", "x0", "h1"), Backward((3,))),
    ),
)
@given(plan=pile(2))
def test_t22_chain(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == [hook.label for hook in hooks_of(plan)]
    first = grad = trace.seen_by("h0")[0][0]
    for hook in hooks_of(plan):
        handed = {"one before": grad, "autograd": first}
        assert trace.seen_by(hook.label) == [(handed[subject.value],)]
        grad *= factor(hook)


@clause(
    "tutorial.tensor.t11_sees_the_final_gradient",
    says="A hook on the parameter W is given the value that W.grad holds afterwards.",
    source=(NOTES, ADDS, REPLACES),
    readings=(
        Reading("true", "never", "Hook and W.grad agree always.", value=True),
        Reading(
            "false",
            "",
            "A hook on W is given what this pass adds to W.grad, before later hooks of W replace it.",
            value=False,
            headline=False,
            harm="silent",
        ),
    ),
    witness={"passes": [3, 3], "factors": [10]},
    note="True for the first backward with one hook, which is the program that the notes show.",
)
@given(passes=st.lists(NUMBERS, min_size=1, max_size=3), factors=st.lists(FACTORS, min_size=1, max_size=3))
def test_t11_sees_the_final_gradient(subject: Subject, passes: List[int], factors: List[int]) -> None:
    weight = leaf(2)
    seen: List[float] = []
    for by in factors:
        weight.register_hook(lambda grad, by=by: seen.append(grad.item()) or grad * by)
    held = 0.0
    for grad in passes:
        seen.clear()
        (weight * grad).backward()
        given_gradients = [grad * prod(factors[:place]) for place in range(len(factors))]
        held += grad * prod(factors)
        assert weight.grad.item() == held
        assert seen == ([held] * len(factors) if subject.value else given_gradients)


@clause(
    "tutorial.tensor.t25_never_edit_in_place",
    says="Editing a gradient in place in a tensor hook is wrong: others that hold the same gradient see it.",
    source=(NOTES, HOOK + ' "The hook should not modify its argument"'),
    readings=(
        Reading(
            "true",
            "",
            "An edit of a gradient in place in a hook also changes other tensors' gradients.",
            value=True,
        ),
        Reading("false", "never", "Only the hook's own tensor has another gradient.", value=False),
    ),
    witness={"on": "x", "first": 3, "edits": [10]},
    note="Who sees it depends on the order: with the hook on y, x.grad is kept already and stays as it was.",
)
@given(on=st.sampled_from(["x", "y"]), first=NUMBERS, edits=st.lists(FACTORS, min_size=1, max_size=3))
def test_t25_never_edit_in_place(subject: Subject, on: str, first: int, edits: List[int]) -> None:
    x, y = leaf(1), leaf(1)
    z, gradient = x + y, leaf(first).detach()
    z.retain_grad()
    for by in edits:
        (x if on == "x" else y).register_hook(lambda grad, by=by: grad.mul_(by) and None)
    z.backward(gradient)
    edited = first * prod(edits)
    others = edited if subject.value else first
    expected = {"x": edited, "y": others} if on == "x" else {"x": first, "y": edited}
    seen = {"x": x.grad, "y": y.grad, "z": z.grad, "gradient": gradient}
    assert {name: tensor.item() for name, tensor in seen.items()} == dict(expected, z=first, gradient=others)


@clause(
    "tutorial.tensor.t27_known_to_the_node",
    says="A hook put on an intermediate tensor is known to the backward node of that tensor.",
    source=(
        NOTES,
        IN_PLACE + ' "they actually become permanently bound to the grad_fn"',
        "release 2.0: tensor hooks stay with the version of the tensor they were put on",
    ),
    concern="never",
    readings=(
        Reading(
            "true",
            ">=2.0",
            "A hook is put on the node that the tensor has then, also after an edit in place.",
            value="node",
        ),
        Reading(
            "false",
            "<2.0",
            "A tensor that had a hook before an edit in place puts new hooks on its old node.",
            value="first node",
            headline=False,
            harm="silent",
        ),
        Reading("false at all", "never", "The hook goes when the tensor object goes.", value="object"),
    ),
    witness={"row": ["hook", 5, "hook"], "deleted": True},
)
@given(row=st.lists(st.just("hook") | NUMBERS, min_size=1, max_size=5), deleted=st.booleans())
def test_t27_known_to_the_node(subject: Subject, row: List[Any], deleted: bool) -> None:
    seen: List[Any] = []
    y = leaf(2) * 3
    # A row of hooks and of edits in place, by their factors.
    for place, what in enumerate(row):
        if what == "hook":
            y.register_hook(lambda grad, place=place: seen.append((place, grad.item())))
        else:
            y.mul_(what)
    z = y * 7
    if deleted:
        del y
    z.backward()
    places = [place for place, what in enumerate(row) if what == "hook"]
    expected = {}
    for place in places:
        node = place if subject.value == "node" else places[0]
        expected[place] = 7 * prod(by for by in row[node:] if by != "hook")
    assert dict(seen) == ({} if deleted and subject.value == "object" else expected)
    assert len(seen) == len(dict(seen))


@clause(
    "tutorial.retain.t24_is_a_hook",
    says="retain_grad() is itself a hook of the tensor and runs in its turn among the others.",
    source=(
        NOTES,
        RETAIN,
        NOTE + ' "field is updated for Tensors that retain_grad"',
        RETAIN_MOVED,
        "https://github.com/pytorch/pytorch/pull/85849",
    ),
    concern="never",
    readings=(
        Reading(
            "true",
            "<1.10",
            "retain_grad() keeps what the hooks before it left; later hooks do not matter.",
            {"retain_grad": "hook", "retain_follows": False},
        ),
        Reading(
            "false before 2.0",
            ">=1.10,<2.0",
            "retain_grad() keeps the gradient from before all hooks if it came first, otherwise from after all.",
            {"retain_grad": "slot"},
            headline=False,
            harm="silent",
        ),
        Reading(
            "false",
            ">=2.0",
            "retain_grad() keeps what all hooks of the tensor left, whatever was registered first.",
            {"retain_grad": "last"},
            headline=False,
            harm="silent",
        ),
    ),
    # Between two hooks: 2 in its turn, 6 before 2.0, 6 after all. Before every hook: 1, 1, 2.
    witness=Plan(
        Leaf("m0", "split", (1, 1)),
        (Input(1),),
        (
            Forward(),
            Hook("tensor", "m0>0", "h0", (Scale(2),)),
            Retain("m0>0"),
            Hook("tensor", "m0>0", "h1", (Scale(3),)),
            Retain("m0>1"),
            Hook("tensor", "m0>1", "h2", (Scale(2),)),
            Backward((1, 1)),
        ),
    ),
)
@given(plan=plans(kinds=("tensor",), outputs=(1, 2), depth=0, retain=True, runs=2))
def test_t24_is_a_hook(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "tutorial.retain.t23_exercise",
    says="With c = a*b and e = c*d and hooks on c, d and e, e.grad is 2: the doubled gradient is kept.",
    source=(
        NOTES,
        RETAIN,
        NOTE + ' "field is updated for Tensors that retain_grad"',
        RETAIN_MOVED,
        "https://github.com/pytorch/pytorch/pull/85849",
    ),
    concern="never",
    readings=(
        Reading(
            "true",
            ">=2.0",
            "With a doubling hook on e after e.retain_grad(), e.grad is the doubled gradient: 2.",
            value={"printed": [10.0], "a": 30.0, "b": 20.0, "c": 10.0, "d": 112.0, "e": 2.0},
        ),
        Reading(
            "false",
            "<2.0",
            "With a doubling hook on e after e.retain_grad(), e.grad is the gradient before it: 1.",
            headline=False,
            harm="silent",
            value={"printed": [10.0], "a": 30.0, "b": 20.0, "c": 10.0, "d": 112.0, "e": 1.0},
        ),
    ),
)
def test_t23_exercise(subject: Subject) -> None:
    import torch

    a, b, d = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 4.0))
    printed = []
    c = a * b
    c.register_hook(lambda grad: grad + 2)
    c.register_hook(lambda grad: printed.append(grad.item()))
    c.retain_grad()
    d.register_hook(lambda grad: grad + 100)
    e = c * d
    e.retain_grad()
    e.register_hook(lambda grad: grad * 2)
    e.backward()
    grads = {name: tensor.grad.item() for name, tensor in (("a", a), ("b", b), ("c", c), ("d", d), ("e", e))}
    assert dict(printed=printed, **grads) == subject.value
