"""Tables of two clauses without plans, for the self-check; they are taken out of the clauses at once."""

from typing import Any

from hypothesis import strategies as st

from fixtures.clause.clause import CLAUSES
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject


@each(
    Row("self.table.three", "It is three.", "measured", about="register_hook", value=3, by=1),
    Row("self.table.four", "It is four.", "measured", about="register_hook", value=4, by=2),
    n=lambda row: st.just(row.by + 2),
)
def counts(subject: Subject, n: int, *, row: Any) -> None:
    assert n + row.by == subject.value + row.by


THREE, FOUR = CLAUSES.pop("self.table.three"), CLAUSES.pop("self.table.four")


@each(
    Row("self.one.alike", "It is one.", "measured", about="register_hook", value=1),
    Row("self.two.alike", "It is two.", "measured", about="register_hook", value=2),
)
def alike(subject: Subject, *, row: Any) -> None:
    raise NotImplementedError


ALIKE = (CLAUSES.pop("self.one.alike"), CLAUSES.pop("self.two.alike"))
