"""What a full backward hook sees of inputs and outputs that are no plain tensors: containers, None, constants."""

import warnings
from dataclasses import replace
from typing import Any, List, Sequence

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Call, Chain, Forward, Freeze, Hook, Input, Leaf, Pack, Plan, hooks_of
from fixtures.stages.make import make
from suites.backward.modules import module_of, run
from suites.backward.sources import DOCS, GRADIENTS, POSITIONAL, PRE_DOCS, RULE, RULE_2, TENSORS_ONLY
from suites.hooking import SOME
from suites.names import FROM_OUTPUT, FULL, PRE
from suites.packed import positional


class Holder:
    """An object of no kind that torch knows."""

    def __init__(self, values: Any) -> None:
        self.values = values


#: name -> how to put tensors into it, and how to get them out again.
CONTAINERS = {
    "list": (list, list),
    "list_iterator": (iter, list),
    "dict": (lambda values: dict(enumerate(values)), lambda out: list(out.values())),
    "Holder": (Holder, lambda out: out.values),
}


@clause(
    "backward.structures.places",
    says="A value that is no tensor has None in its place in a full backward hook's grad_input or grad_output.",
    where="inputs are positional; outputs in a tuple",
    see=("backward.given.kwargs_left_out", "backward.structures.other_outputs"),
    source=f'{DOCS} "will be ``None`` for all non-Tensor arguments"',
    asked="non tensor argument like int string flag in layer call grad tuple position empty nonetype",
    needs=FULL,
)
@given(plan=plans(kinds=("full_backward",), does=(), inputs=(1, 2), outputs=(1, 2), depth=0, structures=True))
def test_places(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    ins = positional(plan.net.takes, len(plan.inputs))
    for _, grad_input, grad_output in [event.seen for event in trace if event.what in trace.calls()]:
        assert in_place(ins, grad_input)
        assert plan.net.out is None or in_place(plan.net.out.items, grad_output)


def in_place(items: Sequence[Any], grads: Sequence[Any]) -> bool:
    """Whether there is an entry for each item, and None for those that are no tensors."""
    there = len(items) == len(grads)
    return there and all(grad is None for item, grad in zip(items, grads) if not isinstance(item, int))


def given_twice(plan: Plan) -> Plan:
    """The plan, with the first input in both places of the network."""
    net, first = replace(plan.net, takes=Call((0, 0))), replace(plan.inputs[0], leaf=True)
    return replace(plan, net=net, inputs=(first, *plan.inputs[1:]))


@clause(
    "backward.structures.twice",
    says="A tensor that is two inputs has two entries in a full backward hook's grad_input; their sum is passed on.",
    where=("both are positional", "it requires grad"),
    source=(GRADIENTS, "measured"),
    asked="self attention same query and key passed as both arguments grads separate then added shared tied",
    level="observed",
    needs=FULL,
)
@given(plan=plans(kinds=("full_backward",), does=(), inputs=(2, 2), outputs=(1, 2), depth=0).map(given_twice))
def test_twice(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    for event in trace:
        if event.what in trace.calls():
            assert len(event.seen[1]) == 2
            assert sum(event.seen[1]) == trace.grads()[0]["x0"]


@clause(
    "backward.structures.detached_output",
    says="In a tuple of outputs, a detached one has None in a full backward hook's grad_output.",
    where="another output requires grad",
    source="https://github.com/pytorch/pytorch/pull/59204",
    asked="layer returns one tracked and one detach result hook grad_output none for it nonetype no attribute",
    matters_if="full_backward ?output_detached",
    needs=FULL,
    readings=by_release(
        "error",
        ("1.9", "None", "None"),
        "A full backward hook has None for a detached output, whichever output comes first.",
        ("", "refused", "AttributeError"),
        "With a full backward hook the forward raises AttributeError if its first output is detached.",
    ),
    witness={"needs_grad": [False, True], "hooks": 1},
)
@given(needs_grad=st.lists(st.booleans(), min_size=1, max_size=4).filter(any), hooks=SOME)
def test_detached_output(subject: Subject, needs_grad: List[bool], hooks: int) -> None:

    module, calls = module_of(lambda x: tuple(2 * x if one else x.detach() for one in needs_grad), hooks=hooks)
    try:
        out = module(make.ones(2, requires_grad=True))
        sum(out).sum().backward()
        seen: Any = [one.requires_grad for one in out]
    except AttributeError as error:
        seen = type(error).__name__
    if subject.value == "AttributeError" and not needs_grad[0]:
        assert (seen, calls) == ("AttributeError", [])
    else:
        grads = [[[2.0 * sum(needs_grad)] * 2], [[1.0] * 2 if one else None for one in needs_grad]]
        assert (seen, calls) == (needs_grad, [grads] * hooks)


@st.composite
def unseen(draw: Any) -> Plan:
    """A module whose full hooks see none of its inputs with a gradient, or one plain tensor that comes first."""
    plain = draw(st.integers(0, 1))
    ways = draw(st.lists(st.sampled_from(["list", "tuple", "named", "dict", "later", "later"]), max_size=4))
    keyword = draw(st.integers(0, 1)) if plain or ways else 1
    items = [0] * plain
    for place, way in enumerate(ways, plain):
        items.append(place if way == "later" else Pack(way, (place, None) if way == "named" else (place,)))
    takes = Call((*items, *[len(items)] * keyword), ("a",) * keyword)
    # "later" is a tensor that needs no gradient in the call; where none is seen it comes to require one after that.
    inputs = [Input(3)] * plain + [Input(3, grad=way != "later") for way in ways] + [Input(3)] * keyword
    thaw = [Freeze(f"x{place}", False) for place, spec in enumerate(inputs) if not spec.grad and not plain]
    hooks = [Hook("full_backward", "m0", f"h{number}") for number in range(draw(SOME))]
    net = Chain("m0", (Leaf("m1", "many", (2,), outputs=1),), takes)
    return Plan(net, tuple(inputs), (*hooks, Forward(), *thaw, Backward((draw(NUMBERS),))))


@clause(
    "backward.structures.unseen_inputs",
    says="If only keyword or container inputs need gradients, full backward hooks run when the output gets one.",
    where="the module returns a tensor or a tuple of tensors",
    see="backward.given.dict_output",
    source=(RULE_2, POSITIONAL, FROM_OUTPUT),
    asked="hidden states passed by name or inside a list hook fires early grad_input empty timing wrong",
    matters_if="full_backward ?inputs_need_no_grad",
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.9", "at the output", {"full_without_input": "output"}),
        "A full backward hook that sees no input with a gradient runs when the output has its gradient.",
        ("", "silent", {"full_without_input": "silent"}),
        "Where only tensors in containers or keywords need a gradient, no full backward hook runs.",
    ),
    witness=Plan(
        Chain("m0", (Leaf("m1", "many", (2,), outputs=1),), Call((Pack("list", (0,)),))),
        (Input(3),),
        (Hook("full_backward", "m0", "h0"), Forward(), Backward()),
    ),
)
@given(plan=unseen())
def test_unseen_inputs(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    seen = [plan.inputs[one].grad for one in positional(plan.net.takes, 0) if isinstance(one, int)]
    silent = subject.reading.facts["full_without_input"] == "silent" and not any(seen)
    assert trace.calls() == ([] if silent else [hook.label for hook in hooks_of(plan)])


@clause(
    "backward.structures.other_outputs",
    says="A full backward hook does not run where its module returns a list, a dict or an iterator.",
    source=(TENSORS_ONLY, DOCS, "https://github.com/pytorch/pytorch/pull/87547"),
    asked="hook silently ignored when layer gives non tuple container "
    "huggingface generator result detection model losses",
    matters_if="full_backward|full_backward_pre ?output_other",
    docs="contradicts",
    note=RULE + " Only a warning while running tells so.",
    needs=FULL,
    readings=by_release(
        ("warning", "none", "error"),
        ("2.0", "with a warning", ["UserWarning"]),
        "With a full backward hook, the first call in which a module returns a list or dict gives a UserWarning.",
        ("1.13", "in silence", [], "too"),
        "No warning says that the full backward hook of a module that returns a list does not run.",
        ("", "refused", "RuntimeError"),
        "backward() raises RuntimeError where a module with a full backward hook returned a list.",
    ),
    witness={"name": "list", "by": [2], "hooks": 1},
)
@given(name=st.sampled_from(sorted(CONTAINERS)), by=st.lists(NUMBERS, min_size=1, max_size=3), hooks=SOME)
def test_other_outputs(subject: Subject, name: str, by: List[int], hooks: int) -> None:
    put, take = CONTAINERS[name]
    seen = run(lambda x: put([one * x for one in by]), lambda out: sum(take(out)), hooks=hooks)
    due = (name, [], [float(sum(by))] * 2, subject.value)
    assert seen == ("RuntimeError" if subject.value == "RuntimeError" else due)


@clause(
    "backward.structures.pre_other_outputs",
    says="A full backward pre-hook does not run where its module returns a list or dict; a UserWarning says so.",
    source=(TENSORS_ONLY, PRE_DOCS),
    asked="register_full_backward_pre_hook never called huggingface "
    "dictionary result message backward hook will not be applied",
    docs="contradicts",
    note="The docs promise a call each time the gradients for the module are computed.",
    needs=PRE,
    value=False,
    wrong={"called": True},
    witness={"name": "dict", "by": [2], "hooks": 1},
)
@given(name=st.sampled_from(sorted(CONTAINERS)), by=st.lists(NUMBERS, min_size=1, max_size=3), hooks=SOME)
def test_pre_other_outputs(subject: Subject, name: str, by: List[int], hooks: int) -> None:
    put, take = CONTAINERS[name]
    seen = run(lambda x: put([one * x for one in by]), lambda out: sum(take(out)), "full_backward_pre", hooks)
    calls = [[[[1.0, 1.0]] * len(by)]] * hooks
    assert seen == (name, calls if subject.value else [], [float(sum(by))] * 2, ["UserWarning"])


@clause(
    "backward.structures.no_output",
    says="A module call that returns None gives one UserWarning if the module has a full backward hook.",
    source=(TENSORS_ONLY, "https://github.com/pytorch/pytorch/pull/87547"),
    asked="layer without return statement for non full backward expected tensor or tuple of tensors got nonetype",
    matters_if="full_backward|full_backward_pre ?output_none",
    needs=FULL,
    readings=by_release(
        ("warning", "none"),
        ("2.0", "warned", ["UserWarning"]),
        "A module call that returns None gives one UserWarning if the module has a full backward hook.",
        ("", "in silence", []),
        "A module with a full backward hook may return None, and no warning is given.",
    ),
    witness={"hooks": 1, "calls": 1},
)
@given(hooks=SOME, calls=SOME)
def test_no_output(subject: Subject, hooks: int, calls: int) -> None:

    module, _ = module_of(lambda x: None, hooks=hooks)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outs = [module(make.ones(2, requires_grad=True)) for _ in range(calls)]
    assert (outs, [one.category.__name__ for one in caught]) == ([None] * calls, subject.value * calls)


def returned_twice(plan: Plan) -> Plan:
    """The plan, with a module that returns its one output in both places of a tuple."""
    steps = (replace(step, grads=step.grads * 2) if isinstance(step, Backward) else step for step in plan.steps)
    return replace(plan, net=replace(plan.net, out=Pack("tuple", (0, 0))), steps=tuple(steps))


@clause(
    "backward.structures.returned_twice",
    says="With a full backward hook, one tensor twice in a tuple of outputs becomes two, each in grad_output.",
    where="it requires grad",
    source=(GRADIENTS, "measured"),
    asked="same activation duplicated in result is identity lost after hook separate objects grads split",
    level="observed",
    needs=FULL,
)
@given(plan=plans(kinds=("full_backward",), does=(), inputs=(1, 2), depth=0, values=True).map(returned_twice))
def test_returned_twice(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert all(one.name != two.name for one, two in trace.returns())
    assert all(len(event.seen[2]) == 2 for event in trace if event.what in trace.calls())
