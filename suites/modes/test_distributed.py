"""nn.DataParallel without a GPU, and DistributedDataParallel: which gradient a hook sees, and what a comm hook does."""

from typing import Any, List
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.hooking import FEW, UP_TO_THREE, UP_TO_TWO
from suites.modes.forms import ANY, networks, straight
from suites.modes.networks import AROUND_APIS, BY, FORWARDS, FULLS, called, hook, hooked, kinds, network, ones
from suites.modes.process_group import future, in_process_group, noted
from suites.modes.sources import BUCKET
from suites.names import POST_ACCUMULATE
from suites.tensors import multiplies, outcome

INPUT = "an input by position needs grad, output is a tensor"
#: A bucket has what was in .grad, too.
REGISTER = "docs: torch.nn.parallel.DistributedDataParallel.register_comm_hook"


def on_the_cpu(net: Any) -> Any:
    """The network in an nn.DataParallel that sees no GPU."""
    from torch.nn import DataParallel

    with mock.patch("torch.cuda.is_available", return_value=False):
        return DataParallel(net)


#: The network as `weights` knows it.
TWO = networks(in_layers="its layer norm has parameters of its own")


def passes_of(wrapper: Any, passes: int) -> None:
    """That many backward passes, each from gradients of zero."""
    for _ in range(passes):
        wrapper.zero_grad()
        wrapper(ones()).sum().backward()


def called_with(state: Any, bucket: Any) -> Any:
    """What a comm hook is called with."""
    return state, bucket.index(), bucket.is_last(), len(bucket.gradients())


def weights(net: Any) -> List[Any]:
    """Its two parameters: the gradients of the network at ones are 3 and 2."""
    return [net.block.layer.weight, net.last.weight]


def grads(net: Any) -> List[float]:
    """The .grad of its two parameters."""
    return [weight.grad.item() for weight in weights(net)]


@each(
    Row(
        "modes.distributed.data_parallel",
        "Forward and full backward (pre-)hooks on nn.DataParallel run around its module's.",
        'docs: torch.nn.DataParallel "Forward and backward hooks defined on :attr:`module` and its submodules"',
        asked="do forward hooks backward hooks work with nn.DataParallel on cpu wrapper model.module",
        level="observed",
        where=("torch sees no GPU", INPUT),
        about=AROUND_APIS,
        wrap=on_the_cpu,
        value="around",
        wrong={"inside": "inside", "only those on the module": "dropped"},
        witness={"kind": "forward", "by": 5, "late": False, "form": straight},
    ),
    Row(
        "modes.distributed.wrapper",
        "Forward and full backward (pre-)hooks on a DistributedDataParallel run around those on its module.",
        "measured",
        asked="register forward hook on DDP model or on ddp.module order full backward hook DistributedDataParallel",
        where=INPUT,
        about=AROUND_APIS,
        wrap=in_process_group,
        value="around",
        wrong={"inside": "inside", "only those on the module": "dropped"},
        witness={"kind": "forward", "by": 5, "late": False, "form": straight},
    ),
    kind=lambda row: kinds(*FORWARDS, *FULLS),
    by=lambda row: BY,
    late=lambda row: st.booleans(),
    form=lambda row: ANY,
)
def around(subject: Subject, kind: str, by: int, late: bool, form: Any, *, row: Any) -> None:
    seen: List[str] = []
    net = network(form)
    if not late:
        hook(net, "", kind, by, lambda given: seen.append("module"))
    wrapper = row.wrap(net)
    hook(wrapper, "", kind, by, lambda given: seen.append("wrapper"))
    if late:
        hook(net, "", kind, by, lambda given: seen.append("module"))
    found = called(wrapper)
    order = {"around": ["wrapper", "module"], "inside": ["module", "wrapper"], "dropped": ["module"]}[subject.value]
    order = order if kind.endswith("pre") else order[::-1]
    assert (found, seen) == (list(hooked("", kind, by if subject.value == "dropped" else by * by, form=form)), order)


@each(
    Row(
        "modes.distributed.local_tensor",
        "Under DDP a tensor hook on a parameter is given its own process's gradient, before its comm hook.",
        "measured",
        asked="param.register_hook under DDP sees local gradient or averaged gradient before or after all-reduce",
        where="the pass uses it, right after a DDP call",
        needs=BUCKET,
        about=("register_hook", "register_comm_hook"),
        kind="hook",
        value="before",
        wrong={"after the comm hook": "after"},
        witness={"place": 0, "by": 5, "late": False, "passes": 1, "form": straight},
    ),
    Row(
        "modes.distributed.local_post",
        "Under DDP a post-accumulate hook finds its own process's gradient in .grad, before its comm hook.",
        "measured",
        asked="register_post_accumulate_grad_hook with DDP optimizer step "
        "in backward before all reduce unsynchronized gradient",
        where=("the pass uses it", ".grad was None or zero"),
        needs=(*BUCKET, POST_ACCUMULATE),
        kind="post_accumulate_grad_hook",
        value="before",
        wrong={"after the comm hook": "after"},
        witness={"place": 0, "by": 5, "late": False, "passes": 1, "form": straight},
    ),
    place=lambda row: st.integers(0, 1),
    by=lambda row: BY,
    late=lambda row: st.booleans(),
    passes=lambda row: FEW,
    form=lambda row: ANY,
)
def local(subject: Subject, place: int, by: int, late: bool, passes: int, form: Any, *, row: Any) -> None:
    seen: List[float] = []
    net = network(form)
    weight = weights(net)[place]

    def register() -> None:
        # A tensor hook is given the gradient, a post-accumulate hook the parameter.
        one_of = (lambda grad: seen.append(grad.item())) if row.kind == "hook" else post
        getattr(weight, f"register_{row.kind}")(one_of)

    def post(parameter: Any) -> None:
        seen.append(parameter.grad.item())

    if not late:
        register()
    wrapper = in_process_group(net)
    wrapper.register_comm_hook(None, lambda state, bucket: future(bucket.buffer() * by))
    if late:
        register()
    passes_of(wrapper, passes)
    own = [3.0, 2.0][place]
    assert (seen, weight.grad.item()) == ([own if subject.value == "before" else own * by] * passes, own * by)


@clause(
    "modes.distributed.reduced",
    says="Under DDP a comm hook's bucket holds what a parameter's tensor hook returns.",
    where=("right after a DDP call, no other hook", ".grad was None or zero"),
    source="measured",
    asked="clip or scale gradient in tensor hook under DistributedDataParallel is it applied before reduction",
    needs=BUCKET,
    about=("register_hook", "register_comm_hook"),
    value="with it",
    wrong={"without it": "without it"},
    witness={"place": 0, "by": 5, "passes": 1, "form": straight},
)
@given(place=st.integers(0, 1), by=BY, passes=FEW, form=TWO)
def test_reduced(subject: Subject, place: int, by: int, passes: int, form: Any) -> None:
    seen: List[Any] = []
    net = network(form)
    weights(net)[place].register_hook(multiplies(by))
    wrapper = in_process_group(net)
    wrapper.register_comm_hook(None, lambda state, bucket: noted(seen, bucket))
    passes_of(wrapper, passes)
    own = [3.0, 2.0]
    if subject.value == "with it":
        own[place] *= by
    assert seen == [sorted(own)] * passes


@clause(
    "modes.distributed.comm_hook",
    says="The contiguous, unsliced value of a comm hook's future becomes its bucket parameters' .grad.",
    where=("the pass uses each", "no hook changes .grad"),
    source=REGISTER,
    asked="DDP register_comm_hook example GradBucket compress gradients "
    "return value of communication hook future bucket.buffer()",
    needs=BUCKET,
    value="its value",
    wrong={"ignored": "the local gradient"},
    witness={"by": 5, "view": False, "passes": 1, "form": straight},
)
@given(by=BY, view=st.booleans(), passes=FEW, form=ANY)
def test_comm_hook(subject: Subject, by: int, view: bool, passes: int, form: Any) -> None:
    net = network(form)
    wrapper = in_process_group(net, gradient_as_bucket_view=view)
    wrapper.register_comm_hook(None, lambda state, bucket: future(bucket.buffer() * by))
    passes_of(wrapper, passes)
    assert grads(net) == ([3 * by, 2 * by] if subject.value == "its value" else [3, 2])


@clause(
    "modes.distributed.comm_calls",
    says="A comm hook is called with state and GradBucket, once a bucket in each backward().",
    where=("it uses all parameters", "right after a DDP call that is not in no_sync()"),
    see="modes.distributed.no_sync",
    source=(f'{REGISTER} "This function is called once the bucket is ready"', REGISTER),
    asked="how often is DDP communication hook called per bucket bucket_cap_mb state GradBucket index is_last",
    needs=BUCKET,
    value="bucket",
    wrong={"once a parameter": "parameter"},
    witness={"layers": 2, "size": 1, "passes": 1, "given": "state"},
)
@given(layers=st.integers(2, 3), size=st.sampled_from([1, 400]), passes=FEW, given=st.sampled_from(["state", "", 0]))
def test_comm_calls(subject: Subject, layers: int, size: int, passes: int, given: Any) -> None:
    import torch

    seen: List[Any] = []
    net = torch.nn.Sequential(*[torch.nn.Linear(size, size, bias=False).double() for _ in range(layers)])
    # A layer of 400 is more than one megabyte: from the second pass on it has a bucket of its own.
    wrapper = in_process_group(net, bucket_cap_mb=1)

    wrapper.register_comm_hook(given, lambda state, bucket: noted(seen, bucket, called_with(state, bucket)))
    for number in range(passes):
        del seen[:]
        wrapper(ones(1, size)).sum().backward()
        states, indexes, lasts, sizes = ([*column] for column in zip(*seen))
        calls = len(seen)
        if size == 1 or number:  # into how many buckets torch cuts large layers at first differs between releases
            assert calls == (layers if subject.value == "parameter" or size == 400 else 1)
        assert (states, indexes) == ([given] * calls, list(range(calls)))
        assert (lasts, sum(sizes)) == ([False] * (calls - 1) + [True], layers)


@clause(
    "modes.distributed.no_sync",
    says="In no_sync() its comm hook does not run; the next forward and pass, of all parameters, give it the sum.",
    where=("forward inside, each had a pass", "not static_graph"),
    source=(
        'docs: torch.nn.parallel.DistributedDataParallel.no_sync "gradients will be accumulated on module"',
        'docs: torch.nn.parallel.DistributedDataParallel.no_sync "The forward pass should be included inside"',
    ),
    asked="gradient accumulation DDP no_sync comm hook called or not all reduce skipped",
    needs=BUCKET,
    value="at the end",
    wrong={"each time": "each time"},
    witness={"inside": 1, "view": False, "form": straight},
)
@given(inside=FEW, view=st.booleans(), form=TWO)
def test_no_sync(subject: Subject, inside: int, view: bool, form: Any) -> None:
    seen: List[Any] = []
    wrapper = in_process_group(network(form), gradient_as_bucket_view=view)
    wrapper.register_comm_hook(None, lambda state, bucket: noted(seen, bucket))
    with wrapper.no_sync():
        for _ in range(inside):
            wrapper(ones()).sum().backward()
    wrapper(ones()).sum().backward()
    each_time = [[2.0 * times, 3.0 * times] for times in range(1, inside + 2)]
    assert seen == (each_time[-1:] if subject.value == "at the end" else each_time)


@clause(
    "modes.distributed.comm_again",
    says="A second register_comm_hook on a DistributedDataParallel raises RuntimeError.",
    where="both hooks are functions of state and bucket",
    source='docs: torch.nn.parallel.DistributedDataParallel.register_comm_hook "can only be registered once"',
    asked="register_comm_hook or register_builtin_comm_hook can only be called once replace comm hook DDP",
    needs=BUCKET,
    value="RuntimeError",
    wrong={"accepted": "accepted"},
    witness={"passes": 0, "form": straight},
)
@given(passes=UP_TO_TWO, form=ANY)
def test_comm_again(subject: Subject, passes: int, form: Any) -> None:
    wrapper = in_process_group(network(form))
    wrapper.register_comm_hook(None, lambda state, bucket: noted([], bucket))
    passes_of(wrapper, passes)
    assert outcome(lambda: wrapper.register_comm_hook(None, lambda state, bucket: None)) == subject.value


@clause(
    "modes.distributed.frozen",
    says="DistributedDataParallel refuses a network of which no parameter needs a gradient, with hooks or without.",
    where="it is frozen when it is wrapped",
    source="https://github.com/pytorch/pytorch/blob/main/torch/nn/parallel/distributed.py",
    asked="DistributedDataParallel is not needed when a module doesn't "
    "have any parameter that requires a gradient frozen model hooks",
    about="register_hook",
    matters_if="never",
    readings=by_release(
        "error",
        ("1.10", "RuntimeError", "RuntimeError"),
        "DistributedDataParallel of a frozen network raises RuntimeError, with hooks or without.",
        ("", "AssertionError", "AssertionError"),
        "DistributedDataParallel of a frozen network raises AssertionError, with hooks or without.",
    ),
    witness={"hooks": 1, "form": straight},
)
@given(hooks=UP_TO_THREE, form=TWO)
def test_frozen(subject: Subject, hooks: int, form: Any) -> None:
    net = network(form)
    for weight in weights(net):
        for _ in range(hooks):
            weight.register_hook(multiplies(5))
        weight.requires_grad_(False)
    assert outcome(lambda: in_process_group(net), (RuntimeError, AssertionError)) == subject.value
