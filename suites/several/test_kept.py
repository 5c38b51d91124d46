"""What becomes of hooks of several tensors where a module is converted, loaded or trained on."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.several.sources import DOCS, HAS_ALL
from suites.tensors import item

ABOUT = "register_multi_grad_hook"


@clause(
    "several.kept.converted",
    says='After m.double() a multi-grad hook of mode "all" on parameters of m is not called for later forwards.',
    where=("it has no other tensors", "this changes their dtype"),
    source=DOCS,
    asked="multi grad hook stops firing after model.half() model.to(dtype) or moving to the gpu",
    docs="contradicts",
    needs=HAS_ALL,
    value="not called",
    wrong={"called": "called"},
    witness={"layers": 1, "before": 0, "bias": False},
)
@given(layers=st.integers(1, 3), before=st.integers(0, 1), bias=st.booleans())
def test_converted(subject: Subject, layers: int, before: int, bias: bool) -> None:
    """Torch forgets the node that accumulates into a parameter, which the hook asks for, and makes another one."""
    import torch

    m = torch.nn.Sequential(*(make.Linear(1, 1, bias) for _ in range(layers)))
    seen: List[Any] = []
    torch.autograd.graph.register_multi_grad_hook(list(m.parameters()), lambda grads: seen.append(grads[0].dtype))
    for _ in range(before):
        m(make.ones(1, 1)).sum().backward()
    m.zero_grad()
    m.double()
    m(make.ones(1, 1, dtype=torch.float64)).sum().backward()
    after = [torch.float64] if subject.value == "called" else []
    assert seen == [torch.float32] * before + after


@clause(
    "several.kept.kept",
    says="After an optimizer step, load_state_dict and zero_grad a multi-grad hook on parameters is called as before.",
    where="each stays the same object, dtype and device",
    source="measured",
    asked="does the callback on parameters survive optimizer step and loading a checkpoint file",
    needs=HAS_ALL,
    value="called",
    wrong={"not called": "not called"},
    witness={"changes": ["step"]},
)
@given(changes=st.lists(st.sampled_from(("step", "load", "zero", "data")), min_size=1, max_size=4))
def test_kept(subject: Subject, changes: List[str]) -> None:
    import torch

    m = make.Linear(1, 1)
    optimizer = torch.optim.SGD(m.parameters(), lr=1.0)
    seen: List[Any] = []
    torch.autograd.graph.register_multi_grad_hook(
        list(m.parameters()), lambda grads: seen.append([item(grad) for grad in grads])
    )
    for change in [*changes, ""]:
        m(make.ones(1, 1)).sum().backward()
        if change == "step":
            optimizer.step()
        elif change == "load":
            m.load_state_dict(make.Linear(1, 1).state_dict())
        elif change == "data":
            m.weight.data = make.zeros(1, 1)
        elif change == "zero":
            m.zero_grad()
    times = len(changes) + 1 if subject.value == "called" else 1
    assert seen == [[[[1.0]], [1.0]]] * times
