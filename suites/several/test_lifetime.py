"""What hooks of several tensors keep alive: in mode "all" each knows the nodes of its tensors, and what has come."""

import weakref
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.hooking import SOME, Holds, fates, raised
from suites.several.sources import HAS_ALL, HAS_ANY
from suites.tensors import leaf

ABOUT = "register_multi_grad_hook"

#: What holds the leaves, and the gradients of passes that are not complete.
CODE = 'code: torch/autograd/graph.py "grad_fns = list(map(_get_grad_fn_or_grad_acc, tensors))"'
BUFFER = 'code: torch/autograd/graph.py "buffer[id][idx] = grad"'


def register(tensors: List[Any], hook: Any, **options: Any) -> Any:
    import torch

    return torch.autograd.graph.register_multi_grad_hook(tensors, hook, **options)


@clause(
    "several.lifetime.leaf",
    says='A leaf with a multi-grad hook of mode "all" is never freed, also where the hook refers to nothing.',
    where="the hook is not removed",
    source=CODE,
    asked="register_multi_grad_hook memory leak parameters of deleted model stay on the gpu gc.collect does not help",
    effect="silent",
    needs=HAS_ALL,
    value="never",
    wrong={"at once": "at once", "by the collector": "by the collector"},
    witness={"leaves": 1, "more": False, "passed": False},
)
@given(leaves=SOME, more=st.booleans(), passed=st.booleans())
def test_leaf(subject: Subject, leaves: int, more: bool, passed: bool) -> None:
    handles: List[Any] = []
    kept: List[Any] = []

    def made() -> List[Any]:
        tensors = [leaf(1) for _ in range(leaves)]
        products = [2 * tensor for tensor in tensors]
        handles.append(register(tensors + products * more, Holds()))
        if passed:
            sum(products).backward()
        kept.extend(map(weakref.ref, tensors))
        return tensors

    assert fates(made) == [subject.value] * leaves
    for handle in handles:
        handle.remove()
    assert [seen() for seen in kept] == [None] * leaves


@clause(
    "several.lifetime.downstream",
    says='A multi-grad hook of mode "all" on y and on z, made of y, keeps their graph and its leaves for ever.',
    where="the hook is not removed",
    see="several.lifetime.leaf",
    source=CODE,
    asked="multi grad hook on hidden states of consecutive layers leaks the graph of each batch",
    needs=HAS_ALL,
    matters_if="multi_all ?refers_to_node",
    readings=by_release(
        ("silent", "none"),
        ("2.1", "never", "never"),
        'A multi-grad hook of mode "all" on y and on z, made of y, keeps their graph and its leaves for ever.',
        ("", "by the collector", "by the collector"),
        'A multi-grad hook of mode "all" on y and on z, made of y, is freed with their graph by gc.collect().',
    ),
    witness={"between": 1, "leaves": 1, "passed": False},
)
@given(between=SOME, leaves=SOME, passed=st.booleans())
def test_downstream(subject: Subject, between: int, leaves: int, passed: bool) -> None:
    handles: List[Any] = []

    def made() -> List[Any]:
        tensors = [leaf(1) for _ in range(leaves)]
        y = z = 2 * sum(tensors)
        for _ in range(between):
            z = 2 * z
        handles.append(register([y, z], Holds()))
        if passed:
            (2 * z).backward()
        return tensors

    assert fates(made) == [subject.value] * leaves
    handles[0].remove()


@clause(
    "several.lifetime.root",
    says='A multi-grad hook of mode "all" on y alone keeps the gradient of y in each y.backward().',
    where=("until it is removed or y is freed", "y is not changed in place"),
    see="several.root.alone",
    source=BUFFER,
    asked="memory grows with every backward register_multi_grad_hook on the loss or output, no error, gradients kept",
    effect="silent",
    needs=HAS_ALL,
    value="each",
    wrong={"none": "none", "the last": "last"},
    witness={"passes": 2, "twice": False},
)
@given(passes=SOME, twice=st.booleans())
def test_root(subject: Subject, passes: int, twice: bool) -> None:
    seen: List[Any] = []
    y = 2 * leaf(1)
    y.register_hook(lambda grad: seen.append(weakref.ref(grad)))
    handle = register([y] * (1 + twice), Holds())
    for _ in range(passes):
        y.backward(retain_graph=True)
    left = {"each": passes, "last": 1}.get(subject.value, 0)
    assert [grad() is not None for grad in seen] == [False] * (passes - left) + [True] * left
    handle.remove()
    del handle
    assert [grad() for grad in seen] == [None] * passes


@each(
    Row(
        "several.lifetime.raises",
        'A multi-grad hook of mode "all" that raises keeps the gradients that it was given.',
        BUFFER,
        where="until it is removed or all its tensors are freed",
        asked="multi grad hook raised an exception and memory of gradients is never released out of memory after retry",
        effect="silent",
        needs=HAS_ALL,
        value=True,
        wrong={"lets them go": False},
        witness={"passes": 1, "tensors": 2},
        fails="itself",
        options={},
    ),
    Row(
        "several.lifetime.failed_pass",
        'A multi-grad hook of mode "all" keeps what has come to it if the pass fails before it is called.',
        BUFFER,
        where="until it is removed or all its tensors are freed",
        asked="backward failed with an error then retried, gradients of the failed pass are never freed",
        effect="silent",
        needs=HAS_ALL,
        value=True,
        wrong={"lets it go": False},
        witness={"passes": 1, "tensors": 2},
        fails="another",
        options={},
    ),
    Row(
        "several.lifetime.any",
        'A multi-grad hook of mode "any" that raises does not keep the gradient that it was given.',
        "measured",
        asked="does the first gradient callback mode any hold on to memory when it raises an exception",
        needs=HAS_ANY,
        value=False,
        wrong={"keeps it": True},
        witness={"passes": 1, "tensors": 2},
        fails="itself",
        options={"mode": "any"},
    ),
    passes=lambda row: SOME,
    tensors=lambda row: SOME,
)
def gradients_kept(subject: Subject, passes: int, tensors: int, *, row: Any) -> None:
    def fails(grad: Any) -> None:
        raise ValueError

    seen: List[Any] = []
    x = leaf(1)
    # A pass goes from what was made last to the first; one over `oldest` takes out what failed passes left in torch.
    oldest, first, *others = [2 * x for _ in range(tensors + 2)]
    for y in others:
        y.register_hook(lambda grad: seen.append(weakref.ref(grad)))
    if row.fails == "another":
        first.register_hook(fails)
    handle = register([first, *others], Holds() if row.fails == "another" else fails, **row.options)
    loss = first + sum(others)
    assert [raised(lambda: loss.backward(retain_graph=True), ValueError) for _ in range(passes)] == [
        "ValueError"
    ] * passes
    oldest.backward()
    assert seen
    assert [grad() is not None for grad in seen] == [subject.value] * len(seen)
    handle.remove()
    del handle
    assert [grad() for grad in seen] == [None] * len(seen)
