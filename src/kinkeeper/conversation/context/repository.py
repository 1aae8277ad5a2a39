"""Stores and finds what a talk is about."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, Integer, bindparam, delete, insert, literal_column, select

from kinkeeper.conversation.context.model import CommittedTurn, Topic, Vector
from kinkeeper.conversation.context.tables import (
    conversation_encodings,
    conversation_gists,
    conversation_names,
    conversation_topics,
    volatile_facts,
)
from kinkeeper.conversation.context.volatile import MOST
from kinkeeper.core.time import from_text, to_text
from kinkeeper.jobs.leases import WorkState
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared, PreparedPut

ENCODING = "conversation.encoding"
"""Name of the work that makes gists, episodes and facts of exchanges, and of what commits touch that leave it."""

GIST_LASTS = timedelta(minutes=30)
FACT_LASTS = timedelta(hours=24)
_TOPIC_LASTS = timedelta(hours=24)
_MOST_TOPICS, _MOST_GISTS = 8, 5

_topics, _gists, _facts = conversation_topics.c, conversation_gists.c, volatile_facts.c
_names, _encodings = conversation_names.c, conversation_encodings.c


_TOPICS = Prepared(
    select(conversation_topics)
    .where(
        _topics.household == bindparam("of_household"),
        _topics.thread == bindparam("of_thread"),
        _topics.expires_at > bindparam("now"),
    )
    .order_by(_topics.last_at.desc())
    .limit(literal_column(str(_MOST_TOPICS), Integer))
)
_GISTS = Prepared(
    select(_gists.turn, _gists.text)
    .where(
        _gists.household == bindparam("of_household"),
        _gists.topic == bindparam("of_topic"),
        _gists.expires_at > bindparam("now"),
    )
    .order_by(_gists.made_at.desc())
    .limit(literal_column(str(_MOST_GISTS), Integer))
)
_FACTS = Prepared(
    select(_facts.turn, _facts.about, _facts.value)
    .where(
        _facts.household == bindparam("of_household"),
        _facts.topic == bindparam("of_topic"),
        _facts.expires_at > bindparam("now"),
    )
    .order_by(_facts.said_at.desc())
    .limit(literal_column(str(MOST), Integer))
)
_CALLED = Prepared(
    select(_names.name).where(
        _names.household == bindparam("of_household"), _names.member == bindparam("of_member")
    )
)
_ENCODING = Prepared(
    select(_encodings.turn).where(
        *(_encodings[name] == bindparam(name) for name in ("household", "stage", "turn"))
    )
)
_ADD_ENCODING = Prepared(
    insert(conversation_encodings),
    ("household", "stage", "turn", "thread", "member", "topic", "said_at", "due_at"),
)
_PUT_TOPIC = PreparedPut(conversation_topics)
_PUT_GIST = PreparedPut(conversation_gists)
_PUT_FACT = PreparedPut(volatile_facts)
_PUT_NAME = PreparedPut(conversation_names)


class Lasting(NamedTuple):
    """What was said on a topic and helps for a day.

    Attributes:
        turn: In which it was said.
        about: What it is about.
        value: What that is.
    """

    turn: str
    about: str
    value: str


def topics_of(conn: Connection, household: str, thread: str, *, now: datetime) -> list[Topic]:
    """Return what a thread talked about lately, newest first.

    Args:
        conn: Open connection.
        household: Tenant key.
        thread: Its id.
        now: Aware.
    """
    values = {"of_household": household, "of_thread": thread, "now": now}
    return [_topic(row) for row in _TOPICS.mappings(conn, values)]


def put_topic(conn: Connection, household: str, thread: str, topic: Topic) -> None:
    """Store a topic as it is now."""
    values: dict[str, Any] = {
        "label": topic.label, "words": dict(topic.words), "vector": _bytes(topic.vector),
        "model": topic.model, "exchanges": topic.exchanges, "streak": topic.streak,
        "recalls": [to_text(at) for at in topic.recalls], "is_focus": int(topic.is_focus),
        "last_at": topic.last_at, "expires_at": topic.last_at + _TOPIC_LASTS,
    }  # fmt: skip
    key = {"household": household, "id": topic.id}
    _PUT_TOPIC.put(conn, key | values | {"thread": thread})


def gists_of(conn: Connection, household: str, topic: str, *, now: datetime) -> dict[str, str]:
    """Return what the last exchanges on a topic came to, by turn, newest first."""
    values = {"of_household": household, "of_topic": topic, "now": now}
    return dict(_GISTS.execute(conn, values))  # type: ignore[arg-type]  # rows of two


def put_gist(
    conn: Connection, household: str, turn: str, *, thread: str, topic: str, text: str, at: datetime
) -> None:
    """Store what an exchange came to, for half an hour after it was said."""
    values = {
        "household": household, "turn": turn, "thread": thread, "topic": topic, "text": text,
        "made_at": at, "expires_at": at + GIST_LASTS,
    }  # fmt: skip
    _PUT_GIST.put(conn, values)


def facts_of(conn: Connection, household: str, topic: str, *, now: datetime) -> Sequence[Lasting]:
    """Return what was said on a topic within a day, newest first."""
    values = {"of_household": household, "of_topic": topic, "now": now}
    return [Lasting(*row) for row in _FACTS.execute(conn, values)]


def put_facts(
    conn: Connection,
    household: str,
    topic: str,
    facts: Mapping[str, str],
    *,
    turn: str,
    at: datetime,
) -> None:
    """Store what was said on a topic; the same thing said anew takes the place of what was said before."""
    for about, value in facts.items():
        values = {
            "household": household, "topic": topic, "about": about, "value": value, "turn": turn,
            "said_at": at, "expires_at": at + FACT_LASTS,
        }  # fmt: skip
        _PUT_FACT.put(conn, values)


def called(conn: Connection, household: str, member: str) -> str:
    """Return what a member wants to be called; "" where they never said."""
    found = _CALLED.execute(conn, {"of_household": household, "of_member": member})
    return str(found[0][0]) if found else ""


def set_called(conn: Connection, household: str, member: str, name: str, *, at: datetime) -> None:
    """Store what a member wants to be called; the last word counts."""
    _PUT_NAME.put(conn, {"household": household, "member": member, "name": name, "said_at": at})


def add_encoding(
    conn: Connection, turn: CommittedTurn, stage: str, topic: str, *, due_at: datetime
) -> None:
    """Have a stage of encoding done for an exchange; once is enough."""
    key = {"household": turn.household, "stage": stage, "turn": turn.turn_id}
    if _ENCODING.execute(conn, key):
        return
    values = {
        "thread": turn.thread_id, "member": turn.member, "topic": topic, "said_at": turn.at,
        "due_at": due_at,
    }  # fmt: skip
    _ADD_ENCODING.execute(conn, key | values)
    touch(conn, ENCODING, turn.household)


def drop_expired(conn: Connection, household: str, *, now: datetime) -> int:
    """Delete what has expired, and the rows of what was encoded a day ago.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        now: Aware.

    Returns:
        How many rows are gone.
    """
    gone = 0
    for table in (conversation_topics, conversation_gists, volatile_facts):
        expired = (table.c.household == household, table.c.expires_at <= now)
        gone += conn.execute(delete(table).where(*expired)).rowcount
    over = (
        _encodings.household == household, _encodings.state == WorkState.DONE.value,
        _encodings.said_at <= now - _TOPIC_LASTS,
    )  # fmt: skip
    return gone + conn.execute(delete(conversation_encodings).where(*over)).rowcount


def _topic(row: Mapping[str, Any]) -> Topic:
    vector = row["vector"]
    return Topic(
        id=row["id"], label=row["label"], words=row["words"],
        vector=None if vector is None else np.frombuffer(vector, dtype=np.float32),
        model=row["model"], exchanges=row["exchanges"], streak=row["streak"],
        recalls=[from_text(at) for at in row["recalls"]], is_focus=bool(row["is_focus"]),
        last_at=row["last_at"],
    )  # fmt: skip


def _bytes(vector: Vector | None) -> bytes | None:
    return None if vector is None else vector.astype(np.float32).tobytes()


def encoded(conn: Connection, household: str, *, since: datetime) -> Mapping[str, int]:
    """Return how encoding stands for what was said since then: rows by stage and state, and how many had an effect.

    Args:
        conn: Open connection.
        household: Tenant key.
        since: Aware.
    """
    found: Counter[str] = Counter()
    rows = conn.execute(
        select(_encodings.stage, _encodings.state, _encodings.had_effect).where(
            _encodings.household == household, _encodings.said_at >= since
        )
    )
    for row in rows:
        found[f"{row.stage} {row.state}"] += 1
        found[f"{row.stage} had an effect"] += row.had_effect or 0
    return found
