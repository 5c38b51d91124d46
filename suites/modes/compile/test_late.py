"""Hooks that come after the first call of a compiled module: ignored, until torch compiles the module anew."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.judge.subject import Subject
from suites.modes.compile.networks import ANY_KIND, APIS, INNER, became, called, compiled, hook, network
from suites.modes.compile.sources import NOTICED, OWN, PAGE, UNBROKEN
from suites.modes.forms import ANY, BREAKS, ONE_GRAPH, networks, straight
from suites.modes.networks import BY
from suites.modes.sources import COMPILE, EAGER
from suites.names import ISSUE

ABOUT = APIS
NO_LAYER = "its first module has another forward than nn.Linear"
LATE = f'{PAGE} "at the cost of not noticing if any hook dict is changed after compilation"'


@clause(
    "modes.compile.late_inner",
    says="A first hook added to an inner module after a compiled call is ignored until torch compiles anew.",
    where=(UNBROKEN, "inner modules had no hooks"),
    source=(LATE, NOTICED, ISSUE + "117758"),
    asked="torch.compile hook on submodule not called after first run added later ignored silently",
    needs=COMPILE,
    matters_if="forward_pre|forward|full_backward_pre|full_backward|backward own ?compiled",
    readings=(
        Reading(
            "ignored",
            "!=2.5.*",
            "A first hook added to an inner module after a compiled call is ignored until torch compiles anew.",
            value="ignored",
        ),
        Reading(
            "runs",
            ">=2.5,<2.6",
            "A first hook added to an inner module after a compiled call runs in the next calls.",
            value="runs",
            says_the_same=False,
            effect="none",
        ),
    ),
    witness={"kind": "forward", "path": "first", "backend": "eager", "form": straight},
)
@given(kind=ANY_KIND, path=INNER, backend=st.sampled_from(["eager", "aot_eager"]), form=ONE_GRAPH)
def test_late_inner(subject: Subject, kind: str, path: str, backend: str, form: Any) -> None:
    net = network(form)
    call = compiled(net, backend=backend)
    plain = called(call)
    hook(net, path, kind, 5)
    eager = called(net)
    assert [became(called(call), eager, plain) for _ in range(2)] == [subject.value] * 2


@clause(
    "modes.compile.late_layer",
    says="A first hook added to an inner nn.Linear after a compiled call is ignored until torch compiles anew.",
    where=(UNBROKEN, EAGER),
    source=(LATE, NOTICED, ISSUE + "117758"),
    asked="activation hook on nn.linear does nothing after torch compile model already ran",
    needs=COMPILE,
    matters_if="forward_pre|forward|full_backward_pre|full_backward|backward own ?compiled",
    readings=by_release(
        "none",
        ("2.5", "ignored", "ignored"),
        "A first hook added to an inner nn.Linear after a compiled call is ignored until torch compiles anew.",
        ("", "runs", "runs"),
        "The first hook on an inner nn.Linear runs in compiled calls also where it is registered after one.",
    ),
    witness={"kind": "forward", "by": 5, "form": straight},
)
@given(
    kind=ANY_KIND,
    by=BY,
    form=networks(**BREAKS, two_outputs=NO_LAYER),
)
def test_late_layer(subject: Subject, kind: str, by: int, form: Any) -> None:
    import torch

    net = network(form, torch.nn.Linear(1, 1).double())
    call = compiled(net)
    plain = called(call)
    hook(net, "first", kind, by)
    eager = called(net)
    assert became(called(call), eager, plain) == subject.value


@clause(
    "modes.compile.late_outer",
    says="A hook added after a compiled call to the module that torch.compile was given runs in the next calls.",
    where=(OWN, EAGER),
    see=("modes.compile.late_inner", "modes.compile.wrapper_backward"),
    source="measured",
    asked="register hook on compiled top model after first forward still fires",
    needs=COMPILE,
    value="runs",
    wrong={"ignored as an inner one": "ignored"},
    witness={"kind": "forward", "by": 5, "form": straight},
)
@given(kind=ANY_KIND, by=BY, form=ANY)
def test_late_outer(subject: Subject, kind: str, by: int, form: Any) -> None:
    net = network(form)
    call = compiled(net)
    plain = called(call)
    hook(net, "", kind, by)
    eager = called(net)
    assert became(called(call), eager, plain) == subject.value


@clause(
    "modes.compile.late_sequential",
    says="A first hook added to an nn.Sequential given to torch.compile is ignored after a call until torch compiles.",
    where=("no graph break", EAGER),
    see="modes.compile.late_outer",
    source=(LATE, NOTICED),
    asked="torch compile nn.sequential hook registered afterwards never fires",
    needs=COMPILE,
    matters_if="forward_pre|forward|full_backward_pre|full_backward|backward own ?compiled",
    readings=by_release(
        "none",
        ("2.2", "ignored", "ignored"),
        "A first hook added to an nn.Sequential given to torch.compile is ignored after a call until torch compiles.",
        ("", "runs", "runs"),
        "A hook added to a compiled nn.Sequential after a call runs in the next calls.",
    ),
    isolated="<2.4",  # what torch gives up there of nn.Sequential is given up for every later program
    witness={"kind": "forward", "by": 5, "form": straight},
)
@given(kind=ANY_KIND, by=BY, form=ONE_GRAPH)
def test_late_sequential(subject: Subject, kind: str, by: int, form: Any) -> None:
    import torch

    net = torch.nn.Sequential(network(form))
    call = compiled(net)
    plain = called(call)
    hook(net, "", kind, by)
    eager = called(net)
    assert became(called(call), eager, plain) == subject.value


@clause(
    "modes.compile.reset",
    says="After torch.compiler.reset() the next compiled call runs the hooks that were registered too late.",
    where=EAGER,
    source="docs: torch.compiler.reset",
    asked="make torch.compile pick up new hooks torch.compiler.reset dynamo reset",
    needs=COMPILE,
    value="runs",
    wrong={"still ignored": "ignored"},
    witness={"kind": "forward", "path": "first", "by": 5, "form": straight},
)
@given(kind=ANY_KIND, path=INNER, by=st.just(5), form=ANY)
def test_reset(subject: Subject, kind: str, path: str, by: int, form: Any) -> None:
    import torch

    net = network(form)
    call = compiled(net)
    plain = called(call)
    hook(net, path, kind, by)
    eager = called(net)
    called(call)
    torch.compiler.reset()
    assert became(called(call), eager, plain) == subject.value


@clause(
    "modes.compile.other_shape",
    says="With dynamic=False a forward hook added too late to an inner module runs for new input shapes only.",
    where=(UNBROKEN, EAGER),
    see="modes.compile.late_inner",
    source="measured",
    asked="compiled model hook only fires for some batch sizes recompile",
    needs=COMPILE,
    about="register_forward_hook",
    matters_if="forward own ?compiled",
    readings=(
        Reading(
            "for new ones",
            "!=2.5.*",
            "With dynamic=False a forward hook added too late to an inner module runs for new input shapes only.",
            value=["ignored", "runs", "ignored"],
        ),
        Reading(
            "for all",
            ">=2.5,<2.6",
            "With dynamic=False a forward hook added late to an inner module runs for all input shapes.",
            value=["runs", "runs", "runs"],
            says_the_same=False,
        ),
    ),
    witness={"path": "first", "sizes": [2, 3], "form": straight},
)
@given(path=INNER, sizes=st.lists(st.integers(1, 3), min_size=2, max_size=2, unique=True), form=ONE_GRAPH)
def test_other_shape(subject: Subject, path: str, sizes: List[int], form: Any) -> None:
    found = after_a_new_shape(form, path, sizes, dynamic=False)
    assert found == subject.value


@clause(
    "modes.compile.dynamic_shape",
    says="A forward hook added to an inner module after calls of one size above 1 runs from a second such size on.",
    where=("own forward, reads no size", EAGER),
    see="modes.compile.other_shape",
    source="measured",
    asked="torch compile dynamic shapes recompile late hook suddenly starts firing variable length",
    needs=COMPILE,
    about="register_forward_hook",
    matters_if="forward own ?compiled",
    readings=(
        Reading(
            "with the second",
            "!=2.5.*",
            "A forward hook added to an inner module after calls of one size above 1 runs from a second such size on.",
            value=["ignored", "runs", "runs"],
        ),
        Reading(
            "at once",
            ">=2.5,<2.6",
            "A forward hook added after a compiled call to an inner module is noticed for all shapes at once.",
            value=["runs", "runs", "runs"],
            says_the_same=False,
        ),
    ),
    witness={"path": "first", "sizes": [2, 3], "form": straight},
)
@given(path=INNER, sizes=st.lists(st.integers(2, 4), min_size=2, max_size=2, unique=True), form=ONE_GRAPH)
def test_dynamic_shape(subject: Subject, path: str, sizes: List[int], form: Any) -> None:
    assert after_a_new_shape(form, path, sizes) == subject.value


def after_a_new_shape(form: Any, path: str, sizes: List[int], **options: Any) -> List[Any]:
    """What becomes of a forward hook added after a call with the first size: for this one, for the other, and again."""
    net = network(form)
    call = compiled(net, **options)
    old, new = ([3.0] * size for size in sizes)
    called(call, old)
    plain = {len(each): called(network(form), each) for each in (old, new)}
    hook(net, path, "forward", 5)
    eager = {len(each): called(net, each) for each in (old, new)}
    return [became(called(call, each), eager[len(each)], plain[len(each)]) for each in (old, new, old)]


@clause(
    "modes.compile.second_hook",
    says="A forward (pre-)hook added after a compiled call next to one of its kind that runs, runs in the next calls.",
    where=EAGER,
    see="modes.compile.late_inner",
    source="measured",
    asked="add another hook next to existing one on compiled layer",
    needs=COMPILE,
    matters_if="forward_pre|forward own ?compiled ?hooked_again",
    readings=by_release(
        "silent",
        ("2.4", "runs", "runs"),
        "A forward (pre-)hook added after a compiled call next to one of its kind that runs, runs in the next calls.",
        ("", "ignored", "ignored"),
        "A forward hook on an inner module of your own, added after a call next to another one, is ignored.",
    ),
    witness={"kind": "forward", "path": "first", "by": 5, "form": straight},
)
@given(kind=st.sampled_from(["forward_pre", "forward"]), path=INNER, by=BY, form=ANY)
def test_second_hook(subject: Subject, kind: str, path: str, by: int, form: Any) -> None:
    net = network(form)
    hook(net, path, kind, 7)
    call = compiled(net)
    first = called(call)
    hook(net, path, kind, by)
    eager = called(net)
    assert became(called(call), eager, first) == subject.value
