"""Which hooks a backward pass calls: those registered when it reaches the tensor, less those that were removed.

Registering and removing while hooks run is the delicate part; torch 1.10 changed what it means.
"""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS
from fixtures.plan import Add, Backward, Drop, Forward, Hook, Input, Leaf, Plan, Remove, Scale
from fixtures.subject import Subject

DOCS = "docs: torch.Tensor.register_hook"
SNAPSHOT = "https://github.com/pytorch/pytorch/pull/61250"
NET = Leaf("m0", "scale", (3,))
SCALE = st.builds(Scale, by=FACTORS)


@st.composite
def frozen_input(draw: Any) -> Plan:
    """A hook on an input that may or may not require grad."""
    hook = Hook("tensor", "x0", "h0", (draw(SCALE),))
    return Plan(NET, (Input(draw(NUMBERS), draw(st.booleans())),), (hook, Forward(), Backward()))


@clause(
    "gradient.membership.needs_grad",
    says="Registering a hook on a tensor that does not require grad raises RuntimeError.",
    source=DOCS,
    covers=("tensor.reg.no_requires_grad", "tensor.reg.detached"),
)
@given(plan=frozen_input())
def test_needs_grad(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == ([] if plan.inputs[0].grad else [("hook", "RuntimeError")])


@clause(
    "gradient.membership.after_the_forward",
    says="A hook registered after the forward runs in the backward that follows.",
    source=DOCS,
    covers=("tensor.reg.leaf_after_forward", "tensor.reg.nonleaf_after_use"),
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
    says="A hook registered between two backwards over one graph runs in the second only.",
    source=DOCS,
    covers=("tensor.reg.after_backward_retained",),
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
    assert subject.holds(plan).calls() == ["h0"]


@clause(
    "gradient.membership.removed_is_silent",
    says="A hook removed through its handle is not called again, also when the graph was made before.",
    source="docs: torch.utils.hooks.RemovableHandle",
    covers=("tensor.handle.remove_stops", "tensor.chain.remove_middle"),
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
    says="A hook that removes itself while it runs is called that once, its neighbours as ever.",
    source="measured",
    covers=("tensor.run.self_remove",),
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
    says="A hook removed by an earlier hook of the same tensor is still called in the pass that is running.",
    source=SNAPSHOT,
    readings=(
        Reading(
            "still called",
            ">=1.10",
            "The hooks of a tensor are listed before the first one runs.",
            {"tensor_hooks_iterate": "snapshot"},
        ),
        Reading(
            "gone at once", "<1.10", "Each hook is looked up when its turn comes.", {"tensor_hooks_iterate": "live"}
        ),
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
    covers=("tensor.run.remove_later",),
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
    subject.holds(plan)


@clause(
    "gradient.membership.registered_by_another",
    says="A hook registered by a running hook of the same tensor waits for the next pass.",
    source=SNAPSHOT,
    readings=(
        Reading("waits", ">=1.10", "It is not in the list that was made before.", value=["old", "old", "new"]),
        Reading(
            "joins at once", "<1.10", "It is found at the end of the live dict.", value=["old", "new", "old", "new"]
        ),
    ),
    covers=("tensor.run.register_same", "tensor.run.register_same_middle"),
)
def test_registered_by_another(subject: Subject) -> None:
    import torch

    calls = []
    x = torch.ones((), requires_grad=True)

    def old(grad: Any) -> None:
        calls.append("old")
        if len(calls) == 1:
            x.register_hook(new)

    def new(grad: Any) -> None:
        calls.append("new")

    x.register_hook(old)
    for _ in range(2):
        (2 * x).backward()
    assert calls == subject.value


@clause(
    "gradient.membership.upstream_at_once",
    says="A hook that a running hook puts on a tensor further upstream is called in the same pass.",
    source="measured",
    readings=(
        Reading("same pass", "", "The tensor upstream has not been reached yet.", value=["y", "x"]),
        Reading("next pass", "never", "All hooks of a pass are listed when it begins.", value=["y"]),
    ),
    covers=("tensor.run.register_upstream_leaf", "tensor.run.register_upstream_nonleaf"),
)
def test_upstream_at_once(subject: Subject) -> None:
    import torch

    calls = []
    x = torch.ones((), requires_grad=True)
    y = 2 * x

    def at_y(grad: Any) -> None:
        calls.append("y")
        x.register_hook(lambda grad: calls.append("x"))

    y.register_hook(at_y)
    y.backward()
    assert calls == subject.value


@clause(
    "gradient.membership.same_function_twice",
    says="One function registered twice is two hooks, each with its own handle.",
    source="docs: torch.utils.hooks.RemovableHandle",
    readings=(
        Reading("two hooks", "", "Called twice, and once after one handle is removed.", value=[4.0, 2.0]),
        Reading("one hook", "never", "The second registration replaces the first.", value=[2.0, 1.0]),
    ),
    covers=("tensor.reg.same_fn_twice",),
)
def test_same_function_twice(subject: Subject) -> None:
    import torch

    def double(grad: Any) -> Any:
        return grad * 2

    grads = []
    x = torch.ones((), requires_grad=True)
    x.register_hook(double)
    handle = x.register_hook(double)
    for _ in range(2):
        x.grad = None
        (1 * x).backward()
        grads.append(x.grad.item())
        handle.remove()
    assert grads == subject.value


@clause(
    "gradient.membership.not_inherited",
    says="What is derived from a hooked tensor (detach, clone, view) has none of its hooks.",
    source="measured",
    readings=(
        Reading("none", "", "Only the tensor itself has the hook: one call, for it.", value=[0, 1, 1]),
        Reading("copied", "never", "A derived tensor takes the hooks along.", value=[1, 2, 2]),
    ),
    covers=("tensor.reg.detach_no_inherit", "graph.api.hook_on_expanded_param_clone"),
)
def test_not_inherited(subject: Subject) -> None:
    import torch

    counts = []
    for derive in (lambda x: x.detach().requires_grad_(), lambda x: x.clone(), lambda x: x.view(1)):
        calls = []
        x = torch.ones(1, requires_grad=True)
        x.register_hook(lambda grad, calls=calls: calls.append(1))
        derive(x).backward(torch.ones(1))
        counts.append(len(calls))
    assert counts == subject.value


@clause(
    "gradient.membership.many_registered",
    says="However many hooks a running hook registers on its tensor, none of them joins the pass.",
    source=SNAPSHOT,
    readings=(
        Reading(
            "wait", ">=1.10", "They are not in the list that was made before.", {"tensor_hooks_iterate": "snapshot"}
        ),
        Reading(
            "join at once", "<1.10", "They are found at the end of the live dict.", {"tensor_hooks_iterate": "live"}
        ),
    ),
    witness=Plan(
        NET, (Input(2),), (Hook("tensor", "x0", "h0", (Add(Hook("tensor", "x0", "a0")),)), Forward(), Backward())
    ),
    covers=("tensor.run.register_many", "tensor.run.register_same"),
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
    subject.holds(plan)


@clause(
    "gradient.membership.cleared",
    says="A hook that clears the dict of hooks does not stop the later ones of the pass.",
    source=SNAPSHOT,
    readings=(
        Reading("still called", ">=1.10", "The hooks are listed before the first one runs.", value=["later"]),
        Reading("gone at once", "<1.10", "Each hook is looked up when its turn comes.", value=[]),
    ),
    covers=("tensor.run.clear_dict",),
)
def test_cleared(subject: Subject) -> None:
    import torch

    calls = []
    x = torch.ones((), requires_grad=True)
    x.register_hook(lambda grad: x._backward_hooks.clear())
    x.register_hook(lambda grad: calls.append("later"))
    for _ in range(2):
        (2 * x).backward()
    assert calls == subject.value


@clause(
    "gradient.membership.without_a_graph",
    says="The result of detach() or of an operation under no_grad() refuses hooks with RuntimeError.",
    source=DOCS,
    readings=(
        Reading("refused", "", "Neither requires grad.", value=["RuntimeError"] * 2),
        Reading("accepted", "never", "The hook is kept, and never called.", value=["accepted"] * 2),
    ),
    covers=("graph.api.hook_on_detached_view", "graph.mode.register_on_no_grad_result"),
)
def test_without_a_graph(subject: Subject) -> None:
    import torch

    results = []
    x = torch.ones((), requires_grad=True)
    with torch.no_grad():
        outside = 2 * x
    for tensor in (x.detach(), outside):
        try:
            tensor.register_hook(print)
            results.append("accepted")
        except RuntimeError as error:
            results.append(type(error).__name__)
    assert results == subject.value


@clause(
    "gradient.membership.switched_off",
    says="A leaf that no longer requires grad when the gradient arrives has its hooks called and no .grad set.",
    source="https://github.com/pytorch/pytorch/pull/85849",
    readings=(
        Reading("called", ">=2.0", "One call.", value=([2.0], None)),
        Reading("not called", "<2.0", "The accumulation is left out, its hooks too.", value=([], None)),
    ),
    covers=("graph.accgrad.requires_grad_toggle",),
)
def test_switched_off(subject: Subject) -> None:
    import torch

    seen = []
    x = torch.ones((), requires_grad=True)
    x.register_hook(lambda grad: seen.append(grad.item()))
    y = 2 * x
    x.requires_grad_(False)
    y.backward()
    assert (seen, x.grad) == subject.value
