"""Runs scripts that need torch: each in a process of its own, forked from one in which torch has been imported.

A script of twenty lines needs some 1.5 s of processor time alone, nearly all of it for `import torch`.
"""

import os
import runpy
import subprocess
import sys
import tempfile
import warnings
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from threading import Lock

ROOT = Path(__file__).parents[2]
FORKED = get_context("forkserver")
FORKED.set_forkserver_preload(["torch", __name__])
# `start` asks all children how they ended, and an answer is there to be read once: a thread that joins its own child
# at that moment would find none, and multiprocessing then says 255.
ASKING = Lock()


def ran(script: Path, seconds: float = 60) -> "subprocess.CompletedProcess[str]":
    """What `python script` does, warnings aside. Raises subprocess.TimeoutExpired."""
    with tempfile.TemporaryDirectory() as room:
        out, err = (str(Path(room, name)) for name in ("out", "err"))
        process = FORKED.Process(target=_run, args=(str(script), out, err))
        with ASKING:
            process.start()
        ended = wait([process.sentinel], seconds)
        with ASKING:
            if not ended:
                process.kill()
            process.join()
        if not ended:
            raise subprocess.TimeoutExpired([str(script)], seconds)
        said = [Path(path).read_text("utf-8") for path in (out, err)]
        return subprocess.CompletedProcess([str(script)], process.exitcode or 0, *said)


def _run(script: str, out: str, err: str) -> None:
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    sys.path[:] = [os.path.dirname(script), *(path for path in sys.path if path not in ("", str(ROOT)))]
    sys.argv = [script]
    warnings.simplefilter("ignore")
    runpy.run_path(script, run_name="__main__")
