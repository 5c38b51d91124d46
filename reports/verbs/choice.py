"""Which clauses a question is about: by the beginnings of their ids, by chapter, by hook API; claims only if asked."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass

from fixtures.run.naming import READERS, REPORTS
from reports.data import forms
from reports.data.clause import Clause, Clauses, known_apis, need
from reports.data.names import unknown
from reports.data.strict import BadInput
from reports.search.ask import search

CLAUSES = """CLAUSE is the id of a clause or its beginning: retain. or backward.returns.none_keeps; none means all."""


@dataclass(frozen=True)
class Choice:
    """The clauses that a question is about, and how many claims of tutorials were left out of it."""

    clauses: tuple[str, ...]
    left_out: int


def everything(clauses: Clauses) -> Choice:
    """Return the choice of all clauses."""
    return Choice(tuple(clauses), 0)


def left_out(count: int) -> list[str]:
    """Return the lines that say how many claims were left out, none where that is none."""
    claims = forms.counted(count, "claim of tutorials is", "claims of tutorials are")
    return ["", f"{claims} left out; --tutorial asks for them too"] if count else []


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Let the caller choose clauses."""
    parser.add_argument("begins", nargs="*", metavar="CLAUSE", help="only these clauses")
    parser.add_argument(
        "--clauses", action="append", default=[], metavar="CLAUSE", help="the same, as pytest spells it"
    )
    parser.add_argument("--api", action="append", default=[], help="only clauses about this hook API, repeatable")
    parser.add_argument("--chapter", action="append", default=[], help="only clauses of this chapter, repeatable")
    parser.add_argument(
        "--tutorial", action="store_true", help="also the claims of tutorials, which otherwise only their names ask for"
    )


def choose(clauses: Clauses, args: argparse.Namespace) -> Choice:
    """Return the clauses that begin so, are of these chapters and about one of these APIs. Raises BadInput."""
    begins, chapters = (*args.begins, *args.clauses), args.chapter
    known = {clause.chapter for clause in clauses.values()}
    for chapter in chapters:
        if chapter not in known:
            raise unknown("chapter", chapter, known, f"the chapters are {', '.join(sorted(known))}")
    for begin in begins:
        if not any(name.startswith(begin) for name in clauses):
            raise unknown("clause", begin, clauses if "." in begin else (), _nearest(clauses, " ".join(begins)))
    of_apis = about_apis(clauses, args.api) if args.api else clauses
    found = [
        name
        for name in clauses
        if name in of_apis
        and (not begins or name.startswith(tuple(begins)))
        and (not chapters or clauses[name].chapter in chapters)
    ]
    asked = found if args.tutorial else [name for name in found if _asked(clauses[name], begins, chapters)]
    if not asked:
        hint = "--tutorial asks for the claims of tutorials" if found else "ask for fewer things"
        raise BadInput(READERS, "", "no clause fits all that was asked for", hint)
    return Choice(tuple(asked), len(found) - len(asked))


def _nearest(clauses: Clauses, words: str) -> str:
    """Return as a hint the clauses that are nearest to words that are no id."""
    found = search(clauses).find(words)
    nearest = ", ".join(found.clauses[:5])
    hint = f"{REPORTS} find WORDS says more" if nearest else f"{REPORTS} rely lists all clauses"
    return "; ".join([*found.notes, *([f"the nearest to these words are {nearest}"] if nearest else []), hint])


def _asked(clause: Clause, begins: Iterable[str], chapters: Iterable[str]) -> bool:
    """Say whether a clause counts: a claim does where its chapter is named, alone or at the beginning of an id."""
    if not clause.is_claim:
        return True
    return clause.chapter in chapters or any(begin.partition(".")[0] == clause.chapter for begin in begins)


def about_apis(clauses: Clauses, apis: Iterable[str]) -> set[str]:
    """Return the clauses about one of these APIs, each with an option in brackets where that is meant."""
    known = known_apis(clauses)
    options = {one for clause in clauses.values() for one in clause.needed}
    found: set[str] = set()
    for asked in apis:
        api, option = need(asked)
        if api not in known:
            raise unknown("hook API", asked, known, f"known are {', '.join(sorted(known))}")
        if option and (api, option) not in options:
            raise unknown(
                f"option of {api}", option, [one for name, one in options if name == api and one], "leave it out"
            )
        for name, clause in clauses.items():
            speaks = not option and api in clause.spoken
            if speaks or any(api == one and option in ("", its) for one, its in clause.needed):
                found.add(name)
    return found
