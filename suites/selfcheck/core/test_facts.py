"""Every fact of the contract has a sentence: a reading, a cause or a `needs=` says it, or there is a reason why not."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

from fixtures.clause.clause import CLAUSES
from fixtures.families import KINDS
from fixtures.model.contract import FACTS, contract_for
from suites.deviations import CAUSES
from suites.selfcheck.all_clauses import import_suites

import_suites()
#: Facts that a clause without plans says by its value -> that clause: its reading changes where the fact does.
BY_VALUE = {
    "full_clears_output": "backward.twice.second_pass",
    "nameless_hooks": "gradient.functions.without_a_name",
    "after_raising_pack": "saved.one.raises",
}
#: A fact that no kind names: about hooks on all modules, or of a small grammar -> what a clause needs there.
EVERYWHERE = {
    "global_forward_hooks": "torch.nn.modules.module.register_module_forward_hook",
    "state_assign": "torch.nn.Module.load_state_dict(assign)",
    "state_extra": "torch.nn.Module.set_extra_state",
    "state_kinds": "torch.nn.Module.register_state_dict_pre_hook",
    "state_non_persistent": "torch.nn.Module.register_buffer(persistent)",
}
#: Facts that are not about hooks.
REASONS = {
    "dtypes": "with which dtypes a torch computes; plans are drawn of those",
    "garbage_takes_tensors": "what Python's collector does with a tensor, whatever refers to it",
    "objects_hold_nodes": "how the object of a custom function's node refers to it, whatever hooks there are",
    "program_layers": "which layers a torch has; programs of the chapter `programs` are built of those",
    "grad_dtype": "what a leaf can be set to; gradient.kinds.dtype draws it where a torch has it",
}


def releases() -> list[str]:
    """The torch versions of tox.ini, oldest first."""
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(Path(__file__).resolve().parents[3] / "tox.ini")
    return re.findall(r"^torch[\d.]+.*: torch==(\S+)$", tox["testenv"]["deps"], re.MULTILINE)


def said() -> set[str]:
    """The facts that readings and causes name, and those that are doors to something that a clause needs."""
    found = {fact for clause in CLAUSES.values() for reading in clause.readings for fact in reading.facts}
    found |= {fact for cause in CAUSES for fact in cause.facts}
    needed = {need for clause in CLAUSES.values() for need in clause.needs}
    found |= {fact for fact, need in EVERYWHERE.items() if need in needed}
    for kind in KINDS.values():
        everywhere = f"torch.nn.modules.module.{kind.everywhere}"
        found |= {kind.door} if kind.needs in needed else set()
        for one in kind.options:
            found |= {one.own} if f"{kind.needs}({one.name})" in needed else set()
            found |= {one.everywhere} if f"{everywhere}({one.name})" in needed else set()
    return found


def test_every_fact_has_a_sentence() -> None:
    silent = set(FACTS) - said() - set(BY_VALUE) - set(REASONS)
    assert not silent, f"no reading, cause or needs= says {sorted(silent)}: write a clause, or a reason here"


def test_no_reason_is_needless() -> None:
    assert not {*BY_VALUE, *REASONS} & said()
    assert {*BY_VALUE, *REASONS} <= set(FACTS)


def test_a_clause_that_says_a_fact_by_its_value_changes_with_it() -> None:
    versions = releases()
    for fact, clause in BY_VALUE.items():
        pairs = [(getattr(contract_for(one), fact), CLAUSES[clause].reading_for(one).name) for one in versions]
        assert len(set(pairs)) == len({answer for answer, _ in pairs}) == len({name for _, name in pairs}), clause
