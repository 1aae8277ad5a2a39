"""Tables of what a talk is about, and what stores and finds it. Everything in them expires: it is no memory."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import (
    JSON,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    literal_column,
    select,
)

from kinkeeper.conversation.context.model import CommittedTurn, Topic, Vector
from kinkeeper.conversation.context.topics import MOST
from kinkeeper.conversation.tables import turns
from kinkeeper.core.time import from_text, to_text
from kinkeeper.jobs.leases import WorkState, work_columns
from kinkeeper.store.commits import touch
from kinkeeper.store.prepared import Prepared, PreparedPut
from kinkeeper.store.schema import Instant, metadata

# Tables of what a talk is about. Everything in them expires: nothing here is memory.

# What a thread talks about: the middle of what was said of it, and how it has gone on.
conversation_topics = Table(
    "conversation_topics",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("id", String(36), primary_key=True),
    Column("thread", String(64), nullable=False),
    Column("label", Text, nullable=False),
    # Stems with how often they were said; with an embedder also the middle of the vectors, and whose they are.
    Column("words", JSON, nullable=False),
    Column("vector", LargeBinary),
    Column("model", String(128)),
    Column("exchanges", Integer, nullable=False),
    # Exchanges in a row on this topic, none two hours after the one before.
    Column("streak", Integer, nullable=False),
    # When memory brought something it is sure of.
    Column("recalls", JSON, nullable=False),
    Column("is_focus", Integer, nullable=False),
    Column("last_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index(None, "household", "thread", "last_at"),
    Index("ix_conversation_topics_expiry", "household", "expires_at"),
)

conversation_gists = Table(
    "conversation_gists",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("turn", String(36), primary_key=True),
    Column("thread", String(64), nullable=False),
    Column("topic", String(36), nullable=False),
    Column("text", Text, nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index(None, "household", "topic", "made_at"),
    Index("ix_conversation_gists_expiry", "household", "expires_at"),
)

volatile_facts = Table(
    "volatile_facts",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("topic", String(36), primary_key=True),
    Column("about", String(128), primary_key=True),
    Column("value", Text, nullable=False),
    # In which it was said: what of it holds no more is looked up there.
    Column("turn", String(36), nullable=False),
    Column("said_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_volatile_facts_expiry", "household", "expires_at"),
)

# What people want to be called.
conversation_names = Table(
    "conversation_names",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("member", String(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("said_at", Instant, nullable=False),
)

# What is still to be made of an exchange, a row a stage; the words stay in the turn.
conversation_encodings = Table(
    "conversation_encodings",
    metadata,
    Column("household", String(64), primary_key=True),
    Column("stage", String(16), primary_key=True),
    Column("turn", String(36), primary_key=True),
    Column("thread", String(64), nullable=False),
    Column("member", String(64), nullable=False),
    Column("topic", String(36), nullable=False),
    Column("said_at", Instant, nullable=False),
    # Whether it came to anything: an episode, statements, a gist.
    Column("had_effect", Integer),
    Column("salience", Float),
    *work_columns(),
    Index("ix_conversation_encodings_line", "household", "stage", "thread", "said_at"),
    Index("ix_conversation_encodings_state", "state", "household", "due_at"),
)


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
    """What was said on a topic and helps for a day."""

    turn: str
    about: str
    value: str


def topics_of(conn: Connection, household: str, thread: str, *, now: datetime) -> list[Topic]:
    """Return what a thread talked about lately, newest first.

    Args:
        thread: Its id.
    """
    values = {"of_household": household, "of_thread": thread, "now": now}
    return [_topic(row) for row in _TOPICS.mappings(conn, values)]


def put_topic(conn: Connection, household: str, thread: str, topic: Topic) -> None:
    """Store a topic as it is now."""
    values: dict[str, Any] = {
        "label": topic.label,
        "words": dict(topic.words),
        "vector": _bytes(topic.vector),
        "model": topic.model,
        "exchanges": topic.exchanges,
        "streak": topic.streak,
        "recalls": [to_text(at) for at in topic.recalls],
        "is_focus": int(topic.is_focus),
        "last_at": topic.last_at,
        "expires_at": topic.last_at + _TOPIC_LASTS,
    }
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
        "household": household,
        "turn": turn,
        "thread": thread,
        "topic": topic,
        "text": text,
        "made_at": at,
        "expires_at": at + GIST_LASTS,
    }
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
            "household": household,
            "topic": topic,
            "about": about,
            "value": value,
            "turn": turn,
            "said_at": at,
            "expires_at": at + FACT_LASTS,
        }
        _PUT_FACT.put(conn, values)


def drop_said(
    conn: Connection, household: str, member: str, is_meant: Callable[[str], bool]
) -> int:
    """Delete what a member said that helps for a day, and what their exchanges came to, where it is meant.

    Args:
        is_meant: Whether it is, by its words.

    Returns:
        How many rows are gone.
    """
    theirs = select(turns.c.id).where(turns.c.household == household, turns.c.member == member)
    facts = select(_facts.topic, _facts.about, _facts.value).where(
        _facts.household == household, _facts.turn.in_(theirs)
    )
    gists = select(_gists.turn, _gists.text).where(
        _gists.household == household, _gists.turn.in_(theirs)
    )
    gone = [
        (_facts.topic == topic, _facts.about == about)
        for topic, about, value in conn.execute(facts).all()
        if is_meant(f"{about} is {value}")
    ]
    for each in gone:
        conn.execute(delete(volatile_facts).where(_facts.household == household, *each))
    of_turns = [turn for turn, text in conn.execute(gists).all() if is_meant(text)]
    conn.execute(
        delete(conversation_gists).where(_gists.household == household, _gists.turn.in_(of_turns))
    )
    return len(gone) + len(of_turns)


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
        "thread": turn.thread_id,
        "member": turn.member,
        "topic": topic,
        "said_at": turn.at,
        "due_at": due_at,
    }
    _ADD_ENCODING.execute(conn, key | values)
    touch(conn, ENCODING, turn.household)


def drop_expired(conn: Connection, household: str, *, now: datetime) -> int:
    """Delete what has expired, and the rows of what was encoded a day ago.

    Returns:
        How many rows are gone.
    """
    gone = 0
    for table in (conversation_topics, conversation_gists, volatile_facts):
        expired = (table.c.household == household, table.c.expires_at <= now)
        gone += conn.execute(delete(table).where(*expired)).rowcount
    over = (
        _encodings.household == household,
        _encodings.state == WorkState.DONE.value,
        _encodings.said_at <= now - _TOPIC_LASTS,
    )
    return gone + conn.execute(delete(conversation_encodings).where(*over)).rowcount


def _topic(row: Mapping[str, Any]) -> Topic:
    vector = row["vector"]
    return Topic(
        id=row["id"],
        label=row["label"],
        words=row["words"],
        vector=None if vector is None else np.frombuffer(vector, dtype=np.float32),
        model=row["model"],
        exchanges=row["exchanges"],
        streak=row["streak"],
        recalls=[from_text(at) for at in row["recalls"]],
        is_focus=bool(row["is_focus"]),
        last_at=row["last_at"],
    )


def _bytes(vector: Vector | None) -> bytes | None:
    return None if vector is None else vector.astype(np.float32).tobytes()


def encoded(conn: Connection, household: str, *, since: datetime) -> Mapping[str, int]:
    """Return how encoding stands for what was said since then: rows by stage and state, and how many had an effect."""
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
