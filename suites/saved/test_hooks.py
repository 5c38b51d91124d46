"""What is given to hooks for saved tensors, in which mode and thread they run, and what of theirs is let go."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from suites.hooking import FEW, UP_TO_THREE, raised
from suites.saved.products import BOOLEANS, CONTEXT_NOTE, CYCLE, HAS, HAS_ONE
from suites.tensors import leaf

ABOUT = "saved_tensors_hooks"


@clause(
    "saved.pack.same_object",
    says="The pack hook for x * y is given x and y themselves, leaves or not.",
    where="both need a gradient",
    source=f'{CONTEXT_NOTE} "the input to ``pack_hook`` is a live tensor that still carries its ``grad_fn``"',
    asked="identify parameter in pack hook is tensor same object skip weights when offloading activations data_ptr id",
    needs=HAS,
    value=True,
    wrong={"others": False},
    witness={"inner": [True, False]},
)
@given(inner=st.lists(BOOLEANS, min_size=2, max_size=2))
def test_same_object(subject: Subject, inner: List[bool]) -> None:
    import torch

    seen: List[Any] = []
    x, y = (leaf(2) * 1 if one else leaf(3) for one in inner)
    with torch.autograd.graph.saved_tensors_hooks(seen.append, lambda packed: packed):
        assert (x * y).requires_grad
    assert (sorted(map(id, seen)) == sorted([id(x), id(y)])) is subject.value


@clause(
    "saved.pack.recording",
    says="A pack hook runs with gradients switched off: what it computes has no grad_fn.",
    source=f'{CONTEXT_NOTE} "pack hooks run with gradient tracking disabled"',
    asked="is grad enabled inside pack hook does computing in pack build graph",
    needs=HAS,
    value=False,
    wrong={"on": True},
    witness={"calls": 1},
)
@given(calls=FEW)
def test_recording(subject: Subject, calls: int) -> None:
    import torch

    seen: List[Any] = []

    def pack(tensor: Any) -> Any:
        seen.append((torch.is_grad_enabled(), (tensor * 2).requires_grad))
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        for _ in range(calls):
            leaf(2).sin()
        assert torch.is_grad_enabled()
    assert seen == [(subject.value, subject.value)] * calls


@clause(
    "saved.pack.enabled",
    says="If a pack hook calls sin() on its argument with gradients on, the pack hook is called for that sin(), too.",
    where="its argument needs a gradient",
    source="measured",
    asked="RecursionError maximum recursion depth exceeded in pack hook enable_grad inside",
    needs=HAS,
    value=True,
    wrong={"only for the operation": False},
    witness={"depth": 1},
    note="Without an end of its own such a hook recurses without one; torch 1.10 crashes then.",
)
@given(depth=UP_TO_THREE)
def test_enabled(subject: Subject, depth: int) -> None:
    import torch

    seen: List[Any] = []

    def pack(tensor: Any) -> Any:
        seen.append(tensor.item())
        if len(seen) <= depth:
            with torch.enable_grad():
                tensor.sin()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        leaf(2).sin()
    assert seen == [2.0] * (depth + 1 if subject.value else 1)


@clause(
    "saved.pack.type_error",
    says="A TypeError that a pack hook raises in x * y is shown as 'unsupported operand', without its text.",
    source="measured",
    asked="unsupported operand type(s) for *: Tensor and Tensor raised inside saved_tensors_hooks real error hidden",
    needs=HAS,
    matters_if="saved raises ?type_error",
    readings=by_release(
        "none",
        ("2.0", "its text is lost", ["TypeError: unsupported", "TypeError: mine"]),
        "A TypeError that a pack hook raises in x * y is shown as 'unsupported operand', without its text.",
        ("", "RuntimeError", ["RuntimeError: TypeError:", "RuntimeError: TypeError:"]),
        "A TypeError that a pack hook raises is shown as RuntimeError with its text, under x * y and by x.mul(y).",
    ),
)
def test_type_error(subject: Subject) -> None:
    import torch

    def pack(tensor: Any) -> Any:
        raise TypeError("mine")

    def text(act: Any) -> str:
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
            try:
                act()
            except (TypeError, RuntimeError) as error:
                return " ".join(f"{type(error).__name__}: {error}".split()[:2])
        return "none"

    x, y = leaf(2), leaf(3)
    assert [text(lambda: x * y), text(lambda: x.mul(y))] == subject.value


@clause(
    "saved.unpack.grad_mode",
    says="An unpack hook runs with gradients on in a pass with create_graph=True, and off in others.",
    where="nothing in the pass sets grad mode",
    source="measured",
    asked="grad mode inside unpack hook create_graph recompute activation in unpack",
    needs=HAS,
    value="of the pass",
    wrong={"off": "off"},
    witness={"creates": [True, False]},
)
@given(creates=st.lists(BOOLEANS, min_size=1, max_size=4))
def test_grad_mode(subject: Subject, creates: List[bool]) -> None:
    import torch

    seen: List[bool] = []

    def unpack(packed: Any) -> Any:
        seen.append(torch.is_grad_enabled())
        return packed

    x = leaf(2)
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach(), unpack):
        y = x.sin()
    for create in creates:
        torch.autograd.grad(y, x, retain_graph=True, create_graph=create)
    assert seen == [create and subject.value == "of the pass" for create in creates]


@clause(
    "saved.freed.released",
    says="What a pack hook returned is let go after a pass without retain_graph= or create_graph= that uses it.",
    where="nothing else holds it",
    source=f'{CONTEXT_NOTE} "Running backward with ``retain_graph=False`` releases the saved tensor"',
    asked="when is packed object deleted temporary file on disk offloaded activation freed after backward",
    needs=HAS,
    value="without",
    wrong={"after any pass": "any"},
    witness={"passes": 1},
)
@given(passes=UP_TO_THREE)
def test_released(subject: Subject, passes: int) -> None:
    import weakref

    import torch

    class Box(list):
        """A list that can be watched."""

    boxes: List[Any] = []

    def pack(tensor: Any) -> Box:
        box = Box([tensor.detach()])
        boxes.append(weakref.ref(box))
        return box

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda box: box[0]):
        y = leaf(2) * leaf(3)
    for _ in range(passes):
        y.backward(retain_graph=True)
    alive = [box() is not None for box in boxes]
    assert alive == [not passes or subject.value == "without"] * 2
    y.backward()
    assert [box() for box in boxes] == [None] * 2


@clause(
    "saved.freed.cycle",
    says="A pack hook that returns its argument itself keeps y = x.exp() alive until a pass frees the graph.",
    source=CYCLE,
    asked="memory leak pack hook lambda x: x reference cycle activations never freed eval without backward",
    needs=HAS,
    value="the argument only",
    wrong={"neither": "neither", "both": "both"},
    witness={"detaches": [False, True]},
)
@given(detaches=st.lists(BOOLEANS, min_size=1, max_size=3))
def test_cycle(subject: Subject, detaches: List[bool]) -> None:
    import gc
    import weakref

    import torch

    found = []
    for detach in detaches:
        pack = (lambda tensor: tensor.detach()) if detach else (lambda tensor: tensor)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
            y = leaf(2).exp()
        watched = weakref.ref(y)
        del y
        gc.collect()
        left = watched()
        found.append(left is not None)
        if left is not None:
            left.backward()
            left = None
            assert watched() is None
    expected = {"the argument only": [not one for one in detaches]}
    assert found == expected.get(subject.value, [subject.value == "both"] * len(detaches))


@clause(
    "saved.context.thread",
    says="A pack hook of saved_tensors_hooks is called only for operations of the thread that entered it.",
    where="all is on the CPU",
    source=f'{CONTEXT_NOTE} "The hooks defined with this context manager are thread-local"',
    asked="saved_tensors_hooks DataParallel threads pack hook not called in worker thread thread local",
    needs=HAS,
    value="own",
    wrong={"all threads": "all"},
    witness={"threads": 1},
)
@given(threads=FEW)
def test_context_thread(subject: Subject, threads: int) -> None:
    import threading

    import torch

    seen: List[int] = []
    with torch.autograd.graph.saved_tensors_hooks(seen.append, lambda packed: packed):
        made = [threading.Thread(target=lambda: leaf(2).sin()) for _ in range(threads)]
        for one in made:
            one.start()
        for one in made:
            one.join()
        leaf(2).sin()
    assert len(seen) == (1 if subject.value == "own" else threads + 1)


@clause(
    "saved.context.create_graph",
    says="In saved_tensors_hooks a backward pass packs only with create_graph=True: what the new graph saves.",
    where="nothing in the pass switches grad mode on",
    source="measured",
    asked="pack hook called during backward double backward create_graph activation offload second order",
    needs=HAS,
    value="with create_graph=True",
    wrong={"never": "never"},
    witness={"creates": [True, False]},
)
@given(creates=st.lists(BOOLEANS, min_size=1, max_size=4))
def test_create_graph(subject: Subject, creates: List[bool]) -> None:
    import torch

    x = leaf(2)
    y = x.sin()
    found = []
    for create in creates:
        seen: List[Any] = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor, seen=seen: seen.append(tensor.item()), lambda packed: packed
        ):
            torch.autograd.grad(y, x, retain_graph=True, create_graph=create)
        found.append(2.0 in seen)
    assert found == [create and subject.value != "never" for create in creates]


@clause(
    "saved.context.inside_backward",
    says="A saved_tensors_hooks entered before a pass and left by a tensor hook is active again after the pass.",
    source="measured",
    asked="exit saved tensors context inside backward hook still active afterwards hooks come back",
    needs=HAS,
    value=(0, 1, 0),
    wrong={"stays left": (0, 0, 0)},
    isolated=True,
    note="What contexts are active is kept for each thread, and put back as it was before each node of the pass.",
)
def test_inside_backward(subject: Subject) -> None:
    import torch

    seen: List[Any] = []
    found: List[int] = []

    def count() -> None:
        seen.clear()
        with torch.enable_grad():
            leaf(2).sin()
        found.append(len(seen))

    context = torch.autograd.graph.saved_tensors_hooks(seen.append, lambda packed: packed)

    def leave(grad: Any) -> None:
        context.__exit__(None, None, None)
        count()

    y = leaf(2) * 1
    y.register_hook(leave)
    context.__enter__()
    y.backward()
    count()
    if found[1]:
        context.__exit__(None, None, None)
    count()
    assert tuple(found) == subject.value


@clause(
    "saved.one.detached",
    says="The pack hook of SavedTensor.register_hooks is given a detached tensor, not the tensor that was saved.",
    source=f'{CONTEXT_NOTE} "which receives an already-detached tensor"',
    asked="pack hook of register_hooks gets tensor without grad_fn requires_grad False detached",
    needs=HAS_ONE,
    value=(False, None, False),
    wrong={"the one that was saved": (True, None, True)},
    witness={"inner": False},
)
@given(inner=BOOLEANS)
def test_detached(subject: Subject, inner: bool) -> None:
    seen: List[Any] = []
    x = leaf(2) * 1 if inner else leaf(2)
    y = x.sin()
    y.grad_fn._raw_saved_self.register_hooks(lambda tensor: seen.append(tensor) or tensor, lambda packed: packed)
    assert [(one.requires_grad, one.grad_fn, one is x) for one in seen] == [subject.value]


@clause(
    "saved.one.raises",
    says="After the pack hook of SavedTensor.register_hooks raised, a pass raises RuntimeError that names the hook.",
    where="the pass uses the saved tensor",
    source="measured",
    asked="pack hook failed on registering then backward TypeError missing 1 required positional argument packed",
    needs=HAS_ONE,
    matters_if="saved_one raises",
    readings=by_release(
        ("none", "silent", "none"),
        ("2.15", "raises", ("the pack hook raised", [])),
        "After the pack hook of SavedTensor.register_hooks raised, a pass raises RuntimeError that names the hook.",
        ("2.0", "calls it without arguments", ("none", [()])),
        "After the pack hook of SavedTensor.register_hooks raised, a pass calls the unpack hook without arguments.",
        ("", "does not say why", ("RuntimeError", [])),
        "After the pack hook of SavedTensor.register_hooks raised, a pass raises RuntimeError about a conversion.",
    ),
    witness={"x": 2},
)
@given(x=NUMBERS)
def test_one_raises(subject: Subject, x: int) -> None:
    calls: List[Any] = []

    def pack(tensor: Any) -> Any:
        raise ValueError("mine")

    def unpack(*given: Any) -> Any:
        calls.append(given)
        return leaf(1).detach()

    y = leaf(x).sin()
    assert raised(lambda: y.grad_fn._raw_saved_self.register_hooks(pack, unpack), ValueError) == "ValueError"
    try:
        y.backward()
        found = "none"
    except RuntimeError as error:
        found = "the pack hook raised" if "the pack hook raised" in str(error) else "RuntimeError"
    assert (found, calls) == subject.value
