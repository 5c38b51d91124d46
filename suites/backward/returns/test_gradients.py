"""What backward hooks of modules may return: new gradients for the inputs, or, before the module runs, for outputs."""

from typing import Any, Callable, Dict, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Raise, Scale, hooks_of
from suites.backward.modules import module_of
from suites.backward.plans import FULL_KINDS, MAYBE_SCALE, row
from suites.backward.sources import DOCS, IN_ORDER, OBSERVES, PRE_REPLACES, REPLACES
from suites.names import FULL, PRE
from suites.shapes import product
from suites.tensors import item, leaf, outcome

ABOUT = "register_backward_hook"


@st.composite
def scaling(draw: Any, kind: str, fewest: int = 1, most: int = 1, grad: bool = True) -> Plan:
    """y = weight * x with backward hooks on the module that multiply what they may replace."""
    hooks = tuple(
        Hook(kind, "m0", f"h{index}", (Scale(draw(FACTORS)),)) for index in range(draw(st.integers(fewest, most)))
    )
    net = Leaf("m0", "scale", (draw(NUMBERS),))
    return Plan(net, (Input(draw(NUMBERS), grad=grad),), hooks + (Forward(), Backward((draw(NUMBERS),))))


def factors(plan: Plan) -> Any:
    return [step.do[0].by for step in plan.steps if isinstance(step, Hook)]


@clause(
    "backward.returns.none_keeps",
    says="A full backward hook, pre-hook or legacy one that returns None changes no gradient but by rounding.",
    where="each input gets a gradient",
    see="backward.given.unused_input",
    source=DOCS + ' "hook(module, grad_input, grad_output) -> tuple(Tensor) or None"',
    asked="hook without return statement just logging does it alter training results "
    "bitwise reproducible observe only backward hook returns None nothing",
    needs=FULL,
)
@given(
    plan=plans(
        kinds=("full_backward", "full_backward_pre", "backward"),
        does=(),
        depth=2,
        inputs=(1, 2),
        ops=("scale", "affine", "add", "mul"),
    )
)
def test_none_keeps(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).grads() == subject.play(plan.without(Hook)).grads()


@clause(
    "backward.returns.full_replaces_input",
    says="The tuple that the last full backward hook returns replaces the gradients the module gives its inputs.",
    where="inputs are positional tensors that require grad",
    see="backward.returns.full_without_input",
    source=REPLACES,
    asked="change gradient flowing to previous layer with module hook clip scale guided backprop override grad_input",
    needs=FULL,
)
@given(plan=scaling("full_backward"))
def test_full_replaces_input(subject: Subject, plan: Plan) -> None:
    grads, plain = subject.holds(plan).grads()[0], subject.play(plan.without(Hook)).grads()[0]
    (by,) = factors(plan)
    assert grads == {"x0": plain["x0"] * by, "m0.weight": plain["m0.weight"]}


@clause(
    "backward.returns.pre_replaces_all",
    says="All gradients a module call gives are made from what its full backward pre-hook returns.",
    where=("there is no other backward hook", "the module returns one tensor"),
    source=PRE_REPLACES,
    asked="scale incoming gradient so weight and input grads both change register_full_backward_pre_hook override clip",
    needs=PRE,
)
@given(plan=scaling("full_backward_pre"))
def test_pre_replaces_all(subject: Subject, plan: Plan) -> None:
    grads, plain = subject.holds(plan).grads()[0], subject.play(plan.without(Hook)).grads()[0]
    (by,) = factors(plan)
    assert grads == {name: grad * by for name, grad in plain.items()}


@clause(
    "backward.returns.legacy_replaces_parameters",
    says="What a legacy backward hook returns replaces all gradients of the output's last operation.",
    where=("there is no other backward hook", "the module returns one tensor"),
    source="measured",
    asked="override grad_input in register_backward_hook also modifies weight and bias gradients side effect final op",
)
@given(plan=scaling("backward"))
def test_legacy_replaces_parameters(subject: Subject, plan: Plan) -> None:
    grads, plain = subject.holds(plan).grads()[0], subject.play(plan.without(Hook)).grads()[0]
    (by,) = factors(plan)
    assert grads == {name: grad * by for name, grad in plain.items()}


@clause(
    "backward.returns.full_chain",
    says="Each full backward hook of a module is given the grad_input the one before left, and the same grad_output.",
    source=(IN_ORDER, OBSERVES),
    asked="multiple hooks on same layer does second see first ones modified grad_input and original grad_output",
    needs=FULL,
)
@given(plan=scaling("full_backward", fewest=2, most=4))
def test_full_chain(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    by = factors(plan)
    assert trace.calls() == [f"h{index}" for index in range(len(by))]
    seen = [trace.seen_by(label)[0] for label in trace.calls()]
    for index in range(len(by) - 1):
        assert seen[index + 1] == ("m0", (seen[index][1][0] * by[index],), seen[index][2])


@clause(
    "backward.returns.pre_chain",
    says="Each full backward pre-hook of a module is given the grad_output that the one before left.",
    source=(IN_ORDER, OBSERVES),
    asked="multiple register_full_backward_pre_hook on same layer does second receive modified value of first",
    needs=PRE,
)
@given(plan=scaling("full_backward_pre", fewest=2, most=4))
def test_pre_chain(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    by, seen = factors(plan), [trace.seen_by(label)[0][1][0] for label in trace.calls()]
    assert seen[1:] == [value * factor for value, factor in zip(seen, by)][:-1]


@clause(
    "backward.returns.pre_without_input",
    says="What a full backward pre-hook returns is used also where no input of the module needs a gradient.",
    source=(PRE_REPLACES, "https://github.com/pytorch/pytorch/pull/116454"),
    asked="modify grad_output of first layer raw images works with "
    "register_full_backward_pre_hook to change weight gradients",
    matters_if="full_backward_pre returns ?inputs_need_no_grad",
    needs=PRE,
    readings=(
        Reading(
            "counts",
            "",
            "Also without input gradients, weights' gradients are made from what a full backward pre-hook returns.",
            {"full_output_returns": "none"},
        ),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)),
        (Input(3, grad=False),),
        (Hook("full_backward_pre", "m0", "h0", (Scale(10),)), Forward(), Backward()),
    ),
)
@given(plan=scaling("full_backward_pre", grad=False, most=2))
def test_pre_without_input(subject: Subject, plan: Plan) -> None:
    by = product(hooks_of(plan)) if subject.reading.facts["full_output_returns"] == "none" else 1
    (grad,) = plan.steps[-1].grads
    assert subject.holds(plan).grads() == [{"m0.weight": plan.inputs[0].value * grad * by}]


@each(
    Row(
        "backward.returns.anywhere",
        "Every plan of the grammar with full hooks that replace gradients leaves the trace of the model.",
        REPLACES,
        checks_model=True,
        needs=FULL,
        kinds=("full_backward", "full_backward_pre"),
    ),
    Row(
        "backward.returns.legacy_anywhere",
        "Every plan of the grammar with legacy hooks that replace gradients leaves the trace of the model.",
        "measured",
        checks_model=True,
        kinds=("backward",),
    ),
    plan=lambda row: plans(kinds=row.kinds, inputs=(1, 2), outputs=(1, 2), depth=2, most=5, runs=2),
)
def in_any_network(subject: Subject, plan: Plan, *, row: Any) -> None:
    subject.holds(plan)


@clause(
    "backward.returns.raising",
    says="An exception of a full backward hook or pre-hook is raised by backward(), which then calls no more hooks.",
    source="measured",
    asked="error inside module hook stops training remaining hooks skipped catch with try except around loss backward",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda kind, before, after, values, grad: Plan(
            row(values),
            (Input(3),),
            (
                *(Hook(kind, "m2", f"h{index}", do) for index, do in enumerate([*before, (Raise(),), *after])),
                Hook("full_backward", "m1", "behind"),
                Forward(),
                Backward((grad,)),
            ),
        ),
        FULL_KINDS,
        st.lists(MAYBE_SCALE, max_size=2),
        st.lists(MAYBE_SCALE, max_size=2),
        st.tuples(NUMBERS, NUMBERS),
        NUMBERS,
    )
)
def test_raising(subject: Subject, plan: Plan) -> None:
    labels = [hook.label for hook in hooks_of(plan) if hook.on == "m2"]
    raising = [isinstance(one, Raise) for hook in hooks_of(plan) for one in hook.do or (None,)].index(True)
    trace = subject.holds(plan)
    assert (trace.calls(), trace.raised()) == (labels[: raising + 1], [("backward", "Boom")])


class Rows:
    """An object with a length, whose items have numbers."""

    def __init__(self, items: Any) -> None:
        self.items = list(items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> Any:
        return self.items[place]


#: Ways to pack gradients so that they have numbers.
NUMBERED: Dict[str, Callable[[List[Any]], Any]] = {
    "dict": lambda grads: dict(enumerate(grads)),
    "list": list,
    "object": Rows,
    "tuple": tuple,
}


@clause(
    "backward.returns.by_number",
    says="A full backward hook may return an object with len() and numbered items: {0: gradient}.",
    where="inputs are positional tensors that require grad",
    see="backward.returns.full_without_input",
    source="measured",
    asked="can hook return a dictionary or custom sequence indexed by position instead of tuple duck typing",
    needs=FULL,
    value=1,
    wrong={"refused": 0},
    witness={"made": "dict", "grads": [2]},
)
@given(made=st.sampled_from(sorted(NUMBERED)), grads=st.lists(NUMBERS, min_size=1, max_size=3))
def test_by_number(subject: Subject, made: str, grads: List[int]) -> None:
    xs = [leaf(1) for _ in grads]
    module, _ = module_of(lambda *given: sum(given))
    module.register_full_backward_hook(lambda *_: NUMBERED[made]([leaf(grad).detach() for grad in grads]))
    taken = outcome(lambda: module(*xs).backward(), (RuntimeError, TypeError, KeyError)) == "accepted"
    assert [item(x.grad) for x in xs] == (grads if subject.value else [None] * len(grads))
    assert taken == bool(subject.value)


@clause(
    "backward.returns.not_needed",
    says="A full backward hook's gradient for an input that needs none is ignored if shape and dtype fit.",
    where=("another positional input requires grad", "no other hook"),
    see="backward.returns.full_without_input",
    source="measured",
    asked="override for raw data argument with requires_grad false thrown away silently no effect",
    needs=FULL,
    value=1,
    wrong={"set": 0},
    witness={"needed": [False], "grad": 5},
)
@given(needed=st.lists(st.booleans(), min_size=1, max_size=3), grad=NUMBERS)
def test_not_needed(subject: Subject, needed: List[bool], grad: int) -> None:
    # In torch 1.8 to 1.10 the first input must need a gradient: backward.given.frozen_input.
    xs = [leaf(1), *(leaf(1).requires_grad_(one) for one in needed)]
    module, _ = module_of(lambda *given: sum(given))
    module.register_full_backward_hook(lambda *_: tuple(leaf(grad).detach() for _ in xs))
    module(*xs).backward()
    assert [item(x.grad) for x in xs] == [grad, *(grad if one or not subject.value else None for one in needed)]
