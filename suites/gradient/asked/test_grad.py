"""Hooks under autograd.grad, which asks for the gradients of some tensors only."""

from math import prod
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import AutogradGrad, Forward, Hook, Input, Leaf, Plan, Raise, Retain, Scale, hooks_of
from suites.gradient.asked.plans import asking
from suites.gradient.plans import INNER, NET, ROOT, answer, hooks_when_asked
from suites.gradient.sources import NOT_ACCUMULATED, REPLACES, RETAINED_LAST
from suites.names import GRAD_DOCS, HOOKS_IN_ORDER, TENSOR_DOCS
from suites.shapes import product
from suites.tensors import leaf, multiplies

ABOUT = "register_hook"

ALWAYS = 'note: autograd.html#backward-hooks-execution "the hook register to that Tensor will always be executed"'
TRAVERSED = (
    "code: torch/include/torch/csrc/autograd/node.h "
    '"tensor_pre_hook is executed as long as the engine traverses over it"'
)
READINGS = (
    Reading(
        "called",
        ">=2.0",
        "Asked for one tensor alone, autograd.grad calls its tensor hooks and returns what they leave.",
        {"hooks_when_asked": True},
    ),
    Reading(
        "not called",
        "<2.0",
        "Asked for one tensor alone, autograd.grad calls no tensor hook of it: the gradient returns as it came.",
        {"hooks_when_asked": False},
        says_the_same=False,
        effect="silent",
    ),
)
WITNESS = Plan(NET, (Input(3),), (Hook("tensor", "x0", "h0", (Scale(10),)), Forward(), AutogradGrad(("x0",))))


@each(
    Row(
        "gradient.asked.inputs",
        "autograd.grad(z, x) calls the tensor hooks of x and returns what they leave.",
        (ALWAYS, HOOKS_IN_ORDER, "https://github.com/pytorch/pytorch/issues/35802"),
        where="z is made from x",
        see="gradient.asked.together_with_a_leaf",
        asked="does register_hook on image affect torch autograd grad result "
        "saliency adversarial attack modified gradient autograd.grad",
        matters_if="tensor ?asked",
        readings=READINGS,
        witness=WITNESS,
        times=1,
    ),
    Row(
        "gradient.asked.same_input_twice",
        "autograd.grad(z, (y, y)) calls each tensor hook of y once; both results are what they leave.",
        (TRAVERSED, HOOKS_IN_ORDER),
        where="z is made from y",
        see="gradient.asked.together_with_a_leaf",
        asked="duplicate entries in inputs of torch autograd grad "
        "does register_hook fire double shared list autograd.grad",
        matters_if="tensor ?twice",
        readings=READINGS,
        witness=Plan(NET, (Input(3),), (*WITNESS.steps[:2], AutogradGrad(("x0", "x0")))),
        times=2,
    ),
    plan=lambda row: st.sampled_from(["x0", "m1.weight", INNER]).flatmap(lambda on: asking((on,) * row.times, (on,))),
)
def one_tensor_alone(subject: Subject, plan: Plan, *, row: Any) -> None:
    hooks_when_asked(subject, plan)


@clause(
    "gradient.asked.on_the_way",
    says="autograd.grad uses what the tensor hooks on its way return, those of the root too; it sets no leaf's .grad.",
    where=("it is for one leaf", "no hook runs a backward()"),
    see="gradient.asked.together_with_a_leaf",
    source=(REPLACES, NOT_ACCUMULATED),
    asked="register_hook on intermediate activation and loss with torch "
    "autograd grad respected param grad stays none autograd.grad",
)
@given(plan=st.sampled_from(["x0", "m1.weight"]).flatmap(lambda on: asking((on,), (INNER, ROOT))))
def test_on_the_way(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (plain,) = answer(subject.play(plan.without(Hook)))
    inner, root = (hook.do[0].by for hook in hooks_of(plan))
    assert answer(trace) == (plain * inner * root,)
    assert trace.seen_by("h1") == [plan.steps[-1].grads]
    assert set(trace.grads()[-1].values()) == {None}


@clause(
    "gradient.asked.root",
    says="autograd.grad(y, y) calls the tensor hooks of y and returns what they leave.",
    see="gradient.asked.together_with_a_leaf",
    source=(ALWAYS, HOOKS_IN_ORDER),
    asked="gradient of loss wrt itself does register_hook fire same tensor as output and input autograd.grad",
    about=("register_hook", "autograd.grad"),
    matters_if="tensor inner ?root",
    readings=(
        Reading(
            "called",
            ">=2.0",
            "autograd.grad(y, y) calls the tensor hooks of y and returns what they leave.",
            value=(True, True),
        ),
        Reading(
            "called in vain",
            ">=1.8,<1.9",
            "autograd.grad(y, y) calls the tensor hooks of y and ignores what they return.",
            value=(True, False),
            says_the_same=False,
            effect="silent",
        ),
        Reading(
            "not called",
            "<2.0",
            "autograd.grad(y, y) calls no tensor hook of y.",
            value=(False, False),
            says_the_same=False,
            effect="silent",
        ),
    ),
    witness={"factors": [10], "first": 1},
)
@given(factors=st.lists(FACTORS, min_size=1, max_size=3).filter(lambda factors: prod(factors) != 1), first=NUMBERS)
def test_root(subject: Subject, factors: List[int], first: int) -> None:
    import torch

    seen: List[float] = []
    y = 3 * leaf(1)
    for by in factors:
        y.register_hook(multiplies(by, lambda grad: seen.append(grad.item())))
    (grad,) = torch.autograd.grad([y], [y], [leaf(first).detach()])
    called, counts = subject.value
    row = [first * prod(factors[:place]) for place in range(len(factors))]
    assert (seen, grad.item()) == (row if called else [], first * (prod(factors) if counts else 1))


@clause(
    "gradient.asked.together_with_a_leaf",
    says="autograd.grad(z, (y, w)) returns y's gradient without what the tensor hooks of y return.",
    where=("y is made from the leaf w", "no hook changes a gradient in place"),
    source=(GRAD_DOCS, TENSOR_DOCS),
    asked="hook on activation ignored in torch autograd grad when also "
    "asking for parameter inconsistent wrong gradient autograd.grad",
    docs="contradicts",
    note="A hook's result is to be used in place of the gradient. So it is in the leaf's result, and in that of the "
    "non-leaf tensor when nothing else is asked for: grad(out, m) and grad(out, (m, a))[0] differ.",
)
@given(
    plan=st.tuples(
        st.permutations([INNER, "x0", "m1.weight"]).flatmap(lambda row: st.sampled_from([row, row[:2]])),
        st.sampled_from([(INNER,), (INNER, "x0"), (INNER, "m1.weight")]),
    )
    .filter(lambda drawn: INNER in drawn[0])
    .flatmap(lambda drawn: asking(*drawn))
)
def test_together_with_a_leaf(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    asked = plan.steps[-1].inputs
    plain = dict(zip(asked, answer(subject.play(plan.without(Hook)))))
    by = {hook.on: hook.do[0].by for hook in hooks_of(plan)}
    found = dict(zip(asked, answer(trace)))
    assert found[INNER] == plain[INNER]
    # What the hook of y returns is in the results of the leaves, though not in its own.
    assert all(found[on] == plain[on] * by[INNER] for on in asked if on not in by)


@clause(
    "gradient.asked.kept_otherwise",
    says="After y.retain_grad() autograd.grad(z, (y, w)) sets y.grad to what the tensor hooks of y leave.",
    where=("y is made from the leaf w", "y.grad was None"),
    see="retain.keep.adds_up",
    source=(GRAD_DOCS, RETAINED_LAST, HOOKS_IN_ORDER),
    asked="retain_grad with torch autograd grad shows different value than "
    "returned result activation grad attribute hooked autograd.grad",
    matters_if="retain_grad ?asked ?changing_hook",
    readings=by_release(
        "silent",
        ("2.0", "the hooked one", {"retain_grad": "last"}),
        "After y.retain_grad() autograd.grad(z, (y, w)) sets y.grad to what all tensor hooks of y leave.",
        ("", "by registration", {"retain_grad": "slot"}),
        "autograd.grad sets the kept y.grad to what the hooks registered before retain_grad() leave.",
    ),
    witness=Plan(
        NET,
        (Input(3),),
        (Forward(), Retain(INNER), Hook("tensor", INNER, "h0", (Scale(10),)), AutogradGrad((INNER, "x0"))),
    ),
    docs="contradicts",
    note="A hook's result is to be used in place of the gradient, here it is in .grad and not in what is returned.",
)
@given(
    plan=st.builds(
        lambda plan, keeps: Plan(plan.net, plan.inputs, (*plan.steps[:keeps], Retain(INNER), *plan.steps[keeps:])),
        asking((INNER, "x0"), (INNER,)),
        st.sampled_from([1, 1, 2]),
    )
)
def test_kept_otherwise(subject: Subject, plan: Plan) -> None:
    trace, (inner, _) = subject.holds(plan), answer(subject.play(plan.without(Hook)))
    keeps = len(plan.steps) if subject.reading.facts["retain_grad"] == "last" else plan.steps.index(Retain(INNER))
    before = [hook for hook in hooks_of(plan) if hook in plan.steps[:keeps]]
    assert trace.grads()[-1][INNER] == inner * product(before)


@clause(
    "gradient.asked.other_leaf",
    says="autograd.grad calls no tensor hook of a leaf that is neither asked for nor a root.",
    source=GRAD_DOCS,
    asked="register_hook on parameter not fired when torch autograd "
    "grad wrt only image weight hook silent autograd.grad",
)
@given(
    plan=st.builds(
        lambda wanted, grads, by: Plan(
            Leaf("m0", "split", (2, 3)),
            (Input(1),),
            (
                Hook("tensor", "m0.weight", "h0", (Scale(by),)),
                Hook("tensor", "m0.other", "h1", (Scale(by),)),
                Forward(),
                AutogradGrad((wanted,), grads),
            ),
        ),
        st.sampled_from(["m0.weight", "m0.other"]),
        st.sampled_from([(1, 2), (3, None), (None, 2)]),
        FACTORS,
    )
)
def test_other_leaf(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    question = plan.steps[-1]
    assert set(trace.calls()) <= {hook.label for hook in hooks_of(plan) if hook.on in question.inputs}
    reached = dict(zip(("m0.weight", "m0.other"), question.grads))[question.inputs[0]] is not None
    assert (answer(trace) != (None,)) == reached


@clause(
    "gradient.asked.errors",
    says="What a tensor hook raises is raised by autograd.grad, also if its tensor is the one asked for.",
    source=HOOKS_IN_ORDER,
    asked="exception inside register_hook with torch autograd grad does it propagate or swallowed autograd.grad",
    matters_if="tensor raises ?asked",
    readings=by_release(
        ("error", "silent"),
        ("2.0", "raised", {"hooks_when_asked": True}),
        "What a tensor hook raises is raised by autograd.grad, also if its tensor is the one asked for.",
        ("", "not called", {"hooks_when_asked": False}),
        "The tensor hooks of the one tensor asked for are not called, so they cannot raise.",
    ),
    witness=Plan(NET, (Input(3),), (Hook("tensor", "x0", "h0", (Raise(),)), Forward(), AutogradGrad(("x0",)))),
)
@given(
    plan=st.builds(
        lambda on, wanted, grad: Plan(
            NET, (Input(3),), (Forward(), Hook("tensor", on, "h0", (Raise(),)), AutogradGrad((wanted,), (grad,)))
        ),
        st.sampled_from(["x0", INNER, ROOT]),
        st.sampled_from(["x0", INNER]),
        NUMBERS,
    )
)
def test_errors(subject: Subject, plan: Plan) -> None:
    trace, (hook,), (asked,) = subject.holds(plan), hooks_of(plan), plan.steps[-1].inputs
    on_the_way = (ROOT, INNER, "x0").index(hook.on) < (ROOT, INNER, "x0").index(asked)
    reached = on_the_way or (hook.on == asked and subject.reading.facts["hooks_when_asked"])
    error = "Boom" if subject.contract.engine_keeps_error_type else "RuntimeError"
    assert trace.raised() == [("autograd_grad", error)] * reached


@clause(
    "gradient.asked.anything",
    says="Every plan of the grammar that asks for some gradients leaves the trace of the model.",
    source=GRAD_DOCS,
    checks_model=True,
    about=("register_hook", "retain_grad", "autograd.grad"),
)
@given(plan=plans(kinds=("tensor",), inputs=(1, 2), outputs=(1, 2), depth=2, retain=True, runs=2, ask=True))
def test_anything(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@st.composite
def of_the_other_output(draw) -> Plan:
    """A module with two outputs, each with a weight of its own; asked is for the weight of the output not used."""
    hooks = [
        Hook("tensor", "m0>0", f"h{place}", do)
        for place, do in enumerate(
            draw(st.lists(st.just(()) | FACTORS.map(lambda by: (Scale(by),)), min_size=1, max_size=3))
        )
    ]
    more = draw(st.lists(st.sampled_from([Retain("m0>0"), Hook("node", "m0>0", "of the node")]), unique=True))
    asked = draw(st.sampled_from([("m0.other",), ("x0",)]))
    last = AutogradGrad(asked, (draw(NUMBERS), None))
    return Plan(
        Leaf("m0", "split", (draw(NUMBERS), draw(NUMBERS))), (Input(draw(NUMBERS)),), (Forward(), *hooks, *more, last)
    )


@clause(
    "gradient.asked.root_to_nothing",
    says="autograd.grad(y, x) calls the tensor hooks of the non-leaf tensor y even where y is not made from x.",
    where="x requires grad",
    source="measured",
    asked="register_hook on loss triggers though requested variable "
    "unrelated allow_unused none result disconnected autograd.grad",
    matters_if="tensor inner ?root",
    readings=(
        Reading(
            "called",
            ">=2.0",
            "autograd.grad(y, x) calls the tensor hooks of the non-leaf tensor y even where y is not made from x.",
            {"unasked_root": "hooks"},
        ),
        Reading(
            "not called",
            "<2.0,!=1.8.*",
            "autograd.grad(y, x) calls no tensor hook of the non-leaf tensor y where y is not made from x.",
            {"unasked_root": "nothing"},
            says_the_same=False,
            effect="silent",
        ),
        Reading(
            "runs",
            ">=1.8,<1.9",
            "autograd.grad(y, x) calls the tensor hooks of y and runs its node even where y is not made from x.",
            {"unasked_root": "runs"},
        ),
    ),
    witness=Plan(
        Leaf("m0", "split", (3, 1)),
        (Input(2),),
        (
            Forward(),
            Hook("tensor", "m0>0", "of the tensor"),
            Hook("node", "m0>0", "of the node"),
            AutogradGrad(("m0.other",), (2, None)),
        ),
    ),
)
@given(plan=of_the_other_output())
def test_root_to_nothing(subject: Subject, plan: Plan) -> None:
    # Of x0 the tensor is made, and its node runs.
    does = "runs" if plan.steps[-1].inputs == ("x0",) else subject.reading.facts["unasked_root"]
    kinds = {"runs": ("tensor", "node"), "hooks": ("tensor",), "nothing": ()}[does]
    called = [hook.label for kind in kinds for hook in hooks_of(plan, kind)]
    assert subject.holds(plan).calls() == called
