"""Code that torch.compile reuses for another module of the class: hooks inside are not guarded where it had none."""

import copy
from typing import Any

from hypothesis import strategies as st

from fixtures.clause.clause import by_release
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.modes.compile.networks import APIS, INNER, KINDS, became, called, compiled, hook, network
from suites.modes.compile.sources import NOTICED, PAGE
from suites.modes.sources import COMPILE, EAGER

ABOUT = APIS
SAME = (f'{PAGE} "If you install hooks before calling"', NOTICED)
KIND = "forward_pre|forward|full_backward_pre|full_backward|backward"
RUN = "the graph runs the hooked module"


def blocks_of(layer: bool, count: int) -> Any:
    """Networks of one class, one after another; the first module of each is an nn.Linear, or one like the others."""
    import torch

    class Blocks(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            block = network(first=torch.nn.Linear(1, 1).double() if layer else None)
            self.blocks = torch.nn.ModuleList([block, *(copy.deepcopy(block) for _ in range(count - 1))])

        def forward(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return x

    return Blocks()


def inside(row: Any) -> Any:
    """Where in a network the hook is."""
    return st.just("first") if row.layer else INNER


@each(
    Row(
        "modes.compile.instance",
        "Inner modules ignore hooks where torch reuses the graph of a like module without hooks.",
        SAME,
        asked="hooks ignored second model same class torch.compile teacher student",
        where=(RUN, EAGER),
        see="modes.compile.instance_layer",
        level="observed",
        docs="contradicts",
        needs=COMPILE,
        matters_if=f"{KIND} own ?compiled ?class_compiled",
        readings=by_release(
            "none",
            ("2.6", "ignored", "ignored"),
            "Inner modules ignore hooks where torch reuses the graph of a like module without hooks.",
            ("", "runs", "runs"),
            "Hooks on inner modules with their own forward run also if a like one without hooks was compiled before.",
        ),
        note="Like: of one class, with inputs and parameters equal in shape, strides, dtype and requires_grad, and "
        "equal attributes and arguments that its forward reads; another network, or another block where each "
        "is compiled by itself. Register such hooks on all of them: of this kind, on the same inner module. "
        "Or set torch._dynamo.config.skip_nnmodule_hook_guards = False. A forward hook inside the first one "
        "is ignored, too, once a like one without hooks was called.",
        layer=False,
        witness={"kind": "forward", "path": "first", "blocks": False},
    ),
    Row(
        "modes.compile.instance_layer",
        "Inner nn.Linear ignore hooks where torch reuses the graph of a like module without hooks.",
        SAME,
        asked="hook on nn.linear ignored compile each transformer block regional compilation",
        where=(RUN, EAGER),
        see="modes.compile.instance",
        level="observed",
        docs="contradicts",
        needs=COMPILE,
        matters_if=f"{KIND} own ?compiled ?class_compiled",
        readings=by_release(
            "none",
            ("2.5", "ignored", "ignored"),
            "Inner nn.Linear ignore hooks where torch reuses the graph of a like module without hooks.",
            ("", "runs", "runs"),
            "Hooks on an inner nn.Linear run also where a like module without hooks was compiled before.",
        ),
        layer=True,
        witness={"kind": "forward", "path": "first", "blocks": False},
    ),
    kind=lambda row: st.sampled_from(KINDS),
    path=inside,
    blocks=lambda row: st.booleans(),
)
def reused(subject: Subject, kind: str, path: str, blocks: bool, *, row: Any) -> None:
    import torch

    net = blocks_of(row.layer, 2)
    first, second = net.blocks
    whole = net if blocks else second
    plain = called(whole)
    hook(second, path, kind, 5)
    eager = called(whole)
    before, call = compiled(first), torch.compile(second, backend="eager")
    if not blocks:
        called(before)
    found = [called(lambda x: call(before(x))) if blocks else called(call) for _ in range(2)]
    assert [became(one, eager, plain) for one in found] == [subject.value] * 2


@each(
    Row(
        "modes.compile.repeated",
        "If a compiled loop reuses a like block's graph without hooks, backward hooks inside a block do not run.",
        SAME,
        asked="full backward hook only first block fires torch.compile repeated layers",
        where=(RUN, EAGER),
        see=("modes.compile.instance", "modes.compile.repeated_layer"),
        level="observed",
        docs="contradicts",
        needs=COMPILE,
        about=APIS[2:],
        matters_if="full_backward_pre|full_backward|backward own ?compiled ?class_compiled",
        readings=by_release(
            "none",
            ("2.6", "ignored", "ignored"),
            "If a compiled loop reuses a like block's graph without hooks, backward hooks inside a block do not run.",
            ("", "runs", "runs"),
            "In a loop over blocks a backward hook on a module with its own forward runs, also if one before has none.",
        ),
        note="The hook breaks the graph in the loop, so torch compiles each block by itself. A block reuses what "
        "was compiled for the first one if it is like it: of one class, with inputs and parameters equal in "
        "shape, strides, dtype and requires_grad, and equal attributes and arguments. If the first one has "
        "such hooks, those of the others run. If not, forward hooks inside of the others are ignored, too. "
        "Blocks in an nn.Sequential are a loop as well. A block that checkpoint calls, or with an nn.LSTM or "
        "nn.GRU inside, is not compiled: its hooks run, but on 2.1 checkpoint fails. All run with "
        "torch._dynamo.config.skip_nnmodule_hook_guards = False.",
        layer=False,
        witness={"kind": "full_backward", "path": "first", "place": 1},
    ),
    Row(
        "modes.compile.repeated_layer",
        "If a compiled loop reuses a like block's graph without hooks, backward hooks on its nn.Linear do not run.",
        SAME,
        asked="gradient hook linear layer third block silently skipped compiled model",
        where=(RUN, EAGER),
        see="modes.compile.repeated",
        level="observed",
        docs="contradicts",
        needs=COMPILE,
        about=APIS[2:],
        matters_if="full_backward_pre|full_backward|backward own ?compiled ?class_compiled",
        readings=by_release(
            "none",
            ("2.5", "ignored", "ignored"),
            "If a compiled loop reuses a like block's graph without hooks, backward hooks on its nn.Linear do not run.",
            ("", "runs", "runs"),
            "In a loop over blocks a backward hook on an nn.Linear in one runs, also if one before it has none.",
        ),
        layer=True,
        witness={"kind": "full_backward", "path": "first", "place": 1},
    ),
    kind=lambda row: st.sampled_from(KINDS[2:]),
    path=inside,
    place=lambda row: st.integers(1, 2),
)
def repeated(subject: Subject, kind: str, path: str, place: int, *, row: Any) -> None:
    net = blocks_of(row.layer, 3)
    plain = called(net)
    hook(net.blocks[place], path, kind, 5)
    eager = called(net)
    call = compiled(net)
    assert [became(called(call), eager, plain) for _ in range(2)] == [subject.value] * 2
