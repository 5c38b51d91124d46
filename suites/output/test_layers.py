"""Layers that come with torch: which of them call hooks, and which pass a module by."""

import inspect

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

MODULE = "docs: torch.nn.Module"
ENCODER = "docs: torch.nn.TransformerEncoderLayer"
FAST_PATH = "https://github.com/pytorch/pytorch/pull/75809"
#: Not from 1.12 to 2.4.
OUTSIDE = "!=1.12.*,!=1.13.*,!=2.0.*,!=2.1.*,!=2.2.*,!=2.3.*,!=2.4.*"
FEW = st.integers(1, 3)
#: Some hooks, each a forward pre-hook (True) or a forward hook.
PRE_OR_NOT = st.lists(st.booleans(), min_size=1, max_size=4)


def hook_up(module, pres, ran, name):
    """Have hooks on a module put (name, number) into `ran`; return that in the order in which they are due."""
    for number, pre in enumerate(pres):
        register = module.register_forward_pre_hook if pre else module.register_forward_hook
        register(lambda *given, number=number: ran.append((name, number)))
    return [(name, number) for wanted in (True, False) for number, pre in enumerate(pres) if pre == wanted]


@clause(
    "output.layers.built_in",
    says="A layer of torch calls its hooks like any module: with its input, and with what the caller gets.",
    source=MODULE,
    readings=(
        Reading("like any", "", "In training and in evaluation.", value=(True, False)),
        Reading("never in eval", "never", "In training only.", value=(True,)),
    ),
    witness={"names": ["Linear"], "states": [False], "count": 1},
)
@given(
    names=st.lists(
        st.sampled_from(["Linear", "Dropout", "BatchNorm1d", "ReLU", "Softmax", "LayerNorm", "Flatten", "Bilinear"]),
        min_size=1,
        max_size=3,
    ),
    states=st.lists(st.booleans(), min_size=1, max_size=3),
    count=FEW,
)
def test_built_in(subject: Subject, names, states, count) -> None:
    import torch

    class Layer(torch.nn.Sequential):
        def forward(self, x):
            given_to_layers.append(x)
            for layer in self:
                x = layer(x, x) if isinstance(layer, torch.nn.Bilinear) else layer(x)
                given_to_layers.append(x)
            return x

    options = {"Bilinear": (2, 2, 2), "Linear": (2, 2), "BatchNorm1d": (2,), "LayerNorm": (2,), "Softmax": (1,)}
    given_to_layers, ran = [], []
    net = Layer(*(getattr(torch.nn, name)(*options.get(name, ())) for name in names))
    for layer in net:
        for _ in range(count):
            layer.register_forward_hook(lambda module, args, output: ran.append((args, output)))
    for training in states:
        given_to_layers.clear()
        ran.clear()
        net.train(training)(torch.ones(3, 2))
        due = [pair for pair in zip(given_to_layers, given_to_layers[1:]) for _ in range(count)]
        assert len(ran) == (len(due) if training in subject.value else 0)
        for (args, output), (x, out) in zip(ran, due):
            assert all(arg is x for arg in args)
            assert output is out


@clause(
    "output.layers.containers",
    says="Sequential calls its own hooks and its children's; ModuleList and ModuleDict are never called.",
    source=("docs: torch.nn.Sequential", "docs: torch.nn.ModuleList", "docs: torch.nn.ModuleDict"),
    readings=(
        Reading("called or not", "", "Whoever holds a list calls its elements.", value=("Sequential",)),
        Reading(
            "never all alike",
            "never",
            "A container's hooks run with those of its children.",
            value=("Sequential", "ModuleList", "ModuleDict"),
        ),
    ),
    witness={"kind": "ModuleList", "size": 1, "own": [False], "inner": [False]},
    covers=("module_forward.call.containers",),
)
@given(kind=st.sampled_from(["Sequential", "ModuleList", "ModuleDict"]), size=FEW, own=PRE_OR_NOT, inner=PRE_OR_NOT)
def test_containers(subject: Subject, kind, size, own, inner) -> None:
    import torch

    class Holder(torch.nn.Module):
        def __init__(self, held):
            super().__init__()
            self.held = held

        def forward(self, x):
            if kind == "Sequential":
                return self.held(x)
            for child in self.held.values() if kind == "ModuleDict" else self.held:
                x = child(x)
            return x

    children, ran, due = [torch.nn.Identity() for _ in range(size)], [], []
    for number, child in enumerate(children):
        due += hook_up(child, inner, ran, number)
    named = {str(number): child for number, child in enumerate(children)}
    held = (
        torch.nn.Sequential(*children)
        if kind == "Sequential"
        else getattr(torch.nn, kind)(named if kind == "ModuleDict" else children)
    )
    around = hook_up(held, own, ran, "container")
    Holder(held)("x")
    if kind in subject.value:
        due = around[: sum(own)] + due + around[sum(own) :]
    assert ran == due


@clause(
    "output.layers.own_call",
    says="A class with its own __call__ runs no hooks; a forward that is set on an instance runs with them.",
    source=("measured", MODULE),
    readings=(
        Reading("hooks are in __call__", "", "Module.__call__ is what runs them.", value=("instance", "class")),
        Reading(
            "never elsewhere", "never", "Hooks run however forward is reached.", value=("call", "instance", "class")
        ),
    ),
    witness={"ways": ["call"], "pres": [False], "calls": 1},
    covers=("module_forward.call.call_override", "module_forward.call.instance_forward"),
)
@given(
    ways=st.lists(st.sampled_from(["call", "instance", "class"]), min_size=1, max_size=3, unique=True),
    pres=PRE_OR_NOT,
    calls=FEW,
)
def test_own_call(subject: Subject, ways, pres, calls) -> None:
    import torch

    class Own(torch.nn.Identity):
        pass

    ran, module = [], Own()
    due = hook_up(module, pres, ran, "h")
    if "call" in ways:
        Own.__call__ = lambda self, x: self.forward(x)
    if "class" in ways:
        Own.forward = lambda self, x: x + "c"
    if "instance" in ways:
        module.forward = lambda x: x + "i"
    expected = "xi" if "instance" in ways else "xc" if "class" in ways else "x"
    assert [module("x") for _ in range(calls)] == [expected] * calls
    assert ran == (due * calls if set(ways) <= set(subject.value) else [])


@clause(
    "output.layers.called_by_a_hook",
    says="A hook may call forward of its module; calling the module runs the hook again, and so on.",
    source="measured",
    readings=(
        Reading("again and again", "", "Nothing stops the recursion but Python.", value=True),
        Reading("never again", "never", "A hook does not run inside itself.", value=False),
    ),
    witness={"most": 2, "by_forward": False, "pres": 0},
    covers=("module_forward.call.reentrant", "module_forward.call.infinite_recursion"),
)
@given(most=st.sampled_from([0, 1, 2, 3, 4, 10**6]), by_forward=st.booleans(), pres=st.integers(0, 2))
def test_called_by_a_hook(subject: Subject, most, by_forward, pres) -> None:
    import torch

    class Marks(torch.nn.Module):
        def forward(self, x):
            return x + "f"

    ran, module = [], Marks()

    def hook(module, args, output):
        if ran.count("hook") == most:
            return None
        ran.append("hook")
        return (module.forward if by_forward else module)(output)

    for _ in range(pres):
        module.register_forward_pre_hook(lambda module, args: ran.append("pre"))
    module.register_forward_hook(hook)
    try:
        ran.append(module("x"))
    except RecursionError as error:
        assert (most, by_forward, subject.value) == (10**6, False, True)
        ran = [type(error).__name__]
    times = min(most, 1) if by_forward or not subject.value else most
    through = ["pre"] * pres + ["hook"]
    if by_forward:
        due = through[: pres + times] + ["x" + "f" * (times + 1)]
    elif times == 10**6:
        due = ["RecursionError"]
    else:
        due = through * times + ["pre"] * pres + ["x" + "f" * (times + 1)]
    assert ran == due


@clause(
    "output.layers.attention",
    says="The hooks of MultiheadAttention run, those of its out_proj never: only its weight is used.",
    source="measured",
    readings=(
        Reading("passed by", "", "The projection is a function call on the weight.", value=False),
        Reading("never both", "never", "The projection is called like a module.", value=True),
    ),
    witness={"heads": 1, "size": (1, 1), "training": True, "own": [False], "inner": [False]},
    covers=("module_forward.call.mha_out_proj",),
)
@given(heads=FEW, size=st.tuples(FEW, FEW), training=st.booleans(), own=PRE_OR_NOT, inner=PRE_OR_NOT)
def test_attention(subject: Subject, heads, size, training, own, inner) -> None:
    import torch

    attention, ran, x = torch.nn.MultiheadAttention(2 * heads, heads).train(training), [], torch.ones(*size, 2 * heads)
    around = hook_up(attention, own, ran, "attention")
    inside = hook_up(attention.out_proj, inner, ran, "projection")
    attention(x, x, x)
    assert ran == around[: sum(own)] + (inside if subject.value else []) + around[sum(own) :]


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


#: The modules of an encoder layer that it calls in evaluation, in this order.
PARTS = ("self_attn", "dropout1", "norm1", "linear1", "dropout", "linear2", "dropout2", "norm2")


@clause(
    "output.layers.fast_path",
    says="In TransformerEncoderLayer a hook on any part keeps the fast path away, so that the hooks run.",
    source=(ENCODER, FAST_PATH, "https://github.com/pytorch/pytorch/issues/128413"),
    readings=(
        Reading("kept away", OUTSIDE, "Before 1.12 there was no fast path.", value=("pre", "post")),
        Reading("passed by", ">=1.12,<2.5", "The fast path calls no part: the hooks are silent.", value=()),
        Reading("never the pre-hook", "never", "Only a forward hook keeps it away.", value=("post",)),
    ),
    witness={"hooks": [("linear1", "pre"), ("linear1", "post")]},
    covers=("module_forward.call.encoder_fastpath", "module_forward.call.encoder_fastpath_pre"),
)
@given(hooks=st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(["pre", "post"])), min_size=1, max_size=3))
def test_fast_path(subject: Subject, hooks) -> None:
    ran, (layer, call) = [], encode()
    for name, kind in hooks:
        part = getattr(layer, name)
        register = part.register_forward_pre_hook if kind == "pre" else part.register_forward_hook
        register(lambda *given, name=name, kind=kind: ran.append((name, kind)))
    call()
    due = sorted(hooks, key=lambda hook: (PARTS.index(hook[0]), hook[1] == "post"))
    assert ran == [hook for hook in due if hook[1] in subject.value]


@clause(
    "output.layers.fast_path_global",
    says="A global hook does not keep TransformerEncoderLayer from its fast path: no part is called.",
    source=("docs: torch.nn.modules.module.register_module_forward_hook", FAST_PATH),
    needs="torch.nn.modules.module.register_module_forward_hook",
    readings=(
        Reading("passed by", ">=1.12", "Only the layer itself is seen.", value=False),
        Reading("no fast path", "<1.12", "Every part is called.", value=True),
    ),
    witness={"kinds": ["forward"]},
    covers=("module_forward.call.encoder_fastpath_global",),
    note="On the fast path forward of a part does not run, so no hook is due; hooks on a part are heeded since 2.5.",
)
@given(kinds=st.lists(st.sampled_from(["forward_pre", "forward"]), min_size=1, max_size=3))
def test_fast_path_global(subject: Subject, kinds) -> None:
    from torch.nn.modules import module

    seen, (layer, call) = [], encode()
    handles = [
        getattr(module, f"register_module_{kind}_hook")(lambda one, *given, number=number: seen.append((number, one)))
        for number, kind in enumerate(kinds)
    ]
    call()
    for handle in handles:
        handle.remove()
    for number in range(len(kinds)):
        called = [module for one, module in seen if one == number]
        assert layer in called
        assert [getattr(layer, name) in called for name in PARTS] == [subject.value] * len(PARTS)
