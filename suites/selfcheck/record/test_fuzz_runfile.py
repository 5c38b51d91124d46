"""Thousands of damaged run files: each is read or refused in one line, and what was good is never lost."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from reports.__main__ import OF_MAINTAINERS, main, parser
from reports.data.runfile import BadInput, read_run, read_runs
from reports.data.strict import MAX_DEPTH
from suites.selfcheck import synthetic

TORCH = "2.15.0"
TABLE = synthetic.clauses(2, seed=5)
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u2028\x1b[31m\x00"
MARKUP = (HOSTILE, "<img src=x onerror=hit()>", "</title><svg onload=hit()>", "' onload=hit() x='", "javascript:hit()")
WRONG = (
    None, True, -1, 0.5, 10**400, -(10**30), "", "x", "a.b.c", "never", "<2.0", HOSTILE, "x" * 3000, [], [[]], {},
    {"type": "cell"}, ["x", "x"], {"": None}, [HOSTILE] * 3, {HOSTILE: HOSTILE},
)  # fmt: skip
RAW = (
    b"NaN",
    b"1e999",
    b"-0",
    b"\xff",
    b"\x00",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\n",
    b'"\\ud800"',
    b"\x1b[2J",
    b"9" * 5000,
)


#: Every verb that reads a run file, and the statuses that it may end with when the file is read.
VERBS: dict[str, tuple[list[str], tuple[int, ...]]] = {
    "check": (["check", "RUN"], (0, 1)),
    "diff before": (["diff", "RUN", TORCH], (0, 1)),
    "diff after": (["diff", TORCH, "RUN"], (0, 1)),
    "rely": (["rely", "--run", "RUN"], (0, 1)),
    "explain": (["explain", next(iter(TABLE)), "--run", "RUN"], (0,)),
    "find": (["find", "hook", "--run", "RUN"], (0, 1)),
    "why": (["why", "it leaks memory", "--run", "RUN"], (0,)),
    "modes": (["modes", "--run", "RUN"], (0,)),
    "affects": (["affects", "CODE", "--from", TORCH, "--run", "RUN"], (0, 1)),
    "badge": (["badge", "RUN"], (0,)),
    "atlas": (["atlas", "RUN", "--out", "OUT"], (0,)),
    "page": (["page", "RUN", "--out", "OUT"], (0,)),
    "merge": (["merge", "RUN", "--out", "OUT"], (0,)),
    "record": (["record", "RUN", "--accept", "undeclared"], (0,)),
    "triage": (["triage", "RUN"], (0, 1)),
    "known": (["known", "RUN"], (0,)),
}
#: How many different damaged files each kind of damage makes at least; what is drawn twice counts once.
LEAST = {"cut": 1000, "flipped": 900, "pasted": 850, "shuffled": 1000, "spoiled": 600, "marked": 750, "deep": 12}


def thorough(examples: int) -> settings:
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def good_lines() -> list[dict[str, Any]]:
    lines = synthetic.run_lines(copy.deepcopy(TABLE), TORCH)
    lines[2].update(verdict="deviates", declared=True, refuted=[], evidence=synthetic.evidence(), note="größer ≠ 𝟚")
    lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
    return lines


def content(lines: list[Any]) -> bytes:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


GOOD = content(good_lines())
STARTS = [0, *(place + 1 for place, byte in enumerate(GOOD) if byte == 10)]


@st.composite
def any_place(draw: Any, first: int = 0) -> int:
    """A place in the file; every line is as likely as the long header."""
    line = draw(st.integers(first, len(STARTS) - 2))
    return draw(st.integers(STARTS[line], STARTS[line + 1] - 1))


places = any_place()


@st.composite
def cut(draw: Any) -> bytes:
    return GOOD[: draw(places)]


@st.composite
def flipped(draw: Any) -> bytes:
    """Some bits are not what they were."""
    raw = bytearray(GOOD)
    for place in draw(st.lists(places, min_size=1, max_size=3)):
        raw[place] ^= 1 << draw(st.integers(0, 7))
    return bytes(raw)


@st.composite
def pasted(draw: Any) -> bytes:
    """A part is missing, is there twice, or something foreign is in it."""
    first, last = sorted((draw(places), draw(places)))
    return GOOD[:first] + draw(st.sampled_from((b"", GOOD[first:last] * 2, *RAW))) + GOOD[last:]


@st.composite
def shuffled(draw: Any) -> bytes:
    lines = GOOD.splitlines(keepends=True)
    return b"".join(draw(st.lists(st.sampled_from(lines), max_size=len(lines) + 2)))


@st.composite
def spoiled(draw: Any) -> bytes:
    """A value somewhere, however deep, is another one."""
    lines: list[Any] = good_lines()
    value: Any = lines
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = draw(st.sampled_from(keys))
        inside = value[key]
        if not isinstance(inside, (dict, list)) or not inside or draw(st.integers(0, 3)) == 0:
            value[key] = draw(st.sampled_from(WRONG))
            return content(lines)
        value = inside


@st.composite
def deep(draw: Any) -> bytes:
    """Brackets, up to many more than a stack holds."""
    depth = draw(st.sampled_from((MAX_DEPTH - 2, MAX_DEPTH + 1, 1000, 100_000)))
    start, end = draw(st.sampled_from((("[", "]"), ('{"a":', "}"))))
    nested = (start * depth + "1" + end * depth).encode()
    place = draw(st.sampled_from((b'"note": ""', b'"evidence": null', b'"type": "cell"')))
    return GOOD.replace(place, place.partition(b":")[0] + b": " + nested, 1)


FREE = ("says", "note", "code", "file", "source", "plan", "expected", "observed", "message", "reproducer")


def hostile(value: Any, key: str = "", tail: Callable[[str], str] = lambda text: HOSTILE) -> Any:
    """Put markup into every string that may hold any text."""
    if isinstance(value, dict):
        return {name: hostile(each, name, tail) for name, each in value.items()}
    if isinstance(value, list):
        return [hostile(each, key, tail) for each in value]
    return value + tail(value) if isinstance(value, str) and key in FREE else value


@st.composite
def marked(draw: Any) -> bytes:
    """Some strings, or all of them, end with markup; in names it makes the file a wrong one."""
    share = draw(st.sampled_from((1, 2, 9)))
    keys = frozenset(
        draw(st.lists(st.sampled_from(("name", "torch", "device", "clause", "mode", "verdict")), max_size=1))
    )

    def spoil(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: spoil(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return [spoil(each, key) for each in value]
        spoils = isinstance(value, str) and (key in keys or key in FREE) and draw(st.integers(1, share)) == 1
        return value + draw(st.sampled_from(MARKUP)) if spoils else value

    return content(spoil(good_lines()))


def said_of(path: Any, *, partial: bool) -> str:
    """Return the complaint about a file, nothing when it is read."""
    try:
        runs = read_runs(path, partial=partial)
    except BadInput as problem:
        return str(problem)
    assert runs
    return ""


@pytest.mark.parametrize(
    "damage", [cut, flipped, pasted, shuffled, spoiled, marked, deep], ids=lambda damage: damage.__name__
)
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path, damage):
    path, refused, tried = tmp_path / "run.jsonl", [], set()

    @thorough({"deep": 60}.get(damage.__name__, 1000))
    @given(raw=damage())
    def holds(raw: bytes) -> None:
        path.write_bytes(raw)
        tried.add(raw)
        for partial in (False, True):
            text = said_of(path, partial=partial)
            assert text.isprintable()
            assert len(text) < 600
            assert not text or text.startswith(f"{path}"), "the file is named"
            refused.append(bool(text))
        assert path.read_bytes() == raw, "reading changes nothing"

    holds()
    assert any(refused), "damage that is never noticed would be the end of trust"
    assert len(tried - {GOOD}) >= LEAST[damage.__name__]


def test_thousands_of_different_files_are_tried():
    assert sum(LEAST.values()) >= 5000


@thorough(300)
@given(place=any_place(first=1))
def test_every_cell_before_a_cut_is_still_read(tmp_path, place):
    path = tmp_path / "run.jsonl"
    path.write_bytes(GOOD[:place])
    whole = [json.loads(line) for line in GOOD.splitlines()[: GOOD[: place + 1].count(b"\n")]]
    cells = [line for line in whole if line["type"] == "cell"]
    assert list(read_run(path, partial=True).lines.values())[: len(cells)] == cells


def reading_verbs() -> set[str]:
    """Return the verbs that take a run file of verdicts, by what their help says."""
    found = set()
    listed = re.findall(r"^    (\w+) ", parser("sweep").format_help(), re.MULTILINE)
    for verb in (*listed, *OF_MAINTAINERS):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            main([verb, "--help"])
        if re.search(r"RUNFILE|a run file", out.getvalue()):
            found.add(verb)
    return found


def test_every_verb_that_reads_run_files_is_tried():
    assert {arguments[0] for arguments, _ in VERBS.values()} == reading_verbs()


@pytest.mark.parametrize("name", VERBS)
def test_no_verb_ends_with_a_traceback_or_harms_what_was_recorded(tmp_path_factory, name):
    words, good = VERBS[name]
    ended = set()
    home = tmp_path_factory.mktemp("fuzz")
    code = home / "code.py"
    code.write_text("x.register_hook(print)\n")

    @thorough(100)
    @given(raw=st.one_of(cut(), flipped(), pasted(), spoiled(), shuffled(), marked()))
    def holds(raw: bytes) -> None:
        verdicts = synthetic.write_verdicts(home / "verdicts", TABLE, (TORCH,))
        path, precious = home / "run.jsonl", home / "out.jsonl"
        path.write_bytes(raw)
        precious.write_text("precious")
        before = {each.name: each.read_bytes() for each in verdicts.iterdir()}
        places = {"RUN": str(path), "OUT": str(precious), "CODE": str(code)}
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            known = [] if words[0] in ("triage", "known") else ["--verdicts", str(verdicts)]
            status = main([*(places.get(word, word) for word in words), *known])
        ended.add(status)
        reported = out.getvalue() + err.getvalue()
        assert all(line.isprintable() for line in reported.split("\n"))
        assert status in good or (status == 2 and (out.getvalue(), err.getvalue().count("\n")) == ("", 1))
        after = {each.name: each.read_bytes() for each in verdicts.iterdir()}
        if status == 2 or words[0] != "record":
            assert after == before
        else:
            assert main(["check", str(path), "--verdicts", str(verdicts)]) == 0, "what was recorded is read back"
        assert (precious.read_text() == "precious") is (status == 2 or "OUT" not in words)

    holds()
    assert {2} < ended, "some were refused and some were read"


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_markup_and_escapes_in_every_string_are_shown_as_text(tmp_path, capsys, form):
    lines = [hostile(line) for line in good_lines()]
    for clause in lines[0]["clauses"].values():
        clause["says"] = clause["says"][:150]
    path = synthetic.write_lines(tmp_path / "run.jsonl", lines)
    verdicts = synthetic.write_verdicts(tmp_path / "verdicts", lines[0]["clauses"], ("1.4.0", TORCH))
    name = next(iter(TABLE))
    for arguments in (["diff", "1.4", str(path)], ["explain", name], ["rely"], ["check", str(path)]):
        extra = [] if arguments[0] == "check" else ["--format", form]
        assert main([*arguments, *extra, "--verdicts", str(verdicts)]) in (0, 1)
        out, err = capsys.readouterr()
        assert err == ""
        assert all(line.isprintable() for line in out.split("\n"))
        if form == "json" and extra:
            json.loads(out)
        elif form == "markdown" and extra:
            prose = "".join(out.split("```")[::2])
            assert "<script" not in prose
            assert "<img" not in prose


def test_the_undamaged_file_is_read(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(GOOD)
    assert read_run(path).complete
