"""Which objects that a full backward hook returns are taken for gradients: tensors, rows, lists."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Give, Plan, Scale, hooks_of
from suites.backward.hooked import FEW, outcome_of, returning
from suites.backward.sources import DOCS, ONLY_NONE, PRE_DOCS
from suites.names import FROM_OUTPUT, FULL, PRE
from suites.tensors import item

SIZES = st.lists(st.integers(1, 2), max_size=2).map(tuple)
#: The size of the inputs, by which what is returned is often drawn too.
SIZE = st.shared(SIZES, key="size")
ONE_ROW = {"size": (1, 2), "count": 1, "returned": (1, 2)}


def fill(number: float, size: Any) -> Any:
    """The nested lists of a tensor that is full of one number."""
    import torch

    return torch.full(size, float(number)).tolist()


@each(
    Row(
        "backward.objects.bare_tensor",
        "A bare tensor from a full backward hook is read as its rows: one for each input, or an error.",
        (DOCS, "measured"),
        asked="forgot comma returned single gradient instead of tuple batch size mismatch wrong "
        "gradient silent iteration full backward hook returns the gradient as it is",
        note="The docs say a tuple or None; only the annotated type of the hook allows a Tensor, as if it were "
        "the one.",
        where="inputs are tensors by position that need gradients",
        see="backward.returns.full_without_input",
        needs=FULL,
        value="rows",
        wrong={"whole": "whole"},
        witness=ONE_ROW,
        kind="full_backward",
    ),
    Row(
        "backward.objects.pre_bare_tensor",
        "A bare tensor from a full backward pre-hook is read as its rows: one for each output, or an error.",
        (PRE_DOCS, "measured"),
        asked="register_full_backward_pre_hook forgot tuple comma "
        "returned just grad wrong size silent batch one iterated",
        docs="contradicts",
        note="Since 2.10 the docs list a bare Tensor as a value to return.",
        needs=PRE,
        value="rows",
        wrong={"whole": "whole"},
        witness=ONE_ROW,
        kind="full_backward_pre",
    ),
    size=lambda row: SIZE,
    count=lambda row: FEW,
    returned=lambda row: st.one_of(st.builds(lambda size, rows: (rows, *size), SIZE, FEW), SIZES),
)
def bare(subject: Subject, size: Any, count: int, returned: Any, *, row: Any) -> None:
    import torch

    pre = row.kind == "full_backward_pre"
    wanted, by = (1, 2) if pre else (count, 1)
    due = ("TypeError" if not returned else "RuntimeError", [None] * count, pre)
    if returned == ((wanted, *size) if subject.value == "rows" else size):
        due = ("accepted", [fill(3 * by, size)] * count, False)
    seen, xs, weight = outcome_of(row.kind, torch.full(returned, 3.0), size, count)
    assert (seen, [item(x.grad) for x in xs], weight.grad is None) == due


@clause(
    "backward.objects.no_broadcast",
    says="What the last full backward hook returns must have the exact shape: what could be broadcast is refused.",
    where="inputs are tensors by position that need gradients",
    see="backward.values.last_is_checked",
    source="measured",
    asked="returned scalar gradient or size one dimension rejected shape mismatch must expand to match",
    needs=FULL,
    value="RuntimeError",
    wrong={"fitted": "accepted"},
    witness={"size": (1, 2), "returned": (3, 1, 2), "hooks": 1},
)
@given(size=SIZES, returned=SIZES, hooks=FEW)
def test_no_broadcast(subject: Subject, size: Any, returned: Any, hooks: int) -> None:
    import torch

    seen, (x,), weight = outcome_of("full_backward", (torch.full(returned, 3.0),), size, hooks=hooks)
    fits = returned == size
    assert (seen, weight.grad is None) == ("accepted" if fits else subject.value, False)
    assert item(x.grad) == (fill(3, size) if fits else None)


@clause(
    "backward.objects.list_without_input",
    says="Where no input needs a gradient, a full backward hook may return a tuple of None, but not a list.",
    source=(ONLY_NONE, FROM_OUTPUT),
    asked="return type on first layer raw data error hook expected none square brackets crash",
    matters_if="full_backward returns ?inputs_need_no_grad",
    needs=FULL,
    readings=by_release(
        ("error", "silent"),
        ("1.9", "refused", {"full_without_input": "output"}),
        "Where no input needs a gradient, a full backward hook that returns a list ends backward() in an error.",
        ("", "never called", {"full_without_input": "silent"}),
        "Where no input needs a gradient, the full backward hook does not run, so nothing is refused.",
    ),
    witness=returning(1, (), (Give("list"),), grad=False),
)
@given(
    plan=st.builds(
        lambda count, before, what: returning(count, *[()] * before, (Give(what),), grad=False),
        FEW,
        st.integers(0, 2),
        st.sampled_from(["list", "nones", "longer"]),
    )
)
def test_list_without_input(subject: Subject, plan: Plan) -> None:
    trace, (action,) = subject.holds(plan), hooks_of(plan)[-1].do
    refused = action.what == "list" and subject.reading.facts["full_without_input"] == "output"
    assert trace.raised() == [("backward", "RuntimeError")] * refused
    assert (trace.grads()[0]["m0.weight"] is None) == refused


@clause(
    "backward.objects.list_chain",
    says="A list that a full backward hook returns is given to the next one as a list, not as a tuple.",
    where="inputs are tensors by position that need gradients",
    see="backward.objects.list_without_input",
    source="measured",
    asked="several hooks on same layer grad_input type changes between them concatenation tuple plus list typeerror",
    matters_if="full_backward returns ?hooked_again",
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.13", "list", {"full_list_stays": True}),
        "A list from a full backward hook stays a list for the next one.",
        ("", "tuple", {"full_list_stays": False}),
        "When a full backward hook returns a list, the next one is given a tuple.",
    ),
    witness=returning(1, (Give("list"),), ()),
)
@given(
    plan=st.builds(
        lambda count, does: returning(count, *does, ()),
        FEW,
        st.lists(st.sampled_from([(Give("list"),), (Scale(3),), ()]), min_size=1, max_size=5),
    )
)
def test_list_chain(subject: Subject, plan: Plan) -> None:
    trace, due = subject.holds(plan), tuple
    for hook in hooks_of(plan):
        assert [type(grad_input) for _, grad_input, _ in trace.seen_by(hook.label)] == [due]
        if hook.do == (Give("list"),) and subject.reading.facts["full_list_stays"]:
            due = list
