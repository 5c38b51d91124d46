"""Made-up counts of what hooks cost, and times of pytest-benchmark, as the files that the reports read."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports.costs.counts import Times, from_benchmarks, from_counts
from reports.costs.recorded import NOTHING, merged, write_record

PYTHONS = ("3.8.18 (default) [GCC 12.2.0]", "3.11.7 (main, May  9 2026, 07:35:25) [GCC 12.2.0]")
SEEDS = (1, 2, 3, 4, 5)
FULL = "torch.nn.Module.register_full_backward_hook"
#: kind -> words, work, the pass without the hook, what the hook adds, how far counts of one torch lie apart, and the
#: first release that has it.
KINDS = {
    "forward_pre": ("forward pre-hook", "forward", 9_000, 11_400, 20, (1, 4)),
    "forward": ("forward hook", "forward", 9_000, 12_000, 20, (1, 4)),
    "full_backward": ("full backward hook", "both", 130_000, 247_000, 1_500, (1, 8)),
    "leaf": ("tensor hook on a leaf", "leaf", 120_000, 2_200, 10, (1, 4)),
    "post_accumulate": ("post-accumulate hook", "leaf", 120_000, 2_300, 10, (2, 1)),
}


def document(torch: str = "2.14.1", slower: dict[str, float] | None = None, **changes: Any) -> dict[str, Any]:
    """Return a counts file; `slower` is by how many times a kind costs more. The same for the same arguments."""
    release = tuple(int(part) for part in torch.split(".")[:2])
    chance = random.Random(torch + str(slower))
    rows = []
    for kind, (says, work, bare, added, apart, since) in KINDS.items():
        added *= (slower or {}).get(kind, 1.0)
        for figure, share in (("hook", 1.0), ("second", 0.4), ("register", 0.1)):
            name = FULL if kind == "full_backward" else f"torch.{kind}"
            row = {"figure": figure, "kind": kind, "says": says, "absent": [name], "why": "", "bare": [], "added": []}
            row["work"] = "nothing" if figure == "register" else work
            if release >= since:
                numbers = [round(added * share + chance.uniform(-apart, apart) / 2, 1) for _ in SEEDS]
                row.update(absent=[], bare=[float(bare)] * len(SEEDS), added=numbers)
            rows.append(row)
    build = {"python": PYTHONS[release >= (1, 13)], "libc": "glibc 2.36", "valgrind": "valgrind-3.19.0"}
    return {"format": "hook counts 1", "torch": torch, "build": build, "seeds": list(SEEDS), "rows": rows, **changes}


def write(path: Path, reported: Any) -> Path:
    """Write a document."""
    path.write_text(json.dumps(reported), "utf-8")
    return path


def benchmarks(torch: str = "2.14.1") -> dict[str, Any]:
    """Return what pytest-benchmark writes: a forward hook adds 900 ns, on the large layer between the two ranges."""
    sides = [({"kind": "plain_call", "says": "plain call", "workload": "empty", "side": "bare"}, 60e-9)]
    for load, bare in (("empty", 600e-9), ("small", 9e-6), ("large", 44.5e-6)):
        one = {"kind": "forward", "says": "forward hook", "workload": load, "torch": torch}
        sides += [({**one, "side": "bare"}, bare), ({**one, "side": "hook"}, bare + 900e-9)]
    stats = [{"median": middle, "q1": middle * 0.99, "q3": middle * 1.01, "data": [middle]} for _, middle in sides]
    found = [{"extra_info": info, "stats": one} for (info, _), one in zip(sides, stats, strict=True)]
    machine = {"machine": "x86_64", "python_version": "3.11.7", "cpu": {"brand_raw": "Made-up 9000"}}
    return {"machine_info": machine, "benchmarks": found, "version": "5.3.1"}


def times(torch: str = "2.14.1") -> Times:
    """Return these times as they are read."""
    return from_benchmarks(benchmarks(torch), Path("times.json"))


def record(path: Path, slower: Mapping[str, dict[str, float]], times: Times | None = None) -> Path:
    """Record these releases, each with what costs more on it."""
    costs = [from_counts(document(torch, slower=kinds), Path(torch)) for torch, kinds in slower.items()]
    write_record(merged(NOTHING, costs, times), path)
    return path
