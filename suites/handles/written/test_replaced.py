"""Hooks that replace a value by accident: what a lambda evaluates to is what the hook returns."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.handles.written.ways import UNSEEN, ends
from suites.hooking import echo, raised
from suites.names import POST_ACCUMULATE
from suites.tensors import item, leaf

FORWARD, PRE, TENSOR = "register_forward_hook", "register_forward_pre_hook", "register_hook"
FULL, FULL_PRE, LEGACY = (
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
    "register_backward_hook",
)
VALUES = st.lists(st.integers(-9, 9), min_size=2, max_size=4, unique=True)


@each(
    Row(
        "handles.written.setdefault_output",
        "A forward hook that returns kept.setdefault(0, output) makes each call return the first call's output.",
        "measured",
        asked="forward hook lambda dict setdefault saves activation but output never changes after first batch",
        about=FORWARD,
        device="none",
        kind="forward",
        value="first",
        wrong={"ignored": "own"},
        witness={"values": [2, 3]},
    ),
    Row(
        "handles.written.setdefault_input",
        "A forward pre-hook that returns kept.setdefault(0, args) gives each forward the first call's input.",
        "measured",
        asked="pre hook lambda dict setdefault model sees same input every time first batch",
        about=PRE,
        device="none",
        kind="forward_pre",
        value="first",
        wrong={"ignored": "own"},
        witness={"values": [2, 3]},
    ),
    values=lambda row: VALUES,
)
def first_call(subject: Subject, values: List[int], *, row: Any) -> None:
    module, kept = echo(), {}
    getattr(module, f"register_{row.kind}_hook")(lambda module, *given: kept.setdefault(0, given[-1]))
    found = [module(value) for value in values]
    first = subject.value == "first"
    assert found == [((values[0] if first else value,), {}) for value in values]


@each(
    Row(
        "handles.written.setdefault_gradient",
        "A tensor hook that returns kept.setdefault(0, grad) replaces each later gradient by the first one.",
        "measured",
        where="all have one shape and dtype",
        asked="register_hook lambda setdefault gradient same every step stored grad wrong gradients",
        about=TENSOR,
        kind="tensor",
        value="first",
        wrong={"ignored": "own"},
        witness={"values": [2, 3]},
    ),
    Row(
        "handles.written.setdefault_grad_input",
        "A full backward hook that returns kept.setdefault(0, grad_input) gives later inputs the first's gradients.",
        "measured",
        where="all have one shape and dtype",
        asked="backward hook lambda setdefault grad_input same every step stored gradient",
        needs="torch.nn.Module.register_full_backward_hook",
        about=(FULL, FULL_PRE),
        kind="full_backward",
        value="first",
        wrong={"ignored": "own"},
        witness={"values": [2, 3]},
    ),
    values=lambda row: VALUES,
)
def first_gradient(subject: Subject, values: List[int], *, row: Any) -> None:
    import torch

    x, kept, found = leaf(1), {}, []
    module = torch.nn.Identity()
    if row.kind == "tensor":
        x.register_hook(lambda grad: kept.setdefault(0, grad))
    else:
        module.register_full_backward_hook(lambda module, grad_input, grad_output: kept.setdefault(0, grad_input))
    for value in values:
        x.grad = None
        (value * module(x)).backward()
        found.append(x.grad.item())
    assert found == ([values[0]] * len(values) if subject.value == "first" else values)


@each(
    Row(
        "handles.written.pop_output",
        "A forward hook that returns kept.pop() replaces the output by what it takes out of the list.",
        "measured",
        where="that is not None",
        asked="lambda hook pops from stack list module output replaced by popped item",
        about=FORWARD,
        kind="forward",
        value="popped",
        wrong={"ignored": "own"},
        witness={"kept": [2, 3]},
    ),
    Row(
        "handles.written.pop_gradient",
        "A tensor hook that returns kept.pop() replaces the gradient by the tensor that it takes out of the list.",
        "measured",
        where="it has the shape, dtype and device of the gradient",
        asked="register_hook lambda activations.pop() gradient wrong no error backward stack pop",
        about=TENSOR,
        kind="tensor",
        value="popped",
        wrong={"ignored": "own"},
        witness={"kept": [2, 3]},
    ),
    kept=lambda row: st.lists(st.integers(2, 9), min_size=1, max_size=4),
)
def popped(subject: Subject, kept: List[int], *, row: Any) -> None:
    found, queue = [], [leaf(one).detach() for one in kept]
    for _ in kept:
        if row.kind == "forward":
            module = echo()
            module.register_forward_hook(lambda *given: queue.pop())
            out = module(leaf(1))
            found.append(item(out if subject.value == "popped" else out[0][0]))
        else:
            x = leaf(1)
            x.register_hook(lambda grad: queue.pop())
            x.backward()
            found.append(item(x.grad))
    assert found == (kept[::-1] if subject.value == "popped" else [1] * len(kept))


@clause(
    "handles.written.looks_only",
    says="A hook that is a lambda of print(...) or of the append(...) of a list returns None, so it replaces nothing.",
    where="it is no pack, unpack or comm hook",
    source="measured",
    asked="is lambda with append or print safe as hook does it change output or gradient",
    about=(FORWARD, PRE, TENSOR, FULL, FULL_PRE, LEGACY),
    value=(6, 3, 2),
    wrong={"replaces": (2, 3, 2)},
    witness={"kinds": ["forward", "forward_pre"]},
)
@given(kinds=st.lists(st.sampled_from(["forward", "forward_pre", "tensor"]), min_size=1, max_size=3))
def test_looks_only(subject: Subject, kinds: List[str]) -> None:
    module, x, kept = make.Linear(1, 1, bias=False), make.ones((1,), requires_grad=True), []
    x.data.fill_(2)
    module.weight.data.fill_(3)
    for kind in kinds:
        if kind == "tensor":
            x.register_hook(kept.append)
        else:
            getattr(module, f"register_{kind}_hook")(lambda *given: kept.append(given))
    out = module(x)
    out.backward()
    assert (out.item(), x.grad.item(), module.weight.grad.item()) == subject.value
    assert len(kept) == len(kinds)
    found = ends(lambda *given: print(end=""))
    assert found == dict.fromkeys(found, "goes on")


@each(
    Row(
        "handles.written.detached_output",
        "If a forward hook is `lambda m, a, out: (kept := out.detach())`, no gradient goes back through m.",
        "measured",
        asked="walrus in lambda forward hook saves detached activation and loss has no grad parameters grad None",
        about=FORWARD,
        kind="forward",
        value=(0, 0),
        wrong={"ignored": (3, 2)},
    ),
    Row(
        "handles.written.detached_input",
        "If a forward pre-hook is `lambda m, args: (kept := args[0].detach())`, m gives its input no gradient.",
        "measured",
        asked="walrus in pre hook lambda detached input gradient of earlier layers missing",
        about=PRE,
        kind="forward_pre",
        value=(0, 2),
        wrong={"ignored": (3, 2)},
    ),
)
def detached(subject: Subject, *, row: Any) -> None:
    module, x = make.Linear(1, 1, bias=False), make.ones((1,), requires_grad=True)
    x.data.fill_(2)
    module.weight.data.fill_(3)
    if row.kind == "forward":
        module.register_forward_hook(lambda module, args, out: out.detach())
    else:
        module.register_forward_pre_hook(lambda module, args: args[0].detach())
    out = module(x)
    assert out.item() == 6
    (out + 0 * x + 0 * module.weight.sum()).backward()
    assert (x.grad.item(), module.weight.grad.item()) == subject.value


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
    found = ends(lambda *given: returned, UNSEEN)
    assert found
    assert found == dict.fromkeys(found, subject.value)


@clause(
    "handles.written.clamp_accumulated",
    says="The post-accumulate hook `lambda p: p.grad.clamp_(-1, 1)` clamps, and ends backward() in RuntimeError.",
    see="gradient.accumulated.returns_nothing",
    source="measured",
    asked="post accumulate grad hook lambda clip in place RuntimeError hooks should not return",
    needs=POST_ACCUMULATE,
    value=("RuntimeError", 1),
    wrong={"accepted": ("none", 1), "not changed": ("RuntimeError", 5)},
    witness={"value": 5},
)
@given(value=st.integers(2, 9))
def test_clamp_accumulated(subject: Subject, value: int) -> None:
    x = leaf(1)
    x.register_post_accumulate_grad_hook(lambda p: p.grad.clamp_(-1, 1))
    assert (raised((value * x).backward, RuntimeError), x.grad.item()) == subject.value
