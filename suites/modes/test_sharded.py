"""fully_shard (FSDP2) and FullyShardedDataParallel (FSDP1): which hooks run, and what they find for a parameter."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.hooking import FEW
from suites.modes.forms import ANY, straight
from suites.modes.networks import (
    ANYWHERE,
    AROUND_APIS,
    BY,
    FORWARDS,
    FULLS,
    LAYERS,
    called,
    hook,
    hooked,
    network,
    ones,
    taken,
    within,
)
from suites.modes.process_group import alone
from suites.names import PULL
from suites.tensors import multiplies

#: fully_shard is public since torch 2.6; that it runs on the CPU needs this of the CPU's streams.
FULLY_SHARD = "torch.cpu.Stream.record_event"
#: FullyShardedDataParallel runs on the CPU since torch 2.2, which brought this.
FSDP = "torch.distributed.device_mesh.DeviceMesh"
SHARDS = 'docs: torch.distributed.fsdp.fully_shard "This implementation represents the sharded parameters as"'
#: Registered before the network is sharded, or after.
LATE = st.booleans()
#: Full backward hooks see no gradient of a tensor in a list or dict.
OUTPUT = "each gets by position, returns a tensor that needs grad"
#: In forward, and after it in a network that does not reshard, a parameter is another tensor.
NOT_IN_FORWARD = "made before any forward or unshard()"


def sharded(net: Any) -> Any:
    """The network after fully_shard of each layer, and then of itself."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    alone()
    mesh = init_device_mesh("cpu", (1,))
    for path in [*LAYERS, ""]:
        fully_shard(within(net, path), mesh=mesh)
    return net


def wrapped(net: Any, **options: Any) -> Any:
    """The network in a FullyShardedDataParallel on the CPU."""
    import torch
    from torch.distributed.fsdp import FullyShardedDataParallel

    alone()
    return FullyShardedDataParallel(net, device_id=torch.device("cpu"), **options)


def originals(net: Any) -> Any:
    """The same, with the parameters under their own names."""
    return wrapped(net, use_orig_params=True)


def class_of(tensor: Any) -> str:
    """Whether a tensor is sharded."""
    return "sharded" if type(tensor).__name__ == "DTensor" else "whole"


@each(
    Row(
        "modes.sharded.module",
        "Under fully_shard forward and full backward (pre-)hooks on modules run; what they return is used.",
        "measured",
        asked="do forward hooks backward hooks work with fully_shard FSDP2 activations",
        where=OUTPUT,
        needs=FULLY_SHARD,
        about=AROUND_APIS,
        shard=sharded,
        value="used",
        wrong={"dropped": "dropped"},
        witness={"path": "last", "kind": "forward", "by": 5, "late": False, "form": straight},
    ),
    Row(
        "modes.sharded.module_fsdp1",
        "Under FSDP1 forward and full backward (pre-)hooks on modules run; what they return is used.",
        "measured",
        asked="register_forward_hook FullyShardedDataParallel FSDP activations hook works",
        where=OUTPUT,
        needs=FSDP,
        about=AROUND_APIS,
        shard=originals,
        value="used",
        wrong={"dropped": "dropped"},
        witness={"path": "last", "kind": "forward", "by": 5, "late": False, "form": straight},
    ),
    path=lambda row: st.sampled_from(ANYWHERE),
    kind=lambda row: st.sampled_from([*FORWARDS, *FULLS]),
    by=lambda row: BY,
    late=lambda row: LATE,
    form=lambda row: ANY,
)
def around(subject: Subject, path: str, kind: str, by: int, late: bool, form: Any, *, row: Any) -> None:
    net = network(form)
    if late:
        call = row.shard(net)
        hook(net, path, kind, by)
    else:
        hook(net, path, kind, by)
        call = row.shard(net)
    assert taken(called(call), hooked(path, kind, by, form=form)) == subject.value


@each(
    Row(
        "modes.sharded.tensor",
        "Under fully_shard what register_hook() puts on a sharded parameter is never called.",
        "measured",
        asked="param.register_hook not called with FSDP2 fully_shard gradient hook silently ignored",
        where=("only its module's forward uses it", NOT_IN_FORWARD),
        needs=FULLY_SHARD,
        about="register_hook",
        shard=sharded,
        value="dropped",
        wrong={"called": "called"},
        witness={"path": "last", "late": True, "hooks": 1, "form": straight},
    ),
    Row(
        "modes.sharded.tensor_fsdp1",
        "Under FSDP1 a tensor hook on a parameter it shards is never called.",
        "measured",
        asked="param.register_hook FSDP use_orig_params=True never fires gradient hook FullyShardedDataParallel",
        where=("use_orig_params=True, only its module uses it", NOT_IN_FORWARD),
        needs=FSDP,
        about="register_hook",
        shard=originals,
        value="dropped",
        wrong={"called": "called"},
        witness={"path": "last", "late": True, "hooks": 1, "form": straight},
    ),
    path=lambda row: st.sampled_from(LAYERS),
    late=lambda row: LATE,
    hooks=lambda row: FEW,
    form=lambda row: ANY,
)
def tensor(subject: Subject, path: str, late: bool, hooks: int, form: Any, *, row: Any) -> None:
    seen: List[Any] = []
    net = network(form)
    call = row.shard(net) if late else net
    for _ in range(hooks):
        within(net, path).weight.register_hook(multiplies(5, seen.append))
    call = call if late else row.shard(net)
    for _ in range(2):
        call(ones()).sum().backward()
    assert len(seen) == (0 if subject.value == "dropped" else 2 * hooks)


@clause(
    "modes.sharded.post_accumulate",
    says="A post-accumulate hook made after fully_shard, before a forward, gets a DTensor, whose .grad is one.",
    where=("it shards the parameter, no unshard()", "each pass syncs"),
    source=(SHARDS, PULL + "129450"),
    asked="FSDP2 register_post_accumulate_grad_hook DTensor gradient optimizer in backward fully_shard",
    needs=FULLY_SHARD,
    about="register_post_accumulate_grad_hook",
    value="sharded",
    wrong={"the whole one": "whole"},
    witness={"path": "last", "passes": 1, "form": straight},
)
@given(path=st.sampled_from(LAYERS), passes=FEW, form=ANY)
def test_post_accumulate(subject: Subject, path: str, passes: int, form: Any) -> None:
    seen: List[Any] = []
    net = sharded(network(form))
    weight = within(net, path).weight
    weight.register_post_accumulate_grad_hook(lambda given: seen.append((class_of(given), class_of(given.grad))))
    for _ in range(passes):
        net(ones()).sum().backward()
    assert seen == [(subject.value, subject.value)] * passes


@clause(
    "modes.sharded.post_before",
    says="A post-accumulate hook registered on a parameter before fully_shard shards it is never called.",
    where="only its module's forward uses it",
    source="measured",
    asked="post accumulate grad hook lost after fully_shard register before wrapping",
    see="modes.sharded.post_accumulate",
    needs=FULLY_SHARD,
    about="register_post_accumulate_grad_hook",
    value="dropped",
    wrong={"called": "called"},
    witness={"path": "last", "passes": 1, "form": straight},
)
@given(path=st.sampled_from(LAYERS), passes=FEW, form=ANY)
def test_post_before(subject: Subject, path: str, passes: int, form: Any) -> None:
    seen: List[Any] = []
    net = network(form)
    within(net, path).weight.register_post_accumulate_grad_hook(seen.append)
    sharded(net)
    for _ in range(passes):
        net(ones()).sum().backward()
    assert len(seen) == (0 if subject.value == "dropped" else passes)


@clause(
    "modes.sharded.found",
    says="A forward hook on Linear sees parameters whole if made before fully_shard, else sharded.",
    where="on it alone, reshards after forward",
    source=(
        'docs: torch.distributed.fsdp.fully_shard "on ``module`` frees them (if needed)"',
        'docs: torch.distributed.fsdp.fully_shard "it is set to ``True`` for non-root modules"',
    ),
    asked="FSDP2 fully_shard forward hook module.weight is DTensor or full tensor inside hook",
    needs=FULLY_SHARD,
    about="register_forward_hook",
    value=["whole", "sharded"],
    wrong={"whole for both": ["whole", "whole"], "sharded for both": ["sharded", "sharded"]},
    witness={"path": "last", "passes": 1},
)
@given(path=st.sampled_from(LAYERS), passes=FEW)
def test_found(subject: Subject, path: str, passes: int) -> None:
    seen: List[str] = []
    net = network()
    hook = within(net, path).register_forward_hook
    hook(lambda module, args, output: seen.append(class_of(module.weight)))
    sharded(net)
    hook(lambda module, args, output: seen.append(class_of(module.weight)))
    for _ in range(passes):
        net(ones()).sum().backward()
    assert seen == subject.value * passes


@clause(
    "modes.sharded.found_pre",
    says="A forward pre-hook on Linear sees parameters whole, made before fully_shard or after.",
    where="on it alone",
    source=('docs: torch.distributed.fsdp.fully_shard "on ``module`` all-gathers the parameters"', "measured"),
    asked="fsdp2 pre hook parameter unsharded full weight before forward",
    see="modes.sharded.found",
    needs=FULLY_SHARD,
    about="register_forward_pre_hook",
    value=["whole", "whole"],
    wrong={"sharded where it is older": ["sharded", "whole"], "sharded for both": ["sharded", "sharded"]},
    witness={"path": "last", "passes": 1},
)
@given(path=st.sampled_from(LAYERS), passes=FEW)
def test_found_pre(subject: Subject, path: str, passes: int) -> None:
    seen: List[str] = []
    net = network()
    hook = within(net, path).register_forward_pre_hook
    hook(lambda module, args: seen.append(class_of(module.weight)))
    sharded(net)
    hook(lambda module, args: seen.append(class_of(module.weight)))
    for _ in range(passes):
        net(ones()).sum().backward()
    assert seen == subject.value * passes
