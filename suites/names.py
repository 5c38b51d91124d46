"""What many files of clauses name: kinds of hooks, sources, and what of torch a clause needs."""

# --- kinds of hooks ----------------------------------------------------------------------------

FORWARD = ("forward_pre", "forward")
BACKWARD = ("backward", "full_backward", "full_backward_pre")
#: Those that a module can put in front of the others.
PREPENDING = ("forward_pre", "forward", "full_backward_pre", "full_backward")

# --- sources -----------------------------------------------------------------------------------

PRE_HOOK = "docs: torch.nn.Module.register_forward_pre_hook"
FORWARD_HOOK = "docs: torch.nn.Module.register_forward_hook"
GLOBAL_PRE_HOOK = "docs: torch.nn.modules.module.register_module_forward_pre_hook"
GLOBAL_HOOK = "docs: torch.nn.modules.module.register_module_forward_hook"
NOTE = "note: modules.html#module-hooks"
THROUGHOUT = f'{NOTE} "return an updated value that will be used throughout the remaining computation"'
AS_IS = f'{NOTE} "are passed as-is"'
CODE = "code: torch/nn/modules/module.py"
#: Of tensors that are copied.
DEEPCOPY = 'code: torch/_tensor.py "(graph leaves) support the deepcopy protocol at the moment"'
SKIPS = f'{CODE} "If we don\'t have any hooks, we want to skip"'
ALWAYS_TEST = "test: test/nn/test_module_hooks.py TestModuleHooks.test_always_called_forward_hooks"
HANDLE = "https://github.com/pytorch/pytorch/blob/main/torch/utils/hooks.py"
SKIP_PULL = "https://github.com/pytorch/pytorch/pull/52576"
SNAPSHOT_PULL = "https://github.com/pytorch/pytorch/pull/60517"
KWARGS_PULL = "https://github.com/pytorch/pytorch/pull/89389"
GLOBAL_KWARGS_PULL = "https://github.com/pytorch/pytorch/pull/137403"

# --- what a clause needs -----------------------------------------------------------------------

PRE_KWARGS = "torch.nn.Module.register_forward_pre_hook(with_kwargs)"
KWARGS = "torch.nn.Module.register_forward_hook(with_kwargs)"
PREPEND = "torch.nn.Module.register_forward_hook(prepend)"
ALWAYS_CALL = "torch.nn.Module.register_forward_hook(always_call)"
GLOBAL_FORWARD_PRE = "torch.nn.modules.module.register_module_forward_pre_hook"
GLOBAL_FORWARD = "torch.nn.modules.module.register_module_forward_hook"
GLOBAL_KWARGS = "torch.nn.modules.module.register_module_forward_hook(with_kwargs)"
FULL = "torch.nn.Module.register_full_backward_hook"
PRE = "torch.nn.Module.register_full_backward_pre_hook"
GLOBAL_FULL = "torch.nn.modules.module.register_module_full_backward_hook"
GLOBAL_PRE = "torch.nn.modules.module.register_module_full_backward_pre_hook"
POST_ACCUMULATE = "torch.Tensor.register_post_accumulate_grad_hook"
BACKWARD_INPUTS = "torch.Tensor.backward(inputs)"

BACKWARD_DOCS = "docs: torch.Tensor.backward"
GRAD_DOCS = "docs: torch.autograd.grad"
TENSOR_DOCS = "docs: torch.Tensor.register_hook"
RETAIN_DOCS = "docs: torch.Tensor.retain_grad"
KEPT = 'docs: torch.Tensor.retain_grad "to have their :attr:`grad` populated during"'
EXECUTION = "note: autograd.html#backward-hooks-execution"
IN_ORDER = f'{EXECUTION} "executed in the order in which they are registered"'
IN_PLACE_NOTE = "note: autograd.html#behavior-of-tensor-hooks-when-tensor-is-modified-in-place"

PULL = "https://github.com/pytorch/pytorch/pull/"
ISSUE = "https://github.com/pytorch/pytorch/issues/"
#: backward() raises what a hook raised, of its own type.
TYPE_IS_LOST = PULL + "43684"
#: The hooks of a tensor are listed before the first of them runs.
SNAPSHOT = PULL + "61250"
#: Hooks of tensors run before those of their nodes, also of tensors that are asked for; retain_grad() comes last.
HOOKS_IN_ORDER = PULL + "85849"
RETAIN_IN_ENGINE = PULL + "59362"
RETAIN_UNDEFINED = PULL + "92604"
#: A kept gradient is that of the new version of a tensor that is changed in place.
FOLLOWS = PULL + "79996"
#: Each version of a tensor has hooks of its own; so has that of a base which is changed through a view.
OWN_VERSION = PULL + "92734"
BASE_VERSION = PULL + "117552"
NONE_FROM_FUNCTION = PULL + "12028"
UNDEFINED_ISSUE = ISSUE + "60796"
#: backward(inputs=) takes tensors that are no leaves.
INNER_INPUTS = PULL + "60521"

#: Of full backward hooks: without an input that needs a gradient, past the output, under no_grad, and what they keep.
FROM_OUTPUT = PULL + "56693"
PAST_THE_OUTPUT = PULL + "88357"
UNDER_NO_GRAD = ISSUE + "59901"
CLEARING = PULL + "82788"
KEEPS_CLASS = PULL + "112433"
#: Warnings: of full hooks that run where no input needs a gradient, and of legacy hooks.
WARNED = PULL + "155339"
FUTURE = PULL + "127689"
