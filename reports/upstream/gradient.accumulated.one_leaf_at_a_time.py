"""Post-accumulate hooks run leaf by leaf within the pass, not at the end of it.

Documentation: these hooks are triggered once .grad is updated at the end of the backward pass.
    https://docs.pytorch.org/docs/stable/notes/autograd.html#whether-a-particular-hook-will-be-fired
torch: sets .grad and runs the hooks of one leaf before the next leaf's turn: the first hook finds the other .grad
    unset.
See also: https://github.com/pytorch/pytorch/pull/107323
Doubt: perhaps the wording only: the end of the pass may mean its end for this tensor.
"""

import torch

leaves = [torch.ones((), requires_grad=True) for _ in range(2)]
observed = []
for leaf in leaves:
    leaf.register_post_accumulate_grad_hook(lambda leaf: observed.append(sum(one.grad is not None for one in leaves)))
(leaves[0] * leaves[1]).backward()
print("leaves with a .grad, at each call of a hook:")
documented = [2, 2]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(
        f"torch {torch.__version__} contradicts its documentation (gradient.accumulated.one_leaf_at_a_time)"
    )
