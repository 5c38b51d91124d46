"""An undefined gradient is None: no path leads from the loss to the tensor, though a node above it runs.

What the hooks of such a tensor see, and may return, changed more often than anything else about tensor hooks.
"""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Scale, hooks_of
from fixtures.stages.make import make
from suites.gradient.sources import CALLED
from suites.names import HOOKS_IN_ORDER, NONE_FROM_FUNCTION, PRE, TENSOR_DOCS, UNDEFINED_ISSUE
from suites.tensors import item, leaf, outcome, through_silent_function

ABOUT = "register_hook"


@clause(
    "gradient.undefined.unreached",
    says="A tensor hook of a leaf that is not in the graph of the loss is not called.",
    see="gradient.undefined.unused_output",
    source=CALLED,
    asked="hook silently never fires unused parameter disconnected from output branch "
    "not used gradient is None in a tensor hook NoneType unsupported operand",
)
@given(
    plan=st.builds(
        lambda grads, by: Plan(
            Leaf("m0", "split", (2, 3)),
            (Input(1),),
            (
                Hook("tensor", "m0.weight", "h0", (Scale(by),)),
                Hook("tensor", "m0.other", "h1", (Scale(by),)),
                Forward(),
                Backward(grads),
            ),
        ),
        st.sampled_from([(1, None), (None, 1), (2, 3)]),
        FACTORS,
    )
)
def test_unreached(subject: Subject, plan: Plan) -> None:
    calls = subject.holds(plan).calls()
    reached = [hook.label for hook, grad in zip(hooks_of(plan), plan.steps[-1].grads) if grad is not None]
    assert sorted(calls) == reached


USES = st.lists(st.just(0) | NUMBERS, min_size=2, max_size=4).filter(any)


@clause(
    "gradient.undefined.unused_output",
    says="After a, b = x.unbind() a.sum().backward() calls the tensor hooks of b with None.",
    where="x requires grad",
    source="measured",
    asked="split or chunk piece not used in loss callback fires anyway nonetype lstm "
    "hidden state gradient is None in a tensor hook NoneType unsupported operand",
    value="None",
    wrong={"called with zero": "zero", "not called": "nothing"},
    witness={"uses": [2, 0], "passes": 1},
)
@given(uses=USES, passes=st.integers(1, 2))
def test_unused_output(subject: Subject, uses: List[int], passes: int) -> None:
    import torch

    x = make.ones(len(uses), dtype=torch.float64, requires_grad=True)
    tensors = x.unbind(0)
    seen: List[Any] = [[] for _ in uses]
    for tensor, own in zip(tensors, seen):
        tensor.register_hook(lambda grad, own=own: own.append(item(grad)))
    root = sum(by * tensor for by, tensor in zip(uses, tensors) if by)
    for _ in range(passes):
        root.backward(retain_graph=True)
    unused = {"None": [None], "zero": [0.0], "nothing": []}[subject.value]
    assert seen == [([by] if by else unused) * passes for by in uses]
    assert x.grad.tolist() == [by * passes for by in uses]


@clause(
    "gradient.undefined.inner_tensor",
    says="In backward() a tensor hook of a non-leaf tensor is given None where a custom Function returned None for it.",
    where="that is the only use of the tensor",
    source=("release 1.7: a custom Function may return None and it stays None", NONE_FROM_FUNCTION),
    asked="non-leaf activation feeding custom op non differentiable backward skipped callback "
    "receives nonetype gradient is None in a tensor hook NoneType unsupported operand",
    matters_if="tensor inner ?gradient_undefined",
    readings=by_release(
        "silent",
        ("1.7", "called with None", None),
        "The None that a custom Function returns for a non-leaf tensor is what its tensor hooks are given.",
        ("", "made zero", 0.0),
        "The None that a custom Function returns for a non-leaf tensor is zero to its tensor hooks.",
    ),
    witness={"before": 1, "after": 0, "hooks": 1},
)
@given(before=st.integers(1, 3), after=st.integers(0, 2), hooks=st.integers(1, 3))
def test_inner_tensor(subject: Subject, before: int, after: int, hooks: int) -> None:
    x = leaf(1)
    row, seen = [x], []
    for _ in range(before):
        row.append(2 * row[-1])
    row.append(through_silent_function(row[-1]))
    for _ in range(after):
        row.append(2 * row[-1])
    for place, tensor in enumerate(row[1:], 1):
        for _ in range(hooks):
            tensor.register_hook(lambda grad, place=place: seen.append((place, item(grad))))
    row[-1].backward()
    defined = [(before + 1 + step, 2.0 ** (after - step)) for step in range(after, -1, -1)]
    undefined = [(place, subject.value) for place in range(before, 0, -1)]
    assert seen == [call for call in defined + undefined for _ in range(hooks)]
    assert item(x.grad) == subject.value


@clause(
    "gradient.undefined.leaf",
    says="In backward() a tensor hook of a leaf is called with None where a custom Function returned None for it.",
    where="that is the only use of the leaf",
    source=(HOOKS_IN_ORDER, UNDEFINED_ISSUE),
    asked="weight fed to custom op whose backward skips it callback still fires with "
    "nonetype gradient is None in a tensor hook NoneType unsupported operand",
    matters_if="tensor ?gradient_undefined",
    readings=by_release(
        "silent",
        ("2.0", "called with None", ([None], None)),
        "A tensor hook of a leaf is called with None where a custom Function returned None; .grad stays.",
        ("1.7", "not called", ([], None)),
        "A tensor hook of a leaf is not called where a custom Function returned None for it.",
        ("", "made zero", ([0.0], 0.0)),
        "A tensor hook of a leaf is called with zero where a custom Function returned None for it.",
    ),
    witness={"hooks": 1, "had": None, "passes": 1},
)
@given(hooks=st.integers(1, 3), had=st.none() | NUMBERS, passes=st.integers(1, 2))
def test_leaf(subject: Subject, hooks: int, had: Any, passes: int) -> None:
    seen = []
    x = leaf(1)
    x.grad = None if had is None else leaf(had).detach()
    for _ in range(hooks):
        x.register_hook(lambda grad: seen.append(item(grad)))
    for _ in range(passes):
        through_silent_function(x).backward()
    calls, added = subject.value
    assert (seen, item(x.grad)) == (calls * hooks * passes, added if had is None else had)


@clause(
    "gradient.undefined.dropped_output",
    says="In backward() a leaf that only an undefined gradient (None) reaches has its tensor hooks called with None.",
    source=HOOKS_IN_ORDER,
    asked="parameter only feeds unused branch callback gets nonetype gradient attributeerror "
    "norm gradient is None in a tensor hook NoneType unsupported operand",
    readings=(
        Reading(
            "called",
            ">=2.0",
            "A tensor hook of a leaf that only an undefined gradient (None) reaches is called with None.",
            {"leaf_hook_sees_none": True},
        ),
        Reading(
            "skipped",
            "never",
            "A tensor hook of a leaf that only an undefined gradient reaches is not called, as before 2.0.",
            {"leaf_hook_sees_none": False},
        ),
    ),
    needs=(PRE,),
    witness=Plan(
        Leaf("m0", "split", (2, 3)),
        (Input(1),),
        (Hook("full_backward_pre", "m0", "pre"), Hook("tensor", "m0.other", "leaf"), Forward(), Backward((1, None))),
    ),
)
@given(
    plan=st.builds(
        lambda grads, value: Plan(
            Leaf("m0", "split", (2, value)),
            (Input(1),),
            (
                Hook("full_backward_pre", "m0", "pre"),
                Hook("tensor", "m0.weight", "first"),
                Hook("tensor", "m0.other", "second"),
                Forward(),
                Backward((1, 1)),
                Backward(grads),
            ),
        ),
        st.sampled_from([(1, None), (None, 2), (2, 3)]),
        NUMBERS,
    )
)
def test_dropped_output(subject: Subject, plan: Plan) -> None:
    trace, passes = subject.holds(plan), [step.grads for step in plan.steps if isinstance(step, Backward)]
    for hook in hooks_of(plan, "tensor"):
        arrived = [grads[("m0.weight", "m0.other").index(hook.on)] for grads in passes]
        called = [grad for grad in arrived if grad is not None or subject.reading.facts["leaf_hook_sees_none"]]
        assert trace.seen_by(hook.label) == [(grad,) for grad in called]


@clause(
    "gradient.undefined.asked",
    says="autograd.grad calls a tensor hook of an input with None where a custom Function returned None for it.",
    where=("allow_unused is True", "the input has no other use"),
    source=HOOKS_IN_ORDER,
    asked="torch autograd grad allow_unused non differentiable input custom backward nonetype "
    "in callback gradient is None in a tensor hook NoneType unsupported operand",
    about=("register_hook", "autograd.grad"),
    matters_if="tensor ?asked ?gradient_undefined",
    readings=by_release(
        "silent",
        ("2.0", "called", ([None], None, True)),
        "autograd.grad calls a tensor hook of an input with the None that a custom Function returned for it.",
        ("1.7", "not called", ([], None, False)),
        "autograd.grad returns None where a custom Function returned None, and calls no tensor hook of inputs.",
        ("", "zero", ([], 0.0, False)),
        "autograd.grad returns zero where a custom Function returned None, and calls no tensor hook of inputs.",
    ),
    witness={"hooks": 1, "other": None},
)
@given(hooks=st.integers(1, 3), other=st.none() | NUMBERS)
def test_asked(subject: Subject, hooks: int, other: Any) -> None:
    import torch

    seen, beside = [], []
    x, z = leaf(1), leaf(1)
    for _ in range(hooks):
        x.register_hook(lambda grad: seen.append(item(grad)))
        z.register_hook(lambda grad: beside.append(item(grad)))
    root = through_silent_function(x)
    wanted = [x] if other is None else [x, z]
    grads = torch.autograd.grad(root if other is None else root + other * z, wanted, allow_unused=True)
    calls, result, called = subject.value
    assert (seen, beside) == (calls * hooks, [other] * hooks if called and other is not None else [])
    assert [item(grad) for grad in grads] == [result, other][: len(wanted)]


@clause(
    "gradient.undefined.no_replacement",
    says="A tensor hook that is given None and returns a tensor ends backward() with RuntimeError.",
    source="measured",
    asked="substitute zeros for missing gradient in callback crash torch zeros_like instead "
    "of nothing gradient is None in a tensor hook NoneType unsupported operand",
    value="RuntimeError",
    wrong={"taken": "accepted"},
    witness={"uses": [2, 0], "replaced": [False, True], "observers": 0},
)
@given(uses=USES, replaced=st.lists(st.booleans(), min_size=4, max_size=4), observers=st.integers(0, 2))
def test_no_replacement(subject: Subject, uses: List[int], replaced: List[bool], observers: int) -> None:
    import torch

    x = make.ones(len(uses), dtype=torch.float64, requires_grad=True)
    tensors = x.unbind(0)
    for tensor, changed in zip(tensors, replaced):
        for _ in range(observers):
            tensor.register_hook(lambda grad: None)
        if changed:
            tensor.register_hook(lambda grad: make.tensor(7.0, dtype=torch.float64))
    result = outcome(sum(by * tensor for by, tensor in zip(uses, tensors) if by).backward)
    if any(changed and not by for by, changed in zip(uses, replaced)):
        expected = subject.value
    else:
        expected = "accepted"
    grad = [7 if changed else by for by, changed in zip(uses, replaced)]
    assert (result, item(x.grad)) == (expected, grad if expected == "accepted" else None)


@clause(
    "gradient.undefined.replaced",
    says="A tensor hook that returns a tensor where a custom Function gave None ends backward() with RuntimeError.",
    where="that is the only use of the tensor",
    source=(HOOKS_IN_ORDER, UNDEFINED_ISSUE),
    asked="custom autograd op backward skips input try supplying own gradient from hook error "
    "straight through gradient is None in a tensor hook NoneType unsupported operand",
    matters_if="tensor returns ?gradient_undefined",
    readings=by_release(
        ("error", "silent", "silent"),
        ("2.0", "refused", ("RuntimeError", "RuntimeError")),
        "A tensor hook, also of a leaf, that is given None and returns a tensor ends backward(): RuntimeError.",
        ("1.7", "leaf not asked", ("accepted", "RuntimeError")),
        "A tensor hook of a non-leaf tensor that is given None may not return a tensor; one of a leaf is not called.",
        ("", "taken", ("taken", "taken")),
        "A tensor that a tensor hook returns where a custom Function gave None takes the place of a zero.",
    ),
    # At the leaf the first two readings differ, at a non-leaf tensor these and the third.
    witness={"places": [(0, 0), (1, 0)], "depth": 1},
)
@given(
    places=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=2), depth=st.integers(0, 2)
)
def test_replaced(subject: Subject, places: List[Any], depth: int) -> None:
    import torch

    for place, observers in places:
        row = [leaf(1)]
        for _ in range(depth):
            row.append(2 * row[-1])
        place = min(place, depth)
        for _ in range(observers):
            row[place].register_hook(lambda grad: None)
        row[place].register_hook(lambda grad: make.tensor(7.0, dtype=torch.float64))
        result = outcome(through_silent_function(row[-1]).backward)
        expected = subject.value[1 if place else 0]
        taken = expected == "taken"
        assert (result, item(row[0].grad)) == ("accepted" if taken else expected, 7 * 2.0**place if taken else None)


@clause(
    "gradient.undefined.example_fails",
    says="After a, b = x.unbind() and b.register_hook(lambda g: g * 2) a.sum().backward() raises TypeError.",
    where="x requires grad",
    source=(TENSOR_DOCS, "https://github.com/pytorch/pytorch/issues/11751"),
    asked="split chunk unused piece scale gradient unsupported operand nonetype and "
    "int crash gradient is None in a tensor hook NoneType unsupported operand",
    level="observed",
    matters_if="tensor ?gradient_undefined",
    effect="error",
    value="TypeError",
    wrong={"works": "accepted"},
    witness={"uses": [2, 0], "hooked": [False, True, False, False]},
    docs="contradicts",
    note="The documentation says that the hook is called with the gradient, a tensor; None is not mentioned.",
)
@given(uses=USES, hooked=st.lists(st.booleans(), min_size=4, max_size=4))
def test_example_fails(subject: Subject, uses: List[int], hooked: List[bool]) -> None:
    import torch

    x = make.ones(len(uses), dtype=torch.float64, requires_grad=True)
    tensors = x.unbind(0)
    for tensor, doubled in zip(tensors, hooked):
        if doubled:
            tensor.register_hook(lambda grad: grad * 2)
    root = sum(by * tensor for by, tensor in zip(uses, tensors) if by)
    result = outcome(root.backward)
    expected = subject.value if any(doubled and not by for by, doubled in zip(uses, hooked)) else "accepted"
    grad = [by * 2 if doubled else by for by, doubled in zip(uses, hooked)]
    assert (result, item(x.grad)) == (expected, grad if expected == "accepted" else None)


@clause(
    "gradient.undefined.example_fails_after_a_function",
    says="The hook lambda g: g * 2 on a non-leaf tensor ends backward() with TypeError if a Function gave it None.",
    where="that is the only use of the tensor",
    source=(TENSOR_DOCS, NONE_FROM_FUNCTION),
    asked="custom autograd backward returns none then scaling activation gradient crashes unsupported "
    "operand nonetype gradient is None in a tensor hook NoneType unsupported operand",
    level="observed",
    matters_if="tensor ?gradient_undefined",
    readings=by_release(
        ("error", "none"),
        ("1.7", "fails", ("TypeError", None)),
        "The hook grad * 2 fails on a non-leaf tensor given to a Function that returns None: it is given None.",
        ("", "works", ("accepted", 0.0)),
        "The hook grad * 2 works on a non-leaf tensor given to a Function that returns None: it is given zero.",
    ),
    witness={"before": 1, "place": 1, "hooks": 1},
    docs="contradicts",
    note="The documentation says that the hook is called with the gradient, a tensor; None is not mentioned.",
)
@given(before=st.integers(1, 3), place=st.integers(1, 3), hooks=st.integers(1, 2))
def test_example_fails_after_a_function(subject: Subject, before: int, place: int, hooks: int) -> None:
    row = [leaf(1)]
    for _ in range(before):
        row.append(2 * row[-1])
    for _ in range(hooks):
        row[min(place, before)].register_hook(lambda grad: grad * 2)
    result = outcome(through_silent_function(row[-1]).backward)
    assert (result, item(row[0].grad)) == subject.value
