"""A page built from made-up results, and a reader of it in a real browser."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from reports.__main__ import main
from reports.costs import from_run
from reports.costs_recorded import record
from reports.verdicts import VERDICTS
from suites.selfcheck import synthetic, timing_session
from suites.timing.pairs import wide

ROOT = Path(__file__).resolve().parents[2]
#: Returns what is too faint to read.
CONTRAST = Path(__file__).with_name("contrast.js").read_text("utf-8").partition("\n")[2]
#: Seconds that a fixed piece of Python takes where processor seconds are told, and how many of them are timed.
PACE, PIECES = 125e-6, 2000
#: The versions whose costs are on a page that has some.
PRICED = ("1.12.0", "1.13.1", "2.0.0", "2.1.0")


#: Resolves when what was asked for has been handed over to be painted.
FRAME = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


class Built:
    """A page on disk and what was put into it."""

    def __init__(self, path, table, seconds=None):
        self.path, self.table, self.seconds = path, table, seconds
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
    assert main(["page", *map(str, runs), *folders, "--out", str(out)]) == 0
    return Built(out, table)


def build_priced(folder):
    """Build a page with costs of four versions."""
    table = synthetic.clauses(10, seed=5)
    synthetic.write_verdicts(folder / "verdicts", table)
    synthetic.write_scripts(folder / "upstream", table)
    sweep = [
        from_run(timing_session.run(timing_session.Machine(1, 0.0), torch=torch, slower={"node": 1.0 + index / 2}))
        for index, torch in enumerate(PRICED)
    ]
    record(sweep, folder / "verdicts" / "costs")
    return build(folder, table)


def build_noted(folder):
    """Build a page with all that is told only at times: of a run of one's own, unfinished, undeclared, in two modes."""
    table = synthetic.clauses(10)
    synthetic.write_verdicts(folder / "verdicts", table, ("2.0.0", "2.14.0"))
    lines = copy.deepcopy(synthetic.run_lines(table, "2.15.0", modes=["eager", "compiled"]))[:-3]
    lines[0]["torch"] = "2.16.0a0+git1a2b3c4"
    cell = next(line for line in lines if line.get("verdict") == "conforms")
    cell.update(verdict="deviates", refuted=[], evidence=synthetic.evidence())
    lines += [synthetic.cell(name, clause, "2.15.0", "compiled") for name, clause in table.items()]
    made = build(folder, table, synthetic.write_lines(folder / "run.jsonl", lines))
    page = made.path.read_text("utf-8")
    assert page.count('class="notice') == 5
    assert 'id="mode"' in page
    return made


def build_recorded(folder):
    """Build the page of the committed verdicts as a user does, and note the least processor seconds of three times."""
    out = folder / "index.html"
    command = [sys.executable, "-m", "reports", "page", "--out", str(out)]
    seconds = min(processor_seconds(command) for _ in range(3))
    table = json.loads((VERDICTS / "clauses.json").read_text("utf-8"))["clauses"]
    return Built(out, table, seconds)


def processor_seconds(command):
    """Return what a program cost; on a slower machine, what it would where a fixed piece of Python takes PACE.

    By the clock on the wall, other work on the machine would count too. And where somebody else fills the caches of the
    processor, all takes longer: the program, and the piece that is timed before and behind it. A faster machine counts
    as it is: the piece, which lies in its caches, gets faster by more than the program.
    """
    paces, before = [pace()], os.times()
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    after = os.times()
    paces.append(pace())
    seconds = after.children_user - before.children_user + after.children_system - before.children_system
    return seconds * min(1.0, PACE / (sum(paces) / len(paces)))


def pace():
    """Return the processor seconds of a fixed piece of Python."""
    before = time.process_time()
    for _ in range(PIECES):
        wide()
    return (time.process_time() - before) / PIECES


def allowed(seconds):
    """Return a budget of time on this machine as it is now: more where a fixed piece of Python takes more than PACE."""
    return seconds * max(1.0, pace() / PACE)


class Effort:
    """What a page costs its reader from now on."""

    def __init__(self, page):
        self.page, self.session = page, page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.processor, self.clock = self._processor(), time.monotonic()

    def since(self):
        """Return the processor seconds of the page's main thread, and the seconds until the screen shows it.

        Other work on the machine is not in the first and is in the second, which also holds what other threads paint:
        no third picture is begun before the first is painted. A screenshot tells less: on a long page it takes up to
        two seconds also where nothing has changed.
        """
        processor = self._processor() - self.processor
        for _ in range(2):
            self.page.evaluate(FRAME)
        self.session.detach()
        return processor, time.monotonic() - self.clock

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
        return self

    def rows(self):
        return self.page.eval_on_selector_all(
            ".row", "rows => rows.filter(row => row.checkVisibility()).map(row => row.dataset.clause)"
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
        return self.page.evaluate("document.activeElement.closest('.row')?.dataset.clause ?? document.activeElement.id")


class watched:
    """A browser page on which no error may show and from which nothing may be fetched."""

    def __init__(self, browser, **options):
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        self.wrong = []

    def __enter__(self):
        page = self.context.new_page()
        page.set_default_timeout(10_000)
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
