"""How long a hook lives: handles that remove it, tensors that go, garbage collection, copies and pickles."""

from typing import Any, List, Optional, Tuple

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

HANDLE = "docs: torch.utils.hooks.RemovableHandle"
GC = "https://github.com/pytorch/pytorch/issues/102174"


class Watched:
    """A hook that counts its calls, and that can be watched by a weak reference."""

    def __init__(self, calls: Optional[List[Any]] = None, *held: Any) -> None:
        self.calls, self.held = [] if calls is None else calls, held

    def __call__(self, grad: Any) -> None:
        self.calls.append(grad.tolist())


@clause(
    "gradient.lifetime.tensor_object_gone",
    says="A hook is called also when no Python name of its tensor is left, and its handle still removes it.",
    source="measured",
    readings=(
        Reading(
            "called, then removed", "", "One call for the two passes, for a leaf and an inner tensor.", value=[1, 1]
        ),
        Reading("never called", "never", "The hook goes with the Python object.", value=[0, 0]),
    ),
    covers=(
        "tensor.handle.nonleaf_object_dead",
        "tensor.handle.nonleaf_object_dead_remove",
        "tensor.handle.leaf_object_dead",
    ),
)
def test_tensor_object_gone(subject: Subject) -> None:
    import torch

    counts = []
    for leaf in (True, False):
        calls: List[Any] = []
        hooked = torch.ones((), requires_grad=True)
        if not leaf:
            hooked = 3 * hooked
        handle = hooked.register_hook(Watched(calls))
        loss = 2 * hooked
        del hooked
        loss.backward(retain_graph=True)
        handle.remove()
        loss.backward()
        counts.append(len(calls))
    assert counts == subject.value


@clause(
    "gradient.lifetime.survives_collection",
    says="A hook that refers to the node of its tensor survives garbage collection while the graph is alive.",
    source=GC,
    readings=(
        Reading("survives", ">=2.1", "Called before the collection, and after it.", value=2),
        Reading("is collected", "<2.1", "Called before the collection only.", value=1),
    ),
    covers=("tensor.leak.gc_eats_live_hook", "graph.leak.gc_collects_hook_held_only_by_graph"),
)
def test_survives_collection(subject: Subject) -> None:
    import gc

    import torch

    hook = Watched()
    y = 3 * torch.ones((), requires_grad=True)
    calls, hook.held = hook.calls, (y.grad_fn,)
    y.register_hook(hook)
    loss = 2 * y
    del y, hook
    loss.backward(retain_graph=True)
    gc.collect()
    loss.backward()
    assert len(calls) == subject.value


@clause(
    "gradient.lifetime.freed",
    says="A hook is freed when it is removed, or when its tensor and the graph are gone.",
    source="measured",
    readings=(
        Reading("freed at once", "", "Without garbage collection, whatever hooked the tensor.", value=[True] * 4),
        Reading("kept", "never", "It lives as long as the handle.", value=[False] * 4),
    ),
    covers=("tensor.leak.leaf_freed", "tensor.leak.nonleaf_freed", "tensor.leak.remove_frees", "tensor.handle.weak"),
)
def test_freed(subject: Subject) -> None:
    import weakref

    import torch

    freed = []
    for leaf in (True, False):
        for remove in (True, False):
            hook = Watched()
            seen = weakref.ref(hook)
            hooked = torch.ones((), requires_grad=True)
            if not leaf:
                hooked = 3 * hooked
            handle = hooked.register_hook(hook)
            del hook
            if remove:
                handle.remove()
            else:
                del hooked
            freed.append(seen() is None)
    assert freed == subject.value


@clause(
    "gradient.lifetime.own_cycle",
    says="A hook that refers to its tensor is collected with a leaf, and never with an inner tensor.",
    source="measured",
    readings=(
        Reading("leaf only", "", "The collector cannot see through the graph of an inner tensor.", value=[True, False]),
        Reading("both", "never", "The collector frees any cycle.", value=[True, True]),
    ),
    covers=("tensor.leak.leaf_self_cycle", "tensor.leak.nonleaf_self_cycle", "tensor.leak.nonleaf_self_cycle_backward"),
)
def test_own_cycle(subject: Subject) -> None:
    import gc
    import weakref

    import torch

    freed, broken = [], []
    for leaf in (True, False):
        hooked = torch.ones((), requires_grad=True)
        if not leaf:
            hooked = 3 * hooked
        hook = Watched(None, hooked)
        seen = weakref.ref(hook)
        broken.append(hooked.register_hook(hook))
        (2 * hooked).backward()
        del hooked, hook
        gc.collect()
        freed.append(seen() is None)
    for handle in broken:
        handle.remove()
    assert freed == subject.value


@clause(
    "gradient.lifetime.create_graph_cycle",
    says="backward(create_graph=True) makes a cycle of a leaf and its .grad that only .grad = None breaks.",
    source=("docs: torch.Tensor.backward", "https://github.com/pytorch/pytorch/issues/7343"),
    readings=(
        Reading("leaks until then", "", "The hook of the leaf lives on after collection.", value=(False, True)),
        Reading("collected", "never", "The collector frees it.", value=(True, True)),
    ),
    covers=("tensor.leak.create_graph_leaf",),
)
def test_create_graph_cycle(subject: Subject) -> None:
    import gc
    import warnings
    import weakref

    import torch

    def freed(reset: bool) -> Tuple[bool, Any]:
        hook = Watched()
        x = torch.ones((), requires_grad=True)
        x.register_hook(hook)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (x * x).backward(create_graph=True)
        grad = None if reset else x.grad
        if reset:
            x.grad = None
        seen = weakref.ref(hook)
        del x, hook
        gc.collect()
        return seen() is None, grad

    (leaked, grad), (clean, _) = freed(False), freed(True)
    assert (leaked, clean) == subject.value
    # `grad` was held to the end on purpose: it is what would be lost sight of.
    assert grad is not None


@clause(
    "gradient.lifetime.post_accumulate_cycle",
    says="A post-accumulate hook that refers to its leaf is never collected.",
    source="measured",
    needs="torch.Tensor.register_post_accumulate_grad_hook",
    readings=(
        Reading(
            "never collected", "", "The collector does not see the hook; removing it frees it.", value=[False, True]
        ),
        Reading("collected", "never", "Like a tensor hook of a leaf.", value=[True, True]),
    ),
    covers=("graph.leak.postacc_closure_over_leaf",),
)
def test_post_accumulate_cycle(subject: Subject) -> None:
    import gc
    import weakref

    import torch

    x = torch.ones((), requires_grad=True)
    hook = Watched(None, x)
    seen = weakref.ref(hook)
    handle = x.register_post_accumulate_grad_hook(hook)
    del x, hook
    freed = []
    for _ in range(2):
        gc.collect()
        freed.append(seen() is None)
        handle.remove()
    assert freed == subject.value


@clause(
    "gradient.lifetime.handle",
    says="register_hook takes the hook as hook= and returns a RemovableHandle with a number of its own.",
    source=("docs: torch.Tensor.register_hook", HANDLE),
    readings=(
        Reading(
            "a handle",
            "",
            "The numbers go up, also over different tensors; a pickled handle keeps its number.",
            value=(True, True, True),
        ),
        Reading("per tensor", "never", "Every tensor counts from 0.", value=(True, False, True)),
    ),
    covers=("tensor.reg.fn_kwarg", "tensor.reg.returns_handle", "tensor.handle.ids", "tensor.handle.pickle"),
)
def test_handle(subject: Subject) -> None:
    import pickle

    import torch

    handles = [torch.ones((), requires_grad=True).register_hook(hook=Watched()) for _ in range(3)]
    ids = [handle.id for handle in handles]
    are_handles = all(isinstance(handle, torch.utils.hooks.RemovableHandle) for handle in handles)
    again = pickle.loads(pickle.dumps(handles[0]))
    assert (are_handles, ids == sorted(set(ids)), again.id == ids[0]) == subject.value


@clause(
    "gradient.lifetime.with_handle",
    says="Leaving a with-block on the handle removes the hook, also when the block raises.",
    source=HANDLE,
    readings=(
        Reading(
            "removed", "", "Called inside the block, not after it; an exception makes no difference.", value=[1, 1]
        ),
        Reading("kept", "never", "The block is without effect.", value=[2, 2]),
    ),
    covers=("tensor.handle.context", "tensor.handle.context_exception"),
)
def test_with_handle(subject: Subject) -> None:
    import contextlib

    import torch

    counts = []
    for fails in (False, True):
        calls: List[Any] = []
        x = torch.ones((), requires_grad=True)
        with contextlib.suppress(KeyError), x.register_hook(Watched(calls)):
            (2 * x).backward()
            if fails:
                raise KeyError("the block may raise")
        (2 * x).backward()
        counts.append(len(calls))
    assert counts == subject.value


@clause(
    "gradient.lifetime.removed_too_late",
    says="Removing a hook twice or after its tensor is gone does nothing; a dropped handle keeps its hook.",
    source=HANDLE,
    readings=(
        Reading("nothing", "", "The neighbour and the hook without handle go on.", value=2),
        Reading("takes the next", "never", "The second call removes a neighbour.", value=1),
    ),
    covers=("tensor.handle.remove_twice", "tensor.handle.remove_dead", "tensor.handle.dropped"),
)
def test_removed_too_late(subject: Subject) -> None:
    import torch

    calls: List[Any] = []
    gone = torch.ones((), requires_grad=True).register_hook(Watched(calls))
    x = torch.ones((), requires_grad=True)
    first = x.register_hook(Watched(calls))
    x.register_hook(Watched(calls))
    x.register_hook(Watched(calls))
    for handle in (first, first, gone, gone):
        handle.remove()
    (2 * x).backward()
    assert len(calls) == subject.value
