"""Each hook API in each mode, on one torch: as in eager, otherwise by which rule, or not measured.

What a run does not have is told of the release that is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fixtures.families import KINDS
from reports.data import forms
from reports.data.atlas import Atlas, Column
from reports.data.cell import Cell
from reports.data.table import RULE

CHAPTER = "modes"
UNDECLARED = "not written down by us"
SAME, OTHER, REFUSED, STATED, NOTHING = "as in eager", "otherwise", "refused", "stated", "not measured"
#: Hooks that are in no plan of aot: what a clause about several kinds says there is not measured for these.
NOT_IN_AOT = (
    "register_module_forward_pre_hook",
    "register_module_forward_hook",
    "register_backward_hook",
    "register_module_backward_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_multi_grad_hook",
    "register_prehook",
    "register_hooks",
    "saved_tensors_hooks",
    "save_on_cpu",
    "disable_saved_tensors_hooks",
)
#: Tangents save more tensors than plans say.
NOT_IN_DUAL = ("register_hooks", "saved_tensors_hooks", "disable_saved_tensors_hooks")
UNPLAYED = {"aot": NOT_IN_AOT, "inductor": NOT_IN_AOT, "dual": NOT_IN_DUAL}
#: How a program meets the modes: their names are those of the suite, and no reader knows them.
CALLS = {
    "contexts": "in another thread, under autocast, save_on_cpu and others",
    "copy": "a network that was copied by deepcopy and pickle",
    "parallel": "torch.nn.DataParallel(net)",
    "inference": "under torch.inference_mode()",
    "checkpoint": "checkpoint(net, use_reentrant=False)",
    "reentrant": "checkpoint(net, use_reentrant=True)",
    "functional": "functional_call(net, {name: p * 2 for name, p in net.named_parameters()}, args)",
    "dual": "under forward_ad.dual_level(), with make_dual(x, tangent) as inputs",
    "compiled": 'torch.compile(net, backend="eager")',
    "late": 'torch.compile(net, backend="eager"), with hooks that come after its first call',
    "in_place": 'net.compile(backend="eager")',
    "aot": 'torch.compile(net, backend="aot_eager")',
    "inductor": "torch.compile(net), as it is by default",
}

#: What all plans of a mode have in common besides: of other programs nothing was measured.
_FIRST, _PURE = "hooks are registered before the first call", "no hook changes something in place"
ASSUMED = {
    **dict.fromkeys(("compiled", "in_place"), f"{_FIRST}; {_PURE}"),
    **dict.fromkeys(("aot", "inductor"), f"{_FIRST}; {_PURE}; full backward hooks are on the network itself"),
    "late": _PURE,
    **dict.fromkeys(("checkpoint", "reentrant"), "the network is called through it as a whole"),
    "parallel": "it has one replica, on the CPU: what several on GPUs do was not measured",
    "dual": f"{_PURE}; one backward pass",
}


@dataclass(frozen=True)
class Rule:
    """Why clauses are otherwise in a mode: its name in `affects` and its sentence, how many, and one of them or ""."""

    name: str
    says: str
    clauses: int
    example: str


@dataclass(frozen=True)
class Entry:
    """One API in one mode: of so many clauses so many are otherwise, by these rules; or the clauses that state it.

    `torch` is where it was measured.
    """

    api: str
    mode: str
    answer: str
    clauses: int = 0
    otherwise: int = 0
    rules: tuple[Rule, ...] = ()
    stated: tuple[str, ...] = ()
    torch: str = ""
    #: What the mode does in programs about which these clauses promise nothing.
    besides: tuple[Rule, ...] = ()

    @property
    def words(self) -> str:
        """The cell in words."""
        of = forms.counted(self.clauses, "clause", "clauses")
        if self.answer == OTHER:
            return f"otherwise in {self.otherwise} of {of}"
        return self.answer if self.answer == NOTHING else f"{self.answer} ({of})"


@dataclass(frozen=True)
class ByMode:
    """The table for one torch, API by API; the last columns are topics of chapter `modes`."""

    torch: str
    modes: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]

    @property
    def summaries(self) -> list[dict[str, list[str]]]:
        """For each row the modes that have an answer, by this answer: what is not as in eager first."""
        order = (OTHER, REFUSED, SAME)
        found = [{answer: [one.mode for one in row if one.answer == answer] for answer in order} for row in self.rows]
        return [{answer: modes for answer, modes in each.items() if modes} for each in found]


def by_mode(atlas: Atlas, columns: Sequence[Column], apis: tuple[str, ...] = ()) -> ByMode:
    """Return the table of these APIs, or of all that a clause with plans is about; the first column that knows answers.

    The torch of the table is the last of them, unless the others answer all.
    """
    modes = atlas.modes[1:]
    topics = tuple(dict.fromkeys(name.rpartition(".")[0] for name in atlas.clauses if _chapter(name) == CHAPTER))
    rows = tuple(
        (*(_known(atlas, columns, api, mode) for mode in modes), *(_stated(atlas, api, topic) for topic in topics))
        for api in apis or tuple(known(atlas))
        if modes or topics
    )
    torches = {entry.torch for row in rows for entry in row if entry.torch}
    return ByMode(torches.pop() if len(torches) == 1 else columns[-1].label, (*modes, *topics), rows)


def _known(atlas: Atlas, columns: Sequence[Column], api: str, mode: str) -> Entry:
    found = [in_mode(atlas, column, api, mode) for column in columns]
    return next((entry for entry in found if entry.answer != NOTHING), found[-1])


def known(atlas: Atlas) -> Iterator[str]:
    """Yield the hook APIs that clauses are about, in the order of the families."""
    names = dict.fromkeys(name for kind in KINDS.values() for name in (kind.method, kind.everywhere) if name)
    about = {api for clause in atlas.clauses.values() for api in clause.about}
    yield from (name for name in names if name in about)


def _chapter(clause: str) -> str:
    return clause.partition(".")[0]


def otherwise(cell: Cell) -> bool:
    """Whether the mode does it otherwise than eager: what eager does, too, is no difference."""
    return cell.new or (cell.deviation or "").startswith(RULE)


def in_mode(atlas: Atlas, column: Column, api: str, mode: str) -> Entry:
    """Return what the clauses about an API that were measured in a mode come to."""
    if api in UNPLAYED.get(mode, ()):
        return Entry(api, mode, NOTHING)
    cells = {
        name: atlas.cells[name, column.key, mode]
        for name, clause in atlas.measured.items()
        if api in clause.about and (name, column.key, mode) in atlas.cells
    }
    # What compares whole plans with the model promises nothing: where it is otherwise is beyond what sentences promise.
    checks = {name: cells.pop(name) for name in list(cells) if name in atlas.checks}
    seen = {
        name: cell
        for name, cell in cells.items()
        if cell.verdict in ("conforms", "deviates") and not any(api in one.unplayed for one in cell.besides)
    }
    if not seen:
        refused = any(cell.verdict == "refused" for cell in cells.values())
        return Entry(api, mode, REFUSED, len(cells), torch=column.label) if refused else Entry(api, mode, NOTHING)
    other = {name: cell for name, cell in seen.items() if otherwise(cell)}
    rules = _rules(atlas, ((name, cell.deviation or "", cell.note) for name, cell in other.items()))
    beside = [(name, one.rule, one.says) for name, cell in seen.items() for one in cell.besides if one.rule]
    beside += [(name, cell.deviation or "", cell.note) for name, cell in checks.items() if otherwise(cell)]
    answer, besides = OTHER if other else SAME, _rules(atlas, beside)
    return Entry(api, mode, answer, len(seen), len(other), rules, torch=column.label, besides=besides)


def _rules(atlas: Atlas, found: Iterable[tuple[str, str, str]]) -> tuple[Rule, ...]:
    """Return the rules of clauses, each with its name and a sentence, the most frequent first."""
    clauses: dict[tuple[str, str], list[str]] = {}
    for name, rule, says in found:
        clauses.setdefault((rule, says), []).append(name)
    return tuple(
        Rule(
            rule.removeprefix(RULE) or UNDECLARED,
            says,
            len(names),
            min((name for name in names if name in atlas.clauses), default=""),
        )
        for (rule, says), names in sorted(clauses.items(), key=lambda each: -len(each[1]))
    )


def _stated(atlas: Atlas, api: str, topic: str) -> Entry:
    found = tuple(
        name for name, clause in atlas.clauses.items() if api in clause.about and name.startswith(f"{topic}.")
    )
    return Entry(api, topic, STATED if found else NOTHING, len(found), stated=found)


#: What a clause may answer in a mode besides, and the words before the names of these modes.
ANSWERS = {
    "refused": "refused in",
    "absent": "not there in",
    "crashed": "crashed in",
    "hung": "hung in",
    "unseen": "not measured in",
}


def in_modes(atlas: Atlas, clause: str) -> str:
    """Return in one line what a clause does in all modes that it was measured in, on the newest torch; "" for none."""
    found: dict[str, list[str]] = {}
    for mode in atlas.modes[1:]:
        cells = [atlas.cells[clause, one.key, mode] for one in atlas.newest if (clause, one.key, mode) in atlas.cells]
        cells = [cell for cell in cells if not cell.partial]
        if cells:
            usual = "otherwise in" if otherwise(cells[0]) else SAME
            found.setdefault(ANSWERS.get(cells[0].verdict, usual), []).append(mode)
    if not found:
        return ""
    lines = [f"{SAME} in {len(found.get(SAME, ()))} of {sum(map(len, found.values()))}"]
    order = ("otherwise in", *ANSWERS.values())
    return "; ".join(lines + [f"{words} {', '.join(found[words])}" for words in order if words in found])
