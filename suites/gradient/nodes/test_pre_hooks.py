"""Pre-hooks of autograd nodes, which run before a node, with the gradients that it is given."""

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Scale, hooks_of
from suites.gradient.nodes.plans import NONES, acts, both
from suites.gradient.nodes.sources import AFTER_TENSOR_HOOKS, HAS_PRE, PRE_HOOK, PRE_REPLACES
from suites.shapes import LOOKS, SCALES, on_product, starts

ABOUT = "Node.register_hook"


@clause(
    "gradient.nodes.pre_given",
    says="The first pre-hook of the node of y = w * x is given (gradient of y,) before the node uses that gradient.",
    where="no tensor hook of y replaces it",
    source=f'{PRE_HOOK} "hook(grad_outputs: Tuple[Tensor]) -> Tuple[Tensor] or None"',
    asked="register_prehook argument grad_outputs called before op backward computes what does it receive",
    needs=HAS_PRE,
)
@given(plan=on_product(("node_pre", "node"), LOOKS))
def test_pre_given(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    passes = starts(plan)
    for hook in hooks_of(plan, "node_pre"):
        assert trace.seen_by(hook.label) == [((grad,),) for grad in passes]
    kinds = {hook.label: hook.kind for hook in hooks_of(plan)}
    called = [kinds[label] for label in trace.calls()][: len(kinds)]
    assert called == sorted(called, reverse=True)


@clause(
    "gradient.nodes.pre_replaces",
    says="The tuple that a pre-hook of a node returns goes to the next pre-hook; what the last leaves, to the node.",
    where="every output is in the loss",
    source=PRE_REPLACES,
    asked="register_prehook modify grad_outputs chained order of several does next one see change",
    needs=HAS_PRE,
)
@given(plan=on_product(("node_pre", "node"), SCALES | LOOKS))
def test_pre_replaces(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    left = starts(plan)[0]
    for hook in hooks_of(plan, "node_pre"):
        assert trace.seen_by(hook.label)[0] == ((left,),)
        left *= prod(action.by for action in hook.do)
    assert all(trace.seen_by(hook.label)[0][1] == (left,) for hook in hooks_of(plan, "node"))


@clause(
    "gradient.nodes.pre_several",
    says="With a full backward hook on a module a pre-hook of its outputs' node is given a gradient for each output.",
    where="it returns a tuple of tensors, all in the loss",
    source=PRE_REPLACES,
    asked="backwardhookfunction grad_fn register_prehook module with multiple outputs tuple length",
    needs=HAS_PRE,
    note="The node is that of a full backward hook, which is around all outputs of a module.",
)
@given(
    plan=st.builds(
        lambda weight, value, factors, grads: Plan(
            Leaf("m0", "many", (weight,), outputs=len(grads)),
            (Input(value),),
            (
                Hook("full_backward", "m0", "h"),
                Forward(),
                *(
                    Hook("node_pre", f"m0>{by % len(grads)}", f"p{place}", (Scale(by),))
                    for place, by in enumerate(factors)
                ),
                Backward(grads),
            ),
        ),
        NUMBERS,
        NUMBERS,
        st.lists(FACTORS, min_size=1, max_size=3),
        st.builds(lambda first, more: (first, *more), NUMBERS, st.lists(st.none() | NUMBERS, min_size=1, max_size=4)),
    )
)
def test_pre_several(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    left = plan.steps[-1].grads
    for hook in hooks_of(plan, "node_pre"):
        assert trace.seen_by(hook.label) == [(left,)]
        left = tuple(None if grad is None else grad * hook.do[0].by for grad in left)


@clause(
    "gradient.nodes.pre_none_drops",
    says="If a pre-hook of the node of w * x or w + x returns (None,), the node sends None on.",
    source="measured",
    asked="register_prehook return none inside tuple cut gradient flow for multiplication addition crash or zero",
    needs=HAS_PRE,
)
@given(plan=on_product(("node_pre",), NONES, looking=("node",)).filter(acts))
def test_pre_none_drops(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert all(trace.seen_by(hook.label)[0] == ((None, None), (None,)) for hook in hooks_of(plan, "node"))
    assert trace.grads()[-1] == {"x0": None, "x1": None}


@clause(
    "gradient.nodes.pre_after_tensor_hooks",
    says="A pre-hook of a node runs after all tensor hooks of its output, whichever was registered first.",
    source=AFTER_TENSOR_HOOKS,
    asked="register_prehook order relative to tensor callbacks sees final "
    "modified activation gradient registration time irrelevant",
    matters_if="node_pre ?hooked_again",
    needs=HAS_PRE,
    readings=by_release(
        "silent",
        ("2.0", "after", {"node_pre_order": "last"}),
        "Pre-hooks of a node run after all tensor hooks of its output.",
        ("", "by turns", {"node_pre_order": "registered"}),
        "Pre-hooks of a node and tensor hooks of its output run in the order of the first registration of each.",
    ),
    witness=Plan(
        Leaf("m0", "mul"),
        (Input(1), Input(1)),
        (
            Forward(),
            Hook("node_pre", "m0>0", "h0", (Scale(2),)),
            Hook("tensor", "m0>0", "h1", (Scale(3),)),
            Backward((1,)),
        ),
    ),
)
@given(plan=on_product(("node_pre", "tensor"), SCALES | LOOKS).filter(both))
def test_pre_after_tensor_hooks(subject: Subject, plan: Plan) -> None:
    last = subject.reading.facts["node_pre_order"] == "last"
    kinds = ["tensor", "node_pre"] if last else dict.fromkeys(hook.kind for hook in hooks_of(plan))
    due = [hook.label for kind in kinds for hook in hooks_of(plan, kind)]
    assert subject.holds(plan).calls() == due * len(starts(plan))
