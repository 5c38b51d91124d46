"""The comparisons: a control arm and the same work with hooks, for each kind, workload and number of hooks."""

import os
import statistics
from functools import partial
from typing import Any, Callable, List, NamedTuple, Sequence

from suites.timing.kinds import KINDS, WRAPPING, Hook, Kind, Undo, observe
from suites.timing.pairs import SLOW, Arm, nothing
from suites.timing.workloads import Pass


class Time(NamedTuple):
    """The share of the time that a comparison gets, and in how many visits, one in each round of its like.

    A machine changes its mind every few seconds: several short visits see more of it than a long one. And how slow the
    gauge may be, for a large work slows it down itself, by up to a half; and how many times the comparison is built
    from new objects at each visit.
    """

    weight: float
    visits: int
    slow: float = SLOW
    groups: int = 6


#: The time of a comparison on each workload, and the works that are measured beside themselves.
TIMES = {"empty": Time(4.0, 10), "small": Time(1.5, 3), "large": Time(0.5, 1, 1.6, 2)}
#: Python in the midst of a large backward makes what follows slow, now more and now less. And what is built anew is
#: slow for its first rounds, of which there are few here: two groups in one visit vary less than six in each of two.
WRAPPED = Time(7.0, 1, 1.6, 2)
#: The noise of the large layer is told from this, so it must not be that of too few rounds.
BESIDE = Time(2.0, 1, 1.6, 2)
SAMES = (
    *((work, *each) for work in ("forward", "both", "leaf") for each in {**TIMES, "large": BESIDE}.items()),
    ("forward", "encoder", Time(3.0, 2, groups=2)),
    ("both", "encoder", Time(3.0, 2, groups=2)),
    ("nothing", "empty", Time(1.0, 2)),
)


def time_of(kind: Kind, workload: str) -> Time:
    """The time of a kind: more where little is seen beside much, in a pass of its own, or where its figure varies."""
    if workload == "large" and kind.name in WRAPPING:
        return WRAPPED
    time = TIMES[workload]
    return time if kind.attach else time._replace(weight=2 * time.weight)


class NotCalled(Exception):
    """A hook that was to be timed is not called, or still called after it was removed."""


def attach(kind: Kind, one: Pass, hook: Hook, count: int) -> Undo:
    """Register a hook so many times; return what removes them all, and all traces of them."""
    undo = [kind.attach(one, hook) for _ in range(count)]

    def leave() -> None:
        for each in undo:
            each()
        if kind.on_leaves:
            one.renew_leaves()

    return leave


def control(kind: Kind, one: Pass) -> Arm:
    """The same work without hooks."""
    if kind.attach is None:
        return Arm(partial(kind.twin, one, kind.hook))
    return Arm(one.work(kind.work))


def hooked(kind: Kind, one: Pass, hook: Hook, count: int = 1) -> Arm:
    """The work with hooks."""
    if kind.attach is None:
        return Arm(partial(kind.own_pass, one, hook))
    return Arm(one.work(kind.work), partial(attach, kind, one, hook, count))


def by_count(kind: Kind, workload: str, counts: Sequence[int] = (1,)) -> List[Arm]:
    """The work without hooks, and with as many as `counts` says."""
    one = Pass(workload)
    return [control(kind, one), *(hooked(kind, one, kind.hook, count) for count in counts)]


def on_each_module(kind: Kind, workload: str) -> List[Arm]:
    """The work without hooks, and with one on each module."""
    one = Pass(workload)
    return [Arm(one.work(kind.work)), Arm(one.work(kind.work), partial(attach_each, kind, one, kind.hook))]


def attach_each(kind: Kind, one: Pass, hook: Hook) -> Undo:
    """Register a hook on every module of a pass; return what removes them."""
    whole, undo = one.module, []
    for module in whole.modules():
        one.module = module
        undo.append(kind.attach(one, hook))
    one.module = whole

    def leave() -> None:
        for each in undo:
            each()

    return leave


def same(work: str, workload: str) -> List[Arm]:
    """The work beside itself, or nothing beside nothing.

    Right before its block the second side registers a hook and removes it, as every side with hooks does.
    """
    one = Pass(workload)

    def enter() -> Undo:
        KINDS["forward"].attach(one, observe)()
        return nothing

    done = nothing if work == "nothing" else one.work(work)
    return [Arm(done), Arm(done, enter)]


def floor() -> List[Arm]:
    """Nothing, and one plain call of the hook function with what a forward hook is given."""
    one = Pass("empty")
    module, given, out = one.module, (one.input,), one.input

    def call() -> None:
        observe(module, given, out)

    return [Arm(nothing), Arm(call)]


def registering(kind: Kind) -> List[Arm]:
    """Nothing, and registering one hook and removing it again."""
    one = Pass("empty")

    def there_and_back() -> None:
        kind.attach(one, kind.hook)()

    return [Arm(nothing), Arm(there_and_back)]


def fires(kind: Kind, workload: str, each: bool = False) -> int:
    """How often one pass calls the hook. Raises NotCalled where the figure would be of something else."""
    one, seen = Pass(workload), []

    def count(*args: Any) -> Any:
        seen.append(1)
        return kind.hook(*args)

    arm = hooked(kind, one, count)
    if each:
        arm = Arm(arm.work, partial(attach_each, kind, one, count))
    leave = arm.enter()
    arm.work()
    leave()
    called = len(seen)
    if kind.calls_python != bool(called):
        raise NotCalled(f"{kind.name} on {workload}: one pass calls the hook {called} times")
    control(kind, one).work()
    if len(seen) != called:
        raise NotCalled(f"{kind.name} on {workload}: it is still called after it was removed")
    return called


class Memory(NamedTuple):
    """Bytes that one forward keeps until its backward, and what a hook adds to them."""

    control: float
    added: float


def resident() -> int:
    """The bytes of memory that this process holds. Raises OSError where the system does not tell."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def memory(name: str, held: Callable[[], int] = resident, passes: int = 2000) -> Memory:
    """Hold many graphs without hooks, then as many with, and see by how much the process grew each time.

    It belongs at the start of a process, where no freed memory is left to be used again.
    """
    kind = KINDS[name]
    keeping: List[Any] = []
    grown: List[List[float]] = [[], []]
    for count in (0, 1, 0, 1, 0, 1):
        one = Pass("empty")
        leave = attach(kind, one, kind.hook, count)
        before = held()
        keeping.append([one.module(one.leaf * one.other) for _ in range(passes)])
        grown[count].append((held() - before) / passes)
        leave()
    control, with_hook = (statistics.median(each[1:]) for each in grown)
    return Memory(control, with_hook - control)
