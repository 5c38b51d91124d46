"""Hooks of autograd nodes: behind a node with the gradients it sends on, and before it with those it is given."""

from math import prod
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Fan, Forward, Hook, Input, Leaf, Plan, Remove, Scale, hooks_of
from suites.gradient.asking import INNER, asked_alone
from suites.gradient.products import LOOKS, NONES, SCALES, WRONG, acts, both, on_product, starts
from suites.shapes import product

ABOUT = "Node.register_hook"

HOOK = "docs: torch.autograd.graph.Node.register_hook"
PRE_HOOK = "docs: torch.autograd.graph.Node.register_prehook"
REPLACES = f'{HOOK} "a new gradient which will be used in place of"'
PRE_REPLACES = f'{PRE_HOOK} "a new gradient which will be used in place of"'
SIGNATURE = f'{HOOK} "hook(grad_inputs: Tuple[Tensor], grad_outputs: Tuple[Tensor]) -> Tuple[Tensor] or None"'
PRE_SIGNATURE = f'{PRE_HOOK} "hook(grad_outputs: Tuple[Tensor]) -> Tuple[Tensor] or None"'
IN_ORDER = 'note: autograd.html#backward-hooks-execution "executed in the order in which they are registered"'
ONLY_EXECUTED = 'note: autograd.html#backward-hooks-execution "only fired if the Node it was registered to is executed"'
AFTER_TENSOR_HOOKS = (
    "note: autograd.html#backward-hooks-execution "
    '"hooks registered to Tensor are executed 2. pre-hook registered to Node are executed"'
)
CALLED = f'{HOOK} "called every time a gradient with respect to the Node is computed"'
#: torch.autograd.graph.Node, where it is documented, came later than the method.
HAS_PRE = "torch._C._functions.AccumulateGrad.register_prehook"


@clause(
    "gradient.nodes.given",
    says="y.backward() gives a hook of the node of y = w * x (gradient for w, gradient for x) and (gradient of y,).",
    where=("w and x need gradients", "there is no other hook"),
    source=SIGNATURE,
    asked="grad_fn register_hook arguments grad_inputs grad_outputs meaning which is which",
)
@given(plan=on_product(("node",), LOOKS))
def test_given(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    left, right = (spec.value for spec in plan.inputs)
    factors = (right, left) if plan.net.op == "mul" else (1, 1)
    passes = starts(plan)
    for hook in hooks_of(plan):
        assert trace.seen_by(hook.label) == [((grad * factors[0], grad * factors[1]), (grad,)) for grad in passes]


@clause(
    "gradient.nodes.replaces",
    says="In backward() a hook of the node of y = w * x can replace what the node sends, also to the next hook.",
    where="w and x both need a gradient",
    source=(REPLACES, IN_ORDER),
    asked="grad_fn register_hook modify grad_inputs override gradient flowing to inputs chained callbacks",
)
@given(plan=on_product(("node",), SCALES | LOOKS))
def test_replaces(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks = hooks_of(plan)
    by = prod(action.by for hook in hooks for action in hook.do)
    first, last = trace.seen_by("h0")[0], trace.seen_by(hooks[-1].label)[0]
    before = prod(action.by for hook in hooks[:-1] for action in hook.do)
    assert last[0] == tuple(grad * before for grad in first[0])
    assert (trace.grads()[0]["x0"], trace.grads()[0]["x1"]) == tuple(grad * by for grad in first[0])
    assert last[1] == first[1]


@clause(
    "gradient.nodes.none_drops",
    says="If a hook of the node of y = w * x returns (None, None), y.backward() changes neither w.grad nor x.grad.",
    where="w and x are leaves with no other use",
    source="measured",
    asked="block gradient flow from grad_fn hook stop parameters from getting grad return none tuple",
)
@given(plan=on_product(("node",), NONES).filter(acts))
def test_none_drops(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.grads()[-1] == {"x0": None, "x1": None}


@clause(
    "gradient.nodes.after_tensor_hooks",
    says="A hook of the node of y = w * x is given y's gradient as tensor hooks left it, whichever came first.",
    where=("no pre-hook is there", "no tensor is changed in place"),
    source=AFTER_TENSOR_HOOKS,
    asked="grad_fn register_hook sees gradient already modified by tensor callbacks order grad_outputs",
)
@given(plan=on_product(("node", "tensor"), SCALES).filter(both))
def test_after_tensor_hooks(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    by = product(hooks_of(plan, "tensor"))
    for hook in hooks_of(plan, "node"):
        assert [given_to for _, given_to in trace.seen_by(hook.label)] == [(grad * by,) for grad in starts(plan)]


@clause(
    "gradient.nodes.removed",
    says="A hook of a node that was removed is not called in later passes; the other hooks of the node are.",
    where="the passes run the node",
    source=f'{HOOK} "that removes the hook from the module"',
    asked="unregister grad_fn callback handle remove only one stops firing with retain_graph",
)
@given(
    plan=st.builds(
        lambda values, does, removed, leave: Plan(
            Leaf("m0", "mul"),
            tuple(Input(value) for value in values),
            (
                Forward(),
                *(Hook("node", "m0>0", f"h{place}", do) for place, do in enumerate(does)),
                Backward((1,), retain_graph=True),
                Remove(f"h{removed % len(does)}", leave=leave),
                Backward((1,)),
            ),
        ),
        st.lists(NUMBERS, min_size=2, max_size=2),
        st.lists(SCALES | LOOKS, min_size=1, max_size=4),
        st.integers(0, 3),
        st.booleans(),
    )
)
def test_removed(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    gone = next(step.label for step in plan.steps if isinstance(step, Remove))
    assert [len(trace.seen_by(hook.label)) for hook in hooks_of(plan)] == [
        1 if hook.label == gone else 2 for hook in hooks_of(plan)
    ]


@clause(
    "gradient.nodes.of_each_module",
    says="A hook of the node that made a module's output is called once in each pass that runs the node.",
    source=CALLED,
    asked="forward hook registers on output grad_fn log backward timing of every layer counts once",
)
@given(
    plan=st.builds(
        lambda values, on, passes: Plan(
            Fan("m0", (Leaf("m1", "scale", values[:1]), Leaf("m2", "scale", values[1:]))),
            (Input(3),),
            (
                Forward(),
                *(Hook("node", f"m{module}>0", f"h{place}") for place, module in enumerate(on)),
                *(Backward(grads) for grads in passes),
            ),
        ),
        st.tuples(NUMBERS, NUMBERS),
        st.lists(st.sampled_from([1, 2]), min_size=1, max_size=3),
        st.lists(st.sampled_from([(1, 2), (3, None), (None, 2)]), min_size=1, max_size=3),
    )
)
def test_of_each_module(subject: Subject, plan: Plan) -> None:
    trace, passes = subject.holds(plan), [step.grads for step in plan.steps if isinstance(step, Backward)]
    for hook in hooks_of(plan):
        output = ("m1>0", "m2>0").index(hook.on)
        assert len(trace.seen_by(hook.label)) == sum(grads[output] is not None for grads in passes)


@clause(
    "gradient.nodes.only_executed",
    says="autograd.grad(loss, y) calls no hook of the node that made y: that node is not executed.",
    source=ONLY_EXECUTED,
    asked="grad_fn hook never called with torch autograd grad for intermediate activation grad-cam",
)
@given(plan=asked_alone((INNER,), "node", Scale))
def test_only_executed(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == []


# --- before a node -----------------------------------------------------------------------------


@clause(
    "gradient.nodes.pre_given",
    says="The first pre-hook of the node of y = w * x is given (gradient of y,) before the node uses that gradient.",
    where="no tensor hook of y replaces it",
    source=PRE_SIGNATURE,
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


@each(
    Row(
        "gradient.nodes.wrong",
        "A hook of a node that returns neither None nor a tuple of the right length makes backward() raise.",
        "code: torch/include/torch/csrc/autograd/python_hook.h",
        asked="grad_fn register_hook returned single tensor or list error wrong number of grad_inputs",
        kind="node",
        where="the pass runs the node",
    ),
    Row(
        "gradient.nodes.pre_wrong",
        "A pre-hook of a node that returns neither None nor a tuple of the right length makes backward() raise.",
        "code: torch/include/torch/csrc/autograd/python_hook.h",
        asked="register_prehook returned bare tensor not tuple or bad size crash error",
        needs=HAS_PRE,
        kind="node_pre",
        where="the pass runs the node",
    ),
    plan=lambda row: on_product((row.kind,), WRONG).filter(acts),
)
def wrong(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace = subject.holds(plan)
    assert [step for step, _ in trace.raised()] == ["backward"] * len(starts(plan))
    assert trace.grads()[-1] == {"x0": None, "x1": None}


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
    where="no tensor is changed in place",
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
