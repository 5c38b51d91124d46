"""Registering a hook on several tensors: what is refused, and where it works."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Add, Backward, Forward, Hook, Input, Leaf, Plan, Remove
from fixtures.stages.make import make
from suites.several.plans import BOTH, LEAVES, LISTED, on_products, several
from suites.several.sources import DOCS, HAS_ALL, HAS_ANY
from suites.tensors import leaf, outcome

ABOUT = "register_multi_grad_hook"

ANNOTATED = "https://github.com/pytorch/pytorch/pull/129558"
RECORDED = "https://github.com/pytorch/pytorch/pull/134467"
FROZEN = (Input(1, grad=False),)


def without_grad(least: int) -> Any:
    """Plans: a hook on the input, which requires no grad, and on others; and one pass that reaches these."""
    return st.builds(
        lambda values, x, names, place, grad: Plan(
            Leaf("m0", "affine", values),
            (Input(x, grad=False),),
            (Forward(), several("multi_all", (*names[:place], "x0", *names[place:])), Backward((grad,))),
        ),
        st.tuples(NUMBERS, NUMBERS),
        NUMBERS,
        st.lists(st.sampled_from(("m0.weight", "m0.bias")), min_size=least, max_size=2).map(tuple),
        st.integers(least, 2),
        NUMBERS,
    )


@clause(
    "several.registered.without_grad",
    says="register_multi_grad_hook raises AssertionError where one of the tensors requires no grad.",
    where='mode is "all"',
    source=(DOCS, ANNOTATED),
    asked="AssertionError Expected gradient function to be set register_multi_grad_hook frozen parameter",
    level="observed",
    docs="contradicts",
    needs=HAS_ALL,
    matters_if="multi_all ?tensor_without_grad",
    readings=by_release(
        ("error", "error"),
        ("2.5", "AssertionError", {"multi_without_grad": "AssertionError"}),
        "register_multi_grad_hook raises AssertionError where one of the tensors requires no grad.",
        ("", "RuntimeError", {"multi_without_grad": "RuntimeError"}),
        "register_multi_grad_hook raises RuntimeError where one of the tensors requires no grad.",
    ),
    witness=Plan(Leaf("m0", "scale", (1,)), FROZEN, (several("multi_all", ("m0.weight", "x0")),)),
)
@given(plan=without_grad(0))
def test_without_grad(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised()[:1] == [("hook", subject.reading.facts["multi_without_grad"])]
    assert trace.calls() == []


@clause(
    "several.registered.refused",
    says="A refused register_multi_grad_hook leaves nothing behind: passes through the other tensors go on.",
    where=('mode is "all"', "one of its tensors requires no grad"),
    source=ANNOTATED,
    asked="_will_engine_execute_node expects an grad_fn, but got NoneType after a failed registration",
    level="observed",
    needs=HAS_ALL,
    matters_if="multi_all ?tensor_without_grad",
    readings=by_release(
        "error",
        ("2.5", "nothing is left", {"multi_without_grad": "AssertionError"}),
        "A refused register_multi_grad_hook leaves nothing behind: passes through the other tensors go on.",
        ("", "half is left", {"multi_without_grad": "RuntimeError"}),
        "A pass through a tensor that stood before the refused one raises RuntimeError.",
    ),
    witness=Plan(
        Leaf("m0", "scale", (1,)), FROZEN, (several("multi_all", ("m0.weight", "x0")), Forward(), Backward((1,)))
    ),
)
@given(plan=without_grad(1))
def test_refused(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    left = subject.reading.facts["multi_without_grad"] == "RuntimeError"
    assert [step for step, _ in trace.raised()] == ["hook"] + ["backward"] * left


#: Under no_grad, and inside a backward hook.
UNRECORDED = {"multi_unrecorded": True}
HIDDEN = {"multi_unrecorded": False}


@clause(
    "several.registered.in_hook",
    says="A backward hook can register a multi-grad hook on leaves: later passes call it.",
    source=RECORDED,
    asked="AttributeError NoneType object has no attribute next_functions registering inside backward",
    needs=HAS_ALL,
    matters_if="multi_all ?registers_inside",
    readings=by_release(
        "error",
        ("2.4.1", "works", UNRECORDED),
        "A backward hook can register a multi-grad hook on leaves: later passes call it.",
        ("", "AttributeError", HIDDEN),
        "register_multi_grad_hook of a leaf raises AttributeError inside a backward hook.",
    ),
    witness=Plan(
        Leaf("m0", "scale", (1,)),
        (Input(1),),
        (Hook("tensor", "x0", "r", (Add(several("multi_all", ("x0",))),)), Forward(), Backward(), Backward()),
    ),
)
@given(
    plan=on_products(
        st.builds(
            lambda on, names, grads: (
                Forward(),
                Hook("tensor", on, "r", (Add(several("multi_all", names)),)),
                Backward(grads[0]),
                Remove("r"),
                *(Backward(grad) for grad in grads[1:]),
            ),
            st.sampled_from(LISTED),
            st.lists(st.sampled_from(LEAVES), min_size=1, max_size=3).map(tuple),
            st.lists(BOTH, min_size=2, max_size=3),
        )
    )
)
def test_in_hook(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    works = subject.reading.facts["multi_unrecorded"]
    assert set(trace.raised()) == (set() if works else {("backward", "AttributeError")})
    assert len(trace.seen_by("h")) >= works * (len(trace.grads()) - 1)


@clause(
    "several.registered.no_grad",
    says="register_multi_grad_hook can be called under no_grad; the hook is called as any other.",
    where="its tensors require grad",
    source=RECORDED,
    asked="register_multi_grad_hook inside torch.no_grad AttributeError next_functions",
    needs=HAS_ALL,
    matters_if="multi_all ?no_grad",
    readings=by_release(
        "error",
        ("2.4.1", "works", ("accepted", 1)),
        "register_multi_grad_hook can be called under no_grad; the hook is called as any other.",
        ("", "AttributeError", ("AttributeError", 0)),
        'Under no_grad register_multi_grad_hook raises AttributeError for a leaf, where mode is "all".',
    ),
    witness={"leaves": 1, "inner": 0},
)
@given(leaves=st.integers(1, 3), inner=st.integers(0, 2))
def test_no_grad(subject: Subject, leaves: int, inner: int) -> None:
    import torch

    xs = [leaf(value) for value in range(1, leaves + 1)]
    ys = [2 * xs[0] for _ in range(inner)]
    seen: List[Any] = []
    with torch.no_grad():
        made = outcome(
            lambda: torch.autograd.graph.register_multi_grad_hook([*ys, *xs], seen.append), (AttributeError,)
        )
    (3 * sum(ys + xs)).backward()
    assert (made, len(seen)) == subject.value


@clause(
    "several.registered.generator",
    says="register_multi_grad_hook raises TypeError for a generator, as m.parameters() returns one.",
    where='mode is "all"',
    source="measured",
    asked="TypeError object of type generator has no len passing model.parameters() to register_multi_grad_hook",
    needs=HAS_ALL,
    matters_if="multi_all ?generator",
    readings=by_release(
        ("error", "silent"),
        ("2.1", "TypeError", "TypeError"),
        "register_multi_grad_hook raises TypeError for a generator, as m.parameters() returns one.",
        ("", "never called", "accepted"),
        "register_multi_grad_hook takes a generator, as m.parameters() returns one, and never calls the hook.",
    ),
    witness={"leaves": 1},
)
@given(leaves=st.integers(1, 4))
def test_generator(subject: Subject, leaves: int) -> None:
    import torch

    xs = [leaf(value) for value in range(1, leaves + 1)]
    seen: List[Any] = []
    register = torch.autograd.graph.register_multi_grad_hook
    assert outcome(lambda: register((x for x in xs), seen.append)) == subject.value
    (3 * sum(xs)).backward()
    assert seen == []


@clause(
    "several.registered.generator_any",
    says='With mode="any" register_multi_grad_hook takes a generator of tensors, as m.parameters() returns one.',
    source="measured",
    asked="can model.parameters() be passed without list() when the mode is any",
    needs=HAS_ANY,
    value=1,
    wrong={"never called": 0},
    witness={"leaves": 1},
)
@given(leaves=st.integers(1, 4))
def test_generator_any(subject: Subject, leaves: int) -> None:
    import torch

    xs = [leaf(value) for value in range(1, leaves + 1)]
    seen: List[Any] = []
    torch.autograd.graph.register_multi_grad_hook((x for x in xs), seen.append, mode="any")
    (3 * sum(xs)).backward()
    assert len(seen) == subject.value


@clause(
    "several.registered.bare_tensor",
    says="register_multi_grad_hook takes a bare tensor x, but x.sum().backward() does not call the hook.",
    where="x has one dimension or more",
    source="measured",
    asked="passed one tensor instead of a list to register_multi_grad_hook and nothing happens",
    needs=HAS_ALL,
    value=0,
    wrong={"called": 1},
    witness={"rows": 1, "dimensions": 1},
)
@given(rows=st.integers(1, 3), dimensions=st.integers(1, 3))
def test_bare_tensor(subject: Subject, rows: int, dimensions: int) -> None:
    import torch

    x = make.ones((rows,) * dimensions, requires_grad=True)
    seen: List[Any] = []
    torch.autograd.graph.register_multi_grad_hook(x, seen.append)  # type: ignore[arg-type]
    x.sum().backward()
    assert len(seen) == subject.value


@clause(
    "several.registered.mode",
    says='register_multi_grad_hook raises ValueError for a mode that is neither "all" nor "any".',
    source=f'{DOCS} "There are two supported modes"',
    asked="ValueError Expects mode to be one of all any",
    needs=HAS_ANY,
    value="ValueError",
    wrong={"accepted": "accepted"},
    witness={"mode": "first"},
)
@given(mode=st.sampled_from(("first", "", "ALL", "each")) | st.none())
def test_mode(subject: Subject, mode: Any) -> None:
    import torch

    register = torch.autograd.graph.register_multi_grad_hook
    assert outcome(lambda: register([leaf(1)], print, mode=mode), (ValueError,)) == subject.value
