"""The build lists the packages, and makes the clause table for the readers in a wheel, who import no suite."""

import os
import subprocess
import sys

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

NAME = "hook_conformance"
#: What needs a clone.
LEFT_OUT = ["suites.selfcheck*", "suites.timing*"]
FOUND = find_packages(include=["fixtures*", "reports*", "suites*"], exclude=LEFT_OUT)


class WithTable(build_py):
    """The packages, and the table next to the verdicts; a clone that is installed for editing makes its own."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            path = os.path.join(self.build_lib, NAME, "reports", "table.json")
            with open(path, "w", encoding="utf-8") as file:
                subprocess.run([sys.executable, "-m", "suites.table"], stdout=file, check=True)


setup(packages=[NAME, *(f"{NAME}.{found}" for found in FOUND)], cmdclass={"build_py": WithTable})
