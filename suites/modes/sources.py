"""What torch says of other ways to run, what of torch their clauses need, and what they are limited to."""

from suites.names import PULL

#: torch.compiler came with 2.1, from which on hooks of compiled modules are run.
COMPILE = "torch.compiler.reset"
IN_PLACE = (COMPILE, "torch.nn.Module.compile")
#: What the sentences are limited to: a forward of torch.nn is compiled otherwise, and so may other backends.
EAGER, AOT = "backend='eager'", "backend='aot_eager'"
OWN = "the module's forward is your own"
#: What torch says of it.
PAGE = "https://docs.pytorch.org/docs/stable/torch.compiler_nn_module.html"
GUARDS = "code: torch/_dynamo/config.py"
NOTICED = f'{GUARDS} "dynamo will not notice and will execute whichever version you first compiled"'

FORMS = "torch.utils.checkpoint.checkpoint(use_reentrant)"
STOPS = "torch.utils.checkpoint.set_checkpoint_early_stop"
#: Early stop is new in 2.1.
EARLY = PULL + "96866"

CALL = "torch.func.functional_call"
REPLACED = 'docs: torch.func.functional_call "by replacing the module parameters"'

COMM = "torch.nn.parallel.DistributedDataParallel.register_comm_hook"
#: A bucket tells its gradients by this name since torch 1.10; before, by others.
BUCKET = (COMM, "torch.distributed.GradBucket.buffer")
