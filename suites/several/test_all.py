"""Hooks of several tensors with mode="all": when they are called, with which gradients, and where among other hooks."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Freeze, Hook, InPlace, Plan, Scale, hooks_of
from fixtures.stages.make import make
from suites.names import IN_ORDER
from suites.several.plans import (
    BOTH,
    FIRST,
    INNER,
    LEAVES,
    LISTED,
    SECOND,
    SOME,
    gradients,
    hooked,
    listed,
    on_products,
    passes,
    several,
    starts,
)
from suites.several.sources import ALL, DOCS, HAS_ALL
from suites.tensors import item, leaf, through_silent_function

ABOUT = "register_multi_grad_hook"

#: Those that a pass reaches whichever root it begins at.
BELOW = ("x0", "m1.weight", INNER)
#: One or two tensors, each of them twice.
TWICE = st.lists(st.sampled_from(LISTED), min_size=1, max_size=2).map(lambda some: (*some, *some[::-1]))
DISTINCT = st.lists(st.sampled_from(LISTED), min_size=1, max_size=4, unique=True).map(tuple)


@each(
    Row(
        "several.all.once",
        'backward() calls a multi-grad hook of mode "all" once, with the list of its gradients.',
        ALL,
        where=("backward() reaches all of them, begins at none", "no pass inside"),
        see=("several.root.alone", "several.root.and_another", "several.inside.fewer", "several.kept.converted"),
        asked="run one callback after all parameter gradients are computed, once per backward",
        needs=HAS_ALL,
        draws=lambda: hooked("multi_all", SOME, passes(BOTH)),
    ),
    Row(
        "several.all.each_pass",
        'Each backward() calls a multi-grad hook of mode "all", with the gradients of its pass.',
        ALL,
        where=("backward() reaches some of them, begins at none", "no pass inside"),
        see="several.kept.converted",
        asked="does register_multi_grad_hook fire on every training step or do i have to register it again",
        needs=HAS_ALL,
        draws=lambda: hooked("multi_all", SOME, passes(BOTH, 2, 4)),
    ),
    Row(
        "several.all.same_tensor_twice",
        'A multi-grad hook of mode "all" that is given a tensor twice gets the gradient of this tensor twice.',
        "measured",
        where="backward() reaches the tensor and begins at none",
        asked="tied weights listed two times in register_multi_grad_hook is the gradient there twice",
        needs=HAS_ALL,
        draws=lambda: hooked("multi_all", TWICE, passes(BOTH)),
    ),
    plan=lambda row: on_products(row.draws()),
)
def in_each_pass(subject: Subject, plan: Plan, *, row: Any) -> None:
    found = [gradients(plan, start) for start in starts(plan)]
    assert subject.holds(plan).seen_by("h") == [([grad[name] for name in listed(plan)],) for grad in found]


@st.composite
def some_left_out(draw: Any) -> Any:
    """Steps after which the pass reaches some of the tensors, and others not: of an older forward, frozen, unused."""
    frozen = draw(st.sampled_from(("", "m1.weight", "m3.weight")))
    again = (*([Freeze(frozen)] if frozen else []), Forward()) if draw(st.booleans()) else ()
    names = draw(st.permutations(("x0", *draw(st.lists(st.sampled_from(LISTED), min_size=1, max_size=3)))))
    return Forward(), several("multi_all", names), *again, Backward(draw(FIRST | SECOND))


@clause(
    "several.all.left_out",
    says='A multi-grad hook of mode "all" is given None for a tensor that backward() does not reach.',
    where="backward() reaches another one, and begins at none",
    source=f'{DOCS} "did not have their gradients computed"',
    asked="list of gradients has None for a parameter that was not used in the loss",
    needs=HAS_ALL,
)
@given(plan=on_products(some_left_out()))
def test_left_out(subject: Subject, plan: Plan) -> None:
    grad = gradients(plan, starts(plan)[0])
    forwards = [place for place, step in enumerate(plan.steps) if isinstance(step, Forward)]
    grad.update({INNER: None} if forwards[1:] else {})
    grad.update({step.on: None for step in plan.steps if isinstance(step, Freeze)})
    assert subject.holds(plan).seen_by("h") == [([grad[name] for name in listed(plan)],)]


@clause(
    "several.all.undefined",
    says='A multi-grad hook of mode "all" is given None in place of an undefined gradient.',
    where="backward() begins at none of its tensors",
    source=(DOCS, "https://github.com/pytorch/pytorch/pull/86260"),
    asked="callback waits for a gradient that never comes because an output is unused, is it still called",
    needs=HAS_ALL,
    value="None",
    wrong={"waits": "waits", "called with zero": "zero"},
    witness={"uses": [2, 0], "silent": 0},
)
@given(uses=st.lists(st.just(0) | NUMBERS, min_size=2, max_size=4).filter(any), silent=st.integers(0, 2))
def test_undefined(subject: Subject, uses: List[int], silent: int) -> None:
    """Outputs that the loss does not use, and leaves to which a Function sends None."""
    import torch

    x = make.ones(len(uses), dtype=torch.float64, requires_grad=True)
    leaves = [leaf(1) for _ in range(silent)]
    parts = x.unbind(0)
    seen: List[Any] = []
    torch.autograd.graph.register_multi_grad_hook(
        [*parts, *leaves], lambda grads: seen.append([item(grad) for grad in grads])
    )
    sum(
        [by * part for by, part in zip(uses, parts) if by] + [through_silent_function(one) for one in leaves]
    ).backward()
    undefined = 0.0 if subject.value == "zero" else None
    expected = [[float(by) if by else undefined for by in uses] + [undefined] * silent]
    assert seen == ([] if subject.value == "waits" else expected)


@st.composite
def among_others(draw: Any, do: Any) -> Any:
    """Steps: on each of some tensors one tensor hook before the multi-grad hook, and one after it."""
    names = draw(DISTINCT)
    before = [Hook("tensor", name, f"b{place}", draw(do)) for place, name in enumerate(names)]
    after = [Hook("tensor", name, f"a{place}", draw(do)) for place, name in enumerate(names)]
    return Forward(), *before, several("multi_all", names), *after, Backward(draw(BOTH))


@clause(
    "several.all.place",
    says='A multi-grad hook of mode "all" runs in order among the tensor hooks of its tensor whose gradient is last.',
    where=("each gets a gradient", "backward() begins at none"),
    source=IN_ORDER,
    asked="order of register_multi_grad_hook against register_hook on the same tensor, which runs first",
    needs=HAS_ALL,
)
@given(plan=on_products(among_others(st.just(()))))
def test_place(subject: Subject, plan: Plan) -> None:
    calls = subject.holds(plan).calls()
    last = calls[-1][1:]
    assert calls[-3:] == [f"b{last}", "h", f"a{last}"]
    assert calls.count("h") == 1


@clause(
    "several.all.in_turn",
    says='A multi-grad hook of mode "all" is given what earlier tensor hooks returned, not what later ones do.',
    where="backward() begins at none",
    source=IN_ORDER,
    asked="are gradients in the multi grad callback clipped by my tensor hook or still the raw ones",
    needs=HAS_ALL,
)
@given(plan=on_products(among_others(st.builds(lambda by: (Scale(by),), FACTORS))))
def test_in_turn(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    left = [trace.seen_by(hook.label)[0][0] * hook.do[0].by for hook in hooks_of(plan) if hook.label[0] == "b"]
    assert trace.seen_by("h") == [(left,)]


@clause(
    "several.all.before_grad",
    says='When a multi-grad hook of mode "all" on leaves is called, .grad of all but one of them is updated already.',
    where="backward() reaches all and begins at none",
    see="several.all.undefined",
    source="measured",
    asked="param.grad is still None inside register_multi_grad_hook for one of the parameters",
    needs=HAS_ALL,
    value=1,
    wrong={"after all": 0, "before all": 2},
    witness={"values": [2, 3], "had": False},
)
@given(values=st.lists(NUMBERS, min_size=2, max_size=4), had=st.booleans())
def test_before_grad(subject: Subject, values: List[int], had: bool) -> None:
    """The leaves of a product; .grad holds 0 or nothing before."""
    import torch

    leaves = [leaf(value) for value in values]
    for one in leaves:
        one.grad = torch.zeros_like(one) if had else None
    seen: List[int] = []
    torch.autograd.graph.register_multi_grad_hook(
        leaves, lambda grads: seen.append(sum(item(one.grad) in (None, 0) for one in leaves))
    )
    out = leaves[0]
    for one in leaves[1:]:
        out = out * one
    (out * 2).backward()
    assert seen == [subject.value]


@clause(
    "several.all.edits",
    says='In-place edits by a multi-grad hook of mode "all" change .grad of the leaf with the last gradient only.',
    where="its tensors are leaves that share no gradient",
    source=f'{DOCS} "The hook should not modify its arguments"',
    asked="scale gradients in place inside register_multi_grad_hook changes only one parameter",
    level="observed",
    needs=HAS_ALL,
)
@given(
    plan=on_products(
        hooked(
            "multi_all",
            st.lists(st.sampled_from(LEAVES), min_size=1, max_size=4, unique=True).map(tuple),
            passes(BOTH),
            st.sampled_from([-1, 2, 3, 10]).map(lambda by: (InPlace(by),)),
        )
    )
)
def test_edits(subject: Subject, plan: Plan) -> None:
    grad = gradients(plan, starts(plan)[0])
    by = hooks_of(plan)[0].do[0].by
    (found,) = subject.holds(plan).grads()
    changed = [name for name in LEAVES if found[name] != grad[name]]
    # What is below the non-leaf tensor gets its gradient after what is next to it.
    last = [name for name in listed(plan) if name in BELOW] or listed(plan)
    assert set(changed) <= set(last)
    assert len(changed) == 1 or (not changed and not all(grad[name] for name in listed(plan)))
    assert [found[name] for name in changed] == [by * grad[name] for name in changed]


@clause(
    "several.all.inputs",
    says='backward(inputs=[x]) gives a multi-grad hook of mode "all" None for every leaf but x.',
    where=("x is one of its tensors", "it reaches x and begins at none"),
    source=f'{DOCS} "is not needed to compute the gradients for any"',
    asked="backward with inputs argument and a hook on several tensors some gradients are None",
    needs=HAS_ALL,
)
@given(
    plan=on_products(
        st.builds(
            lambda wanted, more, place, grads: (
                Forward(),
                several("multi_all", (*more[:place], wanted, *more[place:])),
                Backward(grads, inputs=(wanted,)),
            ),
            st.sampled_from(LISTED),
            st.lists(st.sampled_from(LISTED), max_size=3).map(tuple),
            st.integers(0, 3),
            BOTH,
        )
    )
)
def test_inputs(subject: Subject, plan: Plan) -> None:
    grad = gradients(plan, starts(plan)[0])
    (wanted,) = plan.steps[-1].inputs
    leads = {wanted, INNER} if wanted in BELOW else {wanted}
    assert subject.holds(plan).seen_by("h") == [([grad[name] if name in leads else None for name in listed(plan)],)]
