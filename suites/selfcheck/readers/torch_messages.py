"""What torch prints while the clauses about errors and warnings are tested.

`python -m suites.selfcheck.readers.torch_messages` runs the suite with --quick on the installed torch and writes
reports/search/messages.json, by which people who paste an error text find the clause. Take the newest torch. Other
arguments go to pytest: `-k retain` is a trial, and writes nothing.
"""

import json
import linecache
import pathlib
import re
import sys
import threading
import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis.errors import UnsatisfiedAssumption

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = ROOT / "reports" / "search" / "messages.json"
#: Code whose frames are followed: an exception that torch raises passes through one of them.
FOLLOWED = (str(ROOT / "suites"), str(ROOT / "fixtures" / "play"))
OWN = (str(ROOT / "suites"), str(ROOT / "fixtures"))
#: A clause whose sentences speak so is about a warning, or about an error: other messages come on the way.
WARNING = re.compile(r"warn", re.IGNORECASE)
ERROR = re.compile(r"rais|error|refus|fail|cannot|may not|must|exception|wrong", re.IGNORECASE)
LONGEST = 450
#: What differs from call to call, and what a search cannot use.
VARIES = (
    (r"\(Triggered internally.*|Traceback of forward call.*|'\w+' is only available for these backends.*", ""),
    (r"https?://\S+", ""),
    (r"0x[0-9a-f]+|<class '[^']*'>|<(function|built-in function|bound method) .*>", "…"),
    (r"\b[\w.]*<locals>\.|\bsuites\.\S+", ""),
    (r"\(was \S+ got \S+\)", ""),
    (r"(but got|but hook returned) [\[({'].*", r"\1 …"),
    (r"'\w+' object", "object"),
    (r"hook '[^']*'", "hook"),
    (r"torch\.\w+Tensor|CPU\w+Type|torch\.(complex|b?float)\d+", "…"),
    (r"-?\d+", "…"),
)


class Listener:
    """A pytest plugin: for each clause the texts that torch raised or warned while its test ran."""

    def __init__(self) -> None:
        self.heard: dict[str, set[str]] = defaultdict(set)
        self.clause = self.sentences = ""

    def hear(self, text: str, speaks: Any) -> None:
        """Keep a text in the one form that all its variants have, if the clause speaks of what it is."""
        if not speaks.search(self.sentences):
            return
        for pattern, by in VARIES:
            text = re.sub(pattern, by, text, flags=re.DOTALL)
        if len(text.split()) > 2:
            self.heard[self.clause].add(" ".join(text.split())[:LONGEST])

    def trace(self, frame: Any, event: str, arg: Any) -> Any:
        """Follow the calls of the suite and of the player, and hear of each exception that comes through them."""
        if event == "call":
            if not frame.f_code.co_filename.startswith(FOLLOWED):
                return None
            frame.f_trace_lines = False
        elif event == "exception":
            kind, value, place = arg
            while place.tb_next is not None:
                place = place.tb_next
            file = place.tb_frame.f_code.co_filename
            raised_here = linecache.getline(file, place.tb_lineno).lstrip().startswith("raise")
            of_ours = raised_here and file.startswith(OWN)
            if issubclass(kind, Exception) and not (
                of_ours or issubclass(kind, (AssertionError, UnsatisfiedAssumption))
            ):
                self.hear(str(value), ERROR)
        return self.trace

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: Any) -> Iterator[None]:
        """Listen while the test of a clause runs."""
        clause = getattr(pyfuncitem.obj, "_clause", None)
        if clause is None or clause.checks_model:
            yield
            return
        self.clause, self.sentences = clause.id, " ".join([clause.says, *(one.says for one in clause.readings)])
        sys.settrace(self.trace)
        threading.settrace(self.trace)
        yield
        sys.settrace(None)
        threading.settrace(None)


def listen_to_warnings(listener: Listener) -> None:
    """Hear of each warning, also where a test or the player silences them."""
    import torch

    torch.set_warn_always(True)
    silent, Message = warnings.simplefilter, warnings.WarningMessage

    def loud(action: Any, *args: Any, **options: Any) -> None:
        silent("always" if action == "ignore" else action, *args, **options)

    class Heard(Message):  # type: ignore[misc, valid-type]
        def __init__(self, message: Any, *args: Any, **options: Any) -> None:
            super().__init__(message, *args, **options)
            if listener.clause:
                listener.hear(str(message), WARNING)

    warnings.simplefilter, warnings.WarningMessage = loud, Heard  # type: ignore[misc, assignment]


def main(arguments: list[str]) -> int:
    """Run the suite, and write what was heard of a whole run."""
    import torch

    listener = Listener()
    listen_to_warnings(listener)
    options = ["-q", "--quick", "--mode=eager", "-p", "no:warnings", "-p", "no:cacheprovider", "--run-file="]
    status = int(pytest.main([*options, *arguments], plugins=[listener]))
    found = {clause: sorted(texts) for clause, texts in sorted(listener.heard.items()) if clause}
    text = json.dumps({"torch": torch.__version__.partition("+")[0], "clauses": found}, indent=1, ensure_ascii=False)
    if arguments or status:
        print(text)
        return status
    OUT.write_text(text + "\n", encoding="utf-8")
    print(f"{OUT.relative_to(ROOT)}: texts of {len(found)} clauses")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
