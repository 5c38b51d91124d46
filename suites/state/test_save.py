"""Hooks around state_dict() of modules: when they run, what they are given, and what becomes of what they do."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.draw.state import programs
from fixtures.judge.clause import by_release, clause
from fixtures.judge.subject import Subject
from fixtures.judge.table import Row, each
from fixtures.state.grammar import Become, On, Return, Save, Throw, Tree
from fixtures.state.kinds import LOAD_PRE, SAVING
from fixtures.state.plan import StatePlan
from suites.saving import (
    LOAD_POST,
    NEEDS,
    SAVE_OWN,
    SAVE_POST,
    SAVE_PRE,
    TRANSIENT,
    anywhere,
    called,
    events,
    inside_out,
    keys,
    labels,
    prefixes,
    seen,
)

ABOUT = "_register_state_dict_hook"
IN_PLACE = f'{SAVE_POST} "The registered hooks can modify the ``state_dict`` inplace"'
RETURNS = (Return("given"), Return("number"), Return("another"))
NEW_ONE = f'{SAVE_OWN} "if it is the root module that :meth:`~nn.Module.state_dict` is called from"'


@clause(
    "state.save.pre_order",
    says="A module's state_dict pre-hooks run in order of registration, before those of the modules inside it.",
    where="no module is in two places",
    source="measured",
    needs=NEEDS["save_pre"],
)
@given(program=anywhere(kinds=("save_pre",), does=("Become",), steps=("save",), least=2, runs=1, plain=True))
def test_pre_order(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    inwards = labels(program, list(prefixes(program.tree)))
    assert called(trace) == [one for one in inwards if one in called(trace)]


@clause(
    "state.save.pre_given",
    says="A state_dict pre-hook of a module is given module, the prefix of its keys and keep_vars.",
    source=f'{SAVE_PRE} "hook(module, prefix, keep_vars) -> None"',
    needs=NEEDS["save_pre"],
)
@given(program=anywhere(kinds=("save_pre",), does=(), steps=("save",), runs=1, on=("root", "a")))
def test_pre_given(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    save = next(step for step in program.steps if isinstance(step, Save))
    inner = prefixes(program.tree)
    for module, prefix, keep_vars in seen(trace):
        assert keep_vars == save.keep_vars
        assert save.on != "root" or prefix == save.prefix + inner[module]


@clause(
    "state.save.pre_effect",
    says="What a state_dict pre-hook changes in the parameters of its module is in what state_dict() returns.",
    source=f'{SAVE_PRE} "can be used to perform pre-processing before"',
    needs=NEEDS["save_pre"],
)
@given(program=anywhere(kinds=("save_pre",), does=("Become",), steps=("save",), runs=1, plain=True))
def test_pre_effect(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    ((_, saved),) = events(trace, "saved")
    last = {hook.on: hook.do[-1] for hook in program.hooks if hook.do and hook.label in called(trace)}
    inner = prefixes(program.tree)
    for name, act in last.items():
        key = f"{inner[name]}w"
        assert key not in saved or not isinstance(act, Become) or saved[key] == act.value


@clause(
    "state.save.pre_overridden",
    says="A state_dict pre-hook runs also where its module overrides _save_to_state_dict.",
    where="the method does not call that of torch.nn.Module",
    source=("https://github.com/pytorch/pytorch/pull/98964", "measured"),
    needs=NEEDS["save_pre"],
    readings=by_release(
        "other",
        ("2.1", "it runs", {"state_pre_of_overridden": True}),
        "A state_dict pre-hook runs also where its module overrides _save_to_state_dict.",
        ("", "it does not", {"state_pre_of_overridden": False}),
        "A state_dict pre-hook does not run where its module overrides _save_to_state_dict.",
    ),
    witness={"program": StatePlan(Tree("root", overrides=True), (On("save_pre", "root", "h0"), Save()))},
    concern="save_pre ?saves_itself",
)
@given(
    program=programs(
        kinds=("save_pre",), does=("Become",), steps=("save",), runs=1, on=("root",), plain=True, special="overrides"
    )
)
def test_pre_overridden(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)


@clause(
    "state.save.pre_returns",
    says="What a state_dict pre-hook returns is ignored.",
    source="measured",
    needs=NEEDS["save_pre"],
)
@given(program=anywhere(kinds=("save_pre",), does=("Return",), steps=("save",), runs=2, plain=True))
def test_pre_returns(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    assert events(trace, "raises") == []


@clause(
    "state.save.post_order",
    says="A module's state_dict post-hooks, private or not, run as registered, after those of the modules inside it.",
    source="measured",
)
@given(
    program=anywhere(
        kinds=("save_own", "save_post"), does=("Put", "Take"), steps=("save",), least=2, runs=1, plain=True
    )
)
def test_post_order(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    outwards = labels(program, inside_out(program.tree))
    assert called(trace) == [one for one in outwards if one in called(trace)]


@each(
    Row(
        "state.save.post_given",
        "A state_dict post-hook of a module is given module, the whole dict so far, prefix and metadata.",
        f'{SAVE_POST} "hook(module, state_dict, prefix, local_metadata) -> None"',
        needs=NEEDS["save_post"],
        kinds=("save_post",),
    ),
    Row(
        "state.save.private_given",
        "A private state-dict hook is given its module, the whole dict so far, the prefix and metadata.",
        f'{SAVE_OWN} "hook(module, state_dict, prefix, local_metadata) -> None or state_dict"',
        kinds=("save_own",),
    ),
    program=lambda row: anywhere(kinds=row.kinds, does=(), steps=("save",), runs=1, plain=True),
)
def given_all(subject: Subject, program: StatePlan, *, row: Any) -> None:
    trace = subject.holds(program)
    save = next(step for step in program.steps if isinstance(step, Save))
    inner, every = prefixes(program.tree), keys(program.tree)
    for module, state_dict, prefix, metadata in seen(trace):
        assert metadata == {"version": 1}
        if save.on == "root":
            assert prefix == inner[module]
            assert [key for key in state_dict if key.startswith(prefix)] == [
                key for key in every if key.startswith(prefix)
            ]


@each(
    Row(
        "state.save.post_edits",
        "A state_dict post-hook, also of an inner module, may change in place the dict that state_dict() returns.",
        IN_PLACE,
        needs=NEEDS["save_post"],
        kinds=("save_post",),
    ),
    Row(
        "state.save.private_edits",
        "A private state-dict hook, also of an inner module, may change in place the dict that state_dict() returns.",
        f'{SAVE_OWN} "can modify the ``state_dict`` inplace or return a new one"',
        kinds=("save_own",),
    ),
    program=lambda row: st.one_of(
        [
            anywhere(kinds=row.kinds, does=("Put", "Take", "Rename"), steps=("save",), most=2, runs=1, plain=plain)
            for plain in (True, False)
        ]
    ),
)
def edits(subject: Subject, program: StatePlan, *, row: Any) -> None:
    trace = subject.holds(program)
    assert events(trace, "raises") == []


@clause(
    "state.save.post_returns",
    says="If a public state_dict post-hook of a module returns anything but None, state_dict() raises RuntimeError.",
    source=f'{SAVE_POST} "hook(module, state_dict, prefix, local_metadata) -> None"',
    needs=NEEDS["save_post"],
)
@given(program=anywhere(acts=RETURNS, kinds=("save_post",), does=("Return",), steps=("save",), plain=True))
def test_post_returns(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    returning = {hook.label for hook in program.hooks if hook.do}
    raised = events(trace, "raises")
    assert bool(raised) == bool(returning & set(called(trace)))
    assert set(raised) <= {("state_dict", "RuntimeError")}


@clause(
    "state.save.private_returns",
    says="state_dict() of a module returns what its private state-dict hook returns, if not None.",
    where="no later hook of that module returns something, too",
    source=NEW_ONE,
)
@given(program=programs(kinds=("save_own",), does=("Return",), steps=("save",), on=("root",), runs=1, plain=True))
def test_private_returns(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    save = next(step for step in program.steps if isinstance(step, Save))
    returned = [hook.do[-1].what for hook in program.hooks if hook.do]
    if save.on == "root" and returned:
        ((kind, saved),) = events(trace, "saved")
        known = {"number": ("int", 3), "another": ("dict", {"x": 7})}
        assert returned[-1] == "given" or (kind, saved) == known[returned[-1]]


@clause(
    "state.save.private_inner",
    says="state_dict() of an outer module ignores a new dict that a private hook of an inner module returns.",
    source=(NEW_ONE, "https://github.com/pytorch/pytorch/issues/117437"),
    witness={
        "program": StatePlan(
            Tree("root", (("w", 1),), children=(Tree("a", (("w", 2),)),)), (On("save_own", "a", "h0"), Save())
        )
    },
)
@given(program=anywhere(kinds=("save_own",), does=("Return",), steps=("save",), on=("a", "b", "c"), runs=1, plain=True))
def test_private_inner(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    save = next(step for step in program.steps if isinstance(step, Save))
    if save.on == "root" and program.tree.children:
        ((_, saved),) = events(trace, "saved")
        assert list(saved) == keys(program.tree)


@clause(
    "state.save.transient",
    says="A buffer registered with persistent=False is in no dict that a hook of state_dict() is given.",
    source="measured",
    needs=TRANSIENT,
)
@given(program=programs(kinds=("save_own",), does=(), steps=("save",), on=("root",), plain=True, special="transient"))
def test_transient(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    lost = {buffer.name for buffer in program.tree.buffers}
    assert not any(lost & set(state_dict) for module, state_dict, *_ in seen(trace) if module == "root")


@clause(
    "state.save.keep_vars",
    says="With keep_vars=True post-hooks of state_dict() find the parameters in the dict, else detached tensors.",
    source="measured",
)
@given(program=anywhere(kinds=("save_own", "save_post"), does=(), steps=("save",)))
def test_keep_vars(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)


@clause(
    "state.save.raises",
    says="state_dict() raises what one of its hooks raises, and no later hook runs.",
    source="measured",
)
@given(program=anywhere(acts=(Throw(),), kinds=SAVING, does=("Throw",), steps=("save",), plain=True))
def test_raises(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    raising = [hook.label for hook in program.hooks if hook.do]
    assert set(events(trace, "raises")) <= {("state_dict", "KeyError")}
    assert len(events(trace, "raises")) == sum(one in raising for one in called(trace))


@clause(
    "state.save.not_saved",
    says="A state dict has no hooks in it, and loading one neither adds nor removes hooks.",
    source="measured",
)
@given(program=anywhere(does=(), kinds=(*SAVING, "load_own", "load_post"), steps=("load",), runs=2, plain=True))
def test_not_saved(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    for _, saved in events(trace, "saved"):
        assert {key.rpartition(".")[2] for key in saved} <= {"w", "v", "n"}


@clause(
    "state.save.removed",
    says="A module does not call a hook of state_dict() or load_state_dict() that was removed by its handle.",
    source=f'{LOAD_POST} "a handle that can be used to remove the added hook by calling"',
)
@given(
    program=anywhere(
        does=(),
        kinds=(*SAVING, "load_pre", "load_own", "load_with", "load_post"),
        steps=("off", "load", "save"),
        runs=5,
        plain=True,
    )
)
def test_removed(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)


@clause(
    "state.save.shared",
    says="A module in two places calls its hooks of state_dict() and load_state_dict() once for each place.",
    source="measured",
)
@given(
    program=st.one_of(
        anywhere(does=(), kinds=SAVING, steps=("share", "save"), on=("a", "b"), runs=4, plain=True),
        anywhere(does=(), kinds=(*LOAD_PRE, "load_post"), steps=("share", "load"), on=("a", "b"), runs=4, plain=True),
    )
)
def test_shared(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)
