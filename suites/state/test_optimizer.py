"""Hooks of saving and loading optimizers."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.draw.state import programs
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.judge.table import Row, each
from fixtures.state.kinds import OF_OPTIMIZERS
from fixtures.state.plan import StatePlan
from suites.saving import (
    NEEDS,
    OPTIMIZER_LOAD_POST,
    OPTIMIZER_LOAD_PRE,
    OPTIMIZER_SAVE_POST,
    OPTIMIZER_SAVE_PRE,
    called,
    events,
    seen,
)

#: What torch says of each kind.
DOCS = {
    "optimizer_save_pre": OPTIMIZER_SAVE_PRE,
    "optimizer_save_post": OPTIMIZER_SAVE_POST,
    "optimizer_load_pre": OPTIMIZER_LOAD_PRE,
    "optimizer_load_post": OPTIMIZER_LOAD_POST,
}
PULL = "https://github.com/pytorch/pytorch/pull/105953"
PRE, POST, LOAD_PRE, LOAD_POST = OF_OPTIMIZERS
EVERY = (NEEDS[PRE], NEEDS[POST], NEEDS[LOAD_PRE], NEEDS[LOAD_POST])


@clause(
    "state.optimizer.saved",
    says="If a state_dict post-hook of an optimizer changes the dict or returns another, the next hook is given that.",
    source=f'{DOCS[POST]} "The hook may modify the state_dict inplace or optionally return a new one"',
    needs=NEEDS[POST],
)
@given(program=programs(kinds=(POST,), does=("Put", "Inner", "Return"), steps=("save",), least=2, runs=1, plain=True))
def test_saved(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)


@clause(
    "state.optimizer.pre",
    says="What a state_dict pre-hook of an optimizer changes in param_groups is saved; what it returns is ignored.",
    source=f'{DOCS[PRE]} "can be used to perform pre-processing before"',
    needs=NEEDS[PRE],
)
@given(program=programs(kinds=(PRE,), does=("Become", "Return"), steps=("save",), runs=2, plain=True))
def test_pre(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    assert events(trace, "raises") == []


@clause(
    "state.optimizer.loaded",
    says="A dict that a load pre-hook of an optimizer returns is given to the next one, or loaded after the last.",
    source=f'{DOCS[LOAD_PRE]} "it will be used to be loaded into the optimizer"',
    needs=NEEDS[LOAD_PRE],
)
@given(program=programs(kinds=(LOAD_PRE,), does=("Return", "Inner"), steps=("load",), least=2, runs=1, plain=True))
def test_loaded(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)


@clause(
    "state.optimizer.shallow",
    says="The first load pre-hook of an optimizer is given a shallow copy of the dict: what is in it is the caller's.",
    source=f'{DOCS[LOAD_PRE]} "argument is a shallow copy of the ``state_dict`` the user passed in"',
    needs=NEEDS[LOAD_PRE],
)
@given(program=programs(kinds=(LOAD_PRE,), does=("Put", "Take", "Inner"), steps=("load",), runs=1, plain=True))
def test_shallow(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    for (_, saved), (kept,) in zip(events(trace, "saved"), events(trace, "kept")):
        assert list(kept) == list(saved)


@clause(
    "state.optimizer.after",
    says="A load post-hook of an optimizer finds what was loaded; where loading fails, it is not called.",
    source=f'{DOCS[LOAD_POST]} "perform post-processing after ``load_state_dict`` has loaded the"',
    needs=(NEEDS[LOAD_POST], NEEDS[LOAD_PRE]),
)
@given(
    program=st.one_of(
        [
            programs(kinds=(LOAD_POST, LOAD_PRE), does=does, steps=("load",), least=2, runs=2, plain=True)
            for does in (("Take", "Inner", "Become"), ("Take", "Become"))
        ]
    )
)
def test_after(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)


@each(
    Row(
        "state.optimizer.order_save_pre",
        "state_dict pre-hooks of an optimizer run in order of registration, but prepend=True puts one first.",
        f'{DOCS[PRE]} "will be fired before all the already registered pre-hooks"',
        needs=NEEDS[PRE],
        kind=PRE,
    ),
    Row(
        "state.optimizer.order_save_post",
        "state_dict post-hooks of an optimizer run in order of registration, but prepend=True puts one first.",
        f'{DOCS[POST]} "will be fired before all the already registered post-hooks"',
        needs=NEEDS[POST],
        kind=POST,
    ),
    Row(
        "state.optimizer.order_load_pre",
        "Load pre-hooks of an optimizer run in order of registration, but prepend=True puts one first.",
        f'{DOCS[LOAD_PRE]} "will be fired before all the already registered pre-hooks"',
        needs=NEEDS[LOAD_PRE],
        kind=LOAD_PRE,
    ),
    Row(
        "state.optimizer.order_load_post",
        "Load post-hooks of an optimizer run in order of registration, but prepend=True puts one first.",
        f'{DOCS[LOAD_POST]} "will be fired before all the already registered post-hooks"',
        needs=NEEDS[LOAD_POST],
        kind=LOAD_POST,
    ),
    program=lambda row: programs(kinds=(row.kind,), does=("Become",), steps=("load",), least=2, runs=1, plain=True),
)
def in_order(subject: Subject, program: StatePlan, *, row: Any) -> None:
    trace = subject.holds(program)
    first = [hook.label for hook in reversed(program.hooks) if hook.prepend]
    assert called(trace) == first + [hook.label for hook in program.hooks if not hook.prepend]


@clause(
    "state.optimizer.given",
    says="State-dict hooks of an optimizer are given it; state_dict post-hooks and load pre-hooks also get the dict.",
    source=(f'{DOCS[POST]} "hook(optimizer, state_dict) -> state_dict or None"', PULL),
    needs=EVERY,
)
@given(program=programs(kinds=OF_OPTIMIZERS, does=(), steps=("load",), runs=1, plain=True))
def test_given(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    with_dict = {hook.label for hook in program.hooks if hook.kind in (POST, LOAD_PRE)}
    assert [len(one) for one in seen(trace)] == [1 + (label in with_dict) for label in called(trace)]


@clause(
    "state.optimizer.kept",
    says="load_state_dict() of an optimizer keeps its hooks of saving and loading.",
    source="measured",
    needs=EVERY,
)
@given(program=programs(kinds=OF_OPTIMIZERS, does=("Become",), steps=("load", "save"), runs=4, plain=True))
def test_kept(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)


@clause(
    "state.optimizer.raises",
    says="state_dict() and load_state_dict() of an optimizer raise what their hooks raise; nothing is loaded by then.",
    where="the hook is no load post-hook",
    source="measured",
    needs=EVERY[:3],
)
@given(
    program=st.one_of(
        [
            programs(kinds=(one,), does=("Throw", "Inner"), steps=("load",), runs=2, plain=True)
            for one in OF_OPTIMIZERS[:3]
        ]
    )
)
def test_raises(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)


@clause(
    "state.optimizer.removed",
    says="A hook of saving or loading an optimizer that was removed by its handle is not called again.",
    source=f'{DOCS[POST]} "a handle that can be used to remove the added hook by calling"',
    needs=EVERY,
)
@given(program=programs(kinds=OF_OPTIMIZERS, does=(), steps=("off", "load", "save"), runs=5, plain=True))
def test_removed(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)
