"""A hook that raises inside of a context or a transform: what that set for its time ends all the same."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.modes.forms import ANY, ONE_GRAPH, ONE_NAME, straight
from suites.modes.networks import ANYWHERE, FORWARD_APIS, FORWARDS, called, checkpointed, counted, network, ones, within
from suites.modes.process_group import in_process_group, noted
from suites.modes.sources import BUCKET, CALL, COMPILE, EAGER, EARLY, FORMS, REPLACED, STOPS
from suites.tensors import outcome

ABOUT = FORWARD_APIS
SAVED = "torch.autograd.graph.saved_tensors_hooks"
ENDED, LEFT = "as before", {"left as it was inside": "otherwise"}
#: What such an error comes out as: a compiled call with fullgraph=True has one of its own.
ERRORS = (ValueError, RuntimeError)


def in_early_stop(net: Any) -> None:
    from torch.utils.checkpoint import set_checkpoint_early_stop

    with set_checkpoint_early_stop(False):
        net(ones())


def in_functional_call(net: Any) -> None:
    from torch.func import functional_call

    functional_call(net, {"last.weight": ones()}, (ones(),))


def in_grad(net: Any) -> None:
    from torch.func import grad

    grad(lambda x: net(x).sum())(ones())


def in_compiled(net: Any) -> None:
    import torch

    torch.compiler.reset()
    torch.compile(net, backend="eager", fullgraph=True)(ones())


def in_no_sync(wrapper: Any) -> None:
    with wrapper.no_sync():
        wrapper(ones())


def stopped(net: Any) -> List[Any]:
    """The hooks that run on the last layer of another network, which is checkpointed."""
    other, seen = network(), []
    counted(other, "last", seen)
    called(checkpointed(other, False))
    return seen


def computed(net: Any) -> List[Any]:
    """What the network gives, which shows what parameters it has."""
    return called(net)


def packed(net: Any) -> List[Any]:
    """What hooks of saved tensors are given."""
    from torch.autograd.graph import saved_tensors_hooks

    seen: List[Any] = []

    def pack(tensor: Any) -> Any:
        seen.append(tensor.item())
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        (ones() * ones()).sum().backward()
    return seen


def reduced(wrapper: Any) -> List[Any]:
    """What its comm hook is given in the next pass."""
    wrapper.zero_grad()
    wrapper(ones()).sum().backward()
    found, wrapper.seen[:] = wrapper.seen[:], []
    return found


def plain(net: Any) -> Any:
    """The network itself."""
    return net


def reducing(net: Any) -> Any:
    """The network in a DistributedDataParallel whose comm hook notes what it is given."""
    wrapper = in_process_group(net)
    wrapper.seen = []
    wrapper.register_comm_hook(None, lambda state, bucket: noted(wrapper.seen, bucket))
    return wrapper


def forms(row: Any) -> Any:
    """The networks that a row speaks of."""
    return {in_compiled: ONE_GRAPH, in_functional_call: ONE_NAME}.get(row.inside, ANY)


@each(
    Row(
        "modes.errors.early_stop",
        "After a hook's error has left set_checkpoint_early_stop(False), a new checkpoint stops early again.",
        (EARLY, "measured"),
        asked="set_checkpoint_early_stop still off after exception in hook",
        needs=(FORMS, STOPS),
        wrap=plain,
        inside=in_early_stop,
        after=stopped,
        value=ENDED,
        wrong=LEFT,
        witness={"kind": "forward", "path": "last", "operation": False, "form": straight},
    ),
    Row(
        "modes.errors.functional_call",
        "After a hook raised in torch.func.functional_call the module has its own parameters again.",
        (REPLACED, "measured"),
        asked="functional_call exception module keeps swapped weights",
        where="no module in it has two names",
        needs=CALL,
        wrap=plain,
        inside=in_functional_call,
        after=computed,
        value=ENDED,
        wrong=LEFT,
        witness={"kind": "forward", "path": "last", "operation": False, "form": straight},
    ),
    Row(
        "modes.errors.func_grad",
        "After a forward (pre-)hook raised in torch.func.grad saved_tensors_hooks are called as before.",
        "measured",
        asked="saved_tensors_hooks disabled after error in torch.func.grad",
        needs=(CALL, SAVED),
        wrap=plain,
        inside=in_grad,
        after=packed,
        value=ENDED,
        wrong=LEFT,
        witness={"kind": "forward", "path": "last", "operation": False, "form": straight},
    ),
    Row(
        "modes.errors.compiled",
        "After a (pre-)hook raised while torch.compile traced it saved_tensors_hooks are called as before.",
        "measured",
        asked="saved_tensors_hooks stop working after torch.compile error",
        where=("fullgraph=True, backend='eager'", "nothing disables them"),
        needs=(COMPILE, SAVED),
        wrap=plain,
        inside=in_compiled,
        after=packed,
        value=ENDED,
        wrong=LEFT,
        witness={"kind": "forward", "path": "last", "operation": False, "form": straight},
    ),
    Row(
        "modes.errors.no_sync",
        "After a forward (pre-)hook's error has left no_sync() of DDP, the next pass calls its comm hook.",
        "measured",
        asked="ddp no_sync exception gradients never synchronized again",
        where="static_graph is False",
        needs=BUCKET,
        wrap=reducing,
        inside=in_no_sync,
        after=reduced,
        value=ENDED,
        wrong=LEFT,
        witness={"kind": "forward", "path": "last", "operation": False, "form": straight},
    ),
    kind=lambda row: st.sampled_from(FORWARDS),
    path=lambda row: st.sampled_from(ANYWHERE),
    operation=lambda row: st.booleans(),
    form=forms,
)
def raised(subject: Subject, kind: str, path: str, operation: bool, form: Any, *, row: Any) -> None:
    import torch

    net = network(form)
    called_as = row.wrap(net)

    def fail(module: Any, *given: Any) -> None:
        if operation:
            torch.ones(2) + torch.ones(3)
        raise ValueError("a hook that fails")

    before = row.after(called_as)
    handle = getattr(within(net, path), f"register_{kind}_hook")(fail)
    assert outcome(lambda: row.inside(called_as), ERRORS) != "accepted"
    handle.remove()
    assert ("as before" if row.after(called_as) == before else "otherwise") == subject.value
    assert before


@clause(
    "modes.errors.compiled_grad",
    says="After an operation in a compiled torch.func.grad fails at run time, saved_tensors_hooks raise RuntimeError.",
    where=("compiled, no graph break", EAGER),
    see="modes.errors.func_grad",
    source=('docs: torch.autograd.graph.saved_tensors_hooks "should be packed before saving"', "measured"),
    asked="checkpoint raises saved tensor hooks not supported after index error in compiled torch.func.grad",
    level="observed",
    docs="contradicts",
    needs=(COMPILE, SAVED),
    matters_if="saved ?compiled",
    readings=by_release(
        ("error", "none"),
        ("2.4", "raise", "RuntimeError"),
        "After an operation in a compiled torch.func.grad fails at run time, saved_tensors_hooks raise RuntimeError.",
        ("", "as before", "accepted"),
        "After an operation fails while a compiled torch.func.grad runs, saved_tensors_hooks are called as before.",
    ),
    note="So do those that torch enters: checkpoint(use_reentrant=False), save_on_cpu. It lasts in the thread "
    "until that function runs without an error; an eager torch.func.grad does not end it. Not with "
    "backend='aot_eager', or the default one, which do not run the graph as it was traced. An operation that "
    "fails while it is traced leaves nothing, such as one of shapes that do not match. Others fail as the "
    "graph runs: an index out of range, cholesky of a matrix that is not positive definite; in a hook or a "
    "forward.",
    isolated="<2.7",  # what it leaves behind lasts in the thread: 2.6 would compile the next test
    witness={"kind": "forward", "index": True, "form": straight},
)
@given(kind=st.sampled_from(["", *FORWARDS]), index=st.booleans(), form=ONE_GRAPH)
def test_compiled_grad(subject: Subject, kind: str, index: bool, form: Any) -> None:
    import torch
    from torch.func import grad

    net = network(form)

    def fail(*given: Any) -> None:
        if index:
            torch.ones(2)[torch.arange(5, 6)].sum()
        else:
            torch.linalg.cholesky(-torch.ones(1, 1))

    def function(x: Any) -> Any:
        if not kind:
            fail()
        return net(x).sum()

    if kind:
        getattr(net, f"register_{kind}_hook")(fail)

    def derivative(x: Any) -> Any:
        return grad(function)(x)

    torch.compiler.reset()
    call = torch.compile(derivative, backend="eager")
    assert outcome(lambda: call(ones()), (RuntimeError, IndexError)) != "accepted"
    try:
        assert outcome(lambda: packed(net)) == subject.value
    finally:
        torch._C._autograd._saved_tensors_hooks_enable()
