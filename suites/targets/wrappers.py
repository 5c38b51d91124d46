"""Wrappers of other packages, for the targets that are recorded: each is given a network and returns what is called."""

from typing import Any


def aligned(net: Any) -> Any:
    """accelerate's hook on every module, which moves what comes in to a device: here, to the same one."""
    from accelerate.hooks import AlignDevicesHook, add_hook_to_module  # pyright: ignore[reportMissingImports]

    for module in net.modules():
        if not hasattr(module, "_hf_hook"):
            add_hook_to_module(module, AlignDevicesHook(execution_device="cpu", io_same_device=True))
    return net
