"""What a library may rely on: which clauses change in a range of releases, and which are true on every one of them."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from fixtures.clause.usual import NAMES
from fixtures.run.naming import READERS, REPORTS
from reports.cards.card import card
from reports.data import forms
from reports.data.atlas import Atlas, Column
from reports.data.clause import Clause, need
from reports.data.history import STATUSES, Span, spans, status, timeline
from reports.data.names import add_mode, add_range, add_sources, between, mode_named, read_atlas, unknown
from reports.data.neighbours import from_to
from reports.data.order import order
from reports.data.scope import LINE, SCOPE
from reports.data.strict import ANSWERS_FORMAT, BadInput
from reports.verbs import on_target
from reports.verbs.card_forms import as_text as card_as_text
from reports.verbs.choice import CLAUSES, Choice, add_choice, choose, left_out
from reports.verbs.pair import SIGN, said, with_pair
from reports.verbs.verb import add_verb

EPILOG = f"""{CLAUSES}
--api NAME alone prints the card of this hook: what one needs to know to write one, on the newest release of the range,
and what was otherwise before on it. The exit status is about all clauses that --all lists.
exit status: 0 the sentences of all these clauses are true on every release of the range, 1 some are not,
2 the question cannot be answered: there is no such thing, or what is measured does not tell.
example: python -m reports rely --from 2.0 --to 2.15 --api register_full_backward_hook"""

#: The chapter about programs that torch runs in another way.
WAYS = "modes"
#: With more clauses than these an answer says how to ask for less.
LONG = 40


@dataclass(frozen=True)
class Status:
    """One clause in the range."""

    record: Clause
    status: str
    spans: tuple[Span, ...]

    @property
    def clause(self) -> str:
        """Its id."""
        return self.record.id

    @property
    def says(self) -> str:
        """Its sentence."""
        return self.record.says

    @property
    def rank(self) -> int:
        """How bad the worst is that torch does where the clause's own sentence is not true; only absent is least."""
        return min(span.statement.weight for span in self.spans if not span.statement.good)

    @property
    def known_otherwise(self) -> bool:
        """Whether its sentence is known not to be true on one of the releases."""
        return any(not span.statement.good and span.statement.answer != "unseen" for span in self.spans)

    @property
    def sentence(self) -> str:
        """What may be relied on in the whole range: the clause's own sentence, or the one that holds instead of it."""
        return {"holds": self.says, "otherwise": self.spans[0].statement.says}.get(self.status, "")


@dataclass(frozen=True)
class Reliance:
    """The answer: what each of the chosen clauses is over the range."""

    columns: tuple[Column, ...]
    mode: str
    clauses: tuple[Status, ...]
    left_out: int
    #: Words of the scope with which something must be promised.
    words: tuple[str, ...] = ()
    #: Releases of the range on which the mode was not measured: nothing is said of them.
    unknown: tuple[Column, ...] = ()

    @property
    def range(self) -> str:
        """The range of releases in words."""
        return forms.torch_of(from_to(self.columns[0].label, self.columns[-1].label))

    def promises(self, one: Status) -> bool:
        """Say whether a clause was tested beyond all the words that were asked for: else it promises nothing there."""
        return set(self.words) <= set(one.record.beyond or ())

    @property
    def silent(self) -> list[Status]:
        """The clauses that promise nothing with these words."""
        return [each for each in self.clauses if not self.promises(each)]

    @property
    def relied(self) -> bool:
        """Whether every clause holds and promises something with these words, and the mode is known on each release."""
        return not self.unknown and len(self.of("holds")) == len(self.clauses)

    @property
    def told(self) -> bool:
        """Whether a clause is known not to be true on a release, or to promise nothing with these words."""
        return bool(self.silent) or any(one.known_otherwise for one in self.clauses)

    def of(self, status: str) -> list[Status]:
        """Return the clauses of this group; of those that change, those with the worst effect first.

        Those of a chapter about other ways to run a program are last: a program may go none of these ways.
        """
        found = [each for each in self.clauses if each.status == status and self.promises(each)]
        return sorted(found, key=lambda one: (one.record.chapter == WAYS, one.rank if status == "changes" else 0))

    @property
    def less(self) -> list[str]:
        """Return the line that says how to ask for less, where the answer is long."""
        chapters = Counter(each.record.chapter for each in self.clauses)
        names = ", ".join(f"{name} ({count})" for name, count in chapters.most_common())
        long = len(self.clauses) > LONG and len(chapters) > 1
        return [f"to ask for less: --chapter NAME, here {names}"] if long else []

    @property
    def summary(self) -> str:
        """The counts in words."""
        groups = ", ".join(
            forms.counted(len(self.of(each)), *words) for each, words in STATUSES.items() if self.of(each)
        )
        silent = f"promise nothing with {' and '.join(self.words)}"
        groups = ", ".join([*([groups] if groups else []), *([f"{len(self.silent)} {silent}"] if self.silent else [])])
        return f"{self.range}, {self.mode}: of {forms.counted(len(self.clauses), 'clause', 'clauses')} {groups}"


def rely(atlas: Atlas, asked: tuple[Column, ...], choice: Choice, mode: str, words: tuple[str, ...] = ()) -> Reliance:
    """Return how the clauses are on these releases, as far as the mode was measured there."""
    columns = atlas.measured_in(mode, asked)
    if not columns:
        known = atlas.measured_in(mode, atlas.columns)
        hint = f"it is on {from_to(known[0].label, known[-1].label)}"
        raise BadInput(READERS, "", f"nothing was measured there in mode {mode}", hint)
    unknown = tuple(one for one in asked if one not in columns and not one.this_run)
    found = (
        status_of(atlas, clause, mode, columns)
        for clause in sorted(choice.clauses, key=lambda name: order(atlas.clauses[name]))
    )
    return Reliance(columns, mode, tuple(found), choice.left_out, words, unknown)


def status_of(atlas: Atlas, clause: str, mode: str, columns: tuple[Column, ...]) -> Status:
    """Return how one clause is on these releases."""
    history = tuple(spans(atlas, clause, mode, columns))
    return Status(atlas.clauses[clause], status(history), history)


def otherwise(one: Status) -> list[str]:
    """Return in lines on which releases torch does something else; those that have no such hook are left out."""
    there = [span for span in one.spans if span.cell.verdict != "absent"]
    good = {span.statement.words for span in there if span.statement.good}
    return [f"{forms.torch_of(when)}: {words}" for when, words in timeline(there) if words not in good]


def as_text(reliance: Reliance) -> str:
    """Return the answer for a terminal."""
    lines = [reliance.summary, *said(reliance.mode), *reliance.less, *not_known(reliance)]
    for each, words in STATUSES.items():
        group = reliance.of(each)
        if group:
            lines += ["", f"{words[len(group) > 1]} ({len(group)})"]
        for one in group:
            lines.append(f"  {one.clause}  {one.sentence}".rstrip())
            lines += [f"    {line}" for line in more(one)]
    return "\n".join([*lines, *left_out(reliance.left_out), "", SCOPE]) + "\n"


def not_known(reliance: Reliance) -> list[str]:
    """Return which releases of the range nothing is said of, in a line."""
    if not reliance.unknown:
        return []
    return [
        "",
        f"not measured in {reliance.mode}: " + forms.torch_of(from_to(*(reliance.unknown[at].label for at in (0, -1)))),
    ]


def more(one: Status) -> list[str]:
    """Return what is said of a clause besides the sentence that may be relied on; its limits come first."""
    hints = one.record.hints
    if one.status == "holds":
        return [*hints, *besides(one.spans)]
    not_true = f"not true here: {one.says}"
    if one.status == "otherwise":
        return [*hints, replace(one.spans[0].statement, says="").words, not_true]
    lines = [*hints, *(f"{when}: {words}" for when, words in timeline(one.spans))]
    return [*lines, not_true] if one.status == "nowhere" else lines


def besides(found: tuple[Span, ...]) -> list[str]:
    """Return what a mode does where the sentence promises nothing, and on which of these releases."""
    lines: dict[str, list[Column]] = {}
    for span in found:
        for text in span.statement.besides:
            lines.setdefault(text, []).extend(span.columns)
    every = sum(len(span.columns) for span in found)
    return [
        text if len(on) == every else f"{text} ({from_to(on[0].label, on[-1].label)})" for text, on in lines.items()
    ]


def as_json(reliance: Reliance) -> str:
    """Return the answer as JSON."""
    return forms.as_json(
        {
            "format": ANSWERS_FORMAT,
            "releases": [column.measured for column in reliance.columns],
            "mode": reliance.mode,
            "left_out": reliance.left_out,
            "scope": LINE,
            "with": list(reliance.words),
            "silent": [one.clause for one in reliance.silent],
            "counts": {each: len(reliance.of(each)) for each in STATUSES},
            "clauses": [
                {
                    "clause": one.clause,
                    "says": one.says,
                    "status": one.status,
                    "sentence": one.sentence,
                    **one.record.limited,
                    "history": [s.plain() for s in one.spans],
                }
                for one in reliance.clauses
                if reliance.promises(one)
            ],
        }
    )


def as_markdown(reliance: Reliance) -> str:
    """Return the answer as tables for an issue or a page of documentation."""
    lines = [f"**{forms.escaped(reliance.summary)}**", *said(reliance.mode), *not_known(reliance)]
    for each, words in STATUSES.items():
        group = reliance.of(each)
        if group:
            lines += [
                "",
                f"### {words[len(group) > 1].capitalize()} ({len(group)})",
                "",
                "| clause | rely on | measured |",
                "|---|---|---|",
            ]
        for one in group:
            lines.append(
                f"| `{one.clause}` | {forms.escaped(one.sentence)} | {'<br>'.join(map(forms.escaped, more(one)))} |"
            )
    return "\n".join([*lines, *left_out(reliance.left_out), "", SCOPE]) + "\n"


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = add_verb(sub, "rely", run, "which clauses hold on every release of a range", EPILOG, __doc__)
    add_choice(parser)
    add_range(parser)
    add_mode(parser)
    parser.add_argument("--target", metavar="NAME", help=on_target.HELP % "on")
    parser.add_argument("--all", action="store_true", help="with --api: list all clauses about it, not its card")
    parser.add_argument(
        "--with",
        dest="words",
        action="append",
        default=[],
        metavar="WORD",
        help='only what is promised with this word of the scope, such as "keyword inputs"; repeatable',
    )
    forms.add_format(parser, FORMS)
    add_sources(parser)


def run(args: argparse.Namespace) -> int:
    """Print the answer; 1 when not all of it can be relied on."""
    if args.target is not None:
        return on_target.rely(args)
    atlas = read_atlas(args)
    if SIGN in (args.mode or ""):
        atlas = with_pair(atlas, args.mode)
    mode = mode_named(atlas, args.mode)
    columns = between(atlas, args.first, args.last)
    for word in args.words:
        if word not in NAMES:
            raise unknown("word of the scope", word, NAMES, f"{REPORTS} scope lists them")
    reliance = rely(atlas, columns, choose(atlas.clauses, args), mode, tuple(args.words))
    more = (args.all, args.begins, args.clauses, args.chapter, args.words, args.tutorial, args.format != "text")
    one = need(args.api[0]) if len(args.api) == 1 and not any(more) else ("", "")
    found = None if one[1] else card(atlas, one[0], reliance.columns, mode)
    if found:
        forms.show(card_as_text(found, reliance.summary), {"text": str}, "text")
    else:
        forms.show(reliance, FORMS, args.format)
    return 0 if reliance.relied else 1 if reliance.told else 2
