"""Which forward call a call of a full backward hook belongs to: what a stack, a dict by module and a closure say.

The outputs of the calls have gradients of their own, so that the gradient tells the call.
"""

from typing import Any, Callable, Dict, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.hooking import SOME, UP_TO_TWO
from suites.modes.sources import EARLY, FORMS
from suites.names import FULL, UNDER_NO_GRAD
from suites.tensors import outcome

HOOKED = ("register_forward_hook", "register_full_backward_hook")
REGISTERED = ("register_hook", "register_forward_hook")
ASKED = "which forward call does backward hook belong to layer called several times "
STACK = ASKED + "push in forward hook pop in backward hook activation stack wrong activation "
INSTEAD = "note it in a tensor hook that the forward hook registers on each output that requires grad."
FACTORS = st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True)


def layer(weight: int = 2) -> Any:
    """The layer x -> weight * x."""
    import torch

    made = make.Linear(1, 1, bias=False)
    torch.nn.init.constant_(made.weight, weight)
    return made


def start() -> Any:
    return make.tensor([3.0], requires_grad=True)


class Noted:
    """A layer that counts its forward calls: one function notes the number, another reads it in each backward call.

    `said` has a pair for each call of the full backward hook: the gradient of the output, and the number that was read.
    """

    def __init__(self, note: Callable[[int], Any], read: Callable[[], Any]) -> None:
        self.layer, self.count, self.note = layer(), 0, note
        self.said: List[Tuple[float, Any]] = []
        self.layer.register_forward_hook(self.after)
        self.layer.register_full_backward_hook(
            lambda module, grad_input, grad_output: self.said.append((grad_output[0].item(), read()))
        )

    def after(self, module: Any, args: Any, output: Any) -> None:
        self.count += 1
        self.note(self.count)


def stacked() -> Tuple[Noted, List[int]]:
    """The layer whose forward hook pushes and whose full backward hook pops, and the stack."""
    stack: List[int] = []
    return Noted(stack.append, stack.pop), stack


def closing(said: List[Tuple[float, int]]) -> Any:
    """The layer whose forward hook registers a tensor hook for each call: `said` has its gradients, and the call."""
    made, outputs = layer(), []

    def after(module: Any, args: Any, output: Any) -> None:
        outputs.append(None)
        number = len(outputs)
        output.register_hook(lambda grad: said.append((grad.item(), number)))

    made.register_forward_hook(after)
    return made


def loss_of(module: Any, factors: List[int], chain: bool) -> Tuple[Any, List[int]]:
    """The sum of outputs times these factors, each call on the output before or on a start; gradients of outputs."""
    x, loss = start(), 0
    for factor in factors:
        out = module(x)
        loss, x = loss + factor * out, (out if chain else start())
    grads: List[int] = []
    for factor in reversed(factors):
        grads.insert(0, factor + (2 * grads[0] if chain and grads else 0))
    return loss, grads


def checkpointed(module: Any, reentrant: bool = False) -> Any:
    """The module in a checkpoint, with a layer behind it that changes nothing and saves its input."""
    from torch.utils.checkpoint import checkpoint

    behind = layer(1)
    return lambda x: checkpoint(lambda x: behind(module(x)), x, use_reentrant=reentrant)


@clause(
    "backward.pairing.stack",
    says="A full backward hook that pops from a stack gets what its own call's forward hook pushed.",
    where=("one backward() runs it for each call", "calls do not nest"),
    see=("backward.pairing.stack_later", "backward.pairing.stack_kept_graph", "backward.pairing.stack_checkpoint"),
    source="measured",
    asked=STACK,
    needs=FULL,
    about=HOOKED,
    value=True,
    wrong={"in the order of the calls": False},
    witness={"factors": [3, 5], "chain": False, "before": 0, "steps": 1},
)
@given(factors=FACTORS, chain=st.booleans(), before=UP_TO_TWO, steps=SOME)
def test_stack(subject: Subject, factors: List[int], chain: bool, before: int, steps: int) -> None:
    noted, stack = stacked()
    for _ in range(before):
        noted.layer(start())  # What lies below on the stack does no harm.
    for _ in range(steps):
        first = noted.count + 1
        loss, grads = loss_of(noted.layer, factors, chain)
        del noted.said[:]
        loss.backward()
        truth = [(grad, first + place) for place, grad in enumerate(grads)]
        assert noted.said == (truth[::-1] if subject.value else truth)
    assert stack == list(range(1, before + 1))


@clause(
    "backward.pairing.stack_later",
    says="After y = m(x), then m(z), y.backward() makes m's full backward hook pop what m(z) pushed.",
    where=("m's hook runs", "no pass has gone through m(z)"),
    see="backward.pairing.stack_no_grad",
    source="measured",
    asked=STACK + "two losses backward first loss first unused output call outside the loss",
    needs=FULL,
    about=HOOKED,
    value=True,
    wrong={"its own": False},
    witness={"factors": [3, 5], "others": False},
)
@given(factors=FACTORS.filter(lambda factors: len(factors) > 1), others=st.booleans())
def test_stack_later(subject: Subject, factors: List[int], others: bool) -> None:
    noted, _ = stacked()
    losses = [factor * noted.layer(start()) for factor in factors]
    # The first loss alone, or each in the order of the calls.
    for loss in losses if others else losses[:1]:
        loss.backward()
    popped = range(1, len(factors) + 1)[:: -1 if subject.value else 1]
    assert noted.said == list(zip(factors, popped))[: len(factors) if others else 1]


@clause(
    "backward.pairing.stack_no_grad",
    says="After y = m(x), then m(z) under no_grad, m's full backward hook pops in y.backward() what m(z) pushed.",
    where="m's full backward hook runs",
    source=UNDER_NO_GRAD,
    asked=STACK + "evaluation with no_grad between forward and backward",
    matters_if="full_backward ?no_grad",
    instead="push only where output.requires_grad.",
    needs=FULL,
    about=HOOKED,
    readings=by_release(
        "error",
        ("1.10", "what that call pushed", "popped"),
        "A full backward hook that pops gets what a later call under no_grad pushed.",
        ("1.9", "RuntimeError", "RuntimeError"),
        "A call under no_grad of a module with a full backward hook raises RuntimeError.",
        ("", "AttributeError", "AttributeError"),
        "A call under no_grad of a module with a full backward hook raises AttributeError.",
    ),
    witness={"later": 1, "factor": 5},
)
@given(later=SOME, factor=st.integers(1, 9))
def test_stack_no_grad(subject: Subject, later: int, factor: int) -> None:
    import torch

    noted, _ = stacked()
    loss = factor * noted.layer(start())
    with torch.no_grad():
        became = {outcome(lambda: noted.layer(start()), (AttributeError, RuntimeError)) for _ in range(later)}
    assert became == {"accepted" if subject.value == "popped" else subject.value}
    if subject.value == "popped":
        loss.backward()
        assert noted.said == [(factor, 1 + later)]


@clause(
    "backward.pairing.stack_kept_graph",
    says="A full backward hook that pops from a stack raises IndexError where it runs a second time for one call.",
    where="the stack holds nothing else",
    source="measured",
    asked=STACK + "IndexError pop from empty list retain_graph=True backward twice",
    needs=FULL,
    about=HOOKED,
    value="IndexError",
    wrong={"accepted": "accepted"},
    witness={"factors": [3], "chain": False, "create_graph": False},
)
@given(factors=FACTORS, chain=st.booleans(), create_graph=st.booleans())
def test_stack_kept_graph(subject: Subject, factors: List[int], chain: bool, create_graph: bool) -> None:
    import torch

    noted, stack = stacked()
    loss, _ = loss_of(noted.layer, factors, chain)
    torch.autograd.backward(loss, retain_graph=True, create_graph=create_graph)
    assert (len(noted.said), stack) == (len(factors), [])
    assert outcome(loss.backward, (IndexError,)) == subject.value


@clause(
    "backward.pairing.by_module",
    says="In a dict by module that a forward hook fills, a full backward hook finds the module's last call.",
    where=("the hook notes each call", "calls do not nest"),
    source="measured",
    asked=ASKED + "same ReLU used twice backward hook sees only the last activation dict keyed by module overwritten",
    needs=FULL,
    about=HOOKED,
    value=True,
    wrong={"its own": False},
    witness={"factors": [3, 5], "chain": False, "passes": 1, "outside": False},
)
@given(factors=FACTORS, chain=st.booleans(), passes=SOME, outside=st.booleans())
def test_by_module(subject: Subject, factors: List[int], chain: bool, passes: int, outside: bool) -> None:
    last: Dict[Any, int] = {}
    noted = Noted(lambda number: last.update({noted.layer: number}), lambda: last[noted.layer])
    loss, grads = loss_of(noted.layer, factors, chain)
    if outside:
        noted.layer(start())
    for _ in range(passes):
        loss.backward(retain_graph=True)
    truth = [(grad, noted.count if subject.value else place) for place, grad in enumerate(grads, 1)]
    assert noted.said == truth[::-1] * passes


@each(
    Row(
        "backward.pairing.closure",
        "A tensor hook that a forward hook registers on an output gets that call's gradient in each pass over it.",
        "measured",
        where="the output is not changed in place",
        asked=ASKED + "closure in forward hook output.register_hook number of the call",
        about=REGISTERED,
        value=True,
        wrong={"the last call": False},
        witness={"factors": [3, 5], "chain": False, "passes": 1, "outside": False},
        checkpoint=False,
    ),
    Row(
        "backward.pairing.closure_checkpoint",
        "In checkpoint(use_reentrant=False) tensor hooks registered on outputs in the recomputation never run.",
        "measured",
        asked=ASKED + "closure in forward hook output.register_hook recomputed checkpoint number of the call",
        where=("those of the forward do", "no pass in it"),
        needs=FORMS,
        about=REGISTERED,
        value=True,
        wrong={"those of the recomputation": False},
        witness={"factors": [3, 5], "chain": False, "passes": 1, "outside": False},
        checkpoint=True,
    ),
    factors=lambda row: FACTORS,
    chain=lambda row: st.booleans(),
    passes=lambda row: st.integers(1, 1) if row.checkpoint else SOME,
    outside=lambda row: st.booleans(),
)
def closure(subject: Subject, factors: List[int], chain: bool, passes: int, outside: bool, *, row: Any) -> None:
    said: List[Tuple[float, int]] = []
    module = closing(said)
    loss, grads = loss_of(checkpointed(module) if row.checkpoint else module, factors, chain)
    if outside:
        module(start())
    for _ in range(passes):
        loss.backward(retain_graph=not row.checkpoint)
    last = len(factors) + outside
    assert said == [(grad, place if subject.value else last) for place, grad in enumerate(grads, 1)][::-1] * passes


@clause(
    "backward.pairing.stack_checkpoint",
    says="In checkpoint() m's full backward hook pops what the recomputation pushed.",
    where=("in it a trainable nn.Linear comes after each m", "one backward()"),
    see="backward.pairing.stack_early_stop",
    source="measured",
    asked=STACK + "activation checkpointing recompute stack grows memory leak",
    needs=(FULL, FORMS),
    about=HOOKED,
    value=True,
    wrong={"what forward pushed": False},
    witness={"factors": [3, 5], "chain": False, "reentrant": True},
)
@given(factors=FACTORS, chain=st.booleans(), reentrant=st.booleans())
def test_stack_checkpoint(subject: Subject, factors: List[int], chain: bool, reentrant: bool) -> None:
    noted, stack = stacked()
    loss, grads = loss_of(checkpointed(noted.layer, reentrant), factors, chain)
    loss.backward()
    count = len(factors)
    # The checkpoint of the last call is recomputed first.
    popped = range(count + 1, 2 * count + 1) if subject.value else range(count, 0, -1)
    assert noted.said == list(zip(grads[::-1], popped))
    assert stack == (list(range(1, count + 1)) if subject.value else [])


@clause(
    "backward.pairing.stack_early_stop",
    says="In checkpoint(use_reentrant=False) of m(m(x)) m's full backward hook pops the other call's push.",
    where=("m is a trainable nn.Linear", "one pass, hooks push or pop"),
    source=(EARLY, "measured"),
    asked=STACK + "activation checkpointing use_reentrant False early stop stack swapped",
    matters_if="full_backward ?checkpoint ?called_twice",
    instead=INSTEAD,
    needs=(FULL, FORMS),
    about=HOOKED,
    readings=by_release(
        "silent",
        ("2.1", "swapped", [3, 2]),
        "In checkpoint(use_reentrant=False) of m(m(x)) m's full backward hook pops the other call's push.",
        ("", "recomputed", [4, 3]),
        "In checkpoint(use_reentrant=False) of m(m(x)) a full backward hook pops what its call's recomputation pushed.",
    ),
    witness={"factor": 5, "before": 0},
)
@given(factor=st.integers(1, 9), before=UP_TO_TWO)
def test_stack_early_stop(subject: Subject, factor: int, before: int) -> None:
    from torch.utils.checkpoint import checkpoint

    noted, _ = stacked()
    for _ in range(before):
        noted.layer(start())
    loss = factor * checkpoint(lambda x: noted.layer(noted.layer(x)), start(), use_reentrant=False)
    loss.backward()
    assert noted.said == [(grad, before + number) for grad, number in zip((factor, 2 * factor), subject.value)]


@clause(
    "backward.pairing.recursive",
    says="If m calls itself, its full backward hook runs for the inner call first, with that call's gradients.",
    where=("a positional input gets a gradient", "m returns a tensor"),
    source="measured",
    asked=ASKED + "recursive module forward calls itself nested calls same module grad_output order",
    needs=FULL,
    value=True,
    wrong={"the gradients of the outer call first": False},
    witness={"factors": [3, 5], "passes": 1},
)
@given(factors=FACTORS.filter(lambda factors: len(factors) > 1), passes=SOME)
def test_recursive(subject: Subject, factors: List[int], passes: int) -> None:
    import torch

    class Recursive(torch.nn.Module):
        def forward(self, x: Any, factors: List[int]) -> Any:
            first, *rest = factors
            return first * (self(x, rest) if rest else x)

    said: List[Tuple[float, float]] = []
    module = Recursive()
    module.register_full_backward_hook(
        lambda module, grad_input, grad_output: said.append((grad_input[0].item(), grad_output[0].item()))
    )
    loss = module(start(), factors)
    for _ in range(passes):
        loss.backward(retain_graph=True)
    # What comes to the output of each call, the outer one first; all calls have the same input.
    grads = [1]
    for factor in factors:
        grads.append(grads[-1] * factor)
    *outputs, whole = grads
    assert said == [(whole, one) for one in (outputs[::-1] if subject.value else outputs)] * passes
