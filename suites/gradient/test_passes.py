"""Hooks over several backward passes: double backward, a pass inside a hook, failed passes, threads and grad mode."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS, plans
from fixtures.plan import Backward, Forward, Hook, Input, Leaf, Plan, Scale
from fixtures.subject import Subject

BACKWARD = "docs: torch.autograd.backward"
SINCE_2_0 = "https://github.com/pytorch/pytorch/pull/85849"
TYPE_IS_LOST = "https://github.com/pytorch/pytorch/pull/43684"


@clause(
    "gradient.passes.each_pass_alone",
    says="Every pass calls the hooks anew, with its own gradient, and each leaf adds up what they return.",
    source=BACKWARD,
    covers=("tensor.dbl.retain_twice", "graph.accgrad.tensor_hook_on_leaf_survives"),
)
@given(plan=plans(kinds=("tensor",), inputs=(1, 2), outputs=(1, 2), depth=2, runs=3, remove=True))
def test_each_pass_alone(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.passes.freed_graph",
    says="A pass over a freed graph calls hooks until it reaches a freed node: RuntimeError.",
    source=BACKWARD,
    covers=("tensor.dbl.after_free", "graph.api.retain_graph_false_second_error_hooks"),
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


@clause(
    "gradient.passes.failed_pass_frees",
    says="Without retain_graph a pass that a hook ended has freed nodes before it: a second pass fails.",
    source="measured",
    readings=(
        Reading(
            "freed",
            "",
            "The second pass is a RuntimeError, and x.grad stays None.",
            value=(["Boom", "RuntimeError"], None),
        ),
        Reading("kept", "never", "A pass that failed frees nothing.", value=(["Boom", "accepted"], 12.0)),
    ),
    covers=("tensor.exc.graph_usable_noretain",),
)
def test_failed_pass_frees(subject: Subject) -> None:
    import torch

    class Boom(Exception):
        pass

    def hook(grad: Any) -> None:
        raise Boom

    results = []
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    handle = y.register_hook(hook)
    z = y * y
    for _ in range(2):
        try:
            z.backward()
            results.append("accepted")
        except Boom:
            results.append("Boom")
        except RuntimeError as error:
            # Before 1.7 the Boom of the first pass arrived as RuntimeError too.
            results.append("Boom" if handle.id in (y._backward_hooks or {}) else type(error).__name__)
        handle.remove()
    assert (results, None if x.grad is None else x.grad.item()) == subject.value


@clause(
    "gradient.passes.double_backward",
    says="With create_graph what a hook returns is differentiated, and the second pass may call it again.",
    source=(BACKWARD, SINCE_2_0),
    readings=(
        Reading(
            "also at inputs",
            ">=2.0",
            "x**3 at 2 with a factor 2 at x: 24, then 24 * 2 = 48; two calls.",
            value=([True, False], 24.0, 48.0),
        ),
        Reading(
            "not at inputs", "<2.0", "autograd.grad does not call the hook of x: 12 and 12.", value=([], 12.0, 12.0)
        ),
    ),
    covers=(
        "tensor.dbl.replacement_differentiable",
        "graph.api.create_graph_hook_arg_requires_grad",
        "tensor.dbl.fires_again",
    ),
)
def test_double_backward(subject: Subject) -> None:
    import torch

    needs: List[bool] = []
    x = torch.tensor(2.0, requires_grad=True)
    x.register_hook(lambda grad: needs.append(grad.requires_grad) or grad * 2)
    (first,) = torch.autograd.grad(x**3, [x], create_graph=True)
    (second,) = torch.autograd.grad(first, [x])
    assert (needs, first.item(), second.item()) == subject.value


@clause(
    "gradient.passes.differentiated_through",
    says="The second derivative goes through what the hook of an inner tensor computed.",
    source=BACKWARD,
    readings=(
        Reading(
            "through it",
            "",
            "y = x * x, the loss y * y, the hook g -> g * g: 4 * 8 * 8 = 256, then 5 * 128 = 640.",
            value=(256.0, 640.0),
        ),
        Reading("as a constant", "never", "What the hook returns has no graph.", value=(256.0, 128.0)),
    ),
    covers=("tensor.dbl.nonleaf_replacement_differentiable", "graph.api.create_graph_hook_result_differentiable"),
)
def test_differentiated_through(subject: Subject) -> None:
    import torch

    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    handle = y.register_hook(lambda grad: grad * grad)
    (first,) = torch.autograd.grad(y * y, [x], create_graph=True)
    handle.remove()
    (second,) = torch.autograd.grad(first, [x])
    assert (first.item(), second.item()) == subject.value


@clause(
    "gradient.passes.inside_a_hook",
    says="A hook may run a backward of its own; hooks called by that one run first, also of the same leaf.",
    source="measured",
    readings=(
        Reading("allowed", "", "Outer 1, inner 3: both are accumulated.", value=([1.0, 3.0], 4.0)),
        Reading("outer only", "never", "The inner pass is without effect.", value=([1.0], 1.0)),
    ),
    covers=("graph.reent.backward_in_tensor_hook", "tensor.run.nested_same_leaf", "tensor.run.nested_backward"),
)
def test_inside_a_hook(subject: Subject) -> None:
    import torch

    seen: List[float] = []
    x = torch.ones((), requires_grad=True)

    def hook(grad: Any) -> None:
        seen.append(grad.item())
        if len(seen) == 1:
            with torch.enable_grad():
                (3 * x).backward()

    x.register_hook(hook)
    (1 * x).backward()
    assert (seen, x.grad.item()) == subject.value


@clause(
    "gradient.passes.inside_fails",
    says="An exception in a backward that a hook runs ends the outer backward with the same exception.",
    source=TYPE_IS_LOST,
    readings=(
        Reading("the same type", "", "KeyError arrives as KeyError.", value="KeyError"),
        Reading("swallowed", "never", "The outer pass goes on.", value="accepted"),
    ),
    covers=("graph.reent.exception_propagates",),
)
def test_inside_fails(subject: Subject) -> None:
    import torch

    def fails(grad: Any) -> None:
        raise KeyError("a hook may raise")

    inner = torch.ones((), requires_grad=True)
    inner.register_hook(fails)

    def hook(grad: Any) -> None:
        with torch.enable_grad():
            (2 * inner).backward()

    x = torch.ones((), requires_grad=True)
    x.register_hook(hook)
    try:
        (2 * x).backward()
        result = "accepted"
    except (KeyError, RuntimeError) as error:
        result = type(error).__name__
    assert result == subject.value


@clause(
    "gradient.passes.calling_thread",
    says="On the CPU hooks run in the thread that called backward(), with its context variables.",
    source="note: notes/autograd.html#multithreaded-autograd",
    readings=(
        Reading("the caller's", ">=1.6", "From the main thread and from another.", value=[(True, "set")] * 2),
        Reading("one of the engine's", "<1.6", "The engine has threads of its own.", value=[(False, "unset")] * 2),
    ),
    covers=(
        "tensor.run.thread",
        "graph.thread.hook_in_worker_caller",
        "graph.thread.hook_runs_in_calling_thread",
        "graph.thread.contextvar_visible_in_hook",
    ),
)
def test_calling_thread(subject: Subject) -> None:
    import contextvars
    import threading

    import torch

    variable: Any = contextvars.ContextVar("variable", default="unset")
    results = []

    def work() -> None:
        seen: List[Any] = []
        variable.set("set")
        x = torch.ones((), requires_grad=True)
        x.register_hook(lambda grad: seen.append((threading.get_ident(), variable.get())))
        (2 * x).backward()
        results.append((seen[0][0] == threading.get_ident(), seen[0][1]))

    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == subject.value


@clause(
    "gradient.passes.two_threads",
    says="Backward passes of several threads call the hook of a shared leaf once each.",
    source="note: notes/autograd.html#multithreaded-autograd",
    readings=(
        Reading("once each", "", "4 threads, 25 passes each, gradient 2.", value=(100, 200.0)),
        Reading("some are lost", "never", "Threads share one pass.", value=(25, 50.0)),
    ),
    covers=("graph.thread.shared_leaf_counts",),
)
def test_two_threads(subject: Subject) -> None:
    import threading

    import torch

    calls: List[int] = []
    x = torch.ones((), requires_grad=True)
    x.register_hook(lambda grad: calls.append(1))
    x.grad = torch.zeros(())

    def work() -> None:
        for _ in range(25):
            (2 * x).backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(calls), x.grad.item()) == subject.value


@clause(
    "gradient.passes.grad_mode_of_the_hook",
    says="create_graph alone decides the grad mode in hooks, and no hook changes the grad mode of the caller.",
    source=BACKWARD,
    readings=(
        Reading(
            "create_graph decides",
            "",
            "On under no_grad with create_graph; the caller's mode is as before.",
            value=([True], [False], True),
        ),
        Reading("the caller decides", "never", "Off under no_grad.", value=([False], [True], True)),
    ),
    covers=("tensor.mode.caller_no_grad", "tensor.mode.retain_graph", "tensor.mode.set_leaks_caller"),
)
def test_grad_mode_of_the_hook(subject: Subject) -> None:
    import torch

    seen: List[bool] = []
    x = torch.ones((), requires_grad=True)
    y = x * x
    x.register_hook(lambda grad: seen.append(torch.is_grad_enabled()))
    with torch.no_grad():
        torch.autograd.backward([y], create_graph=True)
    torch.autograd.backward([y], retain_graph=True)
    x.register_hook(lambda grad: torch.set_grad_enabled(False) and None)
    torch.autograd.backward([y], create_graph=True)
    x.grad = None
    assert (seen[:1], seen[1:2], torch.is_grad_enabled()) == subject.value
