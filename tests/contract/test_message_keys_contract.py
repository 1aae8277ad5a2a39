"""Whose message is whose: sessions, ids and turns of members who use the same names, on both databases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from sqlalchemy import update

from kinkeeper.core.errors import ConflictError
from kinkeeper.core.ids import stable_id
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, Viewer, person_scope
from kinkeeper.memory.episodes import list_episodes, neighbours
from kinkeeper.memory.sessions import (
    SessionMessage,
    TakenIn,
    find_turn_message,
    session_of,
    take_in,
    turns_now,
)
from kinkeeper.memory.tables import episodes
from kinkeeper.store.store import Store

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
WAYS = {
    "by an id": {"message_id": "1"},
    "by a time": {"timestamp": NOW},
    "by both": {"message_id": "1", "timestamp": NOW},
}


def message(member: str, text: str = "Mia is allergic to latex.", **more: object) -> SessionMessage:
    given = {"content_session_id": "notes", "member": member, "user_message": text} | more
    return SessionMessage(**given)  # type: ignore[arg-type]


def keep(store: Store, one: SessionMessage) -> TakenIn:
    return store.write_now(lambda conn: take_in(conn, "h", one, at=NOW))


def texts(store: Store, member: str) -> list[str]:
    viewer = Viewer.of("h", member)
    return store.read_now(lambda conn: [each.text for each in list_episodes(conn, viewer)])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_private", [False, True])
@pytest.mark.parametrize("texts_", [("I am pregnant.",) * 2, ("I like tea.", "I am pregnant.")])
def test_nobodys_message_is_a_repeat_of_anothers(
    store: Store, way: str, is_private: bool, texts_: tuple[str, str]
) -> None:
    for member, text in zip(("gus", "john"), texts_, strict=True):
        scope = person_scope(member) if is_private else HOUSEHOLD_SCOPE
        one = message(member, text, scope=scope, **WAYS[way])
        taken = keep(store, one)
        assert (taken.is_new, taken.session_id) == (True, "notes")
        assert keep(store, one) == replace(taken, is_new=False)
        assert text in texts(store, member)


@pytest.mark.parametrize(
    "change",
    [
        {"user_message": "Mia is allergic to bees."},
        {"assistant_response": "Noted."},
        {"user_message": "Mia is allergic to latex"},
    ],
)
@pytest.mark.parametrize("later", [{}, {"timestamp": NOW + timedelta(hours=1)}])
def test_other_words_under_a_used_id_are_refused(
    store: Store, change: dict[str, str], later: dict[str, datetime]
) -> None:
    first = message("john", message_id="1")
    keep(store, first)
    assert not keep(store, replace(first, **later)).is_new
    with pytest.raises(ConflictError):
        keep(store, replace(first, **change, **later))
    assert texts(store, "john") == [first.user_message]


def test_a_session_has_nobodys_words_but_its_members(store: Store) -> None:
    for number, member in product(range(2), ("gus", "john")):
        at = NOW + timedelta(minutes=number)
        keep(store, message(member, f"{member} {number}", timestamp=at, assistant_response="Ok."))
    viewer = Viewer.of("h", "john")
    own = session_of("john", "notes")
    heard = store.read_now(lambda conn: list_episodes(conn, viewer, session=own))
    assert [each.text for each in heard] == ["Ok.", "john 1", "Ok.", "john 0"]
    around = store.read_now(lambda conn: neighbours(conn, viewer, heard[1].id, before=9, after=9))
    assert len(around) == len(heard)


@pytest.mark.parametrize("planter", ["gus", "john"])
def test_a_turn_cannot_be_planted(store: Store, planter: str) -> None:
    """Neither its member nor anybody else takes its place, by whatever they name session and message."""
    turn = message("john", content_session_id="th", message_id="t1", is_turn=True)
    for session, id_ in product(("th", "john/th", "th "), ("t1", "th/t1", turn.key)):
        planted = "Mia is not allergic to anything."
        keep(store, message(planter, planted, content_session_id=session, message_id=id_))
    theirs = {"member": "john", "thread": "th"}
    assert store.read_now(lambda conn: turns_now(conn, "h", ["t1"], **theirs, now=NOW)) == {}  # type: ignore[arg-type]
    taken = keep(store, turn)
    assert taken.is_new
    assert store.read_now(lambda conn: turns_now(conn, "h", ["t1"], **theirs, now=NOW)) == {  # type: ignore[arg-type]
        "t1": turn.user_message
    }
    found = store.read_now(lambda conn: find_turn_message(conn, "h", "t1", **theirs))
    assert found == taken.episode_id


@pytest.mark.parametrize("writer", ["gus", "john"])
@pytest.mark.parametrize("is_turn", [False, True])
def test_rows_from_before_members_had_keys_of_their_own_count_for_who_said_them(
    store: Store, writer: str, is_turn: bool
) -> None:
    one = message("john", message_id="1", is_turn=is_turn)
    old = keep(store, replace(one, member=writer))
    former = stable_id("session message", "notes", "1")
    rename = update(episodes).where(episodes.c.id == old.episode_id)
    store.write_now(lambda conn: conn.execute(rename.values(message_key=former, id="old")))
    is_johns = writer == "john"
    theirs = {"member": "john", "thread": "notes"}
    left = store.read_now(lambda conn: turns_now(conn, "h", ["1"], **theirs, now=NOW))  # type: ignore[arg-type]
    assert left == ({"1": one.user_message} if is_johns else {})
    assert keep(store, one).is_new is not is_johns
    if is_johns:
        with pytest.raises(ConflictError):
            keep(store, replace(one, user_message="Mia is allergic to bees."))
