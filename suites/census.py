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
}
