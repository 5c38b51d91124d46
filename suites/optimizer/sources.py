"""What torch says of step hooks, word for word, and what of torch their clauses need."""

PRE_HOOK = "docs: torch.optim.Optimizer.register_step_pre_hook"
POST_HOOK = "docs: torch.optim.Optimizer.register_step_post_hook"
GLOBAL = 'docs: torch.optim.optimizer.register_optimizer_step_pre_hook "Register a pre hook common to all optimizers"'
BEFORE = f'{PRE_HOOK} "which will be called before optimizer step"'
AFTER = f'{POST_HOOK} "which will be called after optimizer step"'
REPLACES = f'{PRE_HOOK} "the transformed values are returned as a tuple containing the new_args and new_kwargs"'
CODE = "code: torch/optim/optimizer.py"

OWN = "torch.optim.Optimizer.register_step_pre_hook"
EVERYWHERE = "torch.optim.optimizer.register_optimizer_step_pre_hook"
ALL = (
    *("register_step_pre_hook", "register_step_post_hook"),
    *("register_optimizer_step_pre_hook", "register_optimizer_step_post_hook"),
)
