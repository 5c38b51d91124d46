"""The example of every clause: python -m suites.examples makes them and runs them on the installed torch.

Behind them it runs the programs of reports/why: causes and answers that are no clause, so on every release.
With --write it only makes them, which needs no torch; with --from it runs those that were written. A program is called
as its clause; one that compares whole programs with the definition of a hook has none. On a release that is recorded
it must say what is recorded there: the reading in force, the declared deviation, or that torch lacks what the clause
needs.

To draw the plans that they show takes most of the time: --draw does it, and keeps them with the digests of the clauses.
Where a clause has another digest by now, its plan is drawn each time.
"""

import argparse
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import types
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, TypeVar

from fixtures.clause.clause import CLAUSES, Clause
from fixtures.draw.contract import draw_for
from fixtures.judge.subject import Playable
from fixtures.model.contract import contract_for, installed_version
from fixtures.plan.part import CLASSES
from fixtures.run.naming import REPORTS
from fixtures.run.recorded import FOLDER, Damaged, read
from fixtures.show.bundle import Unfit
from fixtures.show.example import Known, inside, program
from fixtures.show.typical import shows_none, shows_typical, typical
from suites.deviations import CAUSES
from suites.table import ROOT, import_files

Made = TypeVar("Made")
SECONDS = 120
#: Programs for causes and answers that are no clause.
TOLD = ROOT / "reports" / "why"
#: clause -> [its digest, the plan that is typical of it, as Python].
TYPICAL = ROOT / "suites" / "typical.json"
#: Clauses that a process takes at a time: those of one file next to each other, so that few processes read it.
CHUNK = 40
#: Seconds after which the programs that are made are counted on the screen, again and again.
PATIENCE = 5


def import_suites(version: str = "") -> None:
    """Import all files of clauses, to draw for this torch, else for the installed one."""
    draw_for(contract_for(version or installed_version()))
    import_files()


def import_for_newest() -> None:
    """Import them to draw for the newest recorded release, whatever is installed."""
    import_suites(list(recorded())[-1])


@lru_cache(maxsize=None)
def recorded() -> Dict[str, Dict[str, Dict[str, Any]]]:
    """The recorded cells in eager mode: minor version -> clause -> cell, oldest version first."""
    return {
        minor: {name: modes["eager"] for name, modes in cells.items() if "eager" in modes}
        for minor, cells in read(str(ROOT / FOLDER))[1].items()
    }


@lru_cache(maxsize=None)
def kept() -> Dict[str, List[str]]:
    """The plans that were drawn before, as text."""
    found: Dict[str, List[str]] = json.loads(TYPICAL.read_text(encoding="utf-8"))
    return found


def typical_of(clause: Clause) -> Optional[Playable]:
    """The plan that was drawn for a clause as it is now; nothing where it needs none, or was another one then."""
    digest, plan = kept().get(clause.id, ("", ""))
    return eval(plan, dict(CLASSES)) if digest and shows_typical(clause) and digest == clause.digest() else None


def known_of(clause: Clause, cells: Dict[str, Dict[str, Dict[str, Any]]]) -> Known:
    """What is recorded of a clause, the causes of deviations, and a plan."""
    verdicts = {minor: each[clause.id]["verdict"] for minor, each in cells.items() if clause.id in each}
    return Known(verdicts, CAUSES, typical_of(clause))


def example_of(name: str) -> Tuple[str, str]:
    """The program of a clause, or why there is none."""
    try:
        return program(CLAUSES[name], known_of(CLAUSES[name], recorded())), ""
    except Unfit as why:
        return "", str(why)


def draw(clauses: List[Clause]) -> int:
    """Draw the typical plans of these clauses and keep them, with those of others; return 0."""
    drawn = [clause for clause in clauses if shows_typical(clause)]
    found = {name: one for name, one in kept().items() if name in CLAUSES}
    found.update((clause.id, [clause.digest(), plan]) for clause, plan in zip(drawn, each_of(drawn, plan_of)))
    lines = ",\n".join(f' "{name}": {json.dumps(one)}' for name, one in sorted(found.items()))
    TYPICAL.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    return 0


def plan_of(name: str) -> str:
    """The typical plan of a clause, as Python."""
    known = known_of(CLAUSES[name], recorded())
    return repr(typical(CLAUSES[name], known.of("conforms")[0]))


def each_of(clauses: List[Clause], make: Callable[[str], Made]) -> Iterator[Made]:
    """What is made of each clause, by a process for each processor, and counted where that takes long."""
    told = time.monotonic()
    with ProcessPoolExecutor(initializer=import_for_newest) as pool:
        for count, made in enumerate(pool.map(make, [clause.id for clause in clauses], chunksize=CHUNK), 1):
            if time.monotonic() - told > PATIENCE:
                told = time.monotonic()
                print(f"{count} of {len(clauses)} are made", flush=True)
            yield made


def write(clauses: List[Clause], folder: pathlib.Path) -> int:
    """Write the programs of these clauses; return 1 where one cannot be made, else 0."""
    status = 0
    folder.mkdir(parents=True, exist_ok=True)
    for clause, (text, why) in zip(clauses, each_of(clauses, example_of)):
        if text:
            (folder / (clause.id + ".py")).write_text(text, encoding="utf-8")
        else:
            print(f"suites.examples: {why}", file=sys.stderr)
            status = 1
    return status


def run(path: pathlib.Path, isolated: bool) -> Tuple[Any, str]:
    """Run a program, in a process of its own where that is asked; return its exit status and what it says."""
    from fixtures.stages.stage import Torch  # loaded here: who only writes the programs needs no torch

    if isolated:
        command = [sys.executable, "-W", "ignore", str(path)]
        try:
            done = subprocess.run(
                command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, text=True
            )
        except subprocess.TimeoutExpired:
            return 1, f"hung: more than {SECONDS:g} s"
        return done.returncode, done.stdout.rstrip()
    lib, said, status = Torch(), io.StringIO(), 0
    own, alone = sys.modules["__main__"], types.ModuleType("__main__")  # pickle looks for functions there
    sys.modules["__main__"] = alone
    with contextlib.redirect_stdout(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(alone))
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
            print(ended.code if isinstance(ended.code, str) else "")
        except Exception as failure:  # noqa: BLE001 - whatever torch raises, the program does not do as it says
            status = 1
            print(f"{type(failure).__name__}: {failure}")
        finally:
            sys.modules["__main__"] = own
            for left in [one for one in reversed(list(vars(alone).values())) if type(one).__name__ == "Entered"]:
                left.remove()  # a context that the program entered: the end of its process would leave it
            handles = vars(alone).get("handles", {})
            for left in handles.values() if isinstance(handles, dict) else ():
                left.remove()  # a hook of the program of a small grammar, which may be on all modules
            lib.failed = True  # a program that failed in a backward leaves nodes behind; see Torch.reset
            lib.reset()
    return status, said.getvalue().rstrip()


def wrong(clause: Clause, known: Known, minor: str, folder: pathlib.Path) -> Optional[str]:
    """Run the program of a clause; return what it says when that is not what is known of this torch."""
    from fixtures.stages.stage import missing

    path = folder / (clause.id + ".py")
    if not path.is_file():
        return f"there is no {path}"
    status, said = run(path, clause.isolated)
    last = said.rsplit("\n", 1)[-1]
    if missing(clause.needs):
        return None if status == 125 and "cannot tell: no " in last else said
    if status:
        return said
    if known.verdicts.get(minor) not in ("conforms", "deviates"):
        return None  # nothing is recorded to hold it to
    if not any(one in path.read_text(encoding="utf-8") for one in ("\nagrees = ", "\nholds = ")):
        return None  # the same is expected on every release
    if " does what is expected of " in last:
        agrees = any(inside(minor, words, list(known.verdicts)) for words in last.split("torch ")[2:])
    else:
        agrees = any(f"{sign} {known.held(clause, minor).name} (" in last for sign in "-;")
    return None if agrees else said


def run_all(clauses: List[Clause], cells: Dict[str, Dict[str, Dict[str, Any]]], folder: pathlib.Path) -> int:
    """Run the programs of these clauses that are in a folder; return the exit status."""
    minor = ".".join(installed_version().split(".")[:2])
    failed, died = [], 0
    for clause in clauses:
        known = known_of(clause, cells)
        if known.verdicts.get(minor) in ("crashed", "hung"):
            died += 1
            continue
        said = wrong(clause, known, minor, folder)
        if said is not None:
            failed.append(clause.id)
            print(f"{clause.id}: otherwise\n{said}", flush=True)
    ran = len(clauses) - died
    print(f"torch {installed_version()}: {ran - len(failed)} of {ran} examples say what is known", end="")
    print(f"; {died} would end the process, as recorded" if died else "")
    return 1 if failed else 0


def run_told() -> int:
    """Run the programs that readers are told and that are no clause's example; return the exit status."""
    failed = 0
    for path in sorted(TOLD.glob("*.py")):
        status, said = run(path, isolated=False)
        if status:
            failed = 1
            print(f"{path.name}: otherwise\n{said}", flush=True)
    return failed


def main() -> int:
    """Make the programs, run them, or both; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m suites.examples",
        description="Make the example of every clause, and run it on the installed torch.",
        epilog="exit status: 0 all as recorded (or written), 1 one is not, 2 no such clause or folder.",
    )
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--write", type=pathlib.Path, metavar="FOLDER", help="write them there, do not run them")
    only.add_argument("--draw", action="store_true", help="draw the plans that they show anew, and keep them")
    only.add_argument("--from", type=pathlib.Path, metavar="FOLDER", dest="source", help="run those written there")
    parser.add_argument("clauses", nargs="*", metavar="PREFIX", help="clauses by the beginning of their ids")
    options = parser.parse_args()
    try:
        import_for_newest()
    except Damaged as damage:
        print(f"suites.examples: {damage}", file=sys.stderr)
        return 2
    chosen = [clause for name, clause in sorted(CLAUSES.items()) if name.startswith(tuple(options.clauses or [""]))]
    chosen = [clause for clause in chosen if clause.id in options.clauses or not shows_none(clause)]
    unknown = [word for word in options.clauses if not any(name.startswith(word) for name in CLAUSES)]
    if unknown:
        hint = f"{REPORTS} explain names those near it"
        print(f"suites.examples: no clause begins with {unknown[0]!r}: {hint}", file=sys.stderr)
        return 2
    try:
        if options.draw:
            return draw(chosen)
        if options.write:
            return write(chosen, options.write)
        with tempfile.TemporaryDirectory() as room:
            folder = options.source or pathlib.Path(room)
            unwritten = 0 if options.source else write(chosen, folder)
            failed = run_all(chosen, recorded(), folder) or unwritten
            return failed if options.clauses else run_told() or failed
    except OSError as error:
        print(f"suites.examples: {error.filename}: {error.strerror}: name another folder", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
