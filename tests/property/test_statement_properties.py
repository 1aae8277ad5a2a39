"""Any text can be read; relations do not depend on who is asked first."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kinkeeper.memory.statements.classification import classify
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.memory.statements.relation import Relation, relate
from kinkeeper.memory.statements.sentences import parts_of
from kinkeeper.memory.statements.statement_reader import read_statement

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)

subjects = st.sampled_from(["I", "My brother", "Ida", "My son's teacher", "We", "The app"])
tellings = st.sampled_from(
    [
        "{} live in Oslo",
        "{} moved to Bergen",
        "{} works as a nurse",
        "{} no longer works as a nurse",
        "{} loves figs",
        "{} can't stand figs",
        "{} used to live in Oslo",
        "{} has two cats",
        "{} plays chess on Monday",
        "What if {} lived in Rome?",
        "{}, 33 years old, is ill",
        "It's not true that {} lives in Oslo",
        "{}'s boss is Mia",
    ]
)
statements = st.builds(lambda telling, subject: telling.format(subject), tellings, subjects)
texts = st.one_of(st.text(max_size=200), statements)


@given(texts)
def test_any_text_is_read_classified_and_searched_for_statements(text: str) -> None:
    read_statement(text)
    assert 0 <= classify(text).confidence <= 1
    for found in observe(text, said_at=NOON, previous=[text]):
        assert 0 <= found.start < found.end <= len(text)


@given(st.text())
def test_parts_lie_in_their_message_in_order(text: str) -> None:
    parts = parts_of(text)

    assert all(text[part.start : part.end] == part.text for part in parts)
    assert all(one.end <= other.start for one, other in pairwise(parts))


@given(texts)
def test_a_statement_repeats_itself(text: str) -> None:
    assert relate(text, text).relation is Relation.SAME


@given(statements, statements, st.integers(-3, 3))
def test_times_and_not_the_order_of_the_question_decide(one: str, other: str, days: int) -> None:
    later = NOON + timedelta(days=days)
    forwards = relate(one, other, old_at=NOON, new_at=later).relation
    backwards = relate(other, one, old_at=later, new_at=NOON).relation

    symmetric = {Relation.SAME, Relation.CONTRADICTION}
    assert (forwards in symmetric) == (backwards in symmetric)
    if forwards in symmetric:
        assert forwards is backwards
    assert Relation.UPDATE not in {forwards, backwards} or forwards is not backwards
    if days < 0:
        assert forwards is not Relation.UPDATE
