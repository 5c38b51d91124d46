"""The order among the hooks of one kind: as they were registered, unless `prepend=True` said otherwise."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Plan, Remove, Scale, hooks_of
from fixtures.stages.make import make
from suites.names import FULL, KWARGS, POST_ACCUMULATE, PRE, PREPEND
from suites.shapes import alone, in_line, one_leaf, scale_maybe, wider

#: kind of hook -> what its documentation calls the hooks of that kind.
KINDS = {
    "forward_pre": "forward_pre",
    "forward": "forward",
    "full_backward": "backward",
    "full_backward_pre": "backward_pre",
}
DOCS = 'docs: torch.nn.Module.register_{}_hook "will be fired {} all existing ``{}`` hooks"'
AFTER = {kind: DOCS.format(kind, "after", named) for kind, named in KINDS.items()}
BEFORE = {kind: DOCS.format(kind, "before", named) for kind, named in KINDS.items()}
PREPEND_PULL = "https://github.com/pytorch/pytorch/pull/87370"
NOTE = 'note: autograd.html#backward-hooks-execution "they are executed in the order in which they are registered"'


@st.composite
def on_tensors(draw, kind: str) -> Plan:
    """A leaf module with hooks of one kind on its input, its parameter and, for tensor hooks, its output."""
    targets = ["x0", "m0.weight"] + (["m0>0"] if kind == "tensor" else [])
    hooks = [
        Hook(kind, target, f"h{number}", (Scale(draw(FACTORS)),))
        for number, target in enumerate(draw(st.lists(st.sampled_from(targets), min_size=2, max_size=5)))
    ]
    late = [hook for hook in hooks if hook.on == "m0>0"]
    early = [hook for hook in hooks if hook not in late]
    x0 = Input(draw(NUMBERS), leaf=kind == "post_accumulate" or draw(st.booleans()))
    return Plan(one_leaf(draw), (x0,), (*early, Forward(), *late, Backward((draw(NUMBERS),))))


@each(
    Row(
        "ordering.registration.tensor",
        "The tensor hooks of a tensor that is not changed in place run in the order of their registration.",
        NOTE,
        asked="register_hook twice on one activation or parameter clip and print which goes earlier fifo",
        about="register_hook",
        kind="tensor",
    ),
    Row(
        "ordering.registration.post_accumulate",
        "The post-accumulate-grad hooks of a tensor run in the order of their registration.",
        NOTE,
        asked="several register_post_accumulate_grad_hook on same "
        "parameter clip then optimizer step which is called earlier",
        needs=POST_ACCUMULATE,
        kind="post_accumulate",
    ),
    plan=lambda row: on_tensors(row.kind),
)
def of_a_tensor(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace = subject.holds(plan)
    for target in {hook.on for hook in hooks_of(plan)}:
        own = [hook.label for hook in hooks_of(plan) if hook.on == target]
        assert [label for label in trace.calls() if label in own] == own


@st.composite
def one_module(draw, kind: str, option: str = "prepend") -> Plan:
    """A leaf module with two to five hooks of one kind, some of them registered with the option."""
    hooks = []
    for number, flag in enumerate(draw(st.lists(st.booleans(), min_size=2, max_size=5))):
        hooks.append(Hook(kind, "m0", f"h{number}", scale_maybe(draw), **({option: True} if flag else {})))
    net = alone(draw, "affine")
    call = Forward(draw(NUMBERS) if option == "with_kwargs" else None)
    return Plan(*net, (*hooks, call, Backward((draw(NUMBERS),))))


@each(
    Row(
        "ordering.registration.forward_pre",
        "Without prepend=, the forward pre-hooks of a module run in the order of their registration.",
        AFTER["forward_pre"],
        asked="two input modifying callbacks on one layer which is called earlier "
        "default sequence fifo order of hooks first registered first called",
        draws=lambda: wider(kinds=("forward_pre",), depth=0, least=2),
    ),
    Row(
        "ordering.registration.forward",
        "Without prepend=, the forward hooks of a module run in the order of their registration.",
        AFTER["forward"],
        asked="two activation callbacks on one layer which is called earlier default sequence "
        "fifo order of hooks first registered first called in which order do hooks run",
        draws=lambda: wider(kinds=("forward",), depth=0, least=2),
    ),
    Row(
        "ordering.registration.full_backward",
        "Without prepend=, the full backward hooks of a module run in the order of their registration.",
        AFTER["full_backward"],
        asked="two grad_input callbacks on one layer which is called earlier default sequence clip then log",
        needs=FULL,
        draws=lambda: wider(kinds=("full_backward",), depth=0, least=2),
    ),
    Row(
        "ordering.registration.full_backward_pre",
        "Without prepend=, the full backward pre-hooks of a module run in the order of registration.",
        AFTER["full_backward_pre"],
        asked="two grad_output callbacks on one layer which is called earlier default sequence scale then clip",
        needs=PRE,
        draws=lambda: wider(kinds=("full_backward_pre",), depth=0, least=2),
    ),
    Row(
        "ordering.registration.legacy_backward",
        "The legacy backward hooks of a module run in the order of their registration.",
        "measured",
        asked="two deprecated register_backward_hook callbacks on same layer which is called earlier",
        about="register_backward_hook",
        draws=lambda: plans(
            kinds=("backward",), ops=("scale", "affine", "add", "mul"), inputs=(1, 2), depth=0, least=2
        ),
    ),
    Row(
        "ordering.registration.prepend_forward_pre",
        "A forward pre-hook with prepend=True runs before all forward pre-hooks that its module already had.",
        (BEFORE["forward_pre"], PREPEND_PULL),
        asked="make my input callback the very first ahead of spectral norm existing ones insert at front",
        needs="torch.nn.Module.register_forward_pre_hook(prepend)",
        draws=lambda: one_module("forward_pre"),
    ),
    Row(
        "ordering.registration.prepend_forward",
        "A forward hook with prepend=True runs before all forward hooks that its module already had.",
        (BEFORE["forward"], PREPEND_PULL),
        asked="make my activation callback the very first ahead of existing ones insert at front",
        needs=PREPEND,
        draws=lambda: one_module("forward"),
    ),
    Row(
        "ordering.registration.prepend_full_backward",
        "A full backward hook with prepend=True runs before all full backward hooks that its module already had.",
        (BEFORE["full_backward"], PREPEND_PULL),
        asked="insert grad_input callback at front of queue ahead of existing ones fsdp opacus",
        where="the hook was there before the call",
        needs="torch.nn.Module.register_full_backward_hook(prepend)",
        draws=lambda: one_module("full_backward"),
    ),
    Row(
        "ordering.registration.prepend_full_backward_pre",
        "A full backward pre-hook with prepend=True runs before all full backward pre-hooks its module already had.",
        (BEFORE["full_backward_pre"], PREPEND_PULL),
        asked="insert grad_output callback at front of queue ahead of existing ones",
        where="the hook was there before the call",
        needs="torch.nn.Module.register_full_backward_pre_hook(prepend)",
        draws=lambda: one_module("full_backward_pre"),
    ),
    Row(
        "ordering.registration.keyword_hooks_in_line",
        "A module's forward hooks with and without with_kwargs=True run in the order of their registration.",
        AFTER["forward"],
        asked="mix of kwargs aware and old style activation callbacks do kwargs ones fire separately or earlier",
        see="ordering.registration.prepend_forward",
        needs=KWARGS,
        draws=lambda: one_module("forward", option="with_kwargs"),
    ),
    plan=lambda row: row.draws(),
)
def of_a_module(subject: Subject, plan: Plan, *, row: Any) -> None:
    assert subject.holds(plan).calls() == [hook.label for hook in in_line(hooks_of(plan))]


@st.composite
def renewed(draw, kind: str) -> Plan:
    """A module whose hooks are removed, and some registered again, between its forwards."""
    labels = [f"h{number}" for number in range(draw(st.integers(2, 4)))]
    steps = [Hook(kind, "m0", label, (Scale(draw(FACTORS)),)) for label in labels] + [Forward()]
    for label in draw(st.lists(st.sampled_from(labels), min_size=1, max_size=4, unique=True)):
        steps.append(Remove(label))
        if draw(st.booleans()):
            steps.append(Hook(kind, "m0", label, (Scale(draw(FACTORS)),)))
        steps.append(Forward())
    return Plan(*alone(draw, "affine"), tuple(steps))


def due(plan: Plan):
    """The labels due in each forward: a removed hook leaves the line, a new one goes to its end."""
    line, calls = [], []
    for step in plan.steps:
        if isinstance(step, Hook):
            line.append(step.label)
        elif isinstance(step, Remove):
            line.remove(step.label)
        else:
            calls += line
    return calls


@each(
    Row(
        "ordering.registration.pre_hook_again_goes_last",
        "A module's forward pre-hook, removed and registered again, runs after the others; these keep their order.",
        AFTER["forward_pre"],
        asked="toggle input modifying callback off and on reattach keeps old position or moved to the end",
        see="ordering.registration.prepend_forward_pre",
        kind="forward_pre",
    ),
    Row(
        "ordering.registration.hook_again_goes_last",
        "A module's forward hook, removed and registered again, runs after the others; these keep their order.",
        AFTER["forward"],
        asked="detach and reattach activation callback does it get its old position back or go last",
        see="ordering.registration.prepend_forward",
        kind="forward",
    ),
    plan=lambda row: renewed(row.kind),
)
def again(subject: Subject, plan: Plan, *, row: Any) -> None:
    assert subject.holds(plan).calls() == due(plan)


@clause(
    "ordering.registration.outputs_of_one_node",
    says="Tensor hooks on parts of x.split(n) run part by part, in the order in which the parts got their first hook.",
    see="ordering.registration.tensor",
    source="measured",
    asked="register_hook on chunks unbind qkv lstm gates multi output function which chunk fires earlier",
    about=("register_hook",),
    value=lambda places: list(dict.fromkeys(places)),
    wrong={"rows": lambda places: sorted({*places})},
    witness={"places": [1, 0], "op": "unbind"},
)
@given(places=st.lists(st.integers(0, 3), min_size=1, max_size=8), op=st.sampled_from(["unbind", "split", "chunk"]))
def test_outputs_of_one_node(subject: Subject, places, op) -> None:

    rows, ran = getattr(make.ones(4, requires_grad=True), op)(*{"unbind": (), "split": (1,), "chunk": (4,)}[op]), []
    for number, place in enumerate(places):
        rows[place].register_hook(lambda grad, number=number: ran.append(number))
    sum(row.sum() for row in rows).backward()
    assert ran == [number for row in subject.value(places) for number, place in enumerate(places) if place == row]
