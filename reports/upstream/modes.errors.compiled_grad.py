"""After an index out of range in a compiled torch.func.grad, saved_tensors_hooks raise RuntimeError.

Documentation: in saved_tensors_hooks a pack hook is called for what operations save, an unpack hook when it is needed.
    https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.saved_tensors_hooks
torch: the graph turns these hooks off and on again, as grad does. If an operation between fails, they stay off.
See also: https://github.com/pytorch/pytorch/pull/187316
Doubt: only with backend="eager", which is for debugging; aot_eager and inductor leave nothing on.
As documented: as before
"""

import torch


def derivative(table, index):
    return torch.func.grad(lambda table: torch.nn.functional.embedding(index, table).sum())(table)


def pack(tensor):
    packed.append("packed")
    return tensor


table, packed = torch.ones(3, 1), []
try:
    torch.compile(derivative, backend="eager")(table, torch.tensor([7]))
except (IndexError, RuntimeError) as error:
    print("the call fails, as it should:", str(error).partition("\n")[0])
x = torch.ones(1, requires_grad=True)
try:
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        x * x
except RuntimeError as error:
    packed = str(error).partition(".  ")[0]
documented, observed = ["packed", "packed"], packed

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (modes.errors.compiled_grad)")
