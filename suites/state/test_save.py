"""Hooks around state_dict() of modules: when they run, what they are given, and what becomes of what they do."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.state import programs
from fixtures.judge.subject import Subject
from fixtures.play.trace import Event
from fixtures.state.grammar import Buffer, Load, Off, On, Put, Rename, Return, Save, Throw, Tree
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
    changed,
    crowded,
    done,
    events,
    handled,
    inwards,
    keys,
    numbers,
    outwards,
    places,
    prefixes,
    quiet,
    removing,
    seen,
    shown,
    under,
)

ABOUT = "_register_state_dict_hook"
RETURNS = (Return("given"), Return("number"), Return("another"))
NEW_ONE = f'{SAVE_OWN} "if it is the root module that :meth:`~nn.Module.state_dict` is called from"'


@clause(
    "state.save.pre_order",
    says="A module's state_dict pre-hooks run in order of registration, before those of the modules inside it.",
    where="no module is in two places",
    source="measured",
    asked="which register_state_dict_pre_hook runs first parent or child when saving checkpoint",
    needs=NEEDS["save_pre"],
)
@given(program=anywhere(kinds=("save_pre",), does=("Become",), steps=("save",), least=2, runs=1, plain=True))
def test_pre_order(subject: Subject, program: StatePlan) -> None:
    assert called(subject.holds(program)) == inwards(program)


@clause(
    "state.save.pre_given",
    says="A state_dict pre-hook of a module is given module, the prefix of its keys and keep_vars.",
    source=f'{SAVE_PRE} "hook(module, prefix, keep_vars) -> None"',
    asked="arguments of register_state_dict_pre_hook prefix keep_vars what does the hook receive before saving",
    needs=NEEDS["save_pre"],
)
@given(program=anywhere(kinds=("save_pre",), does=(), steps=("save",), runs=1, on=("root", "a")))
def test_pre_given(subject: Subject, program: StatePlan) -> None:
    save, place = program.steps[-1], places(program)
    inner = prefixes(handled(program), save.prefix)
    for event in subject.holds(program):
        if event.what in place:
            assert event.seen == (place[event.what], inner[place[event.what]], save.keep_vars)


@clause(
    "state.save.pre_effect",
    says="What a state_dict pre-hook changes in the parameters of its module is in what state_dict() returns.",
    source=f'{SAVE_PRE} "can be used to perform pre-processing before"',
    asked="merge lora weights before saving checkpoint in "
    "register_state_dict_pre_hook is the changed weight in the file",
    needs=NEEDS["save_pre"],
)
@given(program=anywhere(kinds=("save_pre",), does=("Become",), steps=("save",), runs=1, plain=True))
def test_pre_effect(subject: Subject, program: StatePlan) -> None:
    tree = handled(program)
    ((_, saved),) = events(subject.holds(program), "saved")
    assert saved == changed(program, tree, numbers(tree))


@clause(
    "state.save.pre_overridden",
    says="A state_dict pre-hook runs also where its module overrides _save_to_state_dict.",
    where="the method does not call that of torch.nn.Module",
    source=("https://github.com/pytorch/pytorch/pull/98964", "measured"),
    asked="register_state_dict_pre_hook never called on layer with custom _save_to_state_dict",
    needs=NEEDS["save_pre"],
    readings=by_release(
        "silent",
        ("2.1", "it runs", {"state_pre_of_overridden": True}),
        "A state_dict pre-hook runs also where its module overrides _save_to_state_dict.",
        ("", "it does not", {"state_pre_of_overridden": False}),
        "A state_dict pre-hook does not run where its module overrides _save_to_state_dict.",
    ),
    witness={"program": StatePlan(Tree("root", overrides=True), (On("save_pre", "root", "h0"), Save()))},
    matters_if="save_pre ?saves_itself",
)
@given(
    program=programs(
        kinds=("save_pre",), does=("Become",), steps=("save",), runs=1, on=("root",), plain=True, special="overrides"
    )
)
def test_pre_overridden(subject: Subject, program: StatePlan) -> None:
    runs = subject.reading.facts["state_pre_of_overridden"]
    assert called(subject.holds(program)) == (inwards(program) if runs else [])


@clause(
    "state.save.pre_returns",
    says="What a state_dict pre-hook returns is ignored.",
    source="measured",
    asked="return value of register_state_dict_pre_hook used or thrown away when saving",
    needs=NEEDS["save_pre"],
)
@given(program=anywhere(kinds=("save_pre",), does=("Return",), steps=("save",), runs=2, plain=True))
def test_pre_returns(subject: Subject, program: StatePlan) -> None:
    assert subject.holds(program) == subject.play(quiet(program))


@clause(
    "state.save.post_order",
    says="A module's state_dict post-hooks, private or not, run as registered, after those of the modules inside it.",
    where="no module is in two places",
    source="measured",
    asked="_register_state_dict_hook order children before parent or registration order when saving model",
)
@given(
    program=anywhere(
        kinds=("save_own", "save_post"), does=("Put", "Take"), steps=("save",), least=2, runs=1, plain=True
    )
)
def test_post_order(subject: Subject, program: StatePlan) -> None:
    assert called(subject.holds(program)) == outwards(program)


@each(
    Row(
        "state.save.post_given",
        "A state_dict post-hook of a module is given module, the whole dict so far, prefix and metadata.",
        f'{SAVE_POST} "hook(module, state_dict, prefix, local_metadata) -> None"',
        asked="register_state_dict_post_hook gets full dictionary or only keys of the submodule local_metadata",
        needs=NEEDS["save_post"],
        kinds=("save_post",),
    ),
    Row(
        "state.save.private_given",
        "A private state-dict hook is given its module, the whole dict so far, the prefix and metadata.",
        f'{SAVE_OWN} "hook(module, state_dict, prefix, local_metadata) -> None or state_dict"',
        asked="_register_state_dict_hook arguments module state_dict "
        "prefix local_metadata does it contain keys of other layers",
        kinds=("save_own",),
    ),
    program=lambda row: anywhere(kinds=row.kinds, does=(), steps=("save",), runs=1, plain=True),
)
def given_all(subject: Subject, program: StatePlan, *, row: Any) -> None:
    tree, place = handled(program), places(program)
    for event in subject.holds(program):
        if event.what in place:
            on = place[event.what]
            so_far = numbers(tree, done(tree, on))
            assert event.seen == (on, so_far, prefixes(tree)[on], {"version": 1})


def edited(state_dict: Any, prefix: str, acts: Any) -> Any:
    """A dict after what a hook does."""
    found = dict(state_dict)
    for act in acts:
        key = act.key if getattr(act, "whole", False) else prefix + act.key
        if isinstance(act, Put):
            found[key] = list(act.value) if isinstance(act.value, tuple) else act.value
        elif key in found:
            value = found.pop(key)
            found.update({prefix + act.to: value} if isinstance(act, Rename) else {})
    return found


@each(
    Row(
        "state.save.post_edits",
        "A state_dict post-hook, also of an inner module, may change in place the dict that state_dict() returns.",
        f'{SAVE_POST} "The registered hooks can modify the ``state_dict`` inplace"',
        asked="drop frozen backbone keys from checkpoint with register_state_dict_post_hook in place on submodule",
        needs=NEEDS["save_post"],
        kinds=("save_post",),
    ),
    Row(
        "state.save.private_edits",
        "A private state-dict hook, also of an inner module, may change in place the dict that state_dict() returns.",
        f'{SAVE_OWN} "can modify the ``state_dict`` inplace or return a new one"',
        asked="remove keys from checkpoint in _register_state_dict_hook of a submodule is the deletion kept",
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
    ((_, saved),) = events(trace, "saved")
    acts = {hook.label: hook.do for hook in program.hooks}
    later = [state_dict for _, state_dict, *_ in seen(trace)[1:]] + [saved]
    for label, (_, state_dict, prefix, _), left in zip(called(trace), seen(trace), later):
        # What other modules save between two hooks begins with another prefix.
        assert under(prefix, left) == under(prefix, edited(state_dict, prefix, acts[label]))


@clause(
    "state.save.post_returns",
    says="If a public state_dict post-hook of a module returns anything but None, state_dict() raises RuntimeError.",
    source=f'{SAVE_POST} "hook(module, state_dict, prefix, local_metadata) -> None"',
    asked="RuntimeError state_dict post-hook must return None lambda pop key",
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
    asked="return a new filtered dict from _register_state_dict_hook of the top model is it what gets saved",
)
@given(program=programs(kinds=("save_own",), does=("Return",), steps=("save",), on=("root",), runs=1, plain=True))
def test_private_returns(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    returning = [hook for hook in program.hooks if hook.do]
    if handled(program).name == "root" and returning:
        ((kind, saved),), ((_, given_, *_),) = events(trace, "saved"), trace.seen_by(returning[-1].label)
        known = {"number": ("int", 3), "another": ("dict", {"x": 7}), "given": (kind, given_)}
        assert (kind, saved) == known[returning[-1].do[-1].what]


@clause(
    "state.save.private_inner",
    says="state_dict() of an outer module ignores a new dict that a private hook of an inner module returns.",
    source=(NEW_ONE, "https://github.com/pytorch/pytorch/issues/117437"),
    asked="_register_state_dict_hook return value ignored for child module replaced dict lost",
    witness={
        "program": StatePlan(
            Tree("root", (("w", 1),), children=(Tree("a", (("w", 2),)),)), (On("save_own", "a", "h0"), Save())
        )
    },
)
@given(program=anywhere(kinds=("save_own",), does=("Return",), steps=("save",), on=("a", "b", "c"), runs=1, plain=True))
def test_private_inner(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    tree = handled(program)
    if tree.name not in places(program).values():
        assert [list(saved) for _, saved in events(trace, "saved")] == [keys(tree)]


@st.composite
def transient(draw: Any) -> StatePlan:
    """Programs in which the outermost module has such a buffer, and hooks."""
    program = draw(programs(kinds=("save_own",), does=(), steps=("save",), on=("root",), plain=True))
    buffer = Buffer("n", draw(st.integers(0, 5)), persistent=False)
    return replace(program, tree=replace(program.tree, buffers=(buffer,)))


@clause(
    "state.save.transient",
    says="A buffer registered with persistent=False is in no dict that a hook of state_dict() is given.",
    source="measured",
    asked="register_buffer persistent=False buffer missing in state dict hook",
    needs=TRANSIENT,
)
@given(program=transient())
def test_transient(subject: Subject, program: StatePlan) -> None:
    for _, state_dict, *_ in seen(subject.holds(program)):
        assert list(state_dict) == keys(program.tree)
        assert "n" not in state_dict


@clause(
    "state.save.keep_vars",
    says="With keep_vars=True post-hooks of state_dict() find the parameters in the dict, else detached tensors.",
    source="measured",
    asked="state_dict keep_vars True hook sees nn.Parameter with grad instead of detached tensor",
)
@given(
    program=st.builds(
        lambda program, keep: replace(program, steps=(*program.steps[:-1], Save(keep_vars=keep))),
        anywhere(kinds=("save_own", "save_post"), does=(), steps=("save",), runs=1, plain=True),
        st.booleans(),
    )
)
def test_keep_vars(subject: Subject, program: StatePlan) -> None:
    for module, state_dict, *_ in seen(subject.holds(program)):
        found = numbers(program.tree, done(program.tree, module))
        assert state_dict == (shown(found) if program.steps[-1].keep_vars else found)


@clause(
    "state.save.raises",
    says="state_dict() raises what one of its hooks raises, and no later hook runs.",
    source="measured",
    asked="exception inside hook while saving checkpoint does state_dict fail or swallow it",
)
@given(program=anywhere(acts=(Throw(),), kinds=SAVING, does=("Throw",), steps=("save",), plain=True))
def test_raises(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    raising = [hook.label for hook in program.hooks if hook.do]
    error = Event("raises", ("state_dict", "KeyError"))
    assert [later for event, later in zip(trace, trace[1:]) if event.what in raising] == [
        event for event in trace if event.what == "raises"
    ]
    assert {event for event in trace if event.what == "raises"} <= {error}


@clause(
    "state.save.not_saved",
    says="A state dict has no module hooks in it, and loading one neither adds nor removes module hooks.",
    source="measured",
    asked="are hooks stored in checkpoint file do hooks survive loading weights",
)
@given(
    program=anywhere(does=(), kinds=(*SAVING, "load_own", "load_post"), steps=("load",), runs=1, plain=True).map(
        lambda program: replace(program, steps=(*program.hooks, *(Save(), Load()) * 2))
    )
)
def test_not_saved(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    assert [saved for _, saved in events(trace, "saved")] == [numbers(program.tree)] * 2
    assert sorted(called(trace)) == sorted([hook.label for hook in program.hooks] * 2)


@clause(
    "state.save.removed",
    says="A module does not call a hook of state_dict() or load_state_dict() that was removed by its handle.",
    source=f'{LOAD_POST} "a handle that can be used to remove the added hook by calling"',
    asked="remove handle of state dict hook still called after unregister",
)
@given(
    program=removing(
        anywhere(does=(), kinds=(*SAVING, *LOAD_PRE, "load_post"), steps=("load",), runs=1, plain=True), "root"
    )
)
def test_removed(subject: Subject, program: StatePlan) -> None:
    every, gone = (
        [hook.label for hook in program.hooks],
        [step.label for step in program.steps if isinstance(step, Off)],
    )
    kept = [label for label in every if label not in gone]
    assert sorted(called(subject.holds(program))) == sorted(every + kept)


@clause(
    "state.save.shared",
    says="A module in two places calls its hooks of state_dict() and load_state_dict() once for each place.",
    source="measured",
    asked="tied layer used in two places state dict hook called twice with which prefix",
)
@given(
    program=st.one_of(
        crowded(does=(), kinds=SAVING, steps=("share", "save"), on=("a", "b"), runs=1, plain=True),
        crowded(does=(), kinds=(*LOAD_PRE, "load_post"), steps=("share", "load"), on=("a", "b"), runs=1, plain=True),
    )
)
def test_shared(subject: Subject, program: StatePlan) -> None:
    first = [hook.label for hook in program.hooks if hook.kind in ("save_pre", *LOAD_PRE)]
    last = [hook.label for hook in program.hooks if hook.label not in first]
    assert called(subject.holds(program)) == [*first, *last] * 2
