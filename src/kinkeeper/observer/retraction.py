"""Taking back what a message had caused: its proposals, its open question, the question's grace.

A card whose ground is gone must never be confirmable, so this runs in the transaction that learns of it.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, select

from kinkeeper.actions import proposals
from kinkeeper.actions import repository as action_rows
from kinkeeper.actions.model import ActionStatus
from kinkeeper.calendar.model import SourceType
from kinkeeper.messaging import inbox
from kinkeeper.messaging.inbox import StoredMessage
from kinkeeper.observer import questions, repository
from kinkeeper.observer.model import UNSPECIFIED, OpenQuestion, Stance
from kinkeeper.observer.records import extraction_from_record
from kinkeeper.observer.tables import observer_messages

SOURCE = SourceType.OBSERVER.value
_LAST_WORD_STANDS = timedelta(hours=12)


def retract_message(
    conn: Connection, household: str, stored: StoredMessage, *, now: datetime
) -> tuple[str, ...]:
    """Take back everything that a message, and the answers to it, had proposed.

    Returns:
        Ids of the actions withdrawn.
    """
    message = stored.message
    repository.drop_unfinished(conn, household, str(stored.id), reason="edited")
    own = [
        action.id
        for action in action_rows.find_by_source(conn, household, SOURCE, str(stored.id))
        if action.status is ActionStatus.PENDING
    ]
    answers = repository.answers_to(conn, household, message.chat_id, message.message_id)
    close_question(conn, household, stored.id, status=questions.WITHDRAWN, by=None, now=now)
    return withdraw_all(conn, household, [*own, *answers], by_source=message.message_id, now=now)


def retract_latest(
    conn: Connection,
    household: str,
    *,
    sender: str,
    chat_id: str,
    answers: str | None,
    sent_at: datetime,
    window: timedelta,
    now: datetime,
    only_questions: bool = False,
) -> tuple[str, ...]:
    """Take back what a person last asked or proposed: the meaning of "never mind".

    What they asked goes with the answers it got. An open question of theirs counts however old, what they
    proposed for half a day where they have said nothing since, else within the window.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        sender: Who takes it back.
        chat_id: Where.
        answers: The channel's id of the message they mean, if they reply to one.
        sent_at: Aware.
        window: How long ago what they take back may be.
        now: Aware.
        only_questions: Whether they only say that what they asked is settled; what they took on stays.

    Returns:
        Ids of the actions withdrawn.
    """
    unfinished = repository.latest_unfinished(
        conn, household, chat_id, sender=sender, since=sent_at - window
    )
    if unfinished is not None and answers in {None, unfinished.message_id} and not only_questions:
        repository.drop_unfinished(conn, household, unfinished.id, reason="withdrawn")
        close_question(
            conn, household, int(unfinished.id), status=questions.WITHDRAWN, by=sender, now=now
        )
        return ()
    asked = _last_asked(
        conn, household, sender=sender, chat_id=chat_id, answers=answers, sent_at=sent_at,
        window=timedelta(0) if only_questions else _LAST_WORD_STANDS,
    )  # fmt: skip
    is_implied = answers is None and not only_questions
    if asked is not None and is_implied:
        asked = asked if _stands(conn, household, asked, before=sent_at, window=window) else None
    latest = _last_claim(
        conn, household, sender=sender, chat_id=chat_id, answers=answers, sent_at=sent_at,
        window=window,
    )  # fmt: skip
    is_claim = latest is not None and (asked is None or latest.sent_at > asked.asked_at)
    if is_claim and latest is not None and not only_questions:
        _reopen(conn, household, latest, window=window)
        return withdraw_all(
            conn, household, [latest.action_id], by_source=latest.message_id, now=now
        )
    if asked is None:
        return ()
    found = questions.answerable(
        conn, household, chat_id, at=sent_at, answered_within=_LAST_WORD_STANDS
    )
    ids = [q.action_id for q, _ in found if q.id == asked.id and q.action_id]
    close_question(conn, household, asked.id, status=questions.WITHDRAWN, by=sender, now=now)
    given = repository.answers_to(conn, household, chat_id, asked.message_id)
    return withdraw_all(conn, household, [*ids, *given], by_source=asked.message_id, now=now)


def _last_claim(
    conn: Connection,
    household: str,
    *,
    sender: str,
    chat_id: str,
    answers: str | None,
    sent_at: datetime,
    window: timedelta,
) -> Row[Any] | None:
    """Return the message with what a person last proposed, if it can still be meant."""
    latest = repository.latest_with_action(
        conn, household, chat_id, sender=sender, since=sent_at - _LAST_WORD_STANDS,
        message_id=answers,
    )  # fmt: skip
    if latest is None or answers is not None or latest.sent_at >= sent_at - window:
        return latest
    is_past = _has_spoken(
        conn, household, chat_id, latest.sender, after=latest.sent_at, before=sent_at
    )
    return None if is_past else latest


def _has_spoken(
    conn: Connection,
    household: str,
    chat_id: str,
    sender: str,
    *,
    after: datetime,
    before: datetime,
) -> bool:
    """Whether somebody wrote anything in a chat between two moments."""
    table = observer_messages.c
    found = select(table.id).where(
        table.household == household, table.chat_id == chat_id, table.sender == sender,
        table.sent_at > after, table.sent_at < before,
    )  # fmt: skip
    return conn.execute(found.limit(1)).first() is not None


def _stands(
    conn: Connection, household: str, asked: OpenQuestion, *, before: datetime, window: timedelta
) -> bool:
    """Whether what was asked is still meant: lately, or it is open, or its asker has been silent since."""
    if asked.asked_at >= before - window:
        return True
    found = questions.answerable(conn, household, asked.chat_id, at=before, answered_within=window)
    if any(question.id == asked.id for question, _ in found):
        return True
    return not _has_spoken(
        conn, household, asked.chat_id, asked.asker, after=asked.asked_at, before=before
    )


def _last_asked(
    conn: Connection,
    household: str,
    *,
    sender: str,
    chat_id: str,
    answers: str | None,
    sent_at: datetime,
    window: timedelta,
) -> OpenQuestion | None:
    """What a person last asked: still open, or answered within the window."""
    found = questions.answerable(conn, household, chat_id, at=sent_at, answered_within=window)
    return next(
        (
            question
            for question, _ in found
            if question.asker == sender and answers in {None, question.message_id}
        ),
        None,
    )


def release(
    conn: Connection, household: str, *, chat_id: str, message_id: str, now: datetime
) -> tuple[str, ...]:
    """Take back what a message proposed because somebody answered that it is not needed.

    Args:
        conn: In a write transaction.
        household: Tenant key.
        chat_id: Where.
        message_id: The channel's id of the message.
        now: Aware.

    Returns:
        Ids of the actions withdrawn.
    """
    found = inbox.find_by_message_id(conn, household, message_id, chat_id=chat_id)
    return retract_message(conn, household, found[-1], now=now) if found else ()


def _reopen(conn: Connection, household: str, latest: Row[Any], *, window: timedelta) -> None:
    """A claim taken back leaves its job open: whoever says "I'll do it" next means that one."""
    job = extraction_from_record(latest.extraction)
    if not job.owners:
        return
    question = OpenQuestion(
        id=int(latest.id), chat_id=latest.chat_id, message_id=latest.message_id,
        thread_id=latest.thread_id, asker=latest.sender, asked_at=latest.sent_at,
        until=latest.sent_at + 2 * window, action_id=None,
        extraction=replace(
            job, assigned_to=(UNSPECIFIED,), stance=Stance.ASKS, addressee=None, attribution=None
        ),
    )  # fmt: skip
    questions.put(conn, household, question)


def close_question(
    conn: Connection,
    household: str,
    question_id: int,
    *,
    status: str,
    by: str | None,
    now: datetime,
    part: int | None = None,
) -> None:
    """Close what a message asked, or one part of it, and end its grace once nothing is left of it."""
    questions.close(conn, household, question_id, status=status, by=by, at=now, part=part)
    left = questions.find(conn, household, question_id)
    if left is not None and left[1] == questions.OPEN:
        return
    repository.cancel_deferred(conn, household, str(question_id), reason=f"question_{status}")


def withdraw_all(
    conn: Connection, household: str, action_ids: Iterable[str], *, by_source: str, now: datetime
) -> tuple[str, ...]:
    """Withdraw those of these actions that are still pending.

    Returns:
        Ids of those that were.
    """
    return tuple(
        action_id
        for action_id in dict.fromkeys(action_ids)
        if proposals.withdraw(conn, action_id, household=household, now=now, by_source=by_source)
    )
