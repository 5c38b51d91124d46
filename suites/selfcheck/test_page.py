"""The page in a real browser: what a reader can see, search, open and share, and what a hostile file cannot do."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reports.__main__ import main
from reports.chapters import order
from suites.selfcheck import browser as browsers
from suites.selfcheck import synthetic
from suites.selfcheck.browser import browser as a_browser

ROOT = Path(__file__).resolve().parents[2]
EVIL = "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>\"'><b>{{7*7}}"
CONTRAST = Path(__file__).with_name("contrast.js").read_text("utf-8").partition("\n")[2]


@pytest.fixture(scope="module")
def browser():
    with a_browser() as found:
        yield found


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build one page from recorded verdicts of all versions."""
    folder = tmp_path_factory.mktemp("page")
    table = synthetic.clauses(80, seed=5, claims=12)
    synthetic.write_verdicts(folder / "verdicts", table)
    return build(folder, table)


class Built:
    """A page on disk and what was put into it."""

    def __init__(self, path, table):
        self.path, self.table = path, table
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
    assert main(["page", *map(str, runs), "--verdicts", str(folder / "verdicts"), "--out", str(out)]) == 0
    return Built(out, table)


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

    def focused(self):
        return self.page.evaluate("document.activeElement.closest('.row')?.dataset.clause ?? document.activeElement.id")


@pytest.fixture
def reader(browser, built):
    with watched(browser) as page:
        yield Reader(page, built.url).open()


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
            assert self.wrong == []


def test_opens_with_every_clause_and_the_counts_of_the_newest_torch(reader, built):
    assert reader.rows() == in_order(built.table, built.table)
    assert reader.page.inner_text("#shown") == "80 clauses"
    counts = reader.page.inner_text(".counts")
    assert "On torch 2.15" in counts
    assert f"{len(built.having('deviates', '2.15.0'))} deviates" in " ".join(counts.split())


def test_every_cell_says_its_verdict_in_words(reader, built):
    spoken = reader.page.eval_on_selector_all(".row td .vh", "all => all.map(each => each.textContent)")
    assert all(re.search(r"conforms|deviates|crashed|hung|absent|refused|unseen", text) for text in spoken)
    columns = reader.page.eval_on_selector_all(
        ".row", "rows => rows.map(row => [...row.cells].slice(1).reduce((sum, cell) => sum + cell.colSpan, 0))"
    )
    assert set(columns) == {len(synthetic.TORCHES)}


def test_a_claim_says_whether_it_is_true(reader, built):
    name, clause = next(
        (name, clause)
        for name, clause in built.table.items()
        if name.startswith("tutorial.") and "<" in clause["readings"][0]["torch"] and name not in built.having("absent")
    )
    shown = reader.page.eval_on_selector_all(f'[id="{name}"] td .g', "all => all.map(each => each.innerText)")
    assert shown[:2] == ["✓ true", "✗ false"]
    assert clause["readings"][1]["name"] == "false"


def test_search_finds_sentence_id_and_source(reader, built):
    page = reader.page
    page.keyboard.press("/")
    assert reader.focused() == "q"
    for needle, field in (("shared module", "says"), ("PULL/85849", "source")):
        page.fill("#q", needle)
        wanted = [name for name, clause in built.table.items() if needle.lower() in str(clause[field]).lower()]
        assert reader.rows() == in_order(wanted, built.table)
    page.fill("#q", "retain_grad.tensor")
    assert reader.rows() == in_order((name for name in built.table if "retain_grad.tensor" in name), built.table)
    page.fill("#q", "no such words")
    assert page.is_visible("#none")
    page.click("#none-reset")
    assert len(reader.rows()) == 80


def test_filters_narrow_and_stand_in_the_address(reader, built):
    page = reader.page
    reader.choose(chapter="ordering")
    assert set(reader.rows()) == {name for name in built.table if name.startswith("ordering.")}
    reader.choose(chapter="", verdict="deviates")
    assert set(reader.rows()) == set(built.having("deviates"))
    reader.choose(verdict="", on="", **{"from": "1.13", "to": "2.0"})
    changed = set(reader.rows())
    assert changed == {name for name, clause in built.table.items() if not same(name, clause, "1.13.1", "2.0.0")}
    assert page.inner_text("#shown") == f"{len(changed)} of 80 clauses"
    address = page.url
    assert "from=1.13&to=2.0" in address
    reader.open("#" + address.split("#")[1])
    assert set(reader.rows()) == changed
    page.click("#reset")
    page.check("#docs")
    assert set(reader.rows()) == {name for name, clause in built.table.items() if clause["docs"]}


def in_order(names, table):
    return sorted(names, key=lambda name: order(name, table[name]))


def same(name, clause, one, two):
    first, second = (synthetic.cell(name, clause, torch) for torch in (one, two))
    return all(first[key] == second[key] for key in ("verdict", "reading", "holds"))


def test_a_count_shows_its_clauses(reader, built):
    reader.page.click(".count[data-verdict=deviates]")
    assert set(reader.rows()) == set(built.having("deviates", "2.15.0"))
    assert reader.page.get_attribute(".count[data-verdict=deviates]", "aria-pressed") == "true"
    reader.page.click(".count[data-verdict=deviates]")
    assert len(reader.rows()) == 80


def test_a_row_opens_by_click_and_by_keyboard_and_gives_the_focus_back(reader):
    page, (first, second, *_) = reader.page, reader.rows()
    page.click(f'[id="{second}"] td')
    assert reader.opened() == second
    assert page.url.endswith("#" + second)
    page.keyboard.press("Escape")
    page.wait_for_function("name => document.activeElement.closest('.row')?.dataset.clause === name", arg=second)
    assert reader.opened() == ""
    assert "#" not in page.url
    page.keyboard.press("ArrowUp")
    assert reader.focused() == first
    page.keyboard.press("Enter")
    assert reader.opened() == first
    assert page.evaluate("document.getElementById('drawer').contains(document.activeElement)")
    page.go_back()
    page.wait_for_function("!document.getElementById('drawer').open")


def test_a_permalink_opens_its_clause(reader, built):
    name = built.having("deviates")[0]
    reader.open("#" + name)
    assert reader.opened() == name
    assert built.table[name]["says"] == reader.page.text_content("#drawer h2")
    reader.open("#no.such.clause")
    assert reader.opened() == ""
    reader.open(f"#{name}?verdict=nonsense&chapter=none&from=%")
    assert reader.opened() == name


def test_a_deviation_opens_to_plan_traces_and_reproducer(reader, built, browser):
    name = built.having("deviates")[0]
    reader.open("#" + name)
    text = reader.page.inner_text("#drawer")
    for wanted in (
        "Plan(",
        "expected by the clause",
        "observed on torch",
        "import torch",
        "def test_",
        "A declared deviation",
    ):
        assert wanted in text
    signs = reader.page.eval_on_selector_all("#drawer .diff .sign", "all => all.map(each => each.innerText)")
    assert [sign[0] for sign in signs] == ["≠", "+"]
    reader.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reader.page.click("#drawer .code:has([aria-label^=Reproducer]) button")
    reader.page.wait_for_selector("text=Copied")
    assert reader.page.evaluate("navigator.clipboard.readText()") == synthetic.REPRODUCER


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_can_be_read(browser, built, scheme):
    name = built.having("deviates")[0]
    with watched(browser, color_scheme=scheme) as page:
        reader = Reader(page, built.url).open()
        page.click("text=How to read this page")
        assert page.evaluate(CONTRAST) == []
        reader.open("#" + name)
        page.wait_for_timeout(300)  # the drawer fades in
        assert page.evaluate(CONTRAST) == []


def test_the_theme_can_be_chosen_and_stays(reader):
    def ground():
        return reader.page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = ground()
    reader.page.click("#theme")
    reader.page.click("#theme")
    dark = ground()
    assert light != dark
    reader.open()
    assert ground() == dark
    assert reader.page.text_content("#theme .name") == "Dark"


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_no_width_makes_the_page_scroll_sideways(browser, built, width):
    with watched(browser, viewport={"width": width, "height": 844}) as page:
        reader = Reader(page, built.url).open()
        for address in ("", "#" + built.having("deviates")[0]):
            reader.open(address)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate(
                "(d => d.open ? d.scrollWidth <= d.clientWidth : true)(document.getElementById('drawer'))"
            )


def test_prints(reader):
    assert reader.page.pdf(landscape=True).startswith(b"%PDF")


def test_a_deviation_nobody_declared_stands_out(browser, tmp_path):
    table = synthetic.clauses(6)
    lines = copy.deepcopy(synthetic.run_lines(table, "2.15.0"))
    cell = next(line for line in lines if line.get("verdict") == "conforms")
    cell.update(verdict="deviates", refuted=[], evidence=synthetic.evidence())
    lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
    made = build(tmp_path, table, synthetic.write_lines(tmp_path / "run.jsonl", lines))
    with watched(browser) as page:
        Reader(page, made.url).open()
        assert "1 deviation is not declared" in page.inner_text(".top")
        assert "deviates, not declared" in page.text_content(f'[id="{cell["clause"]}"] .new .vh')


def test_without_a_browser_one_line_says_so(monkeypatch):
    monkeypatch.setattr(browsers, "executable", lambda: None)
    for value, outcome in (("", pytest.skip.Exception), ("true", pytest.fail.Exception)):
        monkeypatch.setenv("CI", value)
        with pytest.raises(outcome, match="no browser: "), a_browser():
            pass


def test_markup_in_any_string_stays_text(browser, tmp_path):
    table = synthetic.clauses(4)
    for clause in table.values():
        clause.update(
            says=EVIL[:100], note=EVIL, code=EVIL, file=EVIL, source=[EVIL, "https://x/" + EVIL, "javascript:hit=1"]
        )
        clause.update(covers=[EVIL], needs=[EVIL])
        clause["readings"] = [{"name": EVIL, "torch": "", "says": EVIL}, {"name": "b", "torch": "never", "says": EVIL}]
    lines = copy.deepcopy(synthetic.run_lines(table, "2.15.0", python=EVIL, platform=EVIL, device=EVIL))
    evidence = {"plan": EVIL, "expected": [EVIL], "observed": [EVIL + "!"], "message": EVIL, "reproducer": EVIL}
    for line in lines:
        if line["type"] == "cell":
            line.update(verdict="deviates", reading=EVIL, holds=["b"], refuted=[], note=EVIL, evidence=evidence)
    lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
    (tmp_path / "verdicts").mkdir()
    made = build(tmp_path, table, synthetic.write_lines(tmp_path / "run.jsonl", lines))
    with watched(browser) as page:
        for name in table:
            reader = Reader(page, made.url).open("#" + name)
            assert EVIL in page.text_content("#drawer")
            assert reader.opened() == name
        assert page.evaluate("window.hit") is None
        assert page.locator("img").count() == 0
        hrefs = page.eval_on_selector_all("a", "all => all.map(each => each.href)")
        assert all(href.startswith(("file:", "https://")) for href in hrefs)
        assert not any("<" in href or '"' in href for href in hrefs)


def test_an_own_build_is_compared_with_the_nearest_release(browser, tmp_path):
    table = synthetic.clauses(10)
    synthetic.write_verdicts(tmp_path / "verdicts", table)
    lines = copy.deepcopy(synthetic.run_lines(table, "2.15.0"))
    lines[0]["torch"] = "2.16.0a0+git1a2b3c4"
    cell = next(line for line in lines if line.get("verdict") == "conforms")
    cell.update(verdict="hung", reading=None, refuted=[])
    lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
    made = build(tmp_path, table, synthetic.write_lines(tmp_path / "run.jsonl", lines))
    with watched(browser) as page:
        reader = Reader(page, made.url).open()
        assert "the nearest is 2.15" in page.inner_text(".top")
        page.click("#nearest")
        assert reader.rows() == [cell["clause"]]
        assert page.url.endswith("#?from=2.15&to=2.16.0a0%2Bgit1a2b3c4")


def test_400_clauses_on_26_versions_are_built_and_opened_in_time(browser, tmp_path):
    table = synthetic.clauses(400, claims=32)
    synthetic.write_verdicts(tmp_path / "verdicts", table)
    out = tmp_path / "index.html"
    command = [sys.executable, "-m", "reports", "page", "--verdicts", str(tmp_path / "verdicts"), "--out", str(out)]
    assert processor_seconds(command) < 2.0
    assert out.stat().st_size < 1_500_000
    with watched(browser) as page:
        reader = Reader(page, out.as_uri()).open()
        assert len(reader.rows()) == 400


def processor_seconds(command):
    """Return what a program cost; by the clock on the wall, other work on the machine would count too."""
    before = os.times()
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def test_one_deviation_of_many_versions_is_drawn_and_stored_once(built):
    """What a test says names the torch it ran on; that alone is no difference."""
    data = json.loads(re.findall(r'id="data">(.*?)</script>', built.path.read_text("utf-8"))[0])
    deviating = built.having("deviates")
    assert len(data["evidence"]) == len(deviating) > 0
    for name in deviating:
        verdicts = [packed[1] for packed in data["clauses"][name]["cells"]["eager"]]
        assert verdicts.count("deviates") == 1


def test_the_data_of_the_page_holds_no_sign_that_ends_a_script(built):
    text = built.path.read_text("utf-8")
    island = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert island is not None
    assert not set("<>&") & set(island[1])
    assert set(json.loads(island[1])["clauses"]) == set(built.table)
    assert not re.search(r'(?:src|href)="(?!#|data:|https://)', text)
