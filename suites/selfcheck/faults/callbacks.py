"""Faults of callbacks at the end of a pass, and of hooks on new nodes, that need two circumstances at once."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch.autograd import Variable, graph

from suites.selfcheck.faults.base import fault, rows, swap

NEAR = "gradient.callbacks"
BOTH = ("torch.autograd.graph.queue_callback",)
CREATION = ("torch.autograd.graph.node_creation_hook",)
NEW = "gradient.creation"


class Pass:
    """The callbacks of one pass, which one callback of the engine runs."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []
        self.ran: list[Any] = []

    def run(self) -> None:
        while self.waiting:
            callback = self.waiting.pop(0)
            self.ran.append(callback)
            self.call(callback)

    def call(self, callback: Any) -> None:
        callback()

    def add(self, callback: Any) -> None:
        self.waiting.append(callback)


class Engine:
    """The engine, with a queue of its own for each pass."""

    def __init__(self, own: Any, kind: type[Pass]) -> None:
        self.own, self.kind = own, kind
        self.passes: dict[int, Pass] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    def queue_callback(self, callback: Any) -> None:
        task = torch._C._current_graph_task_id()
        if task not in self.passes:
            made = self.kind()
            self.own.queue_callback(made.run)
            self.passes[task] = made
        self.passes[task].add(callback)

    @classmethod
    def enter(cls, stack: ExitStack, kind: type[Pass] = Pass) -> None:
        swap(stack, Variable, "_execution_engine", cls(Variable._execution_engine, kind))


def of(kind: type[Pass], engine: type[Engine] = Engine) -> Callable[[ExitStack], None]:
    return lambda stack: engine.enter(stack, kind)


class LastFirst(Pass):
    def run(self) -> None:
        if len(self.waiting) > 2:
            self.waiting.insert(0, self.waiting.pop())
        super().run()


class DeepAtOnce(Pass):
    """What is queued inside a callback that was queued inside one."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[Any] = []

    def add(self, callback: Any) -> None:
        if not self.ran:
            super().add(callback)
        elif self.ran[-1] in self.inside:
            self.waiting.insert(0, callback)
            self.inside.append(callback)
        else:
            super().add(callback)
            self.inside.append(callback)


class ApartOnce(Pass):
    def add(self, callback: Any) -> None:
        if callback not in self.waiting[:-1]:
            super().add(callback)


class LaterErrorsKept(Pass):
    def call(self, callback: Any) -> None:
        try:
            callback()
        except ZeroDivisionError:
            if len(self.ran) < 2:
                raise


class BehindErrors(Pass):
    def call(self, callback: Any) -> None:
        try:
            callback()
        except ZeroDivisionError:
            if len(self.waiting) > 1:
                self.waiting[0]()
            raise


class InnerLose(Engine):
    """Counts the passes that begin inside others."""

    def run_backward(self, *given: Any, **options: Any) -> Any:
        outer = torch._C._current_graph_task_id()
        result = self.own.run_backward(*given, **options)
        if outer in self.passes:
            self.passes[outer].ran.append("inner")
            if self.passes[outer].ran.count("inner") > 1:
                self.passes[outer].waiting.clear()
        return result


class FailedStay(Engine):
    def run_backward(self, *given: Any, **options: Any) -> Any:
        try:
            return self.own.run_backward(*given, **options)
        except RuntimeError:
            self.left = [one for each in self.passes.values() for one in each.waiting[1:]]
            raise
        finally:
            for one in vars(self).pop("late", []):
                one()
            self.late = vars(self).pop("left", [])


class RefusedOnce(Engine):
    def queue_callback(self, callback: Any) -> None:
        try:
            super().queue_callback(callback)
        except RuntimeError:
            if vars(self).setdefault("refused", False):
                return
            self.refused = True
            raise


class ModeOfCaller(Engine):
    def run_backward(self, *given: Any, **options: Any) -> Any:
        self.mode = torch.is_grad_enabled()
        return self.own.run_backward(*given, **options)

    def queue_callback(self, callback: Any) -> None:
        mode = self.mode

        def call() -> None:
            with torch.set_grad_enabled(torch.is_grad_enabled() and mode):
                callback()

        super().queue_callback(call)


rows(NEAR, control=True)(
    ("callbacks_same", "Nothing is wrong: another function calls the callbacks of a pass.", of(Pass)),
)
rows(NEAR)(
    ("callbacks_last_first", "Of three or more callbacks of a pass the last runs first.", of(LastFirst)),
    ("callbacks_deep_at_once", "What a callback queues that was queued by one runs before the others.", of(DeepAtOnce)),
    ("callbacks_apart_once", "A callback that is queued again after another one runs once.", of(ApartOnce)),
    ("callbacks_later_errors", "What a callback raises that is not the first is swallowed.", of(LaterErrorsKept)),
    ("callbacks_behind_errors", "Behind a callback that raises the first of several runs.", of(BehindErrors)),
    ("callbacks_two_inner", "The second backward() in a hook drops callbacks of the outer pass.", of(Pass, InnerLose)),
    ("callbacks_failed_stay", "Later callbacks of a failed pass run after the next pass.", of(Pass, FailedStay)),
    ("callbacks_refused_once", "Outside a pass queue_callback is refused once.", of(Pass, RefusedOnce)),
    (
        "callbacks_mode",
        "With create_graph=True under no_grad callbacks run with grad mode off.",
        of(Pass, ModeOfCaller),
    ),
)


@fault(NEAR, needs=BOTH, subtle=True)
def callbacks_second_door(stack: ExitStack) -> None:
    """torch.autograd.graph.queue_callback puts a callback before those that the engine's method queued."""

    class Front(Pass):
        def add(self, callback: Any) -> None:
            if public:
                self.waiting.insert(0, callback)
            else:
                super().add(callback)

    public: list[int] = []
    Engine.enter(stack, Front)
    own = graph.queue_callback  # type: ignore[attr-defined]

    def queue(callback: Any) -> None:
        public.append(1)
        own(callback)
        public.pop()

    swap(stack, graph, "queue_callback", queue)


# --- hooks on new nodes ------------------------------------------------------------------------


class Contexts:
    """All contexts that are entered; the engine knows of the outermost alone, which calls the hooks of all."""

    def __init__(self) -> None:
        self.active: list[Any] = []
        self.own: Any = graph.node_creation_hook  # type: ignore[attr-defined]
        self.outermost: Any = None

    def order(self, hooks: list[Any], node: Any) -> list[Any]:
        return hooks

    def call(self, node: Any) -> None:
        for number, hook in enumerate(self.order(list(self.active), node)):
            self.one(number, hook, node)

    def one(self, number: int, hook: Any, node: Any) -> None:
        if hook(node) is not None:
            raise RuntimeError("a node creation hook must return None")

    @classmethod
    def enter(cls, stack: ExitStack) -> None:
        all_of_them = cls()

        class Context:
            def __init__(self, hook: Any) -> None:
                self.hook = hook

            def __enter__(self) -> None:
                all_of_them.active.append(self.hook)
                if len(all_of_them.active) == 1:
                    all_of_them.outermost = all_of_them.own(all_of_them.call)
                    all_of_them.outermost.__enter__()

            def __exit__(self, *raised: Any) -> None:
                all_of_them.active.pop()
                if not all_of_them.active:
                    all_of_them.outermost.__exit__(*raised)

        swap(stack, graph, "node_creation_hook", Context)


class ThirdFirst(Contexts):
    def order(self, hooks: list[Any], node: Any) -> list[Any]:
        return [hooks[-1], *hooks[:-1]] if len(hooks) > 2 else hooks


class InnerWithoutLeaves(Contexts):
    def order(self, hooks: list[Any], node: Any) -> list[Any]:
        return hooks[:1] if "AccumulateGrad" in node.name() else hooks


class InnerReturns(Contexts):
    def one(self, number: int, hook: Any, node: Any) -> None:
        if hook(node) is not None and not number:
            raise RuntimeError("a node creation hook must return None")


class InnerSwallowed(Contexts):
    def one(self, number: int, hook: Any, node: Any) -> None:
        try:
            super().one(number, hook, node)
        except Exception:
            if number < 2:
                raise


class OncePerPass(Contexts):
    """In a backward pass only the first new node."""

    def call(self, node: Any) -> None:
        task = torch._C._current_graph_task_id()
        if task >= 0 and vars(self).get("task") == task:
            return
        self.task = task
        super().call(node)


class ReusedAgain(Contexts):
    """A reused node of a leaf is given, from its third use on."""

    def call(self, node: Any) -> None:
        super().call(node)
        seen = vars(self).setdefault("seen", [])
        for one, _ in node.next_functions:
            if one is not None and "AccumulateGrad" in one.name():
                seen.append(one)
                if sum(each is one for each in seen) > 2:
                    super().call(one)


rows(NEW, needs=CREATION, control=True)(
    ("created_same", "Nothing is wrong: one node creation hook calls all.", Contexts.enter),
)
rows(NEW, needs=CREATION)(
    (
        "created_third_first",
        "Of three or more nested node creation hooks the innermost is called first.",
        ThirdFirst.enter,
    ),
    (
        "created_inner_leaves",
        "Only the outermost node creation hook is called for the nodes of leaves.",
        InnerWithoutLeaves.enter,
    ),
    ("created_inner_returns", "A node creation hook inside another one may return anything.", InnerReturns.enter),
    ("created_inner_swallowed", "What the third of nested creation hooks raises is swallowed.", InnerSwallowed.enter),
    (
        "created_once_a_pass",
        "In a backward pass creation hooks are called for its first new node only.",
        OncePerPass.enter,
    ),
    ("created_reused", "A leaf's node is given to creation hooks again at its third use.", ReusedAgain.enter),
)
