"""What torch says of torch.compile, and what its clauses are limited to."""

OWN = "forward is your own"
#: What torch compiles is one graph.
UNBROKEN = "own forward, no graph break"
PAGE = "https://docs.pytorch.org/docs/stable/torch.compiler_nn_module.html"
GUARDS = "code: torch/_dynamo/config.py"
NOTICED = f'{GUARDS} "dynamo will not notice and will execute whichever version you first compiled"'
