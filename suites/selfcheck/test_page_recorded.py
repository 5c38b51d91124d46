"""The page of the committed verdicts, as users get it: what it tells."""

from __future__ import annotations

import json
import re

from reports.verdicts import VERDICTS
from suites.selfcheck.pages import Reader, watched


def test_every_claim_is_counted_as_true_or_false_on_the_newest_torch(browser, recorded):
    newest = json.loads((VERDICTS / "2.15.json").read_text("utf-8"))["cells"]
    cells = [modes["eager"] for name, modes in newest.items() if name.startswith("tutorial.")]
    assert {cell["verdict"] for cell in cells} == {"conforms"}
    answers = [cell["reading"].startswith("true") for cell in cells]
    assert all(cell["reading"].startswith(("true", "false")) for cell in cells)
    with watched(browser) as page:
        Reader(page, recorded.url).open()
        told = page.inner_text(".also:has(#claims)")
        numbers = [int(number) for number in re.findall(r" (\d+) ", told.replace("torch 2.15", ""))]
        assert numbers == [len(cells), sum(answers), len(cells) - sum(answers)]
