"""What happens when a backward hook returns something else than one gradient for each place, or registers a hook."""

from typing import Any, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS, plans
from fixtures.plan import Add, Backward, Chain, Forward, Give, Hook, Input, Leaf, Plan, Scale
from fixtures.subject import Subject

DOCS = "docs: torch.nn.Module.register_full_backward_hook"
PRE_DOCS = "docs: torch.nn.Module.register_full_backward_pre_hook"
FULL = "torch.nn.Module.register_full_backward_hook"
PRE = "torch.nn.Module.register_full_backward_pre_hook"
PAIR = st.tuples(NUMBERS, NUMBERS)
MAYBE_SCALE = st.one_of(st.just(()), st.builds(lambda by: (Scale(by),), FACTORS))
NO_GRADIENT = (Hook("full_backward", "m2", "h0", (Give("nones"),)), Hook("full_backward", "m1", "h1"))
FULL_KINDS = st.sampled_from(["full_backward", "full_backward_pre"])


def line(values: Tuple[int, ...], hooks: Tuple[Any, ...], *steps: Any, grad: bool = True) -> Plan:
    """Two scaling modules m1 and m2, one after the other, with hooks and a forward."""
    net = Chain("m0", (Leaf("m1", "scale", values[:1]), Leaf("m2", "scale", values[1:])))
    return Plan(net, (Input(3, grad=grad),), (*hooks, Forward(), *steps))


@clause(
    "backward.wrong.longer",
    says="A backward hook that returns a gradient too many ends backward() with RuntimeError, and is the last.",
    source=DOCS,
    needs=PRE,
    covers=("module_backward.ret.full.too_long", "module_backward.ret.pre.too_long", "graph.full.return_wrong_len"),
)
@given(
    plan=st.builds(
        lambda kind, values, grad, do: line(
            values,
            (Hook(kind, "m2", "h0", do), Hook(kind, "m2", "h1", (Give("longer"),)), Hook(kind, "m2", "h2")),
            Backward((grad,)),
        ),
        FULL_KINDS,
        PAIR,
        NUMBERS,
        MAYBE_SCALE,
    )
)
def test_longer(subject: Subject, plan: Plan) -> None:
    trace, left = subject.holds(plan), [name for name in ("m2.weight",) if plan.steps[0].kind == "full_backward"]
    assert (trace.calls(), trace.raised()) == (["h0", "h1"], [("backward", "RuntimeError")])
    assert [name for name, grad in trace.grads()[0].items() if grad is not None] == left


@clause(
    "backward.wrong.nones",
    says="A full hook may return None for a gradient: the hook of the module behind it then sees None.",
    source="measured",
    needs=FULL,
    covers=("module_backward.eff.full.none_upstream", "module_backward.ret.full.none_in_tuple"),
    readings=(
        Reading("none", ">=2.0", "The weight behind it gets no gradient.", {"full_output_returns": "none"}),
        Reading("zeros", "<2.0", "The weight behind it gets a gradient of zeros.", {"full_output_returns": "zeros"}),
    ),
    witness=line((1, 1), NO_GRADIENT, Backward()),
)
@given(
    plan=st.builds(
        lambda values, grad: line(
            values,
            NO_GRADIENT,
            Backward((grad,)),
        ),
        PAIR,
        NUMBERS,
    )
)
def test_nones(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.seen_by("h1") == [("m1", (0,), (None,))]


@clause(
    "backward.wrong.legacy_anything",
    says="Whatever a legacy hook returns that is no tuple of the right length ends backward() with an error.",
    source="docs: torch.nn.Module.register_backward_hook",
    covers=("module_backward.ret.legacy.list", "module_backward.ret.legacy.wrong_len"),
)
@given(
    plan=st.builds(
        lambda values, grad, what: line(values, (Hook("backward", "m2", "h0", (Give(what),)),), Backward((grad,))),
        PAIR,
        NUMBERS,
        st.sampled_from(["longer", "list"]),
    )
)
def test_legacy_anything(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert (len(trace.raised()), set(trace.grads()[0].values())) == (1, {None})


@clause(
    "backward.wrong.legacy_nones",
    says="Where a legacy hook returns None for a gradient, nothing behind it gets more than zeros.",
    source="measured",
)
@given(
    plan=st.builds(
        lambda values, grad: line(values, (Hook("backward", "m2", "h0", (Give("nones"),)),), Backward((grad,))),
        PAIR,
        NUMBERS,
    )
)
def test_legacy_nones(subject: Subject, plan: Plan) -> None:
    assert set(subject.holds(plan).grads()[0].values()) <= {None, 0}


@clause(
    "backward.wrong.list",
    says="A full hook may return a list in place of a tuple; the gradients in it count.",
    source="measured",
    needs=PRE,
    covers=("module_backward.ret.full.list",),
)
@given(
    plan=st.builds(
        lambda kind, values, grad, do: line(
            values, (Hook(kind, "m2", "h0", (*do, Give("list"))), Hook(kind, "m1", "h1", do)), Backward((grad,))
        ),
        FULL_KINDS,
        PAIR,
        NUMBERS,
        MAYBE_SCALE,
    )
)
def test_list(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert (trace.calls(), trace.raised()) == (["h0", "h1"], [])


@clause(
    "backward.wrong.registered_in_hook",
    says="A backward hook that a backward hook registers runs from the next forward on.",
    source="measured",
    needs=FULL,
    covers=("module_backward.fire.full.added_in_hook",),
)
@given(
    plan=st.builds(
        lambda kind, do, grad: line(
            (2, 3),
            (Hook(kind, "m2", "h0", (Add(Hook(kind, "m2", "new", do)),)),),
            Backward((grad,)),
            Forward(),
            Backward((grad,)),
        ),
        st.sampled_from(["full_backward", "backward"]),
        MAYBE_SCALE,
        NUMBERS,
    )
)
def test_registered_in_hook(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["h0", "h0", "new"]


@clause(
    "backward.wrong.registered_in_pre_hook",
    says="A full hook that a forward pre-hook registers is not in force in that call, but in the next.",
    source="measured",
    needs=FULL,
    covers=("module_backward.fire.full.registered_in_forward_pre_hook",),
)
@given(
    plan=st.builds(
        lambda kind, do, grad: line(
            (2, 3),
            (Hook("forward_pre", "m2", "h0", (Add(Hook("full_backward", "m2", "new", do)),)), Hook(kind, "m1", "h1")),
            Backward((grad,)),
            Forward(),
            Backward((grad,)),
        ),
        st.sampled_from(["full_backward", "backward"]),
        MAYBE_SCALE,
        NUMBERS,
    )
)
def test_registered_in_pre_hook(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["h0", "h1", "h0", "new", "h1"]


@clause(
    "backward.wrong.under_no_grad",
    says="Calls under no_grad between others leave full hooks without a word, and change nothing of the rest.",
    source="https://github.com/pytorch/pytorch/issues/59901",
    needs=FULL,
    readings=(
        Reading("accepted", ">=1.10", "The hooks are not set up.", {"full_without_grad": "skipped"}),
        Reading("RuntimeError", ">=1.9,<1.10", "The forward fails.", {"full_without_grad": "RuntimeError"}),
        Reading("AttributeError", "<1.9", "The forward fails.", {"full_without_grad": "AttributeError"}),
    ),
    witness=line((1, 1), (Hook("full_backward", "m1", "h0"),), Forward(grad=False), Forward(), Backward()),
    covers=("module_backward.fire.full.no_grad_forward",),
)
@given(
    plan=st.builds(
        lambda kind, do, grads: line(
            (2, 3),
            (Hook("full_backward", "m1", "h0", do),),
            *(Forward(grad=grad) for grad in grads),
            Forward(),
            Backward(),
        ),
        FULL_KINDS,
        MAYBE_SCALE,
        st.lists(st.booleans(), min_size=1, max_size=3),
    )
)
def test_under_no_grad(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["h0"]


@clause(
    "backward.wrong.anywhere",
    says="In any network a hook that returns something else ends the pass, or counts, by the same rules.",
    source="measured",
    needs=FULL,
)
@given(
    plan=plans(
        kinds=("full_backward", "full_backward_pre"),
        does=("give", "scale", "add", "drop"),
        inputs=(1, 2),
        outputs=(1, 2),
        depth=2,
        runs=2,
        no_grad=True,
    )
)
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "backward.wrong.legacy_anywhere",
    says="In any network a legacy hook that returns something else ends the pass, or counts.",
    source="measured",
)
@given(
    plan=plans(
        kinds=("backward",),
        does=("give", "scale", "add", "drop"),
        inputs=(1, 2),
        outputs=(1, 2),
        depth=2,
        runs=2,
        no_grad=True,
    )
)
def test_legacy_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
