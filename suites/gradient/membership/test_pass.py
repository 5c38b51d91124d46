"""Which hooks a backward pass calls: those registered when it reaches the tensor, less those that were removed.

Registering and removing while hooks run is the delicate part; torch 1.10 changed what it means.
"""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Add, Backward, Chain, Drop, Forward, Hook, Input, Leaf, Plan, Remove, Scale, hooks_of
from suites.gradient.sources import CALLED, REFUSED, REMOVES
from suites.names import SNAPSHOT
from suites.tensors import leaf

ABOUT = "register_hook"

NET = Leaf("m0", "scale", (3,))
SCALE = st.builds(Scale, by=FACTORS)


def live(subject: Subject) -> bool:
    """Whether the hooks of a tensor may change while they run."""
    return subject.reading.facts["tensor_hooks_iterate"] == "live"


def called(plan: Plan, at_once: bool) -> List[str]:
    """The hooks that passes call, where those that a hook registers join at once or wait for the next pass."""
    there: List[Hook] = []
    calls: List[Hook] = []
    for step in plan.steps:
        if isinstance(step, Hook):
            there.append(step)
        if isinstance(step, Remove):
            there = [hook for hook in there if hook.label != step.label]
        if isinstance(step, Backward):
            new = [action.hook for hook in there for action in hook.do if isinstance(action, Add)]
            calls += there + new * at_once
            there += new
    return [hook.label for hook in calls]


@st.composite
def frozen_input(draw: Any) -> Plan:
    """A hook on an input that may or may not require grad."""
    hook = Hook("tensor", "x0", "h0", (draw(SCALE),))
    return Plan(NET, (Input(draw(NUMBERS), draw(st.booleans())),), (hook, Forward(), Backward()))


@clause(
    "gradient.membership.needs_grad",
    says="register_hook on a tensor that does not require grad raises RuntimeError.",
    source=REFUSED,
    asked="cannot register a hook on a tensor error input image requires_grad false "
    "frozen weight cannot register a hook on a tensor that doesn't require gradient",
)
@given(plan=frozen_input())
def test_needs_grad(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == ([] if plan.inputs[0].grad else [("hook", "RuntimeError")])


@clause(
    "gradient.membership.after_the_forward",
    says="A tensor hook registered after the forward runs in the backward that follows.",
    where="the pass reaches the tensor",
    source=CALLED,
    asked="can i attach hook once loss is computed but not yet backpropagated late registration still works",
)
@given(
    plan=st.builds(
        lambda on, action: Plan(NET, (Input(2),), (Forward(), Hook("tensor", on, "h0", (action,)), Backward())),
        st.sampled_from(["x0", "m0.weight", "m0>0"]),
        SCALE,
    )
)
def test_after_the_forward(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["h0"]


@clause(
    "gradient.membership.between_backwards",
    says="A tensor hook registered between two backwards over one graph runs in the second.",
    where="the second reaches the tensor",
    source=CALLED,
    asked="retain_graph true attach new hook for second call on same loss does it fire",
)
@given(
    plan=st.builds(
        lambda on, action: Plan(
            NET, (Input(2),), (Forward(), Backward((1,)), Hook("tensor", on, "h0", (action,)), Backward((3,)))
        ),
        st.sampled_from(["x0", "m0.weight", "m0>0"]),
        SCALE,
    )
)
def test_between_backwards(subject: Subject, plan: Plan) -> None:
    trace, (hook,) = subject.holds(plan), hooks_of(plan)
    # The second backward begins with 3.
    assert (trace.calls(), trace.seen_by("h0")) == (["h0"], [(3 * {"x0": 3, "m0.weight": 2, "m0>0": 1}[hook.on],)])


@clause(
    "gradient.membership.removed_is_silent",
    says="A tensor hook that is removed between forward and backward is not called.",
    source=(REMOVES, "docs: torch.utils.hooks.RemovableHandle"),
    asked="unregister before loss backward after model output computed does it still fire",
)
@given(
    plan=st.builds(
        lambda on, gone, actions: Plan(
            NET,
            (Input(2),),
            (Forward(),)
            + tuple(Hook("tensor", on, f"h{index}", (action,)) for index, action in enumerate(actions))
            + (Remove(gone), Backward()),
        ),
        st.sampled_from(["x0", "m0.weight", "m0>0"]),
        st.sampled_from(["h0", "h1", "h2"]),
        st.tuples(SCALE, SCALE, SCALE),
    )
)
def test_removed_is_silent(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == [label for label in ("h0", "h1", "h2") if Remove(label) not in plan.steps]


@clause(
    "gradient.membership.removes_itself",
    says="A tensor hook that removes itself is not called again; a pass that reaches its tensor calls the others.",
    source="measured",
    asked="one shot callback that unregisters via own handle fire only once then others continue",
)
@given(
    plan=st.builds(
        lambda on, place, grads: Plan(
            NET,
            (Input(2),),
            (Forward(),)
            + tuple(
                Hook("tensor", on, f"h{index}", (Drop(f"h{index}"),) if index == place else ()) for index in range(3)
            )
            + (Backward((grads[0],)), Backward((grads[1],))),
        ),
        st.sampled_from(["x0", "m0.weight", "m0>0"]),
        st.integers(0, 2),
        st.tuples(NUMBERS, NUMBERS),
    )
)
def test_removes_itself(subject: Subject, plan: Plan) -> None:
    (once,) = [step.label for step in plan.steps if isinstance(step, Hook) and step.do]
    every = ["h0", "h1", "h2"]
    assert subject.holds(plan).calls() == every + [label for label in every if label != once]


@clause(
    "gradient.membership.removed_by_another",
    says="If a tensor hook removes a later tensor hook of its tensor, the removed one still runs in that pass.",
    source=SNAPSHOT,
    asked="unregister a second callback from within the first one is it skipped immediately",
    matters_if="tensor ?removes_inside",
    readings=by_release(
        "silent",
        ("1.10", "still called", {"tensor_hooks_iterate": "snapshot"}),
        "The tensor hooks of a tensor are listed before the first one runs: one removed meanwhile is still called.",
        ("", "gone at once", {"tensor_hooks_iterate": "live"}),
        "A tensor hook that an earlier tensor hook of its tensor removes is not called any more in that pass.",
    ),
    witness=Plan(
        NET,
        (Input(2),),
        (
            Hook("tensor", "x0", "h0", (Drop("h1"),)),
            Hook("tensor", "x0", "h1"),
            Forward(),
            Backward((1,)),
            Backward((2,)),
        ),
    ),
)
@given(
    plan=st.builds(
        lambda on, action, last: Plan(
            NET,
            (Input(2),),
            (
                Forward(),
                Hook("tensor", on, "h0", (Drop("h1"),)),
                Hook("tensor", on, "h1", (action,)),
                Hook("tensor", on, "h2", last),
                Backward((1,)),
                Backward((2,)),
            ),
        ),
        st.sampled_from(["x0", "m0.weight", "m0>0"]),
        SCALE,
        st.sampled_from([(), (Scale(5),)]),
    )
)
def test_removed_by_another(subject: Subject, plan: Plan) -> None:
    every = [hook.label for hook in hooks_of(plan)]
    left = [label for label in every if label != "h1"]
    assert subject.holds(plan).calls() == (left if live(subject) else every) + left


@clause(
    "gradient.membership.registered_by_another",
    says="A tensor hook that a running tensor hook registers on its own tensor is not called in the same pass.",
    source=SNAPSHOT,
    asked="add callback from inside callback for same activation fires now or next iteration",
    matters_if="tensor ?registers_inside",
    readings=by_release(
        "silent",
        ("1.10", "waits", {"tensor_hooks_iterate": "snapshot"}),
        "The tensor hooks of a tensor are listed before the first one runs: one registered meanwhile waits.",
        ("", "joins at once", {"tensor_hooks_iterate": "live"}),
        "A tensor hook that a running tensor hook registers on its own tensor is called in the same pass.",
    ),
    witness=Plan(
        NET, (Input(2),), (Hook("tensor", "x0", "h0", (Add(Hook("tensor", "x0", "new")),)), Forward(), Backward())
    ),
)
@given(
    plan=st.builds(
        lambda on, place, actions, new, grads, gone: Plan(
            NET,
            (Input(2),),
            (
                Forward(),
                *(
                    Hook(
                        "tensor", on, f"h{index}", (Add(Hook("tensor", on, "new", new)), *do) if index == place else do
                    )
                    for index, do in enumerate(actions)
                ),
                Backward((grads[0],)),
                *gone,
                Backward((grads[1],)),
            ),
        ),
        st.sampled_from(["x0", "m0.weight", "m0>0"]),
        st.integers(0, 2),
        st.lists(st.sampled_from([(), (Scale(5),), (Scale(-1),)]), min_size=3, max_size=3),
        st.sampled_from([(), (Scale(3),)]),
        st.tuples(NUMBERS, NUMBERS),
        st.sampled_from([(), (Remove("new"),), (Remove("h0"),), (Remove("h2"),)]),
    )
)
def test_registered_by_another(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == called(plan, at_once=live(subject))


@clause(
    "gradient.membership.upstream_at_once",
    says="A tensor hook that a running one puts on what its tensor was computed from is called in the same pass.",
    where="the pass reaches that tensor",
    see="gradient.asked.other_leaf",
    source="measured",
    asked="attach hook to earlier layer activation dynamically while backpropagation is running does it fire",
)
@given(
    plan=st.builds(
        lambda on, actions, grads: Plan(
            Chain("m0", (Leaf("m1", "scale", (3,)), Leaf("m2", "scale", (5,)))),
            (Input(2),),
            (
                Hook("tensor", on[1], "old", actions[0]),
                Forward(),
                Hook("tensor", on[0], "adds", (Add(Hook("tensor", on[1], "new", actions[1])), *actions[2])),
                *(Backward((grad,)) for grad in grads),
            ),
        ),
        st.tuples(st.sampled_from(["m1>0", "m2>0"]), st.sampled_from(["x0", "m1.weight"])),
        st.tuples(*[st.just(()) | st.tuples(SCALE)] * 3),
        st.lists(NUMBERS, min_size=1, max_size=2),
    )
)
def test_upstream_at_once(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls()[:3] == ["adds", "old", "new"]


@clause(
    "gradient.membership.many_registered",
    says="However many tensor hooks a running one registers on its own tensor, none is called in the same pass.",
    source=SNAPSHOT,
    asked="infinite loop if callback keeps adding callbacks to same activation while running thousands",
    matters_if="tensor ?registers_inside",
    readings=by_release(
        "silent",
        ("1.10", "wait", {"tensor_hooks_iterate": "snapshot"}),
        "Tensor hooks that a running one registers on its own tensor wait for the next pass, however many.",
        ("", "join at once", {"tensor_hooks_iterate": "live"}),
        "Tensor hooks that a running one registers on its own tensor are all called in the same pass.",
    ),
    witness=Plan(
        NET, (Input(2),), (Hook("tensor", "x0", "h0", (Add(Hook("tensor", "x0", "a0")),)), Forward(), Backward())
    ),
)
@given(
    plan=st.builds(
        lambda many, last, passes: Plan(
            NET,
            (Input(2),),
            (
                Hook("tensor", "x0", "h0", tuple(Add(Hook("tensor", "x0", f"a{index}")) for index in range(many))),
                Hook("tensor", "x0", "h1", last),
                Forward(),
                *(Backward((grad,)) for grad in passes),
            ),
        ),
        st.integers(1, 12),
        st.sampled_from([(), (Scale(5),)]),
        st.lists(NUMBERS, min_size=1, max_size=2),
    )
)
def test_many_registered(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == called(plan, at_once=live(subject))


@clause(
    "gradient.membership.cleared",
    says="A tensor hook that calls x._backward_hooks.clear() does not stop the later tensor hooks of x in that pass.",
    source=SNAPSHOT,
    asked="empty the private dict of callbacks inside callback to stop remaining ones",
    matters_if="tensor ?removes_inside",
    readings=by_release(
        "silent",
        ("1.10", "still called", True),
        "The tensor hooks of x are listed before the first one runs: clearing x._backward_hooks stops none.",
        ("", "gone at once", False),
        "A tensor hook that clears x._backward_hooks stops the later tensor hooks of x in that pass.",
    ),
    witness={"before": 0, "after": 1, "again": False},
)
@given(before=st.integers(0, 2), after=st.integers(0, 3), again=st.booleans())
def test_cleared(subject: Subject, before: int, after: int, again: bool) -> None:
    calls: List[str] = []
    x = leaf(1)
    for _ in range(before):
        x.register_hook(lambda grad: calls.append("before"))
    x.register_hook(lambda grad: x._backward_hooks.clear())
    for _ in range(after):
        x.register_hook(lambda grad: calls.append("after"))
    first = ["before"] * before + ["after"] * (after if subject.value else 0)
    (2 * x).backward()
    assert calls == first
    if again:
        x.register_hook(lambda grad: calls.append("again"))
    (2 * x).backward()
    assert calls == first + ["again"] * again
