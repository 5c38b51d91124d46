"""torch.func: what hooks see in functional_call, vmap, grad and jvp, and which of them are dropped or refused."""

from typing import Any, Callable, Dict, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.hooking import FEW
from suites.modes.forms import ANY, first_of, straight
from suites.modes.networks import (
    ANYWHERE,
    BACKWARD_APIS,
    BACKWARDS,
    BY,
    FORWARD_APIS,
    FORWARDS,
    FULL_APIS,
    FULLS,
    LAYERS,
    called,
    hook,
    hooked,
    network,
    ones,
    runs,
    taken,
    within,
)
from suites.modes.sources import CALL, REPLACED
from suites.names import ISSUE
from suites.tensors import multiplies, outcome

ABOUT = FORWARD_APIS


def transformed(way: str, function: Callable[[Any], Any], x: Any) -> float:
    """The derivative of a function at x, by one of the transforms of torch.func."""
    from torch import func

    ways: Dict[str, Callable[[], Any]] = {
        "grad": lambda: func.grad(lambda x: function(x).sum())(x),
        "vjp": lambda: func.vjp(function, x)[1](x)[0],
        "jacrev": lambda: func.jacrev(function)(x),
        "vmap of grad": lambda: func.vmap(func.grad(lambda x: function(x).sum()))(x),
        "jvp": lambda: func.jvp(function, (x,), (x,))[1],
        "jacfwd": lambda: func.jacfwd(function)(x),
    }
    return ways[way]().flatten()[0].item()


def reverse(*more: str) -> Any:
    """One of the transforms that run backwards."""
    return st.sampled_from(["grad", "vjp", *more])


@clause(
    "modes.func.given",
    says="A forward hook or pre-hook finds the parameters that functional_call was given as those of its module.",
    source=REPLACED,
    asked="torch.func.functional_call forward hook sees which weights ensembling stack_module_state hooks still work",
    needs=CALL,
    value="given",
    wrong={"its own ones": "own"},
    witness={"path": "last", "kind": "forward", "by": 5, "form": straight},
)
@given(path=st.sampled_from(LAYERS), kind=st.sampled_from(FORWARDS), by=BY, form=ANY)
def test_given(subject: Subject, path: str, kind: str, by: int, form: Any) -> None:
    from torch.func import functional_call

    seen: List[float] = []
    net = network(form)
    layer = within(net, path)
    hook(net, path, kind, by, lambda given: seen.append(layer.weight.item()))
    own = layer.weight.item()
    functional_call(net, {name: one.detach() * by for name, one in net.named_parameters()}, (ones(),))
    assert seen == [{"given": own * by, "own": own}[subject.value]] * runs(form, path)


@each(
    Row(
        "modes.func.own_parameter",
        "A tensor hook on a parameter is not called for a functional_call that has another tensor in its place.",
        REPLACED,
        asked="register_hook on model parameter not called with functional_call "
        "maml inner loop fast weights gradient hook silent",
        level="observed",
        where="that tensor is not computed from the parameter",
        needs=CALL,
        about="register_hook",
        own=True,
        value=False,
        wrong={"called": True},
        witness={"path": "last", "hooks": 1, "passes": 1, "form": straight},
    ),
    Row(
        "modes.func.given_tensor",
        "A tensor hook on a tensor that functional_call is given for a parameter is called by each backward().",
        REPLACED,
        asked="gradient hook on fast weights passed to functional_call does register_hook work meta learning",
        level="observed",
        where="the tensor requires grad",
        needs=CALL,
        about="register_hook",
        own=False,
        value=True,
        wrong={"dropped": False},
        witness={"path": "last", "hooks": 1, "passes": 1, "form": straight},
    ),
    path=lambda row: st.sampled_from(LAYERS),
    hooks=lambda row: FEW,
    passes=lambda row: FEW,
    form=lambda row: ANY,
)
def parameter(subject: Subject, path: str, hooks: int, passes: int, form: Any, *, row: Any) -> None:
    from torch.func import functional_call

    seen: List[int] = []
    net = network(form)
    given = {name: one.detach().clone().requires_grad_() for name, one in net.named_parameters()}
    for number in range(hooks):
        hooked = within(net, path).weight if row.own else given[path + ".weight"]
        hooked.register_hook(lambda grad, number=number: seen.append(number))
    for _ in range(passes):
        functional_call(net, given, (ones(),)).sum().backward()
    assert seen == list(range(hooks)) * (passes if subject.value else 0)


@clause(
    "modes.func.vmap_forward",
    says="In vmap a forward hook or pre-hook is called once for the batch, with tensors of the shape of one sample.",
    where="chunk_size= is left out",
    source='docs: torch.func.vmap "pushes the map into PyTorch operations called by"',
    asked="forward hook inside vmap shape of activations per sample batch dimension missing called once",
    level="observed",
    needs="torch.func.vmap",
    value="once, one sample",
    wrong={"once a sample": "each sample", "with the batch": "once, the batch"},
    witness={"path": "block", "kind": "forward", "batch": 2, "rows": 3, "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), kind=st.sampled_from(FORWARDS), batch=st.integers(2, 4), rows=FEW, form=ANY)
def test_vmap_forward(subject: Subject, path: str, kind: str, batch: int, rows: int, form: Any) -> None:
    from torch.func import vmap

    seen: List[List[int]] = []
    net = network(form)
    hook(net, path, kind, 5, lambda given: seen.append(list(first_of(given).shape)))
    vmap(net)(ones(batch, rows, 1))
    sample, whole = [rows, 1], [batch, rows, 1]
    called_with = {"once, one sample": [sample], "each sample": [sample] * batch, "once, the batch": [whole]}
    assert seen == called_with[subject.value] * runs(form, path)


@clause(
    "modes.func.vmap_chunks",
    says="In vmap with chunk_size=n a forward hook or pre-hook is called once for each n samples.",
    where="the batch may end with fewer",
    source='docs: torch.func.vmap "compute the vmap :attr:`chunk_size` samples at a time"',
    asked="vmap chunk_size hook number of calls",
    see="modes.func.vmap_forward",
    needs="torch.func.vmap(chunk_size)",
    value="chunks",
    wrong={"once for all": "all"},
    witness={"path": "block", "kind": "forward", "batch": 3, "size": 2, "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), kind=st.sampled_from(FORWARDS), batch=FEW, size=FEW, form=ANY)
def test_vmap_chunks(subject: Subject, path: str, kind: str, batch: int, size: int, form: Any) -> None:
    from torch.func import vmap

    seen: List[Any] = []
    net = network(form)
    hook(net, path, kind, 5, seen.append)
    vmap(net, chunk_size=size)(ones(batch, 1, 1))
    assert len(seen) == (-(-batch // size) if subject.value == "chunks" else 1) * runs(form, path)


@clause(
    "modes.func.vmap_backward",
    says="Backward hooks of modules that vmap runs are not called by a backward() outside of vmap, with no error.",
    where="their inputs come from what vmap maps over",
    source="measured",
    asked="register_full_backward_hook not called under vmap functorch backward hook silently ignored",
    needs="torch.func.vmap",
    about=BACKWARD_APIS,
    value="dropped",
    wrong={"used": "used"},
    witness={"path": "block", "kind": "full_backward", "by": 5, "batch": 2, "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), kind=st.sampled_from(BACKWARDS), by=BY, batch=FEW, form=ANY)
def test_vmap_backward(subject: Subject, path: str, kind: str, by: int, batch: int, form: Any) -> None:
    from torch.func import vmap

    seen: List[Any] = []
    net = network(form)
    hook(net, path, kind, by, seen.append)
    found = called(vmap(net), ones(batch, 1, 1))
    assert (taken(found, hooked(path, kind, by, form=form)), seen) == (subject.value, [])


@clause(
    "modes.func.grad_full",
    says="A full backward hook or pre-hook in torch.func.grad, vjp or jacrev makes them raise RuntimeError.",
    where="the gradient goes through its module",
    source=(ISSUE + "99556", "measured"),
    asked="per sample gradients torch.func.grad full backward hook RuntimeError "
    "setup_context staticmethod autograd.Function functorch transforms",
    needs="torch.func.grad",
    about=FULL_APIS,
    value="RuntimeError",
    wrong={"accepted": "accepted"},
    witness={"path": "block", "kind": "full_backward", "way": "grad", "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), kind=st.sampled_from(FULLS), way=reverse("jacrev", "vmap of grad"), form=ANY)
def test_grad_full(subject: Subject, path: str, kind: str, way: str, form: Any) -> None:
    net = network(form)
    hook(net, path, kind)
    assert outcome(lambda: transformed(way, net, ones())) == subject.value


@clause(
    "modes.func.grad_tensor",
    says="In torch.func.grad and vjp a tensor hook on an activation made of their input is called, its result used.",
    where=("a forward hook registers it", "no transform inside"),
    source="measured",
    asked="capture or change gradient of activation inside torch.func.grad vjp with output.register_hook",
    needs="torch.func.grad",
    about=("register_hook", "register_forward_hook"),
    value="used",
    wrong={"dropped": "dropped"},
    witness={"path": "block", "by": 5, "way": "grad", "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), by=BY, way=reverse("vmap of grad"), form=ANY)
def test_grad_tensor(subject: Subject, path: str, by: int, way: str, form: Any) -> None:
    seen: List[Any] = []
    net = network(form)

    def after(module: Any, args: Any, output: Any) -> None:
        first_of(output).register_hook(multiplies(by, seen.append))

    within(net, path).register_forward_hook(after)
    (_, eager), calls = called(net), len(seen)
    assert eager != 6
    found = transformed(way, net, ones())
    assert (found, len(seen) - calls) == ((eager, calls) if subject.value == "used" else (6, 0))


@clause(
    "modes.func.outer_tensor",
    says="A tensor hook that x has already is not called by torch.func.grad(f)(x), and changes nothing of it.",
    source="measured",
    asked="x.register_hook not called by torch.func.grad vjp jacrev gradient hook on input ignored",
    needs="torch.func.grad",
    about="register_hook",
    value="dropped",
    wrong={"used": "used"},
    witness={"by": 5, "way": "grad", "hooks": 1, "form": straight},
)
@given(by=BY, way=reverse("jacrev"), hooks=FEW, form=ANY)
def test_outer_tensor(subject: Subject, by: int, way: str, hooks: int, form: Any) -> None:
    seen: List[Any] = []
    x = ones()
    for _ in range(hooks):
        x.register_hook(multiplies(by, seen.append))
    found = transformed(way, network(form), x)
    assert (found, len(seen)) == ((6, 0) if subject.value == "dropped" else (6 * by**hooks, hooks))


@clause(
    "modes.func.jvp",
    says="torch.func.jvp and jacfwd call no backward hook of a module, and raise no error because of it.",
    where="its inputs come from what is differentiated",
    see="backward.modes.forward_ad",
    source="measured",
    asked="forward mode jvp jacfwd with module that has backward hooks registered",
    needs="torch.func.jvp",
    about=BACKWARD_APIS,
    value=0,
    wrong={"called": 1},
    witness={"path": "block", "kind": "full_backward", "way": "jvp", "form": straight},
)
@given(
    path=st.sampled_from(ANYWHERE), kind=st.sampled_from(BACKWARDS), way=st.sampled_from(["jvp", "jacfwd"]), form=ANY
)
def test_jvp(subject: Subject, path: str, kind: str, way: str, form: Any) -> None:
    seen: List[Any] = []
    net = network(form)
    hook(net, path, kind, 5, seen.append)
    assert (transformed(way, net, ones()), len(seen)) == (6, subject.value)
