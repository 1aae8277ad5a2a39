"""What is said in sessions with an assistant: stored whole at once, each message a single time."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, or_, select

from kinkeeper.core.errors import InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import as_utc, to_text
from kinkeeper.household.viewing import HOUSEHOLD_SCOPE
from kinkeeper.memory.episodes import insert_episodes, outdated_spans, reply_id
from kinkeeper.memory.finding.showing import still_true
from kinkeeper.memory.model import Episode, Origin
from kinkeeper.memory.tables import episodes
from kinkeeper.memory.tombstones import without_forgotten
from kinkeeper.store.prepared import Prepared, is_one_of

ASSISTANT = "assistant"

_columns = episodes.c
_REPLY_AFTER = timedelta(microseconds=1)
_BY_KEY = Prepared(
    select(_columns.message_key, _columns.id, _columns.text).where(
        _columns.household == bindparam("household"), is_one_of(_columns.message_key, "keys")
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMessage:
    """One exchange of a session, or a user's message alone.

    Attributes:
        content_session_id: Orders it among its neighbours.
        user_message: What a person said, verbatim.
        assistant_response: What was answered, verbatim.
        source: Program that brought it.
        channel: Where it was said.
        timestamp: When, aware; None for now.
        message_id: The client's id of it, unique within the session.
        metadata: More that the client tells; "topic" and "participants" are kept.
        member: Member id of the speaker, if they are one.
        scope: Who may recall it.
    """

    content_session_id: str
    user_message: str
    assistant_response: str | None = None
    source: str = "unknown"
    channel: str = "unknown"
    timestamp: datetime | None = None
    message_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    member: str | None = None
    scope: str = HOUSEHOLD_SCOPE


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """What became of a message.

    Attributes:
        session_id: Its session.
        episode_id: Id of what the person said.
        is_new: False where the same message was stored before.
    """

    session_id: str
    episode_id: str
    is_new: bool


def take_in(
    conn: Connection,
    household: str,
    message: SessionMessage,
    *,
    at: datetime,
    is_read: bool = False,
) -> TakenIn:
    """Store a message of a session; the same one again changes nothing.

    It is the same if session, time and text are, or session and the client's id of it.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        message: The message.
        at: Present time, aware.
        is_read: Whether nothing more is to be read out of it: it can be found, and makes no fact.

    Raises:
        InputError: The session or the message is missing.
    """
    session = message.content_session_id.strip()
    if not session or not message.user_message.strip():
        raise InputError("contentSessionId and userMessage are needed, both not empty")
    said_at = as_utc(message.timestamp or at)
    key = message_key(session, message.message_id) if message.message_id is not None else None
    episode_id = _episode_id(household, session, message, said_at)
    known = conn.execute(
        select(_columns.id).where(
            _columns.household == household,
            or_(_columns.id == episode_id, _columns.message_key == key)
            if key
            else _columns.id == episode_id,
        )
    ).scalar()
    if known is not None:
        return TakenIn(session_id=session, episode_id=known, is_new=False)
    turns = _turns(conn, household, message, session=session, said_at=said_at, first=episode_id)
    insert_episodes(conn, turns, at=at, keys={episode_id: key} if key else None, is_read=is_read)
    return TakenIn(session_id=session, episode_id=episode_id, is_new=True)


def _turns(
    conn: Connection,
    household: str,
    message: SessionMessage,
    *,
    session: str,
    said_at: datetime,
    first: str,
) -> list[Episode]:
    participants = message.metadata.get("participants")
    topic = message.metadata.get("topic")
    said = Episode(
        household=household,
        id=first,
        scope=message.scope,
        session=session,
        member=message.member,
        speaker=message.member,
        text=without_forgotten(conn, household, message.user_message, speaker=message.member),
        topic=topic if isinstance(topic, str) else None,
        participants=tuple(map(str, participants)) if isinstance(participants, list) else (),
        said_at=said_at,
        origin=Origin.SAID,
        source=message.source,
        channel=message.channel,
    )
    if not message.assistant_response:
        return [said]
    answered = Episode(
        household=household,
        id=reply_id(household, first),
        scope=message.scope,
        session=session,
        speaker=ASSISTANT,
        is_assistant=True,
        text=without_forgotten(conn, household, message.assistant_response),
        topic=said.topic,
        participants=said.participants,
        said_at=said_at + _REPLY_AFTER,
        origin=Origin.SYSTEM,
        source=message.source,
        channel=message.channel,
    )
    return [said, answered]


def message_key(session: str, message_id: str) -> str:
    """Return what tells a message of a session from all others.

    Args:
        session: Its session.
        message_id: The client's id of it.
    """
    return stable_id("session message", session, message_id)


def messages_now(
    conn: Connection, household: str, session: str, message_ids: Iterable[str], *, now: datetime
) -> dict[str, str]:
    """Return what is left of messages without what is outdated or was forgotten, by the client's ids of them.

    Args:
        conn: Open connection.
        household: Tenant key.
        session: Theirs.
        message_ids: The client's ids; what was never taken in is left out.
        now: Aware.
    """
    ids = {message_key(session, each): each for each in message_ids}
    if not ids:
        return {}
    rows = _BY_KEY.execute(conn, {"household": household, "keys": [*ids]})
    cuts = outdated_spans(conn, household, [row[1] for row in rows], at=now) if rows else {}
    return {ids[key]: still_true(text, cuts.get(episode, ())) for key, episode, text in rows}


def _episode_id(household: str, session: str, message: SessionMessage, said_at: datetime) -> str:
    if message.timestamp is None and message.message_id is not None:
        return stable_id(household, "session turn", session, message.message_id)
    return stable_id(household, "session turn", session, to_text(said_at), message.user_message)
