"""The build makes the clause table for the readers in a wheel, who import no suite; all else is in pyproject.toml."""

import os
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py


class WithTable(build_py):
    """The packages, and the table next to the verdicts; a clone that is installed for editing makes its own."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            path = os.path.join(self.build_lib, "hook_conformance", "reports", "table.json")
            with open(path, "w", encoding="utf-8") as file:
                subprocess.run([sys.executable, "-m", "suites.table"], stdout=file, check=True)


setup(cmdclass={"build_py": WithTable})
