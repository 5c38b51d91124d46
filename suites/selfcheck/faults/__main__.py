"""`python -m suites.selfcheck.faults`: which clause rejects each fault, and how soon."""

import argparse
import json
import sys
import time

from suites.selfcheck.faults import FAULTS
from suites.selfcheck.faults.hunt import CHAPTERS, FULL, QUICK, RECORD, RECORDED, Hunter


def main() -> int:
    """Print one line per fault and the percentages. Returns 1 when a fault is caught by no clause."""
    parser = argparse.ArgumentParser(prog="python -m suites.selfcheck.faults", description=__doc__)
    parser.add_argument("--examples", type=int, default=FULL, metavar="N", help=f"plans per clause (default {FULL})")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} plans per clause")
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="faults whose name, or a clause near, begins so"
    )
    parser.add_argument("--new", action="store_true", help="faults of which no clause is recorded")
    parser.add_argument("--clauses", action="append", metavar="PREFIX", help="clauses whose id begins so, repeatable")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="where the search begins (default 0)")
    parser.add_argument("--all", action="store_true", help="name how many clauses catch it, not only the first (slow)")
    parser.add_argument("--why", action="store_true", help="print the first difference that the clause saw")
    parser.add_argument("--write", action="store_true", help="record which clause caught each fault, for the test")
    given = parser.parse_args()
    hunter = Hunter(QUICK if given.quick else given.examples, given.seed, tuple(given.clauses or CHAPTERS))
    wanted = tuple(given.only or [""])
    chosen = [one for one in FAULTS.values() if any(name.startswith(wanted) for name in (one.name, *one.near))]
    chosen = [one for one in chosen if not given.new or one.name not in RECORDED]
    caught = missed = subtle = subtle_caught = 0
    begin = time.perf_counter()
    for fault in chosen:
        if not fault.applies:
            print(f"{fault.name:28} absent in torch {hunter.version}")
            continue
        catch = hunter.hunt(fault, given.all or fault.control)
        first = catch.clauses[0] if catch else "-"
        number = f"{len(catch.clauses):4} " if given.all else ""
        if fault.control:
            print(f"{fault.name:28} control: " + (f"FAILS {', '.join(catch.clauses)}" if catch else "passes"))
            continue
        caught, missed = caught + bool(catch), missed + (not catch)
        subtle, subtle_caught = subtle + fault.subtle, subtle_caught + (fault.subtle and bool(catch))
        print(f"{fault.name:28} {'subtle' if fault.subtle else '      '} {number}{catch.seconds:7.2f} s  {first}")
        if given.why and catch:
            print(f"    {catch.why}")
        if catch:
            RECORDED[fault.name] = first
        if given.write:  # each time, for a run may be stopped
            kept = {name: RECORDED[name] for name in sorted(RECORDED) if name in FAULTS}
            RECORD.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        sys.stdout.flush()
    total = caught + missed
    print(f"\ntorch {hunter.version}, {hunter.examples} plans per clause, {len(hunter.clauses)} clauses, ", end="")
    print(f"{time.perf_counter() - begin:.0f} s: {caught} of {total} caught ", end="")
    print(f"({100 * caught / max(total, 1):.0f} %), {subtle_caught} of {subtle} subtle ones")
    if hunter.sound and not all(hunter.sound.values()):
        print("left out, for they fail on torch itself: " + ", ".join(n for n, ok in hunter.sound.items() if not ok))
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
