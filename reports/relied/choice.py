"""Which clauses somebody's code relies on: about what it registers, with its options, in the ways that it names."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from fixtures.clause.about import GRAD
from fixtures.clause.matters_if import NEVER
from fixtures.families import KINDS
from reports.data.atlas import Atlas
from reports.data.clause import Clause
from reports.data.strict import BadInput, read_bytes
from reports.usage.files import python_files
from reports.usage.lacks import Lacking
from reports.usage.uses import Code, Use


@dataclass(frozen=True)
class Way:
    """A way to run a model: how code names it, and how the ids of the clauses begin that are about it alone."""

    named: str
    clauses: tuple[str, ...]


#: A clause that one of them has is left out where the code does not name the way.
WAYS = {
    "torch.compile": Way(
        r"torch\.compile\b|\b(model|module|net|layer|block)\.compile\(", ("modes.compile.", "modes.errors.compiled")
    ),
    "checkpoint": Way(
        r"\bcheckpoint(_sequential|_wrapper)?\(",
        (
            "modes.checkpoint.",
            "modes.errors.early_stop",
            "backward.modes.checkpoint",
            "backward.pairing.stack_checkpoint",
            "backward.pairing.closure_checkpoint",
        ),
    ),
    "DataParallel": Way(r"\b(Distributed)?DataParallel\b|\bDDP\(", ("modes.distributed.", "modes.errors.no_sync")),
    "FSDP": Way(r"\bfully_shard\b|\bFullyShardedDataParallel\b|\bFSDP\b", ("modes.sharded.",)),
    "autocast": Way(r"\bautocast\(", ("modes.autocast.",)),
    "torch.jit": Way(r"\bjit\.(script|trace)", ("modes.jit.",)),
    "torch.fx": Way(r"\bsymbolic_trace\(|\bmake_fx\(|\bfx\.(Tracer|GraphModule)", ("modes.fx.",)),
    "torch.export": Way(r"torch\.export\b", ("modes.export.",)),
    "torch.func": Way(
        r"torch\.func\b|\bfunctorch\b|\bfunctional_call\(|\bvmap\(",
        ("modes.func.", "modes.errors.func", "modes.errors.functional"),
    ),
    "copies": Way(
        r"\bcopy\.copy\(|\bdeepcopy\(|\bpickle\.|torch\.(save|load)\(",
        ("handles.copies.", "handles.handle.copies", "gradient.copies.", "built.copies.", "built.used."),
    ),
    "inference_mode": Way(r"\binference_mode\b", ("backward.modes.inference", "modes.decorated.")),
    "forward_ad": Way(r"\bforward_ad\b|\bfunc\.jvp\(", ("modes.func.jvp", "backward.modes.forward_ad")),
    "parametrize": Way(r"\bparametrize\b|\bregister_parametrization\(", ("built.parametrize.",)),
    "weight_norm": Way(r"\bweight_norm\(", ("built.weight_norm.",)),
    "spectral_norm": Way(r"\bspectral_norm\(", ("built.spectral_norm.",)),
    "prune": Way(r"\bprune\.", ("built.prune.",)),
    "lazy modules": Way(r"\bLazy(Linear|Conv|BatchNorm|InstanceNorm)\w*\(", ("built.lazy.",)),
}
NAMED = re.compile("|".join(rf"(?P<w{number}>{way.named})" for number, way in enumerate(WAYS.values())))
#: What a clause is about that begins so: hooks that do this. It is left out where the code shows that they do not.
ONLY_IF = {
    "returns": (
        "input.replacement.",
        "output.replacement.",
        "gradient.replace.",
        "backward.returns.",
        "handles.written.",
    ),
    "edits": ("gradient.edits.", "backward.inplace."),
}
#: These are about hooks that return nothing, too.
ALSO = re.compile(r"\.(none_keeps|looks_only|parameters|every_call|every_backward|sees_the_sum|grad_mode_is_off)$")
#: What somebody's own users may call: a clause about it and a hook concerns the hook.
OF_ALL = {GRAD}
#: So many APIs are those that a sentence is true of, one by one; fewer are used together.
SEVERAL = 3


@dataclass(frozen=True)
class Relied:
    """The clauses that code relies on, each with the uses that it concerns; and the ways that it names, with where."""

    code: Code
    version: Version
    clauses: Mapping[str, tuple[Use, ...]]
    ways: Mapping[str, str]

    def why(self, clause: str) -> list[str]:
        """Return the ways that a clause is about, with the place where the code names each."""
        return [f"{name} at {place}" for name, place in self.ways.items() if clause.startswith(WAYS[name].clauses)]


def relied(atlas: Atlas, code: Code, path: Path, version: Version) -> Relied:
    """Return the clauses that concern uses which may run on this torch. Raises BadInput where there are none."""
    if not code.uses:
        raise BadInput(path, "", "uses no hook of torch", "name the code that registers hooks")
    uses = [use for use in code.uses if not code.guards.shut(use.guards, version)]
    ways, names = named_ways(path, code.root), Lacking(atlas)
    left_out = {start for name, way in WAYS.items() for start in way.clauses if name not in ways}
    left_out -= {start for name in ways for start in WAYS[name].clauses}
    apis = {names.name(use) for use in uses}
    found = {}
    for name, clause in atlas.clauses.items():
        if clause.is_claim or name.startswith(tuple(left_out)):
            continue
        mine = (use for use in uses if concerns(clause, names.name(use), use, apis))
        if mine := tuple(use for use in mine if not code.accepts(use, name)):
            found[name] = mine
    return Relied(code, version, found, ways)


def named_ways(path: Path, root: Path) -> dict[str, str]:
    """Return the ways that code names, each with the first place; not what texts and comments say."""
    found: dict[str, str] = {}
    for name, file in python_files(path, root):
        text = read_bytes(file).decode("utf-8", "replace")
        if not NAMED.search(text):
            continue
        code = text if name.endswith(".ipynb") else _without_texts(text)
        for match in NAMED.finditer(code):
            way = [*WAYS][int(str(match.lastgroup)[1:])]
            line = code.count("\n", 0, match.end()) + 1
            found.setdefault(way, name if name.endswith(".ipynb") else f"{name}:{line}")
    return {name: found[name] for name in WAYS if name in found}


def _without_texts(text: str) -> str:
    """Return code with nothing in place of strings and comments, line for line; "" where it is no Python."""
    lines = text.splitlines(keepends=True)
    try:
        tokens = [*tokenize.generate_tokens(io.StringIO(text).readline)]
    except (SyntaxError, tokenize.TokenError):  # it is named as left out by who reads the uses
        return ""
    for token in (one for one in reversed(tokens) if one.type in (tokenize.STRING, tokenize.COMMENT)):
        (first, start), (last, end) = token.start, token.end
        kept = "\n" * (last - first)
        lines[first - 1 : last] = [lines[first - 1][:start] + kept + lines[last - 1][end:]] + [""] * (last - first)
    return "".join(lines)


def concerns(clause: Clause, api: str, use: Use, apis: set[str]) -> bool:
    """Say whether a clause is about an API as it is used: with an option only where that is given, or may be.

    `apis` are all that the code uses.
    """
    kinds, *words = clause.matters_if.split() or [NEVER]
    matters = bool(use.kinds & {*kinds.split("|")})
    if matters and any(use.seen.get(word) is False for word in words):
        return False
    for word, starts in ONLY_IF.items():
        if use.seen.get(word) is False and clause.id.startswith(starts) and not ALSO.search(clause.id):
            return False
    options = {option for one, option in clause.needed if one == api}
    if matters and not options:  # what matters to a hook on all modules is said of the method, too
        options = {option for _, option in clause.needed} or {""}
    fits = bool(options & {"", *use.options}) or (bool(options) and use.unsure)
    shown = matters and all(word in use.seen for word in words)
    return fits and (shown or _together(clause, apis))


def _together(clause: Clause, apis: set[str]) -> bool:
    """Say whether all that a clause is about is used: one of several, or of two of one family, is enough."""
    about = clause.apis - OF_ALL
    return len(about) >= SEVERAL or about <= apis or len({*map(_family, about)}) == 1


def _family(api: str) -> tuple[str, bool]:
    """Return what hooks of an API are on, and whether they run in the backward pass."""
    kinds = [kind for kind in KINDS.values() if api in (kind.api, kind.everywhere)]
    return (kinds[0].owner, "backward" in kinds[0].name) if kinds else (api, False)


def in_order(relied: Relied) -> Iterator[tuple[tuple[Use, ...], list[str]]]:
    """Yield the clauses that concern the same uses together, in the order of the code."""
    groups: dict[tuple[Use, ...], list[str]] = {}
    for name, uses in relied.clauses.items():
        groups.setdefault(uses, []).append(name)
    yield from sorted(groups.items())
