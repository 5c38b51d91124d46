"""torch.utils.checkpoint: how often hooks run in its two forms, and which of them."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.hooking import FEW
from suites.modes.forms import ANY, first_of, straight
from suites.modes.networks import ANYWHERE, BY, called, checkpointed, counted, network, ones, runs, within
from suites.modes.sources import CALL, EARLY, FORMS, STOPS
from suites.names import ALWAYS_CALL
from suites.tensors import multiplies, outcome

ABOUT = ("register_forward_hook", "register_forward_pre_hook")
AGAIN = 'docs: torch.utils.checkpoint.checkpoint "function` in the backward pass as needed for gradient computation"'
#: The output of the network is computed by its last layer: what ends there ends with the recomputation.
ENDS, GOES_ON = ["", "last"], ["block", "block.layer"]


@each(
    Row(
        "modes.checkpoint.early_stop",
        "With checkpoint(use_reentrant=False) forward hooks on a last layer run once, pre-hooks twice.",
        (EARLY, "measured"),
        asked="forward hook not called again but pre hook called twice activation "
        "checkpointing use_reentrant False counts differ early stop",
        where=("a trainable nn.Linear makes the output", "hooks compute nothing"),
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
        where=("layers are trainable nn.Linear", "one backward()"),
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
    where=("trainable nn.Linear is last", "hooks compute nothing"),
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
    where="its output is a tensor that requires grad",
    see="modes.checkpoint.reentrant_no_input",
    source=AGAIN,
    asked="forward hook called twice gradient checkpointing use_reentrant True no grad first time requires_grad false",
    needs=FORMS,
    value=[False, True],
    wrong={"once": [True], "with gradients both times": [True, True]},
    witness={"path": "block", "hooks": 1, "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), hooks=FEW, form=ANY)
def test_reentrant_twice(subject: Subject, path: str, hooks: int, form: Any) -> None:
    import torch

    net = network(form)
    seen: List[bool] = []

    def look(module: Any, args: Any, output: Any) -> None:
        assert first_of(output).requires_grad == torch.is_grad_enabled()
        seen.append(first_of(output).requires_grad)

    for _ in range(hooks):
        within(net, path).register_forward_hook(look)
    assert called(checkpointed(net, True)) == [6, 6]
    assert seen == [one for one in subject.value for _ in range(hooks * runs(form, path))]


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
        witness={"path": "block", "by": 5, "form": straight},
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
        witness={"path": "block", "by": 5, "form": straight},
    ),
    path=lambda row: st.sampled_from(ANYWHERE),
    by=lambda row: BY,
    form=lambda row: ANY,
)
def tensor(subject: Subject, path: str, by: int, form: Any, *, row: Any) -> None:
    net, x = network(form), ones()
    seen: List[Any] = []

    def after(module: Any, args: Any, output: Any) -> None:
        first_of(output).register_hook(multiplies(by, seen.append))

    within(net, path).register_forward_hook(after)
    _, eager = called(net)
    del seen[:]
    became = outcome(lambda: called(checkpointed(net, row.reentrant), x))
    assert (became, len(seen) / runs(form, path)) == subject.value
    assert (None if x.grad is None else x.grad.item()) == (eager if seen else None)


PARTS = "torch.utils.checkpoint.checkpoint_sequential"


@clause(
    "modes.checkpoint.segments",
    says="In a pass checkpoint_sequential runs forward pre-hooks once in the last segment, twice in those before it.",
    where=("nn.Linear layers", "its input requires grad"),
    source=f'docs: {PARTS} "All segments except the last will not store the intermediate activations"',
    asked="checkpoint_sequential hook called twice except last chunk",
    needs=f"{PARTS}(use_reentrant)",
    about="register_forward_pre_hook",
    value=(2, 1),
    wrong={"twice everywhere": (2, 2), "once everywhere": (1, 1)},
    witness={"layers": 2, "segments": 2, "reentrant": True},
)
@given(layers=st.integers(1, 5), segments=st.integers(1, 5), reentrant=st.booleans())
def test_segments(subject: Subject, layers: int, segments: int, reentrant: bool) -> None:
    import torch
    from torch.utils.checkpoint import checkpoint_sequential

    segments = min(segments, layers)
    seen: List[int] = []

    def note(number: int) -> Any:
        return lambda module, args: seen.append(number)

    net = torch.nn.Sequential(*(torch.nn.Linear(1, 1).double() for _ in range(layers)))
    for number, layer in enumerate(net):
        layer.register_forward_pre_hook(note(number))
    checkpoint_sequential(net, segments, ones(), use_reentrant=reentrant).sum().backward()
    before = layers // segments * (segments - 1)
    again, once = subject.value
    assert [seen.count(number) for number in range(layers)] == [again] * before + [once] * (layers - before)


@clause(
    "modes.checkpoint.autocast",
    says="checkpoint() recomputes in the autocast of its forward call: forward hooks that run see the same dtypes.",
    where=("autocast('cpu') of one dtype", "no context_fn"),
    source="measured",
    asked="gradient checkpointing autocast recomputation dtype hook bfloat16 enabled False backward inside autocast",
    needs=(FORMS, "torch.autocast"),
    about="register_forward_hook",
    matters_if="forward ?checkpoint",
    readings=by_release(
        "silent",
        ("1.13", "its own", "its own"),
        "checkpoint() recomputes in the autocast of its forward call: forward hooks that run see the same dtypes.",
        ("", "that of backward()", "backward"),
        "checkpoint(use_reentrant=False) recomputes in the autocast of backward(), whose dtypes forward hooks see.",
    ),
    witness={"on": False, "backward_on": True, "hooks": 1, "reentrant": False},
)
@given(on=st.booleans(), backward_on=st.booleans(), hooks=FEW, reentrant=st.booleans())
def test_autocast(subject: Subject, on: bool, backward_on: bool, hooks: int, reentrant: bool) -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    seen: List[str] = []
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
    for _ in range(hooks):
        net[0].register_forward_hook(lambda module, args, output: seen.append(str(output.dtype)))
    x = torch.ones(2, 3, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=on):
        loss = checkpoint(net, x, use_reentrant=reentrant).sum()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=backward_on):
        outcome(loss.backward, (RuntimeError,))  # gradients of another dtype may be refused, once hooks were called
    dtypes = {True: "torch.bfloat16", False: "torch.float32"}
    again = on if subject.value == "its own" or reentrant else backward_on
    assert seen == [dtypes[on]] * hooks + [dtypes[again]] * hooks


@clause(
    "modes.checkpoint.tied",
    says="In a checkpoint of functional_call forward pre-hooks that rerun find in both layers a tied weight "
    "given once.",
    where=("tie_weights on", "it is no input of it"),
    source=('docs: torch.func.functional_call "parameters and buffers tied in the original model"', "measured"),
    asked="functional_call tied weights checkpoint recomputation which weight hook sees tie_weights",
    needs=(CALL, FORMS),
    about="register_forward_pre_hook",
    value="given",
    wrong={"its own one": "own"},
    witness={"by": 5, "hooks": 1, "reentrant": False},
)
@given(by=BY, hooks=FEW, reentrant=st.booleans())
def test_tied(subject: Subject, by: int, hooks: int, reentrant: bool) -> None:
    import torch
    from torch.func import functional_call
    from torch.utils.checkpoint import checkpoint

    seen: List[float] = []
    layers = [torch.nn.Linear(1, 1, bias=False) for _ in range(2)]
    layers[1].weight = layers[0].weight
    net, own = torch.nn.Sequential(*layers), layers[0].weight.item()
    for layer in layers:
        for _ in range(hooks):
            layer.register_forward_pre_hook(lambda module, args: seen.append(module.weight.item()))
    given_one = layers[0].weight.detach() * by
    x = torch.ones(1, 1, requires_grad=True)
    loss = checkpoint(lambda x: functional_call(net, {"0.weight": given_one}, (x,)), x, use_reentrant=reentrant)
    assert seen == [given_one.item()] * 2 * hooks
    del seen[:]
    loss.sum().backward()
    assert seen == [{"given": given_one.item(), "own": own}[subject.value]] * 2 * hooks
