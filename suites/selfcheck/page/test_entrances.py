"""The views Rely and Upgrade in a real browser: the same answers as rely and diff give in a terminal."""

from __future__ import annotations

import json
import re

import pytest

from reports.__main__ import main
from reports.data.clause import known_apis, read_clauses
from reports.data.forms import counted
from reports.data.history import STATUSES
from reports.data.statements import KINDS
from suites.selfcheck import synthetic
from suites.selfcheck.page.pages import CONTRAST, SCREENS, Reader, build, watched

VIEWS = ("rely", "upgrade", "build", "why")


def answered(page, view):
    """Return title -> the ids of its clauses as shown, every group opened."""
    while page.locator(f"#view-{view} .group:not([open])").count():
        page.locator(f"#view-{view} .group:not([open]) > summary").first.click()
    page.wait_for_function("view => !document.querySelector(`#view-${view} .group:not(:has(.found))`)", arg=view)
    found = page.eval_on_selector_all(
        f"#view-{view} .group",
        "all => all.map(group => [group.querySelector('h3').textContent,"
        " [...group.querySelectorAll('.found > li > code')].map(code => code.textContent)])",
    )
    assert [title.rpartition("(")[2] for title, _ in found] == [f"{len(names)})" for _, names in found]
    return {title.rpartition(" (")[0]: names for title, names in found}


def in_terminal(built, capsys, verb, *arguments):
    capsys.readouterr()
    main([verb, *arguments, "--verdicts", str(built.path.parent / "verdicts"), "--format", "json"])
    return json.loads(capsys.readouterr().out)


def grouped(entries, key, words):
    """Return title -> ids of what a verb answer, in the words of the page: one for all, or for one and for several."""
    found = {}
    for entry in entries:
        found.setdefault(words[entry[key]], []).append(entry["clause"])
    titles = {answer if isinstance(answer, str) else answer[len(names) > 1]: names for answer, names in found.items()}
    return {title[0].upper() + title[1:]: sorted(names) for title, names in titles.items()}


def in_any_order(groups):
    return {title: sorted(names) for title, names in groups.items()}


#: What is asked of Rely in the address, and in a terminal.
ASKED = {
    "?from=1.13&to=2.15&tutorial=1": ["--from", "1.13", "--to", "2.15", "--tutorial"],
    "?from=1.4&to=1.4": ["--to", "1.4"],
    "?from=1.4&chapter=tutorial": ["--chapter", "tutorial"],
    "?from=1.4&api=register_forward_hook": ["--api", "register_forward_hook"],
    "?from=1.4&clause=ordering.tensor+tutorial.&to=2.0": ["ordering.tensor", "tutorial.", "--to", "2.0"],
    "?from=1.4&clause=ordering.f&chapter=ordering": ["ordering.f", "--chapter", "ordering"],
}


def test_rely_answers_as_in_a_terminal(reader, built, capsys):
    for query, arguments in ASKED.items():
        answer = in_terminal(built, capsys, "rely", *arguments)
        page = reader.open("#rely" + query).page
        assert in_any_order(answered(page, "rely")) == grouped(answer["clauses"], "status", STATUSES), query
        counts = ", ".join(counted(count, *STATUSES[each]) for each, count in answer["counts"].items() if count)
        clauses = counted(len(answer["clauses"]), "clause", "clauses")
        assert page.inner_text("#rely-said").endswith(f": of {clauses} {counts}.")
        left_out = page.locator("#view-rely .left-out").all_inner_texts()
        assert [int(each.split()[0]) for each in left_out] == [answer["left_out"]] * bool(answer["left_out"])


def test_rely_knows_every_api_and_its_options(browser, tmp_path, capsys):
    table = synthetic.clauses(24)
    for number, clause in enumerate(table.values()):
        clause["about"] = [f"register_forward_hook{('', '(prepend)', '(always_call)')[number % 3]}"]
    synthetic.write_verdicts(tmp_path / "verdicts", table)
    made = build(tmp_path, table)
    with watched(browser) as page:
        Reader(page, made.url).open("#rely")
        boxes = page.eval_on_selector_all("#rely-api input", "all => all.map(box => box.value)")
        assert known_apis(read_clauses(table)) < set(boxes)
        page.click("#view-rely >> text=Hook APIs:")
        page.check("#rely-api [value='register_forward_hook(prepend)']")
        answer = in_terminal(made, capsys, "rely", "--from", "2.0", "--api", "register_forward_hook(prepend)")
        assert len(answer["clauses"]) == 8
        assert in_any_order(answered(page, "rely")) == grouped(answer["clauses"], "status", STATUSES)
        assert "--api 'register_forward_hook(prepend)'" in page.inner_text("#view-rely .terminal")


def test_the_beginning_of_clauses_is_typed_and_kept_in_the_address(reader, built):
    page = reader.open("#rely?from=2.0").page
    topics = page.eval_on_selector_all("#rely-topics option", "all => all.map(option => option.value)")
    assert sorted(topics) == sorted({name.rpartition(".")[0] + "." for name in built.table})
    page.get_by_role("main").get_by_label("Clauses that begin").press_sequentially("retain_grad.tensor. tutorial.")
    assert page.url.endswith("#rely?from=2.0&to=2.15&clause=retain_grad.tensor.+tutorial.")
    shown = [name for names in answered(page, "rely").values() for name in names]
    assert sorted(shown) == sorted(n for n in built.table if n.startswith(("retain_grad.tensor.", "tutorial.")))
    assert page.inner_text(".terminal code") == (
        "python -m reports rely retain_grad.tensor. tutorial. --from 2.0 --to 2.15"
    )
    said = page.inner_text("#rely-said")
    reader.open("#" + page.url.split("#")[1])
    assert page.inner_text("#rely-said") == said
    assert page.input_value("#rely-clause") == "retain_grad.tensor. tutorial."


def test_rely_tells_where_a_clause_changes(reader, built, capsys):
    answer = in_terminal(built, capsys, "rely", "--from", "1.9")
    page = reader.open("#rely?from=1.9").page
    answered(page, "rely")
    changing = [each for each in answer["clauses"] if each["status"] == "changes"]
    assert len(changing) > 5
    for each in changing:
        row = page.locator("#view-rely .found > li", has=page.locator(f"code:text-is('{each['clause']}')"))
        ranges = [f"torch {s['from']}" + (f" to {s['to']}" if s["to"] != s["from"] else "") for s in each["history"]]
        assert row.locator(".when").all_inner_texts() == ranges
        for span, shown in zip(each["history"], row.locator(".spans > li").all_inner_texts(), strict=True):
            assert span["answer"] in shown
            assert span.get("detail", span["says"]) in shown
            varies = len({reading["torch"] for reading in built.table[each["clause"]]["readings"]} - {"never"}) > 1
            if varies and span["verdict"] == "conforms":
                assert span["reading"] in shown


def test_rely_says_what_cannot_be_answered(reader):
    page = reader.open("#rely?from=2.15&to=2.0").page
    assert page.inner_text("#rely-said") == "Torch 2.15 is newer than torch 2.0: choose the older one first."
    assert page.locator("#view-rely .group").count() == 0
    reader.open("#rely?clause=retain_grad.+retina.")
    assert page.inner_text("#rely-said") == "No clause begins with “retina.”."
    only_claims = (
        """() => { for (const [id, clause] of Object.entries(DATA.clauses)) if (!clause.claim) clause.apis = []; }"""
    )
    page.evaluate(only_claims)
    page.fill("#rely-q", "hook")  # drawn anew
    page.evaluate("writeFields({ ...readFields(), clause: '', q: '', api: 'register_full_backward_hook' }); drawRely()")
    assert "“with tutorial claims”" in page.inner_text("#rely-said")
    reader.open("#rely?chapter=ordering&api=register_hook")
    assert page.inner_text("#rely-said") == "No clause fits all that you chose. Choose fewer things."


@pytest.mark.parametrize(("before", "after"), [("2.15", "1.13"), ("1.4", "2.15")])
def test_upgrade_answers_as_in_a_terminal(reader, built, capsys, before, after):
    answer = in_terminal(built, capsys, "diff", before, after)
    page = reader.open(f"#upgrade?from={before}&to={after}").page
    assert in_any_order(answered(page, "upgrade")) == grouped(answer["changes"], "kind", KINDS)
    differ = len(answer["changes"])
    assert (
        f"torch {after}: {differ} of {differ + answer['same']} clauses {'differs' if differ == 1 else 'differ'}"
        in page.inner_text("#upgrade-said")
    )
    assert page.inner_text(".terminal code") == f"python -m reports diff {before} {after}"
    for change in answer["changes"][:12]:
        row = page.locator("#view-upgrade .found > li", has=page.locator(f"code:text-is('{change['clause']}')"))
        assert row.locator(".when").all_inner_texts() == [f"torch {after}", f"torch {before}"]  # first what is now
        for side, shown in zip(("after", "before"), row.locator(".spans > li").all_inner_texts(), strict=True):
            assert change[side].get("detail", change[side]["says"]) in shown
            assert change[side]["answer"] in shown
        since = row.locator(".since").inner_text()
        assert since == f"{'since' if float(before) < float(after) else 'up to'} {change['since']}"


def test_upgrade_to_the_same_asks_for_another(reader):
    page = reader.open("#upgrade?from=2.0&to=2.0").page
    assert page.inner_text("#upgrade-said") == "Choose two that are not the same."


def test_a_new_deviation_opens_to_its_plan_and_both_traces(reader):
    page = reader.open("#upgrade?from=2.2&to=2.3").page
    box = page.locator("#view-upgrade .found details").first
    says = page.locator("#view-upgrade .found a").first.inner_text()
    assert box.locator("summary").text_content() == f"Plan and traces on torch 2.3: {says}"
    box.locator("summary").press("Enter")
    box.locator(".trace").wait_for()
    for wanted in (synthetic.PLAN, "expected by the clause", "observed on torch", "Reproducer, needs torch only"):
        assert wanted in box.inner_text()


def test_a_program_is_said_to_show_both_only_where_both_sides_conform(reader):
    """In the others one side has nothing to call, or does what no reading says."""
    page = reader.open("#upgrade?from=1.4&to=2.15").page
    page.evaluate("() => { for (const clause of Object.values(DATA.clauses)) clause.example = [0]; drawUpgrade(); }")
    answered(page, "upgrade")
    seen = page.eval_on_selector_all(
        "#view-upgrade .group",
        """all => all.map((group) => {
          const summaries = [...group.querySelectorAll(".found > li > details:last-child > summary")];
          const names = summaries.map((summary) => summary.firstChild.textContent);
          return [group.querySelector("h3").firstChild.textContent.trim(), [...new Set(names)]];
        })""",
    )
    found = dict(seen)
    assert found["New APIs"] == ["Example"]
    assert found["Errors that begin"] == ["Program that shows both"]
    assert set(found["Other values or calls, without a word"]) == {"Example", "Program that shows both"}


#: What is asked of Upgrade in the address, and behind `diff 2.0` in a terminal.
MODES_ASKED = {
    "to=2.15&from-mode=eager&to-mode=compiled": "2.15 --mode eager --to-mode compiled",
    "to=2.0&from-mode=eager&to-mode=compiled": "2.0 --mode eager --to-mode compiled",
    "to=2.15&from-mode=compiled": "2.15 --mode compiled",
}


def test_two_modes_are_compared_as_in_a_terminal(browser, tmp_path, capsys):
    table = synthetic.clauses(20)
    folder = synthetic.write_verdicts(tmp_path / "verdicts", table, ("2.0.0", "2.15.0"))
    for minor, verdict in (("2.0", "conforms"), ("2.15", "hung")):
        with synthetic.changing(folder, minor) as cells:
            for modes in cells.values():
                if modes["eager"]["verdict"] == "conforms":
                    modes["compiled"] = {**modes["eager"], "verdict": verdict}
    built = build(tmp_path, table)
    with watched(browser) as page:
        for asked, named in MODES_ASKED.items():
            Reader(page, built.url).open(f"#upgrade?from=2.0&{asked}")
            assert page.inner_text(".terminal code") == f"python -m reports diff 2.0 {named}"
            answer = in_terminal(built, capsys, "diff", "2.0", *named.split())
            assert in_any_order(answered(page, "upgrade")) == grouped(answer["changes"], "kind", KINDS)


def test_two_modes_and_ones_own_run_are_compared(browser, tmp_path):
    table = synthetic.clauses(20)
    synthetic.write_verdicts(tmp_path / "verdicts", table, ("2.0.0", "2.14.0"))
    lines = synthetic.run_lines(table, "2.15.0", modes=["eager", "compiled"])
    names = [name for name in table if synthetic.cell(name, table[name], "2.15.0")["verdict"] == "conforms"][:3]
    cells = [line for line in lines if line["type"] == "cell"]
    for name in table:
        cells.append(synthetic.cell(name, table[name], "2.15.0", "compiled"))
        if name in names:
            cells[-1].update(verdict="refused", reading=None, refuted=[], note="It refuses.")
    run = synthetic.write_lines(tmp_path / "run.jsonl", [lines[0], *cells, synthetic.footer(cells)])
    made = build(tmp_path, table, run)
    with watched(browser) as page:
        Reader(page, made.url).open("#upgrade?from=2.15+run&from-mode=eager&to=2.15+run&to-mode=compiled")
        assert in_any_order(answered(page, "upgrade")) == {"Errors that begin": sorted(names)}
        sides = [f"torch 2.15 (this run), {mode}" for mode in ("eager", "compiled")]
        assert page.locator("#view-upgrade .when").all_inner_texts() == sides[::-1] * 3
        assert page.inner_text("#upgrade-said").startswith(
            f"{sides[0].capitalize()} → {sides[1]}: 3 of 20 clauses differ"
        )
        assert page.locator("#view-upgrade .terminal").count() == 0
        page.select_option("#upgrade-from", "2.14")
        page.select_option("#upgrade-from-mode", "compiled")
        page.select_option("#upgrade-to-mode", "")
        assert f"{len(table)} are not measured on both" in page.inner_text("#upgrade-said")
        page.select_option("#upgrade-from-mode", "")
        assert page.inner_text("#upgrade-said").startswith("Torch 2.14 → torch 2.15 (this run): ")
        assert "not measured on both" not in page.inner_text("#upgrade-said")
        page.goto(made.url + "#rely?from=2.14&to=2.15&mode=compiled")
        assert page.inner_text("#rely-said").startswith(f"Torch 2.15 (this run), compiled: of {len(table)} clauses ")
        assert page.inner_text("#view-rely .left-out") == "Not measured in compiled: torch 2.14."


def test_what_is_chosen_is_kept_in_the_address_and_comes_back(reader):
    page = reader.open().page
    page.click(".views >> text=Rely")
    page.select_option("#rely-from", "1.13")
    page.click("#view-rely >> text=Chapters:")
    page.check("#rely-chapter [value=ordering]")
    page.check("#rely-chapter [value=tutorial]")
    assert page.url.endswith("#rely?from=1.13&to=2.15&chapter=ordering+tutorial")
    assert page.inner_text("#rely-chapter-chosen") == "ordering, tutorial"
    said = page.inner_text("#rely-said")
    page.click(".views >> text=Upgrade")
    assert page.url.endswith("#upgrade")
    assert not page.is_visible("#view-rely")
    page.click(".views >> text=Rely")
    assert page.inner_text("#rely-said") == said
    reader.open("#" + page.url.split("#")[1])
    assert page.inner_text("#rely-said") == said
    assert page.is_checked("#rely-chapter [value=tutorial]")
    page.go_back()


def test_an_address_with_nonsense_shows_the_usual_choice(reader):
    page = reader.open("#upgrade?from=9.9&to=%3Cb%3E&view=nothing").page
    assert (page.input_value("#upgrade-from"), page.input_value("#upgrade-to")) == ("2.0", "2.15")


def test_a_clause_opens_over_its_view_and_the_focus_comes_back(reader, built):
    page = reader.open("#upgrade?from=1.13&to=2.15").page
    link = page.locator("#view-upgrade .found a").first
    name, says = page.locator("#view-upgrade .found code").first.inner_text(), link.inner_text()
    link.press("Enter")
    assert reader.opened() == name
    assert page.url.endswith(f"#{name}?view=upgrade&from=1.13&to=2.15")
    reader.close()
    assert page.evaluate("document.activeElement.textContent") == says
    assert reader.address() == "#upgrade?from=1.13&to=2.15"
    reader.open(f"#{name}?view=upgrade&from=1.13&to=2.15")
    assert reader.opened() == name
    page.keyboard.press("Escape")
    assert page.is_visible("#view-upgrade")


def test_a_related_clause_opens_over_the_same_view_and_the_focus_comes_back(reader, built):
    page = reader.open("#upgrade?from=1.13&to=2.15").page
    links = page.locator("#view-upgrade .found > li > a")
    name = next(each for each in shown_in(page) if related_to(each, built))
    says = built.table[name]["says"]
    links.nth(shown_in(page).index(name)).press("Enter")
    other = page.locator("#drawer .related a").first.inner_text()
    assert other in related_to(name, built)
    page.locator("#drawer .related a").first.press("Enter")
    assert reader.opened() == other
    assert reader.address() == f"#{other}?view=upgrade&from=1.13&to=2.15"
    reader.close()
    assert page.evaluate("document.activeElement.textContent") == says
    assert reader.address() == "#upgrade?from=1.13&to=2.15"
    assert page.is_visible("#view-upgrade")
    page.go_back()
    page.wait_for_function("name => document.querySelector('#drawer .id')?.textContent === name", arg=name)
    reader.close()  # the list was drawn anew: what the clause was opened from is gone
    assert reader.focused() == "view-upgrade"


def shown_in(page):
    return page.locator("#view-upgrade .found > li > code").all_inner_texts()


def related_to(name, built):
    topic = name.rpartition(".")[0]
    return [other for other in built.table if other != name and other.rpartition(".")[0] == topic]


def test_the_link_of_a_clause_is_copied_with_its_view(reader):
    page = reader.open("#upgrade?from=1.13&to=2.15").page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#view-upgrade .found a").first.press("Enter")
    page.click("#drawer >> text=Copy link")
    page.wait_for_selector("button:has-text('Copied')")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.url
    assert "?view=upgrade&from=1.13&to=2.15" in copied


def test_the_views_are_reached_by_keyboard_and_have_names(reader):
    page = reader.page
    for view in VIEWS:
        page.focus(f".views [data-view={view}]")
        page.keyboard.press("Enter")
        page.wait_for_function("view => document.activeElement.id === 'view-' + view", arg=view)
        assert page.locator(".views [aria-current]").get_attribute("data-view") == view
        title = page.inner_text(f"#{view}-title")
        assert [main.get_attribute("id") for main in page.get_by_role("main").all()] == ["view-" + view]
        assert page.get_by_role("main", name=title).count() == 1
        assert reader.rows() == []
    page.go_back()
    page.wait_for_function("() => document.activeElement.id === 'view-build'")
    page.focus(".views [data-view='']")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.body.dataset.view === undefined")
    assert len(reader.rows()) == 80


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_both_can_be_read_in_both_themes_and_at_any_width(browser, built, scheme, width):
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 844}) as page:
        reader = Reader(page, built.url).open("#rely?from=1.9")
        page.click("#view-rely >> text=Hook APIs:")
        answered(page, "rely")
        for address in ("", "#upgrade?from=2.2&to=2.3"):
            if address:
                reader.open(address)
                page.locator("#view-upgrade .found details summary").first.click()
            assert page.evaluate(CONTRAST) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_closed_group_is_printed_too(reader):
    page = reader.open("#rely").page
    closed = page.locator("#view-rely .group:not([open])")
    assert closed.count() > 0
    shown = page.evaluate(
        """() => {
          dispatchEvent(new Event("beforeprint"));
          return document.querySelectorAll("#view-rely .found > li").length;  // at once: print does not wait
        }"""
    )
    assert closed.count() == 0
    said = re.search(r"of (\d+) clauses", page.inner_text("#rely-said"))
    assert said is not None
    assert shown == int(said[1])
