"""When what a pack hook returned is let go, and what it keeps alive."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.hooking import UP_TO_THREE
from suites.saved.plans import BOOLEANS
from suites.saved.sources import CONTEXT_NOTE, HAS, HOOKS
from suites.tensors import leaf


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
    where="there is no checkpoint",
    see="modes.checkpoint.kept_for_ever",
    source=f'{HOOKS} "the return value of ``pack_hook`` cannot hold a reference to the input tensor"',
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
    "saved.freed.hooks",
    says="The hooks of saved_tensors_hooks live on after the block, until the graph lets go of what they packed.",
    where="nothing else holds them",
    see="saved.freed.released",
    source="measured",
    asked="how long is unpack hook kept alive after with block closure of pack hook holds buffer memory",
    needs=HAS,
    value="until a pass",
    wrong={"the block": "the block", "for ever": "for ever"},
    witness={"graphs": 1},
)
@given(graphs=UP_TO_THREE)
def test_hooks(subject: Subject, graphs: int) -> None:
    import weakref

    import torch

    class Copies:
        """A pack or unpack hook that can be watched."""

        def __call__(self, tensor: Any) -> Any:
            return tensor.detach()

    pair = [Copies(), Copies()]
    alive = [weakref.ref(hook) for hook in pair]
    with torch.autograd.graph.saved_tensors_hooks(*pair):
        products = [leaf(2) * leaf(3) for _ in range(graphs)]
    pair.clear()
    for left in range(graphs, 0, -1):
        assert [hook() is not None for hook in alive] == [subject.value != "the block"] * 2
        products[left - 1].backward()
    assert [hook() is not None for hook in alive] == [subject.value == "for ever"] * 2
