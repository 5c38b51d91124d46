"""How often counting reports what is not there, and finds what is: python -m suites.selfcheck.costs.count_trials FILES.

The first is a counts file with many seeds (`python -m suites.timing --count --seeds 20 --out FILE`): five of them and
five others, drawn again and again, must not differ. The second, if any, is of a torch slower on purpose, and must:

    python -m suites.selfcheck.costs.count_trials --slowed forward=5,full_backward=45 --seeds 20 --out FILE
"""

from __future__ import annotations

import copy
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from reports.costs.change import changes
from reports.costs.counts import Costs, from_counts
from suites.timing import __main__ as timing

SEEDS = 5
SAME, SLOWED = 40, 20


def part(counts: dict[str, Any], places: list[int]) -> Costs:
    """Return a counts file with these of its seeds only."""
    found = copy.deepcopy(counts)
    found["seeds"] = [counts["seeds"][place] for place in places]
    for row in found["rows"]:
        for name in ("bare", "added"):
            row[name] = [row[name][place] for place in places] if row[name] else []
    return from_counts(found, Path("seeds"))


def draw(before: dict[str, Any], after: dict[str, Any], number: int) -> list[tuple[str, str]]:
    """Compare five seeds of one file with five of the other, none in common; return the changes reported."""
    chance = random.Random(number)
    places = chance.sample(range(len(before["seeds"])), 2 * SEEDS)
    others = places[SEEDS:] if before is after else chance.sample(range(len(after["seeds"])), SEEDS)
    return [each.after.key for each in changes(part(before, places[:SEEDS]), part(after, others))]


def main(arguments: list[str]) -> int:
    """Run the trials and print what was reported how often. Returns 1 for a false report, or a missing one."""
    if arguments[:1] == ["--slowed"]:
        os.environ["SLOWED"] = arguments[1]
        timing.PROGRAM, timing.KEPT = "suites.selfcheck.costs.slow_torch", (*timing.KEPT, "SLOWED")
        sys.argv[1:] = ["--count", *arguments[2:]]
        return timing.main()
    base, *more = (json.loads(Path(name).read_text("utf-8")) for name in arguments)
    false = [key for number in range(SAME) for key in draw(base, base, number)]
    print(f"{SAME} comparisons of one torch: {len(false)} changes reported {dict(Counter(false)) or ''}")
    missed = 0
    for slowed in more:
        found = Counter(key for number in range(SLOWED) for key in set(draw(base, slowed, number)))
        print(f"{SLOWED} comparisons with a slower one report:")
        for key, times in found.most_common():
            print(f"  {' '.join(key)}: {times}")
        missed += sum(found["hook", kind] < SLOWED for kind in ("forward", "full_backward"))
    return int(bool(false or missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
