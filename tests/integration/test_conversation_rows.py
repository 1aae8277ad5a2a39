"""Threads, turns and their events as rows: taken in once, in order, nobody else's, and gone when their time is over."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection, Update, update

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.conversation import events, turn_records, turns
from kinkeeper.conversation.model import EventName
from kinkeeper.conversation.tables import turns as turn_rows
from kinkeeper.conversation.threads import Thread, find_thread, list_threads, load_thread
from kinkeeper.conversation.turn import TurnOutcome, result_record
from kinkeeper.conversation.turns import Accepted, Incoming, accept, post_to_thread
from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.household.model import Household, Member, Role
from kinkeeper.store.store import Store

NOW = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)
HOUSEHOLD = "miller"
JOHN = Member(id="john", name="John", role=Role.PARENT)
EMMA = Member(id="emma", name="Emma", role=Role.CHILD)
HOME = Household(
    id=HOUSEHOLD,
    zone=ZoneInfo("UTC"),
    locale="en",
    bot_name="Icarus",
    owner="john",
    members=(JOHN, EMMA),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "family.db")) as opened:
        yield opened


def thread(member: str = "john", thread_id: str = "t1") -> Thread:
    return Thread(
        household=HOUSEHOLD,
        id=thread_id,
        member=member,
        channel="web",
        chat_id=None,
        created_at=NOW,
        last_at=NOW,
    )


def say(
    store: Store, text: str, *, key: str = "m1", member: str = "john", now: datetime = NOW
) -> Accepted:
    incoming = Incoming(thread=thread(member), text=text, client_message_id=key)
    return store.write_now(lambda conn: accept(conn, incoming, now=now))


def test_the_first_turn_of_a_thread_is_claimed_and_the_next_waits_behind_it(store: Store) -> None:
    first, second = say(store, "hello"), say(store, "and now?", key="m2")
    assert (first.claim, second.claim) == ((first.turn_id, 1), None)
    claim = store.write_now(lambda conn: turns.claim_next(conn, HOUSEHOLD, "t1", now=NOW))
    assert claim is None, "the first one is under way"


def test_the_same_message_is_taken_in_once(store: Store) -> None:
    first, again = say(store, "hello"), say(store, "hello")
    assert again.turn_id == first.turn_id
    assert not again.is_new
    assert again.claim is None


def test_nobody_speaks_in_the_thread_of_another_and_everybody_has_their_own(store: Store) -> None:
    """Also where somebody else's row already has the id that a person usually speaks in."""
    johns, emmas = say(store, "hello"), say(store, "hello", member="emma")
    assert johns.thread_id == "t1" != emmas.thread_id
    assert say(store, "hello", member="emma").turn_id == emmas.turn_id
    for member, said in ((JOHN, johns), (EMMA, emmas)):
        found = store.read_now(lambda conn, member=member: find_thread(conn, HOME, member, "t1"))  # type: ignore[misc]
        assert found is not None
        assert (found.id, found.member, found.turns) == (said.thread_id, member.id, 1)
    assert store.read_now(lambda conn: find_thread(conn, HOME, JOHN, emmas.thread_id)) is None


def test_another_message_under_a_used_id_is_no_repeat(store: Store) -> None:
    say(store, "hello")
    with pytest.raises(ConflictError):
        say(store, "Leo is allergic to hazelnuts.")
    assert say(store, "hello", member="emma").is_new


@pytest.mark.parametrize("text", ["", "  \n", "x" * (turns.LONGEST_TEXT + 1)])
def test_a_message_has_words_and_not_too_many(store: Store, text: str) -> None:
    with pytest.raises(InputError):
        say(store, text)


def test_events_are_numbered_through_a_thread_and_read_from_any_place(store: Store) -> None:
    first = say(store, "hello")
    for number in range(3):
        told = [(EventName.TOKEN, {"text": str(number)})]
        store.write_now(
            lambda conn, told=told: events.append(
                conn, HOUSEHOLD, "t1", told, turn_id=first.turn_id, at=NOW
            )
        )
    found = store.read_now(lambda conn: events.events_after(conn, HOUSEHOLD, "t1", 1))
    assert [(each.number, each.data["text"]) for each in found] == [(2, "1"), (3, "2")]


def test_what_is_posted_is_said_once_and_stands_in_the_history(store: Store) -> None:
    say(store, "hello")

    def post() -> bool:
        return store.write_now(
            lambda conn: post_to_thread(
                conn, HOUSEHOLD, "t1", "Time for the bins.", key="task-1", now=NOW
            )
        )

    assert post()
    assert not post()
    told = store.read_now(lambda conn: turns.last_turns(conn, HOUSEHOLD, "t1", last=5))
    assert [(each.answer, each.outcome) for each in told][-1] == (
        "Time for the bins.",
        TurnOutcome.POSTED,
    )
    heard = store.read_now(lambda conn: events.events_after(conn, HOUSEHOLD, "t1", 0))
    assert [each.name for each in heard] == [EventName.TOKEN, EventName.DONE]


def test_nothing_is_posted_to_a_thread_that_does_not_exist(store: Store) -> None:
    assert not store.write_now(
        lambda conn: post_to_thread(conn, HOUSEHOLD, "nowhere", "x", key="k", now=NOW)
    )
    assert store.read_now(lambda conn: load_thread(conn, HOUSEHOLD, "nowhere")) is None


def test_threads_are_listed_by_what_was_said_last_with_how_they_began(store: Store) -> None:
    say(store, "who picks up Emma?")
    listed = store.read_now(lambda conn: list_threads(conn, HOME, JOHN))
    assert [(each.id, each.title) for each in listed] == [("t1", "who picks up Emma?")]
    assert not store.read_now(lambda conn: list_threads(conn, HOME, EMMA))
    narrowed = JOHN.limited_to(Role.CHILD)
    assert not store.read_now(lambda conn: list_threads(conn, HOME, narrowed))


def test_old_words_go_and_what_is_under_way_keeps_its_own(store: Store) -> None:
    first = say(store, "the code is swordfish-41")
    told = [(EventName.TOKEN, {"text": "swordfish-41 it is"})]
    store.write_now(
        lambda conn: events.append(conn, HOUSEHOLD, "t1", told, turn_id=first.turn_id, at=NOW)
    )
    later = NOW + timedelta(days=40)

    def purge() -> int:
        return store.write_now(lambda conn: turn_records.purge(conn, HOUSEHOLD, before=later))

    assert purge() == 0, "nobody has answered it yet"
    store.write_now(
        lambda conn: conn.execute(
            turn_rows.update().values(
                state="done", outcome="answered", answer="swordfish-41 it is", finished_at=NOW
            )
        )
    )
    assert purge() == 1
    store.fold_log()
    assert b"swordfish-41" not in Path(str(store.url.database)).read_bytes()


def test_of_older_turns_only_those_that_did_something_have_results(store: Store) -> None:
    said = [say(store, f"text {number}", key=f"m{number}") for number in range(6)]
    for number, each in enumerate(said):
        action_id = "a1" if number == 1 else None
        result = ActionResult(
            domain="task",
            action="list",
            status=ResultStatus.DONE,
            params={},
            action_id=action_id,
            summary='he wrote "action_id":"x"',
        )
        done = update(turn_rows).where(turn_rows.c.id == each.turn_id)
        values = {"results": [result_record(result)], "outcome": TurnOutcome.ANSWERED.value}
        store.write_now(partial(_execute, done.values(values)))
    turn, earlier = store.read_now(
        lambda conn: turns.turn_with_earlier(conn, HOUSEHOLD, said[-1].turn_id, last=20, whole=2)
    )
    assert len(turn.results) == 1
    assert [len(each.results) for each in earlier] == [0, 1, 0, 1, 1]
    assert earlier[1].results[0].action_id == "a1"


def _execute(statement: Update, conn: Connection) -> None:
    conn.execute(statement)
