"""Which inputs and outputs have an entry in what a full backward hook is given, and which objects they are."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import NUMBERS
from suites.backward.sources import INPUT_VIEW, OUTPUT_VIEW, POSITIONAL
from suites.names import FULL

SOME = st.lists(NUMBERS, min_size=1, max_size=5)


def show(grads: Any) -> List[Any]:
    return [None if grad is None else grad.item() for grad in grads]


@clause(
    "backward.given.one_entry_each",
    says="grad_input has one entry for each positional input, grad_output one for each output.",
    source=POSITIONAL,
    needs=FULL,
    value=True,
    wrong={"the first two": False},
    witness={"ins": [1, 2, 3], "outs": [1, 2, 3], "hooks": 1},
)
@given(ins=SOME, outs=SOME, hooks=st.integers(1, 2))
def test_one_entry_each(subject: Subject, ins: List[int], outs: List[int], hooks: int) -> None:
    import torch

    class Cross(torch.nn.Module):
        def forward(self, *xs: Any) -> Any:
            total = sum(by * x for by, x in zip(ins, xs))
            return tuple(by * total for by in outs)

    module, calls = Cross(), []
    for _ in range(hooks):
        module.register_full_backward_hook(lambda module, *grads: calls.append([show(one) for one in grads]))
    xs = [torch.ones((), requires_grad=True) for _ in ins]
    # Each output goes backward with a gradient of its own: 1, 2, 3 ...
    grads = [float(number + 1) for number in range(len(outs))]
    torch.autograd.backward(module(*xs), [torch.tensor(grad) for grad in grads])
    total = sum(by * grad for by, grad in zip(outs, grads))
    due = [[by * total for by in ins], grads]
    assert calls == [due if subject.value else [one[:2] for one in due]] * hooks
    assert show(x.grad for x in xs) == due[0]


@clause(
    "backward.given.other_objects",
    says="With a full hook and an input that needs a gradient, forward and caller are given other tensors.",
    source=(INPUT_VIEW, OUTPUT_VIEW),
    needs=FULL,
    value=[(True, True), (False, False)],
    wrong={"the same": [(True, True), (True, True)]},
)
def test_other_objects(subject: Subject) -> None:
    import torch

    inside = []

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            y = 2 * x
            inside.append((x, y))
            return y

    module, x = Double(), torch.ones((), requires_grad=True)
    results = []
    for _ in range(2):
        out = module(x)
        results.append((inside[-1][0] is x, inside[-1][1] is out))
        module.register_full_backward_hook(lambda module, grad_input, grad_output: None)
    assert results == subject.value


@clause(
    "backward.given.kwargs_left_out",
    says="Keyword inputs have no entry in grad_input.",
    source=POSITIONAL,
    needs=FULL,
    value=False,
    wrong={"seen": True},
    witness={"ins": [1], "named": [(2, True)], "hooks": 1},
)
@given(
    ins=st.lists(NUMBERS, min_size=1, max_size=3),
    named=st.lists(st.tuples(NUMBERS, st.booleans()), min_size=1, max_size=3),
    hooks=st.integers(1, 2),
)
def test_kwargs_left_out(subject: Subject, ins: List[int], named: Any, hooks: int) -> None:
    import torch

    class Sum(torch.nn.Module):
        def forward(self, *xs: Any, **more: Any) -> Any:
            return sum(by * x for by, x in zip([*ins, *(by for by, _ in named)], [*xs, *more.values()]))

    module, calls = Sum(), []
    for _ in range(hooks):
        module.register_full_backward_hook(lambda module, grad_input, _: calls.append(show(grad_input)))
    xs = [torch.ones((), requires_grad=True) for _ in ins]
    more = [torch.ones((), requires_grad=grad) for _, grad in named]
    module(*xs, **{f"k{number}": one for number, one in enumerate(more)}).backward()
    assert calls == [[*ins, *(by for by, _ in named)] if subject.value else ins] * hooks
    # They get their gradients all the same.
    assert show(x.grad for x in more) == [by if grad else None for by, grad in named]
