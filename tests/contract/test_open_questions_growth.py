"""What a message costs does not grow with the questions that were asked in its chat before, and never closed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, text

from kinkeeper.observer import repository
from kinkeeper.observer.answers import questions
from kinkeeper.observer.model import Extraction, OpenQuestion, Stance
from kinkeeper.store.store import Store

HOUSE, CHAT = "miller", "family"
NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
INDEXES = ("ix_open_questions_until", "ix_open_questions_message")


def ask(conn: Connection, number: int, at: datetime) -> None:
    question = OpenQuestion(
        id=number,
        chat_id=CHAT,
        message_id=f"m{number}",
        thread_id=f"m{number}",
        asker="john",
        asked_at=at,
        until=at + HOUR,
        action_id=None,
        extraction=Extraction(is_coordination=True, stance=Stance.ASKS),
    )
    questions.put(conn, HOUSE, question)


def asked(store: Store, count: int) -> None:
    """Let that many questions be asked, hours apart, the last of them just now; none is ever closed."""

    def work(conn: Connection) -> None:
        for number in range(count):
            ask(conn, number, NOW - 2 * HOUR * (count - 1 - number))

    store.write_now(work)


def recent(conn: Connection) -> object:
    return repository.recent_talk(conn, HOUSE, CHAT, since=NOW - HOUR, before=NOW)


def open_now(conn: Connection) -> object:
    return questions.asked_in(conn, HOUSE, CHAT, at=NOW)


def pointed_at(conn: Connection) -> object:
    return questions.asked_in(conn, HOUSE, CHAT, at=NOW, pointed_at="m0")


def answerable(conn: Connection) -> object:
    return questions.answerable(
        conn, HOUSE, CHAT, at=NOW, answered_within=HOUR, late=questions.LATE
    )


def steps(store: Store, look: Callable[[Connection], object]) -> int:
    """Return how many of its own instructions SQLite needs for a look."""
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    def work(conn: Connection) -> None:
        driver = conn.connection.driver_connection
        driver.set_progress_handler(count, 1)
        try:
            look(conn)
        finally:
            driver.set_progress_handler(None, 1)

    store.write_now(work)
    return taken


@pytest.mark.parametrize("look", [recent, open_now, pointed_at, answerable])
@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_a_look_back_costs_the_same_after_a_hundred_times_the_questions(
    store: Store, look: Callable[[Connection], object]
) -> None:
    asked(store, 10)
    before = steps(store, look)
    asked(store, 1000)
    assert before > 0
    assert steps(store, look) < 2 * before


def test_what_is_open_and_what_a_reply_points_at_are_found_among_many(store: Store) -> None:
    asked(store, 50)
    found = store.read_now(lambda conn: questions.asked_in(conn, HOUSE, CHAT, at=NOW))
    assert [each.message_id for each in found] == ["m49"]
    for name in ("m0", "m30", "m49"):
        found = store.read_now(
            lambda conn, name=name: questions.asked_in(conn, HOUSE, CHAT, at=NOW, pointed_at=name)
        )  # type: ignore[misc]  # the loop's value
        assert {each.message_id for each in found} == {"m49", name}
        assert len(found) == len({each.message_id for each in found})
    late = store.read_now(
        lambda conn: questions.answerable(
            conn, HOUSE, CHAT, at=NOW, answered_within=HOUR, late=questions.LATE
        )
    )
    assert [each.message_id for each, _ in late] == [f"m{49 - n}" for n in range(7)]


def test_the_indexes_are_there_on_every_database(store: Store) -> None:
    catalogue = "pg_indexes" if store.is_on_server else "pragma_index_list('open_questions')"
    column = "indexname" if store.is_on_server else "name"
    query = text(f"SELECT {column} FROM {catalogue}")  # noqa: S608 - constants
    assert {*INDEXES} <= set(store.read_now(lambda conn: conn.execute(query).scalars().all()))
