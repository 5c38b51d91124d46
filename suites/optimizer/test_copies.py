"""What becomes of step hooks in a copy of the optimizer."""

import copy
import io
import pickle
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.optimizer.optimizers import NAMES, WHENS, counting, optimizer
from suites.optimizer.sources import ALL, CODE, OWN


def saved(one: Any) -> Any:
    """A copy of an optimizer by way of torch.save."""
    import torch

    file = io.BytesIO()
    torch.save(one, file)
    file.seek(0)
    return torch.load(file, **({"weights_only": False} if "weights_only" in torch.load.__code__.co_varnames else {}))


WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
    "save": saved,
}


@clause(
    "optimizer.copies.dropped",
    says="A copy of an optimizer, by copy.copy, deepcopy, pickle or torch.save, has none of its step hooks.",
    source=("measured", CODE),
    asked="deepcopy optimizer loses callbacks register_step_pre_hook "
    "not called after pickle torch.save checkpoint copy",
    note="A copied module keeps its hooks, and a pickled tensor that loses some warns; here nothing is said.",
    needs=OWN,
    about=ALL[:2],
    value=0,
    wrong={"go along": 1},
    witness={"whens": ["pre"], "ways": ["deepcopy"], "name": "SGD"},
)
@given(whens=WHENS, ways=st.lists(st.sampled_from([*WAYS]), min_size=1, max_size=3), name=NAMES)
def test_dropped(subject: Subject, whens: List[str], ways: List[str], name: str) -> None:
    one = optimizer(name)
    calls = counting(one, whens)
    made = one
    for way in ways:
        made = WAYS[way](made)
    made.step()
    assert len(calls) == len(whens) * subject.value
    one.step()
    assert len(calls) == len(whens) * (subject.value + 1)
