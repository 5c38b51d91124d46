"""torch.utils.checkpoint: what results are with hooks in it, and where they are silently wrong."""

import warnings
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.hooking import FEW
from suites.modes.forms import ANY, networks, straight
from suites.modes.networks import ANYWHERE, BY, checkpointed, hook, network, ones, within
from suites.modes.sources import EARLY, FORMS, STOPS
from suites.names import FULL
from suites.tensors import leaf, outcome

DIFFERS = 'docs: torch.utils.checkpoint.checkpoint "error being raised or leading to silently incorrect gradients"'

LAST = networks(in_layers="its last nn.Linear is not its last layer")
ONCE = networks(twice="a hook inside draws twice in a call")


def gradients(form: Any, reentrant: bool, path: str, kind: str, by: int) -> List[float]:
    """The output, and the gradients of input and weights, where a hook is registered between forward and backward."""
    net, x = network(form), ones()
    output = checkpointed(net, reentrant)(x)
    hook(net, path, kind, by)
    output.sum().backward()
    return [one.item() for one in (output, x.grad, net.block.layer.weight.grad, net.last.weight.grad)]


@each(
    Row(
        "modes.checkpoint.late",
        "A pre-hook put on a last nn.Linear after checkpoint(use_reentrant=False) scales only its weight.grad.",
        DIFFERS,
        asked="hook registered after forward before backward runs in checkpoint recompute gradient checkpointing",
        where="own weight, makes the output; hook scales by a number",
        needs=(FORMS, STOPS),
        about="register_forward_pre_hook",
        reentrant=False,
        kind="forward_pre",
        path="last",
        value=(1, 1, 1, "by"),
        wrong={"ignored": (1, 1, 1, 1), "all gradients": (1, "by", "by", "by")},
        witness={"by": 5, "form": straight},
    ),
    Row(
        "modes.checkpoint.late_reentrant",
        "A pre-hook added after checkpoint(use_reentrant=True) runs in backward(): gradients inside use it.",
        DIFFERS,
        asked="hook added after forward changes gradients checkpoint "
        "use_reentrant True recompute silently wrong gradient",
        where=("it keeps shape and dtype", "its output requires grad"),
        needs=FORMS,
        about="register_forward_pre_hook",
        reentrant=True,
        kind="forward_pre",
        path="last",
        value=(1, "by", "by", "by"),
        wrong={"ignored": (1, 1, 1, 1), "the weight alone": (1, 1, 1, "by")},
        witness={"by": 5, "form": straight},
    ),
    by=lambda row: BY,
    form=lambda row: LAST,
)
def late(subject: Subject, by: int, form: Any, *, row: Any) -> None:
    times = [by if one == "by" else one for one in subject.value]
    found = gradients(form, row.reentrant, row.path, row.kind, by)
    assert found == [plain * one for plain, one in zip([6, 6, 3, 2], times)]


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
    where=("x requires grad", "use_reentrant=False"),
    source=EARLY,
    asked="CheckpointError trying to save more tensors during recomputation unfreeze parameter requires_grad changed",
    see="modes.checkpoint.unfrozen",
    needs=(FORMS, STOPS),
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
        where="no input requires grad",
        needs=FORMS,
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
        where="a positional input requires grad",
        needs=FORMS,
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
    where=("no input requires grad", "output is a tensor"),
    source="measured",
    asked="backward hook never called checkpoint None of the inputs have requires_grad=True gradients will be None "
    "lora adapters not trained frozen embedding",
    needs=(FORMS, FULL),
    value=(False, 0),
    wrong={"as without it": (True, 1)},
    witness={"path": "block", "rows": 1, "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), rows=FEW, form=ANY)
def test_reentrant_no_input(subject: Subject, path: str, rows: int, form: Any) -> None:
    net = network(form)
    seen: List[Any] = []
    hook(net, path, "full_backward", 5, seen.append)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = checkpointed(net, True)(ones(rows, 1).detach())
    if output.requires_grad:
        output.sum().backward()
    assert (output.requires_grad, len(seen)) == subject.value


@clause(
    "modes.checkpoint.reentrant_shared",
    says="In one backward() a tensor hook of a weight in two checkpoints with use_reentrant=True runs once for each.",
    where=("the weight is no input", "an input requires grad"),
    source="measured",
    asked="tied shared weight in several checkpointed layers parameter hook fires more than once per step partial "
    "gradients all-reduce ready twice DDP",
    note="With use_reentrant=False it runs once, with the sum.",
    needs=FORMS,
    about="register_hook",
    value=True,
    wrong={"once, with the sum": False},
    witness={"by": 5, "inputs": [1, 2], "hooks": 1},
)
@given(by=BY, inputs=st.lists(st.integers(1, 9), min_size=2, max_size=4), hooks=FEW)
def test_reentrant_shared(subject: Subject, by: int, inputs: List[int], hooks: int) -> None:
    from torch.utils.checkpoint import checkpoint

    weight, seen = leaf(by), []
    for _ in range(hooks):
        weight.register_hook(lambda grad: seen.append(grad.item()))
    outputs = [checkpoint(lambda x: weight * x, leaf(one), use_reentrant=True) for one in inputs]
    sum(outputs[1:], outputs[0]).backward()
    parts = inputs if subject.value else [sum(inputs)]
    assert sorted(seen) == sorted(parts * hooks)


@clause(
    "modes.checkpoint.random",
    says="In backward() a pre-hook in checkpoint draws what it drew before; torch's generator stays as it was.",
    where=("by torch's generator, in any grad mode", "it may raise"),
    source='docs: torch.utils.checkpoint.checkpoint "stashing and restoring the RNG state during each checkpoint"',
    asked="noise dropout in hook differs when checkpoint recomputes rng state",
    needs=FORMS,
    about="register_forward_pre_hook",
    value="the same",
    wrong={"other numbers": "others"},
    witness={"path": "last", "reentrant": True, "fails": True, "number": 0, "form": straight},
)
@given(
    path=st.sampled_from(ANYWHERE), reentrant=st.booleans(), fails=st.booleans(), number=st.integers(0, 9), form=ONCE
)
def test_random(subject: Subject, path: str, reentrant: bool, fails: bool, number: int, form: Any) -> None:
    import torch

    def drawn() -> float:
        return torch.rand(1).item()

    net = network(form)
    draws: List[float] = []

    def draw(module: Any, args: Any) -> None:
        draws.append(drawn())
        if fails and len(draws) == 2:
            raise ValueError("a hook that fails")

    within(net, path).register_forward_pre_hook(draw)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(number)
        output = checkpointed(net, reentrant)(ones())
        between = drawn()
        became = outcome(lambda: output.sum().backward(), (ValueError, RuntimeError))
        after = drawn()
        torch.manual_seed(number)
        first, second, third = drawn(), drawn(), drawn()
    assert (became != "accepted") == fails  # old torch raises another error
    found = "the same" if [*draws, between, after] == [first, first, second, third] else "others"
    assert found == subject.value


@clause(
    "modes.checkpoint.kept_for_ever",
    says="In checkpoint(use_reentrant=False) a pack hook that returns its argument keeps y = x.exp() for ever.",
    where="later, outside the hooks, it saves a tensor",
    see="saved.freed.cycle",
    source="measured",
    asked="memory leak each step saved_tensors_hooks identity inside activation checkpointing grows never freed",
    needs=(FORMS, STOPS, "torch.autograd.graph.saved_tensors_hooks"),
    effect="silent",
    value="the argument only",
    wrong={"never kept": "neither", "always kept": "both"},
    witness={"detaches": [False, True]},
)
@given(detaches=st.lists(st.booleans(), min_size=1, max_size=3))
def test_kept_for_ever(subject: Subject, detaches: List[bool]) -> None:
    import gc
    import weakref

    import torch
    from torch.utils.checkpoint import checkpoint

    made: List[List[Any]] = []

    def step(detach: bool) -> None:
        made.append([])

        def forward(x: Any) -> Any:
            pack = (lambda tensor: tensor.detach()) if detach else (lambda tensor: tensor)
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
                y = (2 * x).exp()
            made[-1].append(weakref.ref(y))
            return y.sin()

        checkpoint(forward, leaf(1), use_reentrant=False).backward()

    for detach in detaches:
        step(detach)
    gc.collect()
    # The first y is that of the forward, the second that of the backward pass.
    found = [[one() is not None for one in refs] for refs in made]
    kept = {"the argument only": [not one for one in detaches]}.get(
        subject.value, [subject.value == "both"] * len(made)
    )
    assert found == [[False, one] for one in kept]


@clause(
    "modes.checkpoint.error_held",
    says="After an error left checkpoint(use_reentrant=False), pack hooks around it are called, also in `except`.",
    source="measured",
    asked="exception inside activation checkpoint then saved_tensors_hooks not called memory kept until error is gone",
    needs=STOPS,
    about="torch.autograd.graph.saved_tensors_hooks",
    matters_if="saved ?checkpoint",
    readings=by_release(
        "silent",
        ("2.13", "called", True),
        "After an error left checkpoint(use_reentrant=False), pack hooks around it are called, also in `except`.",
        ("", "replaced", False),
        "While an error from checkpoint(use_reentrant=False) is alive, pack hooks around it are not called.",
    ),
    witness={"uses": 1},
)
@given(uses=FEW)
def test_error_held(subject: Subject, uses: int) -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    def fails(x: Any) -> Any:
        raise ZeroDivisionError

    packed, counts, w = [], [], leaf(2)
    with torch.autograd.graph.saved_tensors_hooks(lambda one: packed.append(0) or one, lambda one: one):
        try:
            checkpoint(fails, leaf(3), use_reentrant=False)
        except ZeroDivisionError:
            packed.clear()
            for _ in range(uses):
                w.exp()
            counts.append(len(packed))
        packed.clear()
        w.exp()
        counts.append(len(packed))
    assert counts == [uses if subject.value else 0, 1]
