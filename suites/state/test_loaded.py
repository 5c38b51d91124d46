"""Hooks after load_state_dict() of modules: when they run, what they are given, and what becomes of what they do."""

from dataclasses import replace
from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.state import programs
from fixtures.judge.subject import Subject
from fixtures.state.grammar import Load, On, Report, Save, Throw, Tree
from fixtures.state.plan import StatePlan
from suites.saving import (
    AFFECTED,
    LOAD_POST,
    NEEDS,
    after_load,
    anew,
    anywhere,
    called,
    changed,
    copied,
    culprit_of,
    done,
    events,
    inside_out,
    labels,
    outwards,
    places,
    prefixes,
    seen,
    shown,
)

ABOUT = "register_load_state_dict_post_hook"
NEED = NEEDS["load_post"]


@st.composite
def unfit(draw: Any, key: str = "") -> StatePlan:
    """A dict with a key too many or too few, and a post-hook on the outermost module that adds a key or clears both."""
    name = draw(st.sampled_from(("w", "v")))
    tree = Tree("root", ((name, draw(st.integers(0, 5))),))
    odd = () if key else ((draw(st.sampled_from(("x", "y"))), 1),)
    less = () if key else tuple(draw(st.sampled_from(((), (name,)))))
    lists = ("missing_keys", "unexpected_keys")
    acts = (Report(draw(st.sampled_from(lists)), key),) if key else tuple(Report(one) for one in lists)
    return StatePlan(tree, (On("load_post", "root", "h0", acts), Save(), Load(form="dict", less=less, more=odd)))


@st.composite
def loosely(draw: Any, **options: Any) -> StatePlan:
    """Programs that load the outermost module with strict=False, so that the lists of keys are returned."""
    program = draw(anywhere(kinds=("load_post",), steps=("load",), runs=1, plain=True, **options))
    load = replace(program.steps[-1], on="root", strict=False)
    return StatePlan(program.tree, (*program.hooks, Save(), load))


@clause(
    "state.loaded.post_order",
    says="A module's load post-hooks run in order of registration, after those of the modules inside it.",
    where="no module is in two places",
    source="measured",
    asked="register_load_state_dict_post_hook order child before parent",
    needs=NEED,
)
@given(program=anywhere(kinds=("load_post",), does=("Report",), steps=("load",), least=2, runs=1, plain=True))
def test_post_order(subject: Subject, program: StatePlan) -> None:
    assert called(subject.holds(program)) == outwards(program)


@clause(
    "state.loaded.post_given",
    says="A load post-hook is given its module and a pair: the missing and the unexpected keys of all modules so far.",
    source=f'{LOAD_POST} "argument is the current module that this hook is registered"',
    asked="incompatible_keys in register_load_state_dict_post_hook contains keys of whole model or only submodule",
    needs=NEED,
)
@given(program=loosely(does=()))
def test_post_given(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    ((missing, unexpected),) = events(trace, "loaded")
    assert [one[0] for one in seen(trace)] == [places(program)[label] for label in called(trace)]
    for module, absent, odd in seen(trace):
        so_far = [prefixes(program.tree)[name] for name in done(program.tree, module)]
        assert absent == [key for key in missing if key[: key.rfind(".") + 1] in so_far]
        assert odd == unexpected[: len(unexpected) if module == "root" else len(odd)]


@clause(
    "state.loaded.post_clears",
    says="A load post-hook that clears both lists of keys lets a strict load of any names succeed.",
    where=("it is on the module that is loaded", "all fit, none is quantized"),
    source=f'{LOAD_POST} "clearing out both missing and unexpected keys will avoid an error"',
    asked="ignore missing keys with strict=True clear incompatible_keys in load post hook",
    needs=NEED,
)
@given(program=unfit())
def test_post_clears(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    assert events(trace, "loaded") == [([], [])]


@clause(
    "state.loaded.post_adds",
    says="A load post-hook that adds a key to one of its two lists makes a strict load raise RuntimeError.",
    where="no later hook takes it out again",
    source=(f'{LOAD_POST} "Additions to either set of keys will result in an error being thrown"', AFFECTED),
    asked="add key to missing_keys in register_load_state_dict_post_hook to force error",
    needs=NEED,
)
@given(program=unfit("x"))
def test_post_adds(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    assert events(trace, "raises") == [("load_state_dict", "RuntimeError")]


@clause(
    "state.loaded.post_returns",
    says="A load post-hook of a module that returns anything but None makes load_state_dict() raise AssertionError.",
    source=(f'{LOAD_POST} "hook(module, incompatible_keys) -> None"', "measured"),
    asked="AssertionError hooks registered with register_load_state_dict_post_hook "
    "are not expected to return new values",
    needs=NEED,
)
@given(program=anywhere(kinds=("load_post",), does=("Return",), steps=("load",), plain=True))
def test_post_returns(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    returning = {hook.label for hook in program.hooks if hook.do}
    found = [one for one in events(trace, "raises") if one[1] == "AssertionError"]
    assert len(found) == sum(one in returning for one in called(trace))


@clause(
    "state.loaded.post_before_errors",
    says="Load post-hooks run before load_state_dict() raises for keys, or for sizes that do not fit.",
    source="measured",
    asked="is load post hook called when size mismatch error loading state dict fails",
    needs=NEED,
)
@given(program=programs(kinds=("load_post",), does=(), steps=("load",), on=("root",), runs=2))
def test_post_before_errors(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    loads = [step.on for step in program.steps if isinstance(step, Load)]
    every = [hook.label for hook in program.hooks]
    ends = ("loaded", "raises")
    order = ["end" if event.what in ends else event.what for event in trace if event.what in (*every, *ends)]
    assert order == [one for on in loads for one in (*(every if on == "root" else ()), "end")]


@st.composite
def named_as_part(draw: Any) -> StatePlan:
    """A dict with a key that is the name of a child, or goes on behind the name of a parameter."""
    tree = Tree("root", (("w", draw(st.integers(0, 5))),), children=(Tree("a"),))
    odd = draw(st.sampled_from((("a",), ("w.x",), ("a", "w.x"))))
    load = Load(form="dict", strict=draw(st.booleans()), more=tuple((key, 1) for key in odd))
    return StatePlan(tree, (On("load_post", "root", "h0"), Save(), load))


@clause(
    "state.loaded.part_of_a_name",
    says="If a module has a child `a` and a parameter `w`, load post-hooks find the keys `a` and `w.x` unexpected.",
    source=("https://github.com/pytorch/pytorch/pull/124385", "https://github.com/pytorch/pytorch/issues/123510"),
    asked="unexpected key with prefix of a parameter name not reported in load_state_dict strict",
    needs=NEED,
    readings=by_release(
        ("error", "none"),
        ("2.4", "they are unexpected", {"state_whole_names": True}),
        "If a module has a child `a` and a parameter `w`, load post-hooks find the keys `a` and `w.x` unexpected.",
        ("", "they are passed over", {"state_whole_names": False}),
        "If a module has a child `a` and a parameter `w`, load post-hooks do not find the keys `a` and `w.x`.",
    ),
    witness={
        "program": StatePlan(
            Tree("root", children=(Tree("a"),)),
            (On("load_post", "root", "h0"), Save(), Load(form="dict", more=(("a", 1),))),
        )
    },
    matters_if="load_post ?odd_keys",
)
@given(program=named_as_part())
def test_part_of_a_name(subject: Subject, program: StatePlan) -> None:
    odd = [key for key, _ in program.steps[-1].more]
    whole = subject.reading.facts["state_whole_names"]
    assert seen(subject.holds(program)) == [("root", [], odd if whole else [])]


def after(acts: Any, missing: List[str], unexpected: List[str]) -> Tuple[List[str], List[str]]:
    """Both lists of keys after what a hook does."""
    lists = {"missing_keys": missing, "unexpected_keys": unexpected}
    for act in acts:
        lists[act.which] = [*lists[act.which], act.key] if act.key else []
    return lists["missing_keys"], lists["unexpected_keys"]


@clause(
    "state.loaded.post_result",
    says="The lists that load post-hooks are given are those that load_state_dict() returns.",
    source=f'{LOAD_POST} "The given incompatible_keys can be modified inplace if needed"',
    asked="edit incompatible_keys in hook does load_state_dict return the changed lists",
    needs=NEED,
)
@given(program=loosely(does=("Report",), on=("root",)))
def test_post_result(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    acts = {hook.label: hook.do for hook in program.hooks}
    left = [after(acts[label], *lists) for label, (_, *lists) in zip(called(trace), seen(trace))]
    assert left == [tuple(lists) for _, *lists in seen(trace)[1:]] + events(trace, "loaded")


@clause(
    "state.loaded.post_sees",
    says="A load post-hook may change the parameters of its module, which are loaded by then: the change stays.",
    where="no module or parameter is in two places",
    source=f'{LOAD_POST} "to be run after module\'s"',
    asked="re-tie or fuse weights after loading checkpoint in register_load_state_dict_post_hook sees new values",
    needs=NEED,
)
@given(program=anew(kinds=("load_post",), does=("Become",)))
def test_post_sees(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    assert events(trace, "values")[-1] == (shown(changed(program, program.tree, after_load(program))),)


@clause(
    "state.loaded.post_raises",
    says="load_state_dict() raises what a load post-hook raises; what was loaded before stays loaded.",
    source="measured",
    asked="exception in load post hook are weights already loaded",
    needs=NEED,
)
@given(program=anew(acts=(Throw(),), kinds=("load_post",), does=("Throw",)))
def test_post_raises(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    culprit = culprit_of(program, outwards(program))
    loaded = None if culprit is None else done(program.tree, culprit.on)
    assert events(trace, "raises") == [("load_state_dict", "KeyError")] * (culprit is not None)
    assert events(trace, "values")[-1] == (shown(after_load(program, loaded)),)


@clause(
    "state.loaded.copied",
    says="A function that is a load post-hook goes along with copy.deepcopy() of its module, and is given the copy.",
    source="measured",
    asked="deepcopy model does load post hook go along and get the copied module",
    needs=NEED,
)
@given(program=copied(kinds=("load_post",)))
def test_copied(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    every = labels(program, inside_out(program.tree))
    assert called(trace) == every
    assert [one[0] for one in seen(trace)] == [f"copied {places(program)[label]}" for label in every]
