"""SavedTensor.register_hooks: hooks of what one operation has saved."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Hook, MulInPlace, Plan
from suites.hooking import raised
from suites.names import PULL
from suites.saved.plans import BOOLEANS, EDITS, MAYBE, OUT, PASSES, factors, on_one, pair, product, starts
from suites.saved.sources import CONTEXT_NOTE, EDITED, HAS_ONE, ONE_NOTE
from suites.tensors import leaf

ABOUT = "register_hooks"
AGAIN = Hook("saved_one", OUT, "again")


def then(hooks: st.SearchStrategy, after: st.SearchStrategy = PASSES) -> st.SearchStrategy:
    """What comes after the forward: hooks of what it has saved, and more."""
    return st.builds(lambda hooks, after: (*hooks, *after), hooks, after)


@clause(
    "saved.one.at_once",
    says="SavedTensor.register_hooks calls its pack hook at once, its unpack hook in each pass that uses the tensor.",
    source=f'{ONE_NOTE} "is called as soon as the pair is registered"',
    asked="grad_fn _raw_saved_self register_hooks when is pack called immediately",
    needs=HAS_ONE,
)
@given(plan=product(after=then(on_one(do=MAYBE, back=MAYBE))))
def test_at_once(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [event.what for event in trace][:2] == ["returns", "c.pack"]
    assert trace.calls() == ["c.pack"] + ["c.unpack"] * len(starts(plan))


@clause(
    "saved.one.alone",
    says="SavedTensor.register_hooks acts on that one saved tensor only: what else was saved is used unchanged.",
    source=f'{ONE_NOTE} "You can register a pair of hooks on a saved tensor"',
    asked="compress only one activation hook a single saved tensor of one operation _raw_saved_self",
    needs=HAS_ONE,
)
@given(plan=product(after=then(on_one(do=MAYBE, back=MAYBE))))
def test_alone(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    x, y = factors(plan)
    total, hook = sum(starts(plan)), plan.steps[1]
    for act in (*hook.do, *hook.back):
        x *= act.by
    assert list(trace.grads()[-1].values()) == [total * y * (1 if plan.inputs[0].leaf else 2), total * x]


@clause(
    "saved.one.twice",
    says="A saved tensor takes one pair of hooks: a second SavedTensor.register_hooks on it raises RuntimeError.",
    source=PULL + "60663",
    asked="Calling register_hooks on a saved tensor whose hooks have already been set only one pair of hooks",
    needs=HAS_ONE,
)
@given(plan=product(after=then(on_one(do=MAYBE, back=MAYBE).map(lambda hooks: (*hooks, AGAIN)))))
def test_twice(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("hook", "RuntimeError")]
    assert trace.calls() == ["c.pack"] + ["c.unpack"] * len(starts(plan))


@clause(
    "saved.one.packed",
    says="SavedTensor.register_hooks on what saved_tensors_hooks has packed raises RuntimeError.",
    source="measured",
    asked="register_hooks on saved tensor inside saved_tensors_hooks context hooks have already been set",
    needs=HAS_ONE,
    about=("register_hooks", "saved_tensors_hooks"),
)
@given(plan=product(pair(do=MAYBE, back=MAYBE), after=st.builds(lambda passes: (AGAIN, *passes), PASSES)))
def test_packed(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("hook", "RuntimeError")]
    assert trace.calls() == ["c.pack"] * 2 + ["c.unpack"] * 2 * len(starts(plan))


@clause(
    "saved.one.freed",
    says="Once a pass has freed a saved tensor, SavedTensor.register_hooks on it raises RuntimeError.",
    where="it is _raw_saved_self or _raw_saved_result of a node",
    source=f'{ONE_NOTE} "PyTorch will throw an error most of the time"',
    asked="Calling register_hooks on a saved tensor after it has been freed",
    needs=HAS_ONE,
)
@given(
    plan=product(
        after=st.builds(
            lambda hooks, grad: (*hooks, Backward((grad,), retain_graph=False), AGAIN),
            st.just(()) | on_one(do=MAYBE, back=MAYBE),
            NUMBERS,
        )
    )
)
def test_freed(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("hook", "RuntimeError")]
    assert trace.seen_by("again.pack") == []


@clause(
    "saved.one.not_saved",
    says="For x * y, where y needs no gradient, grad_fn._raw_saved_self.register_hooks raises RuntimeError.",
    source="measured",
    asked="Calling register_hooks on a saved tensor with value None is forbidden",
    needs=HAS_ONE,
    note="Of x * y, where y needs no gradient, grad_fn._raw_saved_self is there, and holds nothing.",
)
@given(
    plan=product(after=st.builds(lambda passes: (AGAIN, *passes), PASSES), grads=(True, False))
    | product(after=st.builds(lambda passes: (AGAIN, *passes), PASSES), grads=(False, True))
)
def test_not_saved(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    saved = plan.inputs[1].grad
    assert trace.raised() == [("hook", "RuntimeError")] * (not saved)
    assert len(trace.seen_by("again.pack")) == saved


@clause(
    "saved.one.check",
    says="For y = w * x with SavedTensor.register_hooks on w, changing w in place later gives x a wrong gradient.",
    where=("the hooks copy nothing", "w is a non-leaf tensor"),
    source="measured",
    asked="hook on one saved tensor inplace change undetected wrong gradient version check",
    needs=HAS_ONE,
)
@given(
    plan=product(
        after=then(on_one(), st.builds(lambda by, grad: (MulInPlace("x0", by), Backward((grad,))), FACTORS, NUMBERS)),
        leaf=st.just(False),
    )
)
def test_check(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert not trace.raised()
    assert trace.grads()[-1]["x1"] == 2 * plan.inputs[0].value * plan.steps[-2].by * starts(plan)[0]


@clause(
    "saved.one.edits",
    says="SavedTensor.register_hooks raises RuntimeError if its pack hook changes values of its argument by a method.",
    where="no apply_, map_, map2_, no unsafe_ method",
    source=(f'{ONE_NOTE} "is called as soon as the pair is registered"', EDITED),
    asked="in place operation in pack hook of single saved tensor error modifying its input",
    level="implied",
    needs=HAS_ONE,
)
@given(plan=product(after=then(on_one(do=EDITS))))
def test_edits(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("hook", "RuntimeError")]


@clause(
    "saved.one.detached",
    says="The pack hook of SavedTensor.register_hooks is given a detached tensor, not the tensor that was saved.",
    source=f'{CONTEXT_NOTE} "which receives an already-detached tensor"',
    asked="pack hook of register_hooks gets tensor without grad_fn requires_grad False detached",
    needs=HAS_ONE,
    value=(False, None, False),
    wrong={"the one that was saved": (True, None, True)},
    witness={"inner": False},
)
@given(inner=BOOLEANS)
def test_detached(subject: Subject, inner: bool) -> None:
    seen: List[Any] = []
    x = leaf(2) * 1 if inner else leaf(2)
    y = x.sin()
    y.grad_fn._raw_saved_self.register_hooks(lambda tensor: seen.append(tensor) or tensor, lambda packed: packed)
    assert [(one.requires_grad, one.grad_fn, one is x) for one in seen] == [subject.value]


@clause(
    "saved.one.raises",
    says="After the pack hook of SavedTensor.register_hooks raised, a pass raises RuntimeError that says so.",
    where="the pass uses the saved tensor",
    source="measured",
    asked="pack hook failed on registering then backward TypeError missing 1 required positional argument packed",
    needs=HAS_ONE,
    matters_if="saved_one raises",
    readings=by_release(
        ("none", "silent", "none"),
        ("2.15", "raises", ("the pack hook raised", [])),
        "After the pack hook of SavedTensor.register_hooks raised, a pass raises RuntimeError that says so.",
        ("2.0", "calls it without arguments", ("none", [()])),
        "After the pack hook of SavedTensor.register_hooks raised, a pass calls the unpack hook without arguments.",
        ("", "does not say why", ("RuntimeError", [])),
        "After the pack hook of SavedTensor.register_hooks raised, a pass raises RuntimeError about a conversion.",
    ),
    witness={"x": 2},
)
@given(x=NUMBERS)
def test_raises(subject: Subject, x: int) -> None:
    calls: List[Any] = []

    def pack(tensor: Any) -> Any:
        raise ValueError("mine")

    def unpack(*given: Any) -> Any:
        calls.append(given)
        return leaf(1).detach()

    y = leaf(x).sin()
    assert raised(lambda: y.grad_fn._raw_saved_self.register_hooks(pack, unpack), ValueError) == "ValueError"
    try:
        y.backward()
        found = "none"
    except RuntimeError as error:
        found = "the pack hook raised" if "the pack hook raised" in str(error) else "RuntimeError"
    assert (found, calls) == subject.value
