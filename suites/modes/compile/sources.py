"""What torch says of torch.compile, what of torch its clauses need, and what they are limited to."""

from suites.modes.sources import COMPILE

IN_PLACE = (COMPILE, "torch.nn.Module.compile")
AOT = "backend='aot_eager'"
OWN = "forward is your own"
#: What torch says of it.
PAGE = "https://docs.pytorch.org/docs/stable/torch.compiler_nn_module.html"
GUARDS = "code: torch/_dynamo/config.py"
NOTICED = f'{GUARDS} "dynamo will not notice and will execute whichever version you first compiled"'
