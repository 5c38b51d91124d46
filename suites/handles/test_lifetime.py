"""How long modules, optimizers and hooks live: a hook that refers to what it is on, and hooks on everything."""

import functools
import weakref
from typing import Any, List, Sequence

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.contract import by_contract
from fixtures.draw.plans import available
from fixtures.families import MODULE_KINDS
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.hooking import Holds, fates
from suites.names import GLOBAL_FORWARD
from suites.optimizer.optimizers import optimizer

STEPS = ("step_pre", "step_post")
EVERY_KIND = (*MODULE_KINDS, *STEPS)
ABOUT = apis(EVERY_KIND)
#: Of the global ones no legacy hooks: torch does not take them next to full ones.
EVERYWHERE = tuple(kind for kind in EVERY_KIND if kind != "backward")


def a_kind(kinds: Sequence[str]) -> Any:
    """A strategy: one of these kinds that this torch has."""
    return by_contract(lambda contract: st.sampled_from(available(contract, kinds)))


def owner(kind: str) -> Any:
    """A module, or an optimizer, that can have a hook of this kind."""
    return optimizer() if kind in STEPS else make.Linear(1, 1)


def use(one: Any, kind: str) -> None:
    """Have such a hook called."""
    one.step() if kind in STEPS else one(make.ones(1, 1)).sum().backward()


@each(
    Row(
        "handles.lifetime.own_cycle",
        "A module or optimizer that one of its own hooks holds is freed by the garbage collector alone.",
        "measured",
        where=("nothing else holds it", "it keeps no tensor with a graph"),
        see=("handles.lifetime.weakly", "backward.modes.own_output"),
        asked="model not freed right after del, gpu memory goes up until gc.collect, hook is a bound method or closure",
        value="by the collector",
        wrong={"at once": "at once", "never": "never"},
        witness={"kind": "forward", "form": "partial", "used": True},
        weakly=False,
    ),
    Row(
        "handles.lifetime.weakly",
        "A module or optimizer whose hooks refer to it by weakref.ref alone is freed at once.",
        "measured",
        where=("nothing else holds it", "it keeps no tensor with a graph"),
        asked="hook with weakref to its model freed immediately without garbage collector",
        value="at once",
        wrong={"by the collector": "by the collector", "never": "never"},
        witness={"kind": "forward", "form": "partial", "used": True},
        weakly=True,
    ),
    kind=lambda row: a_kind(EVERY_KIND),
    form=lambda row: st.sampled_from(["object", "partial", "closure", "method"]),
    used=lambda row: st.booleans(),
)
def refers_to_it(subject: Subject, kind: str, form: str, used: bool, *, row: Any) -> None:
    def made() -> List[Any]:
        one = owner(kind)
        held = weakref.ref(one) if row.weakly else one
        hook = Holds(held)
        forms = {
            "partial": functools.partial(lambda held, *given: None, held),
            "closure": lambda *given: hook(held),
            "method": hook.__call__,
        }
        getattr(one, f"register_{kind}_hook")(forms.get(form, hook))
        if used:
            use(one, kind)
        return [one]

    use(owner(kind), kind)  # the first optimizer of a process has torch import more, and that makes cycles
    assert fates(made) == [subject.value]


@clause(
    "handles.lifetime.everywhere",
    says="A global hook of modules or optimizers, and what it refers to, is not freed before it is removed.",
    source="measured",
    asked="register_module_forward_hook memory leak model in closure stays alive handle was dropped no reference left",
    about=apis(EVERYWHERE, everywhere=True),
    needs=GLOBAL_FORWARD,
    value=True,
    wrong={"freed": False},
    witness={"kind": "forward", "used": True},
)
@given(kind=a_kind(EVERYWHERE), used=st.booleans())
def test_everywhere(subject: Subject, kind: str, used: bool) -> None:
    import gc

    import torch.nn.modules.module as modules
    import torch.optim.optimizer as optimizers

    where = optimizers if kind in STEPS else modules
    module = make.Linear(1, 1)
    hook = Holds(module)
    alive = [weakref.ref(module), weakref.ref(hook)]
    handle = getattr(where, f"register_{'optimizer' if kind in STEPS else 'module'}_{kind}_hook")(hook)
    try:
        if used:
            use(owner(kind), kind)
        del module, hook
        gc.collect()
        assert [one() is not None for one in alive] == [subject.value] * 2
    finally:
        handle.remove()
    assert [one() for one in alive] == [None] * 2
