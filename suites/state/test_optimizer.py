"""Hooks of saving and loading optimizers."""

from dataclasses import replace
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.state import programs
from fixtures.judge.subject import Subject
from fixtures.play.trace import Event
from fixtures.state.grammar import Become, Inner, Load, Off, On, Put, Return, Save, Take, Throw
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
    removing,
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


#: What is saved of an optimizer whose hooks change nothing.
SAVED = {"state": {}, "param_groups": [{"lr": 1, "params": [0]}]}


def dicts(**options: Any) -> Any:
    """Programs with two hooks or more, which return nothing but dicts."""

    def mended(step: Any) -> Any:
        do = tuple(Return("another") if act == Return("number") else act for act in getattr(step, "do", ()))
        return replace(step, do=do) if isinstance(step, On) else step

    return programs(least=2, runs=1, plain=True, **options).map(
        lambda program: replace(program, steps=tuple(map(mended, program.steps)))
    )


def in_turn(program: StatePlan, *kinds: str) -> List[On]:
    """The hooks of these kinds in the order in which they are called, kind by kind."""
    found: List[On] = []
    for kind in kinds:
        own = [hook for hook in program.hooks if hook.kind == kind]
        found += [hook for hook in reversed(own) if hook.prepend] + [hook for hook in own if not hook.prepend]
    return found


def with_rate(state_dict: Any, rate: int) -> Any:
    """The same dict with another lr."""
    (group,) = state_dict["param_groups"]
    return {**state_dict, "param_groups": [{**group, "lr": rate}]}


def after(state_dict: Any, hook: On) -> Any:
    """The dict that goes on behind a hook which changes it or returns another one."""
    for act in hook.do:
        if isinstance(act, Put):
            state_dict = {**state_dict, act.key: act.value}
        elif isinstance(act, Inner):
            state_dict = with_rate(state_dict, act.value)
        elif act == Return("another"):
            state_dict = with_rate(SAVED, 7)
    return state_dict


def rate_after(hooks: List[On], rate: int) -> int:
    """The lr behind hooks that may change that of the optimizer, or that in the dict."""
    return ([rate] + [act.value for hook in hooks for act in hook.do if isinstance(act, (Become, Inner))])[-1]


@clause(
    "state.optimizer.saved",
    says="If a state_dict post-hook of an optimizer changes the dict or returns another, the next hook is given that.",
    source=f'{DOCS[POST]} "The hook may modify the state_dict inplace or optionally return a new one"',
    asked="optimizer register_state_dict_post_hook return modified optimizer checkpoint",
    needs=NEEDS[POST],
)
@given(program=dicts(kinds=(POST,), does=("Put", "Inner", "Return"), steps=("save",)))
def test_saved(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    hooks, given_ = in_turn(program, POST), [state_dict for _, state_dict in seen(trace)]
    left = [after(state_dict, hook) for state_dict, hook in zip(given_, hooks)]
    assert [given_[0], *left] == [SAVED, *given_[1:], *(saved for _, saved in events(trace, "saved"))]


@clause(
    "state.optimizer.pre",
    says="What a state_dict pre-hook of an optimizer changes in param_groups is saved; what it returns is ignored.",
    source=f'{DOCS[PRE]} "can be used to perform pre-processing before"',
    asked="optimizer register_state_dict_pre_hook change param_groups before saving return ignored",
    needs=NEEDS[PRE],
)
@given(program=programs(kinds=(PRE,), does=("Become", "Return"), steps=("save",), runs=2, plain=True))
def test_pre(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    saved = with_rate(SAVED, rate_after(in_turn(program, PRE), 1))
    saves = sum(isinstance(step, Save) for step in program.steps)
    assert events(trace, "saved") == [("dict", saved)] * saves


@clause(
    "state.optimizer.loaded",
    says="A dict that a load pre-hook of an optimizer returns is given to the next one, or loaded after the last.",
    source=f'{DOCS[LOAD_PRE]} "it will be used to be loaded into the optimizer"',
    asked="optimizer register_load_state_dict_pre_hook return dict to load converted optimizer checkpoint",
    needs=NEEDS[LOAD_PRE],
)
@given(program=dicts(kinds=(LOAD_PRE,), does=("Return", "Inner"), steps=("load",)))
def test_loaded(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    hooks, given_ = in_turn(program, LOAD_PRE), [state_dict for _, state_dict in seen(trace)]
    *left, last = [after(state_dict, hook) for state_dict, hook in zip(given_, hooks)]
    assert given_ == [SAVED, *left]
    assert events(trace, "values")[-1] == ({"lr": last["param_groups"][0]["lr"]},)


@clause(
    "state.optimizer.shallow",
    says="The first load pre-hook of an optimizer is given a shallow copy of the dict: what is in it is the caller's.",
    source=f'{DOCS[LOAD_PRE]} "argument is a shallow copy of the ``state_dict`` the user passed in"',
    asked="optimizer load hook edits param_groups of my checkpoint dict in place shallow copy",
    needs=NEEDS[LOAD_PRE],
)
@given(program=programs(kinds=(LOAD_PRE,), does=("Put", "Take", "Inner"), steps=("load",), runs=1, plain=True))
def test_shallow(subject: Subject, program: StatePlan) -> None:
    rate = rate_after(in_turn(program, LOAD_PRE), 1)
    assert events(subject.holds(program), "kept") == [(with_rate(SAVED, rate),)]


@clause(
    "state.optimizer.after",
    says="A load post-hook of an optimizer finds what was loaded; where loading fails, it is not called.",
    source=f'{DOCS[LOAD_POST]} "perform post-processing after ``load_state_dict`` has loaded the"',
    asked="optimizer register_load_state_dict_post_hook called when loading fails",
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
    trace, expected = subject.holds(program), []
    fails = any(act.key == "state" for hook in program.hooks for act in hook.do if isinstance(act, Take))
    for (loaded,) in [] if fails else events(trace, "kept"):
        hooks, rate = in_turn(program, LOAD_POST), loaded["param_groups"][0]["lr"]
        expected += [Event(hook.label, (rate_after(hooks[:place], rate),)) for place, hook in enumerate(hooks)]
    posts = [hook.label for hook in program.hooks if hook.kind == LOAD_POST]
    assert [event for event in trace if event.what in posts] == expected
    assert events(trace, "raises") == [("load_state_dict", "KeyError")] * len(events(trace, "kept")) * fails


@each(
    Row(
        "state.optimizer.order_save_pre",
        "state_dict pre-hooks of an optimizer run in order of registration, but prepend=True puts one first.",
        f'{DOCS[PRE]} "will be fired before all the already registered pre-hooks"',
        asked="prepend optimizer state_dict pre hook run first order",
        needs=NEEDS[PRE],
        kind=PRE,
    ),
    Row(
        "state.optimizer.order_save_post",
        "state_dict post-hooks of an optimizer run in order of registration, but prepend=True puts one first.",
        f'{DOCS[POST]} "will be fired before all the already registered post-hooks"',
        asked="prepend optimizer state_dict post hook run first order",
        needs=NEEDS[POST],
        kind=POST,
    ),
    Row(
        "state.optimizer.order_load_pre",
        "Load pre-hooks of an optimizer run in order of registration, but prepend=True puts one first.",
        f'{DOCS[LOAD_PRE]} "will be fired before all the already registered pre-hooks"',
        asked="prepend optimizer load_state_dict pre hook run first order",
        needs=NEEDS[LOAD_PRE],
        kind=LOAD_PRE,
    ),
    Row(
        "state.optimizer.order_load_post",
        "Load post-hooks of an optimizer run in order of registration, but prepend=True puts one first.",
        f'{DOCS[LOAD_POST]} "will be fired before all the already registered post-hooks"',
        asked="prepend optimizer load_state_dict post hook run first order",
        needs=NEEDS[LOAD_POST],
        kind=LOAD_POST,
    ),
    program=lambda row: programs(kinds=(row.kind,), does=("Become",), steps=("load",), least=2, runs=1, plain=True),
)
def in_order(subject: Subject, program: StatePlan, *, row: Any) -> None:
    assert called(subject.holds(program)) == [hook.label for hook in in_turn(program, row.kind)]


@clause(
    "state.optimizer.given",
    says="State-dict hooks of an optimizer are given it; state_dict post-hooks and load pre-hooks also get the dict.",
    source=(f'{DOCS[POST]} "hook(optimizer, state_dict) -> state_dict or None"', PULL),
    asked="arguments of optimizer state dict hooks optimizer and state_dict",
    needs=EVERY,
)
@given(program=programs(kinds=OF_OPTIMIZERS, does=(), steps=("load",), runs=1, plain=True))
def test_given(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    for hook in program.hooks:  # an optimizer is shown as its lr
        assert trace.seen_by(hook.label) == [(1, SAVED) if hook.kind in (POST, LOAD_PRE) else (1,)]


@clause(
    "state.optimizer.kept",
    says="load_state_dict() of an optimizer keeps its hooks of saving and loading.",
    source="measured",
    asked="optimizer loses hooks after load_state_dict resume training",
    needs=EVERY,
)
@given(
    program=programs(kinds=OF_OPTIMIZERS, does=("Become",), steps=("load", "save"), runs=4, plain=True).map(
        lambda program: replace(program, steps=(*program.steps, Save("optimizer"), Load("optimizer")))
    )
)
def test_kept(subject: Subject, program: StatePlan) -> None:
    turns = {Save: in_turn(program, PRE, POST), Load: in_turn(program, LOAD_PRE, LOAD_POST)}
    every = [hook.label for step in program.steps for hook in turns.get(type(step), ())]
    assert called(subject.holds(program)) == every


@clause(
    "state.optimizer.raises",
    says="state_dict() and load_state_dict() of an optimizer raise what their hooks raise; nothing is loaded by then.",
    where="the hook is no load post-hook",
    source="measured",
    asked="exception in optimizer load pre hook learning rate half loaded",
    needs=EVERY[:3],
)
@given(
    program=st.one_of(
        [
            programs(kinds=(one,), does=("Throw", "Inner"), steps=("load",), least=2, runs=2, plain=True)
            for one in OF_OPTIMIZERS[:3]
        ]
    )
)
def test_raises(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    step, name = (Load, "load_state_dict") if program.hooks[0].kind == LOAD_PRE else (Save, "state_dict")
    raising = [hook.label for hook in program.hooks if Throw() in hook.do]
    if raising:
        steps = sum(isinstance(one, step) for one in program.steps)
        behind = [later for event, later in zip(trace, trace[1:]) if event.what in raising]
        assert behind == [Event("raises", (name, "KeyError"))] * steps
        assert all(left == {"lr": 1} for (left,) in events(trace, "values"))


@clause(
    "state.optimizer.removed",
    says="A hook of saving or loading an optimizer that was removed by its handle is not called again.",
    source=f'{DOCS[POST]} "a handle that can be used to remove the added hook by calling"',
    asked="remove handle of optimizer state dict hook",
    needs=EVERY,
)
@given(program=removing(programs(kinds=OF_OPTIMIZERS, does=(), steps=("load",), runs=1, plain=True), "optimizer"))
def test_removed(subject: Subject, program: StatePlan) -> None:
    every = [hook.label for hook in in_turn(program, *OF_OPTIMIZERS)]
    gone = [step.label for step in program.steps if isinstance(step, Off)]
    kept = [label for label in every if label not in gone]
    assert called(subject.holds(program)) == every + kept
