"""Hooks over several backward passes: double backward, a pass inside a hook, failed passes, and grad mode."""

from math import prod
from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import (
    Backward,
    Call,
    Chain,
    Forward,
    Hook,
    Input,
    Leaf,
    Plan,
    Raise,
    Remove,
    Scale,
    hooks_of,
)
from suites.gradient.sources import ADDS, CALLED
from suites.names import HOOKS_IN_ORDER, TYPE_IS_LOST
from suites.shapes import product
from suites.tensors import leaf, multiplies, outcome

ABOUT = "register_hook"

BACKWARD = "docs: torch.autograd.backward"


@clause(
    "gradient.passes.each_pass_alone",
    says="Each backward() that reaches a leaf calls its tensor hooks again; its .grad adds up what they leave.",
    see="gradient.asked.backward_inputs",
    source=(CALLED, ADDS),
    asked="gradient accumulation micro batches weight callback fires per step clip each then sum",
)
@given(
    plan=st.builds(
        lambda value, hooks, passes: Plan(
            Leaf("m0", "split", (2, 3)),
            (Input(value),),
            (
                *(Hook("tensor", f"m0.{on}", f"h{place}", (Scale(by),)) for place, (on, by) in enumerate(hooks)),
                Forward(),
                *(Backward(grads) for grads in passes),
            ),
        ),
        NUMBERS,
        st.lists(st.tuples(st.sampled_from(["weight", "other"]), FACTORS), min_size=1, max_size=4),
        st.lists(st.sampled_from([(1, 2), (3, None), (None, 2)]), min_size=1, max_size=4),
    )
)
def test_each_pass_alone(subject: Subject, plan: Plan) -> None:
    trace, passes = subject.holds(plan), [step.grads for step in plan.steps if isinstance(step, Backward)]
    for output, on in enumerate(["m0.weight", "m0.other"]):
        reached = [grads[output] for grads in passes if grads[output] is not None]
        hooks = [hook for hook in hooks_of(plan) if hook.on == on]
        assert {len(trace.seen_by(hook.label)) for hook in hooks} <= {len(reached)}
        left = plan.inputs[0].value * sum(reached) * product(hooks)
        assert trace.grads()[-1][on] == (left if reached else None)


@clause(
    "gradient.passes.freed_graph",
    says="For y = w * x a second y.backward() calls the tensor hooks of y, not those of x, and raises RuntimeError.",
    where=("retain_graph= is left out", "w is a tensor"),
    see="gradient.passes.failed_pass_frees",
    source=BACKWARD,
    asked="backward through the graph a second time error which callbacks still fire before crash",
)
@given(
    plan=st.builds(
        lambda grads, by: Plan(
            Leaf("m0", "scale", (2,)),
            (Input(3),),
            (
                Forward(),
                Hook("tensor", "m0>0", "y", (Scale(by),)),
                Hook("tensor", "x0", "x"),
                Backward((grads[0],), retain_graph=False),
                Backward((grads[1],)),
            ),
        ),
        st.tuples(NUMBERS, NUMBERS),
        FACTORS,
    )
)
def test_freed_graph(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == ["y", "x", "y"]
    assert trace.raised() == [("backward", "RuntimeError")]


@st.composite
def failing_once(draw: Any) -> Plan:
    """A row of squares, whose nodes save something, and sums, whose nodes do not; and a pass that a hook ends."""
    ops = draw(st.lists(st.sampled_from(["mul", "add"]), min_size=1, max_size=4))
    row = tuple(Leaf(f"m{place}", op, takes=Call((0, 0))) for place, op in enumerate(ops, 1))
    on = draw(st.sampled_from(["x0", *(f"{leaf.name}>0" for leaf in row)]))
    first = Backward(retain_graph=draw(st.booleans()))
    steps = (Forward(), Hook("tensor", on, "fails", (Raise(),)), first, Remove("fails"), Backward())
    return Plan(Chain("m0", row), (Input(1),), steps)


@clause(
    "gradient.passes.failed_pass_frees",
    says="If a tensor hook raises in backward(), the nodes that ran before it have freed their saved tensors.",
    where="retain_graph= is left out",
    see="gradient.errors.usable_again",
    source="measured",
    asked="retry after exception says trying to backward through the graph a second time without retain_graph",
)
@given(plan=failing_once())
def test_failed_pass_frees(subject: Subject, plan: Plan) -> None:
    trace, on = subject.holds(plan), plan.steps[1].on
    passed = plan.net.children[0 if on == "x0" else int(on[1]) :]
    freed = not plan.steps[2].retain_graph and any(leaf.op == "mul" for leaf in passed)
    assert len(trace.raised()) == 1 + freed
    assert (trace.grads()[-1]["x0"] is None) == freed


@clause(
    "gradient.passes.double_backward",
    says="For the second derivative of x ** 3 in x autograd.grad calls each tensor hook of x in both passes.",
    where="the hooks neither detach nor return a constant",
    source=('docs: torch.autograd.backward "graph of the derivative will be constructed"', HOOKS_IN_ORDER),
    asked="higher order gradient hook fires twice create_graph hessian gradient penalty",
    level="implied",
    about=("register_hook", "autograd.grad"),
    matters_if="tensor ?asked ?create_graph",
    readings=by_release(
        "silent",
        ("2.0", "hooks of inputs too", True),
        "autograd.grad calls the tensor hooks of its input x, in both passes of a second derivative of x ** 3.",
        ("", "no hooks of inputs", False),
        "autograd.grad calls no tensor hook of its input, with create_graph or without.",
    ),
    witness={"x": 2, "power": 3, "factors": [2]},
)
@given(x=NUMBERS, power=st.integers(2, 4), factors=st.lists(FACTORS, min_size=1, max_size=3))
def test_double_backward(subject: Subject, x: int, power: int, factors: List[int]) -> None:
    import torch

    needs: List[bool] = []
    tensor = leaf(x)
    for by in factors:
        tensor.register_hook(multiplies(by, lambda grad: needs.append(grad.requires_grad)))
    product = tensor
    for _ in range(power - 1):
        product = product * tensor
    (first,) = torch.autograd.grad(product, [tensor], create_graph=True)
    (second,) = torch.autograd.grad(first, [tensor])
    by = prod(factors) if subject.value else 1
    called = [True] * len(factors) + [False] * len(factors) if subject.value else []
    slope, bend = power * x ** (power - 1) * by, power * (power - 1) * x ** (power - 2) * by * by
    assert (needs, first.item(), second.item()) == (called, slope, bend)


@clause(
    "gradient.passes.differentiated_through",
    says="The second derivative goes through what tensor hooks of a non-leaf tensor computed.",
    where=("the first pass has create_graph", "they do not detach"),
    source="docs: torch.autograd.backward "
    '"graph of the derivative will be constructed, allowing to compute higher order derivative products"',
    asked="gradient penalty hessian does higher order derivative include scaling done in hook create_graph",
    about=("register_hook", "autograd.grad"),
    value=True,
    wrong={"as a constant": False},
    witness={"x": 2, "hooks": ["square"]},
)
@given(x=NUMBERS, hooks=st.lists(st.just("square") | FACTORS, max_size=2))
def test_differentiated_through(subject: Subject, x: int, hooks: List[Any]) -> None:
    import torch

    tensor = leaf(x)
    y = tensor * tensor
    square: Any = lambda grad: grad * grad  # noqa: E731
    handles = [y.register_hook(square if by == "square" else multiplies(by)) for by in hooks]
    (first,) = torch.autograd.grad(y * y, [tensor], create_graph=True)
    for handle in handles:
        handle.remove()
    (second,) = torch.autograd.grad(first, [tensor])
    # The gradient at y begins as 2 * x**2; at x there is the factor 2 * x more.
    factor, power = 2, 2
    for by in hooks:
        factor, power = (factor * factor, 2 * power) if by == "square" else (factor * by, power)
    bend = 2 * factor * (power + 1 if subject.value or not hooks else 1) * x**power
    assert (first.item(), second.item()) == (2 * factor * x ** (power + 1), bend)


@clause(
    "gradient.passes.inside_a_hook",
    says="A tensor hook may run backward() over another graph; hooks called there run before the outer pass goes on.",
    where="that graph was made with grad mode on",
    source="measured",
    asked="nested backpropagation reentrant call from callback compute another loss checkpointing order",
    value="all",
    wrong={"outer only": "outer"},
    witness={"factors": [1, 3], "by": 1},
)
@given(factors=st.lists(NUMBERS, min_size=1, max_size=4), by=FACTORS)
def test_inside_a_hook(subject: Subject, factors: List[int], by: int) -> None:
    import torch

    seen: List[Any] = []
    x = leaf(1)
    left = factors[1:]

    def hook(grad: Any) -> Any:
        seen.append(("first", grad.item()))
        if left:
            with torch.enable_grad():
                (left.pop(0) * x).backward()
        return grad * by

    x.register_hook(hook)
    x.register_hook(lambda grad: seen.append(("second", grad.item())))
    (factors[0] * x).backward()
    run = factors if subject.value == "all" else factors[:1]
    nested = [("first", factor) for factor in run] + [("second", factor * by) for factor in reversed(run)]
    assert (seen, x.grad.item()) == (nested, by * sum(run))


@clause(
    "gradient.passes.inside_fails",
    says="An exception in a backward() that a tensor hook runs ends the outer backward() with the same type.",
    where=("the hook does not catch it", "at most 4 passes are nested"),
    source=TYPE_IS_LOST,
    asked="nested reentrant backpropagation crash from callback does error propagate to outer training loop",
    matters_if="tensor raises ?calls_backward",
    effect="error",
    value="",
    wrong={"swallowed": "accepted"},
    witness={"kind": KeyError, "depth": 1},
)
@given(kind=st.sampled_from([KeyError, ValueError, ZeroDivisionError, StopIteration]), depth=st.integers(0, 3))
def test_inside_fails(subject: Subject, kind: Any, depth: int) -> None:
    import torch

    calls: List[int] = []
    leaves = [leaf(1) for _ in range(depth + 1)]

    def at(level: int) -> Any:
        def hook(grad: Any) -> None:
            calls.append(level)
            if level == depth:
                raise kind("a hook may raise")
            with torch.enable_grad():
                (2 * leaves[level + 1]).backward()

        return hook

    for level, x in enumerate(leaves):
        x.register_hook(at(level))
        x.register_hook(lambda grad: calls.append(-1))
    result = outcome((2 * leaves[0]).backward, (kind, RuntimeError))
    assert (result, calls) == (subject.value or kind.__name__, list(range(depth + 1)))
    assert [x.grad for x in leaves] == [None] * (depth + 1)


@clause(
    "gradient.passes.grad_mode_of_the_hook",
    says="The grad mode that a tensor hook sets holds for the next hook of its tensor, and not after the pass.",
    source=BACKWARD,
    asked="torch set_grad_enabled or enable_grad inside callback leaks to others or main training loop",
    value="",
    wrong={"for none": "none", "the caller's first": "caller"},
    witness={"passes": [(True, False)], "inner": [None], "at_leaf": [False, None]},
)
@given(
    passes=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=4),
    inner=st.lists(st.none() | st.booleans(), max_size=3),
    at_leaf=st.lists(st.none() | st.booleans(), min_size=1, max_size=3),
)
def test_grad_mode_of_the_hook(
    subject: Subject, passes: List[Tuple[bool, bool]], inner: List[Any], at_leaf: List[Any]
) -> None:
    import torch

    seen, expected, after = [], [], []
    x = leaf(1)
    y = x * x

    def hook(sets: Any) -> None:
        seen.append(torch.is_grad_enabled())
        if sets is not None:
            torch.set_grad_enabled(sets)

    for tensor, row in ((y, inner), (x, at_leaf)):
        for sets in row:
            tensor.register_hook(lambda grad, sets=sets: hook(sets))
    for create_graph, caller in passes:
        with torch.set_grad_enabled(caller):
            torch.autograd.backward([y], retain_graph=True, create_graph=create_graph)
            after.append(torch.is_grad_enabled())
        x.grad = None
        for row in (inner, at_leaf):
            mode = caller if subject.value == "caller" else create_graph
            for sets in row:
                expected.append(mode)
                mode = mode if sets is None or subject.value == "none" else sets
    assert seen == expected
    assert after == [caller for _, caller in passes]
