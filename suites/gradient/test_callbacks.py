"""Callbacks that a hook queues for the end of the backward pass: when they run, in which order, and what ends them."""

from collections import deque
from typing import Any, Callable, Deque, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.draw.plans import FACTORS
from fixtures.judge.subject import Subject
from suites.hooking import FEW, UP_TO_TWO
from suites.names import ISSUE, PULL
from suites.tensors import item, leaf, outcome

ABOUT = "queue_callback"

DOCS = "docs: torch.autograd.graph.queue_callback"
AFTER = f'{DOCS} "Queue a callback to run after the current backward pass completes"'
#: Callbacks belong to a pass, not to the engine.
OF_A_PASS = PULL + "35066"


def queue(callback: Callable[[], Any]) -> None:
    """Queue a callback by the method that every torch has; `torch.autograd.graph.queue_callback` came with 2.15."""
    import torch

    torch.autograd.Variable._execution_engine.queue_callback(callback)


def queueing(*callbacks: Callable[[], Any]) -> Callable[[Any], None]:
    """A tensor hook that queues these callbacks, and leaves the gradient as it is."""

    def hook(grad: Any) -> None:
        for each in callbacks:
            queue(each)

    return hook


@clause(
    "gradient.callbacks.end",
    says="A callback that a tensor hook gives to queue_callback runs after backward() has filled .grad.",
    source=AFTER,
    asked="run code once after backward finished when all grads are ready "
    "from inside a hook queue_callback variable _execution_engine",
    see=("gradient.callbacks.inner_pass", "gradient.callbacks.failed_pass"),
    value=True,
    wrong={"at once": False},
    witness={"factors": [2, 3], "place": 0, "passes": 1},
)
@given(factors=st.lists(FACTORS, min_size=1, max_size=4), place=st.integers(0, 4), passes=FEW)
def test_end(subject: Subject, factors: List[int], place: int, passes: int) -> None:
    seen: List[Any] = []
    leaves = [leaf(1) for _ in factors]
    total = sum(by * one for by, one in zip(factors, leaves))
    # Of a leaf, or of the tensor that backward() begins at.
    hooked = [*leaves, total][min(place, len(leaves))]
    hooked.register_hook(queueing(lambda: seen.append([item(one.grad) for one in leaves])))
    for _ in range(passes):
        total.backward(retain_graph=True)
        seen.append("returned")
    after = [[float(by * number) for by in factors] for number in range(1, passes + 1)]
    assert (seen == [each for grads in after for each in (grads, "returned")]) == subject.value


@clause(
    "gradient.callbacks.order",
    says="Callbacks of queue_callback in one pass run in the order they were queued in; one queued twice runs twice.",
    source=f'{DOCS} "Callbacks queued multiple times run multiple times, in queueing order"',
    asked="several queue_callback functions which is executed first same callback queued two times duplicate execution",
    value="as queued",
    wrong={"each once": "once"},
    witness={"queued": [[0], [1, 0]]},
)
@given(queued=st.lists(st.lists(UP_TO_TWO, max_size=3), min_size=1, max_size=3))
def test_order(subject: Subject, queued: List[List[int]]) -> None:
    ran: List[int] = []
    callbacks = [lambda number=number: ran.append(number) for number in range(3)]
    x = leaf(1)
    for numbers in queued:
        x.register_hook(queueing(*[callbacks[number] for number in numbers]))
    (2 * x).backward()
    flat = [number for numbers in queued for number in numbers]
    assert ran == (flat if subject.value == "as queued" else list(dict.fromkeys(flat)))


@clause(
    "gradient.callbacks.queued_inside",
    says="A callback may queue another one: that runs in the same pass, after all that were queued before.",
    source="measured",
    asked="queue_callback called from within another end of backward callback does it still execute",
    value="behind",
    wrong={"at once": "at once"},
    witness={"queued": [1, 0]},
)
@given(queued=st.lists(UP_TO_TWO, min_size=1, max_size=4))
def test_queued_inside(subject: Subject, queued: List[int]) -> None:
    ran: List[Any] = []

    def named(name: str, more: int) -> Callable[[], None]:
        def callback() -> None:
            ran.append(name)
            if more:
                queue(named(name + "'", more - 1))

        return callback

    x = leaf(1)
    x.register_hook(queueing(*[named(str(number), more) for number, more in enumerate(queued)]))
    (2 * x).backward()
    waiting: Deque[Any] = deque((str(number), more) for number, more in enumerate(queued))
    expected = []
    while waiting:
        name, more = waiting.popleft()
        expected.append(name)
        if more:
            (waiting.append if subject.value == "behind" else waiting.appendleft)((name + "'", more - 1))
    assert ran == expected


@clause(
    "gradient.callbacks.inner_pass",
    says="When a hook runs backward(), callbacks queued in that inner pass run before the inner backward() returns.",
    source=(AFTER, ISSUE + "24965"),
    asked="nested backward checkpoint queue_callback fires too early reentrant end of backward callback",
    value="inner",
    wrong={"at the end of the outer pass": "outer"},
    witness={"depth": 1},
)
@given(depth=st.integers(1, 4))
def test_inner_pass(subject: Subject, depth: int) -> None:
    import torch

    ran: List[Any] = []

    def run(level: int) -> None:
        def hook(grad: Any) -> None:
            if level < depth:
                with torch.enable_grad():
                    run(level + 1)
            queue(lambda: ran.append(("callback", level)))

        x = leaf(1)
        x.register_hook(hook)
        (2 * x).backward()
        ran.append(("returned", level))

    run(0)
    inside_out = range(depth, -1, -1)
    nested = [(what, level) for level in inside_out for what in ("callback", "returned")]
    late = [("returned", level) for level in inside_out[:-1]] + [("callback", level) for level in inside_out]
    assert ran == (nested if subject.value == "inner" else [*late, ("returned", 0)])


@clause(
    "gradient.callbacks.outer_pass",
    says="A callback that was queued before a hook runs an inner backward() runs at the end of the outer pass.",
    source=(OF_A_PASS, ISSUE + "24965"),
    asked="queue_callback never fires with activation checkpoint reentrant backward callback lost",
    about=("queue_callback", "register_hook"),
    matters_if="tensor ?queues_callback ?calls_backward",
    readings=by_release(
        "silent",
        ("1.6", "waits", "waits"),
        "A callback that was queued before a hook runs an inner backward() runs at the end of the outer pass.",
        ("", "lost", "lost"),
        "A backward() that a hook runs drops the callbacks that were queued before it: they are never called.",
    ),
    witness={"before": 1, "passes": 1, "after": 1},
)
@given(before=UP_TO_TWO, passes=FEW, after=UP_TO_TWO)
def test_outer_pass(subject: Subject, before: int, passes: int, after: int) -> None:
    import torch

    ran: List[Any] = []

    def hook(grad: Any) -> None:
        queueing(*[lambda: ran.append("before")] * before)(grad)
        for _ in range(passes):
            with torch.enable_grad():
                (2 * leaf(1)).backward()
        ran.append("inner passes done")
        queueing(*[lambda: ran.append("after")] * after)(grad)

    x = leaf(1)
    x.register_hook(hook)
    (2 * x).backward()
    first = ["before"] * before if subject.value == "waits" else []
    assert ran == ["inner passes done", *first, *["after"] * after]


@clause(
    "gradient.callbacks.outside",
    says="Outside a backward pass queue_callback raises RuntimeError.",
    source=(f'{DOCS} "Must be called during a backward pass"', ISSUE + "66199"),
    asked="Final callbacks can only be installed during backward pass error queue_callback from forward",
    about=("queue_callback", "register_forward_hook"),
    matters_if="forward ?queues_callback",
    readings=by_release(
        ("error", "silent"),
        ("1.6", "refused", "RuntimeError"),
        "Outside a backward pass queue_callback raises RuntimeError.",
        ("", "dropped", "accepted"),
        "A callback that is queued outside a backward pass is accepted, and never called.",
    ),
    witness={"times": ["forward hook"]},
)
@given(times=st.lists(st.sampled_from(["between passes", "forward hook"]), min_size=1, max_size=3))
def test_outside(subject: Subject, times: List[str]) -> None:
    import torch

    ran: List[Any] = []
    x, module = leaf(1), torch.nn.Identity()
    module.register_forward_hook(lambda module, args, output: queue(lambda: ran.append("late")))
    ways = {"between passes": lambda: queue(lambda: ran.append("late")), "forward hook": lambda: module(x)}
    for time in times:
        assert outcome(ways[time]) == subject.value
        (2 * x).backward()
    assert ran == []


@clause(
    "gradient.callbacks.failed_pass",
    says="After a hook raised in a backward pass, what queue_callback queued in that pass is never called.",
    where="no backward() runs inside a hook",
    source=f'{DOCS} "it is not run if the backward pass raises an error"',
    asked="exception during backward is the queued end callback still executed or left over for next step",
    value=True,
    wrong={"kept for the next pass": False},
    witness={"callbacks": 1},
)
@given(callbacks=st.integers(1, 4))
def test_failed_pass(subject: Subject, callbacks: int) -> None:
    def fail(grad: Any) -> None:
        raise RuntimeError

    ran: List[int] = []
    x = leaf(1)
    x.register_hook(queueing(*[lambda number=number: ran.append(number) for number in range(callbacks)]))
    failing = x.register_hook(fail)
    assert outcome((2 * x).backward) == "RuntimeError"
    failing.remove()
    (2 * x).backward()
    (2 * leaf(1)).backward()
    assert ran == list(range(callbacks)) * (1 if subject.value else 2)


@clause(
    "gradient.callbacks.error",
    says="What a callback of queue_callback raises leaves backward(); later callbacks of that pass are not called.",
    source=("measured", ISSUE + "112438"),
    asked="exception inside queue_callback function propagates out of backward remaining callbacks skipped",
    about=("queue_callback", "register_hook"),
    matters_if="tensor ?queues_callback",
    value=("ZeroDivisionError", "accepted"),
    wrong={"kept back": ("accepted", "accepted")},
    witness={"before": 1, "behind": 1},
)
@given(before=UP_TO_TWO, behind=UP_TO_TWO)
def test_error(subject: Subject, before: int, behind: int) -> None:
    ran: List[str] = []
    x = leaf(1)
    callbacks = [lambda: ran.append("before")] * before + [lambda: 1 / 0] + [lambda: ran.append("behind")] * behind
    handle = x.register_hook(queueing(*callbacks))
    first = outcome((2 * x).backward, (ZeroDivisionError, RuntimeError))
    handle.remove()
    x.register_hook(queueing(lambda: None))
    later = outcome((3 * x).backward)
    assert (first, later, ran) == (*subject.value, ["before"] * before)


@clause(
    "gradient.callbacks.grad_mode",
    says="A callback of queue_callback runs with grad mode off, or on if the backward pass has create_graph=True.",
    where="no callback of the pass sets grad mode",
    source="measured",
    asked="is torch.is_grad_enabled inside queue_callback callback no_grad optimizer step at end of backward",
    about=("queue_callback", "register_hook"),
    matters_if="tensor ?queues_callback",
    readings=(
        Reading(
            "the pass's",
            ">=1.10",
            "A callback of queue_callback runs with grad mode off, or on if the backward pass has create_graph=True.",
            value="pass",
        ),
        Reading(
            "the caller's",
            "<1.10,!=1.5.*",
            "A callback runs in the grad mode in which backward() was called.",
            value="caller",
            says_the_same=False,
            effect="silent",
        ),
        Reading(
            "on", ">=1.5,<1.6", "A callback runs with grad mode on.", value="on", says_the_same=False, effect="silent"
        ),
    ),
    witness={"passes": [(False, True), (False, False)]},
)
@given(passes=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=4))
def test_grad_mode(subject: Subject, passes: List[Any]) -> None:
    import torch

    seen: List[bool] = []
    for create_graph, mode in passes:
        x = leaf(1)
        x.register_hook(queueing(lambda: seen.append(torch.is_grad_enabled())))
        square = x * x
        with torch.set_grad_enabled(mode):
            square.backward(create_graph=create_graph)
        x.grad = None  # with create_graph it refers to its own graph
    modes = [{"pass": create_graph, "caller": mode, "on": True} for create_graph, mode in passes]
    assert seen == [each[subject.value] for each in modes]


@clause(
    "gradient.callbacks.two_doors",
    says="torch.autograd.graph.queue_callback and Variable._execution_engine.queue_callback fill one queue in order.",
    source=PULL + "193958",
    asked="torch.autograd.graph.queue_callback versus "
    "Variable._execution_engine.queue_callback mixing both public and private",
    needs="torch.autograd.graph.queue_callback",
    value=True,
    wrong={"one behind the other": False},
    witness={"public": [False, True]},
)
@given(public=st.lists(st.booleans(), min_size=1, max_size=5))
def test_two_doors(subject: Subject, public: List[bool]) -> None:
    from torch.autograd.graph import queue_callback

    ran: List[int] = []

    def hook(grad: Any) -> None:
        for number, is_public in enumerate(public):
            (queue_callback if is_public else queue)(lambda number=number: ran.append(number))

    x = leaf(1)
    x.register_hook(hook)
    (2 * x).backward()
    apart = sorted(range(len(public)), key=lambda number: not public[number])
    assert ran == (list(range(len(public))) if subject.value else apart)
