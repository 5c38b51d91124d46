"""Layers that come with torch: which of them call hooks, and which pass a module by."""

import inspect

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.hooking import PRE_OR_NOT, SOME, in_turn, kinds_of, result
from suites.names import FORWARD, GLOBAL_FORWARD, NOTE

ABOUT = ("register_forward_hook", "register_forward_pre_hook")

FAST_PATH = "https://github.com/pytorch/pytorch/pull/75809"
#: Not from 1.12 to 2.4.
OUTSIDE = "!=1.12.*,!=1.13.*,!=2.0.*,!=2.1.*,!=2.2.*,!=2.3.*,!=2.4.*"
LAYERS = ("Linear", "Dropout", "BatchNorm1d", "ReLU", "Softmax", "LayerNorm", "Flatten", "Bilinear")
#: More calls than Python makes inside one another.
ENDLESS = 10**6
#: False three times out of four.
RARELY = st.sampled_from((False, False, False, True))


def hook_up(module, pres, ran, name):
    """Have hooks on a module put (name, number) into `ran`; return that in the order in which they are due."""
    for number, kind in enumerate(kinds_of(pres)):
        getattr(module, f"register_{kind}_hook")(lambda *given, number=number: ran.append((name, number)))
    return [(name, number) for number in in_turn(kinds_of(pres))]


@clause(
    "output.layers.built_in",
    says="A call of Linear, Bilinear, Dropout, BatchNorm1d, LayerNorm, ReLU, Softmax, Flatten runs its forward hooks.",
    where="the call succeeds",
    source=f'{NOTE} "this functionality can be applied to third-party or PyTorch-provided modules"',
    asked="do hooks work on standard nn layers conv dropout norm activation functions extract features from relu",
    about="register_forward_hook",
    value=(True, False),
    wrong={"never in eval": (True,)},
    witness={"names": ["Linear"], "states": [False], "count": 1},
)
@given(
    names=st.lists(st.sampled_from(LAYERS), min_size=1, max_size=3),
    states=st.lists(st.booleans(), min_size=1, max_size=3),
    count=SOME,
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
    net = Layer(*(getattr(make, name)(*options.get(name, ())) for name in names))
    for layer in net:
        for _ in range(count):
            layer.register_forward_hook(lambda module, args, output: ran.append((args, output)))
    for training in states:
        given_to_layers.clear()
        ran.clear()
        net.train(training)(make.ones(3, 2))
        due = [pair for pair in zip(given_to_layers, given_to_layers[1:]) for _ in range(count)]
        assert len(ran) == (len(due) if training in subject.value else 0)
        for (args, output), (x, out) in zip(ran, due):
            assert all(arg is x for arg in args)
            assert output is out


@clause(
    "output.layers.containers",
    says="A loop over a ModuleList or ModuleDict runs none of its own forward hooks; a call of a Sequential does.",
    source="measured",
    asked="hook on nn.modulelist blocks never called nothing happens "
    "transformer layers list iterate ModuleList ModuleDict hook uncalled",
    device="none",
    value=("Sequential",),
    wrong={"never all alike": ("Sequential", "ModuleList", "ModuleDict")},
    witness={"kind": "ModuleList", "size": 1, "own": [False], "inner": [False]},
)
@given(kind=st.sampled_from(["Sequential", "ModuleList", "ModuleDict"]), size=SOME, own=PRE_OR_NOT, inner=PRE_OR_NOT)
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
    given_as = {"Sequential": children, "ModuleList": [children], "ModuleDict": [named]}[kind]
    held = getattr(torch.nn, kind)(*given_as)
    around = hook_up(held, own, ran, "container")
    Holder(held)("x")
    if kind in subject.value:
        due = around[: sum(own)] + due + around[sum(own) :]
    assert ran == due


@clause(
    "output.layers.own_call",
    says="Forward hooks run if forward is replaced, not if the class's __call__ only returns self.forward(x).",
    source="measured",
    asked="monkey patch layer forward do hooks still work overriding dunder call breaks hooks never triggered",
    device="none",
    value=("torch's", "super"),
    wrong={"all alike": ("torch's", "super", "forward"), "only without an own __call__": ("torch's",)},
    witness={"called_by": ["forward", "super"], "replaced": [], "pres": [False], "calls": 1},
)
@given(
    called_by=st.lists(st.sampled_from(["torch's", "super", "forward"]), min_size=1, max_size=3),
    replaced=st.lists(st.sampled_from(["instance", "class"]), max_size=2, unique=True),
    pres=PRE_OR_NOT,
    calls=SOME,
)
def test_own_call(subject: Subject, called_by, replaced, pres, calls) -> None:
    import torch

    class Plain(torch.nn.Identity):
        """Its __call__ is that of torch."""

    class CallsSuper(Plain):
        def __call__(self, x):
            return super().__call__(x)

    class CallsForward(Plain):
        def __call__(self, x):
            return self.forward(x)

    classes = {"torch's": Plain, "super": CallsSuper, "forward": CallsForward}
    output = "x"
    if "class" in replaced:
        Plain.forward = lambda self, x: "of the class"
        output = "of the class"
    for call in called_by:
        ran, module = [], classes[call]()
        if "instance" in replaced:
            module.forward = lambda x: "of the instance"
            output = "of the instance"
        due = hook_up(module, pres, ran, "h")
        assert [module("x") for _ in range(calls)] == [output] * calls
        assert ran == (due * calls if call in subject.value else [])


@clause(
    "output.layers.called_by_a_hook",
    says="A forward hook that calls its module is run again by that call; one that calls module.forward() is not.",
    where="the hook is not removed",
    source="measured",
    asked="recursionerror maximum recursion depth exceeded inside "
    "hook when running layer again infinite loop how avoid",
    device="none",
    value=True,
    wrong={"never again": False},
    witness={"most": 2, "by_forward": False, "pres": 0},
)
@given(most=st.sampled_from([0, 1, 2, 3, 4, ENDLESS]), by_forward=st.booleans(), pres=st.integers(0, 2))
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
    output = result(lambda: module("x"), RecursionError)
    again = subject.value and not by_forward
    inner = most if again else min(most, 1)  # calls that the hook makes
    if inner == ENDLESS:
        assert output == "RecursionError"
        return
    pre_hooks = ["pre"] * pres
    assert output == "xf" + "f" * inner
    assert ran == pre_hooks + (["hook"] if by_forward else ["hook", *pre_hooks]) * inner


@clause(
    "output.layers.attention",
    says="A call of MultiheadAttention runs its own forward hooks and pre-hooks, never those of its out_proj.",
    source="measured",
    asked="nn.multiheadattention out projection hook never called lora adapter capture "
    "fails f.multi_head_attention_forward MultiheadAttention out_proj hook uncalled",
    value=False,
    wrong={"never both": True},
    witness={"heads": 1, "size": (1, 1), "training": True, "own": [False], "inner": [False]},
)
@given(heads=SOME, size=st.tuples(SOME, SOME), training=st.booleans(), own=PRE_OR_NOT, inner=PRE_OR_NOT)
def test_attention(subject: Subject, heads, size, training, own, inner) -> None:

    attention, ran, x = make.MultiheadAttention(2 * heads, heads).train(training), [], make.ones(*size, 2 * heads)
    around = hook_up(attention, own, ran, "attention")
    inside = hook_up(attention.out_proj, inner, ran, "projection")
    attention(x, x, x)
    assert ran == around[: sum(own)] + (inside if subject.value else []) + around[sum(own) :]


def encode(training: bool = False, grad: bool = False):
    """An encoder layer and a function that calls it; in evaluation under no_grad the fast path may be taken."""
    import torch

    known = inspect.signature(torch.nn.TransformerEncoderLayer).parameters
    options = {"batch_first": True} if "batch_first" in known else {}
    layer = make.TransformerEncoderLayer(4, 2, 8, **options).train(training)

    def call():
        with torch.set_grad_enabled(grad):
            layer(make.ones(1, 2, 4))

    return layer, call


#: The modules of an encoder layer that it calls, in this order.
PARTS = ("self_attn", "dropout1", "norm1", "linear1", "dropout", "linear2", "dropout2", "norm2")
#: One more that is never called: attention uses its weight alone.
OUT_PROJ = "self_attn.out_proj"


@clause(
    "output.layers.fast_path",
    says="Forward hooks and pre-hooks on parts of TransformerEncoderLayer, except out_proj, run in eval under no_grad.",
    source=(
        'code: torch/nn/modules/transformer.py "forward pre-/hooks are attached to the module"',
        FAST_PATH,
        "https://github.com/pytorch/pytorch/pull/128415",
    ),
    asked="do hooks on self_attn linear1 norm1 work at inference encoder bettertransformer "
    "disabled capture attention forward hook uncalled eval TransformerEncoder",
    matters_if="forward|forward_pre own encoder_part",
    instead="call the model with gradients enabled.",
    readings=(
        Reading(
            "hooks run",
            OUTSIDE,
            "Forward hooks and pre-hooks on parts of TransformerEncoderLayer, except out_proj, run in every mode.",
            value=FORWARD,
        ),
        Reading(
            "hooks silent on the fast path",
            ">=1.12,<2.5",
            "On TransformerEncoderLayer's fast path (batch_first, eval, no_grad) no forward hook of its parts runs.",
            value=(),
            says_the_same=False,
            effect="silent",
        ),
        Reading("never the pre-hook", "never", "Only a forward hook keeps the fast path away.", value=("forward",)),
    ),
    witness={"hooks": [("linear1", "forward_pre"), ("linear1", "forward")], "training": False, "grad": False},
)
@given(
    hooks=st.lists(st.tuples(st.sampled_from((*PARTS, OUT_PROJ)), st.sampled_from(FORWARD)), min_size=1, max_size=3),
    training=RARELY,
    grad=RARELY,
)
def test_fast_path(subject: Subject, hooks, training, grad) -> None:
    ran, (layer, call) = [], encode(training, grad)
    parts = dict(layer.named_modules())
    for name, kind in hooks:
        register = getattr(parts[name], f"register_{kind}_hook")
        register(lambda *given, name=name, kind=kind: ran.append((name, kind)))
    call()
    called = [hook for hook in hooks if hook[0] != OUT_PROJ]
    due = sorted(called, key=lambda hook: (PARTS.index(hook[0]), hook[1] == "forward"))
    assert ran == [hook for hook in due if training or grad or hook[1] in subject.value]


@clause(
    "output.layers.fast_path_global",
    says="On its fast path TransformerEncoderLayer calls none of its parts: global forward hooks see none.",
    where=("batch_first=True, eval, no_grad", "there is no other hook"),
    see=("output.layers.fast_path",),
    source=(FAST_PATH, "measured"),
    asked="register_module_forward_hook misses sublayers of transformer encoder at inference "
    "eval profiler flops count silent bypass forward hook uncalled eval TransformerEncoder",
    level="observed",
    matters_if="forward|forward_pre everywhere ?encoder",
    needs=GLOBAL_FORWARD,
    readings=(
        Reading(
            "no part seen",
            ">=1.12",
            "On TransformerEncoderLayer's fast path global forward hooks run for the layer only.",
            value=False,
        ),
        Reading(
            "every part seen",
            "<1.12",
            "TransformerEncoderLayer has no fast path: global forward hooks see each part it calls, in every mode.",
            value=True,
            says_the_same=False,
            effect="silent",
        ),
    ),
    witness={"kinds": ["forward"], "training": False, "grad": False},
    note="Asked with batch_first=True. The fast path heeds hooks on the parts since 2.5, and global ones never.",
)
@given(kinds=st.lists(st.sampled_from(FORWARD), min_size=1, max_size=3), training=RARELY, grad=RARELY)
def test_fast_path_global(subject: Subject, kinds, training, grad) -> None:
    from torch.nn.modules import module

    seen, (layer, call) = [], encode(training, grad)
    handles = [
        getattr(module, f"register_module_{kind}_hook")(lambda one, *given, number=number: seen.append((number, one)))
        for number, kind in enumerate(kinds)
    ]
    call()
    for handle in handles:
        handle.remove()
    due = [subject.value or training or grad] * len(PARTS)
    for number in range(len(kinds)):
        called = [module for one, module in seen if one == number]
        assert layer in called
        assert [getattr(layer, name) in called for name in PARTS] == due
