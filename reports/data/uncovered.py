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
        "CUDA graphs",
        "Under torch.compile plans are played on the CPU",
        ("cudagraph", "cudagraphs", "cuda graph"),
    ),
    Uncovered("ONNX", "No plan is executed so yet", ("onnx",)),
    Uncovered(
        "quantization",
        "It rewrites modules, which is not stated yet",
        ("quantization", "quantize", "quantized", "qat"),
    ),
    Uncovered(
        "distributed training with several processes",
        "Clauses are about DistributedDataParallel and FSDP with one process",
        ("pipeline parallel", "tensor parallel", "deepspeed", "rpc"),
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
    "parallel": "dataparallel, data parallel",
    "inference": "inference mode",
    "checkpoint": "checkpoint, checkpointing, activation checkpointing, gradient checkpointing",
    "reentrant": "use reentrant, reentrant checkpoint",
    "compiled": "torch compile, compiled model, compiled network, dynamo",
    "late": "hook after compile, late hook, after the first compiled call",
    "in_place": "module compile, model compile, compiled in place",
    "aot": "aot eager, aotautograd, aot autograd",
    "inductor": "inductor, torch inductor, default backend",
}


def named() -> list[dict[str, Any]]:
    """Return as plain data what is said where a question names one of these, or what a mode measures."""
    found = [{"says": one.says, "phrases": list(one.phrases), "unless": list(one.unless)} for one in UNCOVERED]
    for mode, phrases in MODES.items():
        says = f"Measured for every plan in the mode {mode}: {REPORTS} rely --mode {mode}"
        found.append({"says": says, "phrases": phrases.split(", "), "unless": []})
    return found
