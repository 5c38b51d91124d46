"""A first draft of a target's file: as it was run, what it lacks, and what else fails; without a run, an empty one.

The reasons in it are what was seen: somebody who knows the target is to replace them, each with a link.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fixtures.judge.in_words import in_words
from fixtures.judge.triage import DIFFERS, NO_MATTER, fails
from fixtures.plan import grammar
from fixtures.run.naming import script_of
from fixtures.target.features import FEATURES
from fixtures.target.target import CPU, DTYPES, KNOWN, TEMPLATE
from reports.data.runfile import Run, read_run
from reports.data.strict import one_line
from reports.verbs.verb import add_verb

EPILOG = """exit status: 0 printed, 2 the file cannot be read.
example: python -m reports known mine.jsonl"""
#: The parts of a plan that features are asked about.
PARTS = ("Leaf", "Like", "Of", "Recast", "Copy")
#: How much of what was said is a reason.
WORDS = 160
SEEN, UNSEEN = "not there: ", "lines that need it raise an error; say why"
#: What a cell observed where an error came instead of a value.
ERROR = re.compile(r"\w+(Error|Exception|Warning): .")


def draft(run: Run) -> str:
    """Return a target's file in TOML that says what a run found."""
    target = run.target or {}
    lines = [f"# Drafted from a run of {run.measured}: put your own reasons, with links, in place of these."]
    lines += _as_run(target, run.header["device"])
    told = target.get("lacks", {})
    lacks = {name: told.get(name, "") for name in (*told, *target.get("lacking", ())) if name in FEATURES}
    missing = [name for name, why in lacks.items() if not why]
    shown = [line for line in run.lines.values() if line["verdict"] == "refused" or _differs(line)]
    rest = []
    for line in shown:
        for name in (found := explained(line, run.header["clauses"][line["clause"]]["code"], missing)):
            lacks[name] = lacks[name] or SEEN + _said(line)
        if not found and line["verdict"] != "refused":
            rest.append(line)
    lines += ["", "[lacks]", *(f"{name} = {_text(why or SEEN + UNSEEN)}" for name, why in lacks.items())]
    lines += ["", "[known]", *_known(run, target.get("known", {}), rest)]
    return "\n".join(lines) + "\n"


def _as_run(target: Mapping[str, Any], device: str) -> Iterator[str]:
    """Yield the keys of the file for what is not as usual."""
    name = target.get("title", "").partition(" ")[0]
    setup: str = target.get("setup", "")
    if setup:
        plain = "'''" not in setup and all(sign.isprintable() or sign == "\n" for sign in setup)
        yield f"setup = '''\n{setup.strip()}\n'''" if plain else f"setup = {_text(setup)}"
    if target.get("imports"):
        yield f"imports = [{', '.join(map(_text, target['imports']))}]"
    given = {"device": (device, CPU), "dtype": (target.get("dtype", ""), DTYPES[0])}
    given |= {key: (target.get(key, ""), "") for key in ("wrap", "sync")}
    for key, (value, usual) in {"name": (name, ""), **given}.items():
        if value not in ("", usual):
            yield f"{key} = {_text(value)}"


def _text(text: str) -> str:
    """Return a text as TOML: as in JSON, and nothing in it can act upon the terminal."""
    written = json.dumps(text, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in written)


def _differs(line: Mapping[str, Any]) -> bool:
    return line["verdict"] in DIFFERS and fails(line) and not line["declared"]


def _said(line: Mapping[str, Any]) -> str:
    """Return what a cell says of itself, in a line: its note, or else what the evidence says first."""
    shown = line["evidence"] or {"message": "", "observed": []}
    error = next((text for text in shown["observed"][:1] if ERROR.match(text)), "")
    first = line["note"] or error or in_words(line) or shown["message"].strip().partition("\n")[0]
    return one_line(first or line["verdict"])[:WORDS]


def explained(line: Mapping[str, Any], code: str, missing: list[str]) -> list[str]:
    """Return those of the missing features that a cell needs: by its plan where it has one, or else by its test."""
    plan = (line["evidence"] or {}).get("plan", "")
    if plan:
        parts = list(_parts(plan))
        return [name for name in missing if any(_uses(name, one) for one in parts)]
    # A helper is asked for it by a text; a sentence that speaks of it is another one.
    names = {getattr(node, kind, "") for node in _nodes(code) for kind in ("id", "attr", "name", "value")}
    return [name for name in missing if FEATURES[name].names & names or FEATURES[name].words in line["note"]]


def _uses(name: str, part: Any) -> bool:
    uses = FEATURES[name].uses
    try:
        return uses is not None and bool(uses(part))
    except TypeError:  # a part that this suite does not write
        return False


def _parts(plan: str) -> Iterator[Any]:
    """Yield the parts of a plan that a feature may be about, from its text, which is data and is not run."""
    for node in _nodes(plan):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PARTS:
            given = {word.arg: _literal(word.value) for word in node.keywords if word.arg}
            try:
                yield getattr(grammar, node.func.id)(*map(_literal, node.args), **given)
            except TypeError:
                continue


def _nodes(text: str) -> list[ast.AST]:
    try:
        return list(ast.walk(ast.parse(text)))
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return []


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _known(run: Run, told: Mapping[str, str], rest: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the entries: those that the run had and did not find stale, then what still fails."""
    cells = {clause: line for (clause, _), line in run.lines.items() if line.get("deviation") == KNOWN}
    ran = {clause for clause, _ in run.lines}
    for clause, why in told.items():
        if clause in cells or clause not in ran:
            yield f"{_text(clause)} = {_text(why)}"
    named = {*cells}
    for line in rest:
        if line["clause"] not in named:
            named.add(line["clause"])
            if NO_MATTER in line.get("signs", ()):
                yield f"# {NO_MATTER}: a plan without hooks differs, too"
            if (line["evidence"] or {}).get("reproducer"):
                yield f"# {one_line(script_of(str(run.path), line['clause'], line['mode']))}"
            yield f"{_text(line['clause'])} = {_text(_said(line))}"


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    says = "a first draft of a target's file: what is known to differ"
    parser = add_verb(sub, "known", run, says, EPILOG, __doc__)
    parser.add_argument("run_file", nargs="?", type=Path, metavar="RUNFILE", help="a run; none: a file to fill in")


def run(args: argparse.Namespace) -> int:
    """Print the draft, or the template."""
    sys.stdout.write(draft(read_run(args.run_file, partial=True)) if args.run_file else TEMPLATE)
    return 0
