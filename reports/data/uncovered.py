"""What no clause speaks of yet: in words, why, and how people ask for it; and what only a mode answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fixtures.run.naming import REPORTS


@dataclass(frozen=True)
class Uncovered:
    """A part of torch without clauses: phrases name it, as whole words, unless one of `unless` is there too."""

    what: str
    why: str
    phrases: tuple[str, ...]
    unless: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        """What is said to somebody who asks for it."""
        return f"Not covered: {self.what}. {self.why}."


UNCOVERED = (
    Uncovered(
        "torch.compile and its parts",
        "No plan is executed so yet",
        ("compile", "compiled", "compiling", "dynamo", "inductor", "aot", "aotautograd", "graph break", "cudagraph"),
    ),
    Uncovered("torch.jit", "No plan is executed so yet", ("jit", "torchscript", "scriptmodule", "scripted")),
    Uncovered("torch.export and ONNX", "No plan is executed so yet", ("export", "exported", "onnx")),
    Uncovered(
        "torch.func and vmap",
        "No plan is executed so yet",
        ("functorch", "torch func", "vmap", "jvp", "vjp", "jacrev", "jacfwd"),
    ),
    Uncovered(
        "torch.fx, quantization, pruning, parametrization, weight_norm",
        "What is built on hooks or rewrites modules is not stated yet",
        ("fx", "symbolic trace", "quantization", "quantize", "quantized", "qat", "pruning", "prune", "parametrize",
         "parametrization", "weight norm", "spectral norm"),
    ),
    Uncovered(
        "distributed training with several processes",
        "Clauses are about DistributedDataParallel and FSDP with one process",
        ("pipeline parallel", "tensor parallel", "deepspeed", "rpc"),
    ),
    Uncovered(
        "autocast",
        "Plans add and multiply numbers, which autocast does not cast",
        ("autocast", "amp", "mixed precision"),
    ),
    Uncovered(
        "devices other than the CPU",
        "Recorded is the CPU; the suite runs on others with --device",
        ("cuda", "gpu", "gpus", "mps", "xpu", "tpu", "cuda stream", "streams"),
    ),
    Uncovered(
        "libraries on top of torch",
        "Clauses are about torch alone",
        ("lightning", "accelerate", "fastai", "captum", "torchvision", "timm", "transformers library"),
    ),
)  # fmt: skip
#: What a mode does to every plan, by the words for it.
MODES = {
    "contexts": "anomaly, anomaly detection, detect anomaly, functional call, save on cpu, another thread",
    "copy": "deepcopy, deep copy, pickle, pickled, copied model",
}


def named() -> list[dict[str, Any]]:
    """Return as plain data what is said where a question names one of these, or what a mode measures."""
    found = [{"says": one.says, "phrases": list(one.phrases), "unless": list(one.unless)} for one in UNCOVERED]
    for mode, phrases in MODES.items():
        says = f"Measured for every plan in the mode {mode}: {REPORTS} rely --mode {mode}"
        found.append({"says": says, "phrases": phrases.split(", "), "unless": []})
    return found
