"""What torch says of other ways to run, what of torch their clauses need, and what they are limited to."""

from suites.names import PULL

#: torch.compiler came with 2.1, from which on hooks of compiled modules are run.
COMPILE = "torch.compiler.reset"
#: What the sentences are limited to: a forward of torch.nn is compiled otherwise, and so may other backends.
EAGER = "backend='eager'"

FORMS = "torch.utils.checkpoint.checkpoint(use_reentrant)"
STOPS = "torch.utils.checkpoint.set_checkpoint_early_stop"
#: Early stop is new in 2.1.
EARLY = PULL + "96866"

CALL = "torch.func.functional_call"
REPLACED = 'docs: torch.func.functional_call "by replacing the module parameters"'

COMM = "torch.nn.parallel.DistributedDataParallel.register_comm_hook"
#: A bucket tells its gradients by this name since torch 1.10; before, by others.
BUCKET = (COMM, "torch.distributed.GradBucket.buffer")
