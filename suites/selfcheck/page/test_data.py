"""The page of files that are hostile, large, unfinished or from somebody's own build."""

from __future__ import annotations

import copy
import json
import re

import pytest

from suites.selfcheck import synthetic
from suites.selfcheck.page import browser as browsers
from suites.selfcheck.page.pages import Reader, build, calls, watched

EVIL = "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>\"'><b>{{7*7}}"


def test_a_deviation_nobody_declared_is_marked(browser, tmp_path):
    table = synthetic.clauses(6)
    lines = copy.deepcopy(synthetic.run_lines(table, "2.15.0"))
    cell = next(line for line in lines if line.get("verdict") == "conforms")
    cell.update(verdict="deviates", refuted=[], evidence=synthetic.evidence())
    lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
    made = build(tmp_path, table, synthetic.write_lines(tmp_path / "run.jsonl", lines))
    with watched(browser) as page:
        Reader(page, made.url).open()
        assert "1 deviation is not written down by us" in page.inner_text(".top")
        assert "deviates, not written down by us" in page.text_content(f'[id="{cell["clause"]}"] .new .vh')


def test_without_a_browser_one_line_says_so(monkeypatch):
    monkeypatch.setattr(browsers, "executable", lambda: None)
    for value, outcome in (("", pytest.skip.Exception), ("true", pytest.fail.Exception)):
        monkeypatch.setenv("CI", value)
        with pytest.raises(outcome, match="no browser here: python -m suites"), browsers.browser():
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
        assert page.url.endswith("#?from=2.15&to=2.16.0a0%2Bgit1a2b3c4+run")


def test_400_clauses_on_26_versions_take_four_times_the_work_of_100(browser, tmp_path):
    """The calls of functions are counted, which no machine and no load changes; what is read once is read before."""
    made = {}
    for count in (100, 400):
        folder = tmp_path / str(count)
        table = synthetic.clauses(count, claims=count // 12)
        synthetic.write_verdicts(folder / "verdicts", table)
        build(folder, table)
        made[count] = calls(lambda folder=folder, table=table: build(folder, table))
    assert made[400] < 2_600 * 400
    assert made[400] < 4.4 * made[100]
    out = tmp_path / "400" / "index.html"
    assert out.stat().st_size < 1_500_000
    with watched(browser) as page:
        reader = Reader(page, out.as_uri()).open()
        assert len(reader.rows()) == 400


def test_one_deviation_of_many_versions_is_drawn_and_stored_once(built):
    """What a test says names the torch it ran on; that alone is no difference."""
    data = json.loads(re.findall(r'id="data">(.*?)</script>', built.path.read_text("utf-8"))[0])
    deviating = built.having("deviates")
    assert len(data["evidence"]) == len(deviating) > 0
    for name in deviating:
        eager = data["clauses"][name]["cells"][data["modes"].index("eager")]
        answers = [data["acts"][data["cells"][place]["act"]]["answer"] for _, place, *_ in data["ranges"][eager]]
        assert answers.count("deviates") == 1


def test_the_data_of_the_page_holds_no_sign_that_ends_a_script(built):
    text = built.path.read_text("utf-8")
    embedded = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert embedded is not None
    assert not set("<>&") & set(embedded[1])
    assert set(json.loads(embedded[1])["clauses"]) == set(built.table)
    assert not re.search(r'(?:src|href)="(?!#|data:|https://)', text)
