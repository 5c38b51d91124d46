"""The full hook of an LSTM is not called when the loss is on a state, though x gets its gradient.

Documentation: the hook is called every time gradients of the module are computed; ordinarily when those of its inputs
    are.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
torch: does not call the hook: the states are returned in a tuple within the output, where the hook does not look.
"""

import torch

calls = []
lstm, x = torch.nn.LSTM(2, 3), torch.ones(4, 1, 2, requires_grad=True)
lstm.register_full_backward_hook(lambda module, grad_input, grad_output: calls.append(1))
out, (state, cell) = lstm(x)
state.sum().backward()
documented = {"x has a gradient": True, "calls": 1}
observed = {"x has a gradient": x.grad is not None, "calls": len(calls)}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.objects.layers)")
