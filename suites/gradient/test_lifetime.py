"""How long a tensor hook lives: its handle, tensors that go, garbage collection, cycles."""

from typing import Any, List, Optional, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.gradient.nodes.sources import HAS_PRE
from suites.gradient.sources import REMOVES
from suites.hooking import Holds, fates
from suites.names import POST_ACCUMULATE
from suites.tensors import leaf

ABOUT = "register_hook"


@clause(
    "gradient.lifetime.handle",
    says="Tensor.register_hook takes the hook as hook= and returns a RemovableHandle with an id of its own.",
    source=(REMOVES, "docs: torch.utils.hooks.RemovableHandle"),
    asked="what does registering on a tensor return how to get object to unregister later keyword name",
    value=True,
    wrong={"per tensor": False},
    witness={"on": [0, 1], "removed": None},
)
@given(on=st.lists(st.integers(0, 2), min_size=2, max_size=5), removed=st.none() | st.integers(0, 3))
def test_handle(subject: Subject, on: List[int], removed: Any) -> None:
    import pickle

    import torch

    x = leaf(1)
    tensors = [x, 2 * x, leaf(3)]
    seen: List[Any] = []
    handles: List[Any] = []
    for place in on:
        handles.append(tensors[place].register_hook(hook=seen.append))
        if removed is not None and removed < len(handles):
            # That an id is free again changes nothing.
            handles[removed].remove()
    ids = [handle.id for handle in handles]
    assert all(type(handle) is torch.utils.hooks.RemovableHandle for handle in handles)
    per_tensor = [on[:number].count(at) for number, at in enumerate(on)]
    assert len(set(ids)) == len(set(range(len(on)) if subject.value else per_tensor))
    # With the handle pickle stores the hooks that are left on its tensor: none, then.
    for handle in handles:
        handle.remove()
    assert [pickle.loads(pickle.dumps(handle)).id for handle in handles] == [handle.id for handle in handles]


@clause(
    "gradient.lifetime.removed_too_late",
    says="handle.remove() does nothing where the tensor hook was removed before, or its tensor and graph are gone.",
    see="gradient.lifetime.tensor_object_gone",
    source="docs: torch.utils.hooks.RemovableHandle",
    asked="unregister twice or after deleting activation error or harmless silent",
    value=True,
    wrong={"takes the next": False},
    witness={"inner": False, "removed": [1, 1]},
)
@given(inner=st.booleans(), removed=st.lists(st.integers(0, 4), max_size=6))
def test_removed_too_late(subject: Subject, inner: bool, removed: List[int]) -> None:
    calls: List[int] = []
    handles = [leaf(1).register_hook(lambda grad: calls.append(-1))]  # 0: of a tensor that is gone
    x = leaf(1)
    y = 1 * x
    hooked = y if inner else x
    handles += [hooked.register_hook(lambda grad, number=number: calls.append(number)) for number in (1, 2, 3)]
    hooked.register_hook(lambda grad: calls.append(5))
    left = [1, 2, 3, 5]
    for place in removed:
        if place == 4:
            continue
        handles[place].remove()
        if place in left:
            left.remove(place)
        elif not subject.value:
            left = left[1:]
    y.backward()
    assert calls == left


def backward(loss: Any, **options: Any) -> None:
    """Go back and make sure that nothing of the graph is held any more.

    The engine's thread may keep the last node until it gets other work, as it does in torch 1.4 and 1.5.
    """
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss.backward(**options)
    leaf(0).backward()


class Watched:
    """A hook that counts its calls, and that can be watched by a weak reference."""

    def __init__(self, calls: Optional[List[Any]] = None, *held: Any) -> None:
        self.calls, self.held = [] if calls is None else calls, held

    def __call__(self, grad: Any) -> None:
        self.calls.append(grad.tolist())


@clause(
    "gradient.lifetime.tensor_object_gone",
    says="The tensor hooks of x are called, and can be removed, also after del x, while the graph is alive.",
    source="measured",
    asked="local variable goes out of scope before backward will callback on intermediate activation still fire",
    value=True,
    wrong={"never called": False},
    witness={"inner": True, "hooks": 1, "removed": [0]},
)
@given(inner=st.booleans(), hooks=st.integers(1, 3), removed=st.lists(st.integers(0, 2), min_size=1, max_size=3))
def test_tensor_object_gone(subject: Subject, inner: bool, hooks: int, removed: List[int]) -> None:
    calls: List[int] = []
    hooked = 3 * leaf(1) if inner else leaf(1)
    handles = [hooked.register_hook(lambda grad, number=number: calls.append(number)) for number in range(hooks)]
    loss = 2 * hooked
    del hooked
    left = list(range(hooks))
    for place in removed:
        calls.clear()
        loss.backward(retain_graph=True)
        assert calls == (left if subject.value else [])
        if place < hooks:
            handles[place].remove()
            left = [number for number in left if number != place]
    calls.clear()
    loss.backward()
    assert calls == (left if subject.value else [])


@clause(
    "gradient.lifetime.survives_collection",
    says="A tensor hook that refers to its tensor's grad_fn outlives gc.collect() while the graph is alive.",
    source="https://github.com/pytorch/pytorch/issues/102174",
    asked="closure over node gradient function garbage collector does callback vanish before loss backward",
    matters_if="tensor inner ?refers_to_node",
    readings=by_release(
        "silent",
        ("2.1", "survives", 2),
        "A tensor hook that refers to its tensor's grad_fn is called before and after gc.collect().",
        ("", "is collected", 1),
        "gc.collect() frees a tensor hook that refers to its tensor's grad_fn, though the graph is alive.",
    ),
)
def test_survives_collection(subject: Subject) -> None:
    import gc

    hook = Watched()
    y = 3 * make.ones((), requires_grad=True)
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
    says="A tensor hook is freed when it is removed, or when its tensor and the graph are gone.",
    where=("nothing else holds it", "it refers to no tensor, node or module"),
    see="gradient.lifetime.own_cycle",
    source="measured",
    asked="when is closure garbage collected does my callback keep activations alive weakref",
    value=True,
    wrong={"kept": False},
    witness={"inner": False, "hooks": 1, "removed": [0]},
)
@given(inner=st.booleans(), hooks=st.integers(1, 3), removed=st.lists(st.integers(0, 2), max_size=3))
def test_freed(subject: Subject, inner: bool, hooks: int, removed: List[int]) -> None:
    import weakref

    owned = [Watched() for _ in range(hooks)]
    watched = [weakref.ref(hook) for hook in owned]
    hooked = 3 * leaf(1) if inner else leaf(1)
    handles = [hooked.register_hook(hook) for hook in owned]
    del owned
    gone = set()
    for place in removed:
        if place < hooks:
            handles[place].remove()
            gone.add(place)
        assert [seen() is None for seen in watched] == [at in gone and subject.value for at in range(hooks)]
    del hooked
    assert [seen() is None for seen in watched] == [subject.value] * hooks


@clause(
    "gradient.lifetime.own_cycle",
    says="gc.collect() frees a leaf with a tensor hook that refers to it, but not a non-leaf tensor with one.",
    where="nothing else holds them",
    source="measured",
    asked="closure captures the activation itself memory leak reference "
    "cycle never released weakref non-leaf versus parameter",
    value=[True, False],
    wrong={"both": [True, True]},
)
def test_own_cycle(subject: Subject) -> None:
    import gc
    import weakref

    freed, broken = [], []
    for at_leaf in (True, False):
        hooked = make.ones((), requires_grad=True)
        if not at_leaf:
            hooked = 3 * hooked
        hook = Watched(None, hooked)
        seen = weakref.ref(hook)
        broken.append(hooked.register_hook(hook))
        backward(2 * hooked)
        del hooked, hook
        gc.collect()
        freed.append(seen() is None)
    for handle in broken:
        handle.remove()
    assert freed == subject.value


@clause(
    "gradient.lifetime.create_graph_cycle",
    says="After (x * x).backward(create_graph=True) gc.collect() does not free x; after x.grad = None it does.",
    where=("x is a leaf", "nothing else holds x"),
    source=(
        'docs: torch.autograd.backward "create a reference cycle between the parameter and its gradient"',
        "https://github.com/pytorch/pytorch/issues/7343",
    ),
    asked="memory leak double backward gradient penalty warning reference "
    "cycle between parameter and its gradient memory leak create_graph",
    value=(False, True),
    wrong={"collected": (True, True)},
)
def test_create_graph_cycle(subject: Subject) -> None:
    import gc
    import weakref

    def freed(reset: bool) -> Tuple[bool, Any]:
        hook = Watched()
        x = make.ones((), requires_grad=True)
        x.register_hook(hook)
        backward(x * x, create_graph=True)
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
    says="gc.collect() does not free a post-accumulate hook that refers to its leaf, until it is removed.",
    where="nothing else holds the hook",
    see="gradient.lifetime.post_accumulate_owner",
    source="measured",
    asked="optimizer in backward callback closes over parameter memory "
    "leak never garbage collected register_post_accumulate_grad_hook",
    needs=POST_ACCUMULATE,
    value=[False, True],
    wrong={"collected": [True, True]},
)
def test_post_accumulate_cycle(subject: Subject) -> None:
    import gc
    import weakref

    x = make.ones((), requires_grad=True)
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


class Trainer:
    """A module, its optimizer, and a method that can be a hook."""

    def __init__(self) -> None:
        import torch

        self.module = make.Linear(1, 1)
        self.optimizer = torch.optim.SGD(self.module.parameters(), lr=1.0)

    def hook(self, parameter: Any) -> None:
        return None


@clause(
    "gradient.lifetime.post_accumulate_owner",
    says="A parameter whose post-accumulate hook holds its module or optimizer is never freed.",
    where=("the hook is not removed", "these keep the parameter"),
    see="gradient.lifetime.post_accumulate_cycle",
    source="measured",
    asked="optimizer step in backward memory leak deleted model stays on gpu, hook is a bound method of the trainer",
    effect="silent",
    needs=POST_ACCUMULATE,
    value="never",
    wrong={"at once": "at once", "by the collector": "by the collector"},
    witness={"refers": "module", "passed": False},
)
@given(refers=st.sampled_from(["module", "optimizer", "method"]), passed=st.booleans())
def test_post_accumulate_owner(subject: Subject, refers: str, passed: bool) -> None:
    handles: List[Any] = []

    def made() -> List[Any]:
        trainer = Trainer()
        hook = trainer.hook if refers == "method" else Holds(getattr(trainer, refers))
        handles.append(trainer.module.weight.register_post_accumulate_grad_hook(hook))
        if passed:
            trainer.module(make.ones(1, 1)).sum().backward()
        return [trainer.module.weight]

    assert fates(made) == [subject.value]
    handles[0].remove()


@each(
    Row(
        "gradient.lifetime.node_cycle",
        "A non-leaf tensor that a hook of its grad_fn refers to is never freed.",
        "measured",
        where="the hook is not removed",
        see="gradient.lifetime.own_cycle",
        asked="grad_fn.register_hook closure over the tensor memory leak gc.collect does not free activations",
        effect="silent",
        about="Node.register_hook",
        value="never",
        wrong={"at once": "at once", "by the collector": "by the collector"},
        witness={"passed": False},
        method="register_hook",
    ),
    Row(
        "gradient.lifetime.node_pre_cycle",
        "A non-leaf tensor that a pre-hook of its grad_fn refers to is never freed.",
        "measured",
        where="the pre-hook is not removed",
        see="gradient.lifetime.own_cycle",
        asked="grad_fn.register_prehook closure over the tensor memory leak gc.collect does not free activations",
        effect="silent",
        needs=HAS_PRE,
        value="never",
        wrong={"at once": "at once", "by the collector": "by the collector"},
        witness={"passed": False},
        method="register_prehook",
    ),
    passed=lambda row: st.booleans(),
)
def of_its_node(subject: Subject, passed: bool, *, row: Any) -> None:
    handles: List[Any] = []

    def made() -> List[Any]:
        y = 2 * leaf(1)
        handles.append(getattr(y.grad_fn, row.method)(Holds(y)))
        if passed:
            (3 * y).backward()
        return [y]

    assert fates(made) == [subject.value]
    handles[0].remove()
