"""A folder with recorded verdicts and a run file, and the command line run on them."""

from __future__ import annotations

import copy
import json

from reports.__main__ import main
from reports.data.verdicts import read_recorded, read_table
from suites.selfcheck import synthetic

OLD, NEW = "1.13.1", "2.15.0"


def recorded_room(path):
    """Return a folder with recorded verdicts of three versions and one run file of the newest."""
    table = synthetic.clauses(30, seed=1, claims=4)
    synthetic.write_verdicts(path / "verdicts", table, ("1.4.0", OLD, NEW))
    synthetic.write_run(path / "run.jsonl", table, NEW)
    return Room(path, table)


class Room:
    """Files of one test, and the command line run on them."""

    def __init__(self, path, table):
        self.path, self.table = path, table
        self.verdicts, self.run = path / "verdicts", path / "run.jsonl"

    def call(self, *arguments, verdicts=True):
        extra = ["--verdicts", str(self.verdicts)] if verdicts else []
        return main([*map(str, arguments), *extra])

    def recorded(self):
        """Return all recorded cells: release -> clause -> mode -> cell, in words."""
        table = read_table(self.verdicts)
        return {each.minor: synthetic.as_entries(each.cells, table) for each in read_recorded(self.verdicts)}

    def clause(self, name):
        """Return what the file of its chapter has of a clause."""
        path = self.verdicts / f"{name.partition('.')[0]}.json"
        return json.loads(path.read_text("utf-8"))["clauses"][name]

    def write_table(self, table, modes=None):
        """Write another clause table, as if the suites had been changed."""
        self.table = table
        synthetic.write_table(self.verdicts, table, modes)

    def lines(self, torch=NEW, **changes):
        return copy.deepcopy(synthetic.run_lines(self.table, torch, **changes))

    def write(self, name, lines):
        return synthetic.write_lines(self.path / name, lines)

    def changed(self, name="changed.jsonl", **header):
        """Write a run in which one conforming cell hangs."""
        lines = self.lines(**header)
        cell = next(line for line in lines if line.get("verdict") == "conforms")
        cell.update(verdict="hung", reading=None, refuted=[])
        lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
        return self.write(name, lines), cell["clause"]


def refused(capsys, status):
    """Return the one line in which the command line complained."""
    out, err = capsys.readouterr()
    assert status == 2
    assert err.count("\n") == 1, err
    assert out == ""
    return err
