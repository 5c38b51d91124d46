"""torch.utils.checkpoint: how often hooks run in its two forms, which of them, and where results are silently wrong."""

import warnings
from typing import Any, Callable, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.hooking import FEW
from suites.modes.nets import ANYWHERE, BY, called, hook, network, ones, within
from suites.names import ALWAYS_CALL, FULL, PULL
from suites.tensors import leaf, multiplies, outcome

ABOUT = ("register_forward_hook", "register_forward_pre_hook")
FORMS = "torch.utils.checkpoint.checkpoint(use_reentrant)"
STOPS = "torch.utils.checkpoint.set_checkpoint_early_stop"
#: Early stop is new in 2.1.
EARLY = PULL + "96866"
AGAIN = 'docs: torch.utils.checkpoint.checkpoint "function` in the backward pass as needed for gradient computation"'
DIFFERS = 'docs: torch.utils.checkpoint.checkpoint "error being raised or leading to silently incorrect gradients"'
#: The output of the network is computed by its last layer: what ends there ends with the recomputation.
ENDS, GOES_ON = ["", "last"], ["block", "block.layer"]


def checkpointed(net: Any, reentrant: bool, stop: bool = True) -> Callable[[Any], Any]:
    """The network, called through checkpoint."""
    from torch.utils import checkpoint as module

    def call(x: Any) -> Any:
        if stop:
            return module.checkpoint(net, x, use_reentrant=reentrant)
        with module.set_checkpoint_early_stop(False):
            return module.checkpoint(net, x, use_reentrant=reentrant)

    return call


def counted(net: Any, path: str, seen: List[Any]) -> None:
    """A pre-hook and a forward hook that say that they run, on the module at a path."""
    within(net, path).register_forward_pre_hook(lambda module, args: seen.append("pre"))
    within(net, path).register_forward_hook(lambda module, args, output: seen.append("forward"))


@each(
    Row(
        "modes.checkpoint.early_stop",
        "In one pass of checkpoint(use_reentrant=False) forward hooks on a last nn.Linear run once, pre-hooks twice.",
        (EARLY, "measured"),
        asked="forward hook not called again but pre hook called twice activation "
        "checkpointing use_reentrant False counts differ early stop",
        where=("it is trainable, early stop on", "hooks only look"),
        needs=(FORMS, STOPS),
        paths=ENDS,
        stop=True,
        value=["pre", "forward", "pre"],
        wrong={"both twice": ["pre", "forward", "pre", "forward"], "once": ["pre", "forward"]},
        witness={"path": "last", "calls": 1},
    ),
    Row(
        "modes.checkpoint.early_layers",
        "In one pass of checkpoint(use_reentrant=False) forward (pre-)hooks on layers before the last run twice.",
        (AGAIN, EARLY),
        asked="forward hook of inner layer runs twice in activation "
        "checkpointing duplicate activations use_reentrant False",
        where=("all are trainable nn.Linear", "hooks only look"),
        needs=(FORMS, STOPS),
        paths=GOES_ON,
        stop=True,
        value=["pre", "forward", "pre", "forward"],
        wrong={"once": ["pre", "forward"], "stopped": ["pre", "forward", "pre"]},
        witness={"path": "block", "calls": 1},
    ),
    Row(
        "modes.checkpoint.no_early_stop",
        "In set_checkpoint_early_stop(False) all forward (pre-)hooks of checkpoint(use_reentrant=False) run twice.",
        (AGAIN, EARLY),
        asked="set_checkpoint_early_stop False forward hooks run in full recomputation checkpoint called twice",
        where=("its layers are trainable nn.Linear", "one pass"),
        needs=(FORMS, STOPS),
        paths=[*ENDS, *GOES_ON],
        stop=False,
        value=["pre", "forward", "pre", "forward"],
        wrong={"once": ["pre", "forward"], "stopped": ["pre", "forward", "pre"]},
        witness={"path": "last", "calls": 1},
    ),
    path=lambda row: st.sampled_from(row.paths),
    calls=lambda row: FEW,
)
def early(subject: Subject, path: str, calls: int, *, row: Any) -> None:
    net = network()
    seen: List[str] = []
    counted(net, path, seen)
    for _ in range(calls):
        assert called(checkpointed(net, False, row.stop)) == [6, 6]
    assert seen == subject.value * calls


@clause(
    "modes.checkpoint.always_call",
    says="In backward() checkpoint(use_reentrant=False) gives its module's always_call hooks None for output.",
    where=("trainable nn.Linear is last", "early stop on, hooks look"),
    see="modes.checkpoint.early_stop",
    source=(EARLY, "measured"),
    asked="always_call forward hook output None in backward recomputation activation checkpointing NoneType",
    needs=(FORMS, STOPS, ALWAYS_CALL),
    value=[False, True],
    wrong={"not called": [False], "the output": [False, False]},
    witness={"path": "", "hooks": 1},
)
@given(path=st.sampled_from(ENDS), hooks=FEW)
def test_always_call(subject: Subject, path: str, hooks: int) -> None:
    net = network()
    seen: List[bool] = []
    for _ in range(hooks):
        within(net, path).register_forward_hook(
            lambda module, args, output: seen.append(output is None), always_call=True
        )
    called(checkpointed(net, False))
    assert seen == [one for one in subject.value for _ in range(hooks)]


@clause(
    "modes.checkpoint.reentrant_twice",
    says="In checkpoint(use_reentrant=True) forward hooks on its module run with grad mode off, then on in backward().",
    where="its output is a tensor that needs grad",
    see="modes.checkpoint.reentrant_no_input",
    source=AGAIN,
    asked="forward hook called twice gradient checkpointing use_reentrant True no grad first time requires_grad false",
    needs=FORMS,
    value=[False, True],
    wrong={"once": [True], "with gradients both times": [True, True]},
    witness={"path": "block", "hooks": 1},
)
@given(path=st.sampled_from(ANYWHERE), hooks=FEW)
def test_reentrant_twice(subject: Subject, path: str, hooks: int) -> None:
    import torch

    net = network()
    seen: List[bool] = []

    def look(module: Any, args: Any, output: Any) -> None:
        assert output.requires_grad == torch.is_grad_enabled()
        seen.append(output.requires_grad)

    for _ in range(hooks):
        within(net, path).register_forward_hook(look)
    assert called(checkpointed(net, True)) == [6, 6]
    assert seen == [one for one in subject.value for _ in range(hooks)]


def gradients(reentrant: bool, path: str, kind: str, by: int) -> List[float]:
    """The output, and the gradients of input and weights, where a hook is registered between forward and backward."""
    net, x = network(), ones()
    output = checkpointed(net, reentrant)(x)
    hook(net, path, kind, by)
    output.sum().backward()
    return [one.item() for one in (output, x.grad, net.block.layer.weight.grad, net.last.weight.grad)]


@each(
    Row(
        "modes.checkpoint.late",
        "A pre-hook added after checkpoint(use_reentrant=False) runs in backward(), scales weight.grad alone.",
        DIFFERS,
        asked="hook registered after forward before backward runs in checkpoint recompute gradient checkpointing",
        where=("trainable nn.Linear ends it", "a number scales its input"),
        needs=(FORMS, STOPS),
        about="register_forward_pre_hook",
        reentrant=False,
        kind="forward_pre",
        path="last",
        value=(1, 1, 1, "by"),
        wrong={"ignored": (1, 1, 1, 1), "all gradients": (1, "by", "by", "by")},
        witness={"by": 5},
    ),
    Row(
        "modes.checkpoint.late_reentrant",
        "A pre-hook added after checkpoint(use_reentrant=True) runs in backward(): gradients inside use it.",
        DIFFERS,
        asked="hook added after forward changes gradients checkpoint "
        "use_reentrant True recompute silently wrong gradient",
        where=("it keeps shape and dtype", "checkpoint's output needs grad"),
        needs=FORMS,
        about="register_forward_pre_hook",
        reentrant=True,
        kind="forward_pre",
        path="last",
        value=(1, "by", "by", "by"),
        wrong={"ignored": (1, 1, 1, 1), "the weight alone": (1, 1, 1, "by")},
        witness={"by": 5},
    ),
    by=lambda row: BY,
)
def late(subject: Subject, by: int, *, row: Any) -> None:
    times = [by if one == "by" else one for one in subject.value]
    found = gradients(row.reentrant, row.path, row.kind, by)
    assert found == [plain * one for plain, one in zip([6, 6, 3, 2], times)]


@each(
    Row(
        "modes.checkpoint.reentrant_tensor",
        "In checkpoint(use_reentrant=True) a forward hook that calls output.register_hook() raises RuntimeError.",
        "measured",
        asked="cannot register a hook on a tensor that doesn't require gradient "
        "checkpoint use_reentrant forward hook output.register_hook",
        where=("it does so in every call", "output is a new tensor"),
        see="modes.checkpoint.reentrant_twice",
        needs=FORMS,
        about=("register_hook", "register_forward_hook"),
        reentrant=True,
        value=("RuntimeError", 0),
        wrong={"accepted": ("accepted", 1)},
        witness={"path": "block", "by": 5},
    ),
    Row(
        "modes.checkpoint.tensor",
        "In checkpoint(use_reentrant=False) a tensor hook on a new output is called once; its result is used.",
        "measured",
        asked="output.register_hook in forward hook with activation "
        "checkpointing use_reentrant False called once or twice",
        where=("a forward hook makes it", "one pass of one call uses it"),
        needs=FORMS,
        about=("register_hook", "register_forward_hook"),
        reentrant=False,
        value=("accepted", 1),
        wrong={"refused": ("RuntimeError", 0), "twice": ("accepted", 2)},
        witness={"path": "block", "by": 5},
    ),
    path=lambda row: st.sampled_from(ANYWHERE),
    by=lambda row: BY,
)
def tensor(subject: Subject, path: str, by: int, *, row: Any) -> None:
    net, x = network(), ones()
    seen: List[Any] = []

    def after(module: Any, args: Any, output: Any) -> None:
        output.register_hook(multiplies(by, seen.append))

    within(net, path).register_forward_hook(after)
    became = outcome(lambda: called(checkpointed(net, row.reentrant), x))
    assert (became, len(seen)) == subject.value
    assert (None if x.grad is None else x.grad.item()) == (6 * by if seen else None)


def product(weight: int, start: int, stop: bool) -> Any:
    """x.grad of a checkpointed weight * x whose weight is unfrozen behind the forward, or the name of the error."""
    import torch

    class Product(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(leaf(weight).detach(), requires_grad=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.weight * x

    module, x = Product(), leaf(start)
    output = checkpointed(module, False, stop)(x)
    module.weight.requires_grad_(True)
    became = outcome(output.backward)
    return x.grad.item() if became == "accepted" else became


@clause(
    "modes.checkpoint.unfrozen",
    says="After checkpoint(use_reentrant=False) of w * x a w unfrozen before backward() makes x.grad use x for w.",
    where="w and x have one shape and dtype, early stop is on",
    source=(DIFFERS, "measured"),
    asked="unfreeze parameter between forward and backward checkpoint "
    "wrong gradient silently requires_grad changed recompute",
    level="observed",
    docs="contradicts",
    needs=(FORMS, STOPS),
    about=(),
    value="x",
    wrong={"raises": "RuntimeError"},
    witness={"weight": 3, "start": 5},
)
@given(weight=st.integers(2, 5), start=st.integers(6, 9))
def test_unfrozen(subject: Subject, weight: int, start: int) -> None:
    assert product(weight, start, stop=True) == (start if subject.value == "x" else subject.value)


@clause(
    "modes.checkpoint.unfrozen_no_stop",
    says="In set_checkpoint_early_stop(False) a w of w * x unfrozen before backward() makes it raise CheckpointError.",
    where=("x needs grad", "use_reentrant=False"),
    source=EARLY,
    asked="CheckpointError trying to save more tensors during recomputation unfreeze parameter requires_grad changed",
    see="modes.checkpoint.unfrozen",
    needs=(FORMS, STOPS),
    about=(),
    value="CheckpointError",
    wrong={"silent": "x"},
    witness={"weight": 3, "start": 5},
)
@given(weight=st.integers(2, 5), start=st.integers(6, 9))
def test_unfrozen_no_stop(subject: Subject, weight: int, start: int) -> None:
    assert product(weight, start, stop=False) == (start if subject.value == "x" else subject.value)


@each(
    Row(
        "modes.checkpoint.reentrant_detaches",
        "checkpoint(use_reentrant=True) of a module returning a parameter in a tuple sets its requires_grad to False.",
        "measured",
        asked="tied weights parameter returned from checkpoint use_reentrant "
        "True requires_grad becomes False parameter no longer trained",
        docs="contradicts",
        where=("no input needs a gradient", "grad mode is on"),
        needs=FORMS,
        about=(),
        grad=False,
        value=(False, True),
        wrong={"left alone": (True, True)},
        witness={"weight": 3, "start": 5, "calls": 1},
    ),
    Row(
        "modes.checkpoint.reentrant_no_leaf",
        "checkpoint(use_reentrant=True) of a module returning a parameter in a tuple makes the parameter no leaf.",
        "measured",
        asked="parameter returned from checkpoint use_reentrant True is_leaf False not a leaf optimizer weight tying",
        docs="contradicts",
        where=("an input by position needs grad", "grad mode is on"),
        needs=FORMS,
        about=(),
        grad=True,
        value=(True, False),
        wrong={"left alone": (True, True)},
        witness={"weight": 3, "start": 5, "calls": 1},
    ),
    weight=lambda row: st.integers(2, 5),
    start=lambda row: st.integers(2, 5),
    calls=lambda row: FEW,
)
def returns_parameter(subject: Subject, weight: int, start: int, calls: int, *, row: Any) -> None:
    """No backward pass: where an input needs a gradient torch never ends it."""
    import torch

    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(leaf(weight).detach())

        def forward(self, x: torch.Tensor) -> Any:
            return self.weight * x, self.weight

    module = Tied()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(calls):
            checkpointed(module, True)(leaf(start).detach().requires_grad_(row.grad))
    assert (module.weight.requires_grad, module.weight.is_leaf) == subject.value


@clause(
    "modes.checkpoint.reentrant_no_input",
    says="The output of checkpoint(use_reentrant=True) needs no gradient, and no backward hook in it runs.",
    where=("no input needs a gradient", "output is a tensor"),
    source="measured",
    asked="backward hook never called checkpoint None of the inputs have requires_grad=True gradients will be None",
    needs=(FORMS, FULL),
    value=(False, 0),
    wrong={"as without it": (True, 1)},
    witness={"path": "block", "rows": 1},
)
@given(path=st.sampled_from(ANYWHERE), rows=FEW)
def test_reentrant_no_input(subject: Subject, path: str, rows: int) -> None:
    net = network()
    seen: List[Any] = []
    hook(net, path, "full_backward", 5, seen.append)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = checkpointed(net, True)(ones(rows, 1).detach())
    if output.requires_grad:
        output.sum().backward()
    assert (output.requires_grad, len(seen)) == subject.value
