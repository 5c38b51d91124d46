"""What tox itself does not say in one line: which Python is missing, and where to get it."""

from __future__ import annotations

import os
import shutil
import sys

from tox.config.sets import EnvConfigSet
from tox.plugin import impl
from tox.report import HandledError
from tox.session.state import State
from tox.tox_env.api import ToxEnv


@impl
def tox_add_env_config(env_conf: EnvConfigSet, state: State) -> None:
    """Refuse a TORCH_PYTHON that is no program, before tox stumbles over it."""
    named = os.environ.get("TORCH_PYTHON")
    if env_conf.name == "torch-current" and named and not shutil.which(named):
        raise HandledError(f"TORCH_PYTHON={named} is not a program; give the path of the Python that has your torch")


@impl
def tox_env_teardown(tox_env: ToxEnv) -> None:
    """Say which Python could not be had."""
    folder = tox_env.env_dir
    if (folder / "pyvenv.cfg").exists() or tox_env.conf["env_name"].startswith("."):
        return
    python = " or ".join(tox_env.conf["base_python"])
    print(
        f"{tox_env.conf['env_name']}: no {python} here, and uv could not fetch it; "
        f"install it (for example: pyenv install {python.removeprefix('python')}) and run again",
        file=sys.stderr,
    )
