"""Module.compile(), which compiles a module in place: there is no wrapper for global hooks to run for."""

import copy
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.judge.subject import Subject
from suites.modes.compile.networks import (
    APIS,
    EVERYWHERE,
    INNER,
    became,
    called,
    everywhere,
    hook,
    network,
    noting,
)
from suites.modes.compile.sources import UNBROKEN
from suites.modes.forms import ANY, BREAKS, LAYERS, ONE_GRAPH, PARTS, networks, scaled, straight
from suites.modes.sources import COMPILE, EAGER

ABOUT = APIS
IN_PLACE = (COMPILE, "torch.nn.Module.compile")


def compiled_in_place(net: Any, **options: Any) -> Any:
    """The same module after Module.compile()."""
    import torch

    torch.compiler.reset()
    net.compile(**{"backend": "eager", **options})
    return net


@clause(
    "modes.compile.in_place_global",
    says="After Module.compile() a global forward (pre-)hook runs as often as in eager mode, and in the same order.",
    where=("forward is your own", EAGER),
    see="modes.compile.global",
    source='code: torch/_dynamo/eval_frame.py "please try using `module.compile()`"',
    asked="model.compile() instead of torch.compile(model) global hooks no extra call",
    needs=IN_PLACE,
    about=EVERYWHERE[:2],
    value=0,
    wrong={"once more": 1},
    witness={"pre": False, "form": straight},
)
@given(pre=st.booleans(), form=networks(**dict.fromkeys(BREAKS, PARTS), in_layers=LAYERS))
def test_in_place_global(subject: Subject, pre: bool, form: Any) -> None:
    seen: List[str] = []
    net = compiled_in_place(network(form))
    with everywhere("forward_pre" if pre else "forward", noting(seen)):
        called(network(form))
        eager = seen[:]
        called(net)
    assert seen == [*eager, *eager, *["OptimizedModule"] * subject.value]


@clause(
    "modes.compile.in_place_late",
    says="After Module.compile() and a call, a hook added to it runs, a first one inside when it compiles anew.",
    where=(UNBROKEN, EAGER),
    see=("modes.compile.late_inner", "modes.compile.late_outer"),
    source="measured",
    asked="model.compile() hooks added later which ones run",
    needs=IN_PLACE,
    matters_if="forward_pre|forward|full_backward own ?compiled",
    readings=(
        Reading(
            "the outer one",
            "!=2.5.*",
            "After Module.compile() and a call, a hook added to it runs, a first one inside when it compiles anew.",
            value={"": "runs", "inner": "ignored"},
        ),
        Reading(
            "both",
            ">=2.5,<2.6",
            "After Module.compile() and a call, a hook added to the module runs, and so does one inside it.",
            value={"": "runs", "inner": "runs"},
            says_the_same=False,
        ),
    ),
    witness={"kind": "forward", "path": "first", "form": straight},
)
@given(kind=st.sampled_from(["forward_pre", "forward", "full_backward"]), path=INNER, form=ONE_GRAPH)
def test_in_place_late(subject: Subject, kind: str, path: str, form: Any) -> None:
    found = {}
    for on in ("", path):
        net, eager, plain = network(form), network(form), called(network(form))
        hook(eager, on, kind, 5)
        compiled_in_place(net)
        called(net)
        hook(net, on, kind, 5)
        found["inner" if on else ""] = became(called(net), called(eager), plain)
    assert found == subject.value


@clause(
    "modes.compile.in_place_copy",
    says="A deep copy of a module after Module.compile() keeps its module hooks and runs uncompiled.",
    where=("its class has no __deepcopy__, __getstate__", EAGER),
    source="measured",
    asked="deepcopy after model.compile() is copy compiled",
    needs=IN_PLACE,
    value=["Python", "graph"],
    wrong={"compiled again": ["graph", "graph"]},
    witness={"path": "first", "used": True, "form": straight},
)
@given(path=INNER, used=st.booleans(), form=ANY)
def test_in_place_copy(subject: Subject, path: str, used: bool, form: Any) -> None:
    import torch

    def times(module: Any, args: Any, output: Any) -> Any:
        return scaled(output, 5 if torch._dynamo.is_compiling() else 7)

    net = network(form)
    net.get_submodule(path).register_forward_hook(times)
    python = called(net)
    net.zero_grad()
    compiled_in_place(net)
    if used:
        called(net)
    graph = [[one / 7 * 5 for one in each] for each in python]
    names = {"runs": "graph", "ignored": "Python"}
    assert [names[became(called(each), graph, python)] for each in (copy.deepcopy(net), net)] == subject.value
