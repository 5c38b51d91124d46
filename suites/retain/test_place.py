"""When retain_grad() takes its copy: before, between or after the hooks of the same tensor."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Retain, Scale
from suites.names import HOOKS_IN_ORDER
from suites.retain.plans import among_hooks, kept_of, left_by_hooks


@st.composite
def hooked_outputs(draw: Any) -> Plan:
    """A module with two outputs that keep their gradients, with tensor hooks before and after that."""
    steps = (*among_hooks(draw, "m0>0"), *among_hooks(draw, "m0>1"))
    net, grads = Leaf("m0", "split", (draw(NUMBERS), draw(NUMBERS))), (draw(NUMBERS), draw(NUMBERS))
    return Plan(net, (Input(draw(NUMBERS)),), (Forward(), *steps, Backward(grads)))


@clause(
    "retain.place.after_every_hook",
    says="retain_grad() keeps what all tensor hooks of the tensor left, registered before it or after it.",
    source=(
        'note: autograd.html#backward-hooks-execution "field is updated for Tensors that retain_grad"',
        "test: test/test_autograd.py TestAutograd.test_retains_grad_can_always_observe_tensor_prehook",
        HOOKS_IN_ORDER,
    ),
    asked="clip gradient in register_hook does stored activation.grad hold clipped or raw value call sequence",
    matters_if="retain_grad ?changing_hook",
    readings=by_release(
        "silent",
        ("2.0", "after all hooks", {"retain_grad": "last"}),
        "retain_grad() keeps what all tensor hooks of the tensor left, registered before it or after it.",
        ("1.10", "before or after all", {"retain_grad": "slot"}),
        "retain_grad() keeps the gradient from before all tensor hooks if it came first, otherwise from after all.",
        ("", "in its turn", {"retain_grad": "hook", "retain_follows": False}),
        "retain_grad() keeps what the tensor hooks registered before it left; later hooks do not matter.",
    ),
    # Between two hooks: 6 after all, 6 when next to them (a hook came first), 2 in its turn; first of all: 2, 1, 1.
    witness=Plan(
        Leaf("m0", "split", (1, 1)),
        (Input(1),),
        (
            Forward(),
            Hook("tensor", "m0>0", "h0", (Scale(2),)),
            Retain("m0>0"),
            Hook("tensor", "m0>0", "h1", (Scale(3),)),
            Retain("m0>1"),
            Hook("tensor", "m0>1", "h2", (Scale(2),)),
            Backward((1, 1)),
        ),
    ),
)
@given(plan=hooked_outputs())
def test_after_every_hook(subject: Subject, plan: Plan) -> None:
    due = left_by_hooks(plan, subject.reading.facts["retain_grad"])
    assert kept_of(subject.holds(plan), plan) == due
