"""Hooks before load_state_dict() of modules: when they run, what they are given, and what becomes of what they do."""

from typing import Any, Iterable, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.state import programs
from fixtures.judge.subject import Subject
from fixtures.state.grammar import Become, Load, On, Put, Report, Save, Set, Throw, Tree
from fixtures.state.kinds import LOAD_PRE as KINDS
from fixtures.state.plan import StatePlan
from suites.saving import (
    ASSIGN,
    EXTRA,
    LOAD_OWN,
    LOAD_PRE,
    NEEDS,
    across,
    after_load,
    ahead,
    anew,
    anywhere,
    available,
    called,
    copied,
    culprit_of,
    events,
    given_to_load,
    handled,
    inwards,
    labels,
    places,
    prefixes,
    quiet,
    renamed,
    reported,
    seen,
    shown,
    under,
)

ABOUT = "_register_load_state_dict_pre_hook"
GIVEN = (
    f'{LOAD_PRE} "hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)"'
)
SCOPE = ("https://github.com/pytorch/pytorch/pull/85743", "https://github.com/pytorch/pytorch/issues/61398")
EDITS = ("Put", "Take", "Rename")
W = (("w", 1),)
TWO = Tree("root", children=(Tree("a", W), Tree("b", W)))


def keys_given(load: Load, saved: Iterable[str]) -> List[str]:
    """The keys of the caller's dict."""
    kept = [key for key in saved if key not in load.less]
    return kept + [key for key, _ in load.more if key not in kept]


@clause(
    "state.load.pre_order",
    says="A module's load pre-hooks run in order of registration, before those of the modules inside it.",
    where="no module is in two places",
    source="measured",
    asked="order of _register_load_state_dict_pre_hook parent before children when loading checkpoint",
)
@given(program=anywhere(kinds=KINDS, does=EDITS, steps=("load",), least=2, runs=1, plain=True))
def test_pre_order(subject: Subject, program: StatePlan) -> None:
    assert called(subject.holds(program)) == inwards(program)


@each(
    Row(
        "state.load.pre_given",
        "A public load pre-hook is given module, dict, prefix, metadata, strict, missing, unexpected and errors.",
        GIVEN,
        asked="arguments of register_load_state_dict_pre_hook missing_keys unexpected_keys error_msgs prefix signature",
        needs=NEEDS["load_pre"],
        kinds=("load_pre",),
        first=1,
    ),
    Row(
        "state.load.private_given",
        "A private load pre-hook is given what a public one is, but not the module.",
        f'{LOAD_OWN} "hook will not take the ``module`` as the first argument"',
        asked="_register_load_state_dict_pre_hook takes 7 arguments no module TypeError positional arguments",
        where="with_module= is left out",
        kinds=("load_own",),
        first=0,
    ),
    Row(
        "state.load.with_module",
        "A private load pre-hook that is registered with with_module=True is given what a public one is.",
        f'{LOAD_OWN} "Whether or not to pass the module instance to the hook as the first parameter"',
        asked="_register_load_state_dict_pre_hook with_module=True what is passed first",
        needs=NEEDS["load_with"],
        kinds=("load_with",),
        first=1,
    ),
    program=lambda row: anywhere(kinds=row.kinds, does=(), steps=("load",), runs=1),
)
def given_all(subject: Subject, program: StatePlan, *, row: Any) -> None:
    trace = subject.holds(program)
    outer, load = handled(program), program.steps[-1]
    ((held,),) = events(trace, "kept")
    for label, whole, one in zip(called(trace), seen(trace), given_to_load(trace)):
        place = places(program)[label]
        assert whole[: -len(one)] == (place,) * row.first
        assert under(one.prefix, one.state_dict) == under(one.prefix, held)
        assert (one.prefix, one.strict) == (prefixes(outer)[place], True)
        assert one.metadata.get("version") == (1 if load.form == "itself" else None)
        lists = (one.missing, one.unexpected)
        assert place != outer.name or (lists, one.errors) == (([], []), 0)
        for result in events(trace, "loaded"):
            assert lists == tuple(every[: len(some)] for every, some in zip(result, lists))


@clause(
    "state.load.own_keys",
    says="A load pre-hook of an inner module is given a dict with only the keys that begin with its prefix.",
    source=SCOPE,
    asked="load pre hook of submodule does not see keys of rest of checkpoint key not found after upgrade",
    readings=by_release(
        "silent",
        ("1.13", "its own", {"state_own_keys": True}),
        "A load pre-hook of an inner module is given a dict with only the keys that begin with its prefix.",
        ("", "all", {"state_own_keys": False}),
        "A load pre-hook of an inner module is given the dict of the outermost one, with all keys.",
    ),
    witness={"program": StatePlan(TWO, (On("load_own", "a", "h0"), Save(), Load()))},
    matters_if="load_own|load_with|load_pre ?other_keys",
)
@given(program=anywhere(kinds=KINDS, does=(), steps=("load",), on=("a", "b", "c"), runs=1, plain=True))
def test_own_keys(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    ((held,),) = events(trace, "kept")
    own = subject.reading.facts["state_own_keys"]
    for one in given_to_load(trace):
        assert one.state_dict == (under(one.prefix, held) if own else held)


@clause(
    "state.load.siblings",
    says="What a load pre-hook of a module puts under a key of its sibling is not loaded.",
    source=SCOPE,
    asked="move weights from one layer to another in load hook of submodule stopped working after upgrade",
    readings=by_release(
        "silent",
        ("1.13", "it is not loaded", {"state_own_keys": True}),
        "What a load pre-hook of a module puts under a key of its sibling is not loaded.",
        ("", "it is loaded", {"state_own_keys": False}),
        "What a load pre-hook of a module puts under a key of its later sibling is loaded there.",
    ),
    witness={"program": StatePlan(TWO, (On("load_own", "a", "h0", (Put("b.w", 5, whole=True),)), Save(), Load()))},
    matters_if="load_own|load_with|load_pre ?other_keys",
    instead="Register the hook on the module around both.",
)
@given(program=across())
def test_siblings(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    (saved,) = (number for _, number in program.tree.children[1].parameters)
    (put,) = program.hooks[-1].do
    left = saved if subject.reading.facts["state_own_keys"] else put.value
    assert events(trace, "values")[-1][0]["b.w"] == f"Parameter({left})"


@clause(
    "state.load.dict_type",
    says="A load pre-hook of the module that is loaded is given a new OrderedDict, whatever the caller's dict is.",
    source="measured",
    asked="custom dict subclass passed to load_state_dict hook receives OrderedDict instead",
    readings=by_release(
        "silent",
        ("1.12", "an OrderedDict", {"state_copied": True}),
        "A load pre-hook of the module that is loaded is given a new OrderedDict, whatever the caller's dict is.",
        ("", "its own type", {"state_copied": False}),
        "A load pre-hook of the module that is loaded is given a copy of the caller's dict, of the same type.",
    ),
    witness={"program": StatePlan(Tree("root", W), (On("load_own", "root", "h0"), Save(), Load(form="dict")))},
    matters_if="load_own|load_with|load_pre ?other_dict",
)
@given(program=programs(kinds=KINDS, does=EDITS, steps=("load",), on=("root",), runs=1, plain=True))
def test_dict_type(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    load = program.steps[-1]
    own = load.form == "dict" and not subject.reading.facts["state_copied"]
    assert [one.kind for one in given_to_load(trace)] == ["dict" if own else "OrderedDict"] * len(inwards(program))
    ((_, saved),), ((kept,),) = events(trace, "saved"), events(trace, "kept")
    assert list(kept) == keys_given(load, saved)


@clause(
    "state.load.renames",
    says="If a load pre-hook renames a key of its prefix to that of a parameter of its module, a strict load takes it.",
    where="no module is lazy",
    source="measured",
    asked="rename old checkpoint keys on load backward compatibility hook missing key unexpected key strict",
)
@given(program=renamed())
def test_renames(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    ((_, number),) = program.steps[-1].more
    assert events(trace, "loaded") == [([], [])]
    assert list(events(trace, "values")[-1][0].values()) == [f"Parameter({number})"]


@clause(
    "state.load.callers_dict",
    says="The caller's dict keeps its keys, whatever load pre-hooks of modules add to theirs, take out or rename.",
    source=("measured", 'code: torch/nn/modules/module.py "copy state_dict so _load_from_state_dict can modify it"'),
    asked="does load_state_dict hook modify my checkpoint dict after renaming keys",
)
@given(program=anywhere(kinds=KINDS, does=EDITS, steps=("load",), runs=2))
def test_callers_dict(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    loads = [step for step in program.steps if isinstance(step, Load)]
    expected = [keys_given(load, saved) for load, (_, saved) in zip(loads, events(trace, "saved"))]
    assert [list(kept) for (kept,) in events(trace, "kept")] == expected


@clause(
    "state.load.strict",
    says="A load pre-hook is given strict=True, also where load_state_dict() was called with strict=False.",
    source=("https://github.com/pytorch/pytorch/issues/156177", "measured"),
    asked="strict argument in load pre hook is True although I called load_state_dict strict=False",
)
@given(program=anywhere(kinds=KINDS, does=(), steps=("load",), runs=2, plain=True))
def test_strict(subject: Subject, program: StatePlan) -> None:
    assert all(one.strict is True for one in given_to_load(subject.holds(program)))


@clause(
    "state.load.reports",
    says="A key that a load pre-hook adds to missing_keys or unexpected_keys is returned; a strict load raises.",
    where="no later hook takes it out again",
    source="measured",
    asked="append to missing_keys in load hook raise error for missing key custom check",
)
@given(program=anywhere(kinds=KINDS, does=("Report",), steps=("load",), most=2, runs=1, plain=True))
def test_reports(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    added = reported(program, inwards(program))
    raises = program.steps[-1].strict and (added["missing_keys"] or added["unexpected_keys"])
    if raises or added["error_msgs"]:
        assert events(trace, "raises") == [("load_state_dict", "RuntimeError")]
    elif not program.steps[-1].strict:
        ((missing, unexpected),) = events(trace, "loaded")
        assert set(added["missing_keys"]) <= set(missing)
        assert set(added["unexpected_keys"]) <= set(unexpected)


@clause(
    "state.load.errors",
    says="A text that a load pre-hook adds to error_msgs makes load_state_dict() raise, also with strict=False.",
    where="no later hook takes it out again",
    source=GIVEN,
    asked="append error_msgs in load hook to make loading fail with custom message",
    about=ABOUT,
)
@given(
    program=anywhere(
        acts=(Report("error_msgs", "x"),), kinds=KINDS, does=("Report",), steps=("load",), runs=1, plain=True
    )
)
def test_errors(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    added = reported(program, inwards(program))["error_msgs"]
    assert not added or events(trace, "raises") == [("load_state_dict", "RuntimeError")]


@clause(
    "state.load.returns",
    says="What a load pre-hook of a module returns is ignored.",
    source="measured",
    asked="return new state dict from load pre hook has no effect",
)
@given(program=anywhere(kinds=KINDS, does=("Return",), steps=("load",), runs=2, plain=True))
def test_returns(subject: Subject, program: StatePlan) -> None:
    assert subject.holds(program) == subject.play(quiet(program))


@clause(
    "state.load.raises",
    says="load_state_dict() raises what a load pre-hook raises; modules that were loaded before stay loaded.",
    source="measured",
    asked="raise exception in load_state_dict pre hook model half loaded",
)
@given(program=anew(acts=(Throw(),), kinds=KINDS, does=("Throw",)))
def test_raises(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    culprit = culprit_of(program, inwards(program))
    loaded = None if culprit is None else ahead(program.tree, culprit.on)
    assert events(trace, "raises") == [("load_state_dict", "KeyError")] * (culprit is not None)
    assert events(trace, "values")[-1] == (shown(after_load(program, loaded)),)


@clause(
    "state.load.module_changed",
    says="load_state_dict() overwrites the values that a load pre-hook gives a parameter of its module.",
    where="the dict has a copy of the parameter, of its size",
    source="measured",
    asked="initialize weights in load pre hook are overwritten by checkpoint",
)
@given(program=anew(kinds=KINDS, does=("Become",)))
def test_module_changed(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    assert events(trace, "values")[-1] == (shown(after_load(program)),)


@clause(
    "state.load.assign_told",
    says="With assign=True the metadata that a load pre-hook is given has assign_to_params_buffers=True.",
    source=("https://github.com/pytorch/pytorch/pull/102212", "measured"),
    asked="how does load hook know load_state_dict was called with assign=True local_metadata",
    needs=ASSIGN,
)
@given(program=anywhere(kinds=KINDS, does=(), steps=("load",), runs=1))
def test_assign_told(subject: Subject, program: StatePlan) -> None:
    assign = program.steps[-1].assign
    for one in given_to_load(subject.holds(program)):
        assert one.metadata.get("assign_to_params_buffers", False) is assign


@st.composite
def assigned(draw: Any) -> StatePlan:
    """A dict that is loaded with assign=True into a new parameter, then without it into another one, twice or more.

    Hooks change the parameter before each load: where it was assigned before, this changes the dict, too.
    """
    number, become = draw(st.integers(0, 5)), draw(st.integers(6, 9))
    kinds = draw(st.lists(st.sampled_from(available(KINDS)), min_size=1, max_size=3))
    hooks = [On(kind, "root", f"h{place}", (Become(become),)) for place, kind in enumerate(kinds)]
    anew = Set("root", "w", "parameter")
    steps = (Save(), anew, Load(assign=True), anew, *[Load()] * draw(st.integers(2, 3)))
    return StatePlan(Tree("root", (("w", number),)), (*hooks, *steps))


@clause(
    "state.load.assign_stays",
    says="A dict of state_dict() loaded once with assign=True is assigned by later loads; load pre-hooks get the flag.",
    where="the same dict is loaded",
    source=("https://github.com/pytorch/pytorch/issues/188166", "measured"),
    asked="load_state_dict assign=True then second model shares same parameters weights tied by accident",
    needs=ASSIGN,
    docs="contradicts",
)
@given(program=assigned())
def test_assign_stays(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    (hook, *_) = program.hooks
    assert all(one.metadata["assign_to_params_buffers"] for one in given_to_load(trace))
    assert events(trace, "values")[-1] == ({"w": f"Parameter({hook.do[0].value})"},)


@clause(
    "state.load.copied",
    says="A load pre-hook that is given its module goes along with copy.deepcopy(), and is then given the copy.",
    where="it is a function",
    source=("https://github.com/pytorch/pytorch/pull/80139", "measured"),
    asked="deepcopy model load pre hook still refers to original module",
    needs=NEEDS["load_with"],
)
@given(program=copied(kinds=("load_with", "load_pre")))
def test_copied(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    every = labels(program, list(prefixes(program.tree)))
    assert called(trace) == every
    assert [one[0] for one in seen(trace)] == [f"copied {places(program)[label]}" for label in every]


@clause(
    "state.load.extra_state",
    says="set_extra_state() is called after the load pre-hooks of its module and before its load post-hooks.",
    where="the dict has an extra state for it",
    source="measured",
    asked="set_extra_state called before or after load_state_dict hooks order",
    needs=EXTRA,
)
@given(
    program=programs(
        kinds=(*KINDS, "load_post"), does=(), steps=("load",), on=("root",), runs=2, plain=True, special="extra"
    )
)
def test_extra_state(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    pre = [hook.label for hook in program.hooks if hook.kind in KINDS]
    post = [hook.label for hook in program.hooks if hook.kind == "load_post"]
    loads = sum(isinstance(step, Load) and step.on == "root" for step in program.steps)
    order = [event.what for event in trace if event.what in (*pre, "extra", *post)]
    assert order == [*pre, "extra", *post] * loads
