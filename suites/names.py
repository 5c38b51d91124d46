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
FULL = "torch.nn.Module.register_full_backward_hook"
FULL_PRE = "torch.nn.Module.register_full_backward_pre_hook"
GLOBAL_PRE = "torch.nn.modules.module.register_module_forward_pre_hook"
GLOBAL_FORWARD = "torch.nn.modules.module.register_module_forward_hook"
GLOBAL_KWARGS = "torch.nn.modules.module.register_module_forward_hook(with_kwargs)"
POST_ACCUMULATE = "torch.Tensor.register_post_accumulate_grad_hook"
