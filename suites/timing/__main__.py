"""What hooks cost on the installed torch: python -m suites.timing [--count | --times] [--out FILE] [--fresh].

It counts instructions under valgrind, in five processes with five hash seeds, and then times the same with
pytest-benchmark. Instructions can be compared: with another release, or with another build. Times are for reading.
`python -m reports overhead FILE` shows both.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict, List, Sequence

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_OUT = Path("reports/out/counts/current.json")
FORMAT = "hook counts 1"
SEEDS = 5
PROGRAM = "suites.timing.count"
VALGRIND = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=counts", "-q"]
#: What a process is given of the environment: all else would move what lies in memory, and so the figures.
KEPT = ("PATH", "HOME", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR", "VIRTUAL_ENV")


class CountError(Exception):
    """What the user can set right; its text is one line."""


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    found = argparse.ArgumentParser(
        prog="python -m suites.timing",
        description="Count, and time, what hooks cost on the torch that is installed for this Python.",
        epilog="exit status: 0 done, 2 it could not be. next: python -m reports overhead FILE",
    )
    found.add_argument("--count", action="store_true", help="count instructions only")
    found.add_argument("--times", action="store_true", help="measure times only: FILE.times.json")
    found.add_argument("--out", type=Path, default=DEFAULT_OUT, metavar="FILE", help="default: %(default)s")
    found.add_argument("--fresh", action="store_true", help="replace a file that exists")
    found.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help="processes to count in; default: 5")
    found.add_argument("--first-seed", type=int, default=1, metavar="K", help="their hash seeds are K, K + 1, ...")
    found.add_argument("--jobs", type=int, default=1, metavar="N", help="processes at the same time; default: 1")
    found.add_argument("--kinds", default="", metavar="A,B", help="count these kinds of hooks only")
    return found


def obstacle() -> str:
    """Return why nothing can be counted on this machine, and the way out; nothing where it can."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return f"counting needs an x86-64 processor, and this one is {platform.machine()}: count there, or read times"
    if not shutil.which("valgrind"):
        return "counting needs valgrind, which is not installed: apt-get install valgrind, or the like"
    return ""


def process(folder: Path, seed: int, kinds: str, under: List[str]) -> Dict[str, Any]:
    """Run one process and return what it found. Raises CountError where it ends otherwise than in order.

    The working folder and all names are the same in each run: a longer path alone moves figures by a percent.
    """
    work = folder / f"seed{seed}"
    work.mkdir(parents=True, exist_ok=True)
    settings = {name: os.environ[name] for name in KEPT if name in os.environ}
    settings["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [settings.get("PYTHONPATH")])])
    settings.update(PYTHONHASHSEED=str(seed), OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", PYTHONWARNINGS="ignore")
    command = [*under, sys.executable, "-m", PROGRAM, "counts", kinds]
    done = subprocess.run(
        command, check=False, env=settings, cwd=str(work), stdin=subprocess.DEVNULL, capture_output=True
    )
    lines = done.stdout.decode().splitlines()
    shutil.rmtree(str(work))
    if done.returncode or not lines:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing"]
        raise CountError(f"the process with hash seed {seed} ended with {done.returncode} and said: {said[-1][:200]}")
    found = json.loads(lines[-1])
    if under and not found["figures"] and not all(row["absent"] or row["why"] for row in found["rows"]):
        raise CountError("valgrind ran, but did not count: try valgrind --version, 3.19 is known to do")
    return found


def count(folder: Path, options: argparse.Namespace, why: str) -> Dict[str, Any]:
    """Count in so many processes. Returns the content of a counts file; `why` says why no figure is to be had."""
    began, done, seeds = time.monotonic(), 0, options.seeds
    # Without valgrind: what there is to count. It also writes byte code: compiling under valgrind takes minutes.
    plain = process(folder, options.first_seed, options.kinds, [])
    numbers = range(options.first_seed, options.first_seed + seeds)
    found: Dict[int, Any] = {}

    def one(seed: int) -> None:
        nonlocal done
        found[seed] = process(folder, seed, options.kinds, VALGRIND)
        done += 1
        passed = time.monotonic() - began
        left = passed / done * (seeds - done)
        print(f"seed {seed}: {done} of {seeds}  {passed:.0f} s  about {left:.0f} s left", flush=True)

    if not why:
        with ThreadPoolExecutor(options.jobs) as pool:
            for each in [pool.submit(one, seed) for seed in numbers]:
                each.result()
    for row in plain["rows"]:
        name = "{figure} {kind}".format(**row)
        row["why"] = row["why"] or ("" if row["absent"] else why)
        pairs = [found[seed]["figures"][name] for seed in numbers if not (row["absent"] or row["why"])]
        row["bare"], row["added"] = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    version = "no valgrind" if why else subprocess.check_output([VALGRIND[0], "--version"]).decode().strip()
    build = dict(plain["build"], valgrind=version)
    return {"format": FORMAT, "torch": plain["torch"], "build": build, "seeds": list(numbers), "rows": plain["rows"]}


def measure_times(out: Path) -> None:
    """Run the benchmarks of `suites/timing`. Raises CountError where they fail."""
    command = [sys.executable, "-m", "pytest", "suites/timing", "--benchmark-only", "-q", "-W", "ignore"]
    command += [f"--benchmark-json={out.resolve()}", "--benchmark-quiet"]
    done = subprocess.run(command, check=False, cwd=str(ROOT), env=dict(os.environ, OMP_NUM_THREADS="1"))
    if done.returncode:
        raise CountError("timing ended with {}; run: python {}".format(done.returncode, " ".join(command[1:5])))


def prepare(wanted: Sequence[Path], options: argparse.Namespace) -> None:
    """Check what can be checked before anything is started. Raises CountError, and OSError where no file can be."""
    if min(options.seeds, options.jobs, options.first_seed) < 1:
        raise CountError("--seeds, --jobs and --first-seed must be 1 or more")
    for path in wanted:
        if path.is_dir():
            raise CountError(f"{path}: is a folder; name a file")
        if path.exists() and not options.fresh:
            raise CountError(f"{path}: the file exists; add --fresh to replace it")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a", encoding="utf-8").close()  # what is there stays until there is something better
        if not path.stat().st_size:
            path.unlink()


def measure(out: Path, times: Path, wanted: Sequence[Path], options: argparse.Namespace) -> None:
    """Count, and time, as far as it is wanted, and write the files."""
    why = obstacle()
    if why and options.count:
        raise CountError(why)
    prepare(wanted, options)
    if out in wanted:
        if why:
            print(f"suites.timing: {why}", file=sys.stderr)
        folder = out.resolve().with_suffix(".work")
        counts = count(folder, options, why)
        out.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(str(folder))
    if times in wanted:
        measure_times(times)


def main() -> int:
    """Do as the options say, and return the exit status."""
    options = parser().parse_args()
    out, both = options.out, options.count == options.times
    times = out.with_name(out.stem + ".times.json")
    wanted = [out] * (both or options.count) + [times] * (both or options.times)
    try:
        measure(out, times, wanted, options)
    except CountError as error:
        print(f"suites.timing: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"suites.timing: {error.filename or out}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; what was not complete is not written", file=sys.stderr)
        return 130
    print(f"next: python -m reports overhead {' '.join(map(str, wanted))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
