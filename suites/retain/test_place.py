"""When retain_grad() takes its copy: before, between or after the hooks of the same tensor."""

from hypothesis import given

from fixtures.draw.plans import plans
from fixtures.judge.clause import by_release, clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Retain, Scale
from suites.names import HOOKS_IN_ORDER


@clause(
    "retain.place.after_every_hook",
    says="retain_grad() keeps what all tensor hooks of the tensor left, registered before it or after it.",
    where="no tensor is changed in place",
    source=(
        'note: autograd.html#backward-hooks-execution "field is updated for Tensors that retain_grad"',
        "test: test/test_autograd.py TestAutograd.test_retains_grad_can_always_observe_tensor_prehook",
        HOOKS_IN_ORDER,
    ),
    concern="retain_grad ?changing_hook",
    readings=by_release(
        "other",
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
@given(plan=plans(kinds=("tensor",), outputs=(1, 2), retain=True, runs=2))
def test_after_every_hook(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
