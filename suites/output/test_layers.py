"""Layers that come with torch: which of them call hooks, and which pass a module by."""

import inspect

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

MODULE = "docs: torch.nn.Module"
ENCODER = "docs: torch.nn.TransformerEncoderLayer"
FAST_PATH = "https://github.com/pytorch/pytorch/pull/75809"
#: Not from 1.12 to 2.4.
OUTSIDE = "!=1.12.*,!=1.13.*,!=2.0.*,!=2.1.*,!=2.2.*,!=2.3.*,!=2.4.*"


@clause(
    "output.layers.built_in",
    says="A layer of torch calls its hooks like any module: with its input, and with what the caller gets.",
    source=MODULE,
    readings=(
        Reading("like any", "", "In training and in evaluation.", value=[(True, True)] * 10),
        Reading("never in eval", "never", "In training only.", value=[(True, True)] * 5),
    ),
)
def test_built_in(subject: Subject) -> None:
    import torch

    nn, seen = torch.nn, []
    for training in (True, False):
        for layer in (nn.Linear(2, 2), nn.Dropout(), nn.BatchNorm1d(2), nn.ReLU(), nn.Sequential(nn.Linear(2, 2))):
            x, given = torch.ones(3, 2), []
            layer.register_forward_hook(lambda module, args, output, given=given: given.append((args[0], output)))
            out = layer.train(training)(x)
            seen += [(value is x, result is out) for value, result in given]
    assert seen == subject.value


@clause(
    "output.layers.containers",
    says="Sequential calls its own hooks and its children's; ModuleList and ModuleDict are never called.",
    source=("docs: torch.nn.Sequential", "docs: torch.nn.ModuleList", "docs: torch.nn.ModuleDict"),
    readings=(
        Reading(
            "called or not",
            "",
            "Whoever holds a list calls its elements.",
            value={"Sequential": ["child", "container"], "ModuleList": ["child"], "ModuleDict": ["child"]},
        ),
        Reading(
            "never all alike",
            "never",
            "A container's hooks run with those of its children.",
            value={
                "Sequential": ["child", "container"],
                "ModuleList": ["child", "container"],
                "ModuleDict": ["child", "container"],
            },
        ),
    ),
    covers=("module_forward.call.containers",),
)
def test_containers(subject: Subject) -> None:
    import torch

    class Holder(torch.nn.Module):
        def __init__(self, held):
            super().__init__()
            self.held = held

        def forward(self, x):
            if isinstance(self.held, torch.nn.Sequential):
                return self.held(x)
            return self.held["0" if isinstance(self.held, torch.nn.ModuleDict) else 0](x)

    ran = {}
    for kind in ("Sequential", "ModuleList", "ModuleDict"):
        child, calls = torch.nn.Identity(), []
        held = getattr(torch.nn, kind)(*{"Sequential": [child], "ModuleList": [[child]]}.get(kind, [{"0": child}]))
        child.register_forward_hook(lambda module, args, output, calls=calls: calls.append("child"))
        held.register_forward_hook(lambda module, args, output, calls=calls: calls.append("container"))
        Holder(held)(torch.ones(1))
        ran[kind] = calls
    assert ran == subject.value


@clause(
    "output.layers.own_call",
    says="A class with its own __call__ runs no hooks; a forward that is set on an instance runs with them.",
    source=("measured", MODULE),
    readings=(
        Reading("hooks are in __call__", "", "Module.__call__ is what runs them.", value=(["x", "x"], ["instance"])),
        Reading(
            "never elsewhere",
            "never",
            "Hooks run however forward is reached.",
            value=(["x", "x"], ["call", "instance"]),
        ),
    ),
    covers=("module_forward.call.call_override", "module_forward.call.instance_forward"),
)
def test_own_call(subject: Subject) -> None:
    import torch

    class Short(torch.nn.Identity):
        def __call__(self, x):
            return self.forward(x)

    calls, short, module = [], Short(), torch.nn.Identity()
    short.register_forward_hook(lambda module, args, output: calls.append("call"))
    module.register_forward_hook(lambda module, args, output: calls.append("instance"))
    module.forward = lambda x: x
    assert ([short("x"), module("x")], calls) == subject.value


@clause(
    "output.layers.called_by_a_hook",
    says="A hook may call forward of its module; calling the module runs the hook again, and so on.",
    source="measured",
    readings=(
        Reading("again and again", "", "Nothing stops the recursion but Python.", value=("xff", 1, "RecursionError")),
        Reading("never again", "never", "A hook does not run inside itself.", value=("xff", 1, "none")),
    ),
    covers=("module_forward.call.reentrant", "module_forward.call.infinite_recursion"),
)
def test_called_by_a_hook(subject: Subject) -> None:
    import torch

    class Marks(torch.nn.Module):
        def forward(self, x):
            return x + "f"

    calls, module, endless, raised = [], Marks(), Marks(), "none"

    def once(module, args, output):
        calls.append(output)
        return module.forward(output)

    module.register_forward_hook(once)
    endless.register_forward_hook(lambda module, args, output: module("x"))
    out = module("x")
    try:
        endless("x")
    except RecursionError as error:
        raised = type(error).__name__
    assert (out, len(calls), raised) == subject.value


@clause(
    "output.layers.attention",
    says="The hooks of MultiheadAttention run, those of its out_proj never: only its weight is used.",
    source="measured",
    readings=(
        Reading("passed by", "", "The projection is a function call on the weight.", value=["attention"]),
        Reading("never both", "never", "The projection is called like a module.", value=["projection", "attention"]),
    ),
    covers=("module_forward.call.mha_out_proj",),
)
def test_attention(subject: Subject) -> None:
    import torch

    calls, attention, x = [], torch.nn.MultiheadAttention(2, 1), torch.ones(1, 1, 2)
    attention.register_forward_hook(lambda module, args, output: calls.append("attention"))
    attention.out_proj.register_forward_hook(lambda module, args, output: calls.append("projection"))
    attention(x, x, x)
    assert calls == subject.value


def encode():
    """An encoder layer in evaluation and a function that calls it under no_grad, where the fast path may be taken."""
    import torch

    known = inspect.signature(torch.nn.TransformerEncoderLayer).parameters
    options = {"batch_first": True} if "batch_first" in known else {}
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, **options).eval()

    def call():
        with torch.no_grad():
            layer(torch.ones(1, 2, 4))

    return layer, call


@clause(
    "output.layers.fast_path",
    says="In TransformerEncoderLayer a hook on a part keeps the fast path away, so that the hook runs.",
    source=(ENCODER, FAST_PATH, "https://github.com/pytorch/pytorch/pull/128415"),
    readings=(
        Reading("kept away", OUTSIDE, "Before 1.12 there was no fast path.", value=["pre", "post"]),
        Reading("passed by", ">=1.12,<2.5", "The fast path calls no part: the hooks are silent.", value=[]),
        Reading("never the pre-hook", "never", "Only a forward hook keeps it away.", value=["post"]),
    ),
    covers=("module_forward.call.encoder_fastpath", "module_forward.call.encoder_fastpath_pre"),
)
def test_fast_path(subject: Subject) -> None:
    calls = []
    for kind, name in (("forward_pre", "pre"), ("forward", "post")):
        layer, call = encode()
        register = getattr(layer.linear1, f"register_{kind}_hook")
        register(lambda *given, name=name: calls.append(name))
        call()
    assert calls == subject.value


@clause(
    "output.layers.fast_path_global",
    says="A global hook does not keep TransformerEncoderLayer from its fast path: no part is called.",
    source=("docs: torch.nn.modules.module.register_module_forward_hook", FAST_PATH),
    needs="torch.nn.modules.module.register_module_forward_hook",
    readings=(
        Reading("passed by", ">=1.12", "Only the layer itself is seen.", value=False),
        Reading("no fast path", "<1.12", "Every part is called.", value=True),
    ),
    covers=("module_forward.call.encoder_fastpath_global",),
    note="On the fast path forward of a part does not run, so no hook is due; hooks on a part are heeded since 2.5.",
)
def test_fast_path_global(subject: Subject) -> None:
    from torch.nn.modules.module import register_module_forward_hook

    seen = []
    layer, call = encode()
    with register_module_forward_hook(lambda module, args, output: seen.append(module)):
        call()
    assert any(module is layer.linear1 for module in seen) == subject.value
