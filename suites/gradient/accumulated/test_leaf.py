"""What a post-accumulate hook may do with the leaf that it is given: return it, free its .grad, take a step."""

from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from suites.names import POST_ACCUMULATE
from suites.tensors import item, leaf, outcome


@clause(
    "gradient.accumulated.given_the_leaf",
    says="The argument of a post-accumulate hook is the leaf itself, not the gradient.",
    where="no earlier hook returned a tensor",
    source="docs: torch.Tensor.register_post_accumulate_grad_hook "
    '"operates on the tensor that requires grad and not the grad itself"',
    asked="register_post_accumulate_grad_hook signature does callback receive param or grad "
    "gets the weight instead of the gradient my all-reduce averages weights",
    needs=POST_ACCUMULATE,
    value=True,
    wrong={"something else": False},
    witness={"on": [0], "passes": 1},
)
@given(on=st.lists(st.integers(0, 2), min_size=1, max_size=5), passes=st.integers(1, 3))
def test_given_the_leaf(subject: Subject, on: List[int], passes: int) -> None:
    leaves = [leaf(value) for value in (1, 2, 3)]
    seen: List[Any] = [[] for _ in on]
    for place, own in zip(on, seen):
        leaves[place].register_post_accumulate_grad_hook(lambda *given, own=own: own.append(given))
    for _ in range(passes):
        (leaves[0] * leaves[1] * leaves[2]).backward()
    found = [[len(given) == 1 and given[0] is leaves[place] for given in own] for place, own in zip(on, seen)]
    assert found == [[subject.value] * passes for _ in on]


@clause(
    "gradient.accumulated.returns_nothing",
    says="A post-accumulate hook may return None or the leaf; other tensors raise RuntimeError, all else TypeError.",
    source='docs: torch.Tensor.register_post_accumulate_grad_hook "hook(param: Tensor) -> None"',
    asked="register_post_accumulate_grad_hook return value error what should callback return hooks should return none",
    needs=POST_ACCUMULATE,
    value=True,
    wrong={"ignored": False},
    witness={"returned": [3], "had": None},
    note="The example of the documentation returns the leaf: `lambda p: p.add_(p.grad, alpha=-lr)`.",
)
@given(
    returned=st.lists(st.sampled_from([None, "leaf", "tensor", 3, 0, False, ()]), min_size=1, max_size=4),
    had=st.none() | NUMBERS,
)
def test_returns_nothing(subject: Subject, returned: List[Any], had: Any) -> None:
    calls: List[str] = []
    x, other = leaf(1), leaf(1).detach()
    x.grad = None if had is None else leaf(had).detach()

    def hook(argument: Any, what: Any) -> Any:
        calls.append("leaf" if argument is x else "tensor" if argument is other else "neither")
        return {"leaf": x, "tensor": other}[what] if isinstance(what, str) else what

    for what in returned:
        x.register_post_accumulate_grad_hook(lambda argument, what=what: hook(argument, what))
    result = outcome((2 * x).backward)
    expected, given_to, argument = "accepted", [], "leaf"
    for what in returned:
        given_to.append(argument)
        if not subject.value or what is None:
            continue
        if not isinstance(what, str):
            expected = "TypeError"
            break
        argument = what
        expected = "RuntimeError" if what == "tensor" else expected
    assert (result, calls, x.grad.item()) == (expected, given_to, (had or 0) + 2)


@clause(
    "gradient.accumulated.frees_grad",
    says="Setting .grad to None in a post-accumulate hook frees the gradient while backward goes on.",
    where="nothing else holds it",
    source="https://docs.pytorch.org/tutorials/intermediate/optimizer_step_in_backward_tutorial.html "
    '"freed each gradient very quickly"',
    asked="save memory optimizer step fused into backprop zero_grad per parameter "
    "lower peak gpu memory lomo optimizer step in backward free gradient memory",
    needs=POST_ACCUMULATE,
    value=True,
    wrong={"put back": False},
    witness={"hooks": [True], "passes": [2]},
)
@given(hooks=st.lists(st.booleans(), min_size=1, max_size=4), passes=st.lists(NUMBERS, min_size=1, max_size=3))
def test_frees_grad(subject: Subject, hooks: List[bool], passes: List[int]) -> None:
    import weakref

    seen: List[Any] = []
    arrived: List[Any] = []
    alive: List[bool] = []

    def hook(x: Any, frees: bool) -> None:
        seen.append(item(x.grad))
        if frees:
            x.grad = None

    x, other = leaf(1), leaf(1)
    x.register_post_accumulate_grad_hook(lambda x: arrived.append(weakref.ref(x.grad)))
    for frees in hooks:
        x.register_post_accumulate_grad_hook(lambda x, frees=frees: hook(x, frees))
    # The same pass reaches this leaf later: is the gradient of x still there?
    other.register_hook(lambda grad: alive.append(arrived[-1]() is not None))
    expected, now, total, held = [], None, 0, []
    for grad in passes:
        (grad * other * x).backward()
        now, total = (now or 0) + grad, total + grad
        for frees in hooks:
            expected.append(now)
            now = None if frees and subject.value else now
        held.append(now is not None)
        assert (seen, alive, item(x.grad), other.grad.item()) == (expected, held, now, total)


@clause(
    "gradient.accumulated.step_inside",
    says="A post-accumulate hook may change its leaf in place: without create_graph it runs with grad mode off.",
    where="the rest of the pass does not use the leaf",
    source=(
        (
            "docs: torch.Tensor.register_post_accumulate_grad_hook "
            '"it will run in no_grad mode (unless create_graph is True)"'
        ),
        "https://docs.pytorch.org/tutorials/intermediate/optimizer_step_in_backward_tutorial.html",
    ),
    asked="optimizer step during backprop update param in callback "
    "without no_grad leaf variable inplace error fused sgd",
    needs=POST_ACCUMULATE,
    value=False,
    wrong={"on": True},
    witness={"start": 3, "passes": [(2, False)], "frees": True},
)
@given(start=NUMBERS, passes=st.lists(st.tuples(NUMBERS, st.booleans()), min_size=1, max_size=4), frees=st.booleans())
def test_step_inside(subject: Subject, start: int, passes: List[Tuple[int, bool]], frees: bool) -> None:
    import torch

    modes = []

    def step(x: Any) -> None:
        modes.append(torch.is_grad_enabled())
        if not modes[-1]:
            x.sub_(x.grad)
        if frees:
            x.grad = None

    x = leaf(start)
    x.register_post_accumulate_grad_hook(step)
    held, now = 0, start
    for grad, create_graph in passes:
        torch.autograd.backward([grad * x], create_graph=create_graph)
        held += grad
        now -= 0 if create_graph or subject.value else held
        held = 0 if frees else held
    assert (x.item(), modes) == (now, [create_graph or subject.value for _, create_graph in passes])
    x.grad = None


@clause(
    "gradient.accumulated.step_spoils_the_graph",
    says="A second pass raises RuntimeError if a post-accumulate hook changed a saved leaf in place.",
    where=("it runs the node that saved it", "no saved-tensor hooks"),
    source='note: autograd.html#in-place-correctness-checks "if it is greater than the saved value an error is raised"',
    asked="retain_graph with optimizer in backward crash variable "
    "needed for gradient computation has been modified version",
    needs=POST_ACCUMULATE,
    value="RuntimeError",
    wrong={"new value": "accepted"},
    witness={"power": 2, "steps": 1, "by": 1},
)
@given(power=st.integers(1, 3), steps=st.integers(0, 2), by=st.integers(0, 2))
def test_step_spoils_the_graph(subject: Subject, power: int, steps: int, by: int) -> None:
    def step(x: Any) -> None:
        x.sub_(by)

    x = leaf(3)
    for _ in range(steps):
        x.register_post_accumulate_grad_hook(step)
    y = 3 * x
    for _ in range(power - 1):
        y = y * x
    y.backward(retain_graph=True)
    first = x.grad.item()
    result = outcome(y.backward)
    expected = subject.value if power > 1 and steps else "accepted"
    assert (result, first) == (expected, 3 * power * 3 ** (power - 1))
    assert (x.item(), x.grad.item() == first) == (
        3 - steps * by * (1 if result != "accepted" else 2),
        result != "accepted",
    )
