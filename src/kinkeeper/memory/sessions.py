"""What is said in sessions with an assistant: stored whole at once, each message a single time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, or_, select

from kinkeeper.core.errors import ConflictError, InputError
from kinkeeper.core.ids import stable_id
from kinkeeper.core.time import as_utc, to_text
from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, is_project, person_scope
from kinkeeper.memory.episodes import episodes_by_id, insert_episodes, outdated_spans, reply_id
from kinkeeper.memory.finding.visible_results import still_true
from kinkeeper.memory.model import Episode, Origin
from kinkeeper.memory.redaction import GAP, without_forgotten
from kinkeeper.memory.tables import episodes
from kinkeeper.store.prepared import Prepared, is_one_of

ASSISTANT = "assistant"

_columns = episodes.c
_REPLY_AFTER = timedelta(microseconds=1)
_KNOWN = Prepared(
    select(_columns.id, _columns.text, _columns.member).where(
        _columns.household == bindparam("household"),
        or_(is_one_of(_columns.id, "ids"), is_one_of(_columns.message_key, "keys")),
    )
)
_BY_KEY = Prepared(
    select(_columns.message_key, _columns.id, _columns.text).where(
        _columns.household == bindparam("household"),
        _columns.member == bindparam("member"),
        is_one_of(_columns.message_key, "keys"),
    )
)
_TEXT = Prepared(
    select(_columns.text).where(
        _columns.household == bindparam("household"), _columns.id == bindparam("id")
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMessage:
    """One exchange of a session, or a user's message alone.

    Attributes:
        content_session_id: Orders it among its neighbours; its member's own, others may have one of the same name.
        user_message: What a person said, verbatim.
        assistant_response: What was answered, verbatim.
        source: Program that brought it.
        channel: Where it was said.
        timestamp: When, aware; None for now.
        message_id: The client's id of it, unique within the session.
        is_turn: Whether it is a turn of a conversation with this program; session and message are thread and turn.
        metadata: More that the client tells; "topic" and "participants" are kept.
        member: Member id of the speaker, if they are one.
        scope: Who may recall it.
        origin: SAID where the member said it; OBSERVED where a program tells it in their name.
        asked_scope: Scope of the facts that are proposed from it instead of written; None writes them.
        asked_origin: How it came to be known, as the proposals tell it.
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
    origin: Origin = Origin.SAID
    asked_scope: str | None = None
    asked_origin: str | None = None
    is_turn: bool = False

    @property
    def session(self) -> str:
        """Return the session as it is stored: no member's is that of another, or a thread."""
        name = self.content_session_id.strip()
        return name if self.is_turn or self.member is None else session_of(self.member, name)

    @property
    def key(self) -> str | None:
        """Return what tells it from all other messages, where the client has an id for it."""
        if self.message_id is None:
            return None
        if self.is_turn:
            return turn_key(self.member, self.content_session_id, self.message_id)
        return stable_id("message of a session", self.member or "", self.session, self.message_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenIn:
    """What became of a message.

    Attributes:
        session_id: Its session, as the client calls it.
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
    """Store a message of a session; the same one of the same member again changes nothing.

    It is the same if the words are, and time or the client's id of it; the session as well.

    Args:
        is_read: Whether nothing more is to be read out of it: it can be found, and makes no fact.

    Raises:
        InputError: The session or the message is missing.
        ConflictError: The session has another message with that id, or another answer to it.
    """
    name = message.content_session_id.strip()
    if not name or not message.user_message.strip():
        raise InputError("contentSessionId and userMessage are needed, both not empty")
    said_at = as_utc(message.timestamp or at)
    known = _find_known(conn, household, message, said_at)
    if known is not None:
        return TakenIn(session_id=name, episode_id=known, is_new=False)
    episode_id = _episode_id(household, message, said_at)
    turns = _turns(
        conn, household, message, session=message.session, said_at=said_at, first=episode_id
    )
    keys = {episode_id: message.key} if message.key else None
    insert_episodes(conn, turns, at=at, keys=keys, is_read=is_read)
    return TakenIn(session_id=name, episode_id=episode_id, is_new=True)


def _find_known(
    conn: Connection, household: str, message: SessionMessage, said_at: datetime
) -> str | None:
    """Return the id of the same message, where it was stored before.

    Raises:
        ConflictError: Another message or answer has its id.
    """
    session, key, id_ = message.content_session_id.strip(), message.key, message.message_id
    # Up to revision 0007 neither ids nor keys had the member in them: theirs is who said the words.
    ids = [_episode_id(household, message, said_at), _former_id(household, message, said_at)]
    keys = [] if key is None or id_ is None else [key, _former_key(session, id_)]
    found = _KNOWN.mappings(conn, {"household": household, "ids": ids, "keys": keys})
    own = [row for row in found if row["member"] == message.member]
    if not own:
        return None
    same = next((row for row in own if _is_same(conn, household, message, row)), None)
    if same is None:
        raise ConflictError("this session has another message with the same messageId")
    return str(same["id"])


def _is_same(
    conn: Connection, household: str, message: SessionMessage, row: Mapping[str, Any]
) -> bool:
    """Whether a stored message has the words and the answer of one that came; of what was forgotten nobody can tell."""
    if not _is_left_of(row["text"], message.user_message):
        return False
    if not message.assistant_response or GAP in row["text"]:
        return True
    found = _TEXT.execute(conn, {"household": household, "id": reply_id(household, row["id"])})
    return bool(found) and _is_left_of(found[0][0], message.assistant_response)


def _is_left_of(stored: str, words: str) -> bool:
    """Whether a text is the same as another, or may be what is left of it after some was forgotten."""
    if GAP not in stored:
        return stored == words
    first, *others = stored.split(GAP)
    place = len(first) if words.startswith(first) else -1
    for part in others:
        found = -1 if place < 0 else words.find(part, place)
        place = -1 if found < 0 else found + len(part)
    return place >= 0


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
        text=without_forgotten(
            conn, household, message.user_message, scope=message.scope, speaker=message.member
        ),
        topic=topic if isinstance(topic, str) else None,
        participants=tuple(map(str, participants)) if isinstance(participants, list) else (),
        said_at=said_at,
        origin=message.origin,
        source=message.source,
        channel=message.channel,
        asked_scope=message.asked_scope,
        asked_origin=message.asked_origin,
    )
    if not message.assistant_response:
        return [said]
    answered = Episode(
        household=household,
        id=reply_id(household, first),
        scope=_scope_of_answer(message),
        session=session,
        speaker=ASSISTANT,
        is_assistant=True,
        text=without_forgotten(
            conn,
            household,
            message.assistant_response,
            scope=_scope_of_answer(message),
            speaker=message.member,
        ),
        topic=said.topic,
        participants=said.participants,
        said_at=said_at + _REPLY_AFTER,
        origin=Origin.SYSTEM,
        source=message.source,
        channel=message.channel,
    )
    return [said, answered]


def session_of(member: str, name: str) -> str:
    """Return a member's session as it is stored.

    Args:
        name: What a program of theirs calls it.
    """
    return f"{member}/{name}"


def turn_key(member: str | None, thread: str, turn: str) -> str:
    """Return what tells a turn of a conversation from all messages that a client could send.

    Args:
        turn: Its id.
    """
    return stable_id("turn of a conversation", member or "", thread, turn)


def find_turn_message(
    conn: Connection, household: str, turn: str, *, member: str, thread: str
) -> str | None:
    """Return the id of the episode that a turn of a conversation became; None where it was not taken in."""
    found = _of_turns(conn, household, [turn], member=member, thread=thread)
    return str(found[0][1]) if found else None


def turn_message(
    conn: Connection, household: str, turn: str, *, member: str, thread: str
) -> Episode | None:
    """Return what a member said in a turn of a conversation, as it is kept; None where nothing of it is."""
    found = find_turn_message(conn, household, turn, member=member, thread=thread)
    told = episodes_by_id(conn, household, [found] if found else []).get(found or "")
    return None if told is None or told.text == GAP else told


def turns_now(
    conn: Connection,
    household: str,
    turns: Iterable[str],
    *,
    member: str,
    thread: str,
    now: datetime,
) -> dict[str, str]:
    """Return what is left of what a member said in turns, without what is outdated or was forgotten, by turn.

    Args:
        turns: Ids; what was never taken in is left out.
    """
    rows = _of_turns(conn, household, [*turns], member=member, thread=thread)
    cuts = outdated_spans(conn, household, [row[1] for row in rows], at=now) if rows else {}
    return {turn: still_true(text, cuts.get(episode, ())) for turn, episode, text in rows}


def _of_turns(
    conn: Connection, household: str, turns: Sequence[str], *, member: str, thread: str
) -> list[tuple[str, str, str]]:
    """Return turn, episode and its words of those turns that were taken in."""
    by_key = {turn_key(member, thread, each): each for each in turns} | {
        _former_key(thread, each): each for each in turns
    }
    if not by_key:
        return []
    values = {"household": household, "member": member, "keys": [*by_key]}
    return [(by_key[key], id_, text) for key, id_, text in _BY_KEY.execute(conn, values)]


def _episode_id(household: str, message: SessionMessage, said_at: datetime) -> str:
    if message.timestamp is None and message.key is not None:
        return stable_id(household, "keyed message", message.key)
    words = (to_text(said_at), message.user_message)
    return stable_id(household, "said message", message.member or "", message.session, *words)


def _former_id(household: str, message: SessionMessage, said_at: datetime) -> str:
    session = message.content_session_id.strip()
    if message.timestamp is None and message.message_id is not None:
        return stable_id(household, "session turn", session, message.message_id)
    return stable_id(household, "session turn", session, to_text(said_at), message.user_message)


def _former_key(session: str, message_id: str) -> str:
    return stable_id("session message", session, message_id)


def _scope_of_answer(message: SessionMessage) -> str:
    """Return who may recall what was answered: who was told, as an answer may repeat what they keep to themselves."""
    if message.member is None or is_project(message.scope):
        return message.scope
    return person_scope(message.member)
