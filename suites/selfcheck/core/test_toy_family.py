"""A family is one file and one name in FAMILIES, also where it has several targets, two functions and a step."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
#: Two functions on several tensors: the first is called in odd passes, the second in even ones. And a step that counts.
TOY = '''
"""A family that no torch has: made of tensor hooks."""

from dataclasses import replace
from typing import Any

from fixtures.families.kind import Family, Kind, Part, StepKind
from fixtures.families.place import SEVERAL
from fixtures.families.several import Handles
from fixtures.plan.part import part

CALL = "torch.Toy([u.register_hook(torch.Toy.in_turn({functions})) for u in {target}])"
DEFINITIONS = """\\
class Toy:
    def __init__(self, handles): self.handles = handles
    def remove(self):
        for one in self.handles: one.remove()
    def __enter__(self): return self
    def __exit__(self, *raised): self.remove()
    @staticmethod
    def in_turn(*functions):
        queue = list(functions)
        def hook(grad): queue.append(queue.pop(0)); return queue[-1](grad)
        return hook"""
exec(DEFINITIONS)


@part
class Count:
    """Write down how many hooks there are."""

    plus: int = 0


class OfToy(Kind):
    def functions(self, hook: Any) -> Any:
        return replace(hook, label=hook.label + ".odd", back=()), replace(
            hook, label=hook.label + ".even", do=hook.back, back=()
        )


class ToyPart(Part):
    ended = made = 0

    def register(self, kind: Any, target: Any, function: Any, options: Any) -> Any:
        add = self.lib.parts["tensor"].add
        return Handles([add(tensor, Toy.in_turn(*function)) for tensor in target])

    def end_pass(self) -> None:
        type(self).ended += 1

    def node_made(self, node: Any) -> None:
        type(self).made += 1


FAMILY = Family(
    "toy",
    kinds=(
        OfToy(
            "toy", on=(SEVERAL,), owner="torch.Tensor", method="register_hook", call=CALL, chapters=("gradient",),
            replaces=0, changing="tensor_hooks_iterate", definitions=DEFINITIONS,
        ),
    ),
    model=ToyPart,
    steps=(
        StepKind(
            Count,
            play=lambda player, step: player.record("counted", len(player.handles) + step.plus),
            write=lambda writer, step: [f'log.append(("counted", {len(writer.registered) + step.plus}))'],
            draw=lambda script: [Count(1)],
            events=("counted",),
            sign="counts",
        ),
    ),
    apart=True,
)
'''
CHECK = """
import torch
from fixtures.families.toy import Count, Toy, ToyPart
from fixtures.draw.plans import plans
from fixtures.judge.triage import signs_of_plan
from fixtures.model.contract import contract_for, installed_version
from fixtures.model.module import expect
from fixtures.plan.grammar import Hook
from fixtures.show.tensors import writer
from fixtures.stages import stage
from hypothesis import HealthCheck, given, settings

torch.Toy = Toy  # as if torch had it
lib, contract = stage.Torch(), contract_for(installed_version())
found = dict(plans=0, calls=0, steps=0)


@settings(max_examples=80, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(plan=plans(kinds=("toy", "tensor"), ops=("scale", "affine"), outputs=(1, 1), runs=3, contract=contract))
def check(plan):
    trace = stage.perform(plan, lib)
    assert trace == expect(plan, contract), plan
    found["plans"] += any(isinstance(step, Hook) and step.kind == "toy" and step.also for step in plan.steps)
    found["calls"] += any(".even" in what for what in trace.calls())
    found["steps"] += any(isinstance(step, Count) for step in plan.steps)
    scope = {}
    exec(writer(plan, trace).text([], []), scope)
    assert [tuple(one) for one in scope["log"]] == [(event.what, *event.seen) for event in trace], plan
    if any(isinstance(step, Count) for step in plan.steps):
        assert "counts" in signs_of_plan(plan, trace.lines(), [])


check()
print(found, ToyPart.ended > 0, ToyPart.made > 0)
assert min(found.values()) > 2 and ToyPart.ended and ToyPart.made
"""


def test_one_file_and_one_name(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures", ignore=shutil.ignore_patterns("__pycache__"))
    families = tmp_path / "fixtures" / "families"
    (families / "toy.py").write_text(TOY)
    listed = families / "__init__.py"
    text = listed.read_text().replace("    saved.FAMILY,\n", "    saved.FAMILY,\n    toy.FAMILY,\n")
    listed.write_text(text.replace("    tensor,\n)", "    tensor,\n    toy,\n)"))
    done = subprocess.run([sys.executable, "-c", CHECK], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
