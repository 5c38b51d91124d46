"""Parts of the whole grammar: kinds of hooks, what they do, and what plans may have besides."""

from functools import partial

from fixtures.clause.about import apis
from fixtures.families import HOOK_KINDS
from suites.names import BACKWARD, FORWARD
from suites.shapes import wider

#: What hooks return, and what they do besides.
RETURNED = ("bare", "raise", "drop", "give", "add", "single", "edit", "repack", "blank", "entries", "keywords")
EVERY_ACTION = ("scale", *RETURNED)
EVERY_OP = ("scale", "affine", "same", "both", "add", "mul", "first", "split", "cross", "named")
AROUND = apis(FORWARD, everywhere=True)
BACK = apis(BACKWARD, everywhere=True)
ON_TENSORS = ("register_hook", "register_post_accumulate_grad_hook", "retain_grad")
STEPS = ("step_pre", "step_post")
STEP = "torch.optim.Optimizer.register_step_pre_hook"
EVERYTHING = (*apis(HOOK_KINDS, everywhere=True), "retain_grad")
#: What plans of everything may have besides.
ALSO = ("everywhere", "options", "retain", "by", "frozen", "copies", "ask")

#: Any networks, anything that hooks may do in them, and several runs.
whole = partial(wider, "remove", does=EVERY_ACTION, ops=EVERY_OP, runs=3)
