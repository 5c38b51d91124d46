"""What the tests of `affects` share: a folder for someone's code, and what is recorded, read once."""

from __future__ import annotations

import pytest

from suites.selfcheck.affects.score_affects import recorded


@pytest.fixture
def code(tmp_path):
    """Give a folder for someone's code, which is a repository of its own."""
    folder = tmp_path / "code"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def read_once(monkeypatch):
    """Read what is recorded once for all tests."""
    monkeypatch.setattr("reports.verbs.affects.read_atlas", lambda args: recorded()[0])
    monkeypatch.setattr("reports.verbs.affects.Lacking", lambda atlas: recorded()[1])
