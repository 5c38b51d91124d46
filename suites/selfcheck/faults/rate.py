"""How densely plans reveal a fault: luck has no place in a search whose every tenth plan does."""

import warnings
from collections.abc import Iterable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from fixtures.clause.clause import CLAUSES, Clause
from fixtures.graph.errors import TooLarge
from fixtures.model.contract import contract_for, installed_version, with_facts
from fixtures.model.module import expect
from fixtures.plan.grammar import Plan
from fixtures.play.trace import Trace
from fixtures.stages.eager import Eager
from fixtures.stages.stage import missing
from suites.selfcheck.faults.base import Fault
from suites.selfcheck.faults.hunt import FULL, QUICK

Pairs = list[tuple[Plan, Trace]]


def drawn(clause: Clause, examples: int, number: int) -> Pairs:
    """Plans of a clause with the traces that they must leave."""
    pairs: Pairs = []
    function: Any = clause.function
    version = installed_version()
    contract = with_facts(contract_for(version), dict(clause.reading_for(version).facts))

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    @given(plan=function.hypothesis._given_kwargs["plan"])
    def collect(plan: Plan) -> None:
        try:
            pairs.append((plan, expect(plan, contract)))
        except TooLarge:
            return

    collect()
    return pairs


def share(fault: Fault, pairs: Pairs, eager: Eager) -> float:
    """The share of plans that do not leave the trace that they must."""
    wrong = 0
    with warnings.catch_warnings(), fault.on():
        warnings.simplefilter("ignore")
        for plan, trace in pairs:
            try:
                wrong += eager.play(plan) != trace
            except Exception:  # noqa: BLE001 - whatever a fault makes the player raise reveals it
                wrong += 1
    eager.torch.reset()
    return wrong / max(len(pairs), 1)


def print_rates(faults: Iterable[Fault], examples: int, number: int, prefixes: tuple[str, ...]) -> int:
    """One line per fault, the rarest first: the share for each clause, and the chance to catch it at all."""
    eager = Eager()
    names = [name for name in sorted(CLAUSES) if name.startswith(prefixes) and CLAUSES[name].plays]
    names = [name for name in names if not missing(CLAUSES[name].needs) and not CLAUSES[name].isolated]
    plans = {name: drawn(CLAUSES[name], examples, number) for name in names}
    rows = []
    for fault in faults:
        if fault.applies and not fault.control:
            shares = [share(fault, plans[name], eager) for name in names]
            missed = [1.0, 1.0]
            for one in shares:
                missed = [old * (1 - one) ** size for old, size in zip(missed, (QUICK, FULL), strict=True)]
            rows.append((1 - missed[0], 1 - missed[1], shares, fault.name))
    print("caught by drawn plans of " + ", ".join(names))
    print(f"{'fault':28}  quick   full   share of plans")
    for quick, full, shares, name in sorted(rows, key=lambda row: row[:2]):
        print(f"{name:28} {quick:6.1%} {full:6.1%}   " + "  ".join(f"{one:5.1%}" for one in shares))
    print(f"mean chance: quick {sum(row[0] for row in rows) / len(rows):.1%}", end="")
    print(f", full {sum(row[1] for row in rows) / len(rows):.1%}, of {len(rows)} faults")
    return 0
