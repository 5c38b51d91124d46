"""Every call that registers a hook, each in the smallest program in which torch calls it."""

from contextlib import ExitStack, contextmanager
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence

from fixtures.stages.make import make


class Door(NamedTuple):
    """A way to register: on what, by which call, what then calls the hook, and what the hook's result may replace."""

    owner: str
    method: str
    event: str
    #: The place of it in what the hook is given.
    place: int = 0


DOORS: Dict[str, Door] = {
    "forward_pre": Door("module", "register_forward_pre_hook", "call", 1),
    "forward": Door("module", "register_forward_hook", "call", 2),
    "global_forward_pre": Door("everywhere", "register_module_forward_pre_hook", "call", 1),
    "global_forward": Door("everywhere", "register_module_forward_hook", "call", 2),
    "backward": Door("module", "register_backward_hook", "pass", 1),
    "full_backward": Door("module", "register_full_backward_hook", "pass", 1),
    "full_backward_pre": Door("module", "register_full_backward_pre_hook", "pass", 1),
    "leaf": Door("x", "register_hook", "pass"),
    "tensor": Door("output", "register_hook", "pass"),
    "node": Door("node", "register_hook", "pass"),
    "node_pre": Door("node", "register_prehook", "pass"),
    "accumulated": Door("weight", "register_post_accumulate_grad_hook", "pass"),
    "all": Door("graph", "register_multi_grad_hook", "pass"),
    "pack": Door("graph", "saved_tensors_hooks", "pass"),
    "unpack": Door("graph", "saved_tensors_hooks", "pass"),
    "step_pre": Door("optimizer", "register_step_pre_hook", "step"),
    "step_post": Door("optimizer", "register_step_post_hook", "step"),
    "save_pre": Door("module", "register_state_dict_pre_hook", "save"),
    "save_post": Door("module", "register_state_dict_post_hook", "save"),
    "load_pre": Door("module", "register_load_state_dict_pre_hook", "load"),
    "load_post": Door("module", "register_load_state_dict_post_hook", "load"),
    "optimizer_save_pre": Door("optimizer", "register_state_dict_pre_hook", "optimizer_save"),
    "optimizer_save_post": Door("optimizer", "register_state_dict_post_hook", "optimizer_save"),
    "optimizer_load_pre": Door("optimizer", "register_load_state_dict_pre_hook", "optimizer_load"),
    "optimizer_load_post": Door("optimizer", "register_load_state_dict_post_hook", "optimizer_load"),
    "parameter": Door("everywhere", "register_module_parameter_registration_hook", "build"),
    "buffer": Door("everywhere", "register_module_buffer_registration_hook", "build"),
    "child": Door("everywhere", "register_module_module_registration_hook", "build"),
}
#: Those whose result takes the place of an output, of an input, of a gradient.
OF_OUTPUT, OF_INPUT = ("forward", "global_forward"), ("forward_pre", "global_forward_pre")
OF_GRADIENT = ("backward", "full_backward", "full_backward_pre", "leaf", "tensor", "node", "node_pre")
#: Those whose result torch does not look at.
UNSEEN = ("all", "step_post", "save_pre", "load_pre", "optimizer_save_pre", "optimizer_load_post")


class Scene:
    """A module, its optimizer and a leaf x; `registered` is True once torch has taken the hook."""

    def __init__(self) -> None:
        import torch

        class Times(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.weight = torch.nn.Parameter(make.ones(()))

            def forward(self, x: Any) -> Any:
                return x * self.weight if torch.is_tensor(x) else x

        self.registered = False
        self.module, self.x = Times(), make.ones((), requires_grad=True)
        self.weight, self.everywhere = self.module.weight, torch.nn.modules.module
        self.graph = getattr(torch.autograd, "graph", None)
        self.optimizer = torch.optim.SGD([self.weight], lr=1.0)
        self.output = self.x * self.weight
        self.node = self.output.grad_fn
        self.saved, self.optimizer_saved = self.module.state_dict(), self.optimizer.state_dict()

    @contextmanager
    def registering(self, name: str, hook: Any) -> Iterator[None]:
        """A hook is registered, and removed at the end."""
        door = DOORS[name]
        register = getattr(getattr(self, door.owner), door.method)
        if name in ("pack", "unpack"):
            both = (hook, lambda kept: kept) if name == "pack" else (lambda tensor: tensor.detach(), hook)
            with register(*both):
                self.registered = True
                yield
            return
        handle = register((self.output, self.weight), hook) if name == "all" else register(hook)
        self.registered = True
        try:
            yield
        finally:
            handle.remove()

    # --- what calls hooks: each gives what torch goes on with ---

    def call(self, value: Any) -> Any:
        return self.module(value)

    def step(self, value: Any) -> None:
        self.optimizer.step()

    def save(self, value: Any) -> Any:
        return self.module.state_dict()

    def load(self, value: Any) -> None:
        self.module.load_state_dict(self.saved)

    def optimizer_save(self, value: Any) -> Any:
        return self.optimizer.state_dict()

    def optimizer_load(self, value: Any) -> None:
        self.optimizer.load_state_dict(self.optimizer_saved)

    def build(self, value: Any) -> Any:
        import torch

        module = torch.nn.Module()
        module.register_buffer("buffer", make.ones(()))
        module.weight, module.child = torch.nn.Parameter(make.ones(())), torch.nn.Module()
        return module

    def backward(self, name: str, hook: Any, value: Any) -> Any:
        """A pass with the gradient `value`; hooks of what forward makes are registered behind it."""
        self.x.grad = None
        later = DOORS[name].owner in ("output", "node") or name == "all"
        with ExitStack() as stack:
            if not later:
                stack.enter_context(self.registering(name, hook))
            self.output = self.module(self.x)
            self.node = self.output.grad_fn
            if later:
                stack.enter_context(self.registering(name, hook))
            self.output.backward(make.tensor(float(value)))
        return self.x.grad

    def play(self, name: str, hook: Any, values: Sequence[Any]) -> List[Any]:
        """Let a hook be called with each of these values; return what torch goes on with."""
        event = DOORS[name].event
        if event == "pass":
            return [self.backward(name, hook, value) for value in values]
        with self.registering(name, hook):
            return [getattr(self, event)(value) for value in values]


def here(names: Sequence[str]) -> List[str]:
    """Those of some calls that this torch has."""
    scene = Scene()
    return [name for name in names if hasattr(getattr(scene, DOORS[name].owner), DOORS[name].method)]


def goes_on(name: str, hook: Any, values: Sequence[Any] = (1,)) -> List[Any]:
    """What torch goes on with after each call of a hook: an output, a gradient, a state dict, a module."""
    return Scene().play(name, hook, values)


def ends(name: str, hook: Any) -> str:
    """Where a program with a hook ends: "refused" where it is registered, an error where it is called, or "goes on"."""
    scene = Scene()
    try:
        scene.play(name, hook, (1,))
    except (TypeError, RuntimeError, AssertionError, AttributeError) as error:
        return type(error).__name__ if scene.registered else "refused"
    return "goes on"
