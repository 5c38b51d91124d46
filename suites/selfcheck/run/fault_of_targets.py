"""A plug-in of pytest: torch with the fault that TARGET_FAULT names."""

import os

from suites.selfcheck.run.wrapping import break_torch

break_torch(os.environ["TARGET_FAULT"])
