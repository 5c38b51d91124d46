"""Hooks of autograd nodes, which run behind a node, with the gradients that it sends on."""

from math import prod
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import (
    Backward,
    Forward,
    Hook,
    Input,
    Leaf,
    Parallel,
    Plan,
    Remove,
    ReturnWrong,
    Scale,
    hooks_of,
)
from suites.gradient.nodes.plans import NONES, acts, both
from suites.gradient.nodes.sources import AFTER_TENSOR_HOOKS, HAS_PRE, HOOK
from suites.gradient.plans import INNER, asked_alone
from suites.shapes import LOOKS, SCALES, on_product, product, starts

ABOUT = "Node.register_hook"

WRONG = LOOKS | st.sampled_from([(ReturnWrong("list"),), (ReturnWrong("longer"),), (ReturnWrong("number"),)])


@clause(
    "gradient.nodes.given",
    says="y.backward() gives a hook of the node of y = w * x (gradient for w, gradient for x) and (gradient of y,).",
    where=("w and x require grad", "there is no other hook"),
    source=f'{HOOK} "hook(grad_inputs: Tuple[Tensor], grad_outputs: Tuple[Tensor]) -> Tuple[Tensor] or None"',
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
    where="w and x both require grad",
    source=(
        f'{HOOK} "a new gradient which will be used in place of"',
        'note: autograd.html#backward-hooks-execution "executed in the order in which they are registered"',
    ),
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
    where="there is no pre-hook",
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
    source=f'{HOOK} "called every time a gradient with respect to the Node is computed"',
    asked="forward hook registers on output grad_fn log backward timing of every layer counts once",
)
@given(
    plan=st.builds(
        lambda values, on, passes: Plan(
            Parallel("m0", (Leaf("m1", "scale", values[:1]), Leaf("m2", "scale", values[1:]))),
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
    source='note: autograd.html#backward-hooks-execution "only fired if the Node it was registered to is executed"',
    asked="grad_fn hook never called with torch autograd grad for intermediate activation grad-cam",
)
@given(plan=asked_alone((INNER,), "node", Scale))
def test_only_executed(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == []


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
