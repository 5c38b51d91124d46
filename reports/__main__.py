"""The command line of the reports: python -m reports VERB; without a verb it says which one answers which question."""

from __future__ import annotations

import argparse
import gc
import shlex
import sys
from typing import Any, NoReturn

from fixtures.run.naming import COMMAND, MODEL, READERS, REPORTS

#: What the command is called in a clone.
IN_A_CLONE = "python -m reports"
#: What a reader asks, in the order of README, and the commands that answer.
QUESTIONS = {
    "Why does my hook do that?": ("find WORDS", "why my backward hook is not called", "explain CLAUSE"),
    "May I rely on this?": ("rely --from 2.0 --to 2.15 --api register_hook", "modes register_forward_hook"),
    "What breaks when I upgrade?": ("affects path/to/your/code", "diff 1.13 2.15"),
    "Is my torch right?": ("check", "triage", "page"),
    "Are my hooks called on my model?": (),
}
#: Verbs that are not listed with the others.
OF_MAINTAINERS = ("record", "sweep", "overhead", "upstream")
#: Verbs that write what a clone holds.
OF_A_CLONE = ("overhead --record", "record", "sweep")
NEEDED = {"hypothesis", "jinja2", "jsonschema", "jsonschema_rs", "packaging", "referencing"}


class Parser(argparse.ArgumentParser):
    """An argument parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and where the help is, and leave."""
        message = " ".join(message.split()).replace(", CLAUSE", "")  # argparse lists it, although there may be none
        print(f"{self.prog}: {message}; see {self.prog} --help", file=sys.stderr)
        raise SystemExit(2)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is none of the choices; the words of argparse's own refusal differ from Python to Python."""
        if action.choices is None or value in action.choices:
            return
        from reports.data.names import did_you_mean

        known = [str(each) for each in action.choices]
        hint = did_you_mean(str(value), known) or f"choose from {', '.join(known)}"
        raise argparse.ArgumentError(action, f"invalid choice: {value!r}, {hint}")


def parser(verb: str | None, prog: str = REPORTS) -> Parser:
    """Return the parser; sweep is loaded only when it is asked for."""
    from reports.verbs import (
        affects,
        badge,
        commands,
        diff_forms,
        explain,
        export,
        find,
        known,
        modes,
        overhead,
        rely,
        scope,
        triage,
        upstream,
        why,
    )

    top = Parser(
        prog=prog,
        description="Read what the suites measured.",
        epilog="For the maintainers of this repository: " + ", ".join(OF_MAINTAINERS) + ".",
    )
    sub = top.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)
    if prog == COMMAND:  # it never comes here: what it needs is not what the readers need
        sub.add_parser("run", help="measure the torch of this Python")
        sub.add_parser("model", help="are my hooks called on my model, run my way?")
    for verb_of in (find, why, rely, affects, diff_forms, explain, modes, scope):
        verb_of.add_parser(sub)
    commands.add_parsers(sub)
    for verb_of in (triage, known, badge, export, overhead, upstream):
        verb_of.add_parser(sub)
    if verb not in sub.choices:
        from reports.verbs import sweep

        sweep.add_parser(sub)
    return top


def main(argv: list[str] | None = None, prog: str = REPORTS) -> int:
    """Run one verb and return the exit status: 0 done, 1 a difference where none may be, 2 bad input."""
    arguments = sys.argv[1:] if argv is None else argv
    if sys.version_info < (3, 11):  # noqa: UP036 - a stranger may well try with the Python of an old torch
        return _too_old(prog, arguments)
    try:
        from reports.data.strict import BadInput
    except ModuleNotFoundError as problem:
        return _not_installed(problem)
    _escape_what_a_terminal_cannot_show()
    if not arguments:
        print(_questions(prog))
        return 0
    try:
        args = parser(arguments[0] if arguments else None, prog).parse_args(arguments)
        what = args.verb + " --record" * getattr(args, "record", False)
        if what in OF_A_CLONE and prog == COMMAND:
            raise BadInput(prog, what, "is for a clone", f"run it there: {IN_A_CLONE} {what}")
        if args.verb == "sweep":
            from reports.verbs import sweep

            return sweep.run(args)
        return args.run(args)
    except BadInput as problem:
        print(problem, file=sys.stderr)
        return 2
    except ModuleNotFoundError as problem:
        return _not_installed(problem)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe went away: nothing to say, and nobody to say it to
        return 1


def run_for(root: str, ini: str, words: list[str]) -> int:
    """Run what somebody's code relies on, with the suite below `root` and pytest's settings in `ini`."""
    if sys.version_info < (3, 11):  # noqa: UP036
        print(f"{COMMAND} run --for needs Python 3.11 or newer, as it reads code; leave --for out", file=sys.stderr)
        return 2
    try:
        from reports.relied import running

        return running.run_for(root, ini, words)
    except ModuleNotFoundError as problem:
        return _not_installed(problem)


def _questions(prog: str) -> str:
    """Say which command answers which question."""
    lines = []
    for question, answers in QUESTIONS.items():
        first = [f"  {prog} run --quick"] * (prog == COMMAND and answers[:1] == ("check",))
        lines += [question, *first, *(f"  {prog} {answer}" for answer in answers), ""]
    lines[-1:] = [f"  {MODEL} FILE", ""]  # which is no verb: it needs torch
    return "\n".join([*lines, f"All verbs: {prog} --help"])


def _escape_what_a_terminal_cannot_show() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _too_old(prog: str, arguments: list[str]) -> int:
    """Say what there is for the Python of an old torch."""
    if prog == COMMAND and (not arguments or arguments[0] in ("-h", "--help")):
        print(f"usage: {prog} VERB ...\n\n  run    measure the torch of this Python: {prog} run --help")
        print(f"  model  are my hooks called on my model, run my way? {prog} model --help")
        print("\nThe other verbs (check, triage, page, explain ...) need Python 3.11 or newer:")
        print(f"  uv tool run --python 3.11 --from torch-hook-conformance {prog} --help")
        return 0 if arguments else 2
    how, verb = "run it outside the environments of old torches", arguments[0] if prog == COMMAND else "reports"
    if prog == COMMAND:
        how = f"with uv: uv tool run --python 3.11 --from torch-hook-conformance {prog} {shlex.join(arguments)}"
    print(f"{verb} needs Python 3.11 or newer; {how}", file=sys.stderr)
    return 2


def _not_installed(problem: ModuleNotFoundError) -> int:
    if problem.name not in NEEDED:
        raise problem
    print(f"{READERS} needs {problem.name}; install it with: pip install {' '.join(sorted(NEEDED))}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    gc.disable()  # the process ends in seconds: to look for garbage would cost it a third of its time and save nothing
    raise SystemExit(main())
