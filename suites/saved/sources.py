"""What torch says of hooks for saved tensors, word for word, and what of torch their clauses need."""

from suites.names import PULL

HOOKS = "docs: torch.autograd.graph.saved_tensors_hooks"
PACKS = f'{HOOKS} "operation saves a tensor for backward"'
UNPACKS = f'{HOOKS} "is called when the saved tensor needs to be accessed"'
INNERMOST = f'{HOOKS} "only the inner-most pair of hooks will be applied"'
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

HAS = "torch.autograd.graph.saved_tensors_hooks"
HAS_CPU = "torch.autograd.graph.save_on_cpu"
HAS_OFF = "torch.autograd.graph.disable_saved_tensors_hooks"
HAS_ONE = "torch._C._autograd.SavedTensor.register_hooks"
HAS_MUTATION = "torch.autograd.graph.allow_mutation_on_saved_tensors"
