"""What a library may rely on: which clauses hold on every release of a range, which on none, and which change where."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reports import forms
from reports.apis import known_apis, need, subject
from reports.atlas import Atlas, Column, is_claim, truth
from reports.chapters import order
from reports.history import Span, spans
from reports.names import add_range, add_sources, between, read_atlas, unknown
from reports.strict import FORMAT, BadInput

EPILOG = """CLAUSE is the id of a clause or its beginning: retain. or backward.returns.none_keeps; none means all.
exit status: 0 all these clauses hold in the whole range, 1 some do not, 2 the question cannot be answered.
example: python -m reports rely --from 2.0 --to 2.15 --api register_full_backward_hook"""

#: how a clause may stand in a range, in the order shown
STANDS = {
    "holds": "hold on every release",
    "changes": "change",
    "nowhere": "hold on no release",
    "unseen": "not measured on every release",
}


@dataclass(frozen=True)
class Standing:
    """One clause in the range."""

    clause: str
    says: str
    stands: str
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Reliance:
    """The answer: how each of the chosen clauses stands."""

    columns: tuple[Column, ...]
    mode: str
    standings: tuple[Standing, ...]

    @property
    def range(self) -> str:
        """The range of releases in words."""
        first, last = self.columns[0].label, self.columns[-1].label
        return f"torch {first}" if first == last else f"torch {first} to {last}"

    def of(self, stands: str) -> list[Standing]:
        """Return the clauses that stand so."""
        return [each for each in self.standings if each.stands == stands]

    @property
    def summary(self) -> str:
        """The counts in words."""
        told = ", ".join(f"{len(self.of(each))} {words}" for each, words in STANDS.items() if self.of(each))
        return f"{self.range}, {self.mode}: of {len(self.standings)} clauses {told}"


def stands(atlas: Atlas, clause: str, found: Iterable[Span]) -> str:
    """Return how a clause with these spans stands: a claim of a tutorial holds where it is true."""
    claim = is_claim(atlas.clauses[clause])
    cells = [span.cell for span in found]
    good = [cell.verdict == "conforms" and not (claim and truth(cell.reading) == "false") for cell in cells]
    if any(cell.verdict == "unseen" for cell in cells):
        return "unseen"
    if not any(good):
        return "nowhere"
    return "holds" if all(good) and len({cell.reading for cell in cells}) == 1 else "changes"


def rely(atlas: Atlas, columns: tuple[Column, ...], clauses: Iterable[str], mode: str) -> Reliance:
    """Return how the clauses stand on these releases."""
    found = []
    for clause in sorted(clauses, key=lambda name: order(name, atlas.clauses[name])):
        history = tuple(spans(atlas, clause, mode, columns))
        found.append(Standing(clause, atlas.clauses[clause]["says"], stands(atlas, clause, history), history))
    return Reliance(columns, mode, tuple(found))


def chosen(atlas: Atlas, begins: list[str], chapters: list[str], apis: list[str]) -> list[str]:
    """Return the clauses that begin so, are of these chapters and about one of these APIs. Raises BadInput."""
    known = {name.partition(".")[0] for name in atlas.clauses}
    for chapter in chapters:
        if chapter not in known:
            raise unknown("chapter", chapter, known, f"the chapters are {', '.join(sorted(known))}")
    for begin in begins:
        if not any(name.startswith(begin) for name in atlas.clauses):
            raise unknown("clause", begin, atlas.clauses, "name a clause or how its id begins")
    found = [
        name
        for name in atlas.clauses
        if (not begins or name.startswith(tuple(begins))) and (not chapters or name.partition(".")[0] in chapters)
    ]
    about = about_apis(atlas.clauses, apis) if apis else atlas.clauses
    found = [name for name in found if name in about]
    if not found:
        raise BadInput("reports", "", "no clause is of all that", "ask for less at once")
    return found


def about_apis(clauses: Mapping[str, Mapping[str, object]], apis: Iterable[str]) -> set[str]:
    """Return the clauses about one of these APIs, each with an option in brackets where that is meant."""
    known = known_apis(clauses)
    options = {need(text) for clause in clauses.values() for text in clause["needs"]}  # type: ignore[attr-defined]
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
            needs = {need(text) for text in clause["needs"]}  # type: ignore[attr-defined]
            if api in subject(name, clause).apis and (not option or (api, option) in needs):
                found.add(name)
    return found


def as_text(told: Reliance) -> str:
    """Return the answer for a terminal."""
    lines = [told.summary]
    for each, words in STANDS.items():
        group = told.of(each)
        if group:
            lines += ["", f"{words} ({len(group)})"]
        for one in group:
            lines.append(f"  {one.clause}  {one.says}")
            lines += [f"    {span.releases}: {span.words}" for span in one.spans if each != "holds"]
    return "\n".join(lines) + "\n"


def as_json(told: Reliance) -> str:
    """Return the answer as JSON."""
    return forms.as_json(
        {
            "format": FORMAT,
            "releases": [column.torch for column in told.columns],
            "mode": told.mode,
            "counts": {each: len(told.of(each)) for each in STANDS},
            "clauses": [
                {
                    "clause": one.clause,
                    "says": one.says,
                    "stands": one.stands,
                    "history": [s.plain() for s in one.spans],
                }
                for one in told.standings
            ],
        }
    )


def as_markdown(told: Reliance) -> str:
    """Return the answer as tables for an issue or a page of documentation."""
    lines = [f"**{forms.escaped(told.summary)}**"]
    for each, words in STANDS.items():
        group = told.of(each)
        if group:
            lines += [
                "",
                f"### {words[0].upper() + words[1:]} ({len(group)})",
                "",
                "| clause | says | measured |",
                "|---|---|---|",
            ]
        for one in group:
            history = "; ".join(f"{span.releases}: {span.words}" for span in one.spans)
            lines.append(f"| `{one.clause}` | {forms.escaped(one.says)} | {forms.escaped(history)} |")
    return "\n".join(lines) + "\n"


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = sub.add_parser(
        "rely",
        help="which clauses hold on every release of a range",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("clauses", nargs="*", metavar="CLAUSE", help="only these clauses")
    add_range(parser)
    parser.add_argument("--api", action="append", default=[], help="only clauses about this hook API, repeatable")
    parser.add_argument("--chapter", action="append", default=[], help="only clauses of this chapter, repeatable")
    parser.add_argument("--mode", help="the mode of execution (default: eager)")
    forms.add_format(parser, FORMS)
    add_sources(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the answer; 1 when not all of it can be relied on."""
    atlas = read_atlas(args)
    mode = args.mode or atlas.modes[0]
    if mode not in atlas.modes:
        raise unknown("mode", mode, atlas.modes, f"measured are {', '.join(atlas.modes)}")
    columns = between(atlas, args.first, args.last)
    told = rely(atlas, columns, chosen(atlas, args.clauses, args.chapter, args.api), mode)
    forms.show(told, FORMS, args.format)
    return 0 if len(told.of("holds")) == len(told.standings) else 1
