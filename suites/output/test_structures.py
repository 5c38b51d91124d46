"""Outputs that are lists, dicts, named tuples or objects: forward hooks are given them whole, and may replace them."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Forward, Hook, Plan, Repack, hooks_of
from suites.names import AS_IS, FORWARD_HOOK
from suites.packed import fits, parts
from suites.shapes import wider

ABOUT = "register_forward_hook"


def called_again(plan: Plan) -> Plan:
    """The plan, and a second call of its network at the end."""
    return replace(plan, steps=(*plan.steps, Forward()))


@clause(
    "output.structures.given",
    says="The first forward hook is given a list, dict or object that forward returned, with all that is in it.",
    source=(AS_IS, FORWARD_HOOK),
    asked="custom dataclass or nested outputs layer what does hook see does it flatten detection model",
)
@given(plan=wider("structures", kinds=("forward",), does=(), depth=0).map(called_again))
def test_given(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    seen = [event.seen[-1] for event in trace if event.what in trace.calls()]
    assert seen == [out for out in trace.returns() for _ in hooks_of(plan)]
    assert plan.net.out is None or all(fits(plan.net.out, out) for out in seen)


@clause(
    "output.structures.repacked",
    says="A forward hook may return a list, dict or object in place of the output: that is the output then.",
    where=("there is no backward hook", "no later hook replaces it"),
    see=("backward.structures.legacy_first", "backward.structures.other_outputs"),
    source=FORWARD_HOOK + ' "hook(module, args, output) -> None or modified output"',
    asked="change type of layer result in hook convert tuple to custom class or mapping wrapper",
)
@given(plan=wider("structures", kinds=("forward",), does=("repack",), depth=0, least=2).map(called_again))
def test_repacked(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    outs = [event.seen[-1] for event in trace if event.what in (*trace.calls(), "returns")]
    for hook, out in zip(hooks_of(plan), outs[1:]):
        for action in hook.do:
            assert isinstance(action, Repack)
            assert parts(out)[0] == action.kind


@clause(
    "output.structures.with_gradients",
    says="A forward hook that returns [output] changes no gradient if the caller takes that output out again.",
    where="there is no backward hook or backward pre-hook",
    see=("backward.structures.other_outputs",),
    source="measured",
    asked="wrap activation in brackets from hook does autograd still work gradient identical after unpack",
)
@given(plan=wider("structures", kinds=("forward",), does=("repack",), depth=2))
def test_with_gradients(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).grads() == subject.play(plan.without(Hook)).grads()


@st.composite
def watched(draw) -> Plan:
    """Forward hooks that return other tensors or structures, with one before them and one behind them that observe."""
    hooks = draw(
        wider(
            *("values", "structures"),
            kinds=("forward",),
            does=("repack", "scale"),
            ops=("scale", "split", "same", "both"),
            backward=False,
        )
    )
    first, last = (Hook("forward", hooks.net.name, label) for label in ("first", "last"))
    return replace(hooks, steps=(first, *hooks_of(hooks), last, Forward()))


@clause(
    "output.structures.very_tensors",
    says="Tensors in a list, dict or object that the caller gets are the very ones that the last forward hook left.",
    where="there is no backward hook",
    see=("backward.objects.views",),
    source=(AS_IS, "measured"),
    asked="are activations inside nested result copied or same reference as stored in callback identity is",
    level="observed",
)
@given(plan=watched())
def test_very_tensors(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    ((*_, left),) = trace.seen_by("last")
    assert trace.returns() == [left]  # with the name of each tensor
