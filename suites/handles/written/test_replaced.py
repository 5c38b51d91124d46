"""Hooks that replace a value by accident: what a lambda evaluates to is what the hook returns."""

from typing import Any, Callable, Dict, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.handles.written.doors import DOORS, OF_GRADIENT, OF_INPUT, OF_OUTPUT, UNSEEN, Scene, ends, goes_on, here
from suites.hooking import raised
from suites.names import POST_ACCUMULATE

AROUND_FORWARD = ("register_forward_hook", "register_module_forward_hook")
IN_FRONT = ("register_forward_pre_hook", "register_module_forward_pre_hook")
GRADIENTS = (
    "register_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
    "register_backward_hook",
)
WRITE_DEF = "write a def that returns nothing"
VALUES = st.lists(st.integers(-9, 9), min_size=2, max_size=4, unique=True)


def plain(value: Any) -> Any:
    """The number in a tensor, in a tuple of one, or itself."""
    value = value[0] if isinstance(value, tuple) else value
    return value.item() if hasattr(value, "item") else value


def keeping(at: int, kept: Dict[int, Any]) -> Callable[..., Any]:
    """A hook that returns what it was given first."""
    return lambda *given: kept.setdefault(0, given[at])


@each(
    Row(
        "handles.written.setdefault_output",
        "A forward hook that returns kept.setdefault(0, output) makes each call return the first call's output.",
        "measured",
        asked="forward hook lambda dict setdefault saves activation but output never changes after first batch",
        about=AROUND_FORWARD,
        instead=WRITE_DEF,
        device="none",
        doors=OF_OUTPUT,
        value="first",
        wrong={"ignored": "own"},
        witness={"values": [2, 3]},
    ),
    Row(
        "handles.written.setdefault_input",
        "A forward pre-hook that returns kept.setdefault(0, args) gives each forward the first call's input.",
        "measured",
        asked="pre hook lambda dict setdefault model sees same input every time first batch",
        about=IN_FRONT,
        instead=WRITE_DEF,
        device="none",
        doors=OF_INPUT,
        value="first",
        wrong={"ignored": "own"},
        witness={"values": [2, 3]},
    ),
    Row(
        "handles.written.setdefault_gradient",
        "A tensor, node or backward hook that returns kept.setdefault(0, grad) replaces later gradients by the first.",
        "measured",
        where="all have one shape and dtype",
        asked="backward hook lambda setdefault gradient same every step wrong gradients stored grad",
        about=GRADIENTS,
        instead=WRITE_DEF,
        doors=OF_GRADIENT,
        value="first",
        wrong={"ignored": "own"},
        witness={"values": [2, 3]},
    ),
    values=lambda row: VALUES,
)
def kept_first(subject: Subject, values: List[int], *, row: Any) -> None:
    found = {}
    for name in here(row.doors):
        found[name] = [*map(plain, goes_on(name, keeping(DOORS[name].place, {}), values))]
    first = subject.value == "first"
    assert found == {name: values[:1] * len(values) if first else values for name in found}
    assert found


@each(
    Row(
        "handles.written.pop_output",
        "A forward hook that returns kept.pop() replaces the output by what it takes out of the list.",
        "measured",
        asked="lambda hook pops from stack list module output replaced by popped item",
        about=AROUND_FORWARD,
        instead=WRITE_DEF,
        device="none",
        doors=OF_OUTPUT,
        value="popped",
        wrong={"ignored": "own"},
        witness={"values": [2, 3], "kept": [5, 7]},
    ),
    Row(
        "handles.written.pop_gradient",
        "A tensor hook that returns kept.pop() replaces the gradient by the tensor that it takes out of the list.",
        "measured",
        where="it has the shape and dtype of the gradient",
        asked="register_hook lambda activations.pop() gradient wrong no error backward stack pop",
        about="register_hook",
        instead=WRITE_DEF,
        doors=("leaf", "tensor"),
        value="popped",
        wrong={"ignored": "own"},
        witness={"values": [2, 3], "kept": [5, 7]},
    ),
    values=lambda row: st.lists(st.integers(-9, 9), min_size=2, max_size=2),
    kept=lambda row: st.lists(st.integers(10, 19), min_size=2, max_size=2),
)
def popped(subject: Subject, values: List[int], kept: List[int], *, row: Any) -> None:
    for name in row.doors:
        queue: List[Any] = [make.tensor(float(one)) for one in kept]
        found = [*map(plain, goes_on(name, lambda *given, queue=queue: queue.pop(), values))]
        assert found == (kept[::-1] if subject.value == "popped" else values)
        assert queue == []


@clause(
    "handles.written.looks_only",
    says="A hook that is a lambda of print(...) or kept.append(...) returns None and replaces nothing.",
    where="it is no pack or unpack hook",
    source="measured",
    asked="is lambda with append or print safe as hook does it change output or gradient",
    about=(*AROUND_FORWARD, *IN_FRONT, *GRADIENTS, "register_post_accumulate_grad_hook", "register_step_pre_hook"),
    value=True,
    wrong={"replaces": False},
    witness={"values": [2, 3]},
)
@given(values=VALUES)
def test_looks_only(subject: Subject, values: List[int]) -> None:
    for name in here([*OF_OUTPUT, *OF_INPUT, *OF_GRADIENT]):
        kept: List[Any] = []
        found = [*map(plain, goes_on(name, lambda *given, kept=kept: kept.append(given), values))]
        assert (found == values) is subject.value
        assert len(kept) == len(values)
    for name in here([name for name in DOORS if name not in ("pack", "unpack")]):
        assert (ends(name, lambda *given: print(end="")) == "goes on") is subject.value


@each(
    Row(
        "handles.written.detached_output",
        "If a forward hook is `lambda m, a, out: (kept := out.detach())`, no gradient goes back through m.",
        "measured",
        asked="walrus in lambda forward hook saves detached activation and loss has no grad parameters grad None",
        about=AROUND_FORWARD,
        instead=WRITE_DEF,
        doors=OF_OUTPUT,
        value=(None, None),
        wrong={"ignored": (3, 2)},
        witness={"x": 2, "w": 3},
    ),
    Row(
        "handles.written.detached_input",
        "If a forward pre-hook is `lambda m, args: (kept := args[0].detach())`, m gives its input no gradient.",
        "measured",
        asked="walrus in pre hook lambda detached input gradient of earlier layers missing",
        about=IN_FRONT,
        instead=WRITE_DEF,
        doors=OF_INPUT,
        value=(None, 2),
        wrong={"ignored": (3, 2)},
        witness={"x": 2, "w": 3},
    ),
    x=lambda row: st.just(2),
    w=lambda row: st.just(3),
)
def detached(subject: Subject, x: int, w: int, *, row: Any) -> None:
    for name in row.doors:
        scene, at = Scene(), DOORS[name].place
        scene.x.data.fill_(x)
        scene.weight.data.fill_(w)

        def hook(*given: Any, at: int = at) -> Any:
            seen = given[at]
            return (seen[0] if isinstance(seen, tuple) else seen).detach()

        with scene.registering(name, hook):
            out = scene.call(scene.x)
        assert out.item() == x * w
        if out.requires_grad:
            out.backward()
        assert (plain(scene.x.grad), plain(scene.weight.grad)) == subject.value


@clause(
    "handles.written.unseen",
    says="A multi-grad, step post-, state_dict pre- or module load pre-hook may return anything: it is ignored.",
    see=("optimizer.returns.post_ignored", "several.handle.returns", "state.load.returns", "state.save.pre_returns"),
    source="measured",
    asked="lambda hook returns a value by accident is the return value ignored",
    needs="torch.autograd.graph.register_multi_grad_hook",
    about=("register_multi_grad_hook", "register_step_post_hook", "register_state_dict_pre_hook"),
    value="goes on",
    wrong={"refused": "TypeError"},
    witness={"returned": True},
)
@given(returned=st.sampled_from([True, False, 0, 5, "done", [], [1], (1,), {}]))
def test_unseen(subject: Subject, returned: Any) -> None:
    doors = here(UNSEEN)
    assert [ends(name, lambda *given: returned) for name in doors] == [subject.value] * len(doors)


@clause(
    "handles.written.clamp_accumulated",
    says="The post-accumulate hook `lambda p: p.grad.clamp_(-1, 1)` clamps, and ends backward() in RuntimeError.",
    see="gradient.accumulated.returns_nothing",
    source="measured",
    asked="post accumulate grad hook lambda clip in place RuntimeError hooks should not return",
    needs=POST_ACCUMULATE,
    instead=WRITE_DEF,
    value=("RuntimeError", 1),
    wrong={"accepted": ("none", 1), "not changed": ("RuntimeError", 5)},
    witness={"value": 5},
)
@given(value=st.integers(2, 9))
def test_clamp_accumulated(subject: Subject, value: int) -> None:
    scene = Scene()
    scene.weight.register_post_accumulate_grad_hook(lambda p: p.grad.clamp_(-1, 1))
    error = raised((value * scene.weight).backward, RuntimeError)
    assert (error, scene.weight.grad.item()) == subject.value
