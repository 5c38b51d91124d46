"""Census entries that no clause covers, and why: the key is an id of `census.json`, or a prefix that ends in `*`."""

from typing import Dict

STATE = "another surface: hooks of saving and loading state dicts"
OPTIMIZER = "another surface: hooks of optimizers"
REGISTRATION = "another surface: hooks of registering modules, parameters and buffers"

REASONS: Dict[str, str] = {
    "module_forward.always.warning_location": "where a warning points, not what a hook does",
    "module_forward.api.module_call_impl": "name of a private function",
    "module_forward.api.nn.*state_dict*": STATE,
    "module_forward.api.nn.*registration_hook": REGISTRATION,
    "module_forward.api.optim.*": OPTIMIZER,
    "module_forward.handle.getstate_len": "length of a private state tuple",
    "module_forward.lsd.*": STATE,
    "module_forward.opt.*": OPTIMIZER,
    "module_forward.osd.*": OPTIMIZER,
    "module_forward.reg.*": REGISTRATION,
    "module_forward.sd.*": STATE,
    "graph.accgrad.*": "another surface: hooks of nodes (here of the node that accumulates)",
    "graph.anomaly.*": "another surface: anomaly mode",
    "graph.api.backward": "another surface: hooks of nodes",
    "graph.api.docs_backward_executes_input_nodes": "another surface: hooks of nodes",
    "graph.api.func*": "another surface: the transforms of torch.func and torch.autograd.functional",
    "graph.api.grad_edge_ownership_token_hook_count": "another surface: gradient edges",
    "graph.api.grad_other_leaf_hooks_and_gi": "another surface: hooks of nodes",
    "graph.cb.*": "another surface: callbacks queued on the engine",
    "graph.creation.*": "another surface: hooks on the creation of nodes",
    "graph.edge.*": "another surface: gradient edges",
    "graph.fn.*": "another surface: contexts and nodes of custom Functions",
    "graph.full.*": "module_backward.* once more: the chapter backward answers it there",
    "graph.leak.*": "a performance or memory matter",
    "graph.legacy.*": "which operation made the node that a legacy hook sits on",
    "graph.mode.*": "another surface: modes of execution (autocast, inference mode)",
    "graph.multi.*": "another surface: hooks on several gradients",
    "graph.node.*": "another surface: hooks of nodes",
    "graph.order.all_kinds_on_root": "another surface: hooks of nodes",
    "graph.order.capture_vs_*": "another surface: hooks of nodes",
    "graph.order.chain_of_three": "another surface: hooks of nodes",
    "graph.order.inplace_node_hook_stays": "another surface: hooks of nodes",
    "graph.order.postacc_se*": "another surface: hooks of nodes (beside post-accumulate hooks)",
    "graph.reent.checkpoint_nonreentrant_order": "another surface: checkpointing",
    "graph.reent.graph_task_id": "a private number of the engine",
    "graph.reent.thread_of_deep_hooks": "another surface: the engine's threads for deep nesting",
    "graph.saved.*": "another surface: hooks of saved tensors",
    "tensor.multi.*": "another surface: hooks on several gradients",
    "tensor.node.*": "another surface: hooks of nodes",
    "tensor.ret.numpy": "needs numpy, which the suite does without; one more object that is no tensor",
}
