"""The page of the committed verdicts, as users get it: what it tells, its size, and how long it takes."""

from __future__ import annotations

import gzip
import json
import re

from reports.data.atlas import build
from reports.data.claims import CLAIMS, sentences, shown_by
from reports.data.verdicts import read_recorded, read_table
from reports.page.programs import examples
from reports.search.ask import search
from reports.symptoms.symptoms import SYMPTOMS
from suites.selfcheck.page import picture
from suites.selfcheck.page.pages import WORK, Effort, Reader, watched
from suites.selfcheck.readers.test_find import ELSEWHERE, KEPT, PRINTED, QUESTIONS
from suites.selfcheck.readers.test_why import SEEN

#: What is promised of a page on 26 versions and four targets, for each clause: it may grow as its clauses do.
BYTES, PACKED = 2_800, 550
#: Calls of functions for each clause, with all that is read and parsed once; some 8,600 where the table is made anew.
CALLS = 9_500
#: In pieces of work of the page's own; some 8, and up to 13 on a busy machine.
OPENING = 16


def test_every_claim_is_counted_as_true_or_false_on_the_newest_torch(browser, recorded):
    atlas = build(read_table(), read_recorded())
    cells = [atlas.cell(name, atlas.columns[-1], "eager") for name in CLAIMS]
    assert {cell.verdict for cell in cells} == {"conforms"}
    answers = [(cell.reading or "").startswith("true") for cell in cells]
    assert all((cell.reading or "").startswith(("true", "false")) for cell in cells)
    with watched(browser) as page:
        Reader(page, recorded.url).open()
        answer = page.inner_text(".also:has(#claims)")
        numbers = [int(number) for number in re.findall(r" (\d+) ", answer.replace("torch 2.15", ""))]
        assert numbers == [len(cells), sum(answers), len(cells) - sum(answers)]


def test_it_is_as_small_as_promised_and_built_with_little_work(recorded):
    text, count = recorded.path.read_bytes(), len(recorded.table)
    data = json.loads(re.findall(r'id="data">(.*?)</script>', text.decode())[0])
    assert len(data["columns"]) == 26
    assert all("example" in clause for clause in data["clauses"].values())  # nothing was left out of what is weighed
    size, packed = len(text), len(gzip.compress(text, 6))  # as servers pack it
    assert size < BYTES * count
    assert packed < PACKED * count
    assert recorded.calls < CALLS * count


def test_the_page_shows_the_programs_that_are_printed(browser, recorded):
    """It has what their docstrings begin with only once, in the rows."""
    with watched(browser) as page:
        Reader(page, recorded.url).open()
        programs = dict(page.evaluate("() => Object.keys(DATA.clauses).map((id) => [id, exampleOf(id)])"))
    printed = examples()
    assert programs == {name: printed[shown_by(name)] for name in recorded.table}


def test_the_page_finds_what_the_verb_finds(browser, recorded):
    """The same clauses in the same order, as near or not, with the same notes, answer and symptom."""
    ask = search(sentences(read_table().clauses))
    asked = [
        *QUESTIONS,
        *PRINTED,
        *KEPT,
        *SEEN,
        *ELSEWHERE,
        "torch.compile",
        "hook on GPU",
        "how to train resnet",
        "hok twise",
        "ValueError: drop the hook_form_alter of x",
        "retain.keep.",
        "",
    ]
    with watched(browser) as page:
        Reader(page, recorded.url).open()
        of = "({ ids, close, notes, answer, symptom })"
        code = (
            f"all => all.map(findClauses).map({of} => [ids.slice(0, 40), close, notes, answer && answer.says, symptom])"
        )
        shown = page.evaluate(code, asked)
    for words, found in zip(asked, shown, strict=True):
        wanted = ask.find(words)
        symptom = SYMPTOMS.index(wanted.symptoms[0]) if wanted.symptoms else None
        answer = wanted.answer and wanted.answer.says
        assert found == [list(wanted.clauses[:40]), wanted.close, list(wanted.notes), answer, symptom], words
    for place in (1, 3, 4):
        assert len({one[place] for one in shown}) > 1


def test_the_picture_in_the_readme_is_of_this_page(browser, recorded):
    with watched(browser) as page:
        now = picture.seen(picture.opened(page, recorded.url))
    assert picture.held(picture.PICTURE.read_bytes()) == now, f"it is old: {picture.COMMAND}"


def test_it_opens_with_little_work(browser, recorded):
    with watched(browser) as page:
        effort = Effort(page)
        reader = Reader(page, recorded.url).open()
        assert effort.since() < OPENING
        assert len(reader.rows()) == len(recorded.table)


def test_work_counts_and_waiting_does_not(reader):
    """The measure would say so: of ten pieces of its own work, and of time that passes without any."""
    effort = Effort(reader.page)
    reader.page.evaluate(f"() => {{ for (let left = 10; left; left--) ({WORK})(); }}")
    assert 4 < effort.since() < 25
    effort = Effort(reader.page)
    reader.page.evaluate("new Promise((done) => setTimeout(done, 600))")
    assert effort.since() < 4
