"""`hook-conformance run --for PATH`: the clauses that code relies on, on the torch that is installed here.

Here reading and running meet: the code is parsed as `affects` does, and the clauses that concern its uses are run.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.version import InvalidVersion, Version

from fixtures.run import cli
from fixtures.run.naming import COMMAND
from reports.data import forms
from reports.data.atlas import build
from reports.data.runfile import read_run
from reports.data.strict import BadInput, one_line
from reports.data.verdicts import read_recorded, read_table
from reports.relied.alarm import alarms
from reports.relied.answer import FORMS, LISTS
from reports.relied.choice import relied
from reports.usage.files import repository
from reports.usage.lacks import Lacking
from reports.usage.uses import read_code
from reports.verbs.triage import script

#: The same plans each time, and fewer than are recorded: it is run with somebody's own tests.
USUAL = ["--profile=recorded", "--examples=12"]
CHOSEN = ("--profile", "--examples", "--quick")
#: How a run of pytest ends that has judged.
JUDGED = (0, 1)


def run_for(root: str, ini: str, words: list[str]) -> int:
    """Run the command. Returns 0 where all is as stated, 1 where not, 2 for bad input, or what the run ended with."""
    parser = cli.Parser(prog=f"{COMMAND} run", add_help=False, allow_abbrev=False)
    for name, how in cli.FOR_CODE.items():
        parser.add_argument(name, **how)
    own, more = parser.parse_known_args(words)
    try:
        return _run(Path(getattr(own, "for")), own, more, lambda chosen: cli.run(root, ini, chosen))
    except BadInput as problem:
        print(problem, file=sys.stderr)
        return 2


def _run(path: Path, own: argparse.Namespace, more: list[str], judge: Callable[[list[str]], int]) -> int:
    answers = LISTS if own.list else FORMS
    if own.format not in answers:
        raise BadInput("--format", own.format, "is no form of a list", f"choose from {', '.join(answers)}")
    asked = cli.parser().parse_args(more[: more.index("--")] if "--" in more else more)
    if asked.clauses or asked.mode:
        what = "--clauses" if asked.clauses else "--mode"
        raise BadInput("--for", "", f"chooses the clauses and modes itself, and {what} would too", f"leave {what} out")
    table = read_table()
    atlas = build(table, read_recorded())
    names = Lacking(atlas)
    code = read_code(path, names.has, repository(path))
    for fault in code.sources.skipped:
        print(one_line(f"left out: {fault}"), file=sys.stderr)
    chosen = relied(atlas, code, path, _torch())
    if own.list:
        forms.show((chosen, table.clauses), LISTS, own.format)
        return 0
    if not chosen.clauses:
        raise BadInput(path, "", "no clause is about its hooks on this torch", f"see {COMMAND} affects {path}")
    usual = [] if any(word.startswith(CHOSEN) for word in more) else USUAL
    given = [*usual, "--mode=eager", *(f"--clauses=={name}" for name in chosen.clauses)]
    with contextlib.redirect_stdout(sys.stderr):  # the answer is all that standard output has
        status = judge([*given, *more])
    if status not in JUDGED:
        return status
    answer = alarms(chosen, read_run(Path(asked.run_file), partial=True), table.clauses, names, script)
    forms.show(answer, FORMS, own.format)
    return 1 if answer.alarms or answer.missing else 0


def _torch() -> Version:
    """Return the version of the torch that is installed, which is not imported for it. Raises BadInput."""
    try:
        return Version(version("torch"))
    except PackageNotFoundError:
        raise BadInput(COMMAND, "run --for", "there is no torch here", "install the one that you ask about") from None
    except InvalidVersion as problem:
        raise BadInput(COMMAND, "run --for", f"what is the version of torch? {problem}", "install a wheel") from None
