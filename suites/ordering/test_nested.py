"""The order across modules: nested, side by side, and the same module in two places."""

from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.contract import contract_drawn_for
from fixtures.draw.plans import FACTORS, NUMBERS, available
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import (
    Backward,
    Chain,
    Forward,
    Hook,
    Input,
    Leaf,
    Parallel,
    Plan,
    Reuse,
    Scale,
    hooks_of,
    walk,
)
from suites.names import FULL, GLOBAL_FORWARD, PRE
from suites.ordering.plans import AROUND, called

AROUND_GLOBALLY = tuple(
    source.replace("nn.Module.register_", "nn.modules.module.register_module_") for source in AROUND
)
WITHOUT_INPUT = (
    'docs: torch.nn.Module.register_full_backward_hook "If none of the module inputs require gradients"',
    "https://github.com/pytorch/pytorch/issues/100528",
)

SHAPES = st.recursive(st.just(()), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=5)


@st.composite
def trees(draw, *kinds: str, grad: bool = True) -> Plan:
    """Containers in containers of one-step modules, each with a hook of every kind, registered in any order."""
    numbers = count()

    def build(shape):
        name = f"m{next(numbers)}"
        if not shape:
            return Leaf(name, "scale", (draw(NUMBERS),))
        return Chain(name, tuple(build(inner) for inner in shape))

    net = build(draw(SHAPES))
    known = available(contract_drawn_for(), kinds)
    wheres = draw(st.permutations([(kind, module.name) for module in walk(net) for kind in known]))
    hooks = [Hook(kind, name, f"h{number}") for number, (kind, name) in enumerate(wheres)]
    return Plan(net, (Input(draw(NUMBERS), grad),), (*hooks, Forward(), Backward((draw(NUMBERS),))))


def brackets(net, before: str, after: str, backward: bool = False):
    """(kind, module) of a walk: `before` on the way in, `after` on the way out; backward, the last child first."""
    yield before, net.name
    if isinstance(net, Chain):
        for child in reversed(net.children) if backward else net.children:
            yield from brackets(child, before, after, backward)
    yield after, net.name


@each(
    Row(
        "ordering.nested.forward",
        "A Sequential runs its forward pre-hooks, then its children with their hooks, then its forward hooks.",
        AROUND,
        asked="trace nested model execution parent then inner layers enter exit sequence logging indentation",
        kinds=("forward_pre", "forward"),
        grads=(True,),
    ),
    Row(
        "ordering.nested.full_backward",
        "A Sequential runs full backward hooks from its last child to its first, then its own.",
        "measured",
        asked="gradient logging list appears reversed relative to layers "
        "parent container grad_input callback comes after layers",
        where=("its positional input requires grad", "one forward, one backward()"),
        see="ordering.nested.input_without_grad",
        needs=FULL,
        kinds=("", "full_backward"),
        grads=(True,),
    ),
    Row(
        "ordering.nested.full_backward_pre",
        "A Sequential runs its own full backward pre-hooks, then its children's, last child first.",
        "measured",
        asked="grad_output callback of parent container fires earlier than inner layers reversed sequence of blocks",
        needs=PRE,
        kinds=("full_backward_pre", ""),
        grads=(True, False),
        where=("all outputs require grad", "one forward, one backward()"),
    ),
    Row(
        "ordering.nested.backward_brackets",
        "A Sequential's full backward pre-hook runs before its children's, its full backward hook after theirs.",
        "measured",
        asked="nested timing of backprop parent block start and end wraps inner layers profiler enter exit",
        where=("inputs require grad", "one forward, one backward()"),
        see=("ordering.nested.input_without_grad", "backward.structures.unseen_inputs"),
        needs=PRE,
        kinds=("full_backward_pre", "full_backward"),
        grads=(True,),
    ),
    plan=lambda row: st.one_of([trees(*filter(None, row.kinds), grad=grad) for grad in row.grads]),
)
def like_brackets(subject: Subject, plan: Plan, *, row: Any) -> None:
    walked = brackets(plan.net, *row.kinds, backward="forward" not in row.kinds)
    assert called(plan, subject.holds(plan)) == [(kind, name) for kind, name in walked if kind]


@st.composite
def watched(draw, *kinds: str) -> Plan:
    """A tree as `trees` draws it, with one global hook of every kind instead of a hook on each module."""
    plan = draw(trees())
    hooks = [Hook(kind, "*", f"h{number}") for number, kind in enumerate(draw(st.permutations(kinds)))]
    return Plan(plan.net, plan.inputs, (*hooks, *plan.steps))


@clause(
    "ordering.nested.global_forward",
    says="In one call of a Sequential global forward pre-hooks run for it first, global forward hooks for it last.",
    source=AROUND_GLOBALLY,
    asked="register_module_forward_hook fires for parent and every submodule which module is reported at start and end",
    needs=GLOBAL_FORWARD,
)
@given(plan=watched("forward_pre", "forward"))
def test_global_forward(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    kinds = {hook.label: hook.kind for hook in hooks_of(plan)}
    calls = [(kinds[event.what], event.seen[0]) for event in trace if event.what in kinds]
    assert calls == list(brackets(plan.net, "forward_pre", "forward"))


def from_the_output(net, needed: bool, runs: bool):
    """(kind, module) of a walk back: where the input needs no gradient, the full hook runs before the children's."""
    yield "full_backward_pre", net.name
    if runs and not needed:
        yield "full_backward", net.name
    for place, child in reversed(list(enumerate(getattr(net, "children", ())))):
        yield from from_the_output(child, needed or place > 0, runs)
    if needed:
        yield "full_backward", net.name


@clause(
    "ordering.nested.input_without_grad",
    says="If no input of a module needs a gradient, its full backward hook runs when its output's gradient comes.",
    where="the module returns a tensor",
    source=WITHOUT_INPUT,
    asked="first layer raw images requires_grad false grad_input none backward callback fires too early before weights",
    matters_if="full_backward ?inputs_need_no_grad",
    needs=FULL,
    readings=(
        Reading(
            "at the output",
            ">=1.9",
            "A container whose inputs need no gradient runs its full backward hook before its children run theirs.",
            {"full_without_input": "output"},
        ),
        Reading(
            "silent",
            "<1.9",
            "A full backward hook of a module whose input needs no gradient is not called.",
            {"full_without_input": "silent"},
            says_the_same=False,
            effect="silent",
        ),
    ),
    witness=Plan(
        Chain("m0", (Leaf("m1", "scale", (2,)), Leaf("m2", "scale", (3,)))),
        (Input(1, grad=False),),
        (
            Hook("full_backward", "m0", "h0"),
            Hook("full_backward", "m1", "h1"),
            Hook("full_backward", "m2", "h2"),
            Forward(),
            Backward(),
        ),
    ),
)
@given(plan=trees("full_backward", grad=False) | trees("full_backward_pre", "full_backward", grad=False))
def test_input_without_grad(subject: Subject, plan: Plan) -> None:
    trace, kinds = subject.holds(plan), {hook.kind for hook in hooks_of(plan)}
    walked = from_the_output(plan.net, False, subject.reading.facts["full_without_input"] == "output")
    assert called(plan, trace) == [(kind, name) for kind, name in walked if kind in kinds]


@clause(
    "ordering.nested.legacy_backward",
    says="A Sequential's legacy backward hook runs right after its last child's.",
    where=("the last child makes a new tensor", "there is no other hook"),
    source="measured",
    asked="deprecated register_backward_hook on container triggers "
    "too early before inner layers finished wrong grad_input",
    about="register_backward_hook",
    note="Both hooks are on the node that made the output, which the container shares with its last child.",
)
@given(plan=trees("backward"))
def test_legacy_backward(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    calls = [name for _, name in called(plan, trace)]
    assert sorted(calls) == sorted(module.name for module in walk(plan.net))
    for module in walk(plan.net):
        if isinstance(module, Chain):
            assert calls.index(module.name) == calls.index(module.children[-1].name) + 1


@st.composite
def siblings(draw, *kinds: str) -> Plan:
    """Two or three one-step modules side by side on one input, each with a hook of every kind."""
    leaves = [Leaf(f"m{number + 1}", "scale", (draw(NUMBERS),)) for number in range(draw(st.integers(2, 3)))]
    wheres = draw(st.permutations([(kind, leaf.name) for leaf in leaves for kind in kinds]))
    hooks = [Hook(kind, name, f"h{number}") for number, (kind, name) in enumerate(wheres)]
    grads = tuple(draw(NUMBERS) for _ in leaves)
    return Plan(Parallel("m0", tuple(leaves)), (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward(grads)))


@clause(
    "ordering.nested.siblings",
    says="Of modules called on one tensor, the one called last runs its full backward hooks first.",
    where="one backward()",
    source="measured",
    asked="parallel branches multi head same features which branch backward callback fires earliest residual",
    needs=FULL,
)
@given(plan=siblings("forward", "full_backward"))
def test_siblings(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    names = [leaf.name for leaf in plan.net.children]
    backward = [("full_backward", name) for name in reversed(names)]
    assert called(plan, trace) == [("forward", name) for name in names] + backward


@st.composite
def shared(draw, *kinds: str) -> Plan:
    """One module called two to four times in a row, with one or two hooks of every kind."""
    times = draw(st.integers(2, 4))
    net = Chain("m0", (Leaf("m1", "scale", (draw(NUMBERS),)),) + (Reuse("m1"),) * (times - 1))
    chosen = [kind for kind in kinds for _ in range(draw(st.integers(1, 2)))]
    hooks = [Hook(kind, "m1", f"h{number}") for number, kind in enumerate(chosen)]
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward((draw(NUMBERS),))))


@clause(
    "ordering.nested.shared_forward",
    says="A module called several times runs all its forward pre-hooks and forward hooks once in each call.",
    source=AROUND,
    asked="reused relu layer activation dict overwritten hook triggered multiple times shared "
    "encoder siamese network hook called twice shared module reused weight tying",
)
@given(plan=shared("forward_pre", "forward"))
def test_shared_forward(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == [hook.label for hook in hooks_of(plan)] * len(plan.net.children)


@clause(
    "ordering.nested.shared_backward",
    says="A module called again on its own output runs its full backward hooks once per call, the last call first.",
    where=("one backward()", "the last output is in the loss"),
    source="measured",
    asked="weight tied layer reused in loop recurrent cell backward "
    "callback fires multiple times which timestep earliest",
    needs=FULL,
)
@given(plan=shared("full_backward"))
def test_shared_backward(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    times = len(plan.net.children)
    assert trace.calls() == [hook.label for hook in hooks_of(plan)] * times
    (weight,), (seed,) = plan.net.children[0].values, plan.steps[-1].grads
    for hook in hooks_of(plan):
        assert [seen[2] for seen in trace.seen_by(hook.label)] == [(seed * weight**power,) for power in range(times)]


@st.composite
def repeated(draw, kind: str) -> Plan:
    """A module with hooks that change what they are given, and several forwards."""
    count_of_hooks = draw(st.integers(2, 4))
    hooks = [Hook(kind, "m0", f"h{number}", (Scale(draw(FACTORS)),)) for number in range(count_of_hooks)]
    net = Leaf("m0", "affine", (draw(NUMBERS), draw(NUMBERS)))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, *(Forward(),) * draw(st.integers(2, 4))))


@clause(
    "ordering.nested.every_forward",
    says="Each call of a module runs all its forward hooks again, in the same order.",
    where=("no hook is registered or removed", "the call raises nothing"),
    source=AROUND[1],
    asked="do hooks fire once or at each iteration training loop second batch sequence stays stable",
)
@given(plan=repeated("forward"))
def test_every_forward(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == [hook.label for hook in hooks_of(plan)] * plan.steps.count(Forward())
