"""Open questions: assignments asked for and not yet taken. Functions over the caller's transaction."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    bindparam,
    delete,
    exists,
    insert,
    or_,
    select,
    update,
)

from kinkeeper.core.messages import InboundMessage
from kinkeeper.observer.model import (
    Extraction,
    OpenQuestion,
    extraction_from_record,
    extraction_record,
)
from kinkeeper.observer.tables import open_questions
from kinkeeper.store.prepared import Prepared

OPEN = "open"
ANSWERED = "answered"
WITHDRAWN = "withdrawn"
_PART = ":"

# Built once: putting a statement together costs several times as much as running it.
_ANSWERABLE = (
    select(open_questions)
    .where(
        open_questions.c.household == bindparam("household"),
        open_questions.c.chat_id == bindparam("chat_id"),
        open_questions.c.asked_at <= bindparam("at"),
        # Follows from what comes next, and an index has it.
        open_questions.c.until >= bindparam("oldest"),
        or_(
            (open_questions.c.status == OPEN)
            & or_(
                open_questions.c.until >= bindparam("at"),
                open_questions.c.asked_at >= bindparam("late_since"),
            ),
            (open_questions.c.status == ANSWERED)
            & (open_questions.c.asked_at >= bindparam("answered_since")),
        ),
    )
    .order_by(open_questions.c.asked_at.desc(), open_questions.c.id.desc())
)
_IN_CHAT = (
    open_questions.c.household == bindparam("household"),
    open_questions.c.chat_id == bindparam("chat_id"),
    open_questions.c.status == OPEN,
    open_questions.c.asked_at <= bindparam("at"),
)
_OPEN_IN_CHAT = (*_IN_CHAT, open_questions.c.until >= bindparam("at"))
LATE = timedelta(hours=12)
"""How long after a question an answer is found that points at it, or names its job."""

_AS_ASKED = (
    open_questions.c.message_id,
    open_questions.c.thread_id,
    open_questions.c.asker,
    open_questions.c.extraction["stance"].as_string(),
    open_questions.c.extraction["addressee"].as_string(),
)
_NEWEST_FIRST = (open_questions.c.asked_at.desc(), open_questions.c.id.desc())
_ASKED = Prepared(select(*_AS_ASKED).where(*_OPEN_IN_CHAT).order_by(*_NEWEST_FIRST))
# Apart from the others: for either of two conditions no index is used.
_POINTED_AT = Prepared(
    select(*_AS_ASKED)
    .where(*_IN_CHAT, open_questions.c.message_id == bindparam("pointed_at"))
    .order_by(*_NEWEST_FIRST)
)
IS_ASKED = exists().where(*_OPEN_IN_CHAT)
"""Whether a question is open in a chat: a condition on `household`, `chat_id` and `at`."""


class Asked(NamedTuple):
    """What tier 1 needs of an open question.

    Attributes:
        asker: Member id, or the name as sent.
        stance: What the message does, as stored.
        addressee: Member id that it names, the asker's own where they offered to do it themselves.
    """

    message_id: str
    thread_id: str
    asker: str
    stance: str
    addressee: str | None


def asked_in(
    conn: Connection, household: str, chat_id: str, *, at: datetime, pointed_at: str | None = None
) -> Sequence[Asked]:
    """Return the questions open in a chat, newest first, without reading them as a whole.

    Args:
        pointed_at: The message that an answer replies or reacts to; nobody's taking it keeps it open.
    """
    values = {"household": household, "chat_id": chat_id, "at": at}
    found = [Asked(*row) for row in _ASKED.execute(conn, values)]
    if pointed_at and all(each.message_id != pointed_at for each in found):
        rows = _POINTED_AT.execute(conn, values | {"pointed_at": pointed_at})
        found += [Asked(*row) for row in rows]
    return found


def put(conn: Connection, household: str, question: OpenQuestion) -> None:
    """Open a question, or renew what is known of one that tier 1 opened."""
    key = _key(question.id, question.part)
    conn.execute(
        delete(open_questions).where(
            open_questions.c.household == household, open_questions.c.id == key
        )
    )
    conn.execute(
        insert(open_questions).values(
            household=household,
            id=key,
            chat_id=question.chat_id,
            message_id=question.message_id,
            thread_id=question.thread_id,
            asker=question.asker,
            asked_at=question.asked_at,
            until=question.until,
            extraction=extraction_record(question.extraction),
            action_id=question.action_id,
            status=OPEN,
        )
    )


def answerable(
    conn: Connection,
    household: str,
    chat_id: str,
    *,
    at: datetime,
    answered_within: timedelta,
    late: timedelta = timedelta(0),
) -> Sequence[tuple[OpenQuestion, str | None]]:
    """Return the questions a message may answer, newest first.

    Args:
        answered_within: An answered question can be claimed by a second person for that long after it
            was asked (two people on one job).
        late: A question nobody took is among them for that long after it was asked, though its time is over.

    Returns:
        (question, who answered it); None for one that is still open.
    """
    rows = conn.execute(
        _ANSWERABLE,
        {
            "household": household,
            "chat_id": chat_id,
            "at": at,
            "answered_since": at - answered_within,
            "late_since": at - late,
            "oldest": at - max(answered_within, late),
        },
    )
    return [(_question(row), row.answered_by) for row in rows]


def open_for(
    conn: Connection, household: str, message: InboundMessage, *, except_for: int
) -> list[OpenQuestion]:
    """Return the open questions that a message may answer, newest first, its own left out."""
    found = answerable(
        conn, household, message.chat_id, at=message.sent_at, answered_within=timedelta(0)
    )
    return [q for q, by in found if by is None and q.id != except_for]


def find(conn: Connection, household: str, question_id: int) -> tuple[OpenQuestion, str] | None:
    """Return what a message asked and its status, if it is this household's; of several, what is still open."""
    rows = conn.execute(
        select(open_questions)
        .where(open_questions.c.household == household, _asked_by(question_id))
        .order_by(open_questions.c.id)
    ).all()
    row = next((row for row in rows if row.status == OPEN), rows[0] if rows else None)
    return (_question(row), row.status) if row else None


def close(
    conn: Connection,
    household: str,
    question_id: int,
    *,
    status: str,
    by: str | None,
    at: datetime,
    part: int | None = None,
) -> None:
    """Close what a message asked as answered or withdrawn: one part of it, or all."""
    which = _asked_by(question_id)
    if part is not None:
        which = open_questions.c.id == _key(question_id, part)
    conn.execute(
        update(open_questions)
        .where(open_questions.c.household == household, which, open_questions.c.status == OPEN)
        .values(status=status, answered_by=by, closed_at=at)
    )


def narrow(
    conn: Connection,
    household: str,
    question: OpenQuestion,
    *,
    extraction: Extraction,
    action_id: str | None,
) -> None:
    """Replace what is still asked, after part of it was taken or refused."""
    key = _key(question.id, question.part)
    conn.execute(
        update(open_questions)
        .where(open_questions.c.household == household, open_questions.c.id == key)
        .values(extraction=extraction_record(extraction), action_id=action_id)
    )


def _key(message: int, part: int) -> str:
    """The key of one part of what a message asks; the first has the message's own."""
    return f"{message}{_PART}{part}" if part else str(message)


def _asked_by(message: int) -> ColumnElement[bool]:
    column = open_questions.c.id
    return or_(column == str(message), column.startswith(f"{message}{_PART}"))


def asking_message(key: str) -> int:
    """Return the row id of the message that asked what is kept under a key."""
    return int(key.partition(_PART)[0])


def _question(row: Row[Any]) -> OpenQuestion:
    message, _, part = row.id.partition(_PART)
    return OpenQuestion(
        id=int(message),
        part=int(part or 0),
        chat_id=row.chat_id,
        message_id=row.message_id,
        thread_id=row.thread_id,
        asker=row.asker,
        asked_at=row.asked_at,
        until=row.until,
        extraction=extraction_from_record(row.extraction),
        action_id=row.action_id,
    )
