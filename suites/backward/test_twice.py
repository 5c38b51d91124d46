"""Gradients of gradients through a hooked module: create_graph, second passes, and passes that miss the output."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.backward.sources import DOCS, PAST_OUTPUT, RULE
from suites.names import CLEARING, FULL, PAST_THE_OUTPUT
from suites.tensors import leaf

MISSED = "https://github.com/pytorch/pytorch/issues/88312"


def cube() -> Any:
    """A module x -> x ** 3."""
    import torch

    class Cube(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x**3

    return Cube()


def line() -> Any:
    """A module x -> 2 * x that keeps its product, from before the output was wrapped, as `inner`."""
    import torch

    class Line(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(make.tensor(2.0, dtype=torch.float64))

        def forward(self, x: Any) -> Any:
            self.inner = self.weight * x
            return self.inner

    return Line()


@clause(
    "backward.twice.create_graph",
    says="Grad mode is on in a full backward hook under create_graph=True, and off without it.",
    source=('docs: torch.autograd.backward "graph of the derivative will be constructed"'),
    asked="is torch is_grad_enabled true inside hook for gradient penalty differentiable gradient "
    "operations double backprop double backward create_graph second derivative gradient penalty",
    needs=FULL,
    value=True,
    wrong={"always off": False},
    witness={"passes": [True], "hooks": 1, "again": False},
)
@given(passes=st.lists(st.booleans(), min_size=1, max_size=4), hooks=st.integers(1, 3), again=st.booleans())
def test_create_graph(subject: Subject, passes: List[bool], hooks: int, again: bool) -> None:
    import torch

    module, seen, x = cube(), [], leaf(2)
    for _ in range(hooks):
        module.register_full_backward_hook(
            lambda module, grad_input, grad_output: seen.append((torch.is_grad_enabled(), grad_input[0].requires_grad))
        )
    out = module(x)
    for create in passes:
        # Over one graph, or each pass over a graph of its own.
        out = module(x) if again else out
        torch.autograd.grad(out, x, create_graph=create, retain_graph=True)
    assert seen == [(create and subject.value,) * 2 for create in passes for _ in range(hooks)]


@clause(
    "backward.twice.second_pass",
    says="With g = grad(m(x).sum(), x, create_graph=True)[0], g.sum().backward() calls no full backward hook of m.",
    where="m has no submodule",
    see="backward.twice.second_pass_of_many",
    source=(PAST_OUTPUT, DOCS, MISSED),
    asked="gradient penalty wgan gp hook not fired on double backprop only first "
    "order double backward create_graph second derivative gradient penalty",
    matters_if="full_backward ?create_graph",
    docs="contradicts",
    note=RULE,
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.13", "silent", 1),
        "Of autograd.grad for x and a backward() of that gradient only the first calls m's full backward hook.",
        ("", "called again", 2),
        "Differentiating the gradient again calls the full backward hook of the module once more.",
    ),
    witness={"what": "cube", "number": 2, "hooks": 1},
)
@given(what=st.sampled_from(["cube", "loss", "hessian"]), number=NUMBERS, hooks=st.integers(1, 3))
def test_second_pass(subject: Subject, what: str, number: int, hooks: int) -> None:
    import torch

    module, calls = torch.nn.MSELoss() if what == "loss" else cube(), []
    for index in range(hooks):
        module.register_full_backward_hook(lambda *given, index=index: calls.append(index))
    x = leaf(number)
    if what == "hessian":
        second = torch.autograd.functional.hessian(module, x)
    else:
        out = module(x, torch.zeros_like(x)) if what == "loss" else module(x)
        (first,) = torch.autograd.grad(out, x, create_graph=True)
        assert first.item() == (2 * number if what == "loss" else 3 * number**2)
        first.backward()
        second = x.grad
    assert second.item() == (2 if what == "loss" else 6 * number)
    assert calls == list(range(hooks)) * subject.value


@clause(
    "backward.twice.second_pass_of_many",
    says="In a second derivative for x, a full backward hook runs only if its module's output gets a gradient.",
    where=("x goes through a chain of modules", "the loss is linear"),
    source=(CLEARING, MISSED),
    asked="hessian vector product deep network which layers hooks trigger on higher order backprop "
    "last layer silent double backward create_graph second derivative gradient penalty",
    matters_if="full_backward ?create_graph",
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.13", "below the curve", 0),
        "In a chain of 2 * x and x ** 3, a second derivative runs full backward hooks before the last x ** 3.",
        ("", "the curve too", 1),
        "For a second derivative, the full backward hook of the last nonlinear module runs as well.",
    ),
    witness={"curved": [False, True, False], "number": 1},
)
@given(curved=st.lists(st.booleans(), min_size=1, max_size=4).filter(any), number=st.sampled_from([1, -1]))
def test_second_pass_of_many(subject: Subject, curved: List[bool], number: int) -> None:
    import torch

    net, calls = torch.nn.Sequential(*(cube() if one else line() for one in curved)), []
    for index, module in enumerate(net):
        module.register_full_backward_hook(lambda *given, index=index: calls.append(index))
    x = leaf(number)
    (grad,) = torch.autograd.grad(net(x), x, create_graph=True)
    first = calls[:]
    grad.backward()
    last = max(index for index, one in enumerate(curved) if one)
    assert first == [*reversed(range(len(curved)))]
    assert calls[len(first) :] == [*reversed(range(last + subject.value))]
    # The composition is factor * x ** power, up to the sign of x.
    power, factor = 1, 1
    for one in curved:
        power, factor = (3 * power, factor**3) if one else (power, 2 * factor)
    assert x.grad.item() == factor * power * (power - 1) * number**power


@clause(
    "backward.twice.replacement",
    says="For m(x) = x ** 3, a factor of m's full backward hook is once in g and once in autograd.grad(g, x).",
    where="g = autograd.grad(m(x), x, create_graph=True)",
    source=CLEARING,
    asked="scaled gradient with higher order derivative is factor applied again squared in hessian "
    "wrong double backprop double backward create_graph second derivative gradient penalty",
    matters_if="full_backward returns ?create_graph",
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.13", "once", 1),
        "For x ** 3, a factor of the full backward hook is in the first and in the second derivative once.",
        ("", "twice", 2),
        "Under create_graph a factor of a full backward hook is put in again in the second derivative.",
    ),
    witness={"number": 2, "factors": [10]},
)
@given(number=NUMBERS, factors=st.lists(FACTORS, min_size=1, max_size=3))
def test_replacement(subject: Subject, number: int, factors: List[int]) -> None:
    import torch

    module, x, product = cube(), leaf(number), 1
    for factor in factors:
        module.register_full_backward_hook(
            lambda module, grad_input, grad_output, factor=factor: (grad_input[0] * factor,)
        )
        product *= factor
    (grad,) = torch.autograd.grad(module(x), x, create_graph=True)
    grad.backward()
    assert (grad.item(), x.grad.item()) == (product * 3 * number**2, product**subject.value * 6 * number)


@clause(
    "backward.twice.output_missed",
    says="A pass that reaches a module's input but not its output skips its full backward hook, without an error.",
    where="one backward()",
    see="backward.twice.stale",
    source=(PAST_OUTPUT, DOCS, "https://github.com/pytorch/pytorch/issues/57157", PAST_THE_OUTPUT),
    asked="loss uses activation upstream but bypasses layer result is hook skipped silently or "
    "crash partial graph double backward create_graph second derivative gradient penalty",
    matters_if="full_backward ?output_missed",
    docs="contradicts",
    note=RULE + " The output was passed inside a container, or its tensor was taken before the wrapping.",
    needs=FULL,
    readings=by_release(
        "error",
        ("1.13", "silent", "silent"),
        "A full backward hook whose output a pass does not reach is not called, and the gradient is right.",
        ("", "refused", "RuntimeError"),
        "A pass that reaches a module's input, not its output, raises RuntimeError under a full backward hook.",
    ),
    witness={"way": "list", "number": 1, "hooks": 1},
)
@given(way=st.sampled_from(["taken", "list", "dict", "tuple"]), number=NUMBERS, hooks=st.integers(1, 3))
def test_output_missed(subject: Subject, way: str, number: int, hooks: int) -> None:
    import torch

    class Nested(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            self.inner = number * x
            wrapped = {"list": [self.inner], "dict": {0: self.inner}, "tuple": (self.inner,)}
            return 2 * x, wrapped.get(way)

    module, calls, x = Nested(), [], leaf(1)
    for _ in range(hooks):
        module.register_full_backward_hook(lambda *given: calls.append("called"))
    out = module(x)
    root = module.inner if way == "taken" else out[1][0]
    try:
        root.backward()
        seen = "silent"
        assert x.grad.item() == number
    except RuntimeError as error:
        seen = type(error).__name__
    assert (seen, calls) == (subject.value, [])
    # A pass through the output calls them all.
    module(leaf(1))[0].backward()
    assert len(calls) == hooks


@clause(
    "backward.twice.stale",
    says="After autograd.grad(y, m.weight) a pass that misses y gives m's full backward hook old grad_output.",
    where=("y = m(x), no tied weights", "it reaches x from inside m"),
    source=(DOCS, "measured"),
    asked="hook receives outdated gradient from previous call leftover grad_output wrong after parameter "
    "only gradient retain_graph double backward create_graph second derivative gradient penalty",
    docs="contradicts",
    note="The docs say that grad_output holds the gradients with respect to the outputs. Those of the first pass are "
    "kept until the hook runs, which that pass never does; the second pass does not reach the output at all.",
    needs=FULL,
    value=True,
    wrong={"silent": False},
    witness={"stopped": [5], "root": 7, "hooks": 1, "twice": True},
)
@given(stopped=st.lists(NUMBERS, min_size=1, max_size=3), root=NUMBERS, hooks=st.integers(1, 3), twice=st.booleans())
def test_stale(subject: Subject, stopped: List[int], root: int, hooks: int, twice: bool) -> None:
    import torch

    module, calls, x = line(), [], leaf(1)
    for _ in range(hooks):
        module.register_full_backward_hook(lambda module, *grads: calls.append(tuple(grad.item() for (grad,) in grads)))
    out = module(x)
    for grad in stopped:
        (of_weight,) = torch.autograd.grad(grad * out, module.weight, create_graph=True)
    assert calls == []
    if twice:
        # The gradient of the weight is grad * x: its own backward reaches x beside the output.
        (root * of_weight).backward()
    else:
        module.inner.backward(make.tensor(float(root), dtype=torch.float64))
    reached = root * stopped[-1] if twice else 2 * root
    assert calls == [(reached, stopped[-1])] * hooks * subject.value
    assert x.grad.item() == reached


@clause(
    "backward.twice.stale_replacement",
    says="After autograd.grad(y, m.weight), m's full backward hook also changes gradients of a pass that misses y.",
    where=("y = m(x)", "the pass reaches x from inside of m"),
    source="measured",
    asked="hook wrongly alters unrelated gradient using leftovers from previous parameter only "
    "call wrong values double backward create_graph second derivative gradient penalty",
    note="The gradient of the second pass did not come through the module's output, and the hooks multiply it. By the "
    "docs' first rule a call is due; without the first pass torch makes none, as where the output is missed.",
    needs=FULL,
    value=True,
    wrong={"untouched": False},
    witness={"grad": 5, "root": 7, "factors": [100]},
)
@given(grad=NUMBERS, root=NUMBERS, factors=st.lists(FACTORS, min_size=1, max_size=3))
def test_stale_replacement(subject: Subject, grad: int, root: int, factors: List[int]) -> None:
    import torch

    module, x, product = line(), leaf(1), 1
    for factor in factors:
        module.register_full_backward_hook(
            lambda module, grad_input, grad_output, factor=factor: (grad_input[0] * factor,)
        )
        product *= factor
    (of_weight,) = torch.autograd.grad(grad * module(x), module.weight, create_graph=True)
    (root * of_weight).backward()
    assert x.grad.item() == root * grad * (product if subject.value else 1)
