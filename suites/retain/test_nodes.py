"""retain_grad() next to hooks of nodes: the note gives an order, torch has another one."""

from dataclasses import replace
from itertools import accumulate
from math import prod
from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.draw.contract import by_contract
from fixtures.draw.plans import FACTORS, available
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Retain, Scale, hooks_of
from suites.names import EXECUTION
from suites.shapes import SCALES, on_product, starts
from suites.tensors import item, leaf, multiplies

FIRST_TENSOR_HOOKS = (
    EXECUTION + ' "hooks registered to Tensor are executed 2. pre-hook registered to Node are executed"'
)
ORDERED = "test: test/test_autograd.py TestAutograd.test_prehook_ordering"
#: Every node has it since 1.13; the class of all nodes can be named since 2.0 only.
PREHOOKS = "torch.autograd.Function.register_prehook"
#: Hooks of a non-leaf tensor and pre-hooks of its node, in order of registration, each with its factor.
HOOKS = st.lists(st.tuples(st.sampled_from(["pre", "tensor"]), FACTORS), min_size=1, max_size=4)


def by_turns(kinds: List[str]) -> List[str]:
    """The kinds in the order in which their first hook was registered: that of torch 1.13."""
    return list(dict.fromkeys(kinds))


@clause(
    "retain.nodes.before_pre_hooks",
    says="What pre-hooks of y.grad_fn return is not in the gradient that y.retain_grad() keeps.",
    source=(EXECUTION, ORDERED),
    asked="grad_fn.register_prehook modified grad_outputs not reflected in stored activation gradient clip ignored",
    matters_if="node_pre returns ?kept",
    needs=PREHOOKS,
    readings=(
        *by_release(
            "silent",
            ("2.0", "before pre-hooks", "before"),
            "What pre-hooks of y.grad_fn return is not in the gradient that y.retain_grad() keeps.",
            ("1.13", "by what came first", "turns"),
            "What pre-hooks of a node return is in the kept gradient, unless retain_grad() came before the first hook.",
        ),
        Reading(
            "after, as the note says",
            "never",
            "Pre-hooks find no kept gradient, and what they return is in it.",
            value="after",
        ),
    ),
    witness={"hooks": [("pre", 10), ("tensor", 3)], "place": 1, "passes": 1},
    docs="contradicts",
    note="The note lists pre-hooks of nodes as step 2 and the update of a retained .grad as step 3.",
)
@given(hooks=HOOKS, place=st.integers(0, 4), passes=st.integers(1, 2))
def test_before_pre_hooks(subject: Subject, hooks: List[Tuple[str, int]], place: int, passes: int) -> None:
    found: List[Any] = []
    x = leaf(1)
    y = 3 * x

    def pre_hook(grads: Any, by: int) -> Any:
        found.append(item(y.grad))
        return (grads[0] * by,)

    row = [*hooks[:place], ("keep", 1), *hooks[place:]]
    for kind, by in row:
        if kind == "keep":
            y.retain_grad()
        elif kind == "pre":
            y.grad_fn.register_prehook(lambda grads, by=by: pre_hook(grads, by))
        else:
            y.register_hook(multiplies(by))
    for _ in range(passes):
        (2 * y).backward(retain_graph=True)
    orders = {
        "before": ["tensor", "keep", "pre"],
        "after": ["tensor", "pre", "keep"],
        "turns": by_turns([kind for kind, _ in row]),
    }
    order = orders[subject.value]
    kept_after = order[: order.index("keep")]
    own = 2 * prod(by for kind, by in hooks if kind in kept_after)
    pres = sum(kind == "pre" for kind, _ in hooks)
    totals = [own * (number + 1) for number in range(passes)]
    seen = [None, *totals[:-1]] if "pre" in kept_after else totals
    assert found == [total for total in seen for _ in range(pres)]
    assert (y.grad.item(), x.grad.item()) == (totals[-1], passes * 6 * prod(by for _, by in hooks))


@clause(
    "retain.nodes.after_tensor_hooks",
    says="The tensor hooks of y run before the pre-hooks of y.grad_fn, whichever was registered first.",
    source=(FIRST_TENSOR_HOOKS, ORDERED),
    asked="register_hook versus grad_fn.register_prehook which is called earlier autograd graph",
    about="register_prehook",
    matters_if="node_pre ?hooked_again",
    needs=PREHOOKS,
    readings=by_release(
        "silent",
        ("2.0", "tensor hooks first", {"node_pre_order": "last"}),
        "The tensor hooks of y run before the pre-hooks of y.grad_fn, whichever was registered first.",
        ("1.13", "by registration", {"node_pre_order": "registered"}),
        "The tensor hooks of y run after the pre-hooks of y.grad_fn if a pre-hook was registered before all of them.",
    ),
    witness=Plan(
        Leaf("m0", "mul"),
        (Input(1), Input(1)),
        (
            Forward(),
            Hook("node_pre", "m0>0", "h0", (Scale(3),)),
            Hook("tensor", "m0>0", "h1", (Scale(10),)),
            Backward(),
        ),
    ),
)
@given(plan=on_product(("node_pre", "tensor"), SCALES))
def test_after_tensor_hooks(subject: Subject, plan: Plan) -> None:
    kinds = [hook.kind for hook in hooks_of(plan)]
    first = ["tensor", "node_pre"] if subject.reading.facts["node_pre_order"] == "last" else by_turns(kinds)
    due = sorted(hooks_of(plan), key=lambda hook: first.index(hook.kind))
    assert subject.holds(plan).calls() == [hook.label for hook in due] * len(starts(plan))


#: The kinds of hook of a leaf, as they run; those after the second find the new .grad.
KINDS = ("tensor", "pre", "post_accumulate", "post")
#: The order of 1.13, which has no post-accumulate hooks.
PRE_HOOKS_FIRST = ("pre", "tensor", "post")


@clause(
    "retain.nodes.leaf",
    says="For a leaf: tensor hooks, then pre-hooks of its node, then .grad is set, then post-accumulate hooks.",
    where="the program keeps the node in a variable",
    source=(FIRST_TENSOR_HOOKS, "test: test/test_autograd.py TestAutograd.test_post_accumulate_grad_hook_ordering"),
    asked="parameter sequence of register_hook accumulategrad prehook "
    "register_post_accumulate_grad_hook when is gradient written",
    matters_if="node_pre ?hooked_again",
    needs=PREHOOKS,
    note="Post-accumulate hooks are drawn where there are any: from 2.1 on.",
    readings=(
        *by_release(
            "silent",
            ("2.0", "in this order", "this order"),
            "For a leaf: tensor hooks, then pre-hooks of its node, then .grad is set, then post-accumulate hooks.",
            ("1.13", "pre-hooks first", "pre-hooks first"),
            "For a leaf: pre-hooks of its node, then tensor hooks, then .grad is set, then hooks of its node.",
        ),
        Reading("by registration", "never", "The hooks of a leaf run in the order of the calls.", value="calls"),
    ),
    witness={"hooks": ["post", "tensor", "pre", "tensor"], "passes": 1},
)
@given(
    hooks=by_contract(lambda contract: st.lists(st.sampled_from(available(contract, KINDS)), min_size=1, max_size=7)),
    passes=st.integers(1, 3),
)
def test_leaf(subject: Subject, hooks: List[str], passes: int) -> None:
    seen: List[Any] = []
    x = leaf(1)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    doors = {"tensor": x.register_hook, "pre": node.register_prehook, "post": node.register_hook}
    if "post_accumulate" in hooks:
        doors["post_accumulate"] = x.register_post_accumulate_grad_hook
    for number, kind in enumerate(hooks):
        doors[kind](lambda *given, number=number: seen.append((number, item(x.grad))))
    for _ in range(passes):
        (2 * x).backward()
    order = list(range(len(hooks)))
    if subject.value != "calls":
        first = KINDS if subject.value == "this order" else PRE_HOOKS_FIRST
        order.sort(key=lambda number: first.index(hooks[number]))
    totals = [None, *(2 * number for number in range(1, passes + 1))]
    expected = []
    for before, after in zip(totals, totals[1:]):
        expected += [(number, before if hooks[number] in ("tensor", "pre") else after) for number in order]
    assert seen == expected


def keeping(plan: Plan, early: bool) -> Plan:
    """The plan with retain_grad() on the output, before its hooks or after them."""
    place = 1 if early else 1 + len(hooks_of(plan))
    return replace(plan, steps=(*plan.steps[:place], Retain("m0>0"), *plan.steps[place:]))


@clause(
    "retain.nodes.before_node_hooks",
    says="What hooks of y.grad_fn return is not in the gradient that y.retain_grad() keeps.",
    source=(
        'docs: torch.autograd.graph.Node.register_hook "which will be used in place of :attr:`grad_inputs`"',
        EXECUTION + ' "post-hook registered to Node are executed (if Node is executed)"',
    ),
    asked="grad_fn.register_hook modified grad_inputs not reflected in stored activation gradient",
)
@given(plan=st.builds(keeping, on_product(("node",), SCALES), st.booleans()))
def test_before_node_hooks(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    totals = list(accumulate(starts(plan)))
    assert [grads["m0>0"] for grads in trace.grads()] == totals
    by = prod(hook.do[0].by for hook in hooks_of(plan))
    left, right = (spec.value if plan.net.op == "mul" else 1 for spec in plan.inputs)
    assert [(grads["x0"], grads["x1"]) for grads in trace.grads()] == [
        (total * right * by, total * left * by) for total in totals
    ]
