"""What a clause is about besides a hook: a way to run a model, something that is done. Code that does not name it
relies on no such clause."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from reports.data.clause import Clause
from reports.data.strict import read_bytes
from reports.usage.files import python_files


@dataclass(frozen=True)
class Named:
    """How code names something; and which clauses are about it: by how their ids begin, or by words of sentences."""

    code: str
    clauses: tuple[str, ...] = ()
    says: str = ""
    near: bool = False  # it is named in the file of the hook, not anywhere below the path

    def is_about(self, clause: Clause) -> bool:
        """Say whether a clause is about it."""
        return clause.id.startswith(self.clauses) or bool(self.says and re.search(self.says, clause.says))


#: A clause that is about one of them is left out where the code does not name it.
NAMED = {
    "torch.compile": Named(
        # what a decorator compiles is a function, unless it is a forward
        r"(?<!@)\btorch\.compile\b|@torch\.compile\b(\(.*\))?\s+def forward\b"
        r"|\b(model|module|net|layer|block)\.compile\(",
        ("modes.compile.", "modes.errors.compiled"),
        near=True,
    ),
    "checkpoint": Named(
        r"\bcheckpoint(_sequential|_wrapper)?\(", ("modes.checkpoint.", "modes.errors.early_stop"), r"\bcheckpoint"
    ),
    "DataParallel": Named(
        r"\b(Distributed)?DataParallel\b|\bDDP\(", ("modes.distributed.", "modes.errors.no_sync"), "DataParallel"
    ),
    "FSDP": Named(r"\bfully_shard\b|\bFullyShardedDataParallel\b|\bFSDP\b", ("modes.sharded.",)),
    "autocast": Named(r"\bautocast\(", ("modes.autocast.",), "autocast"),
    "torch.jit": Named(r"\bjit\.(script|trace)", ("modes.jit.",)),
    "torch.fx": Named(r"\bsymbolic_trace\(|\bmake_fx\(|\bfx\.(Tracer|GraphModule)", ("modes.fx.",)),
    "torch.export": Named(r"torch\.export\b", ("modes.export.",)),
    "torch.func": Named(
        r"torch\.func\b|\bfunctorch\b|\bfunctional_call\(|\bvmap\(",
        ("modes.func.", "modes.errors.func", "modes.errors.functional"),
        "functional_call|vmap",
    ),
    "copies": Named(
        r"\bcopy\.copy\(|\bdeepcopy\(|\bpickle\.|torch\.(save|load)\(",
        ("handles.copies.", "handles.handle.copies", "gradient.copies.", "built.copies."),
        "copie[ds]|deep copy|copy\\.|pickle",
    ),
    "inference_mode": Named(r"\binference_mode\b", ("modes.decorated.",), "inference mode|inference_mode"),
    "forward_ad": Named(r"\bforward_ad\b|\bfunc\.jvp\(", ("modes.func.jvp", "backward.modes.forward_ad")),
    "parametrize": Named(r"\bparametrize\b|\bregister_parametrization\(", ("built.parametrize.",)),
    "weight_norm": Named(r"\bweight_norm\(", ("built.weight_norm.",), "weight_norm"),
    "spectral_norm": Named(r"\bspectral_norm\(", ("built.spectral_norm.",), "spectral_norm"),
    "prune": Named(r"\bprune\.", ("built.prune.",)),
    "lazy modules": Named(r"\bLazy(Linear|Conv|BatchNorm|InstanceNorm)\w*\(", ("built.lazy.",), r"\blazy\b"),
    "autograd.grad": Named(r"autograd\.grad\(|\.backward\(.*inputs=", (), r"autograd\.grad\b|inputs="),
    "create_graph": Named(
        r"\bcreate_graph\b|\bhessian\(|\bjacobian\(",
        ("backward.twice.",),
        r"(?<!without )(?<!has )create_graph|second derivative",
    ),
    "retain_graph": Named(
        r"\b(retain|create)_graph\b", (), "retain_graph|second backward|a second .*backward|second time"
    ),
    "no_grad": Named(r"\b(no|enable|set)_grad\w*\(|\binference_mode\b", (), r"(?<!also under )\bno_grad\b"),
    "sparse tensors": Named(r"\bsparse", (), r"\bsparse\b"),
    "complex tensors": Named(r"\bcomplex|\bcfloat|\bfft\b", (), r"\bcomplex\b"),
    "threads": Named(r"\b[Tt]hread", (), r"\bthread"),
    "LSTM": Named(r"\b(LSTM|GRU|RNN)\b", (), r"\bLSTM\b"),
    "attention of torch": Named(
        r"\bMultiheadAttention\b|\bnn\.Transformer", (), "MultiheadAttention|Transformer|fast path"
    ),
    "SyncBatchNorm": Named(r"\bconvert_sync_batchnorm\b", (), "convert_sync_batchnorm"),
    "loading by assign": Named(r"\bassign=|\bto_empty\(", (), "assign=True|to_empty"),
    "save_on_cpu": Named(r"\bsave_on_cpu\b", (), r"\bsave_on_cpu\b"),
    "disable_saved_tensors_hooks": Named(r"\bdisable_saved_tensors_hooks\b", (), "disable_saved_tensors_hooks"),
    "saved tensors of a node": Named(r"\._(raw_)?saved_", (), r"\._saved_"),
    "autograd.Function": Named(r"\bautograd\.Function\b|\bFunction\)", (), r"\bFunction\b"),
    "an own loading": Named(r"\b_load_from_state_dict\b", (), "_load_from_state_dict"),
    "extra state": Named(r"\b[gs]et_extra_state\b", (), "extra_state"),
    "keep_vars": Named(r"\bkeep_vars\b", (), "keep_vars"),
    "persistent=": Named(r"\bpersistent=", (), "persistent="),
    "removing": Named(
        r"\.remove\(\)|\bwith .*register_",
        ("handles.removal.",),
        r"(?<!before it )(?<!until it )\b(is|was|were|be|hooks) removed\b"
        r"|\bRemoving\b|\bremoves\b|\bremove\(\)|\bremoved (before|hook)",
        near=True,
    ),
    "storing on the module": Named(r"\b(module|mod|m|layer)\.\w+ = ", ("built.used.",), near=True),
    "async": Named(r"\basync def\b|\byield\b", (), "`async def`", near=True),
    "calling itself": Named(r"\b(self|module|mod|m)\(", (), r"calls? itself|calls? its (own )?module", near=True),
}
_ANY = re.compile("|".join(rf"(?P<w{number}>{one.code})" for number, one in enumerate(NAMED.values())))


def about(clause: Clause) -> list[str]:
    """Return what a clause is about."""
    return [name for name, one in NAMED.items() if one.is_about(clause)]


@dataclass(frozen=True)
class Places:
    """Where code names what clauses are about: name -> the first place in each file that does."""

    found: Mapping[str, Mapping[str, str]]

    @classmethod
    def read(cls, path: Path, root: Path) -> Places:
        """Return what the files below a path name; not what their texts and comments say."""
        found: dict[str, dict[str, str]] = {}
        for file, name, place in _mentions(python_files(path, root)):
            found.setdefault(name, {}).setdefault(file, place)
        return cls(found)

    def admits(self, names: Iterable[str], file: str) -> bool:
        """Say whether all of this is named, for a hook in a file."""
        return all(file in self.found.get(name, ()) if NAMED[name].near else name in self.found for name in names)

    def ways(self) -> dict[str, str]:
        """Return what is named, each with the first place."""
        return {name: next(iter(self.found[name].values())) for name in NAMED if name in self.found}

    def why(self, clause: Clause) -> list[str]:
        """Return what a clause is about besides the hook, each with the first place."""
        return [f"{name} at {place}" for name, place in self.ways().items() if name in about(clause)]


def _mentions(files: Iterable[tuple[str, Path]]) -> Iterator[tuple[str, str, str]]:
    """Yield each file, what it names, and the place."""
    for name, file in files:
        text = read_bytes(file).decode("utf-8", "replace")
        if not _ANY.search(text):
            continue
        notebook = name.endswith(".ipynb")
        code = text if notebook else _without_texts(text)
        for what, one in NAMED.items():
            if match := re.search(one.code, code):
                yield name, what, name if notebook else f"{name}:{code.count(chr(10), 0, match.end()) + 1}"


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
