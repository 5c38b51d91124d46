"""What a hook of a compiled module does besides: it keeps, counts, prints, raises, registers another one."""

import io
from contextlib import redirect_stdout
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.judge.subject import Subject
from suites.hooking import raised
from suites.modes.compile.networks import ANYWHERE, APIS, INNER, became, called, compiled, network
from suites.modes.forms import ANY, IN_GRAPHS, INSIDE, LOOP, first_of, networks, scaled, straight
from suites.modes.networks import BY, within
from suites.modes.sources import COMPILE, EAGER

ABOUT = APIS


@clause(
    "modes.compile.keeps",
    says="What a forward hook appends to a list in compiled calls is there after each call, with its grad_fn.",
    where=EAGER,
    source="measured",
    asked="append activations to list in hook with torch compile lost fake tensors",
    needs=COMPILE,
    about=APIS[1],
    matters_if="forward own ?compiled",
    readings=by_release(
        ("none", "error", "silent"),
        ("2.5", "all", "all"),
        "What a forward hook appends to a list in compiled calls is there after each call, with its grad_fn.",
        ("2.4", "fails", "InternalTorchDynamoError"),
        "A compiled call fails where a forward hook of an inner module appends to a list that has a tensor in it.",
        ("", "the newest", "the newest"),
        "What a forward hook of an inner module of your own appends to a list is lost with the next call.",
    ),
    witness={"path": "first", "calls": 2, "form": straight},
)
@given(path=INNER, calls=st.integers(2, 3), form=IN_GRAPHS)
def test_keeps(subject: Subject, path: str, calls: int, form: Any) -> None:
    kept: List[Any] = []
    net = network(form)
    within(net, path).register_forward_hook(lambda module, args, output: kept.append(first_of(output)))
    for number in range(1, calls + 1):
        called(net, [number])
    everything = [one.tolist() for one in kept]
    del kept[:]
    call = compiled(net)
    error = raised(lambda: [called(call, [number]) for number in range(1, calls + 1)], RuntimeError)
    newest = everything[-len(everything) // calls :]
    found = [one.tolist() for one in kept]
    names = {repr(everything): "all", repr(newest): "the newest"}
    assert (names.get(repr(found), found) if error == "none" else error) == subject.value
    assert all(one.grad_fn is not None for one in kept)


@clause(
    "modes.compile.counts",
    says="A number that a forward hook counts up on its module is right after each compiled call.",
    where=EAGER,
    source="measured",
    asked="counter in forward hook torch compile counts only once",
    needs=COMPILE,
    about=APIS[1],
    matters_if="forward own ?compiled",
    readings=(
        Reading(
            "right",
            "!=2.2.*,!=2.3.*",
            "A number that a forward hook counts up on its module is right after each compiled call.",
            value=1,
        ),
        Reading(
            "stays",
            ">=2.2,<2.4",
            "A number that a forward hook counts up on an inner module stays at 1 after each compiled call.",
            value=0,
            says_the_same=False,
            effect="silent",
        ),
    ),
    witness={"path": "first", "calls": 2, "form": straight},
)
@given(
    path=INNER,
    calls=st.integers(1, 3),
    form=networks(
        prints_in_loop=LOOP, prints_inside=INSIDE, in_layers="2.2 gives up a graph with this in a layer of torch.nn"
    ),
)
def test_counts(subject: Subject, path: str, calls: int, form: Any) -> None:
    def count(module: Any, args: Any, output: Any) -> None:
        module.count += 1

    net = network(form)
    within(net, path).count = 0
    within(net, path).register_forward_hook(count)
    called(net)
    once, within(net, path).count = within(net, path).count, 0
    call = compiled(net)
    for _ in range(calls):
        called(call)
    assert within(net, path).count == once * (calls if subject.value else 1)


@clause(
    "modes.compile.prints",
    says="A forward hook that prints does so in each compiled call, in the order of the modules.",
    where=EAGER,
    source="measured",
    asked="print inside hook torch compile printed once or every step",
    needs=COMPILE,
    about=APIS[1],
    value=1,
    wrong={"only while it is compiled": 0},
    witness={"calls": 2, "form": straight},
)
@given(calls=st.integers(1, 3), form=ANY)
def test_prints(subject: Subject, calls: int, form: Any) -> None:
    net = network(form)
    for path in ("first", "second.inner", "second"):
        within(net, path).register_forward_hook(lambda module, args, output, path=path: print(path))
    call = compiled(net)
    assert printed(call, calls) == printed(net, calls if subject.value else 1)


def printed(call: Any, calls: int) -> List[str]:
    """The words that so many calls print."""
    text = io.StringIO()
    with redirect_stdout(text):
        for _ in range(calls):
            called(call)
    return text.getvalue().split()


@clause(
    "modes.compile.output_hook",
    says="A tensor hook that a forward hook of an inner module registers on the output runs in compiled calls.",
    where=EAGER,
    source="measured",
    asked="output.register_hook inside forward hook compiled model",
    needs=COMPILE,
    about=(APIS[1], "register_hook"),
    value="runs",
    wrong={"left out": "ignored"},
    witness={"path": "first", "by": 5, "form": straight},
)
@given(path=INNER, by=BY, form=ANY)
def test_output_hook(subject: Subject, path: str, by: int, form: Any) -> None:
    def register(module: Any, args: Any, output: Any) -> None:
        first_of(output).register_hook(lambda grad: grad * by)

    net, plain = network(form), called(network(form))
    within(net, path).register_forward_hook(register)
    eager = called(net)
    call = compiled(net)
    assert [became(called(call), eager, plain) for _ in range(2)] == [subject.value] * 2


@clause(
    "modes.compile.raises",
    says="What an inner forward hook raises by `raise` leaves a compiled call; with fullgraph=True, Unsupported does.",
    where=("nothing inside catches it", EAGER),
    source="measured",
    asked="exception raised in hook torch compile type unsupported valueerror",
    needs=COMPILE,
    about=APIS[1],
    value=["ValueError", "Unsupported"],
    wrong={"Unsupported always": ["Unsupported", "Unsupported"]},
    witness={"path": "first", "form": straight},
)
@given(path=ANYWHERE, form=ANY)
def test_raises(subject: Subject, path: str, form: Any) -> None:
    from torch._dynamo.exc import Unsupported

    def fail(module: Any, args: Any, output: Any) -> None:
        raise ValueError("mine")

    found = []
    for fullgraph in (False, True):
        net = network(form)
        within(net, path).register_forward_hook(fail)
        call = compiled(net, fullgraph=fullgraph)
        found.append(raised(lambda call=call: called(call), ValueError, Unsupported))
    assert found == subject.value


@clause(
    "modes.compile.default_argument",
    says="A hook that takes the place of one that differs only in a default argument is noticed by compiled calls.",
    where=EAGER,
    source="measured",
    asked="replaced hook old value still used torch compile lambda default argument stale",
    needs=COMPILE,
    about=APIS[1],
    matters_if="forward own returns ?compiled",
    readings=(
        Reading(
            "noticed",
            ">=2.4,!=2.9.*,!=2.10.*,!=2.11.*",
            "A hook that takes the place of one that differs only in a default argument is noticed by compiled calls.",
            value="runs",
        ),
        Reading(
            "not noticed",
            ">=2.9,<2.12",
            "Compiled calls run an old hook after one took its place that differs only in a default argument.",
            value="ignored",
            says_the_same=False,
            effect="silent",
        ),
        Reading(
            "refused",
            "<2.4",
            "After a hook with a default argument is removed from an inner module of your own, a call raises KeyError.",
            value="KeyError",
            says_the_same=False,
            effect="error",
        ),
    ),
    witness={"path": "first", "by": 5, "form": straight},
)
@given(path=INNER, by=BY, form=IN_GRAPHS)
def test_default_argument(subject: Subject, path: str, by: int, form: Any) -> None:
    def times(number: int) -> Any:
        def function(module: Any, args: Any, output: Any, number: int = number) -> Any:
            return scaled(output, number)

        return function

    net = network(form)
    handle = within(net, path).register_forward_hook(times(7))
    call = compiled(net)
    old = called(call)
    handle.remove()
    within(net, path).register_forward_hook(times(by))
    eager = called(net)
    try:
        found = became(called(call), eager, old)
    except KeyError as error:
        found = type(error).__name__
    assert found == subject.value
