"""The command `hook-conformance`, as it is installed: the packages of the clone, below one name of their own.

There is no `__init__.py` next to this file: this folder is the root of the packages for pytest, too, and every module
has the name that it has in a clone.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Where the packages are: next to this file, or in the clone that an editable installation points to.
ROOT = HERE if (HERE / "suites").is_dir() else HERE.parents[1]


def main() -> int:
    """Run the suite, or one verb as `python -m reports` does in a clone."""
    sys.path.insert(0, str(ROOT))
    # Whatever Hypothesis would keep, it would keep in the user's folder.
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = os.devnull
    if sys.argv[1:2] == ["run"] and any(word.partition("=")[0] == "--for" for word in sys.argv[2:]):
        from reports.__main__ import run_for

        return run_for(str(ROOT), str(HERE / "pytest.ini"), sys.argv[2:])
    if sys.argv[1:2] == ["run"]:
        from fixtures.run.cli import run

        return run(str(ROOT), str(HERE / "pytest.ini"), sys.argv[2:])
    if sys.argv[1:2] == ["model"]:
        from fixtures.run.model import model

        return model(sys.argv[2:])
    from reports.__main__ import main as read

    return read(prog="hook-conformance")
