"""A hook on a tensor is given the gradient of that tensor; what it returns takes the gradient's place.

`Tensor.register_hook` is the oldest hook and the simplest: one argument, one value to return, None to leave things be.
"""

from itertools import accumulate
from math import prod
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Call, Forward, Hook, Input, Leaf, Parallel, Plan, Scale
from suites.gradient.sources import ADDS, CALLED, REPLACES, SIGNATURE
from suites.names import EXECUTION, IN_ORDER
from suites.shapes import starts
from suites.tensors import item, leaf, multiplies

ABOUT = "register_hook"


@st.composite
def line(draw: Any, on: str, fewest: int = 1, most: int = 4, passes: int = 1, act: bool = True) -> Plan:
    """One module y = weight * x with hooks on one of its tensors, and one or more backward passes."""
    hooks = tuple(
        Hook("tensor", on, f"h{index}", (Scale(draw(FACTORS)),) if act and draw(st.booleans()) else ())
        for index in range(draw(st.integers(fewest, most)))
    )
    backwards = tuple(Backward((draw(NUMBERS),)) for _ in range(draw(st.integers(1, passes))))
    script = (Forward(),) + hooks if ">" in on else hooks + (Forward(),)
    return Plan(Leaf("m0", "scale", (draw(NUMBERS),)), (Input(draw(NUMBERS)),), script + backwards)


@st.composite
def used(draw: Any) -> Plan:
    """x with a replacing hook is multiplied by weights and added to itself; a pass begins at all these outputs."""
    uses = [
        Leaf(f"m{place}", "scale", (by,)) if by else Leaf(f"m{place}", "add", takes=Call((0, 0)))
        for place, by in enumerate(draw(st.lists(NUMBERS | st.none(), min_size=2, max_size=4)), 1)
    ]
    hook = Hook("tensor", "x0", "h0", (Scale(draw(FACTORS)),))
    back = Backward((1,) * len(uses))
    return Plan(Parallel("m0", tuple(uses)), (Input(1, leaf=draw(st.booleans())),), (hook, Forward(), back))


def factor(hook: Hook) -> int:
    """What a hook multiplies the gradient by; 1 when it only looks."""
    return hook.do[0].by if hook.do else 1


def hooks_of(plan: Plan) -> Any:
    return [step for step in plan.steps if isinstance(step, Hook)]


@clause(
    "gradient.replace.none_keeps",
    says="A tensor hook that only looks at its gradient and returns None changes no gradient anywhere.",
    see="gradient.edits.own_gradient",
    source=SIGNATURE,
    asked="logging or printing grad norm without return does it alter "
    "training debug safely tensor hook returns None nothing",
)
@given(plan=plans(kinds=("tensor",), does=(), inputs=(1, 2), outputs=(1, 2), depth=2, runs=2))
def test_none_keeps(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.grads() == subject.play(plan.without(Hook)).grads()


@clause(
    "gradient.replace.root_gradient",
    says="y.backward(g) gives g to the first tensor hook of y.",
    where=("g has the dtype of y", "y has no other use and is not changed in place"),
    see="gradient.values.cast_layout",
    source='docs: torch.Tensor.backward "the gradient of the differentiated function w.r.t. ``self``"',
    asked="hook on loss itself what value starts backpropagation one or vector argument custom seed",
)
@given(plan=line("m0>0", most=1, act=False))
def test_root_gradient(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.seen_by("h0") == [plan.steps[-1].grads]


@clause(
    "gradient.replace.into_leaf",
    says="In backward() the gradient that a tensor hook of a leaf returns is added to the leaf's .grad.",
    where="there is no other hook",
    source=REPLACES,
    asked="change parameter gradient freeze mask some weights zero rows optimizer step "
    "uses modified gradient clipping per parameter register_hook return new gradient",
)
@given(plan=line("m0.weight", most=1))
def test_into_leaf(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    ((given_gradient,),) = trace.seen_by("h0")
    assert trace.grads()[-1]["m0.weight"] == given_gradient * factor(plan.steps[0])


@clause(
    "gradient.replace.reaches_upstream",
    says="Upstream of a non-leaf tensor gradients are made from the gradient that its tensor hook returns.",
    where=("there is no other hook", "no other path leads there"),
    source=(REPLACES, EXECUTION),
    asked="clip or scale activation gradient affects earlier layers gradient reversal domain adaptation",
)
@given(plan=line("m0>0", most=1))
def test_reaches_upstream(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hookless = subject.play(plan.without(Hook)).grads()[-1]
    scaled = {name: grad * factor(hooks_of(plan)[0]) for name, grad in hookless.items()}
    assert trace.grads()[-1] == scaled


@clause(
    "gradient.replace.anywhere",
    says="Every plan of the grammar with tensor hooks that replace gradients leaves the trace of the model.",
    source=REPLACES,
    checks_model=True,
)
@given(plan=plans(kinds=("tensor",), inputs=(1, 2), outputs=(1, 2), depth=2, most=5))
def test_anywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.replace.chains_in_order",
    says="Tensor hooks of one tensor run in order of registration, each given what the one before it left.",
    see="gradient.inplace.own_version",
    source=(
        IN_ORDER,
        f'{EXECUTION} "can observe the modifications to the gradient made by earlier hooks"',
    ),
    asked="multiple callbacks same parameter clip then log which first sees modified value "
    "adjacent layers both hooked earlier one sees stale gradient not what the second changed",
)
@given(plan=st.sampled_from(["m0.weight", "x0", "m0>0"]).flatmap(lambda on: line(on, fewest=2)))
def test_chains_in_order(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks = hooks_of(plan)
    assert trace.calls() == [hook.label for hook in hooks]
    for earlier, later in zip(hooks, hooks[1:]):
        assert trace.seen_by(later.label)[0][0] == trace.seen_by(earlier.label)[0][0] * factor(earlier)


@clause(
    "gradient.replace.sees_the_sum",
    says="The first tensor hook of a tensor with several uses is called once in a backward(), with the sum.",
    where="all uses are in the loss",
    source=CALLED,
    asked="skip connection activation used in two branches callback fires twice or "
    "total gradient parameter used several times weight tying shared once",
)
@given(plan=used())
def test_sees_the_sum(subject: Subject, plan: Plan) -> None:
    summed = sum(one.values[0] if one.values else 2 for one in plan.net.children)
    assert subject.holds(plan).seen_by("h0") == [(summed,)]


@clause(
    "gradient.replace.after_the_sum",
    says="A tensor hook replaces the sum over all uses of its tensor once, not the gradient of each use.",
    source=REPLACES,
    asked="shared weight reused activation residual scale gradient applied once or per branch",
)
@given(plan=used())
def test_after_the_sum(subject: Subject, plan: Plan) -> None:
    trace, (plain,) = subject.holds(plan), subject.play(plan.without(Hook)).grads()
    name, times = ("x0", 1) if plan.inputs[0].leaf else ("x0.base", 2)
    assert trace.seen_by("h0") == [(plain[name] // times,)]
    assert trace.grads()[0][name] == plain[name] * plan.steps[0].do[0].by


@clause(
    "gradient.replace.every_backward",
    says="A tensor hook of a leaf is given each backward()'s gradient alone; .grad adds up what it returns.",
    where=("each pass reaches the leaf", "there is no other hook"),
    see="gradient.asked.backward_inputs",
    source=(CALLED, ADDS),
    asked="gradient accumulation does weight callback see running total or only "
    "current minibatch hook called again second backward retain_graph",
)
@given(plan=line("m0.weight", most=1, passes=3))
def test_every_backward(subject: Subject, plan: Plan) -> None:
    trace, given_gradients = subject.holds(plan), [plan.inputs[0].value * grad for grad in starts(plan)]
    assert trace.seen_by("h0") == [(grad,) for grad in given_gradients]
    kept = accumulate(grad * factor(plan.steps[0]) for grad in given_gradients)
    assert [grads["m0.weight"] for grads in trace.grads()] == list(kept)


@clause(
    "gradient.replace.before_accumulation",
    says="While a tensor hook of a leaf runs, .grad still holds what it held before the pass.",
    where="no hook sets .grad or runs a backward()",
    source='note: autograd.html#backward-hooks-execution "are run as gradients are being computed"',
    asked="param grad is none or old value inside callback read grad attribute not yet updated",
    value="before",
    wrong={"after": "after"},
    witness={"had": 5, "passes": [2], "factors": [1]},
)
@given(
    had=st.none() | NUMBERS,
    passes=st.lists(NUMBERS, min_size=1, max_size=3),
    factors=st.lists(FACTORS, min_size=1, max_size=3),
)
def test_before_accumulation(subject: Subject, had: Any, passes: List[int], factors: List[int]) -> None:
    seen: List[Any] = []
    x = leaf(1)
    x.grad = None if had is None else leaf(had).detach()
    for by in factors:
        x.register_hook(multiplies(by, lambda grad: seen.append((grad.item(), item(x.grad)))))
    expected = []
    for grad in passes:
        (grad * x).backward()
        before, had = had, (had or 0) + grad * prod(factors)
        for by in factors:
            expected.append((grad, before if subject.value == "before" else had))
            grad *= by
    assert (seen, x.grad.item()) == (expected, had)


@clause(
    "gradient.replace.grad_mode_is_off",
    says="A tensor hook runs with grad mode off, unless the backward pass has create_graph=True.",
    where="no other hook changes the grad mode",
    see="gradient.passes.grad_mode_of_the_hook",
    source="docs: torch.Tensor.register_post_accumulate_grad_hook "
    '"this hook runs during the backward pass, it will run in no_grad mode"',
    asked="operations inside callback tracked by autograd need torch no_grad double backward",
    about="register_hook",
    value=False,
    wrong={"as the caller has it": True},
    witness={"passes": [False, True], "hooks": [("x", None)]},
)
@given(
    passes=st.lists(st.booleans(), min_size=1, max_size=3),
    hooks=st.lists(st.tuples(st.sampled_from(["x", "y", "z"]), st.none() | FACTORS), min_size=1, max_size=4),
)
def test_grad_mode_is_off(subject: Subject, passes: List[bool], hooks: List[Any]) -> None:
    import torch

    seen, needs, tracked = [], [], []
    x = leaf(2)
    y = x * x
    tensors = {"x": x, "y": y, "z": y * x}

    def hook(grad: Any, by: Any) -> Any:
        seen.append(torch.is_grad_enabled())
        # What is computed from the leaf in the hook has a graph when grad mode is on.
        needs.append((x * 2).requires_grad)
        tracked.append(grad.requires_grad)
        return None if by is None else grad * by

    for on, by in hooks:
        tensors[on].register_hook(lambda grad, by=by: hook(grad, by))
    for create_graph in passes:
        torch.autograd.backward([tensors["z"]], retain_graph=True, create_graph=create_graph)
        x.grad = None
    modes = [create_graph or subject.value for create_graph in passes for _ in hooks]
    assert (seen, needs) == (modes, modes)
    # The gradient of the root is what the pass began with; the others were computed.
    reached = sorted((on for on, _ in hooks), reverse=True)
    assert tracked == [create_graph and on != "z" for create_graph in passes for on in reached]
