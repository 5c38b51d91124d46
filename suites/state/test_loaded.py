"""Hooks after load_state_dict() of modules: when they run, what they are given, and what becomes of what they do."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.draw.state import programs
from fixtures.judge.clause import by_release, clause
from fixtures.judge.subject import Subject
from fixtures.state.grammar import Load, On, Report, Save, Throw, Tree
from fixtures.state.plan import StatePlan
from suites.saving import AFFECTED, LOAD_POST, NEEDS, anywhere, called, events, inside_out, labels, seen

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


@clause(
    "state.loaded.post_order",
    says="A module's load post-hooks run in order of registration, after those of the modules inside it.",
    source="measured",
    needs=NEED,
)
@given(program=anywhere(kinds=("load_post",), does=("Report",), steps=("load",), least=2, runs=1, plain=True))
def test_post_order(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    outwards = labels(program, inside_out(program.tree))
    assert called(trace) == [one for one in outwards if one in called(trace)]


@clause(
    "state.loaded.post_given",
    says="A load post-hook is given its module and a pair: the missing and the unexpected keys of all modules so far.",
    source=f'{LOAD_POST} "argument is the current module that this hook is registered"',
    needs=NEED,
)
@given(program=anywhere(kinds=("load_post",), does=(), steps=("load",), runs=2))
def test_post_given(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    places = {hook.label: hook.on for hook in program.hooks}
    assert [one[0] for one in seen(trace)] == [places[label] for label in called(trace)]


@clause(
    "state.loaded.post_clears",
    says="A load post-hook that clears both lists of keys makes a strict load succeed.",
    where=("it is on the module that is loaded", "all sizes fit"),
    source=f'{LOAD_POST} "clearing out both missing and unexpected keys will avoid an error"',
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
    needs=NEED,
)
@given(program=programs(kinds=("load_post",), does=(), steps=("load",), on=("root",), runs=2))
def test_post_before_errors(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    loads = sum(isinstance(step, Load) and step.on == "root" for step in program.steps)
    assert len(called(trace)) == loads * len(program.hooks)


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
    needs=NEED,
    readings=by_release(
        ("raises", "nothing"),
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
    concern="load_post ?odd_keys",
)
@given(program=named_as_part())
def test_part_of_a_name(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)


@clause(
    "state.loaded.post_result",
    says="The lists that load post-hooks are given are those that load_state_dict() returns.",
    source=f'{LOAD_POST} "The given incompatible_keys can be modified inplace if needed"',
    needs=NEED,
)
@given(program=programs(kinds=("load_post",), does=("Report",), steps=("load",), on=("root",), runs=1, plain=True))
def test_post_result(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)


@clause(
    "state.loaded.post_sees",
    says="A load post-hook finds the loaded numbers in its module, and what it changes there stays.",
    where="no module or parameter is in two places",
    source=f'{LOAD_POST} "to be run after module\'s"',
    needs=NEED,
)
@given(program=anywhere(kinds=("load_post",), does=("Become",), steps=("load",), runs=2, plain=True))
def test_post_sees(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)


@clause(
    "state.loaded.post_raises",
    says="load_state_dict() raises what a load post-hook raises; what was loaded before stays loaded.",
    source="measured",
    needs=NEED,
)
@given(program=anywhere(acts=(Throw(),), kinds=("load_post",), does=("Throw",), steps=("load",), runs=2, plain=True))
def test_post_raises(subject: Subject, program: StatePlan) -> None:
    trace = subject.holds(program)
    raising = {hook.label for hook in program.hooks if hook.do}
    found = [one for one in events(trace, "raises") if one == ("load_state_dict", "KeyError")]
    assert len(found) == sum(one in raising for one in called(trace))


@clause(
    "state.loaded.copied",
    says="A function that is a load post-hook goes along with copy.deepcopy() of its module, and is given the copy.",
    source="measured",
    needs=NEED,
)
@given(program=programs(kinds=("load_post",), does=(), steps=("copy", "load"), plain=True))
def test_copied(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)
