"""Plans of one product, x0 * x1, with pairs of hooks for what it saves; and what the clauses of this chapter quote."""

from typing import Any, List, Sequence, Tuple

from hypothesis import strategies as st

from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.plan.grammar import Backward, Forward, Hook, InPlace, Input, Leaf, Plan, Scale
from suites.names import ISSUE, PULL

HOOKS = "docs: torch.autograd.graph.saved_tensors_hooks"
PACKS = f'{HOOKS} "operation saves a tensor for backward"'
UNPACKS = f'{HOOKS} "is called when the saved tensor needs to be accessed"'
PACKED = f'{HOOKS} "It takes as argument the *packed* object returned by ``pack_hook``"'
SAME = f'{HOOKS} "should return a tensor which has the same content as the original tensor"'
FUNCTION = f'{HOOKS} "intermediary results saved using :func:`~torch.autograd.function._ContextMethodMixin.save_for"'
INNERMOST = f'{HOOKS} "only the inner-most pair of hooks will be applied"'
CYCLE = f'{HOOKS} "the return value of ``pack_hook`` cannot hold a reference to the input tensor"'
ON_CPU = 'docs: torch.autograd.graph.save_on_cpu "If the graph was already on CPU, no tensor copy is performed"'
DISABLED = (
    'docs: torch.autograd.graph.disable_saved_tensors_hooks "when they have been disabled, a RuntimeError with this"'
)
MUTATION = "docs: torch.autograd.graph.allow_mutation_on_saved_tensors"
NOTE = "note: autograd.html#hooks-for-saved-tensors"
ONE_NOTE = "note: autograd.html#registering-hooks-for-a-saved-tensor"
CONTEXT_NOTE = "note: autograd.html#registering-default-hooks-for-saved-tensors"
CHECKED = 'note: autograd.html#in-place-correctness-checks "you can be sure that the computed gradients are correct"'
#: Exceptions of pack and unpack hooks keep their type.
TYPE_IS_KEPT = PULL + "94456"
NESTING = PULL + "70932"
EDITED = PULL + "62717"
OWN_COUNTER = PULL + "128545"
REGISTERED = PULL + "60663"
COUNTER_ISSUE = ISSUE + "128611"

HAS = "torch.autograd.graph.saved_tensors_hooks"
HAS_CPU = "torch.autograd.graph.save_on_cpu"
HAS_OFF = "torch.autograd.graph.disable_saved_tensors_hooks"
HAS_ONE = "torch._C._autograd.SavedTensor.register_hooks"
HAS_MUTATION = "torch.autograd.graph.allow_mutation_on_saved_tensors"

NET = Leaf("m0", "mul")
OUT = "m0>0"
#: Two factors, for witnesses.
TWO = (Input(2), Input(3))
LOOKS = st.just(())
SCALES = st.builds(lambda by: (Scale(by),), FACTORS)
EDITS = st.builds(lambda by: (InPlace(by),), FACTORS)
MAYBE = LOOKS | SCALES
PASSES = st.lists(st.builds(lambda grad: Backward((grad,)), NUMBERS), min_size=1, max_size=3).map(tuple)
ONE_PASS = st.builds(lambda grad: (Backward((grad,)),), NUMBERS)
BOOLEANS = st.booleans()


def product(
    before: Any = LOOKS, after: Any = PASSES, leaf: Any = BOOLEANS, grads: Tuple[bool, bool] = (True, True)
) -> Any:
    """Plans of a product: hooks, one forward, and what comes after; the first factor is a leaf, or made of one."""
    return st.builds(
        lambda x, y, leaf, before, after: Plan(
            NET, (Input(x, grads[0], leaf or not grads[0]), Input(y, grads[1])), (*before, Forward(), *after)
        ),
        NUMBERS,
        NUMBERS,
        leaf,
        before,
        after,
    )


def pair(do: Any = LOOKS, back: Any = LOOKS, label: str = "c") -> Any:
    """One saved_tensors_hooks whose hooks do that; the pack hook is `label`.pack in a trace."""
    return st.builds(lambda do, back: (Hook("saved", "", label, do, back=back),), do, back)


def on_one(do: Any = LOOKS, back: Any = LOOKS) -> Any:
    """One SavedTensor.register_hooks on the first factor of the product."""
    return st.builds(lambda do, back: (Hook("saved_one", OUT, "c", do, back=back),), do, back)


def factors(plan: Plan) -> List[int]:
    """The numbers that are multiplied."""
    return [one.value if one.leaf else 2 * one.value for one in plan.inputs]


def starts(plan: Plan) -> List[int]:
    """The gradient that each backward pass begins with."""
    return [step.grads[0] for step in plan.steps if isinstance(step, Backward)]


def ones(numbers: Sequence[int]) -> List[Tuple[int, ...]]:
    """Each number as the arguments of a call, in order of size."""
    return sorted((one,) for one in numbers)
