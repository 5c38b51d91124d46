"""SavedTensor.register_hooks: hooks of what one operation has saved, here of the first factor of a product."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Edit, Hook, Plan
from suites.saved.products import (
    EDITED,
    EDITS,
    HAS_OFF,
    HAS_ONE,
    MAYBE,
    ONE_NOTE,
    OUT,
    PASSES,
    REGISTERED,
    factors,
    on_one,
    pair,
    product,
    starts,
)

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
    source=REGISTERED,
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
    where=("the hooks copy nothing", "w is no leaf"),
    source="measured",
    asked="hook on one saved tensor inplace change undetected wrong gradient version check",
    needs=HAS_ONE,
)
@given(
    plan=product(
        after=then(on_one(), st.builds(lambda by, grad: (Edit("x0", by), Backward((grad,))), FACTORS, NUMBERS)),
        leaf=st.just(False),
    )
)
def test_check(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert not trace.raised()
    assert trace.grads()[-1]["x1"] == 2 * plan.inputs[0].value * plan.steps[-2].by * starts(plan)[0]


@clause(
    "saved.one.edits",
    says="SavedTensor.register_hooks raises RuntimeError where its pack hook changes its argument in place.",
    where="the change is not made through .data or numpy()",
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
    "saved.off.one",
    says="SavedTensor.register_hooks works inside disable_saved_tensors_hooks, too.",
    source="measured",
    asked="register_hooks on raw saved tensor still works when saved tensor hooks are disabled",
    needs=(HAS_OFF, HAS_ONE),
)
@given(
    plan=product(
        after=st.builds(
            lambda off, hooks, passes: (off, *hooks, *passes),
            st.just(Hook("saved_off", "", "off")),
            on_one(do=MAYBE, back=MAYBE),
            PASSES,
        ),
    )
)
def test_off_one(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert not trace.raised()
    assert trace.calls() == ["c.pack"] + ["c.unpack"] * len(starts(plan))
