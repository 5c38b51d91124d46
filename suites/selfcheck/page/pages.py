"""A page built from made-up results, and a reader of it in a real browser."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

from reports.__main__ import main
from reports.data.claims import sentences
from reports.data.verdicts import read_table
from suites.selfcheck import synthetic, synthetic_counts

#: Returns what is too faint to read.
CONTRAST = Path(__file__).with_name("contrast.js").read_text("utf-8").partition("\n")[2]
#: Milliseconds after which what is waited for will never come: only a failure takes so long, however busy the machine.
WAITING = 120_000
#: The versions whose costs are on a page that has some, and what costs more on each.
PRICED = {"1.12.0": {}, "1.13.1": {}, "2.0.0": {"forward": 1.5}, "2.1.0": {"forward": 1.5}}


#: Theme and width of the screens on which a view is looked at: each theme and each width once.
SCREENS = (("light", 1440), ("dark", 390))
#: Resolves when what was asked for has been handed over to be painted.
FRAME = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
#: Resolves when nothing moves or fades any more, however long that takes here.
SETTLED = "() => Promise.all(document.getAnimations().map((each) => each.finished.catch(() => null)))"
#: Opens all that opens, also what is drawn by opening, and resolves when the page has heard of each.
OPEN_ALL = """async () => {
  for (let closed; (closed = [...document.querySelectorAll("details:not([open])")]).length;) {
    await Promise.all(closed.map((each) => new Promise((done) => {
      each.addEventListener("toggle", done, { once: true });
      each.open = true;
    })));
  }
}"""
#: A fixed piece of work for the main thread of a page: a table is made, laid out and taken away.
WORK = """() => {
  const box = document.createElement("div");
  box.style.contain = "strict";
  document.body.append(box);
  for (let row = 0; row < 600; row++) {
    const line = document.createElement("div");
    for (let cell = 0; cell < 8; cell++) {
      const made = document.createElement("span");
      made.className = "chip holds";
      made.textContent = `holds ${row} ${cell}`;
      line.append(made);
    }
    box.append(line);
  }
  const height = [...box.children].reduce((sum, line) => sum + line.offsetHeight, 0);
  box.remove();
  return height;
}"""


class Built:
    """A page on disk and what was put into it."""

    def __init__(self, path, table, calls=None):
        self.path, self.table, self.calls = path, table, calls
        self.url = path.as_uri()

    def having(self, verdict, torch=None):
        """Return the clauses with such a cell, on one torch or on any."""
        torches = [torch] if torch else synthetic.TORCHES
        return [
            name
            for name, clause in self.table.items()
            if any(synthetic.cell(name, clause, each)["verdict"] == verdict for each in torches)
        ]


def build(folder, table, *runs):
    out = folder / "index.html"
    folders = ["--verdicts", str(folder / "verdicts"), "--upstream", str(folder / "upstream")]
    assert main(["page", *(map(str, runs) if runs else ["--recorded"]), *folders, "--out", str(out)]) == 0
    return Built(out, table)


def build_priced(folder):
    """Build a page with costs of four versions."""
    table = synthetic.clauses(10, seed=5)
    synthetic.write_verdicts(folder / "verdicts", table)
    synthetic.write_scripts(folder / "upstream", table)
    synthetic_counts.record(folder / "verdicts" / "costs.json", PRICED, synthetic_counts.times())
    return build(folder, table)


def build_noted(folder):
    """Build a page with all that is rare: a run of one's own, unfinished, undeclared, in two modes."""
    table = synthetic.clauses(10)
    synthetic.write_verdicts(folder / "verdicts", table, ("2.0.0", "2.14.0"))
    lines = copy.deepcopy(synthetic.run_lines(table, "2.15.0", modes=["eager", "compiled"]))[:-3]
    lines[0]["torch"] = "2.16.0a0+git1a2b3c4"
    cell = next(line for line in lines if line.get("verdict") == "conforms")
    cell.update(verdict="deviates", refuted=[], evidence=synthetic.evidence())
    lines += [synthetic.cell(name, clause, "2.15.0", "compiled") for name, clause in table.items()]
    made = build(folder, table, synthetic.write_lines(folder / "run.jsonl", lines))
    page = made.path.read_text("utf-8")
    # The last three are for links that lead nowhere, and for searches.
    assert page.count('<p class="notice') + page.count('<div class="notice') == 8
    assert 'id="mode"' in page
    return made


def build_recorded(folder):
    """Build the page of the committed verdicts as a user does, and note how many calls that took."""
    out = folder / "index.html"
    taken = calls(lambda: main(["page", "--recorded", "--out", str(out)]))
    return Built(out, {name: clause.record for name, clause in sentences(read_table().clauses).items()}, taken)


def calls(work):
    """Return how many functions of Python and C a piece of work calls: the same on every machine, however busy."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


class Effort:
    """What a page costs its reader from now on, in fixed pieces of work on the same main thread."""

    def __init__(self, page):
        self.page, self.session = page, page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.begun = self._processor()

    def since(self):
        """Return how often WORK could have been done in the processor time that the main thread took.

        It is timed behind what it measures, on the same page: a slower or busier machine slows both.
        """
        self.page.evaluate(FRAME)
        taken = self._processor() - self.begun
        pieces = []
        for _ in range(5):
            before = self._processor()
            self.page.evaluate(WORK)
            pieces.append(self._processor() - before)
        self.session.detach()
        return taken / sorted(pieces)[2]

    def _processor(self):
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")


class Reader:
    """A person at the page."""

    def __init__(self, page, url):
        self.page, self.url = page, url

    def open(self, address=""):
        self.page.goto("about:blank")
        self.page.goto(self.url + address)
        self.page.wait_for_selector("html[data-ready]")
        self.page.wait_for_function("() => toShow.length === 0")
        return self

    def rows(self):
        return self.page.eval_on_selector_all(
            ".row", "rows => rows.filter(row => row.checkVisibility()).map(row => row.id)"
        )

    def choose(self, **fields):
        for name, value in fields.items():
            self.page.select_option("#" + name, value)

    def opened(self):
        """Return the id of the open clause, or nothing."""
        if not self.page.evaluate("document.getElementById('drawer').open"):
            return ""
        return self.page.text_content("#drawer .id")

    def close(self):
        """Close the open clause, and wait for what follows: the dialog gives the focus back before it tells."""
        self.page.keyboard.press("Escape")
        self.page.wait_for_function("() => !openClause")

    def address(self):
        return self.page.evaluate("location.hash")

    def focused(self):
        return self.page.evaluate("document.activeElement.closest('.row')?.id ?? document.activeElement.id")


class watched:
    """A browser page on which no error may show and from which nothing may be fetched."""

    def __init__(self, browser, **options):
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        self.wrong = []

    def __enter__(self):
        page = self.context.new_page()
        page.set_default_timeout(WAITING)
        page.on("console", lambda message: self.wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", self._request)
        return page

    def _request(self, request):
        if not request.url.startswith(("file:", "data:", "about:")):
            self.wrong.append("asked for " + request.url)

    def __exit__(self, kind, *_):
        self.context.close()
        if kind is None:
            assert self.wrong == [], self.wrong
