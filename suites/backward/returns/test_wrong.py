"""What happens when a backward hook returns something that is no gradient for each place."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import (
    Backward,
    Chain,
    Forward,
    Hook,
    Input,
    Leaf,
    Plan,
    ReturnNoneAt,
    ReturnWrong,
    Scale,
    hooks_of,
)
from fixtures.stages.make import make
from suites.backward.modules import outcome_of
from suites.backward.plans import returning
from suites.backward.sources import NUMBER, ONLY_NONE, PRE_DOCS, PRE_NUMBER, TESTS
from suites.hooking import SOME
from suites.names import FROM_OUTPUT, FULL, PRE
from suites.tensors import item

ABOUT = "register_backward_hook"

#: "g" is a gradient of the right kind: sevens.
GRADS = st.lists(st.sampled_from(["g", None]), max_size=4)
TUPLES, LISTS = st.tuples(st.just("tuple"), GRADS), st.tuples(st.just("list"), GRADS)
NO_GRADIENTS = st.sampled_from([3, 0, 0.5, True, False])


def fits(returned: Any, count: int) -> bool:
    """Whether this is a tuple or a list of so many gradients."""
    return isinstance(returned, tuple) and len(returned[1]) == count


def result_of(kind: str, returned: Any, count: int = 1, grad: bool = True, hooks: int = 1) -> Any:
    """How backward() ends when the last hook of a doubling module returns this; .grad of the inputs, or the weight."""

    def made(part: Any) -> Any:
        if isinstance(part, tuple):
            return {"tuple": tuple, "list": list}[part[0]](made(one) for one in part[1])
        return {"g": make.full((2,), 7.0), "row": make.full((1, 2), 7.0), "scalar": make.tensor(7.0)}.get(part, part)

    result, xs, weight = outcome_of(kind, made(returned), (2,), count, grad, hooks)
    return result, [item(one.grad) for one in (xs if grad else [weight])]


@clause(
    "backward.returns.full_wrong",
    says="A full backward hook that returns too many or too few gradients ends backward() in an error.",
    where="inputs are positional tensors that require grad",
    see="backward.objects.list_without_input",
    source=NUMBER,
    asked="backward hook returned an invalid number of grad_input got but expected wrong length crash",
    needs=FULL,
    value=True,
    wrong={"lenient": False},
    witness={"returned": ("tuple", []), "count": 1, "hooks": 1},
)
@given(returned=st.one_of(TUPLES, LISTS, NO_GRADIENTS, st.just("g")), count=st.sampled_from([1, 3]), hooks=SOME)
def test_full_wrong(subject: Subject, returned: Any, count: int, hooks: int) -> None:
    result, grads = "accepted", [[2.0, 2.0]] * count
    if fits(returned, count):
        grads = [[7.0, 7.0] if one else None for one in returned[1]]
    elif subject.value:
        result, grads = "RuntimeError" if isinstance(returned, (tuple, str)) else "TypeError", [None] * count
    assert result_of("full_backward", returned, count, hooks=hooks) == (result, grads)


@clause(
    "backward.returns.full_wrong_tensor",
    says="If the last full backward hook returns another shape or dtype, backward() raises RuntimeError.",
    where="inputs are positional tensors that require grad",
    see="backward.values.last_is_checked",
    source="measured",
    asked="function returned an invalid gradient size or half "
    "precision float16 mismatch crash from modified grad_input",
    needs=FULL,
    value="RuntimeError",
    wrong={"converted": "accepted"},
    witness={"dtype": "float64", "size": (2,), "hooks": 1},
)
@given(
    dtype=st.sampled_from(["float32", "float64", "float16", "int64", "bool"]),
    size=st.sampled_from([(2,), (), (3,), (1, 2), (2, 1)]),
    hooks=SOME,
)
def test_full_wrong_tensor(subject: Subject, dtype: str, size: Any, hooks: int) -> None:
    import torch

    seen = result_of("full_backward", ("tuple", [make.ones(size, dtype=getattr(torch, dtype))]), hooks=hooks)
    due = ("accepted", [[1.0, 1.0]]) if (dtype, size) == ("float32", (2,)) else (subject.value, [None])
    assert seen == due


@clause(
    "backward.returns.full_containers",
    says="A full backward hook may return a list in place of a tuple, and None for a gradient.",
    where="inputs are positional tensors that require grad",
    see="backward.objects.list_without_input",
    source="measured",
    asked="which types can i return from hook are square brackets allowed zero out one gradient",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda count, does: returning(count, *does),
        st.integers(1, 4),
        st.lists(
            st.sampled_from(
                [
                    (ReturnWrong("list"),),
                    (ReturnWrong("nones"),),
                    (ReturnNoneAt(0),),
                    (ReturnNoneAt(1),),
                    (Scale(7),),
                    (),
                ]
            ),
            min_size=1,
            max_size=4,
        ),
    )
)
def test_full_containers(subject: Subject, plan: Plan) -> None:
    trace, count = subject.holds(plan), len(plan.inputs)
    dropped = set()
    for hook in hooks_of(plan):
        dropped |= {action.at % count for action in hook.do if isinstance(action, ReturnNoneAt)}
        dropped |= set(range(count)) if hook.do == (ReturnWrong("nones"),) else set()
    assert trace.raised() == []
    assert [trace.grads()[0][f"x{at}"] is None for at in range(count)] == [at in dropped for at in range(count)]


@clause(
    "backward.returns.full_without_input",
    says="A full backward hook that returns a gradient where no input needs one ends backward() in RuntimeError.",
    source=(ONLY_NONE, FROM_OUTPUT),
    asked="returning modified grad_input first layer raw images crash can not return value gradient is none",
    matters_if="full_backward returns ?inputs_need_no_grad",
    needs=FULL,
    value="RuntimeError",
    wrong={"ignored": "accepted"},
    witness={"returned": ("tuple", ["g"]), "count": 1, "hooks": 1},
)
@given(returned=st.one_of(TUPLES, LISTS, NO_GRADIENTS, st.none()), count=SOME, hooks=SOME)
def test_full_without_input(subject: Subject, returned: Any, count: int, hooks: int) -> None:
    nothing = returned is None or (isinstance(returned, tuple) and returned[0] == "tuple" and "g" not in returned[1])
    result = "accepted" if nothing else subject.value
    grads = [[float(count)] * 2] if result == "accepted" else [None]
    assert result_of("full_backward", returned, count, grad=False, hooks=hooks) == (result, grads)


@clause(
    "backward.returns.pre_wrong",
    says="A full backward pre-hook that returns too many or too few gradients ends backward() in RuntimeError.",
    source=(PRE_NUMBER, PRE_DOCS),
    asked="register_full_backward_pre_hook returned invalid number of grad_output got but expected wrong length crash",
    docs="contradicts",
    note="Since 2.10 the docs list a bare Tensor as a value to return; one that is no row of rows is refused.",
    needs=PRE,
    value=(),
    wrong={"a bare tensor will do": ("g",)},
    witness={"returned": "g", "count": 1, "hooks": 1},
)
@given(
    returned=st.one_of(
        st.tuples(st.sampled_from(["tuple", "list"]), st.lists(st.just("g"), max_size=3)),
        NO_GRADIENTS,
        st.sampled_from(["g", "row"]),
    ),
    count=SOME,
    hooks=SOME,
)
def test_pre_wrong(subject: Subject, returned: Any, count: int, hooks: int) -> None:
    if fits(returned, 1) or returned == "row" or returned in subject.value:
        due = ("accepted", [[14.0, 14.0]] * count)
    else:
        due = ("RuntimeError" if isinstance(returned, (tuple, str)) else "TypeError", [None] * count)
    assert result_of("full_backward_pre", returned, count, hooks=hooks) == due


@clause(
    "backward.returns.legacy_not_a_tuple",
    says="A legacy backward hook that returns a bare tensor, a list or a number ends backward() in TypeError.",
    source="measured",
    asked="expected hook to return tuple old register_backward_hook single gradient returned crash type",
    matters_if="backward returns ?returns_wrong",
    effect="error",
    value="TypeError",
    wrong={"taken": "accepted"},
    witness={"returned": "g", "hooks": 1},
)
@given(returned=st.one_of(LISTS, NO_GRADIENTS, st.sampled_from(["g", "row", "scalar"])), hooks=SOME)
def test_legacy_not_a_tuple(subject: Subject, returned: Any, hooks: int) -> None:
    assert result_of("backward", returned, hooks=hooks) == (subject.value, [None])


@clause(
    "backward.returns.legacy_wrong_length",
    says="If a legacy backward hook's tuple has another length, or a gradient another shape, RuntimeError is raised.",
    source=TESTS + "test_hook_invalid_outputs",
    asked="register_backward_hook returned incorrect number of "
    "values or mismatched size hook has changed the size error",
    value="RuntimeError",
    wrong={"taken": "accepted"},
    witness={"grads": ["g"], "hooks": 1},
)
@given(grads=st.lists(st.sampled_from(["g", "g", None, "scalar", "row"]), max_size=4), hooks=SOME)
def test_legacy_wrong_length(subject: Subject, grads: Any, hooks: int) -> None:
    seen = result_of("backward", ("tuple", grads), hooks=hooks)
    if len(grads) == 2 and set(grads) <= {"g", None}:
        assert seen == ("accepted", [[7.0, 7.0] if grads[1] else None])
    else:
        assert seen == (subject.value, [None])


@st.composite
def dropped_by_a_legacy_hook(draw) -> Plan:
    """Two to four modules one after another; a legacy hook on the last one drops what it is given."""
    ops = [draw(st.sampled_from(["scale", "affine"])) for _ in range(draw(st.integers(2, 4)))]
    leaves = [
        Leaf(f"m{place}", op, tuple(draw(NUMBERS) for _ in range({"scale": 1, "affine": 2}[op])))
        for place, op in enumerate(ops, 1)
    ]
    hooks = [Hook("backward", leaves[-1].name, "drops", (ReturnWrong("nones"),)), Hook("tensor", "x0", "input")]
    hooks += [Hook("backward", leaf.name, f"of {leaf.name}") for leaf in leaves[:-1] if draw(st.booleans())]
    return Plan(Chain("m0", tuple(leaves)), (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward((draw(NUMBERS),))))


@clause(
    "backward.returns.legacy_none_goes_on",
    says="In a chain of x * w + b, if the last module's legacy backward hook returns Nones, no .grad is set.",
    where="the loss uses nothing but the chain's output",
    source="measured",
    asked="old register_backward_hook returning tuple of none stops "
    "gradient weights never updated whole network grad missing",
    matters_if="backward returns",
    readings=(
        Reading(
            "goes on",
            ">=1.6",
            "In a chain of x * w + b, if a legacy backward hook returns Nones, all gradients before it are None.",
            {"undefined_passes": True},
        ),
        Reading(
            "RuntimeError",
            "<1.6",
            "After a legacy backward hook returned None for each gradient, a multiplication raises RuntimeError.",
            {"undefined_passes": False},
            says_the_same=False,
            effect="error",
        ),
    ),
    witness=Plan(
        Chain("m0", (Leaf("m1", "scale", (3,)), Leaf("m2", "scale", (2,)))),
        (Input(2),),
        (Hook("backward", "m2", "drops", (ReturnWrong("nones"),)), Forward(), Backward((1,))),
    ),
)
@given(plan=dropped_by_a_legacy_hook())
def test_legacy_none_goes_on(subject: Subject, plan: Plan) -> None:
    trace, passes = subject.holds(plan), subject.reading.facts["undefined_passes"]
    assert trace.raised() == ([] if passes else [("backward", "RuntimeError")])
    assert set(trace.grads()[0].values()) == {None}
