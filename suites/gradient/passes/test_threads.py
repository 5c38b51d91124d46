"""Hooks and threads: which thread runs them, and passes that run at once."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.hooking import at_once
from suites.tensors import leaf

ABOUT = "register_hook"

CALLER = (
    'note: autograd.html#multithreaded-autograd "Autograd allows the caller thread to drive its backward execution"'
)


@clause(
    "gradient.passes.calling_thread",
    says="On the CPU tensor hooks run in the thread that called backward(), with its context variables.",
    where="no backward() runs inside a hook",
    source=CALLER,
    asked="is callback run in main thread contextvars thread local "
    "profiler logging autograd worker thread DataLoader worker",
    matters_if="tensor ?thread_local",
    device="cpu",
    readings=by_release(
        "silent",
        ("1.6", "the caller's", [(True, "set")] * 2),
        "On the CPU tensor hooks run in the thread that called backward(), be it the main thread or another.",
        ("", "one of the engine's", [(False, "unset")] * 2),
        "On the CPU tensor hooks run in a thread of the engine, without the caller's context variables.",
    ),
)
def test_calling_thread(subject: Subject) -> None:
    import contextvars
    import threading

    variable: Any = contextvars.ContextVar("variable", default="unset")
    results = []

    def work() -> None:
        seen: List[Any] = []
        variable.set("set")
        x = make.ones((), requires_grad=True)
        x.register_hook(lambda grad: seen.append((threading.get_ident(), variable.get())))
        (2 * x).backward()
        results.extend((thread == threading.get_ident(), value) for thread, value in seen)

    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == subject.value


@clause(
    "gradient.passes.two_threads",
    says="Passes that run at once in several threads each call the tensor hook of a leaf that they share.",
    where="each has a graph of its own",
    source="note: autograd.html#multithreaded-autograd",
    asked="hogwild multithreaded training shared parameter callback concurrent race thread safe count",
    value="each",
    wrong={"the first only": "first"},
    witness={"passes": [1, 1]},
    note="What .grad then holds is left out: torch calls accumulation from several threads non-deterministic.",
)
@given(passes=st.lists(st.integers(1, 12), min_size=2, max_size=4))
def test_two_threads(subject: Subject, passes: List[int]) -> None:
    seen: List[float] = []
    x = leaf(1)
    x.register_hook(lambda grad: seen.append(grad.item()))

    def work(factor: int, times: int) -> None:
        for _ in range(times):
            (factor * x).backward()

    at_once(work, list(enumerate(passes, 1)))
    run = passes if subject.value == "each" else passes[:1]
    assert sorted(seen) == [float(factor) for factor, times in enumerate(run, 1) for _ in range(times)]


@clause(
    "gradient.passes.one_graph",
    says="Passes that run at once in several threads through one graph each call its tensor hooks.",
    where="each pass has retain_graph=True",
    source="note: autograd.html#multithreaded-autograd",
    asked="call backward on the same graph from several threads retain_graph hooks called how many times",
    value="each",
    wrong={"the first only": "first"},
    witness={"passes": [1, 1]},
)
@given(passes=st.lists(st.integers(1, 12), min_size=2, max_size=4))
def test_one_graph(subject: Subject, passes: List[int]) -> None:
    seen: List[str] = []
    x = leaf(1)
    y = 2 * x
    x.register_hook(lambda grad: seen.append("leaf"))
    y.register_hook(lambda grad: seen.append("inner"))

    def work(times: int) -> None:
        for _ in range(times):
            y.backward(retain_graph=True)

    at_once(work, [(times,) for times in passes])
    run = sum(passes) if subject.value == "each" else passes[0]
    assert sorted(seen) == ["inner"] * run + ["leaf"] * run


@clause(
    "gradient.passes.context_stays",
    says="On the CPU a context variable that a tensor hook sets is still set after backward().",
    where="no backward() runs inside a hook",
    source=CALLER,
    asked="contextvar set in tensor hook visible after backward thread local value lost",
    matters_if="tensor ?thread_local",
    device="cpu",
    readings=by_release(
        "silent",
        ("1.6", "set", True),
        "On the CPU a context variable that a tensor hook sets is still set after backward().",
        ("", "not set", False),
        "A context variable that a tensor hook sets is not set for who called backward().",
    ),
    witness={"passes": 1},
)
@given(passes=st.integers(1, 3))
def test_context_stays(subject: Subject, passes: int) -> None:
    import contextvars

    variable: Any = contextvars.ContextVar("variable", default=0)
    x = leaf(1)

    def hook(grad: Any) -> None:
        variable.set(variable.get() + 1)

    x.register_hook(hook)
    for _ in range(passes):
        (2 * x).backward()
    assert variable.get() == (passes if subject.value else 0)


@clause(
    "gradient.passes.deep_thread",
    says="On the CPU only the outermost 61 of backward() calls nested in hooks run in the caller's thread.",
    source="measured",
    asked="recursive backward inside hook runs on different thread deep nesting checkpoint thread local missing",
    matters_if="tensor ?thread_local ?calls_backward",
    device="cpu",
    readings=by_release(
        "silent",
        ("1.6", "to depth 60", 61),
        "On the CPU only the outermost 61 of backward() calls nested in hooks run in the caller's thread.",
        ("", "never", 0),
        "On the CPU passes, also those that hooks run inside of each other, run in threads of the engine.",
    ),
)
def test_deep_thread(subject: Subject) -> None:
    import threading

    import torch

    caller, inside = threading.get_ident(), []

    def run(depth: int) -> None:
        def hook(grad: Any) -> None:
            inside.append(threading.get_ident() == caller)
            if depth < 70:
                with torch.enable_grad():
                    run(depth + 1)

        x = leaf(1)
        x.register_hook(hook)
        (2 * x).backward()

    run(0)
    assert inside == [True] * subject.value + [False] * (71 - subject.value)
