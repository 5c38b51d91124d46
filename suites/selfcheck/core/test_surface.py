"""Every hook-registering name of the running torch is mapped to clauses, or to a reason for none."""

import inspect
import json
import pkgutil
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from functools import cache

from fixtures.clause.clause import CLAUSES
from reports.cards.card import table
from suites.selfcheck.all_clauses import import_suites
from suites.surface import SURFACE, Entry

import_suites()


@cache
def names() -> frozenset[str]:
    """Those of a fresh process: tests that compile load more of torch here."""
    program = "import json, torch, suites.surface as surface; print(json.dumps(sorted(surface.names())))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return frozenset(json.loads(done.stdout))


def entry_for(name: str) -> Entry | None:
    return next((entry for entry in SURFACE if fnmatchcase(name, entry.pattern)), None)


def test_the_walk_finds_the_six_doors_that_every_torch_has() -> None:
    found = {name.rpartition(".")[2] for name in names()}
    assert {
        "register_forward_pre_hook",
        "register_forward_hook",
        "register_backward_hook",
        "register_hook",
    } <= found


def test_no_name_is_forgotten() -> None:
    forgotten = sorted(name for name in names() if entry_for(name) is None)
    assert not forgotten, "map these names in suites/surface.py to clauses or to a reason"


def test_a_new_name_would_be_noticed() -> None:
    assert entry_for("torch.nn.modules.module.Module.register_sideways_hook") is None


def test_every_line_has_clauses_that_exist_or_a_reason() -> None:
    for entry in SURFACE:
        assert bool(entry.clauses) != bool(entry.reason), entry
        for prefix in entry.clauses:
            assert any(clause.startswith(prefix) for clause in CLAUSES), prefix


#: What a card calls an object of C++, and where torch has its class.
SPELLED = {"y.grad_fn._raw_saved_self.": "torch._C._autograd.SavedTensor.", "y.grad_fn.": "torch.autograd.graph.Node."}


def test_a_card_spells_the_call_of_its_api() -> None:
    """Its parameters in their order, with what they are by default; "..." stands for more. Some have no signature."""
    unknown = []
    for api, parts in ((api, parts) for cards in table().values() for api, parts in cards.items()):
        path, _, given = str(parts["call"]).removesuffix(")").partition("(")
        written = next((path.replace(*pair) for pair in SPELLED.items() if path.startswith(pair[0])), path)
        try:
            found = inspect.signature(pkgutil.resolve_name(written)).parameters.values()
        except ValueError:
            unknown.append(api)
            continue
        spelled = ", ".join(str(one.replace(annotation=one.empty)) for one in found if one.name != "self")
        if any(one.kind is one.KEYWORD_ONLY for one in found):
            spelled = re.sub("(?=[a-z_]+=)", "*, ", spelled, count=1)
        assert spelled.startswith(given.removesuffix("...")) if given.endswith("...") else spelled == given, api
    assert unknown == ["retain_grad", "register_hooks"]
