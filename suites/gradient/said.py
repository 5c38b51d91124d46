"""What torch's documentation, notes and code say of tensor hooks: sources with the words that clauses quote."""

ADDS = 'docs: torch.Tensor.grad "will accumulate (add) gradients into it"'
ALWAYS = 'note: autograd.html#backward-hooks-execution "the hook register to that Tensor will always be executed"'
AS_COMPUTED = 'note: autograd.html#backward-hooks-execution "are run as gradients are being computed"'
CALLED = 'docs: torch.Tensor.register_hook "called every time a gradient with respect to the Tensor is computed"'
CALLER = (
    'note: autograd.html#multithreaded-autograd "Autograd allows the caller thread to drive its backward execution"'
)
CHECKED = 'note: autograd.html#in-place-correctness-checks "if it is greater than the saved value an error is raised"'
CONJUGATE = 'note: autograd.html#autograd-for-complex-numbers "note the conjugation of z"'
CYCLE = 'docs: torch.autograd.backward "create a reference cycle between the parameter and its gradient"'
DENSE_SUM = (
    "code: torch/include/torch/csrc/autograd/functions/accumulate_grad.h "
    '"sum is not sparse, and we must change the TensorImpl type"'
)
DERIVATIVE = 'docs: torch.autograd.backward "graph of the derivative will be constructed"'
DERIVATIVES = (
    "docs: torch.autograd.backward "
    '"graph of the derivative will be constructed, allowing to compute higher order derivative products"'
)
EMPTY = 'code: torch/autograd/__init__.py "`inputs` argument to `backward()` cannot be empty."'
EXAMPLE = 'docs: torch.Tensor.register_hook "lambda grad: grad * 2) # double the gradient"'
FREED = (
    "https://docs.pytorch.org/tutorials/intermediate/optimizer_step_in_backward_tutorial.html "
    '"freed each gradient very quickly"'
)
FROM_LEAF = 'docs: torch.Tensor.register_hook "v.backward(torch.tensor([1., 2., 3.]))"'
GRAD_DTYPE = 'docs: torch.Tensor.grad_dtype "the autograd engine casts incoming gradients to this dtype"'
INTO_GRAD = 'docs: torch.Tensor.backward "the gradient will be accumulated into ``.grad``"'
IN_ORDER = 'note: autograd.html#backward-hooks-execution "executed in the order in which they are registered"'
LAYOUT = (
    "https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts "
    '"is created with strides matching ``param``"'
)
MARKED = 'docs: torch.utils.hooks.unserializable_hook "suppresses warnings that would otherwise arise"'
NEEDS_GRADIENT = 'docs: torch.Tensor.backward "the function additionally requires specifying a ``gradient``"'
NEVER_REQUIRES = 'docs: torch.Tensor.detach "The result will never require gradient"'
NOT_ACCUMULATED = 'docs: torch.autograd.grad "will be returned (and not accumulated into ``.grad``)"'
OBSERVES = (
    'note: autograd.html#backward-hooks-execution "can observe the modifications to the gradient made by earlier hooks"'
)
OF_ROOT = 'docs: torch.Tensor.backward "the gradient of the differentiated function w.r.t. ``self``"'
OLD_NODE = (
    "note: autograd.html#behavior-of-tensor-hooks-when-tensor-is-modified-in-place "
    '"fire when that Tensor\'s old grad_fn is reached in the graph"'
)
OLD_VERSION = (
    "note: autograd.html#behavior-of-tensor-hooks-when-tensor-is-modified-in-place "
    '"hooks registered before in-place modification similarly receive gradients of the outputs"'
)
OTHERS_IGNORED = 'docs: torch.Tensor.backward "All other tensors will be ignored"'
OVERRIDABLE = 'code: torch/_tensor.py "handle_torch_function(Tensor.register_hook, (self,), self, hook)"'
PASS_NO_GRAD = (
    "docs: torch.Tensor.register_post_accumulate_grad_hook "
    '"this hook runs during the backward pass, it will run in no_grad mode"'
)
POST_ALL = (
    "docs: torch.Tensor.register_post_accumulate_grad_hook "
    '"called after all gradients for a tensor have been accumulated"'
)
POST_LEAF = (
    "docs: torch.Tensor.register_post_accumulate_grad_hook "
    '"operates on the tensor that requires grad and not the grad itself"'
)
POST_LEAVES = (
    'docs: torch.Tensor.register_post_accumulate_grad_hook "Registering this hook on a non-leaf tensor will error!"'
)
POST_MODIFIES = (
    "docs: torch.Tensor.register_post_accumulate_grad_hook "
    '"modify and access its Tensor argument, including its .grad field"'
)
POST_NO_GRAD = (
    'docs: torch.Tensor.register_post_accumulate_grad_hook "it will run in no_grad mode (unless create_graph is True)"'
)
POST_ORDER = (
    "note: autograd.html#backward-hooks-execution "
    '"for leaf Tensors that have ``.grad`` accumulated, post-accumulate-grad hooks are executed"'
)
POST_REMOVES = (
    'docs: torch.Tensor.register_post_accumulate_grad_hook "returns a handle with a method ``handle.remove()``"'
)
POST_SIGNATURE = 'docs: torch.Tensor.register_post_accumulate_grad_hook "hook(param: Tensor) -> None"'
POST_UPDATED = 'docs: torch.Tensor.register_post_accumulate_grad_hook "the .grad field has been updated on that tensor"'
REFUSED = 'code: torch/_tensor.py "cannot register a hook on a tensor that doesn\'t require gradient"'
REMOVES = 'docs: torch.Tensor.register_hook "returns a handle with a method ``handle.remove()``"'
REPLACES = 'docs: torch.Tensor.register_hook "a new gradient which will be used in place of"'
RETAINED_LAST = (
    "code: torch/include/torch/csrc/autograd/node.h "
    '"retains_grad_hook are like tensor_pre_hooks except they are always"'
)
SIGNATURE = 'docs: torch.Tensor.register_hook "hook(grad) -> Tensor or None"'
SPARSE = 'docs: torch.nn.Embedding "gradient w.r.t. :attr:`weight` matrix will be a sparse tensor"'
TRAVERSED = (
    "code: torch/include/torch/csrc/autograd/node.h "
    '"tensor_pre_hook is executed as long as the engine traverses over it"'
)
WARNED_OF = (
    "docs: torch.utils.hooks.unserializable_hook "
    '"would otherwise arise if you attempt to serialize a tensor that has a hook"'
)
