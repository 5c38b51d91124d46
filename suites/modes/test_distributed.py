"""nn.DataParallel without a GPU, and DistributedDataParallel: which gradient a hook sees, and what a comm hook does."""

from typing import Any, Callable, List
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.clause import by_release, clause
from fixtures.judge.subject import Subject
from fixtures.judge.table import Row, each
from suites.hooking import FEW
from suites.modes.alone import alone
from suites.modes.nets import BY, FORWARD_APIS, FORWARDS, called, hook, network, ones
from suites.names import POST_ACCUMULATE
from suites.tensors import multiplies, outcome

DDP = "docs: torch.nn.parallel.DistributedDataParallel"
COMM = "torch.nn.parallel.DistributedDataParallel.register_comm_hook"
#: A bucket tells its gradients by this name since torch 1.10; before, by others.
BUCKET = (COMM, "torch.distributed.GradBucket.buffer")
REGISTER = "docs: torch.nn.parallel.DistributedDataParallel.register_comm_hook"


def in_process_group(net: Any, **options: Any) -> Any:
    """The network in a DistributedDataParallel, whose process is alone."""
    from torch.nn.parallel import DistributedDataParallel

    alone()
    return DistributedDataParallel(net, **options)


def on_the_cpu(net: Any) -> Any:
    """The network in an nn.DataParallel that sees no GPU."""
    from torch.nn import DataParallel

    with mock.patch("torch.cuda.is_available", lambda: False):
        return DataParallel(net)


def future(value: Any) -> Any:
    """A future that is done already."""
    import torch

    made: Any = torch.futures.Future()
    made.set_result(value)
    return made


def weights(net: Any) -> List[Any]:
    """Its two parameters: the gradients of the network at ones are 3 and 2."""
    return [net.block.layer.weight, net.last.weight]


def grads(net: Any) -> List[float]:
    """The .grad of its two parameters."""
    return [weight.grad.item() for weight in weights(net)]


@clause(
    "modes.distributed.comm_hook",
    says="The value of the future that a comm hook returns becomes the .grad of the parameters in the bucket.",
    source=REGISTER,
    needs=BUCKET,
    about="register_comm_hook",
    value="its value",
    wrong={"ignored": "the local gradient"},
    witness={"by": 5, "view": False, "passes": 1},
)
@given(by=BY, view=st.booleans(), passes=FEW)
def test_comm_hook(subject: Subject, by: int, view: bool, passes: int) -> None:
    net = network()
    wrapper = in_process_group(net, gradient_as_bucket_view=view)
    wrapper.register_comm_hook(None, lambda state, bucket: future(bucket.buffer() * by))
    for _ in range(passes):
        net.zero_grad()
        wrapper(ones()).sum().backward()
    assert grads(net) == ([3 * by, 2 * by] if subject.value == "its value" else [3, 2])
