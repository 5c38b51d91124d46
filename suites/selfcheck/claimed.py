"""Made-up claims, and the clauses that decide them, for the self-check; they are taken out of the clauses at once."""

from fixtures.judge.claim import ABSENT, claims
from fixtures.judge.clause import CLAUSES, Reading, clause
from fixtures.judge.subject import Subject
from fixtures.judge.table import Row

READINGS = (Reading("new", ">=2.0", "It is new.", value=2), Reading("old", "<2.0", "It is old.", value=1))


@clause("self.claimed.turns", says="It is new.", source="measured", readings=READINGS, about="register_hook")
def test_turns(subject: Subject) -> None:
    assert subject.value == 2


@clause("self.claimed.stays", says="It stays.", source="measured", value=3, about="register_hook")
def test_stays(subject: Subject) -> None:
    assert subject.value == 3


@claims(
    Row(
        "self.claimed.is_new",
        "It is new, and it stays.",
        "measured",
        about="register_hook",
        readings=(
            Reading("true", ">=2.0", "It is new.", by={"self.claimed.turns": "new", "self.claimed.stays": "always"}),
            Reading("false", "<2.0", "It is old.", by={"self.claimed.turns": "old", "self.claimed.stays": "always"}),
            Reading("false at all", "never", "It goes."),
        ),
    ),
    Row(
        "self.claimed.is_alone",
        "There is nothing else.",
        "measured",
        about="register_hook",
        readings=(
            Reading("true", "<2.0", "There is nothing else.", by={"self.claimed.stays": ABSENT}),
            Reading("false", ">=2.0", "There is more.", by={"self.claimed.stays": ("always", "other")}),
        ),
    ),
)
def decided(subject: Subject) -> None:
    raise NotImplementedError


MADE = {name: CLAUSES.pop(name) for name in list(CLAUSES) if name.startswith("self.claimed.")}
IS_NEW, IS_ALONE = MADE["self.claimed.is_new"], MADE["self.claimed.is_alone"]
