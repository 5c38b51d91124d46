"""The example of every clause: python -m suites.examples runs them on the installed torch, --write makes them anew.

A program stands in reports/examples/ under the id of its clause. Running means: where the clause conforms, its program
must say so. That is measured here as everything is; nothing is taken from the clause's own verdict.
"""

import argparse
import contextlib
import importlib
import io
import json
import pathlib
import subprocess
import sys
import types
import warnings
from typing import Dict, List, Optional

from fixtures.clause import CLAUSES, Clause
from fixtures.contract import installed_version
from fixtures.example import program
from fixtures.modes import missing

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "reports" / "examples"
VERDICTS = ROOT / "reports" / "verdicts"
APART = ("selfcheck", "timing")
SECONDS = 120


def import_suites() -> None:
    """Import suites/<chapter>/test_<topic>.py for every chapter."""
    for path in sorted((ROOT / "suites").glob("*/test_*.py")):
        if path.parent.name not in APART:
            importlib.import_module(f"suites.{path.parent.name}.{path.stem}")


def recorded() -> Dict[str, Dict[str, str]]:
    """The recorded verdicts in eager mode: minor version -> clause -> verdict, oldest version first."""
    found = {}
    for path in VERDICTS.glob("[0-9]*.json"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found[path.stem] = {name: modes["eager"]["verdict"] for name, modes in cells.items() if "eager" in modes}
    return dict(sorted(found.items(), key=lambda pair: [int(part) for part in pair[0].split(".")]))


def write(clause: Clause, verdicts: Dict[str, Dict[str, str]]) -> str:
    """The program of a clause. Raises Unfit where there can be none."""
    versions = [minor for minor, cells in verdicts.items() if cells.get(clause.id) == "conforms"]
    return program(clause, versions)


def path_of(name: str) -> pathlib.Path:
    return FOLDER / (name + ".py")


def run(clause: Clause) -> Optional[str]:
    """Run the program of a clause; return what it says when it ends otherwise than well."""
    from fixtures.stage import Torch

    path = path_of(clause.id)
    if clause.isolated:
        command = [sys.executable, "-W", "ignore", str(path)]
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return f"no end after {SECONDS} s"
        return done.stdout.decode(errors="replace") if done.returncode else None
    lib, said, status = Torch(), io.StringIO(), None
    own, alone = sys.modules["__main__"], types.ModuleType("__main__")  # pickle looks for functions there
    sys.modules["__main__"] = alone
    with contextlib.redirect_stdout(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(alone))
        except SystemExit as ended:
            status = ended.code
        except Exception as failure:  # noqa: BLE001 - whatever torch raises, the program does not do as it says
            status = f"{type(failure).__name__}: {failure}"
        finally:
            sys.modules["__main__"] = own
            lib.failed = True  # a program that failed in a backward leaves nodes behind; see Torch.reset
            lib.reset()
    return f"{said.getvalue()}{status if isinstance(status, str) else ''}" if status else None


def run_all(clauses: List[Clause], verdicts: Dict[str, Dict[str, str]]) -> int:
    """Run the programs of all clauses that conform here; return the exit status."""
    minor = ".".join(installed_version().split(".")[:2])
    known = verdicts.get(minor, {})
    failed, absent, other = [], 0, 0
    for clause in clauses:
        if missing(clause.needs):
            absent += 1
        elif known.get(clause.id, "conforms") != "conforms":
            other += 1
        else:
            said = run(clause)
            if said is not None:
                failed.append(clause.id)
                print(f"{clause.id}: otherwise\n{said}", flush=True)
    ran = len(clauses) - absent - other
    print(f"torch {installed_version()}: {ran - len(failed)} of {ran} examples do as they say", end="; ")
    print(f"{absent} need what this torch lacks, {other} are of clauses that it does not conform to")
    return 1 if failed else 0


def main() -> int:
    """Write the programs, or run them; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m suites.examples", description="Run the example of every clause.")
    parser.add_argument("--write", action="store_true", help="write the programs anew")
    parser.add_argument("clauses", nargs="*", metavar="PREFIX", help="clauses by the beginning of their ids")
    options = parser.parse_args()
    import_suites()
    chosen = [clause for name, clause in sorted(CLAUSES.items()) if name.startswith(tuple(options.clauses or [""]))]
    if not options.write:
        return run_all(chosen, recorded())
    FOLDER.mkdir(exist_ok=True)
    verdicts = recorded()
    for clause in chosen:
        path_of(clause.id).write_text(write(clause, verdicts), encoding="utf-8")
    for path in FOLDER.glob("*.py"):
        if path.stem not in CLAUSES:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
