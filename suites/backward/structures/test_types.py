"""Which types of inputs and outputs a full backward hook keeps, changes or refuses."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Pack, Plan, ReturnNoneAt, hooks_of, slots
from fixtures.stages.make import make
from suites.backward.modules import module_of, run
from suites.backward.plans import PAIR, returning
from suites.backward.sources import DOCS, LEGACY, REPLACES
from suites.hooking import SOME
from suites.names import FULL, KEEPS_CLASS
from suites.packed import fits


class Pair(tuple):
    """A tuple made from one iterable, as tuples are."""


@clause(
    "backward.structures.types_kept",
    says="A collections.namedtuple that a module with a full backward hook returns keeps its class.",
    source=KEEPS_CLASS,
    asked="named fields of result missing after hook attribute access still works isinstance namedtuple huggingface",
    matters_if="full_backward|full_backward_pre ?output_tuple_class",
    needs=FULL,
    readings=by_release(
        "silent",
        ("2.2", "kept", {"full_keeps_class": True}),
        "A collections.namedtuple that a module with a full backward hook returns keeps its class.",
        ("", "a plain tuple", {"full_keeps_class": False}),
        "A collections.namedtuple that a module with a full backward hook returns becomes a plain tuple.",
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,), out=Pack("named", (0, None))),
        (Input(3),),
        (Hook("full_backward", "m0", "h0"), Forward(), Backward()),
    ),
)
@given(
    plan=st.builds(
        lambda items, hooks: Plan(
            Leaf("m0", "split", (2, 3), out=Pack("named", items)),
            (Input(3),),
            (
                *(Hook("full_backward", "m0", f"h{place}") for place in range(hooks)),
                Forward(),
                Backward((1,) * slots(Pack("named", items))),
            ),
        ),
        st.lists(st.sampled_from([0, 1, None, 2.5]), max_size=3).map(lambda items: (*items, 0)),
        SOME,
    )
)
def test_types_kept(subject: Subject, plan: Plan) -> None:
    due = Pack("named" if subject.reading.facts["full_keeps_class"] else "tuple", plan.net.out.items)
    assert [fits(due, out) for out in subject.holds(plan).returns()] == [True]


@clause(
    "backward.structures.none_returned",
    says="If a full backward hook returns None for one input, the module gives this input no gradient.",
    where=("there is no other hook", "inputs are positional tensors"),
    source=(REPLACES, "measured"),
    asked="stop gradient to one argument block flow from hook without touching others cut branch",
    level="observed",
    needs=FULL,
)
@given(plan=st.builds(lambda count, at: returning(count, (ReturnNoneAt(at),)), st.integers(1, 4), st.integers(0, 3)))
def test_none_returned(subject: Subject, plan: Plan) -> None:
    plain, (hook,) = subject.play(plan.without(Hook)).grads()[0], hooks_of(plan)
    dropped = f"x{hook.do[0].at % len(plan.inputs)}"
    assert subject.holds(plan).grads() == [{**plain, dropped: None}]


@clause(
    "backward.structures.legacy_first",
    says="A legacy backward hook is on the first item of an output tuple or list; None there raises TypeError.",
    where="each output is made by an operation of its own",
    see="backward.given.legacy_first_output",
    source=(LEGACY, "measured"),
    asked="old register_backward_hook multi output layer only attached to element zero crash when that is missing",
)
@given(
    plan=st.builds(
        lambda kind, items, values, grads: Plan(
            Leaf("m0", "split", values, out=Pack(kind, items)),
            (Input(3),),
            (Hook("backward", "m0", "h0"), Forward(), Backward(grads)),
        ),
        st.sampled_from(["tuple", "list"]),
        st.sampled_from([(0, 1), (1, 0), (1, None, 0), (None, 0, 1)]),
        PAIR,
        st.sampled_from([(1, None), (None, 2), (3, 2)]),
    )
)
def test_legacy_first(subject: Subject, plan: Plan) -> None:
    trace, wrong, grads = subject.holds(plan), plan.net.out.items[0] is None, plan.steps[-1].grads
    assert trace.raised() == [("forward", "TypeError")] * wrong
    due = [] if wrong or grads[0] is None else [grads[:1]]
    assert [grad_output for _, _, grad_output in trace.seen_by("h0")] == due


@clause(
    "backward.structures.subclass_kept",
    says="A plain subclass of Tensor that a module with a full backward hook returns keeps its class.",
    where="it has the default __torch_function__",
    source="https://github.com/pytorch/pytorch/issues/61026",
    asked="custom tensor type lost after hook type of result metadata wrapper isinstance",
    level="observed",
    matters_if="full_backward|full_backward_pre ?output_tensor_class",
    needs=FULL,
    readings=by_release(
        "silent",
        ("2.2", "kept", "Special"),
        "With a full backward hook, a tensor subclass that the module returns stays one.",
        ("", "lost", "Tensor"),
        "With a full backward hook, a tensor subclass that the module returns becomes a plain tensor.",
    ),
    witness={"by": [2], "alone": True, "hooks": 1},
)
@given(by=st.lists(NUMBERS, min_size=1, max_size=3), alone=st.booleans(), hooks=SOME)
def test_subclass_kept(subject: Subject, by: List[int], alone: bool, hooks: int) -> None:
    import torch

    class Special(torch.Tensor):
        pass

    def forward(x: Any) -> Any:
        made = tuple((one * x).as_subclass(Special) for one in by)
        return made[0] if alone else made

    module, calls = module_of(forward, hooks=hooks)
    out = module(make.ones(2, requires_grad=True))
    outs = [out] if alone else [*out]
    assert [type(one).__name__ for one in outs] == [subject.value] * len(outs)
    sum(one.sum() for one in outs).backward()
    assert calls == [[[[float(sum(by[: len(outs)]))] * 2], [[1.0] * 2] * len(outs)]] * hooks


@clause(
    "backward.structures.rebuilt",
    says="A module with a full backward hook may return any tuple class, such as those of torch.return_types.",
    where="an output requires grad",
    source=(KEEPS_CLASS, DOCS),
    asked="does hook break named return such as max sort values indices result struct sequence type preserved",
    level="observed",
    matters_if="full_backward|full_backward_pre ?output_tuple_class",
    note="Since 2.2: torch.return_types cannot be made so, nor a tuple class that takes one iterable. A class of that "
    "sort that holds one tensor is made by iterating over it: the output of the module changes without a word.",
    needs=FULL,
    readings=(
        Reading(
            "rebuilt from its tensors",
            ">=2.2",
            "With a full backward hook, tuple classes that do not take items one by one raise TypeError, or change.",
            says_the_same=False,
            effect="error",
            value=["TypeError", "TypeError", ("Pair", [[[[2.0, 0.0]], [[1.0, 0.0]]]], [2.0, 0.0], [])],
        ),
        Reading(
            "a plain tuple",
            "<2.2",
            "With a full backward hook, an output of a tuple class becomes a plain tuple.",
            effect="silent",
            value=[("tuple", [[[[2.0, 2.0]], [[1.0, 1.0], None]]], [2.0, 2.0], [])] * 2
            + [("tuple", [[[[2.0, 2.0]], [[1.0, 1.0]]]], [2.0, 2.0], [])],
        ),
    ),
)
def test_rebuilt(subject: Subject) -> None:
    import torch

    assert [
        run(lambda x: torch.max(2 * x.view(2, 1), 1), lambda out: out[0]),
        run(lambda x: Pair((2 * x, 3 * x)), lambda out: out[0]),
        run(lambda x: Pair((2 * x,)), lambda out: out[0]),
    ] == subject.value


@clause(
    "backward.structures.sparse",
    says="A sparse input that needs a gradient raises an error in a module with a full backward hook.",
    where="it is positional",
    source="measured",
    asked="sparse coo adjacency graph network layer crash after adding hook not implemented view",
    matters_if="full_backward ?sparse",
    needs=FULL,
    readings=by_release(
        ("error", "error"),
        ("1.9", "NotImplementedError", "NotImplementedError"),
        "A sparse input that needs a gradient raises NotImplementedError in a module with a full backward hook.",
        ("", "RuntimeError", "RuntimeError", "too"),
        "A sparse input that needs a gradient raises RuntimeError in a module with a full backward hook.",
    ),
    witness={"size": 2, "grad": True, "hooks": 1},
)
@given(size=SOME, grad=st.booleans(), hooks=st.integers(0, 2))
def test_sparse(subject: Subject, size: int, grad: bool, hooks: int) -> None:

    module, _ = module_of(lambda x: x.to_dense(), hooks=hooks)
    try:
        seen: Any = module(make.eye(size).to_sparse().requires_grad_(grad)).tolist()
    except (NotImplementedError, RuntimeError) as error:
        seen = type(error).__name__
    # Without a hook, or without a gradient, it passes.
    assert seen == (subject.value if grad and hooks else make.eye(size).tolist())
