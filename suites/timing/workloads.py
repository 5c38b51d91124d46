"""The work that hooks are put on: modules from nothing to much, and a pass through them."""

from typing import Any, Callable, Dict, Tuple

import torch


class Empty(torch.nn.Module):
    """A module that does nothing: what remains is the call itself."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


#: How to make each module, and the shape of what goes in and comes out.
WORKLOADS: Dict[str, Tuple[Callable[[], torch.nn.Module], Tuple[int, int]]] = {
    "empty": (Empty, (4, 16)),
    "small": (lambda: torch.nn.Linear(16, 16), (4, 16)),
    "large": (lambda: torch.nn.Linear(256, 256), (64, 256)),
}


class Pass:
    """One module with its input, and what is done with it: forward and backward, a step, state dicts, registration."""

    def __init__(self, workload: str) -> None:
        make, self.shape = WORKLOADS[workload]
        self.module = make()
        self.input, self.grad = torch.ones(self.shape), torch.ones(self.shape)
        self.renew_leaves()
        self.made: Any = None
        self.saved: Any = None
        self.parameter, self.child = torch.nn.Parameter(torch.ones(self.shape)), Empty()

    def renew_leaves(self) -> None:
        """Take leaves on which no hook has ever been: torch keeps something of one that was removed."""
        self.leaf, self.other = (torch.ones(self.shape, requires_grad=True) for _ in range(2))

    def forward(self) -> torch.Tensor:
        return self.module(self.input)

    def both(self) -> None:
        """Call the module on a tensor that is no leaf, and go back."""
        self.module(self.leaf * self.other).backward(self.grad)

    def on_leaf(self) -> None:
        """Call the module on a leaf, and go back."""
        self.module(self.leaf).backward(self.grad)

    @property
    def optimizer(self) -> Any:
        """An optimizer of one parameter, made at first use: newer torches load much for it."""
        if self.made is None:
            self.parameter.grad = torch.ones(self.shape)
            self.made = torch.optim.SGD([self.parameter], lr=0.0)
        return self.made

    def step(self) -> None:
        """Take a step that changes nothing."""
        self.optimizer.step()

    def state_dict(self) -> None:
        self.module.state_dict()

    def load(self) -> None:
        """Load what is there already."""
        self.module.load_state_dict(self.kept(self.module))

    def optimizer_state_dict(self) -> None:
        self.optimizer.state_dict()

    def optimizer_load(self) -> None:
        """Load what is there already."""
        self.optimizer.load_state_dict(self.kept(self.optimizer))

    def kept(self, of: Any) -> Any:
        """The state dict of the one thing whose state dict is loaded, made at first use."""
        if self.saved is None:
            self.saved = of.state_dict()
        return self.saved

    def register_parameter(self) -> None:
        """Register a parameter again, under the name that it has."""
        self.module.register_parameter("parameter", self.parameter)

    def register_buffer(self) -> None:
        """Register a buffer again, under the name that it has."""
        self.module.register_buffer("buffer", self.grad)

    def register_module(self) -> None:
        """Register a module again, under the name that it has."""
        self.module.add_module("child", self.child)

    def work(self, name: str) -> Callable[[], Any]:
        """What is counted: the method of this name."""
        return getattr(self, {"leaf": "on_leaf"}.get(name, name))
